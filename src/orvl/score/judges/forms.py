"""A judge's question in each protocol: the evidence first, so that it is a common prefix, and the instruction last."""

from __future__ import annotations

import base64
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

MOST_OUTPUT = 8_192


@dataclass(frozen=True)
class Picture:
    """A PNG, with the name that pointers use."""

    name: str
    png: bytes

    @property
    def base64(self) -> str:
        return base64.b64encode(self.png).decode()


@dataclass(frozen=True)
class Form:
    """One question: words and pictures in their order, and what was said before, if it is asked again."""

    model: str
    system: str
    evidence: str
    """The part that all questions about a run have in common."""
    instruction: str
    more: str = ""
    """Evidence that this question alone needs."""
    pictures: Sequence[Picture] = ()
    before: tuple[tuple[str, str], ...] = ()
    """The judge's earlier answers, each with what it was told then."""
    schema: Mapping[str, Any] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    most_output: int = MOST_OUTPUT
    """What the protocols that want a bound are told."""
    mark_cache: bool = False
    """Whether a host of chat completions is told where the common part ends."""


def body(protocol: str, form: Form) -> dict[str, Any]:
    """The request."""
    makers: dict[str, Callable[[Form], dict[str, Any]]] = {
        "openai": _openai,
        "responses": _responses,
        "anthropic": _anthropic,
        "gemini": _gemini,
    }
    return _merged(makers[protocol](form), form.options)


def _merged(body: dict[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in options.items():
        inner = body.get(name)
        is_table = isinstance(inner, dict) and isinstance(value, dict)
        body[name] = _merged(dict(inner), value) if is_table and inner else value
    return body


def _openai(form: Form) -> dict[str, Any]:
    told: list[dict[str, Any]] = [{"type": "text", "text": form.evidence}]
    if form.mark_cache:
        told[0]["cache_control"] = {"type": "ephemeral"}
    for picture in form.pictures:
        told.append({"type": "text", "text": f"screenshot:{picture.name}"})
        told.append({"type": "image_url", "image_url": {"url": f"data:image/png;base64,{picture.base64}"}})
    told += [{"type": "text", "text": text} for text in (form.more, form.instruction) if text]
    content: Any = told
    if not form.pictures and not form.mark_cache:
        content = "\n\n".join(part["text"] for part in told)
    messages = [{"role": "system", "content": form.system}, {"role": "user", "content": content}]
    for answer, told_then in form.before:
        messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": told_then}]
    request: dict[str, Any] = {"model": form.model, "messages": messages}
    if form.schema:
        request["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": form.schema},
        }
    return request


def _responses(form: Form) -> dict[str, Any]:
    told: list[dict[str, Any]] = [{"type": "input_text", "text": form.evidence}]
    for picture in form.pictures:
        told.append({"type": "input_text", "text": f"screenshot:{picture.name}"})
        told.append({"type": "input_image", "image_url": f"data:image/png;base64,{picture.base64}"})
    told += [{"type": "input_text", "text": text} for text in (form.more, form.instruction) if text]
    turns: list[dict[str, Any]] = [{"role": "user", "content": told}]
    for answer, told_then in form.before:
        turns.append({"role": "assistant", "content": [{"type": "output_text", "text": answer}]})
        turns.append({"role": "user", "content": [{"type": "input_text", "text": told_then}]})
    request: dict[str, Any] = {"model": form.model, "instructions": form.system, "input": turns, "store": False}
    if form.schema:
        request["text"] = {
            "format": {"type": "json_schema", "name": "answer", "strict": True, "schema": form.schema},
        }
    return request


def _anthropic(form: Form) -> dict[str, Any]:
    told: list[dict[str, Any]] = [
        {"type": "text", "text": form.evidence, "cache_control": {"type": "ephemeral"}},
    ]
    for picture in form.pictures:
        source = {"type": "base64", "media_type": "image/png", "data": picture.base64}
        told += [{"type": "text", "text": f"screenshot:{picture.name}"}, {"type": "image", "source": source}]
    told += [{"type": "text", "text": text} for text in (form.more, form.instruction) if text]
    turns: list[dict[str, Any]] = [{"role": "user", "content": told}]
    for answer, told_then in form.before:
        turns += [{"role": "assistant", "content": answer}, {"role": "user", "content": told_then}]
    request: dict[str, Any] = {
        "model": form.model,
        "max_tokens": form.most_output,
        "system": form.system,
        "messages": turns,
    }
    if form.schema:
        request["tools"] = [
            {"name": "answer", "description": "Gives the answer to the checklist.", "input_schema": form.schema}
        ]
        request["tool_choice"] = {"type": "tool", "name": "answer"}
    return request


def _gemini(form: Form) -> dict[str, Any]:
    told: list[dict[str, Any]] = [{"text": form.evidence}]
    for picture in form.pictures:
        told.append({"text": f"screenshot:{picture.name}"})
        told.append({"inlineData": {"mimeType": "image/png", "data": picture.base64}})
    told += [{"text": text} for text in (form.more, form.instruction) if text]
    turns: list[dict[str, Any]] = [{"role": "user", "parts": told}]
    for answer, told_then in form.before:
        turns.append({"role": "model", "parts": [{"text": answer}]})
        turns.append({"role": "user", "parts": [{"text": told_then}]})
    request: dict[str, Any] = {"systemInstruction": {"parts": [{"text": form.system}]}, "contents": turns}
    if form.schema:
        request["generationConfig"] = {
            "responseMimeType": "application/json",
            "responseSchema": _without_additional(form.schema),
        }
    return request


def _without_additional(schema: Any) -> Any:
    """Gemini's schemas know no `additionalProperties`."""
    if isinstance(schema, dict):
        return {name: _without_additional(value) for name, value in schema.items() if name != "additionalProperties"}
    return [_without_additional(value) for value in schema] if isinstance(schema, list) else schema

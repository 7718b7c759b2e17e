"""A chat completion as it is asked for, checked: what a small local model cannot do is refused with a sentence."""

from __future__ import annotations

from typing import Any

from orvl.errors import LocalModelError

MOST_TOKENS = 1024
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
NOT_OFFERED = {"stream": "does not stream", "tools": "has no tools", "functions": "has no functions"}


def question_of(body: Any, name: str) -> dict[str, Any]:
    """What the process is asked, out of the body of a request."""
    if not isinstance(body, dict) or not isinstance(body.get("messages"), list) or not body["messages"]:
        raise LocalModelError(400, "the body of the request is not a JSON object with a model and messages")
    if body.get("model") != name:
        raise LocalModelError(404, f"there is no model {body.get('model')!r} here; there is {name!r}")
    for field, lacks in NOT_OFFERED.items():
        if body.get(field):
            raise LocalModelError(400, f"the local model {lacks}: leave out {field!r}")
    if body.get("n") not in (None, 1):
        raise LocalModelError(400, "the local model gives one answer: leave out 'n'")
    return {
        "messages": [_message(message) for message in body["messages"]],
        "max_tokens": _most_tokens(body),
        "stop": _stop(body.get("stop")),
        "schema": _schema(body.get("response_format")),
    }


def _message(message: Any) -> tuple[str, str]:
    role = message.get("role") if isinstance(message, dict) else None
    if role not in ROLES:
        raise LocalModelError(400, f"a message has the role {role!r}; there are {', '.join(ROLES)}")
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    return ROLES[role], "\n".join(_text(part) for part in parts)


def _text(part: Any) -> str:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind != "text" or not isinstance(part.get("text"), str):
        raise LocalModelError(400, f"the local model reads text only, and a message has a part of the type {kind!r}")
    text: str = part["text"]
    return text.encode(errors="replace").decode()


def _most_tokens(body: dict[str, Any]) -> int:
    told = [body[name] for name in ("max_completion_tokens", "max_tokens") if body.get(name) is not None]
    most = told[0] if told else MOST_TOKENS
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise LocalModelError(400, f"max_tokens is a whole number from 1, and is {most!r}")
    return most


def _stop(told: Any) -> list[str]:
    words = [told] if isinstance(told, str) else told or []
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise LocalModelError(400, "stop is a text or a list of texts")
    return words


def _schema(told: Any) -> dict[str, Any] | None:
    """The schema that the answer must follow, if any."""
    kind = told.get("type") if isinstance(told, dict) else None
    if told is None or kind == "text":
        return None
    if kind == "json_object":
        return {"type": "object"}
    inner = told.get("json_schema") if kind == "json_schema" else None
    schema = inner.get("schema") if isinstance(inner, dict) else None
    if not isinstance(schema, dict):
        raise LocalModelError(
            400, "response_format is of the type text, json_object or json_schema with json_schema.schema"
        )
    return schema

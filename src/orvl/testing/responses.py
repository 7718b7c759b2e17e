"""OpenAI's responses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from orvl.testing.chat import Chat
from orvl.testing.dialect import Json, Reply, after_last, arguments_text, dicts, event
from orvl.testing.request import ToolResult, texts
from orvl.testing.script import Fault, Tokens

INCOMPLETE = {
    "length": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "content_filter": "content_filter",
}
OF_THE_MODEL = ("function_call", "custom_tool_call", "reasoning")
RESULTS = ("function_call_output", "custom_tool_call_output")
Draft = tuple[str, Json]


class Responses(Chat):
    """POST …/responses"""

    name = "responses"

    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        given = body.get("input")
        return [{"role": "user", "content": given}] if isinstance(given, str) else dicts(given)

    def instructions(self, body: Mapping[str, Any]) -> Any:
        return body.get("instructions")

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        return {str(one["name"]): one.get("parameters") or {} for one in _offered(body)}

    def tool_results(self, messages: list[Any]) -> list[ToolResult]:
        later = after_last(after_last(messages, "role", "assistant"), "type", *OF_THE_MODEL)
        return [
            ToolResult(str(one.get("call_id", "")), "\n".join(texts(one.get("output"))))
            for one in later
            if one.get("type") in RESULTS
        ]

    def whole(self, reply: Reply) -> Json:
        return _response(reply, *_end(reply), [item for _, item in _items(reply)], with_usage=True)

    def stream(self, reply: Reply) -> Iterator[bytes]:
        for number, (name, data) in enumerate(_events(reply)):
            yield event({"type": name, "sequence_number": number, **data}, name)

    def error_event(self, fault: Fault, reply: Reply) -> bytes:
        code = fault.kind or self.codes.get(fault.status) or self.kind(fault)
        failed = _response(reply, "failed", None, [], with_usage=False)
        failed["error"] = {"code": code, "message": fault.message}
        data = {"type": "response.failed", "sequence_number": fault.after, "response": failed}
        return event(data, "response.failed")


def _offered(body: Mapping[str, Any]) -> list[Json]:
    """The tools with a name; those in a namespace say which."""
    found = []
    for tool in dicts(body.get("tools")):
        inner = [{**one, "namespace": tool.get("name")} for one in dicts(tool.get("tools"))]
        found += [one for one in inner or [tool] if "name" in one]
    return found


def _end(reply: Reply) -> tuple[str, str | None]:
    """The status of a whole response, and why it is not complete."""
    reason = INCOMPLETE.get(reply.finish)
    return ("incomplete", reason) if reason else ("completed", None)


def _response(reply: Reply, status: str, reason: str | None, output: list[Json], with_usage: bool) -> Json:
    body = reply.request.body
    told = with_usage and reply.usage_manner != "never"
    return {
        "id": f"resp_{reply.request.number:06d}",
        "object": "response",
        "created_at": reply.created,
        "status": status,
        "error": None,
        "incomplete_details": {"reason": reason} if reason else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": reply.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": body.get("previous_response_id"),
        "reasoning": body.get("reasoning") or {"effort": None, "summary": None},
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": usage_of(reply.answer.tokens) if told else None,
        "metadata": {},
    }


def _items(reply: Reply) -> Iterator[Draft]:
    """The finished items of the output, each with its kind."""
    answer, number = reply.answer, reply.request.number
    if answer.reasoning:
        summary = [{"type": "summary_text", "text": answer.reasoning}]
        yield "reasoning", {"id": f"rs_{number:06d}", "type": "reasoning", "summary": summary}
    if answer.text or answer.refusal is not None:
        parts: list[Json] = []
        if answer.text:
            parts.append({"type": "output_text", "text": answer.text, "annotations": [], "logprobs": []})
        if answer.refusal is not None:
            parts.append({"type": "refusal", "refusal": answer.refusal})
        head = {"id": f"msg_{number:06d}", "type": "message", "status": "completed", "role": "assistant"}
        yield "message", {**head, "content": parts}
    offered = {one["name"]: one for one in _offered(reply.request.body)}
    for place, (id, call) in enumerate(reply.calls()):
        tool = offered.get(call.name, {})
        kind, holder = ("custom_tool_call", "input") if tool.get("type") == "custom" else ("function_call", "arguments")
        item = {"id": f"fc_{number:06d}_{place}", "type": kind, "status": "completed", "call_id": id}
        within = {"namespace": tool["namespace"]} if "namespace" in tool else {}
        yield kind, {**item, **within, "name": call.name, holder: arguments_text(call)}


def _events(reply: Reply) -> Iterator[Draft]:
    begun = _response(reply, "in_progress", None, [], with_usage=False)
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    done: list[Json] = []
    for index, (kind, item) in enumerate(_items(reply)):
        place = {"item_id": item["id"], "output_index": index}
        yield "response.output_item.added", {"output_index": index, "item": _empty(kind, item)}
        if kind == "reasoning":
            yield from _summary_events(reply, place, item)
        elif kind == "message":
            yield from _content_events(reply, place, item)
        else:
            yield from _call_events(reply, place, item)
        yield "response.output_item.done", {"output_index": index, "item": item}
        done.append(item)
    status, reason = _end(reply)
    yield f"response.{status}", {"response": _response(reply, status, reason, done, with_usage=True)}


def _empty(kind: str, item: Json) -> Json:
    """An item as it is when it begins."""
    holder = {"reasoning": "summary", "message": "content", "function_call": "arguments", "custom_tool_call": "input"}
    nothing: Any = [] if kind in ("reasoning", "message") else ""
    return item | {holder[kind]: nothing} | ({"status": "in_progress"} if "status" in item else {})


def _summary_events(reply: Reply, place: Json, item: Json) -> Iterator[Draft]:
    place = {**place, "summary_index": 0}
    part = item["summary"][0]
    yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
    for piece in reply.answer.cut(part["text"]):
        yield "response.reasoning_summary_text.delta", {**place, "delta": piece}
    yield "response.reasoning_summary_text.done", {**place, "text": part["text"]}
    yield "response.reasoning_summary_part.done", {**place, "part": part}


def _content_events(reply: Reply, place: Json, item: Json) -> Iterator[Draft]:
    for index, part in enumerate(item["content"]):
        here = {**place, "content_index": index}
        kind, holder = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
        extra: Json = {} if kind == "refusal" else {"logprobs": []}
        yield "response.content_part.added", {**here, "part": {**part, holder: ""}}
        for piece in reply.answer.cut(part[holder]):
            yield f"response.{kind}.delta", {**here, "delta": piece, **extra}
        yield f"response.{kind}.done", {**here, holder: part[holder], **extra}
        yield "response.content_part.done", {**here, "part": part}


def _call_events(reply: Reply, place: Json, item: Json) -> Iterator[Draft]:
    custom = item["type"] == "custom_tool_call"
    kind, holder = ("custom_tool_call_input", "input") if custom else ("function_call_arguments", "arguments")
    for piece in reply.answer.cut(item[holder]):
        yield f"response.{kind}.delta", {**place, "delta": piece}
    named = {} if custom else {"name": item["name"]}
    yield f"response.{kind}.done", {**place, **named, holder: item[holder]}


def usage_of(tokens: Tokens) -> Json:
    """Cached tokens are a part of the input's, reasoning a part of the output's."""
    details = {"cached_tokens": tokens.cached} | (
        {"cache_write_tokens": tokens.cache_write} if tokens.cache_write else {}
    )
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": details,
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.total,
    }

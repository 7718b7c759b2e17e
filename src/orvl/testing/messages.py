"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from orvl.testing.dialect import Dialect, Json, Reply, after_last, arguments_text, arguments_value, bearer, dicts, event
from orvl.testing.request import ToolResult, texts
from orvl.testing.script import Fault, Tokens

STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
SIGNATURE = "c2NyaXB0ZWQgdGhpbmtpbmc="


class Messages(Dialect):
    """POST …/messages"""

    name = "anthropic"
    error_kinds: ClassVar = {
        400: "invalid_request_error",
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        500: "api_error",
        504: "timeout_error",
        529: "overloaded_error",
    }

    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        return dicts(body.get("messages"))

    def instructions(self, body: Mapping[str, Any]) -> Any:
        return body.get("system")

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        return {str(one["name"]): one.get("input_schema") or {} for one in dicts(body.get("tools")) if "name" in one}

    def tool_results(self, messages: list[Any]) -> list[ToolResult]:
        return [
            ToolResult(str(block.get("tool_use_id", "")), "\n".join(texts(block.get("content"))))
            for message in after_last(messages, "role", "assistant")
            for block in dicts(message.get("content"))
            if block.get("type") == "tool_result"
        ]

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:  # noqa: ARG002
        return headers.get("x-api-key") or bearer(headers)

    def whole(self, reply: Reply) -> Json:
        blocks: list[Json] = []
        if reply.answer.reasoning:
            blocks.append({"type": "thinking", "thinking": reply.answer.reasoning, "signature": SIGNATURE})
        if _text(reply):
            blocks.append({"type": "text", "text": _text(reply)})
        for id, call in reply.calls("toolu"):
            blocks.append({"type": "tool_use", "id": id, "name": call.name, "input": arguments_value(call)})
        usage = {} if reply.usage_manner == "never" else {"usage": usage_of(reply.answer.tokens)}
        return {**_head(reply), "content": blocks, "stop_reason": _stop_reason(reply), "stop_sequence": None, **usage}

    def stream(self, reply: Reply) -> Iterator[bytes]:
        for data in _events(reply):
            yield event(data, data["type"])

    def error(self, fault: Fault, number: int) -> Json:
        error = {"type": self.kind(fault), "message": fault.message}
        return {"type": "error", "error": error, "request_id": f"req_{number:06d}"}

    def error_event(self, fault: Fault, reply: Reply) -> bytes:  # noqa: ARG002
        return event({"type": "error", "error": {"type": self.kind(fault), "message": fault.message}}, "error")

    def models(self, names: Sequence[str]) -> Json:
        made = {"type": "model", "created_at": "2025-01-01T00:00:00Z"}
        data = [{**made, "id": one, "display_name": one} for one in names]
        ends = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
        return {"data": data, "has_more": False, **ends}


def _head(reply: Reply) -> Json:
    id = f"msg_{reply.request.number:06d}"
    return {"id": id, "type": "message", "role": "assistant", "model": reply.model}


def _text(reply: Reply) -> str:
    return reply.answer.text or reply.answer.refusal or ""


def _stop_reason(reply: Reply) -> str:
    if reply.answer.refusal is not None and not reply.answer.finish:
        return "refusal"
    return STOP_REASONS.get(reply.finish, reply.finish)


def _blocks(reply: Reply) -> Iterator[tuple[Json, list[Json]]]:
    """The blocks of an answer as they begin, each with the deltas that complete it."""
    answer = reply.answer
    if answer.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in answer.cut(answer.reasoning)]
        deltas.append({"type": "signature_delta", "signature": SIGNATURE})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if _text(reply):
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": one} for one in answer.cut(_text(reply))]
    for id, call in reply.calls("toolu"):
        pieces = ["", *answer.cut(arguments_text(call))]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        yield {"type": "tool_use", "id": id, "name": call.name, "input": {}}, deltas


def _events(reply: Reply) -> Iterator[Json]:
    usage = usage_of(reply.answer.tokens)
    told = reply.usage_manner != "never"
    begun: Json = {**_head(reply), "content": [], "stop_reason": None, "stop_sequence": None}
    yield {"type": "message_start", "message": begun | ({"usage": {**usage, "output_tokens": 1}} if told else {})}
    for index, (block, deltas) in enumerate(_blocks(reply)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"type": "message_delta", "delta": {"stop_reason": _stop_reason(reply), "stop_sequence": None}}
    yield ended | ({"usage": usage} if told else {})
    yield {"type": "message_stop"}


def usage_of(tokens: Tokens) -> Json:
    """Cached tokens are beside the input's, reasoning is in the output's."""
    return {
        "input_tokens": tokens.input - tokens.cached - tokens.cache_write,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
    }

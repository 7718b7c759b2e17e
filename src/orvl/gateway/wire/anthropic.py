"""Anthropic's messages, `/v1/messages`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from orvl.gateway.wire.format import (
    ANSWER_TOOL,
    AnswerReader,
    ModelRequest,
    ModelToolCall,
    Question,
    Reply,
    Route,
    TokenCounts,
    ToolResult,
    WireFormat,
    after_model,
)
from orvl.gateway.wire.sse import event
from orvl.gateway.wire.values import (
    Json,
    foreign_tool,
    mapping,
    mentions,
    merged,
    number,
    objects,
    optional_number,
    output_limit,
    string,
    texts,
)

THINKING = ("thinking", "redacted_thinking")
OWN_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_", "tool_search_")
"""How the kinds of tools that the agent runs itself begin."""
ELSEWHERE = ("file_id", "url")
USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
STOP_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}
SIGNATURE = "c2NyaXB0ZWQgdGhpbmtpbmc="


class Anthropic(WireFormat):
    """Cached tokens are counted beside the input's, reasoning tokens as part of the output's."""

    name = "anthropic"
    root = ""
    paths: ClassVar = {"/messages": True, "/messages/count_tokens": False}
    key_headers = ("x-api-key", "authorization")
    request_headers: ClassVar = {"anthropic-version": "2023-06-01"}
    header_prefix = "anthropic-"
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

    def environment(self, url: str, key: str) -> dict[str, str]:
        return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": key}

    # -- the gateway

    def with_key(self, key: str, *, is_vendor: bool) -> dict[str, str]:
        # Other hosts of this format read the key from one of two headers, and Anthropic refuses to get both.
        return {"x-api-key": key} | ({} if is_vendor else {"Authorization": f"Bearer {key}"})

    def read_request(self, body: Json, route: Route) -> ModelRequest:
        messages = self.messages(body)
        parts = [part for message in messages for part in objects(message.get("content"))]
        tools = [tool for tool in objects(body.get("tools")) if tool.get("name")]
        return ModelRequest(
            model=string(body.get("model")) or "",
            stream=body.get("stream") is True,
            tools={str(tool["name"]): tool.get("input_schema") for tool in tools},
            reasoning_back=sum(part.get("type") in THINKING for part in parts),
            answers_back=sum(self.is_from_model(message) for message in messages),
            max_output=output_limit(body),
            is_whole=not mentions(messages, ELSEWHERE),
        )

    def provider_tool(self, body: Json) -> str | None:
        return foreign_tool(body, OWN_TOOLS)

    def reader(self) -> AnswerReader:
        return MessagesReader()

    # -- judges

    def ask(self, question: Question) -> Json:
        parts: list[Json] = [{"type": "text", "text": question.evidence, "cache_control": {"type": "ephemeral"}}]
        for image in question.images:
            source = {"type": "base64", "media_type": "image/png", "data": image.base64}
            parts += [{"type": "text", "text": image.label}, {"type": "image", "source": source}]
        parts += [{"type": "text", "text": text} for text in question.after_images]
        turns: list[Json] = [{"role": "user", "content": parts}]
        for answer, reply in question.before:
            turns += [{"role": "assistant", "content": answer}, {"role": "user", "content": reply}]
        body: Json = {
            "model": question.model,
            "max_tokens": question.max_output,
            "system": question.system,
            "messages": turns,
        }
        if question.schema:
            description = "Gives the answer to the checklist."
            body["tools"] = [{"name": ANSWER_TOOL, "description": description, "input_schema": question.schema}]
            body["tool_choice"] = {"type": "tool", "name": ANSWER_TOOL}
        return merged(body, question.options)

    # -- servers

    def messages(self, body: Mapping[str, Any]) -> list[Json]:
        return objects(body.get("messages"))

    def instructions(self, body: Mapping[str, Any]) -> Any:
        return body.get("system")

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        offered = [tool for tool in objects(body.get("tools")) if "name" in tool]
        return {str(tool["name"]): tool.get("input_schema") or {} for tool in offered}

    def tool_results(self, messages: list[Json]) -> list[ToolResult]:
        return [
            ToolResult(str(block.get("tool_use_id", "")), "\n".join(texts(block.get("content"))))
            for message in after_model(self, messages)
            for block in objects(message.get("content"))
            if block.get("type") == "tool_result"
        ]

    def is_client(self, path: str, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        return "anthropic-version" in headers

    def whole(self, reply: Reply) -> Json:
        blocks: list[Json] = []
        if reply.reasoning:
            blocks.append({"type": "thinking", "thinking": reply.reasoning, "signature": SIGNATURE})
        if _text(reply):
            blocks.append({"type": "text", "text": _text(reply)})
        for id, call in reply.calls("toolu"):
            blocks.append({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments_value})
        usage = {"usage": _usage(reply.tokens)} if reply.reports_usage else {}
        return {**_head(reply), "content": blocks, "stop_reason": _stop_reason(reply), "stop_sequence": None, **usage}

    def stream(self, reply: Reply) -> Iterator[bytes]:
        for data in _events(reply):
            yield event(data, data["type"])

    def error(self, status: int, message: str, kind: str | None = None, number: int | None = None) -> Json:
        body: Json = {"type": "error", "error": {"type": self.error_kind(status, kind), "message": message}}
        return body if number is None else {**body, "request_id": f"req_{number:06d}"}

    def error_event(self, reply: Reply, status: int, message: str, kind: str | None, sent: int) -> bytes:
        return event(self.error(status, message, kind), "error")

    def models(self, names: Sequence[str]) -> Json:
        head = {"type": "model", "created_at": "2025-01-01T00:00:00Z"}
        data = [{**head, "id": name, "display_name": name} for name in names]
        ends = {"first_id": names[0], "last_id": names[-1]} if names else {"first_id": None, "last_id": None}
        return {"data": data, "has_more": False, **ends}


class MessagesReader(AnswerReader):
    """Reads an answer of the messages API; a stream reports its usage in two parts, the later over the earlier."""

    def __init__(self) -> None:
        super().__init__()
        self._usage: Json = {}
        self._for_an_hour = 0
        self._tools: dict[int, ModelToolCall] = {}

    def whole(self, body: Json) -> None:
        if body.get("type") == "error":
            self._error(body)
            return
        for index, block in enumerate(objects(body.get("content"))):
            self._block(index, block)
        self._message(body)
        self.answer.is_count_final = True
        self._stop(body)
        self.answer.complete = self.answer.finish is not None

    def event(self, name: str, body: Json) -> None:
        kind = string(body.get("type")) or name
        if kind == "error":
            self._error(body)
        elif kind == "message_start":
            self._message(mapping(body.get("message")))
        elif kind == "content_block_start":
            self._block(number(body.get("index")), mapping(body.get("content_block")))
        elif kind == "content_block_delta":
            self._delta(number(body.get("index")), mapping(body.get("delta")))
        elif kind == "message_delta":
            self._count(body.get("usage"), is_final=True)
            self._stop(mapping(body.get("delta")))
        elif kind == "message_stop":
            self.answer.complete = True

    def _error(self, body: Json) -> None:
        error = mapping(body.get("error"))
        self.answer.error = string(error.get("message")) or string(error.get("type")) or "error"

    def _message(self, message: Json) -> None:
        self.answer.model = string(message.get("model")) or self.answer.model
        self.answer.host = string(message.get("provider")) or self.answer.host
        self._count(message.get("usage"))

    def _block(self, index: int, block: Json) -> None:
        kind = block.get("type")
        if kind == "tool_use":
            arguments = json.dumps(block["input"]) if block.get("input") else ""
            tool = ModelToolCall(string(block.get("name")) or "", arguments, str(block.get("id", "")))
            self._tools[index] = tool
            self.answer.tools.append(tool)
            self.answer.began = True
        elif kind in THINKING:
            self.answer.add_reasoning(block.get("thinking"))
        elif kind == "text":
            self.answer.add_text(block.get("text"))

    def _delta(self, index: int, delta: Json) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self.answer.add_text(delta.get("text"))
        elif kind == "thinking_delta":
            self.answer.add_reasoning(delta.get("thinking"))
        elif kind == "input_json_delta" and index in self._tools:
            self.answer.add_arguments(self._tools[index], delta.get("partial_json"))

    def _stop(self, message: Json) -> None:
        if finish := string(message.get("stop_reason")):
            self.answer.finish = finish
            self.answer.cut_off = finish in ("max_tokens", "model_context_window_exceeded")
            self.answer.refused = finish == "refusal"

    def _count(self, usage: Any, *, is_final: bool = False) -> None:
        reported = {name: optional_number(count) for name, count in mapping(usage).items() if name in USAGE}
        self._usage |= {name: count for name, count in reported.items() if count is not None}
        kept = number(mapping(mapping(usage).get("cache_creation")).get("ephemeral_1h_input_tokens"))
        self._for_an_hour = max(self._for_an_hour, kept)
        # A stream begins with a count of its output that is none yet; the last one counts.
        self.answer.is_count_final = is_final and reported.get("output_tokens") is not None
        if "input_tokens" in self._usage:
            uncached, read, written, output = (self._usage.get(name) for name in USAGE)
            total = (uncached or 0) + (read or 0) + (written or 0)
            for_an_hour = min(self._for_an_hour, written or 0)
            self.answer.tokens = TokenCounts(total, read, written, output or 0, None, for_an_hour)


# -- what a server writes


def _head(reply: Reply) -> Json:
    return {"id": f"msg_{reply.number:06d}", "type": "message", "role": "assistant", "model": reply.model}


def _text(reply: Reply) -> str:
    return reply.text or reply.refusal or ""


def _stop_reason(reply: Reply) -> str:
    if reply.refusal is not None and not reply.finish_reason:
        return "refusal"
    return STOP_REASONS.get(reply.finish, reply.finish)


def _usage(tokens: TokenCounts) -> Json:
    return {
        "input_tokens": tokens.input - (tokens.cached or 0) - (tokens.cache_write or 0),
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cached,
        "output_tokens": tokens.output,
    }


def _blocks(reply: Reply) -> Iterator[tuple[Json, list[Json]]]:
    """The blocks of an answer as they begin, each with the deltas that complete it."""
    if reply.reasoning:
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in reply.cut(reply.reasoning)]
        deltas.append({"type": "signature_delta", "signature": SIGNATURE})
        yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
    if _text(reply):
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": text} for text in reply.cut(_text(reply))]
    for id, call in reply.calls("toolu"):
        pieces = ["", *reply.cut(call.arguments_text)]
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in pieces]
        yield {"type": "tool_use", "id": id, "name": call.name, "input": {}}, deltas


def _events(reply: Reply) -> Iterator[Json]:
    usage = _usage(reply.tokens)
    begun: Json = {**_head(reply), "content": [], "stop_reason": None, "stop_sequence": None}
    begun |= {"usage": {**usage, "output_tokens": 1}} if reply.reports_usage else {}
    yield {"type": "message_start", "message": begun}
    for index, (block, deltas) in enumerate(_blocks(reply)):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"type": "message_delta", "delta": {"stop_reason": _stop_reason(reply), "stop_sequence": None}}
    yield ended | ({"usage": usage} if reply.reports_usage else {})
    yield {"type": "message_stop"}


FORMAT = Anthropic()

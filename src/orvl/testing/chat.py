"""OpenAI's chat completions, as most hosts of models speak them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from orvl.testing.dialect import Dialect, Json, Reply, after_last, arguments_text, bearer, dicts, event
from orvl.testing.request import ToolResult, texts
from orvl.testing.script import Fault, Tokens


class Chat(Dialect):
    """POST …/chat/completions"""

    name = "openai"
    error_kinds: ClassVar = {
        400: "invalid_request_error",
        401: "invalid_request_error",
        403: "insufficient_permissions",
        404: "invalid_request_error",
        429: "rate_limit_exceeded",
        500: "server_error",
    }
    codes: ClassVar = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}

    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        return dicts(body.get("messages"))

    def instructions(self, body: Mapping[str, Any]) -> Any:  # noqa: ARG002
        return None

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        offered = [one["function"] for one in dicts(body.get("tools")) if isinstance(one.get("function"), dict)]
        return {str(one.get("name")): one.get("parameters") or {} for one in offered}

    def tool_results(self, messages: list[Any]) -> list[ToolResult]:
        return [
            ToolResult(str(one.get("tool_call_id", "")), "\n".join(texts(one.get("content"))))
            for one in after_last(messages, "role", "assistant")
            if one.get("role") == "tool"
        ]

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:  # noqa: ARG002
        return bearer(headers)

    def whole(self, reply: Reply) -> Json:
        answer = reply.answer
        message: Json = {"role": "assistant", "content": answer.text or None, "refusal": answer.refusal}
        if answer.reasoning:
            message["reasoning_content"] = answer.reasoning
        if answer.tool_calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": call.name, "arguments": arguments_text(call)}}
                for id, call in reply.calls()
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
        usage = {} if reply.usage_manner == "never" else {"usage": usage_of(answer.tokens)}
        return {**_head(reply, "chat.completion"), "choices": [choice], **usage}

    def stream(self, reply: Reply) -> Iterator[bytes]:
        options = reply.request.body.get("stream_options")
        asked = bool(options.get("include_usage")) if isinstance(options, dict) else False
        with_usage = reply.usage_manner == "always" or (reply.usage_manner == "asked" and asked)
        head = _head(reply, "chat.completion.chunk") | ({"usage": None} if with_usage else {})
        for delta in _deltas(reply):
            yield event({**head, "choices": [_choice(delta, None)]})
        yield event({**head, "choices": [_choice({}, reply.finish)]})
        if with_usage:
            yield event({**head, "choices": [], "usage": usage_of(reply.answer.tokens)})
        yield event("[DONE]")

    def error(self, fault: Fault, number: int) -> Json:  # noqa: ARG002
        code = fault.kind or self.codes.get(fault.status)
        return {"error": {"message": fault.message, "type": self.kind(fault), "param": None, "code": code}}

    def error_event(self, fault: Fault, reply: Reply) -> bytes:
        return event(self.error(fault, reply.request.number))

    def models(self, names: Sequence[str]) -> Json:
        data = [{"id": one, "object": "model", "created": 0, "owned_by": "orvl"} for one in names]
        return {"object": "list", "data": data}


def _head(reply: Reply, kind: str) -> Json:
    id = f"chatcmpl-{reply.request.number:06d}"
    return {"id": id, "object": kind, "created": reply.created, "model": reply.model, "system_fingerprint": None}


def _choice(delta: Json, finish: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _deltas(reply: Reply) -> Iterator[Json]:
    answer = reply.answer
    yield {"role": "assistant", "content": ""}
    for piece in answer.cut(answer.reasoning):
        yield {"reasoning_content": piece}
    for piece in answer.cut(answer.text):
        yield {"content": piece}
    for piece in answer.cut(answer.refusal or ""):
        yield {"refusal": piece}
    for index, (id, call) in enumerate(reply.calls()):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}
        for piece in answer.cut(arguments_text(call)):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def usage_of(tokens: Tokens) -> Json:
    """Cached tokens are a part of the prompt's, reasoning a part of the completion's."""
    prompt = {"cached_tokens": tokens.cached, "audio_tokens": 0}
    if tokens.cache_write:
        prompt["cache_write_tokens"] = tokens.cache_write
    return {
        "prompt_tokens": tokens.input,
        "completion_tokens": tokens.output,
        "total_tokens": tokens.total,
        "prompt_tokens_details": prompt,
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning, "audio_tokens": 0},
    }

"""OpenAI's chat completions, `/v1/chat/completions`, as most hosts of models offer them."""

from __future__ import annotations

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
    as_object,
    choices,
    foreign_tool,
    mapping,
    mentions,
    merged,
    money,
    number,
    objects,
    optional_number,
    output_limit,
    string,
    texts,
)

ELSEWHERE = ("file_id", "image_url", "file", "input_audio", "video_url")
REASONING = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text")


class OpenAI(WireFormat):
    """Cached tokens are part of the prompt's, reasoning tokens part of the completion's."""

    name = "openai"
    root = "/v1"
    paths: ClassVar = {"/chat/completions": True}
    usage_option: ClassVar[str | None] = "stream_options"
    error_kinds: ClassVar = {
        400: "invalid_request_error",
        401: "invalid_request_error",
        403: "insufficient_permissions",
        404: "invalid_request_error",
        429: "rate_limit_exceeded",
        500: "server_error",
    }
    unknown_model: ClassVar[str] = "model_not_found"
    error_codes: ClassVar = {401: "invalid_api_key", 404: "model_not_found", 429: "rate_limit_exceeded"}

    def environment(self, url: str, key: str) -> dict[str, str]:
        return {"OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_BASE": f"{url}/v1", "OPENAI_API_KEY": key}

    # -- the gateway

    def read_request(self, body: Json, route: Route) -> ModelRequest:
        answers = [message for message in self.messages(body) if self.is_from_model(message)]
        return ModelRequest(
            model=string(body.get("model")) or "",
            stream=body.get("stream") is True,
            tools={str(tool["name"]): tool.get("parameters") for tool in _functions(body)},
            reasoning_back=sum(any(message.get(name) for name in REASONING) for message in answers),
            answers_back=len(answers),
            max_output=output_limit(body),
            choices=choices(body.get("n"), body.get("best_of")),
            is_whole=not mentions(body.get("messages"), ELSEWHERE),
            lacks_usage=body.get("stream") is True
            and mapping(body.get("stream_options")).get("include_usage") is not True,
            has_usage_field="stream_options" in body,
        )

    def provider_tool(self, body: Json) -> str | None:
        return foreign_tool(body, ("function", "custom"))

    def is_usage_event(self, raw: bytes) -> bool:
        if b'"usage"' not in raw or b'"choices"' not in raw:
            return False
        body = as_object(raw.strip().removeprefix(b"data:"))
        return body is not None and body.get("choices") == [] and bool(body.get("usage"))

    def reader(self) -> AnswerReader:
        return ChatReader()

    # -- judges

    def ask(self, question: Question) -> Json:
        parts: list[Json] = [{"type": "text", "text": question.evidence}]
        if question.mark_cache:
            parts[0]["cache_control"] = {"type": "ephemeral"}
        for image in question.images:
            parts.append({"type": "text", "text": image.label})
            parts.append({"type": "image_url", "image_url": {"url": image.url}})
        parts += [{"type": "text", "text": text} for text in question.after_images]
        # Many hosts take only a plain string, so parts are sent only where they are needed.
        needs_parts = question.images or question.mark_cache
        content: Any = parts if needs_parts else "\n\n".join(part["text"] for part in parts)
        messages = [{"role": "system", "content": question.system}, {"role": "user", "content": content}]
        for answer, reply in question.before:
            messages += [{"role": "assistant", "content": answer}, {"role": "user", "content": reply}]
        body: Json = {"model": question.model, "messages": messages}
        if question.schema:
            schema = {"name": ANSWER_TOOL, "strict": True, "schema": question.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        return merged(body, question.options)

    # -- servers

    def messages(self, body: Mapping[str, Any]) -> list[Json]:
        return objects(body.get("messages"))

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        return {str(tool["name"]): tool.get("parameters") or {} for tool in _functions(body)}

    def tool_results(self, messages: list[Json]) -> list[ToolResult]:
        return [
            ToolResult(str(message.get("tool_call_id", "")), "\n".join(texts(message.get("content"))))
            for message in after_model(self, messages)
            if message.get("role") == "tool"
        ]

    def whole(self, reply: Reply) -> Json:
        message: Json = {"role": "assistant", "content": reply.text or None, "refusal": reply.refusal}
        if reply.reasoning:
            message["reasoning_content"] = reply.reasoning
        if reply.tool_calls:
            message["tool_calls"] = [
                {"id": id, "type": "function", "function": {"name": call.name, "arguments": call.arguments_text}}
                for id, call in reply.calls()
            ]
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reply.finish}
        usage = {"usage": _usage(reply.tokens)} if reply.reports_usage else {}
        return {**_head(reply, "chat.completion"), "choices": [choice], **usage}

    def stream(self, reply: Reply) -> Iterator[bytes]:
        is_asked = bool(mapping(reply.request.get("stream_options")).get("include_usage"))
        with_usage = reply.usage == "always" or (reply.usage == "asked" and is_asked)
        head = _head(reply, "chat.completion.chunk") | ({"usage": None} if with_usage else {})
        for delta in _deltas(reply):
            yield event({**head, "choices": [_choice(delta, None)]})
        yield event({**head, "choices": [_choice({}, reply.finish)]})
        if with_usage:
            yield event({**head, "choices": [], "usage": _usage(reply.tokens)})
        yield event("[DONE]")

    def error(self, status: int, message: str, kind: str | None = None, number: int | None = None) -> Json:
        code = kind or self.error_codes.get(status)
        return {"error": {"message": message, "type": self.error_kind(status, kind), "param": None, "code": code}}

    def models(self, names: Sequence[str]) -> Json:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "orvl"} for name in names]
        return {"object": "list", "data": data}


class ChatReader(AnswerReader):
    """Reads an answer of chat completions."""

    def __init__(self) -> None:
        super().__init__()
        self._tools: dict[int, ModelToolCall] = {}

    def whole(self, body: Json) -> None:
        self.event("", body)
        self.answer.complete = bool(body.get("choices")) or self.answer.error is not None

    def event(self, name: str, body: Json) -> None:
        answer = self.answer
        if error := body.get("error"):
            answer.error = string(mapping(error).get("message")) or str(error)
            return
        answer.model = string(body.get("model")) or answer.model
        answer.host = string(body.get("provider")) or answer.host
        for choice in objects(body.get("choices")):
            if not number(choice.get("index")):
                self._choice(choice)
        if isinstance(usage := body.get("usage"), dict):
            if tokens := _tokens(usage):
                answer.count(tokens)
            cost = money(usage.get("cost"))
            answer.cost = answer.cost if cost is None else cost

    def _choice(self, choice: Json) -> None:
        answer = self.answer
        delta = mapping(choice.get("delta") or choice.get("message"))
        answer.add_text(_text(delta.get("content")))
        for name in REASONING:
            if delta.get(name):
                answer.add_reasoning(delta[name])
                break
        if refusal := string(delta.get("refusal")):
            answer.refused = True
            answer.add_text(refusal)
        for place, call in enumerate(objects(delta.get("tool_calls"))):
            self._tool(number(call["index"]) if "index" in call else place, call)
        if finish := string(choice.get("finish_reason")):
            answer.finish = finish
            answer.complete = True
            answer.cut_off = finish in ("length", "max_tokens")
            answer.refused = answer.refused or finish in ("content_filter", "refusal")

    def _tool(self, index: int, call: Json) -> None:
        function = mapping(call.get("function"))
        if index not in self._tools:
            self._tools[index] = ModelToolCall("", "")
            self.answer.tools.append(self._tools[index])
        tool = self._tools[index]
        tool.id = string(call.get("id")) or tool.id
        tool.name = tool.name or string(function.get("name")) or ""
        self.answer.add_arguments(tool, function.get("arguments"))


def _functions(body: Mapping[str, Any]) -> list[Json]:
    functions = [mapping(tool.get("function")) for tool in objects(body.get("tools"))]
    return [function for function in functions if function.get("name")]


def _text(content: Any) -> Any:
    """Text, also where it comes in parts."""
    if isinstance(content, list):
        return "".join(string(part.get("text")) or "" for part in objects(content))
    return content


def _tokens(usage: Json) -> TokenCounts | None:
    into, out = (optional_number(usage.get(name)) for name in ("prompt_tokens", "completion_tokens"))
    if into is None or out is None:
        return None
    prompt, completion = mapping(usage.get("prompt_tokens_details")), mapping(usage.get("completion_tokens_details"))
    reasoning = optional_number(completion.get("reasoning_tokens"))
    return TokenCounts(
        input=into,
        cached=optional_number(prompt.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),
        cache_write=optional_number(prompt.get("cache_write_tokens")),
        output=all_output(into, out, reasoning, usage.get("total_tokens")),
        reasoning=reasoning,
    )


def all_output(into: int, out: int, reasoning: int | None, total: Any) -> int:
    """The tokens of an output with its reasoning, which some hosts count beside it, or only in the total."""
    beside = out + (reasoning or 0) if (reasoning or 0) > out else out
    return max(beside, number(total) - into)


def _usage(tokens: TokenCounts) -> Json:
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


def _head(reply: Reply, kind: str) -> Json:
    id = f"chatcmpl-{reply.number:06d}"
    return {"id": id, "object": kind, "created": reply.created, "model": reply.model, "system_fingerprint": None}


def _choice(delta: Json, finish: str | None) -> Json:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}


def _deltas(reply: Reply) -> Iterator[Json]:
    yield {"role": "assistant", "content": ""}
    for piece in reply.cut(reply.reasoning):
        yield {"reasoning_content": piece}
    for piece in reply.cut(reply.text):
        yield {"content": piece}
    for piece in reply.cut(reply.refusal or ""):
        yield {"refusal": piece}
    for index, (id, call) in enumerate(reply.calls()):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}
        for piece in reply.cut(call.arguments_text):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


FORMAT = OpenAI()

"""OpenAI's responses, `/v1/responses`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
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
    after_model,
)
from orvl.gateway.wire.openai import OpenAI, all_output
from orvl.gateway.wire.sse import event
from orvl.gateway.wire.values import (
    Json,
    foreign_tool,
    mapping,
    mentions,
    merged,
    objects,
    optional_number,
    output_limit,
    string,
    texts,
)

CALLS = ("function_call", "custom_tool_call", "local_shell_call")
FROM_MODEL = ("function_call", "custom_tool_call", "reasoning")
RESULTS = ("function_call_output", "custom_tool_call_output")
OWN_TOOLS = (
    *("function", "custom", "local_shell", "shell", "apply_patch", "namespace", "tool_search"),
    *("computer_use", "computer_use_preview", "computer"),
)
"""Kinds of tools that the agent runs itself."""
ELSEWHERE = ("file_id", "image_url", "file_url", "item_reference")
INCOMPLETE = {
    "length": "max_output_tokens",
    "max_output_tokens": "max_output_tokens",
    "content_filter": "content_filter",
}
Event = tuple[str, Json]
"""The name of an event, and its data."""


class Responses(OpenAI):
    """Keys, errors and lists of models are those of chat completions; so are the counts of tokens, by other names."""

    name = "responses"
    paths: ClassVar = {"/responses": True}
    usage_option = None

    def environment(self, url: str, key: str) -> dict[str, str]:
        return {}

    # -- the gateway

    def read_request(self, body: Json, route: Route) -> ModelRequest:
        items = objects(body.get("input"))
        answers = [item for item in items if item.get("role") == "assistant" or item.get("type") in CALLS]
        reasoning = sum(item.get("type") == "reasoning" for item in items)
        # Where the host keeps the conversation, the agent sends back neither answers nor reasoning, but both are used.
        is_kept = bool(body.get("previous_response_id"))
        return ModelRequest(
            model=string(body.get("model")) or "",
            stream=body.get("stream") is True,
            tools=_schemas([*objects(body.get("tools")), *_later_tools(items)]),
            reasoning_back=max(reasoning, int(is_kept)),
            answers_back=max(len(answers), int(is_kept)),
            max_output=output_limit(body),
            is_whole=not is_kept and not body.get("conversation") and not mentions(items, ELSEWHERE),
        )

    def provider_tool(self, body: Json) -> str | None:
        offered = [*objects(body.get("tools")), *_later_tools(objects(body.get("input")))]
        members = [tool for _, tool in _with_members(offered)]
        hosted = (tool for tool in members if _kind(tool.get("environment")) not in (None, "local"))
        return foreign_tool({"tools": members}, OWN_TOOLS) or next((str(tool.get("type")) for tool in hosted), None)

    def reader(self) -> AnswerReader:
        return ResponsesReader()

    # -- judges

    def ask(self, question: Question) -> Json:
        parts: list[Json] = [{"type": "input_text", "text": question.evidence}]
        for image in question.images:
            parts.append({"type": "input_text", "text": image.label})
            parts.append({"type": "input_image", "image_url": image.url})
        parts += [{"type": "input_text", "text": text} for text in question.after_images]
        turns: list[Json] = [{"role": "user", "content": parts}]
        for answer, reply in question.before:
            turns.append({"role": "assistant", "content": [{"type": "output_text", "text": answer}]})
            turns.append({"role": "user", "content": [{"type": "input_text", "text": reply}]})
        body: Json = {"model": question.model, "instructions": question.system, "input": turns, "store": False}
        if question.schema:
            schema = {"type": "json_schema", "name": ANSWER_TOOL, "strict": True, "schema": question.schema}
            body["text"] = {"format": schema}
        return merged(body, question.options)

    # -- servers

    def messages(self, body: Mapping[str, Any]) -> list[Json]:
        items = body.get("input")
        return [{"role": "user", "content": items}] if isinstance(items, str) else objects(items)

    def instructions(self, body: Mapping[str, Any]) -> Any:
        return body.get("instructions")

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        return {str(tool["name"]): tool.get("parameters") or {} for tool in _named_tools(body)}

    def previous_answer(self, body: Mapping[str, Any]) -> str | None:
        return string(body.get("previous_response_id"))

    def tool_results(self, messages: list[Json]) -> list[ToolResult]:
        return [
            ToolResult(str(item.get("call_id", "")), "\n".join(texts(item.get("output"))))
            for item in after_model(self, messages)
            if item.get("type") in RESULTS
        ]

    def is_from_model(self, message: Json) -> bool:
        return message.get("role") == "assistant" or message.get("type") in FROM_MODEL

    def whole(self, reply: Reply) -> Json:
        return _response(reply, *_end(reply), [item for _, item in _items(reply)], with_usage=True)

    def stream(self, reply: Reply) -> Iterator[bytes]:
        for place, (name, data) in enumerate(_events(reply)):
            yield event({"type": name, "sequence_number": place, **data}, name)

    def error_event(self, reply: Reply, status: int, message: str, kind: str | None, sent: int) -> bytes:
        code = kind or self.error_codes.get(status) or self.error_kind(status, kind)
        failed = _response(reply, "failed", None, [], with_usage=False)
        failed["error"] = {"code": code, "message": message}
        return event({"type": "response.failed", "sequence_number": sent, "response": failed}, "response.failed")


class ResponsesReader(AnswerReader):
    """Reads an answer of the responses API: items, and a last event that holds everything."""

    def __init__(self) -> None:
        super().__init__()
        self._has_text = False
        """Whether text has come in pieces, so that the complete item would repeat it."""

    def whole(self, body: Json) -> None:
        for item in objects(body.get("output")):
            self._item(item)
        self._end(body)

    def event(self, name: str, body: Json) -> None:
        kind = string(body.get("type")) or name
        response = mapping(body.get("response"))
        if kind == "error":
            self.answer.error = string(body.get("message")) or string(mapping(body.get("error")).get("message")) or kind
        elif kind in ("response.completed", "response.incomplete", "response.failed", "response.done"):
            self._end(response)
        elif kind == "response.output_item.done":
            self._item(mapping(body.get("item")))
        elif kind == "response.output_text.delta":
            self._has_text = True
            self.answer.add_text(body.get("delta"))
        elif kind.startswith("response.reasoning") and kind.endswith(".delta"):
            self.answer.add_reasoning(body.get("delta"))
        elif kind.endswith(".delta"):
            self.answer.began = True
        if model := string(response.get("model")):
            self.answer.model = model

    def _item(self, item: Json) -> None:
        kind = item.get("type")
        if kind == "reasoning":
            self.answer.has_reasoning = True
        elif kind in CALLS:
            arguments = item.get("arguments") if kind == "function_call" else item.get("input", item.get("action"))
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            name = string(item.get("name")) or str(kind).removesuffix("_call")
            self.answer.tools.append(ModelToolCall(name, text, string(item.get("call_id")) or ""))
            self.answer.began = True
        elif kind == "message":
            for part in objects(item.get("content")):
                if part.get("type") == "refusal":
                    self.answer.refused = True
                elif not self._has_text:
                    self.answer.add_text(part.get("text"))

    def _end(self, response: Json) -> None:
        answer = self.answer
        answer.model = string(response.get("model")) or answer.model
        answer.finish = string(response.get("status"))
        if error := response.get("error"):
            answer.error = string(mapping(error).get("message")) or str(error)
        reason = mapping(response.get("incomplete_details")).get("reason")
        answer.cut_off = reason == "max_output_tokens"
        answer.refused = answer.refused or reason == "content_filter"
        answer.complete = answer.finish in ("completed", "incomplete")
        usage = mapping(response.get("usage"))
        into, out = (optional_number(usage.get(name)) for name in ("input_tokens", "output_tokens"))
        if into is not None and out is not None:
            details = mapping(usage.get("input_tokens_details"))
            reasoning = optional_number(mapping(usage.get("output_tokens_details")).get("reasoning_tokens"))
            answer.count(
                TokenCounts(
                    input=into,
                    cached=optional_number(details.get("cached_tokens")),
                    cache_write=optional_number(details.get("cache_write_tokens")),
                    output=all_output(into, out, reasoning, usage.get("total_tokens")),
                    reasoning=reasoning,
                )
            )


# -- tools


def _schemas(tools: Any) -> dict[str, Any]:
    """The schemas of functions by name; tools that take free text or run at the host have none.

    One in a namespace has its own name, and that after the namespace's: two however deep it is, so that no nesting
    multiplies them.
    """
    schemas: dict[str, Any] = {}
    for prefix, tool in _with_members(tools):
        name = string(tool.get("name")) or string(tool.get("type")) or ""
        schema = tool.get("parameters") if tool.get("type") == "function" else None
        schemas |= {name: schema, f"{prefix}{name}": schema}
    return schemas


def _with_members(tools: Any) -> Iterator[tuple[str, Json]]:
    """All tools, those in namespaces too, each with the name of its namespace."""
    level = [("", tool) for tool in objects(tools)]
    while level:
        yield from level
        level = [(string(tool.get("name")) or "", member) for _, tool in level for member in objects(tool.get("tools"))]


def _kind(environment: Any) -> Any:
    """Where a shell runs: on the agent's side, or in a container of the provider's."""
    return mapping(environment).get("type") if isinstance(environment, dict) else environment


def _later_tools(items: list[Json]) -> list[Json]:
    """Tools that are offered in the middle of the conversation."""
    return [tool for item in items if item.get("type") == "additional_tools" for tool in objects(item.get("tools"))]


def _named_tools(body: Mapping[str, Any]) -> list[Json]:
    """The tools that have a name; those in a namespace say which."""
    named = []
    for tool in objects(body.get("tools")):
        inner = [{**member, "namespace": tool.get("name")} for member in objects(tool.get("tools"))]
        named += [member for member in inner or [tool] if "name" in member]
    return named


# -- what a server writes


def _end(reply: Reply) -> tuple[str, str | None]:
    """The status of a whole response, and why it is not complete."""
    reason = INCOMPLETE.get(reply.finish)
    return ("incomplete", reason) if reason else ("completed", None)


def _response(reply: Reply, status: str, reason: str | None, output: list[Json], with_usage: bool) -> Json:
    body = reply.request
    return {
        "id": f"resp_{reply.number:06d}",
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
        "usage": _usage(reply.tokens) if with_usage and reply.reports_usage else None,
        "metadata": {},
    }


def _usage(tokens: TokenCounts) -> Json:
    details = {"cached_tokens": tokens.cached}
    if tokens.cache_write:
        details["cache_write_tokens"] = tokens.cache_write
    return {
        "input_tokens": tokens.input,
        "input_tokens_details": details,
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": tokens.total,
    }


def _items(reply: Reply) -> Iterator[tuple[str, Json]]:
    """The finished items of the output, each with its type."""
    number = reply.number
    if reply.reasoning:
        summary = [{"type": "summary_text", "text": reply.reasoning}]
        yield "reasoning", {"id": f"rs_{number:06d}", "type": "reasoning", "summary": summary}
    if reply.text or reply.refusal is not None:
        parts: list[Json] = []
        if reply.text:
            parts.append({"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []})
        if reply.refusal is not None:
            parts.append({"type": "refusal", "refusal": reply.refusal})
        head = {"id": f"msg_{number:06d}", "type": "message", "status": "completed", "role": "assistant"}
        yield "message", {**head, "content": parts}
    offered = {str(tool["name"]): tool for tool in _named_tools(reply.request)}
    for place, (id, call) in enumerate(reply.calls()):
        tool = offered.get(call.name, {})
        kind, holder = ("custom_tool_call", "input") if tool.get("type") == "custom" else ("function_call", "arguments")
        item = {"id": f"fc_{number:06d}_{place}", "type": kind, "status": "completed", "call_id": id}
        namespace = {"namespace": tool["namespace"]} if "namespace" in tool else {}
        yield kind, {**item, **namespace, "name": call.name, holder: call.arguments_text}


def _events(reply: Reply) -> Iterator[Event]:
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


def _summary_events(reply: Reply, place: Json, item: Json) -> Iterator[Event]:
    place = {**place, "summary_index": 0}
    part = item["summary"][0]
    yield "response.reasoning_summary_part.added", {**place, "part": {**part, "text": ""}}
    for piece in reply.cut(part["text"]):
        yield "response.reasoning_summary_text.delta", {**place, "delta": piece}
    yield "response.reasoning_summary_text.done", {**place, "text": part["text"]}
    yield "response.reasoning_summary_part.done", {**place, "part": part}


def _content_events(reply: Reply, place: Json, item: Json) -> Iterator[Event]:
    for index, part in enumerate(item["content"]):
        here = {**place, "content_index": index}
        kind, holder = ("refusal", "refusal") if part["type"] == "refusal" else ("output_text", "text")
        extra: Json = {} if kind == "refusal" else {"logprobs": []}
        yield "response.content_part.added", {**here, "part": {**part, holder: ""}}
        for piece in reply.cut(part[holder]):
            yield f"response.{kind}.delta", {**here, "delta": piece, **extra}
        yield f"response.{kind}.done", {**here, holder: part[holder], **extra}
        yield "response.content_part.done", {**here, "part": part}


def _call_events(reply: Reply, place: Json, item: Json) -> Iterator[Event]:
    is_custom = item["type"] == "custom_tool_call"
    kind, holder = ("custom_tool_call_input", "input") if is_custom else ("function_call_arguments", "arguments")
    for piece in reply.cut(item[holder]):
        yield f"response.{kind}.delta", {**place, "delta": piece}
    name = {} if is_custom else {"name": item["name"]}
    yield f"response.{kind}.done", {**place, **name, holder: item[holder]}


FORMAT = Responses()

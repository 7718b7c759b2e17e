"""OpenAI responses: `/v1/responses`."""

from __future__ import annotations

import json
from typing import Any

from orvl.gateway.answer import Answer, Asked, Tokens, ToolUse, mapping, number, objects, told, words

CALLS = ("function_call", "custom_tool_call", "local_shell_call")


def asked(body: dict[str, Any]) -> Asked:
    items = objects(body.get("input"))
    own = [item for item in items if item.get("role") == "assistant" or item.get("type") in CALLS]
    thoughts = sum(item.get("type") == "reasoning" for item in items)
    held = bool(body.get("previous_response_id"))
    return Asked(
        model=words(body.get("model")) or "",
        stream=body.get("stream") is True,
        tools=_tools([*objects(body.get("tools")), *_later_tools(items)]),
        reasoning_back=max(thoughts, int(held)),
        answers_back=max(len(own), int(held)),
        most_output=number(body.get("max_output_tokens")) or None,
    )


def _tools(tools: Any) -> dict[str, Any]:
    """Functions with their schemas; tools with free text and those that the host runs have none."""
    found: dict[str, Any] = {}
    for tool in objects(tools):
        if tool.get("type") == "namespace":
            prefix = words(tool.get("name")) or ""
            inner = _tools(tool.get("tools"))
            found |= inner | {f"{prefix}{name}": schema for name, schema in inner.items()}
        name = words(tool.get("name")) or words(tool.get("type")) or ""
        found[name] = tool.get("parameters") if tool.get("type") == "function" else None
    return found


def _later_tools(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Tools that are offered among the conversation's items."""
    return [tool for item in items if item.get("type") == "additional_tools" for tool in objects(item.get("tools"))]


class ResponsesReader:
    """An answer of the responses protocol: items, and a last event that holds it all."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._partial: dict[str, ToolUse] = {}
        self._said = False

    def whole(self, body: dict[str, Any]) -> None:
        self._end(body)
        for item in objects(body.get("output")):
            self._item(item)

    def event(self, name: str, body: dict[str, Any]) -> None:
        kind = words(body.get("type")) or name
        response = mapping(body.get("response"))
        if kind == "error":
            self.answer.error = words(body.get("message")) or words(mapping(body.get("error")).get("message")) or kind
        elif kind in ("response.completed", "response.incomplete", "response.failed", "response.done"):
            self._end(response)
        elif kind == "response.output_item.done":
            self._item(mapping(body.get("item")))
        elif kind == "response.output_text.delta":
            self._said = True
            self.answer.say(body.get("delta"))
        elif kind.startswith("response.reasoning") and kind.endswith(".delta"):
            self.answer.think(body.get("delta"))
        elif kind.endswith(".delta"):
            self.answer.began = True
        if model := words(response.get("model")):
            self.answer.model = model

    def _item(self, item: dict[str, Any]) -> None:
        kind = item.get("type")
        if kind == "reasoning":
            self.answer.has_reasoning = True
        elif kind in CALLS:
            arguments = item.get("arguments") if kind == "function_call" else item.get("input", item.get("action"))
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            name = words(item.get("name")) or str(kind).removesuffix("_call")
            self.answer.tools.append(ToolUse(name, text, words(item.get("call_id")) or ""))
            self.answer.began = True
        elif kind == "message":
            for part in objects(item.get("content")):
                if part.get("type") == "refusal":
                    self.answer.refused = True
                elif not self._said:
                    self.answer.say(part.get("text"))

    def _end(self, response: dict[str, Any]) -> None:
        answer = self.answer
        answer.model = words(response.get("model")) or answer.model
        answer.finish = words(response.get("status"))
        if error := response.get("error"):
            answer.error = words(mapping(error).get("message")) or str(error)
        why = mapping(response.get("incomplete_details")).get("reason")
        answer.cut_off = why == "max_output_tokens"
        answer.refused = answer.refused or why == "content_filter"
        answer.complete = answer.finish in ("completed", "incomplete")
        if usage := mapping(response.get("usage")):
            answer.tokens = Tokens(
                input=number(usage.get("input_tokens")),
                cached=told(mapping(usage.get("input_tokens_details")).get("cached_tokens")),
                cache_write=told(mapping(usage.get("input_tokens_details")).get("cache_write_tokens")),
                output=number(usage.get("output_tokens")),
                reasoning=told(mapping(usage.get("output_tokens_details")).get("reasoning_tokens")),
            )

"""Anthropic messages: `/v1/messages`."""

from __future__ import annotations

import json
from typing import Any

from orvl.gateway.answer import Answer, Asked, Tokens, ToolUse, mapping, number, objects, told, words

THOUGHTS = ("thinking", "redacted_thinking")
USAGE = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")


def asked(body: dict[str, Any]) -> Asked:
    messages = objects(body.get("messages"))
    own = [message for message in messages if message.get("role") == "assistant"]
    parts = [part for message in messages for part in objects(message.get("content"))]
    return Asked(
        model=words(body.get("model")) or "",
        stream=body.get("stream") is True,
        tools={str(tool["name"]): tool.get("input_schema") for tool in objects(body.get("tools")) if tool.get("name")},
        reasoning_back=sum(part.get("type") in THOUGHTS for part in parts),
        answers_back=len(own),
        most_output=number(body.get("max_tokens")) or None,
    )


class MessagesReader:
    """An answer of the messages protocol; its usage comes in two parts, which are laid over each other."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._usage: dict[str, Any] = {}
        self._tools: dict[int, ToolUse] = {}

    def whole(self, body: dict[str, Any]) -> None:
        if body.get("type") == "error":
            self._error(body)
            return
        self._message(body)
        for index, block in enumerate(objects(body.get("content"))):
            self._block(index, block)
        self._stop(body)
        self.answer.complete = self.answer.finish is not None

    def event(self, name: str, body: dict[str, Any]) -> None:
        kind = words(body.get("type")) or name
        if kind == "error":
            self._error(body)
        elif kind == "message_start":
            self._message(mapping(body.get("message")))
        elif kind == "content_block_start":
            self._block(number(body.get("index")), mapping(body.get("content_block")))
        elif kind == "content_block_delta":
            self._delta(number(body.get("index")), mapping(body.get("delta")))
        elif kind == "message_delta":
            self._count(body.get("usage"))
            self._stop(mapping(body.get("delta")))
        elif kind == "message_stop":
            self.answer.complete = True

    def _error(self, body: dict[str, Any]) -> None:
        error = mapping(body.get("error"))
        self.answer.error = words(error.get("message")) or words(error.get("type")) or "error"

    def _message(self, message: dict[str, Any]) -> None:
        self.answer.model = words(message.get("model")) or self.answer.model
        self.answer.host = words(message.get("provider")) or self.answer.host
        self._count(message.get("usage"))

    def _block(self, index: int, block: dict[str, Any]) -> None:
        kind = block.get("type")
        if kind == "tool_use":
            given = block.get("input")
            tool = ToolUse(words(block.get("name")) or "", json.dumps(given) if given else "", str(block.get("id", "")))
            self._tools[index] = tool
            self.answer.tools.append(tool)
            self.answer.began = True
        elif kind in THOUGHTS:
            self.answer.think(block.get("thinking"))
        elif kind == "text":
            self.answer.say(block.get("text"))

    def _delta(self, index: int, delta: dict[str, Any]) -> None:
        kind = delta.get("type")
        if kind == "text_delta":
            self.answer.say(delta.get("text"))
        elif kind == "thinking_delta":
            self.answer.think(delta.get("thinking"))
        elif kind == "input_json_delta" and index in self._tools:
            self.answer.add_arguments(self._tools[index], delta.get("partial_json"))

    def _stop(self, message: dict[str, Any]) -> None:
        if finish := words(message.get("stop_reason")):
            self.answer.finish = finish
            self.answer.cut_off = finish in ("max_tokens", "model_context_window_exceeded")
            self.answer.refused = finish == "refusal"

    def _count(self, usage: Any) -> None:
        given = mapping(usage)
        self._usage |= {name: given[name] for name in USAGE if given.get(name) is not None}
        if self._usage:
            plain, read, written, out = (told(self._usage.get(name)) for name in USAGE)
            total = (plain or 0) + (read or 0) + (written or 0)
            self.answer.tokens = Tokens(total, read, written, out or 0, None)

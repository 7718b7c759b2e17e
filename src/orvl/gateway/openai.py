"""OpenAI chat completions: `/v1/chat/completions`, as most hosts offer it."""

from __future__ import annotations

from typing import Any

from orvl.gateway.answer import Answer, Asked, Tokens, ToolUse, mapping, money, number, objects, told, words

REASONING = ("reasoning_content", "reasoning", "reasoning_details", "reasoning_text")


def asked(body: dict[str, Any]) -> Asked:
    messages = objects(body.get("messages"))
    own = [message for message in messages if message.get("role") == "assistant"]
    functions = [mapping(tool.get("function")) for tool in objects(body.get("tools"))]
    return Asked(
        model=words(body.get("model")) or "",
        stream=body.get("stream") is True,
        tools={str(one["name"]): one.get("parameters") for one in functions if one.get("name")},
        reasoning_back=sum(any(message.get(name) for name in REASONING) for message in own),
        answers_back=len(own),
        most_output=number(body.get("max_completion_tokens") or body.get("max_tokens")) or None,
    )


def tokens_in(usage: dict[str, Any]) -> Tokens | None:
    if "prompt_tokens" not in usage and "completion_tokens" not in usage:
        return None
    into, out = mapping(usage.get("prompt_tokens_details")), mapping(usage.get("completion_tokens_details"))
    return Tokens(
        input=number(usage.get("prompt_tokens")),
        cached=told(into.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))),
        cache_write=told(into.get("cache_write_tokens")),
        output=number(usage.get("completion_tokens")),
        reasoning=told(out.get("reasoning_tokens")),
    )


class ChatReader:
    """An answer of chat completions."""

    def __init__(self) -> None:
        self.answer = Answer()
        self._tools: dict[int, ToolUse] = {}

    def whole(self, body: dict[str, Any]) -> None:
        self.event("", body)
        self.answer.complete = bool(body.get("choices")) or self.answer.error is not None

    def event(self, name: str, body: dict[str, Any]) -> None:  # noqa: ARG002
        answer = self.answer
        if error := body.get("error"):
            answer.error = words(mapping(error).get("message")) or str(error)
            return
        answer.model = words(body.get("model")) or answer.model
        answer.host = words(body.get("provider")) or answer.host
        for choice in objects(body.get("choices")):
            if not number(choice.get("index")):
                self._choice(choice)
        if isinstance(usage := body.get("usage"), dict):
            answer.tokens = tokens_in(usage) or answer.tokens
            cost = money(usage.get("cost"))
            answer.cost = answer.cost if cost is None else cost

    def _choice(self, choice: dict[str, Any]) -> None:
        answer = self.answer
        delta = mapping(choice.get("delta") or choice.get("message"))
        answer.say(_text(delta.get("content")))
        for name in REASONING:
            if delta.get(name):
                answer.think(delta[name])
                break
        if refusal := words(delta.get("refusal")):
            answer.refused = True
            answer.say(refusal)
        for place, call in enumerate(objects(delta.get("tool_calls"))):
            self._tool(number(call["index"]) if "index" in call else place, call)
        if finish := words(choice.get("finish_reason")):
            answer.finish = finish
            answer.complete = True
            answer.cut_off = finish in ("length", "max_tokens")
            answer.refused = answer.refused or finish in ("content_filter", "refusal")

    def _tool(self, index: int, call: dict[str, Any]) -> None:
        function = mapping(call.get("function"))
        if index not in self._tools:
            self._tools[index] = ToolUse("", "")
            self.answer.tools.append(self._tools[index])
        tool = self._tools[index]
        tool.id = words(call.get("id")) or tool.id
        tool.name = tool.name or words(function.get("name")) or ""
        self.answer.add_arguments(tool, function.get("arguments"))


def _text(content: Any) -> Any:
    """Text, also where it comes in parts."""
    if isinstance(content, list):
        return "".join(words(part.get("text")) or "" for part in objects(content))
    return content

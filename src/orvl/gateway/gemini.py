"""Gemini: `/v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

from __future__ import annotations

import json
from typing import Any

from orvl.gateway.answer import Answer, Asked, Tokens, ToolUse, mapping, number, objects, words

REFUSALS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE")


def asked(body: dict[str, Any], model: str, *, stream: bool) -> Asked:
    contents = objects(body.get("contents"))
    parts = [part for content in contents for part in objects(content.get("parts"))]
    declared = [
        one
        for tool in objects(body.get("tools"))
        for one in objects(tool.get("functionDeclarations") or tool.get("function_declarations"))
    ]
    return Asked(
        model=model,
        stream=stream,
        tools={str(one.get("name")): _schema(one) for one in declared},
        reasoning_back=sum(bool(part.get("thoughtSignature") or part.get("thought")) for part in parts),
        answers_back=sum(content.get("role") == "model" for content in contents),
        most_output=number(mapping(body.get("generationConfig")).get("maxOutputTokens")) or None,
    )


def _schema(declared: dict[str, Any]) -> Any:
    return declared.get("parametersJsonSchema") or _plain(declared.get("parameters"))


def _plain(schema: Any) -> Any:
    """Gemini's own schema form as a JSON schema: types are written in capitals there."""
    if isinstance(schema, list):
        return [_plain(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _plain(value) for key, value in schema.items() if key not in ("format", "nullable")}
    if isinstance(kind := schema.get("type"), str):
        plain["type"] = [kind.lower(), "null"] if schema.get("nullable") else kind.lower()
    return plain


class GeminiReader:
    """An answer of Gemini; each event of a stream has the form of a whole answer."""

    def __init__(self) -> None:
        self.answer = Answer()

    def whole(self, body: dict[str, Any]) -> None:
        self.event("", body)

    def event(self, name: str, body: dict[str, Any]) -> None:  # noqa: ARG002
        answer = self.answer
        if error := body.get("error"):
            answer.error = words(mapping(error).get("message")) or str(error)
            return
        answer.model = words(body.get("modelVersion")) or answer.model
        if mapping(body.get("promptFeedback")).get("blockReason"):
            answer.refused = answer.complete = True
        for candidate in objects(body.get("candidates"))[:1]:
            self._candidate(candidate)
        if usage := mapping(body.get("usageMetadata")):
            thoughts = number(usage.get("thoughtsTokenCount"))
            answer.tokens = Tokens(
                input=number(usage.get("promptTokenCount")) + number(usage.get("toolUsePromptTokenCount")),
                cached=number(usage.get("cachedContentTokenCount")),
                output=number(usage.get("candidatesTokenCount")) + thoughts,
                reasoning=thoughts,
            )

    def _candidate(self, candidate: dict[str, Any]) -> None:
        answer = self.answer
        for part in objects(mapping(candidate.get("content")).get("parts")):
            if call := mapping(part.get("functionCall")):
                arguments = json.dumps(call.get("args") or {})
                answer.tools.append(ToolUse(words(call.get("name")) or "", arguments, str(call.get("id", ""))))
                answer.began = True
            elif part.get("thought"):
                answer.think(part.get("text"))
            else:
                answer.say(part.get("text"))
            answer.has_reasoning = answer.has_reasoning or bool(part.get("thoughtSignature"))
        if finish := words(candidate.get("finishReason")):
            answer.finish = finish
            answer.complete = True
            answer.cut_off = finish == "MAX_TOKENS"
            answer.refused = finish in REFUSALS

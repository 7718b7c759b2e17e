"""Google's Gemini API."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from orvl.testing.dialect import Dialect, Json, Reply, after_last, arguments_value, bearer, dicts, event
from orvl.testing.request import ToolResult, texts
from orvl.testing.script import Fault, Tokens

FINISH_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
SIGNATURE = "c2NyaXB0ZWQgdGhvdWdodA=="


class Gemini(Dialect):
    """POST …/models/MODEL:generateContent and :streamGenerateContent"""

    name = "gemini"
    error_kinds: ClassVar = {
        400: "INVALID_ARGUMENT",
        401: "UNAUTHENTICATED",
        403: "PERMISSION_DENIED",
        404: "NOT_FOUND",
        429: "RESOURCE_EXHAUSTED",
        500: "INTERNAL",
        503: "UNAVAILABLE",
        504: "DEADLINE_EXCEEDED",
    }

    def messages(self, body: Mapping[str, Any]) -> list[Any]:
        return dicts(body.get("contents"))

    def instructions(self, body: Mapping[str, Any]) -> Any:
        return body.get("systemInstruction") or body.get("system_instruction")

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        declared = [
            one
            for tool in dicts(body.get("tools"))
            for one in dicts(tool.get("functionDeclarations") or tool.get("function_declarations"))
        ]
        return {
            str(one.get("name")): one.get("parametersJsonSchema") or one.get("parameters") or {} for one in declared
        }

    def tool_results(self, messages: list[Any]) -> list[ToolResult]:
        parts = [part for one in after_last(messages, "role", "model") for part in dicts(one.get("parts"))]
        results = [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]
        return [ToolResult(str(one.get("id") or ""), "\n".join(texts(one.get("response")))) for one in results]

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        return headers.get("x-goog-api-key") or query.get("key") or bearer(headers)

    def whole(self, reply: Reply) -> Json:
        return _response(reply, _parts(reply, whole=True), last=True)

    def stream(self, reply: Reply) -> Iterator[bytes]:
        parts = _parts(reply, whole=False)
        for place, part in enumerate(parts):
            yield event(_response(reply, [part], last=place == len(parts) - 1))
        if not parts:
            yield event(_response(reply, [], last=True))

    def error(self, fault: Fault, number: int) -> Json:  # noqa: ARG002
        return {"error": {"code": fault.status, "message": fault.message, "status": self.kind(fault)}}

    def error_event(self, fault: Fault, reply: Reply) -> bytes:
        return event(self.error(fault, reply.request.number))

    def models(self, names: Sequence[str]) -> Json:
        methods = ["generateContent", "countTokens"]
        return {"models": [{"name": f"models/{one}", "supportedGenerationMethods": methods} for one in names]}


def _parts(reply: Reply, whole: bool) -> list[Json]:
    answer = reply.answer

    def cut(text: str) -> list[str]:
        return answer.cut(text) if not whole else [text] if text else []

    parts: list[Json] = [{"text": piece, "thought": True} for piece in cut(answer.reasoning)]
    parts += [{"text": piece} for piece in cut(answer.text)]
    for id, call in reply.calls():
        function = {"id": id, "name": call.name, "args": arguments_value(call)}
        parts.append({"functionCall": function, "thoughtSignature": SIGNATURE})
    return parts


def _response(reply: Reply, parts: list[Json], last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = FINISH_REASONS.get(reply.finish, reply.finish)
        if reply.answer.refusal is not None:
            candidate |= {"finishMessage": reply.answer.refusal} | (
                {} if reply.answer.finish else {"finishReason": "SAFETY"}
            )
    response: Json = {"candidates": [candidate], "modelVersion": reply.model}
    if reply.usage_manner != "never":
        response["usageMetadata"] = usage_of(reply.answer.tokens) if last else _usage_so_far(reply.answer.tokens)
    return response | {"responseId": f"response-{reply.request.number:06d}"}


def _usage_so_far(tokens: Tokens) -> Json:
    return {"promptTokenCount": tokens.input, "totalTokenCount": tokens.input}


def usage_of(tokens: Tokens) -> Json:
    """Cached tokens are a part of the prompt's, thoughts are beside the candidates'."""
    usage = {"promptTokenCount": tokens.input, "candidatesTokenCount": tokens.output - tokens.reasoning}
    if tokens.cached:
        usage["cachedContentTokenCount"] = tokens.cached
    if tokens.reasoning:
        usage["thoughtsTokenCount"] = tokens.reasoning
    return usage | {"totalTokenCount": tokens.total}

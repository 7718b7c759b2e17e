"""Google's Gemini API, `/v1beta/models/MODEL:generateContent` and `:streamGenerateContent`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from orvl.gateway.wire.format import (
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
    bearer,
)
from orvl.gateway.wire.sse import event
from orvl.gateway.wire.values import (
    Json,
    choices,
    mapping,
    mentions,
    merged,
    number,
    objects,
    optional_number,
    output_limit,
    string,
    texts,
    without_keys,
)

METHOD = re.compile(r"/models/([\w.@:/-]+):(generateContent|streamGenerateContent|countTokens)")
REFUSALS = ("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY", "LANGUAGE")
FINISH_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY"}
ELSEWHERE = ("fileData", "file_data")
JSON_LIST = "application/json; charset=utf-8"
SIGNATURE = "c2NyaXB0ZWQgdGhvdWdodA=="


class Gemini(WireFormat):
    """Cached tokens are part of the prompt's, thoughts are counted beside the candidates' tokens."""

    name = "gemini"
    root = ""
    paths: ClassVar = {}
    key_headers = ("x-goog-api-key", "authorization")
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

    unknown_model: ClassVar[str] = "NOT_FOUND"

    def environment(self, url: str, key: str) -> dict[str, str]:
        return {"GOOGLE_GEMINI_BASE_URL": url, "GEMINI_API_KEY": key}

    # -- the gateway

    def route(self, path: str) -> Route | None:
        match = METHOD.fullmatch(path)
        if match is None:
            return None
        if match[2] == "countTokens":
            return Route(self, path, is_call=False)
        return Route(self, path, is_call=True, model=match[1], stream=match[2] == "streamGenerateContent")

    def route_to(self, model: str) -> Route:
        return Route(self, f"/models/{quote(model, safe='/:@')}:generateContent", is_call=True, model=model)

    def with_key(self, key: str, *, is_vendor: bool) -> dict[str, str]:
        return {"x-goog-api-key": key}

    def read_request(self, body: Json, route: Route) -> ModelRequest:
        contents = self.messages(body)
        parts = [part for content in contents for part in objects(content.get("parts"))]
        settings = {
            **mapping(body.get("generation_config")),
            **mapping(body.get("generationConfig")),
        }
        named = string(body.get("model")) or route.model
        return ModelRequest(
            # A host may heed the body's word for it rather than the path's.
            model=route.model if named.removeprefix("models/") == route.model else named,
            stream=route.stream,
            tools={
                str(tool.get("name")): tool.get("parametersJsonSchema") or _json_schema(tool.get("parameters"))
                for tool in _declared(body)
            },
            reasoning_back=sum(bool(part.get("thoughtSignature") or part.get("thought")) for part in parts),
            answers_back=sum(self.is_from_model(content) for content in contents),
            max_output=output_limit(settings),
            choices=choices(settings.get("candidateCount"), settings.get("candidate_count")),
            is_whole=not (body.get("cachedContent") or body.get("cached_content") or mentions(contents, ELSEWHERE)),
        )

    def provider_tool(self, body: Json) -> str | None:
        own = ("functionDeclarations", "function_declarations")
        return next((name for tool in objects(body.get("tools")) for name in tool if name not in own), None)

    def reader(self) -> AnswerReader:
        return GeminiReader()

    # -- judges

    def ask(self, question: Question) -> Json:
        parts: list[Json] = [{"text": question.evidence}]
        for image in question.images:
            parts.append({"text": image.label})
            parts.append({"inlineData": {"mimeType": "image/png", "data": image.base64}})
        parts += [{"text": text} for text in question.after_images]
        turns: list[Json] = [{"role": "user", "parts": parts}]
        for answer, reply in question.before:
            turns.append({"role": "model", "parts": [{"text": answer}]})
            turns.append({"role": "user", "parts": [{"text": reply}]})
        body: Json = {"systemInstruction": {"parts": [{"text": question.system}]}, "contents": turns}
        if question.schema:
            # Gemini's own schemas do not know `additionalProperties`, and refuse it.
            schema = without_keys(question.schema, "additionalProperties")
            body["generationConfig"] = {"responseMimeType": "application/json", "responseSchema": schema}
        return merged(body, question.options)

    def streamed(self, route: Route, body: Json) -> tuple[str, Json]:
        return route.suffix.removesuffix(":generateContent") + ":streamGenerateContent?alt=sse", body

    # -- servers

    def messages(self, body: Mapping[str, Any]) -> list[Json]:
        return objects(_unwrapped(body).get("contents"))

    def instructions(self, body: Mapping[str, Any]) -> Any:
        inner = _unwrapped(body)
        return inner.get("systemInstruction") or inner.get("system_instruction")

    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        return {
            str(tool.get("name")): tool.get("parametersJsonSchema") or tool.get("parameters") or {}
            for tool in _declared(body)
        }

    def tool_results(self, messages: list[Json]) -> list[ToolResult]:
        parts = [part for message in after_model(self, messages) for part in objects(message.get("parts"))]
        results = [part["functionResponse"] for part in parts if isinstance(part.get("functionResponse"), dict)]
        return [ToolResult(str(result.get("id") or ""), "\n".join(texts(result.get("response")))) for result in results]

    def is_from_model(self, message: Json) -> bool:
        return message.get("role") == "model"

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        return headers.get("x-goog-api-key") or query.get("key") or bearer(headers)

    def is_client(self, path: str, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        return "/v1beta" in path or "x-goog-api-key" in headers or "key" in query

    def whole(self, reply: Reply) -> Json:
        return _response(reply, _parts(reply, whole=True), last=True)

    def stream(self, reply: Reply) -> Iterator[bytes]:
        parts = _parts(reply, whole=False)
        for place, part in enumerate(parts):
            yield event(_response(reply, [part], last=place == len(parts) - 1))
        if not parts:
            yield event(_response(reply, [], last=True))

    def framed(self, events: Iterator[bytes], query: Mapping[str, str]) -> tuple[str, Iterator[bytes]]:
        """A stream is one JSON list unless events are asked for."""
        return super().framed(events, query) if query.get("alt") == "sse" else (JSON_LIST, _listed(events))

    def error(self, status: int, message: str, kind: str | None = None, number: int | None = None) -> Json:
        return {"error": {"code": status, "message": message, "status": self.error_kind(status, kind).upper()}}

    def models(self, names: Sequence[str]) -> Json:
        methods = ["generateContent", "countTokens"]
        return {"models": [{"name": f"models/{name}", "supportedGenerationMethods": methods} for name in names]}

    def token_count(self, tokens: int) -> Json:
        return {"totalTokens": tokens}


class GeminiReader(AnswerReader):
    """Reads an answer of Gemini; each event of a stream has the shape of a whole answer."""

    def whole(self, body: Json) -> None:
        self.event("", body)

    def event(self, name: str, body: Json) -> None:
        answer = self.answer
        if error := body.get("error"):
            answer.error = string(mapping(error).get("message")) or str(error)
            return
        answer.model = string(body.get("modelVersion")) or answer.model
        if mapping(body.get("promptFeedback")).get("blockReason"):
            answer.refused = answer.complete = True
        for candidate in objects(body.get("candidates"))[:1]:
            self._candidate(candidate)
        usage = mapping(body.get("usageMetadata"))
        if (into := optional_number(usage.get("promptTokenCount"))) is not None:
            thoughts = number(usage.get("thoughtsTokenCount"))
            into += number(usage.get("toolUsePromptTokenCount"))
            out = number(usage.get("candidatesTokenCount")) + thoughts
            answer.count(
                TokenCounts(
                    input=into,
                    cached=number(usage.get("cachedContentTokenCount")),
                    output=max(out, number(usage.get("totalTokenCount")) - into),
                    reasoning=thoughts,
                )
            )

    def _candidate(self, candidate: Json) -> None:
        answer = self.answer
        for part in objects(mapping(candidate.get("content")).get("parts")):
            if call := mapping(part.get("functionCall")):
                arguments = json.dumps(call.get("args") or {})
                answer.tools.append(ModelToolCall(string(call.get("name")) or "", arguments, str(call.get("id", ""))))
                answer.began = True
            elif part.get("thought"):
                answer.add_reasoning(part.get("text"))
            else:
                answer.add_text(part.get("text"))
            answer.has_reasoning = answer.has_reasoning or bool(part.get("thoughtSignature"))
        if finish := string(candidate.get("finishReason")):
            answer.finish = finish
            answer.complete = True
            answer.cut_off = finish == "MAX_TOKENS"
            answer.refused = finish in REFUSALS


# -- requests


def _unwrapped(body: Mapping[str, Any]) -> Mapping[str, Any]:
    """A request for a count of tokens may have the request that is to be counted in it."""
    return mapping(body.get("generateContentRequest")) or body


def _declared(body: Mapping[str, Any]) -> list[Json]:
    return [
        function
        for tool in objects(body.get("tools"))
        for function in objects(tool.get("functionDeclarations") or tool.get("function_declarations"))
    ]


def _json_schema(schema: Any) -> Any:
    """Gemini's own form of a schema as a JSON schema: it writes types in capitals."""
    if isinstance(schema, list):
        return [_json_schema(member) for member in schema]
    if not isinstance(schema, dict):
        return schema
    plain = {key: _json_schema(value) for key, value in schema.items() if key not in ("format", "nullable")}
    if isinstance(kind := schema.get("type"), str):
        plain["type"] = [kind.lower(), "null"] if schema.get("nullable") else kind.lower()
    return plain


# -- what a server writes


def _listed(events: Iterator[bytes]) -> Iterator[bytes]:
    for place, raw in enumerate(events):
        yield (b",\r\n" if place else b"[") + raw.removeprefix(b"data: ").strip()
    yield b"]"


def _parts(reply: Reply, whole: bool) -> list[Json]:
    def cut(text: str) -> list[str]:
        return reply.cut(text) if not whole else [text] if text else []

    parts: list[Json] = [{"text": piece, "thought": True} for piece in cut(reply.reasoning)]
    parts += [{"text": piece} for piece in cut(reply.text)]
    for id, call in reply.calls():
        function = {"id": id, "name": call.name, "args": call.arguments_value}
        parts.append({"functionCall": function, "thoughtSignature": SIGNATURE})
    return parts


def _response(reply: Reply, parts: list[Json], last: bool) -> Json:
    candidate: Json = {"content": {"role": "model", "parts": parts}, "index": 0}
    if last:
        candidate["finishReason"] = FINISH_REASONS.get(reply.finish, reply.finish)
        if reply.refusal is not None:
            candidate["finishMessage"] = reply.refusal
            candidate["finishReason"] = candidate["finishReason"] if reply.finish_reason else "SAFETY"
    response: Json = {"candidates": [candidate], "modelVersion": reply.model}
    if reply.reports_usage:
        response["usageMetadata"] = _usage(reply.tokens) if last else _usage_so_far(reply.tokens)
    return response | {"responseId": f"response-{reply.number:06d}"}


def _usage_so_far(tokens: TokenCounts) -> Json:
    return {"promptTokenCount": tokens.input, "totalTokenCount": tokens.input}


def _usage(tokens: TokenCounts) -> Json:
    thoughts = tokens.reasoning or 0
    usage = {"promptTokenCount": tokens.input, "candidatesTokenCount": tokens.output - thoughts}
    if tokens.cached:
        usage["cachedContentTokenCount"] = tokens.cached
    if thoughts:
        usage["thoughtsTokenCount"] = thoughts
    return usage | {"totalTokenCount": tokens.total}


FORMAT = Gemini()

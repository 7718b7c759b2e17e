"""Which protocol a path belongs to, and where it goes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from orvl.gateway import anthropic, gemini, openai, responses

if TYPE_CHECKING:
    from collections.abc import Mapping

    from orvl.gateway.answer import Asked, Reader

VERSION = r"(?:/v\d\w*)?"
CALLS = {
    "openai": re.compile(rf"{VERSION}(/chat/completions)"),
    "responses": re.compile(rf"{VERSION}(/responses)"),
    "anthropic": re.compile(rf"{VERSION}(/messages)"),
    "gemini": re.compile(rf"{VERSION}(/models/([\w.@:/-]+):(generateContent|streamGenerateContent))"),
}
QUESTIONS = {
    "anthropic": re.compile(rf"{VERSION}(/messages/count_tokens)"),
    "gemini": re.compile(rf"{VERSION}(/models/[\w.@:/-]+:countTokens)"),
}
SUFFIXES = {"openai": "/chat/completions", "responses": "/responses", "anthropic": "/messages"}
LISTS = re.compile(rf"{VERSION}(/models(?:/[\w.@:/-]+)?)")
KEY_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key")


@dataclass(frozen=True)
class Route:
    """Where a request goes: a call of a model, or (without a reader) a question that costs nothing."""

    protocol: str
    suffix: str
    is_call: bool
    model: str = ""
    stream: bool = False

    def asked(self, body: dict[str, Any]) -> Asked:
        if self.protocol == "gemini":
            return gemini.asked(body, self.model, stream=self.stream)
        ask = {"openai": openai.asked, "responses": responses.asked, "anthropic": anthropic.asked}
        return ask[self.protocol](body)

    def reader(self) -> Reader:
        readers: dict[str, type[Reader]] = {
            "openai": openai.ChatReader,
            "responses": responses.ResponsesReader,
            "anthropic": anthropic.MessagesReader,
            "gemini": gemini.GeminiReader,
        }
        return readers[self.protocol]()


def route_of(method: str, path: str, protocol: str) -> Route | None:
    """The route of a path; `protocol` is what the run speaks, for paths that several protocols share."""
    if ".." in path or "//" in path:
        return None
    if method == "GET" and (found := LISTS.fullmatch(path)):
        return Route(protocol, found[1], is_call=False)
    if method != "POST":
        return None
    for name, pattern in CALLS.items():
        if found := pattern.fullmatch(path):
            if name != "gemini":
                return Route(name, found[1], is_call=True)
            return Route(name, found[1], True, found[2], found[3] == "streamGenerateContent")
    for name, pattern in QUESTIONS.items():
        if found := pattern.fullmatch(path):
            return Route(name, found[1], is_call=False)
    return None


def route_to(protocol: str, model: str) -> Route:
    """The route of a question that orvl itself puts to a model."""
    if protocol == "gemini":
        return Route(protocol, f"/models/{quote(model, safe='/:@')}:generateContent", True, model)
    return Route(protocol, SUFFIXES[protocol], is_call=True)


def key_in(headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
    """The key that a request carries, however its protocol sends it."""
    for name in KEY_HEADERS:
        if value := headers.get(name):
            return value.split(None, 1)[-1] if name == "authorization" else value
    return query.get("key")


def key_headers(protocol: str, key: str, *, is_the_maker: bool) -> dict[str, str]:
    """How a key is sent. Hosts that speak Anthropic's protocol without being Anthropic want it in one of two ways."""
    bearer = {"Authorization": f"Bearer {key}"}
    if protocol == "anthropic":
        return {"x-api-key": key} | ({} if is_the_maker else bearer)
    return {"x-goog-api-key": key} if protocol == "gemini" else bearer


def error_body(protocol: str, status: int, kind: str, sentence: str) -> dict[str, Any]:
    """An error as the protocol writes it."""
    if protocol == "anthropic":
        return {"type": "error", "error": {"type": kind, "message": sentence}}
    if protocol == "gemini":
        return {"error": {"code": status, "message": sentence, "status": kind.upper()}}
    return {"error": {"message": sentence, "type": kind, "param": None, "code": kind}}

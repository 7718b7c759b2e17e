"""What was asked of a model and what it answered, in one definition for all protocols."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

KEPT_TEXT = 1 << 20
BOUNDARY = re.compile(rb"\r?\n\r?\n")
LONGEST_EVENT = 32 << 20


@dataclass(frozen=True)
class Tokens:
    """`input` holds the cached and the cache-written ones, `output` the reasoning ones; None is not told."""

    input: int = 0
    cached: int | None = 0
    cache_write: int | None = 0
    output: int = 0
    reasoning: int | None = 0

    @property
    def total(self) -> int:
        return self.input + self.output


@dataclass
class Asked:
    """A request to a model, as far as the gateway looks into it."""

    model: str
    stream: bool
    tools: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of each tool's arguments; None where the tool takes free text."""
    reasoning_back: int = 0
    """How many pieces of earlier reasoning the agent sent along."""
    answers_back: int = 0
    """How many earlier answers of the model the agent sent along."""
    most_output: int | None = None


@dataclass
class ToolUse:
    """A tool that the model called, with its arguments as they came."""

    name: str
    arguments: str
    id: str = ""


@dataclass
class Answer:
    """A model's answer, while it is read."""

    model: str | None = None
    host: str | None = None
    tokens: Tokens | None = None
    cost: float | None = None
    text: str = ""
    reasoning: str = ""
    has_reasoning: bool = False
    tools: list[ToolUse] = field(default_factory=list)
    finish: str | None = None
    refused: bool = False
    cut_off: bool = False
    complete: bool = False
    error: str | None = None
    began: bool = False
    """Whether a token has come."""
    unreadable: int = 0
    """Events that were not what the protocol says."""

    def say(self, text: Any) -> None:
        if isinstance(text, str) and text:
            self.began = True
            self.text += text[: KEPT_TEXT - len(self.text)]

    def think(self, text: Any) -> None:
        self.began = self.has_reasoning = True
        if isinstance(text, str):
            self.reasoning += text[: KEPT_TEXT - len(self.reasoning)]

    def add_arguments(self, tool: ToolUse, text: Any) -> None:
        self.began = True
        if isinstance(text, str):
            tool.arguments += text[: KEPT_TEXT - len(tool.arguments)]

    def clean(self, redact: Callable[[str], str]) -> None:
        """Takes secrets out of all that was read."""
        self.text, self.reasoning = redact(self.text), redact(self.reasoning)
        for name in ("model", "host", "finish", "error"):
            if (value := getattr(self, name)) is not None:
                setattr(self, name, redact(value))
        for tool in self.tools:
            tool.name, tool.arguments, tool.id = redact(tool.name), redact(tool.arguments), redact(tool.id)

    @property
    def is_none(self) -> bool:
        """Whether nothing was there that an answer has."""
        return self.is_empty and not (self.has_reasoning or self.tokens or self.finish or self.error or self.refused)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tools


class Reader(Protocol):
    """Reads one answer: a whole body, or the events of a stream."""

    answer: Answer

    def whole(self, body: dict[str, Any]) -> None: ...

    def event(self, name: str, body: dict[str, Any]) -> None: ...


class Events:
    """Splits a stream of server-sent events, fed in pieces, into events."""

    def __init__(self, take: Callable[[str, str], None]) -> None:
        self._take = take
        self._held = Held()

    def feed(self, chunk: bytes) -> None:
        for event in self._held.feed(chunk):
            self._event(event)
        if len(self._held) > LONGEST_EVENT:
            self._held.take()

    def close(self) -> None:
        """What came after the last empty line is an event too, if it is whole."""
        if rest := self._held.take().strip():
            self._event(rest)

    def _event(self, event: bytes) -> None:
        name, data = "", []
        for line in event.splitlines():
            if line.startswith(b"data:"):
                data.append(line[5:].strip())
            elif line.startswith(b"event:"):
                name = line[6:].strip().decode("utf-8", "replace")
        if data:
            self._take(name, b"\n".join(data).decode("utf-8", "replace"))


class Held:
    """Bytes that wait for the empty line that ends an event; each byte is looked at once."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._seen = 0

    def __len__(self) -> int:
        return len(self._bytes)

    def feed(self, chunk: bytes) -> list[bytes]:
        """The events that are whole now, each with its end."""
        self._bytes += chunk
        ends = [found.end() for found in BOUNDARY.finditer(self._bytes, max(0, self._seen - 3))]
        events = [bytes(self._bytes[start:end]) for start, end in zip([0, *ends], ends, strict=False)]
        if ends:
            del self._bytes[: ends[-1]]
        self._seen = len(self._bytes)
        return events

    def take(self, but: int = 0) -> bytes:
        """All that waits, but for some last bytes."""
        end = max(0, len(self._bytes) - but)
        taken = bytes(self._bytes[:end])
        del self._bytes[:end]
        self._seen = len(self._bytes)
        return taken


def feed_event(reader: Reader, name: str, data: str) -> None:
    """Gives an event to a reader; what is no JSON object is only counted."""
    if data == "[DONE]":
        reader.answer.complete = True
        return
    body = as_object(data)
    if body is None:
        reader.answer.unreadable += 1
        return
    _given(reader.answer, partial(reader.event, name, body))


def feed_whole(reader: Reader, data: bytes) -> None:
    """Gives a whole body to a reader; a list, as Gemini may send a stream, holds its events."""
    if data.lstrip().startswith(b"["):
        listed = as_object(b'{"events": ' + data + b"}") or {}
        for event in objects(listed.get("events")):
            _given(reader.answer, partial(reader.event, "", event))
        return
    body = as_object(data)
    if body is None:
        reader.answer.unreadable += 1
    else:
        _given(reader.answer, partial(reader.whole, body))


def _given(answer: Answer, read: Callable[[], None]) -> None:
    """What servers send may have any form: what cannot be read is only counted."""
    try:
        read()
    except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError):
        answer.unreadable += 1


def as_object(data: str | bytes) -> dict[str, Any] | None:
    """A JSON object, or None for anything else."""
    try:
        body = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def number(value: Any) -> int:
    """A count as a server told it; what is no count is 0."""
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else 0


def told(value: Any) -> int | None:
    """A count that a server may leave out."""
    return None if value is None else number(value)


def money(value: Any) -> float | None:
    """Dollars as a server told them, or None for what cannot be."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e6 else None


def objects(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def words(value: Any) -> str | None:
    """Text, or None for anything else and for nothing."""
    return value if isinstance(value, str) and value else None

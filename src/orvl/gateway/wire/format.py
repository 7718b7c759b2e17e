"""What a wire format offers to the gateway, to judges and to servers, in types that all formats share."""

from __future__ import annotations

import base64
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, Literal, Protocol

from orvl.gateway.wire.sse import EventSplitter, event
from orvl.gateway.wire.values import Json, as_object, compact, objects

KEPT_TEXT = 1 << 20
ANSWER_TOOL = "answer"
"""What the schema of an answer is called; where a format has no such schemas, the tool that takes its place."""
MAX_OUTPUT = 8_192
PIECES = 3
EVENT_STREAM = "text/event-stream; charset=utf-8"
UsageReporting = Literal["asked", "always", "never"]


# -- requests, as the gateway reads them


@dataclass(frozen=True)
class Route:
    """Where a request goes: a call of a model, or a free request, which lists models or counts tokens."""

    format: WireFormat
    suffix: str
    is_call: bool
    model: str = ""
    """The model, where the path names it."""
    stream: bool = False
    """Whether the path asks for a stream."""
    lists_models: bool = False

    @property
    def protocol(self) -> str:
        return self.format.name

    def read_request(self, body: Json) -> ModelRequest:
        return self.format.read_request(body, self)


@dataclass
class ModelRequest:
    """A call of a model, as far as the gateway looks into it."""

    model: str
    stream: bool
    tools: Mapping[str, Any] = field(default_factory=dict)
    """The JSON schema of each tool's arguments; None where the tool takes free text."""
    reasoning_back: int = 0
    """How many pieces of earlier reasoning the agent sent along."""
    answers_back: int = 0
    """How many earlier answers of the model the agent sent along."""
    max_output: int | None = None
    """The most tokens that each choice may have, where the request says so."""
    choices: int = 1
    """How many answers it asks for at once."""
    is_whole: bool = True
    """Whether all of the input is in the request, and none of it kept at the provider or elsewhere."""
    lacks_usage: bool = False
    """Whether its stream would not report its usage."""
    has_usage_field: bool = False
    """Whether it has the field that would ask for it."""


# -- answers, as the gateway reads them


@dataclass(frozen=True)
class TokenCounts:
    """`input` includes cached and cache-written tokens, `output` includes reasoning; None is not reported."""

    input: int = 0
    cached: int | None = 0
    cache_write: int | None = 0
    output: int = 0
    reasoning: int | None = 0
    for_an_hour: int = 0
    """Those of the written ones that are kept for longer than usual, at a higher price."""

    @property
    def total(self) -> int:
        return self.input + self.output


class Pieces:
    """A text that comes in pieces, up to a limit: joined only when it is read, so that many pieces take linear time."""

    def __init__(self, text: str = "") -> None:
        self._pieces, self._size = [text], len(text)

    def add(self, piece: str) -> None:
        if self._size < KEPT_TEXT:
            self._pieces.append(piece[: KEPT_TEXT - self._size])
            self._size += len(self._pieces[-1])

    def __str__(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0]


class PiecedText:
    """A field that is a string to whoever reads or sets it, and to which pieces are added."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, holder: object, owner: type) -> str:
        return "" if holder is None else str(holder.__dict__[self._name])

    def __set__(self, holder: object, text: str) -> None:
        holder.__dict__[self._name] = Pieces(text)


def add_piece(holder: object, field_name: str, piece: str) -> None:
    holder.__dict__[f"_{field_name}"].add(piece)


@dataclass
class ModelToolCall:
    """A tool that the model called, with its arguments as they came."""

    name: str
    arguments: PiecedText = PiecedText()
    id: str = ""


@dataclass
class ModelAnswer:
    """A model's answer, while it is read."""

    model: str | None = None
    host: str | None = None
    tokens: TokenCounts | None = None
    is_count_final: bool = True
    """Whether the tokens are those of the whole answer, and not of its beginning."""
    cost: float | None = None
    text: PiecedText = PiecedText()
    reasoning: PiecedText = PiecedText()
    has_reasoning: bool = False
    tools: list[ModelToolCall] = field(default_factory=list)
    finish: str | None = None
    refused: bool = False
    cut_off: bool = False
    complete: bool = False
    error: str | None = None
    began: bool = False
    """Whether a token has come."""
    unreadable: int = 0
    """Events that do not have the format's shape."""

    def count(self, tokens: TokenCounts) -> None:
        """Takes a count of all tokens so far; where more of the answer follows, another one must, too."""
        self.tokens, self.is_count_final = tokens, True

    def _begin(self) -> None:
        self.began, self.is_count_final = True, False

    def add_text(self, text: Any) -> None:
        if isinstance(text, str) and text:
            self._begin()
            add_piece(self, "text", text)

    def add_reasoning(self, text: Any) -> None:
        self._begin()
        self.has_reasoning = True
        if isinstance(text, str):
            add_piece(self, "reasoning", text)

    def add_arguments(self, tool: ModelToolCall, text: Any) -> None:
        self._begin()
        if isinstance(text, str):
            add_piece(tool, "arguments", text)

    def redact(self, redact: Callable[[str], str]) -> None:
        """Takes secrets out of everything that was read."""
        self.text, self.reasoning = redact(self.text), redact(self.reasoning)
        for name in ("model", "host", "finish", "error"):
            if (value := getattr(self, name)) is not None:
                setattr(self, name, redact(value))
        for tool in self.tools:
            tool.name, tool.arguments, tool.id = redact(tool.name), redact(tool.arguments), redact(tool.id)

    @property
    def is_counted(self) -> bool:
        """Whether the answer states its tokens to its end; no tokens at all for some text is no count."""
        if self.tokens is None or not self.complete or not self.is_count_final:
            return False
        return self.tokens.output > 0 or not self.began

    @property
    def content(self) -> str:
        """The text, or, if there is none, the arguments of a tool call."""
        if self.text.strip():
            return self.text
        return next((tool.arguments for tool in self.tools if tool.arguments.strip()), "")

    @property
    def structured(self) -> str:
        """The answer to a question with a schema, in whichever way the format gives it."""
        return next((tool.arguments for tool in self.tools if tool.name == ANSWER_TOOL), "") or self.content

    @property
    def is_missing(self) -> bool:
        """Whether the body had nothing that an answer has."""
        return self.is_empty and not (self.has_reasoning or self.tokens or self.finish or self.error or self.refused)

    @property
    def is_empty(self) -> bool:
        return not self.text.strip() and not self.tools


class AnswerReader(ABC):
    """Reads one answer: a whole body, or the events of a stream."""

    def __init__(self) -> None:
        self.answer = ModelAnswer()

    @abstractmethod
    def whole(self, body: Json) -> None:
        """Reads an answer in one piece."""

    @abstractmethod
    def event(self, name: str, body: Json) -> None:
        """Reads one event of a stream."""

    def feed_event(self, name: str, data: str) -> None:
        """Takes an event as it came."""
        if data == "[DONE]":
            self.answer.complete = True
            return
        body = as_object(data)
        if body is None:
            self.answer.unreadable += 1
        else:
            self._try(partial(self.event, name, body))

    def feed_stream(self, data: bytes) -> None:
        """Takes a stream that is there as a whole."""
        splitter = EventSplitter(self.feed_event)
        splitter.feed(data)
        splitter.close()

    def feed_body(self, data: bytes) -> None:
        """Takes a whole body; a list, as Gemini may send a stream, holds events."""
        if data.lstrip().startswith(b"["):
            listed = as_object(b'{"events": ' + data + b"}") or {}
            for body in objects(listed.get("events")):
                self._try(partial(self.event, "", body))
            return
        whole = as_object(data)
        if whole is None:
            self.answer.unreadable += 1
        else:
            self._try(partial(self.whole, whole))

    def _try(self, read: Callable[[], None]) -> None:
        # A server may send anything; whatever it is, the call must still be metered and closed.
        try:
            read()
        except (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError):
            self.answer.unreadable += 1


# -- questions, as judges ask them


@dataclass(frozen=True)
class Image:
    """A PNG, with the name that pointers use."""

    name: str
    png: bytes

    @property
    def label(self) -> str:
        return f"screenshot:{self.name}"

    @property
    def base64(self) -> str:
        return base64.b64encode(self.png).decode()

    @property
    def url(self) -> str:
        return f"data:image/png;base64,{self.base64}"


@dataclass(frozen=True)
class Question:
    """A question of orvl's own: the evidence first, as a prefix that providers can cache, the instruction last."""

    model: str
    system: str
    evidence: str
    """The part that all questions about a run share."""
    instruction: str
    more: str = ""
    """Evidence that only this question needs."""
    images: Sequence[Image] = ()
    before: tuple[tuple[str, str], ...] = ()
    """Earlier answers to this question, each with what was replied to it."""
    schema: Mapping[str, Any] | None = None
    """The JSON schema of the answer."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """The user's own fields of the request."""
    max_output: int = MAX_OUTPUT
    """The limit for formats that require one."""
    mark_cache: bool = False
    """Whether a chat completions host wants the end of the shared prefix marked."""

    @property
    def after_images(self) -> list[str]:
        return [text for text in (self.more, self.instruction) if text]


# -- answers, as the scripted server writes them


@dataclass(frozen=True)
class ToolCall:
    """A call of one of the agent's tools; arguments that are a string are sent as they are, valid or not."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict)
    id: str | None = None

    @property
    def arguments_text(self) -> str:
        """The arguments as a model writes them."""
        return self.arguments if isinstance(self.arguments, str) else compact(dict(self.arguments))

    @property
    def arguments_value(self) -> Any:
        """The arguments as an object; a string that is not JSON stays a string."""
        if not isinstance(self.arguments, str):
            return dict(self.arguments)
        try:
            return json.loads(self.arguments)
        except ValueError:
            return self.arguments


@dataclass(frozen=True)
class ToolResult:
    """The result of a tool call, as the agent reports it."""

    id: str
    text: str


@dataclass(frozen=True)
class Reply:
    """An answer that a server is about to write."""

    model: str
    text: str = ""
    reasoning: str = ""
    refusal: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    tokens: TokenCounts = field(default_factory=TokenCounts)
    finish_reason: str | None = None
    """Why the answer ended, in the words of chat completions; None for the usual reason."""
    request: Mapping[str, Any] = field(default_factory=dict)
    """The body of the request."""
    number: int = 1
    created: int = 0
    usage: UsageReporting = "asked"
    pieces: int = PIECES

    @property
    def finish(self) -> str:
        return self.finish_reason or ("tool_calls" if self.tool_calls else "stop")

    @property
    def reports_usage(self) -> bool:
        return self.usage != "never"

    def cut(self, text: str) -> list[str]:
        """A text in the pieces in which it is streamed."""
        size = max(1, -(-len(text) // self.pieces))
        return [text[start : start + size] for start in range(0, len(text), size)]

    def calls(self, prefix: str = "call") -> list[tuple[str, ToolCall]]:
        """The tool calls, each with its id."""
        return [(call.id or f"{prefix}_{self.number:06d}_{place}", call) for place, call in enumerate(self.tool_calls)]


class WireFormat(Protocol):
    """All that orvl knows of one wire format. A format has no state; `wire.FORMATS` holds one of each."""

    name: ClassVar[str]
    root: ClassVar[str]
    """What a client's base URL ends in."""
    paths: ClassVar[Mapping[str, bool]]
    """The paths after a version, and whether each is a call of a model."""
    key_headers: ClassVar[tuple[str, ...]] = ("authorization",)
    """The headers that may carry a key, the usual one first."""
    request_headers: ClassVar[Mapping[str, str]] = {}
    """Headers that every request must have."""
    header_prefix: ClassVar[str | None] = None
    """How the names of the format's own headers start."""
    usage_option: ClassVar[str | None] = None
    """The field that makes a stream report its usage, where it does so only if asked."""
    error_kinds: ClassVar[Mapping[int, str]]
    """The format's names of errors, by status."""
    unknown_model: ClassVar[str] = "not_found_error"
    """The format's name of the error that a model is not there."""

    # -- for the gateway

    def route(self, path: str) -> Route | None:
        """The route of a path without its version; None if the path belongs to another format."""
        is_call = self.paths.get(path)
        return None if is_call is None else Route(self, path, is_call)

    def route_to(self, model: str) -> Route:
        """The route of a call of orvl's own, not streamed."""
        return Route(self, next(path for path, is_call in self.paths.items() if is_call), is_call=True)

    def environment(self, url: str, key: str) -> dict[str, str]:
        """The variables that lead clients of this format to a server."""
        return {}

    def with_key(self, key: str, *, is_vendor: bool) -> dict[str, str]:
        """The headers that carry a key; `is_vendor` says whether the format's own vendor is asked."""
        return {"Authorization": f"Bearer {key}"}

    @abstractmethod
    def read_request(self, body: Json, route: Route) -> ModelRequest:
        """What a request of an agent asks for."""

    def provider_tool(self, body: Json) -> str | None:
        """A tool in a request that the provider itself would run, and charge for beside the tokens."""
        return None

    def is_usage_event(self, raw: bytes) -> bool:
        """Whether an event holds nothing but the usage that `with_usage` asked for."""
        return False

    @abstractmethod
    def reader(self) -> AnswerReader:
        """A reader for one answer."""

    # -- for judges

    @abstractmethod
    def ask(self, question: Question) -> Json:
        """The body of a request that asks a question."""

    def streamed(self, route: Route, body: Json) -> tuple[str, Json]:
        """The path and the body of a question whose answer is streamed."""
        body = {**body, "stream": True}
        return route.suffix, {**body, self.usage_option: {"include_usage": True}} if self.usage_option else body

    # -- for servers: requests

    @abstractmethod
    def messages(self, body: Mapping[str, Any]) -> list[Json]:
        """The conversation in a request."""

    def instructions(self, body: Mapping[str, Any]) -> Any:
        """The system prompt that is not part of the conversation, in whatever shape."""
        return None

    @abstractmethod
    def tools(self, body: Mapping[str, Any]) -> dict[str, Json]:
        """The schema of each tool's arguments, by its name."""

    def previous_answer(self, body: Mapping[str, Any]) -> str | None:
        """The id of the answer that a request continues, if the host keeps the conversation."""
        return None

    @abstractmethod
    def tool_results(self, messages: list[Json]) -> list[ToolResult]:
        """The tool results after the model's last message."""

    def is_from_model(self, message: Json) -> bool:
        """Whether a message is an earlier answer of the model."""
        return message.get("role") == "assistant"

    def key(self, headers: Mapping[str, str], query: Mapping[str, str]) -> str | None:
        """The key that a request carries; header names are in lower case."""
        keys = (bearer(headers) if name == "authorization" else headers.get(name) for name in self.key_headers)
        return next((key for key in keys if key), None)

    def is_client(self, path: str, headers: Mapping[str, str], query: Mapping[str, str]) -> bool:
        """Whether a request for a path that several formats share comes from a client of this one."""
        return False

    # -- for servers: answers

    @abstractmethod
    def whole(self, reply: Reply) -> Json:
        """An answer in one piece."""

    @abstractmethod
    def stream(self, reply: Reply) -> Iterator[bytes]:
        """An answer as server-sent events."""

    def framed(self, events: Iterator[bytes], query: Mapping[str, str]) -> tuple[str, Iterator[bytes]]:
        """The content type of a stream, and its bytes."""
        return EVENT_STREAM, events

    @abstractmethod
    def error(self, status: int, message: str, kind: str | None = None, number: int | None = None) -> Json:
        """The body of an error; `number` is that of the request, for formats that report it."""

    def error_event(self, reply: Reply, status: int, message: str, kind: str | None, sent: int) -> bytes:
        """An error in the middle of a stream, after so many events."""
        return event(self.error(status, message, kind))

    def error_kind(self, status: int, kind: str | None) -> str:
        """The format's name of an error."""
        return kind or self.error_kinds.get(status) or self.error_kinds[500 if status >= 500 else 400]

    @abstractmethod
    def models(self, names: Sequence[str]) -> Json:
        """A list of models."""

    def token_count(self, tokens: int) -> Json:
        """The answer to a request that asks how long a prompt is."""
        return {"input_tokens": tokens}


def bearer(headers: Mapping[str, str]) -> str | None:
    """The key in an `Authorization: Bearer` header."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    return key if scheme.lower() == "bearer" else None


def after_model(format: WireFormat, messages: list[Json]) -> list[Json]:
    """The messages after the model's last one."""
    last = max((place for place, message in enumerate(messages) if format.is_from_model(message)), default=-1)
    return messages[last + 1 :]

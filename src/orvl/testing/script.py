"""The script of a model server: answers, faults, and their order."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from orvl.gateway.wire.format import TokenCounts, ToolCall

if TYPE_CHECKING:
    from orvl.testing.request import Request

Manner = Literal["status", "cut", "hang", "refuse", "in stream"]


@dataclass(frozen=True)
class Tokens(TokenCounts):
    """The usage that an answer reports: `input` includes cached and cache_write, `output` includes reasoning."""

    input: int = 1000
    cached: int = 0
    cache_write: int = 0
    output: int = 100
    reasoning: int = 0

    def __post_init__(self) -> None:
        if self.cached + self.cache_write > self.input or self.reasoning > self.output:
            raise ValueError(f"{self}: input includes cached and cache_write, and output includes reasoning.")

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(
            self.input + other.input,
            self.cached + other.cached,
            self.cache_write + other.cache_write,
            self.output + other.output,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True)
class Answer:
    """One answer of the model; with `again`, the callable that gave it also gets the next request."""

    text: str = ""
    tool_calls: Sequence[ToolCall] = ()
    reasoning: str = ""
    tokens: Tokens = field(default_factory=Tokens)
    model: str | None = None
    finish: str | None = None
    refusal: str | None = None
    first_byte: float = 0.0
    between: float = 0.0
    pieces: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    again: bool = False


UNFINISHED = Answer("This answer is never complete.")


@dataclass(frozen=True)
class Fault:
    """A failure of the model's host, in the protocol's own form."""

    status: int = 500
    message: str = "The server had an error while processing the request."
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None
    manner: Manner = "status"
    after: int = 0
    seconds: float = 0.0
    answer: Answer = UNFINISHED

    @classmethod
    def cut(cls, after: int = 2, answer: Answer = UNFINISHED) -> Fault:
        """Closes the connection after so many pieces of an answer, before its end."""
        return cls(200, "cut", manner="cut", after=after, answer=answer)

    @classmethod
    def hang(cls, seconds: float = 3600.0) -> Fault:
        """Takes the request and sends nothing."""
        return cls(200, "hang", manner="hang", seconds=seconds)

    @classmethod
    def refuse(cls) -> Fault:
        """Closes the connection at once, without a response."""
        return cls(200, "refuse", manner="refuse")

    @classmethod
    def in_stream(cls, message: str, after: int = 2, status: int = 500, answer: Answer = UNFINISHED) -> Fault:
        """Sends some pieces of an answer, then the protocol's own error event; without streaming, the status."""
        return cls(status, message, manner="in stream", after=after, answer=answer)


Said = Answer | Fault
Script = Sequence[Said | Callable[["Request"], Said]] | Callable[["Request"], Said]

LAST = Answer("Done.")
ASIDE = Answer("A title", tokens=Tokens(input=50, output=5), again=True)


@dataclass(frozen=True)
class Given:
    """What one request got; `tokens` is the usage that an answer reported, None for a fault."""

    number: int
    said: Said
    complete: bool
    tokens: Tokens | None


class ScriptReader:
    """Gives each request the next element of a script."""

    def __init__(self, script: Script) -> None:
        if not callable(script) and not isinstance(script, list | tuple):
            raise TypeError(f"A script is a list of Answer, Fault and callables, or one callable; got {script!r}.")
        self._script = script
        self._next = 0

    def next(self, request: Request) -> Said:
        """The answer or fault for a request; a request for a title takes nothing from a list."""
        if callable(self._script):
            return _said(self._script(request))
        if request.aside:
            return ASIDE
        if self._next >= len(self._script):
            return LAST
        element = self._script[self._next]
        said = _said(element(request) if callable(element) else element)
        if not (callable(element) and isinstance(said, Answer) and said.again):
            self._next += 1
        return said


def _said(value: object) -> Said:
    if isinstance(value, Answer | Fault):
        return value
    raise TypeError(f"A script gives an Answer or a Fault; got {value!r}.")

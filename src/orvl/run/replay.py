"""Recorded calls of models, served again: a run repeated without a provider and without cost."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.gateway.wire import DEFAULT, FORMATS, read_stream, route_of
from orvl.gateway.wire.format import Route
from orvl.gateway.wire.values import as_object, texts
from orvl.testing.loopback import LoopbackServer
from orvl.types import Attempt

if TYPE_CHECKING:
    from aiohttp import web

    from orvl.store import Blobs

ALIKE = 0.5
LOOKED_AT = 1 << 18
SIGNS_A_TOKEN = 4
WAITING_CONNECTIONS = 1024
WORD = re.compile(r"\w+")
EVENT = re.compile(rb".+?(?:\r?\n\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class Question:
    """What a call asks, as far as calls are told apart by it."""

    protocol: str
    path: str
    stream: bool
    messages: tuple[str, ...]
    """A digest of each message."""
    last_answer: int
    """The place of the model's last words in the conversation; -1 where it has said nothing yet."""
    last_kind: str
    last_words: Counter[str] = field(repr=False)
    around: str
    """A digest of the instructions and of the tools that are offered."""
    follows: str | None = None
    """The answer that it follows, where the host keeps the conversation."""

    @classmethod
    def of(cls, route: Route, body: Mapping[str, Any]) -> Question:
        messages = route.format.messages(body)
        answers = [place for place, message in enumerate(messages) if route.format.is_from_model(message)]
        last = messages[-1] if messages else {}
        said = " ".join(texts(last))[:LOOKED_AT]
        follows = body.get("previous_response_id")
        return cls(
            route.protocol,
            route.suffix,
            route.stream or body.get("stream") is True,
            tuple(_digest(message) for message in messages),
            answers[-1] if answers else -1,
            str(last.get("role") or last.get("type")),
            Counter(WORD.findall(said)),
            _digest([route.format.instructions(body), sorted(route.format.tools(body))]),
            follows if isinstance(follows, str) else None,
        )

    @property
    def door(self) -> tuple[str, str, bool]:
        return self.protocol, self.path, self.stream

    def is_same(self, other: Question) -> bool:
        mine = (self.door, self.messages, self.around, self.follows)
        return mine == (other.door, other.messages, other.around, other.follows)

    def fits(self, other: Question) -> bool:
        """Whether it may be the same call: as far into a conversation, after the same answer or with a like end."""
        if self.door != other.door or self.last_kind != other.last_kind:
            return False
        if len(self.messages) != len(other.messages):
            return self.messages[-1:] == other.messages[-1:]
        return self._goes_on_like(other) or self.likeness(other) >= ALIKE

    def _goes_on_like(self, other: Question) -> bool:
        if self.follows or other.follows:
            return self.follows == other.follows
        place = self.last_answer
        return place >= 0 and place == other.last_answer and self.messages[place] == other.messages[place]

    def likeness(self, other: Question) -> float:
        """How much of the last messages' words they share, from 0 to 1."""
        if self.messages[-1:] == other.messages[-1:]:
            return 1.0
        both = self.last_words.total() + other.last_words.total()
        return 2 * (self.last_words & other.last_words).total() / both if both else 0.0

    def rank(self, other: Question) -> tuple[bool, bool, int, float]:
        """How well another fits, for choosing the best."""
        equal = sum(mine == theirs for mine, theirs in zip(self.messages, other.messages, strict=False))
        return self.is_same(other), self.around == other.around, equal, self.likeness(other)


@dataclass(frozen=True)
class Recorded:
    """One call of a record that its host answered."""

    number: int
    question: Question
    status: int
    kind: str
    answer: bytes = field(repr=False)
    failed: bool = False
    tries: int = 1
    seconds: float = 0.0
    first_token: float | None = None

    @property
    def is_stream(self) -> bool:
        return "event-stream" in self.kind

    @cached_property
    def is_open(self) -> bool:
        """Whether the agent went away before the answer was complete."""
        return self.is_stream and self.status < 300 and not self.failed and not _is_complete(self)


@dataclass(frozen=True)
class Recording:
    """The answered calls of one attempt, in the order in which they began."""

    calls: tuple[Recorded, ...]

    @classmethod
    def of(cls, source: str | Path | Attempt | Iterable[str | bytes], blobs: Blobs | None = None) -> Recording:
        """From a file, from lines of JSON, or from an attempt with the blobs of its store."""
        if isinstance(source, Attempt):
            if source.record is None or blobs is None:
                raise UserError("There is no record of what was asked of models.")
            source = blobs.get(source.record).splitlines()
        lines = Path(source).read_bytes().splitlines() if isinstance(source, str | Path) else source
        told = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        calls = (call for number, line in told if (call := _recorded(number, line)))
        return cls(tuple(sorted(calls, key=lambda call: call.number)))

    @property
    def protocols(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(call.question.protocol for call in self.calls))


def _recorded(number: int, line: str | bytes) -> Recorded | None:
    """A line of a record; None where the host gave no answer."""
    told = as_object(line)
    try:
        if told is None:
            raise TypeError("it is no JSON object")
        if told["status"] is None:
            return None
        protocol, path = told["protocol"], told["path"]
        route = route_of("POST", path, protocol) or Route(FORMATS[protocol], path, is_call=True)
        return Recorded(
            number=int(told["number"]),
            question=Question.of(route, as_object(told["asked"] or "") or {}),
            status=int(told["status"]),
            kind=told["type"] or "application/json",
            answer=(told["answered"] or "").encode("utf-8", "surrogateescape"),
            failed=bool(told["trouble"]),
            tries=int(told["tries"]),
            seconds=float(told["seconds"]),
            first_token=told["first_token"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UserError(f"Line {number} of the record is not a call: {type(error).__name__}: {error}.") from error


class Prompter:
    """Finds the recorded call for each request; a call that failed is there for as often as it was tried."""

    def __init__(self, recording: Recording) -> None:
        self._left = {call.number: call.tries if call.failed else 1 for call in recording.calls}
        self._calls = recording.calls

    @property
    def unasked(self) -> list[int]:
        """The numbers of the calls that nobody has asked for yet."""
        return [call.number for call in self._calls if self._left[call.number] == (call.tries if call.failed else 1)]

    def answer_to(self, question: Question) -> Recorded | None:
        waiting = [call for call in self._calls if self._left[call.number] and question.fits(call.question)]
        again = [call for call in self._calls if call.failed and question.is_same(call.question)]
        found = max(waiting, key=lambda call: (*question.rank(call.question), -call.number), default=None)
        if found:
            self._left[found.number] -= 1
        return found or (again[-1] if again else None)


class ReplayServer(LoopbackServer):
    """Serves a recording on loopback; `pace` keeps the times that the answers took."""

    noun = "replay"

    def __init__(self, recording: Recording, *, pace: bool = False, port: int = 0) -> None:
        super().__init__(port)
        self.recording, self.pace = recording, pace
        self.served: list[int] = []
        """The number of the recorded call that each request got."""
        self.reworded: list[int] = []
        """Those of them whose request was not word for word the recorded one."""
        self.unmatched: list[str] = []
        """A sentence on each request that is not in the recording."""
        self._prompter = Prompter(recording)

    def base_url(self, protocol: str) -> str:
        """What a client of this protocol wants as its base URL."""
        return self.url + FORMATS[protocol].root

    @property
    def unasked(self) -> list[int]:
        """The numbers of the recorded calls that nobody has asked for."""
        return self._prompter.unasked

    @asynccontextmanager
    async def serving(self, listener: socket.socket) -> AsyncIterator[None]:
        from aiohttp import web

        server = web.Server(self._handle, handler_cancellation=True)
        loop = asyncio.get_running_loop()
        serving = await loop.create_server(server, sock=listener, backlog=WAITING_CONNECTIONS)
        yield
        serving.close()
        await server.shutdown(0)

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        from aiohttp import web

        route = route_of(request.method, request.path, next(iter(self.recording.protocols), DEFAULT))
        body = b"".join([chunk async for chunk in request.content.iter_any()])
        if request.path == "/" and request.method in ("GET", "HEAD"):
            return web.Response(text="orvl")
        if route and not route.is_call:
            return web.json_response(self._aside(route, body))
        question = _question(route, as_object(body))
        call = self._prompter.answer_to(question) if question else None
        if question is None or call is None:
            format = route.format if route else FORMATS[DEFAULT]
            asked = (
                f" with {len(question.messages)} messages, the last of kind '{question.last_kind}'" if question else ""
            )
            sentence = f"The recording has no answer to {request.method} {request.path}{asked}."
            self.unmatched.append(sentence)
            return web.json_response(format.error(400, sentence, "invalid_request_error"), status=400)
        self.served.append(call.number)
        if not question.is_same(call.question):
            self.reworded.append(call.number)
        return await self._give(request, call)

    def _aside(self, route: Route, body: bytes) -> dict[str, Any]:
        """What costs nothing is not in a record: models are listed, tokens are guessed."""
        if "/models" not in route.suffix or route.suffix.endswith(":countTokens"):
            return route.format.token_count(len(body) // SIGNS_A_TOKEN + 1)
        return route.format.models(["recorded"])

    async def _give(self, request: web.BaseRequest, call: Recorded) -> web.StreamResponse:
        from aiohttp import web

        response = web.StreamResponse(status=call.status, headers={"Content-Type": call.kind})
        first, between = _pauses(call) if self.pace else (0.0, 0.0)
        await asyncio.sleep(first)
        await response.prepare(request)
        for place, piece in enumerate(_pieces(call) if between else [call.answer]):
            await asyncio.sleep(between if place else 0)
            await response.write(piece)
        if call.is_open:
            await asyncio.get_running_loop().create_future()
        if call.failed and call.status < 300 and not call.is_stream and request.transport:
            request.transport.close()
            return response
        await response.write_eof()
        return response


def _pieces(call: Recorded) -> Iterator[bytes]:
    return (found[0] for found in EVENT.finditer(call.answer)) if call.is_stream else iter([call.answer])


def _pauses(call: Recorded) -> tuple[float, float]:
    """Seconds before the first piece of an answer, and between its pieces."""
    pieces = sum(1 for _ in _pieces(call))
    first = call.seconds if call.first_token is None else min(call.first_token, call.seconds)
    return first, (call.seconds - first) / (pieces - 1) if pieces > 1 else 0.0


def _question(route: Route | None, content: Mapping[str, Any] | None) -> Question | None:
    """What a request asks; None where it is no call of a model."""
    try:
        return Question.of(route, content) if route and content else None
    except RecursionError:
        return None


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


def _is_complete(call: Recorded) -> bool:
    answer = read_stream(call.question.protocol, call.answer)
    return answer.complete or answer.error is not None

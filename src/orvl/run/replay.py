"""Recorded model calls, served again, so that a run can be repeated without a provider and without cost."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.gateway.probe import is_own_question
from orvl.gateway.wire import DEFAULT, FORMATS, read_stream, route_of
from orvl.gateway.wire.format import Route
from orvl.gateway.wire.values import as_object, texts
from orvl.testing.loopback import LoopbackServer
from orvl.types import Attempt

if TYPE_CHECKING:
    from aiohttp import web

    from orvl.store import Blobs

SIMILAR = 0.5
COMPARED_TEXT = 1 << 18
CHARACTERS_PER_TOKEN = 4
WAITING_CONNECTIONS = 1024
WORD = re.compile(r"\w+")
EVENT = re.compile(rb".+?(?:\r?\n\r?\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class CallSignature:
    """What tells a model call from others: where it goes, and its conversation."""

    protocol: str
    path: str
    stream: bool
    messages: tuple[str, ...]
    """A digest of each message."""
    last_answer: int
    """The place of the model's last answer in the conversation; -1 if there is none yet."""
    last_kind: str
    last_words: Counter[str] = field(repr=False)
    setting: str
    """A digest of the instructions and of the tools that are offered."""
    follows: str | None = None
    """The answer that it follows, if the host keeps the conversation."""

    @classmethod
    def of(cls, route: Route, body: Mapping[str, Any]) -> CallSignature:
        format = route.format
        messages = format.messages(body)
        answers = [place for place, message in enumerate(messages) if format.is_from_model(message)]
        last = messages[-1] if messages else {}
        text = " ".join(texts(last))[:COMPARED_TEXT]
        return cls(
            route.protocol,
            route.suffix,
            route.stream or body.get("stream") is True,
            tuple(_digest(message) for message in messages),
            answers[-1] if answers else -1,
            str(last.get("role") or last.get("type")),
            Counter(WORD.findall(text)),
            _digest([format.instructions(body), sorted(format.tools(body))]),
            format.previous_answer(body),
        )

    @property
    def address(self) -> tuple[str, str, bool]:
        return self.protocol, self.path, self.stream

    def is_same(self, other: CallSignature) -> bool:
        mine = (self.address, self.messages, self.setting, self.follows)
        return mine == (other.address, other.messages, other.setting, other.follows)

    def fits(self, other: CallSignature) -> bool:
        """Whether it may be the same call: as far into a conversation, after the same answer or with a similar end.

        Times, random names and tool results differ from run to run, so the messages need not be equal.
        """
        if self.address != other.address or self.last_kind != other.last_kind:
            return False
        if len(self.messages) != len(other.messages):
            return self.messages[-1:] == other.messages[-1:]
        return self._follows_same_answer(other) or self.similarity(other) >= SIMILAR

    def _follows_same_answer(self, other: CallSignature) -> bool:
        if self.follows or other.follows:
            return self.follows == other.follows
        place = self.last_answer
        return place >= 0 and place == other.last_answer and self.messages[place] == other.messages[place]

    def similarity(self, other: CallSignature) -> float:
        """The share of words that the last messages have in common, from 0 to 1."""
        if self.messages[-1:] == other.messages[-1:]:
            return 1.0
        both = self.last_words.total() + other.last_words.total()
        return 2 * (self.last_words & other.last_words).total() / both if both else 0.0

    def rank(self, other: CallSignature) -> tuple[bool, bool, int, float]:
        """How well another fits, for choosing the best."""
        equal = sum(mine == theirs for mine, theirs in zip(self.messages, other.messages, strict=False))
        return self.is_same(other), self.setting == other.setting, equal, self.similarity(other)


@dataclass(frozen=True)
class RecordedCall:
    """A model call that the provider answered."""

    number: int
    signature: CallSignature
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

    @property
    def times(self) -> int:
        """How many requests it answers: a failed one as many as were tried."""
        return self.tries if self.failed else 1

    @cached_property
    def is_open(self) -> bool:
        """Whether the agent hung up before the answer was complete."""
        if not self.is_stream or self.status >= 300 or self.failed:
            return False
        answer = read_stream(self.signature.protocol, self.answer)
        return not answer.complete and answer.error is None

    def pieces(self) -> list[bytes]:
        """The events of a stream, or the whole answer."""
        return EVENT.findall(self.answer) if self.is_stream else [self.answer]

    def pauses(self) -> tuple[float, float]:
        """Seconds before the first piece of the answer, and between its pieces."""
        gaps = len(self.pieces()) - 1
        first = self.seconds if self.first_token is None else min(self.first_token, self.seconds)
        return first, (self.seconds - first) / gaps if gaps > 0 else 0.0


@dataclass(frozen=True)
class Recording:
    """The answered calls of one attempt, in the order in which they began."""

    calls: tuple[RecordedCall, ...]
    provider_failed: bool = False
    """Whether the provider failed orvl's own question, too, which is not recorded."""

    @classmethod
    def of(cls, source: str | Path | Attempt | Iterable[str | bytes], blobs: Blobs | None = None) -> Recording:
        """Reads a file, lines of JSON, or an attempt with the blobs of its store."""
        provider_failed = isinstance(source, Attempt) and source.outcome == "errored"
        if isinstance(source, Attempt):
            if source.record is None or blobs is None:
                raise UserError("This run has no record of its model calls.")
            source = blobs.get(source.record).splitlines()
        lines = Path(source).read_bytes().splitlines() if isinstance(source, str | Path) else source
        numbered = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        calls = (call for number, line in numbered if (call := _recorded_call(number, line)))
        return cls(tuple(sorted(calls, key=lambda call: call.number)), provider_failed)

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocols of its calls; the usual one if there are none."""
        return tuple(dict.fromkeys(call.signature.protocol for call in self.calls)) or (DEFAULT,)


def _recorded_call(number: int, line: str | bytes) -> RecordedCall | None:
    """A line of a record; None if the provider gave no answer."""
    call = as_object(line)
    try:
        if call is None:
            raise TypeError("it is no JSON object")
        if call["status"] is None:
            return None
        protocol, path = call["protocol"], call["path"]
        route = route_of("POST", path, protocol) or Route(FORMATS[protocol], path, is_call=True)
        return RecordedCall(
            number=int(call["number"]),
            signature=CallSignature.of(route, as_object(call["asked"] or "") or {}),
            status=int(call["status"]),
            kind=call["type"] or "application/json",
            answer=(call["answered"] or "").encode("utf-8", "surrogateescape"),
            failed=bool(call["trouble"]),
            tries=int(call["tries"]),
            seconds=float(call["seconds"]),
            first_token=call["first_token"],
        )
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UserError(f"Line {number} of the record is not a call: {type(error).__name__}: {error}.") from error


class AnswerFinder:
    """Finds the recorded call that answers a request; each is used once, a failed one as often as it was tried."""

    def __init__(self, recording: Recording) -> None:
        self._calls, self._provider_failed = recording.calls, recording.provider_failed
        self._left = {call.number: call.times for call in recording.calls}

    @property
    def unasked(self) -> list[int]:
        return [call.number for call in self._calls if self._left[call.number] == call.times]

    def find(self, signature: CallSignature) -> RecordedCall | None:
        waiting = [call for call in self._calls if self._left[call.number] and signature.fits(call.signature)]
        best = max(waiting, key=lambda call: (*signature.rank(call.signature), -call.number), default=None)
        if best:
            self._left[best.number] -= 1
            return best
        # A client may retry more often than the recorded one did; it gets the same failure again.
        failed = [call for call in self._calls if call.failed and signature.is_same(call.signature)]
        return failed[-1] if failed else None

    def to_own_question(self, signature: CallSignature) -> RecordedCall | None:
        """A failure where the provider failed orvl's own question; else any answer, whose words do not matter."""
        asked = [call for call in self._calls if call.signature.stream == signature.stream]
        if self._provider_failed:
            asked = [call for call in asked if call.failed]
        else:
            asked = [call for call in asked if not call.failed and not call.is_open]
        return asked[-1] if asked else None


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
        self._finder = AnswerFinder(recording)

    def base_url(self, protocol: str) -> str:
        """The base URL for a client of this protocol."""
        return self.url + FORMATS[protocol].root

    @property
    def unasked(self) -> list[int]:
        """The numbers of the recorded calls that nobody has asked for."""
        return self._finder.unasked

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

        route = route_of(request.method, request.path, self.recording.protocols[0])
        body = b"".join([chunk async for chunk in request.content.iter_any()])
        if request.path == "/" and request.method in ("GET", "HEAD"):
            return web.Response(text="orvl")
        if route and not route.is_call:
            return web.json_response(_free_answer(route, body))
        content = as_object(body)
        signature = _signature(route, content)
        call = self._finder.find(signature) if signature else None
        if signature and call is None and is_own_question(content) and (own := self._finder.to_own_question(signature)):
            return await self._give(request, own)
        if signature is None or call is None:
            sentence = _no_answer(request, signature)
            self.unmatched.append(sentence)
            format = route.format if route else FORMATS[DEFAULT]
            return web.json_response(format.error(400, sentence, "invalid_request_error"), status=400)
        self.served.append(call.number)
        if not signature.is_same(call.signature):
            self.reworded.append(call.number)
        return await self._give(request, call)

    async def _give(self, request: web.BaseRequest, call: RecordedCall) -> web.StreamResponse:
        from aiohttp import web

        response = web.StreamResponse(status=call.status, headers={"Content-Type": call.kind})
        first, between = call.pauses() if self.pace else (0.0, 0.0)
        await asyncio.sleep(first)
        await response.prepare(request)
        for place, piece in enumerate(call.pieces() if between else [call.answer]):
            await asyncio.sleep(between if place else 0)
            await response.write(piece)
        if call.is_open:
            # The recorded agent hung up here; the one that is replayed must do so as well, so nothing ends the answer.
            await asyncio.get_running_loop().create_future()
        if call.failed and call.status < 300 and not call.is_stream and request.transport:
            request.transport.close()
            return response
        await response.write_eof()
        return response


def _free_answer(route: Route, body: bytes) -> dict[str, Any]:
    """Free requests are not in a record: models are listed, tokens are estimated."""
    if route.lists_models:
        return route.format.models(["recorded"])
    return route.format.token_count(len(body) // CHARACTERS_PER_TOKEN + 1)


def _signature(route: Route | None, content: Mapping[str, Any] | None) -> CallSignature | None:
    """None if a request is no model call."""
    try:
        return CallSignature.of(route, content) if route and content else None
    except RecursionError:
        return None


def _no_answer(request: web.BaseRequest, signature: CallSignature | None) -> str:
    shape = ""
    if signature:
        shape = f" with {len(signature.messages)} messages, the last of kind '{signature.last_kind}'"
    return f"The recording has no answer to {request.method} {request.path}{shape}."


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()

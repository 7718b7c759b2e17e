"""An agent's call of a model: passed on, passed back piece by piece, and read as it passes."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from orvl.errors import AgentDisconnected
from orvl.gateway.faults import LONGEST_WORDS, Trouble
from orvl.gateway.tries import LONGEST_ERROR, Tries
from orvl.gateway.upstream import read_up_to
from orvl.gateway.wire import KEY_HEADERS
from orvl.gateway.wire.sse import EVENT_STARTS, EventFilter, EventSplitter
from orvl.gateway.wire.values import as_object

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from orvl.gateway.record import Tape

NOT_PASSED_ON = {
    *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade"),
    *(*KEY_HEADERS, "cookie", "accept-encoding", "expect"),
    *("proxy-authorization", "proxy-connection", "forwarded", "x-forwarded-for", "content-encoding"),
}
NOT_PASSED_BACK = {
    *("content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade"),
    *("set-cookie", "www-authenticate", "proxy-authenticate", "alt-svc", "strict-transport-security"),
}


@dataclass(kw_only=True)
class Call(Tries):
    """What an agent asks, and what it is told."""

    request: web.BaseRequest
    response: web.StreamResponse | None = None
    """An answer that has begun."""
    failure: web.Response | None = None
    """What the agent is told where no answer has begun."""
    tape: Tape | None = None
    added_usage: bool = field(default=False, init=False)

    async def passed(self) -> web.StreamResponse:
        """Carries the call; the agent gets the answer, or the failure."""
        self._ask_for_usage()
        await self.carry()
        told = self.response or self.failure
        assert told is not None
        return told

    def _broken(self, trouble: Trouble) -> Trouble:
        """The provider went away. An answer that had begun is broken off for the agent, too."""
        if self.response is None:
            body = self.format.error(502, f"The provider failed: {trouble.words}", "api_error")
            self.failure = web.json_response(body, status=502)
        elif self.request.transport is not None:
            self.request.transport.abort()
        return trouble

    def _headers(self) -> CIMultiDict[str]:
        """The agent's own headers, less those about its connection and its key, with the real key."""
        told = self.request.headers
        dropped = {*NOT_PASSED_ON, *(name.strip().lower() for name in told.get("Connection", "").split(","))}
        kept = CIMultiDict((name, value) for name, value in told.items() if name.lower() not in dropped)
        kept["Accept-Encoding"] = "identity"
        if self.key:
            kept.update(self._key_headers(self.key))
        return kept

    def _ask_for_usage(self) -> None:
        """Some formats report the usage of a stream only if asked; it is needed for metering, so it is asked for."""
        changed = self.format.with_usage(as_object(self.body) or {}) if self.asked.stream else None
        if changed is not None:
            self.body, self.added_usage = json.dumps(changed).encode(), True

    async def _ask_without_usage(self) -> Trouble | None:
        body = as_object(self.body) or {}
        body.pop(self.format.usage_option or "", None)
        self.body, self.added_usage = json.dumps(body).encode(), False
        return await self._send()

    # -- answers

    async def _error(self, upstream: aiohttp.ClientResponse) -> Trouble | None:
        body = self.redact.feed(await read_up_to(upstream.content, LONGEST_ERROR) or b"") + self.redact.end()
        if upstream.status == 400 and self.added_usage and (self.format.usage_option or "").encode() in body:
            return await self._ask_without_usage()
        self.tape = self._tape(upstream.headers)
        self.tape.add(body)
        self.failure = web.Response(status=upstream.status, body=body, headers=self._passed_back(upstream.headers))
        return self._trouble_of(upstream.status, body, upstream.headers)

    async def _take(self, upstream: aiohttp.ClientResponse) -> Trouble | None:
        self.response = web.StreamResponse(status=upstream.status, headers=self._passed_back(upstream.headers))
        self.has_begun = True
        try:
            await _passing(self.response.prepare(self.request))
            self.tape = self._tape(upstream.headers)
            is_stream = await self._pass_through(upstream, self.response, self.tape)
            if is_stream and not self.answer.complete and not self.answer.error:
                return self._broken(Trouble("the answer was cut off: the stream ended before it did", helps=True))
            await _passing(self.response.write_eof())
            if self.answer.is_missing:
                kind = upstream.headers.get("Content-Type", "nothing")[:80]
                return Trouble(f"{upstream.status} it sent {kind}, and no answer", helps=True)
        except AgentDisconnected:
            self.agent_left = True
        return Trouble(self.answer.error[:LONGEST_WORDS], helps=True) if self.answer.error else None

    async def _pass_through(self, upstream: aiohttp.ClientResponse, response: web.StreamResponse, tape: Tape) -> bool:
        """Every piece goes on to the agent at once, and is looked at afterwards. Says whether they were events."""
        events, whole = EventSplitter(self._event), bytearray()
        is_stream = "event-stream" in upstream.headers.get("Content-Type", "")
        without_usage = EventFilter(self.format.is_usage_event) if self.added_usage else None
        try:
            async for chunk in upstream.content.iter_any():
                self.open.heard = time.monotonic()
                piece = self.redact.feed(chunk)
                is_stream = is_stream or (self.asked.stream and not whole and piece.lstrip().startswith(EVENT_STARTS))
                passed = without_usage.feed(piece) if without_usage and is_stream else piece
                await self._passes(piece, passed, response, tape, events.feed if is_stream else whole.extend)
            rest = self.redact.end()
            passed = without_usage.feed(rest) + without_usage.end() if without_usage and is_stream else rest
            await self._passes(rest, passed, response, tape, events.feed if is_stream else whole.extend)
        finally:
            events.close()
            if not is_stream:
                self.reader.feed_body(bytes(whole))
        return is_stream

    async def _passes(
        self, piece: bytes, passed: bytes, response: web.StreamResponse, tape: Tape, look: Callable[[bytes], None]
    ) -> None:
        if passed:
            await _passing(response.write(passed))
        tape.add(piece)
        look(piece)

    def _event(self, name: str, data: str) -> None:
        self.reader.feed_event(name, data)
        if self.first_token is None and self.answer.began:
            self.first_token = time.monotonic() - self.began

    def _tape(self, headers: Mapping[str, str]) -> Tape:
        return self.account.record.tape(self.number, headers.get("Content-Type", ""))

    def _passed_back(self, headers: Mapping[str, str]) -> CIMultiDict[str]:
        kept = [(name, value) for name, value in headers.items() if name.lower() not in NOT_PASSED_BACK]
        named = [(name, self.redact.text(value)) for name, value in kept if name == self.redact.text(name)]
        return CIMultiDict(named)


async def _passing(writing: Awaitable[Any]) -> None:
    try:
        await writing
    except (ConnectionError, RuntimeError, aiohttp.ClientConnectionError) as error:
        raise AgentDisconnected from error

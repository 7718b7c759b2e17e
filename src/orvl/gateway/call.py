"""One call of a model: held back where it must be, passed on, read as it passes, tried again where that helps."""

from __future__ import annotations

import asyncio
import io
import json
import os
import random
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from orvl.gateway.answer import Answer, Asked, Events, as_object, feed_event, feed_whole
from orvl.gateway.faults import LONGEST_WORDS, Trouble, said_in, trouble_of
from orvl.gateway.filters import Redactor, WithoutUsage
from orvl.gateway.pace import TooLong
from orvl.gateway.routes import error_body, key_headers
from orvl.gateway.upstream import proxy_for, read_up_to

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from yarl import URL

    from orvl.gateway.account import Account, Open
    from orvl.gateway.pace import Lane, Pace
    from orvl.gateway.record import Tape
    from orvl.gateway.routes import Route

TRIES = 4
TRIES_WHEN_LIMITED = 8
BACK_OFF = 0.5
LONGEST_WAIT = 180.0
LONGEST_ERROR = 1 << 20
NOT_PASSED_ON = {
    *("host", "content-length", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade"),
    *("authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie", "accept-encoding", "expect"),
    *("proxy-authorization", "proxy-connection", "forwarded", "x-forwarded-for", "content-encoding"),
}
NOT_PASSED_BACK = {
    *("content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade"),
    *("set-cookie", "www-authenticate", "proxy-authenticate", "alt-svc", "strict-transport-security"),
}
EVENTS = (b"data:", b"event:", b":")
Result = tuple[web.StreamResponse, Trouble | None]


class AgentLeft(Exception):
    """The agent closed its connection."""


@dataclass
class Call:
    """A call on its way, and all that is noted of it."""

    account: Account
    lane: Lane
    client: aiohttp.ClientSession
    key: str | None
    route: Route
    request: web.BaseRequest
    url: URL
    body: bytes
    asked: Asked
    number: int
    open: Open
    tries: int = 0
    waited: float = 0.0
    began: float = 0.0
    first_token: float | None = None
    status: int | None = None
    trouble: Trouble | None = None
    agent_left: bool = False
    started: float = field(default_factory=time.time)
    response: web.StreamResponse | None = None
    tape: Tape | None = None
    said: str = ""
    """The provider's words, where it answered with an error."""

    def __post_init__(self) -> None:
        self.reader = self.route.reader()
        self.redact = Redactor(self.key)
        self.added_usage = False

    @property
    def answer(self) -> Answer:
        return self.reader.answer

    # -- trying

    async def carry(self) -> web.StreamResponse:
        """Tries until an answer is through, or until trying again does not help; then the agent gets the failure."""
        self._ask_for_usage()
        while True:
            self.tries += 1
            response, self.trouble = await self._try()
            if self.trouble is None:
                return response
            wait = self._wait_for(self.trouble)
            if wait is None or self.account.doomed.is_set():
                return response
            with self.account.holding(self.open):
                await self._pause(wait)

    def _wait_for(self, trouble: Trouble) -> float | None:
        """Seconds until the next try; None where there is none."""
        most = TRIES_WHEN_LIMITED if trouble.is_rate_limit else TRIES
        if not trouble.helps or self.tries >= most or self.response is not None:
            return None
        if trouble.is_rate_limit:
            pause = self.lane.pace(self.asked.model).not_before - asyncio.get_running_loop().time()
            return None if self.waited + pause > LONGEST_WAIT else 0.0
        wait = max(trouble.after or 0.0, BACK_OFF * 2 ** (self.tries - 1))
        return None if self.waited + wait > LONGEST_WAIT else wait * random.uniform(1, 1.2)

    async def _pause(self, seconds: float) -> None:
        began = time.monotonic()
        try:
            await asyncio.wait_for(self.account.doomed.wait(), seconds)
        except TimeoutError:
            pass
        self.waited += time.monotonic() - began

    async def _try(self) -> Result:
        arrived = time.monotonic()
        slot = self.lane.slot(self.asked.model)
        try:
            with self.account.holding(self.open):
                pace = await slot.__aenter__()
        except TooLong as error:
            return self._broken(Trouble(f"429 it wants {error.seconds:.0f} s of rest", helps=False, again=True))
        try:
            self.began = time.monotonic()
            self.waited += self.began - arrived
            result = await self._send()
            _learn(pace, result[1])
            return result
        finally:
            await slot.__aexit__(None, None, None)

    async def _send(self) -> Result:
        self.status = None
        silence = self.account.provider.timeout
        limits = aiohttp.ClientTimeout(total=None, sock_connect=min(30.0, silence), sock_read=silence)
        try:
            async with self.client.post(
                self.url,
                data=io.BytesIO(self.body),
                headers=self._headers(),
                skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
                proxy=proxy_for(self.url),
                allow_redirects=False,
                timeout=limits,
            ) as upstream:
                self.status = upstream.status
                self.open.heard = time.monotonic()
                if not 200 <= upstream.status < 300:
                    return await self._error(upstream)
                return await self._stream(upstream)
        except aiohttp.ServerTimeoutError:
            return self._broken(Trouble(f"it said nothing for {silence:g} s", helps=False, again=True))
        except (aiohttp.ClientError, OSError) as error:
            if self.response is not None:
                return self._broken(Trouble("the answer was cut off in the middle", helps=True))
            why = self.redact.text(_sentence(error))
            return self._broken(Trouble(f"it cannot be reached: {why}", helps=True))

    def _broken(self, trouble: Trouble) -> Result:
        """The provider went away. An answer that had begun is broken off for the agent, too."""
        if self.response is None:
            body = error_body(self.route.protocol, 502, "api_error", f"The provider failed: {trouble.words}")
            return web.json_response(body, status=502), trouble
        if self.request.transport is not None:
            self.request.transport.abort()
        return self.response, trouble

    def _headers(self) -> CIMultiDict[str]:
        """The agent's own headers, less those about its connection and its key, with the real key."""
        told = self.request.headers
        dropped = {*NOT_PASSED_ON, *(name.strip().lower() for name in told.get("Connection", "").split(","))}
        kept = CIMultiDict((name, value) for name, value in told.items() if name.lower() not in dropped)
        kept["Accept-Encoding"] = "identity"
        if self.key:
            is_the_maker = self.account.provider.name == self.route.protocol
            kept.update(key_headers(self.route.protocol, self.key, is_the_maker=is_the_maker))
        return kept

    def _ask_for_usage(self) -> None:
        """A stream of chat completions tells its usage only where it is asked to."""
        if self.route.protocol != "openai" or not self.asked.stream:
            return
        body = as_object(self.body) or {}
        told = body.get("stream_options")
        options = told if isinstance(told, dict) else {}
        if not options.get("include_usage"):
            self.body = json.dumps({**body, "stream_options": {**options, "include_usage": True}}).encode()
            self.added_usage = True

    async def _ask_without_usage(self) -> Result:
        body = as_object(self.body) or {}
        body.pop("stream_options", None)
        self.body, self.added_usage = json.dumps(body).encode(), False
        return await self._send()

    # -- answers

    async def _error(self, upstream: aiohttp.ClientResponse) -> Result:
        body = self.redact.feed(await read_up_to(upstream.content, LONGEST_ERROR) or b"") + self.redact.end()
        if upstream.status == 400 and self.added_usage and b"stream_options" in body:
            return await self._ask_without_usage()
        self.tape = self._tape(upstream.headers)
        self.tape.add(body)
        response = web.Response(status=upstream.status, body=body, headers=self._passed_back(upstream.headers))
        self.said = self.redact.text(said_in(body))
        trouble = trouble_of(upstream.status, body, upstream.headers)
        return response, trouble and replace(trouble, words=self.redact.text(trouble.words))

    async def _stream(self, upstream: aiohttp.ClientResponse) -> Result:
        self.response = web.StreamResponse(status=upstream.status, headers=self._passed_back(upstream.headers))
        try:
            await _passing(self.response.prepare(self.request))
            self.tape = self._tape(upstream.headers)
            is_stream = await self._pass_through(upstream, self.response, self.tape)
            if is_stream and not self.answer.complete and not self.answer.error:
                return self._broken(Trouble("the answer was cut off: the stream ended before it did", helps=True))
            await _passing(self.response.write_eof())
            if self.answer.is_none:
                kind = upstream.headers.get("Content-Type", "nothing")[:80]
                return self.response, Trouble(f"{upstream.status} it sent {kind}, and no answer", helps=True)
        except AgentLeft:
            self.agent_left = True
        if self.answer.error:
            return self.response, Trouble(self.answer.error[:LONGEST_WORDS], helps=True)
        return self.response, None

    async def _pass_through(self, upstream: aiohttp.ClientResponse, response: web.StreamResponse, tape: Tape) -> bool:
        """Every piece goes on to the agent at once, and is looked at afterwards. Says whether they were events."""
        events, whole = Events(self._event), bytearray()
        is_stream = "event-stream" in upstream.headers.get("Content-Type", "")
        without_usage = WithoutUsage() if self.added_usage else None
        try:
            async for chunk in upstream.content.iter_any():
                self.open.heard = time.monotonic()
                piece = self.redact.feed(chunk)
                is_stream = is_stream or (self.asked.stream and not whole and piece.lstrip().startswith(EVENTS))
                passed = without_usage.feed(piece) if without_usage and is_stream else piece
                await self._take(piece, passed, response, tape, events.feed if is_stream else whole.extend)
            rest = self.redact.end()
            passed = without_usage.feed(rest) + without_usage.end() if without_usage and is_stream else rest
            await self._take(rest, passed, response, tape, events.feed if is_stream else whole.extend)
        finally:
            events.close()
            if not is_stream:
                feed_whole(self.reader, bytes(whole))
        return is_stream

    async def _take(
        self, piece: bytes, passed: bytes, response: web.StreamResponse, tape: Tape, look: Callable[[bytes], None]
    ) -> None:
        if passed:
            await _passing(response.write(passed))
        tape.add(piece)
        look(piece)

    def _event(self, name: str, data: str) -> None:
        feed_event(self.reader, name, data)
        if self.first_token is None and self.answer.began:
            self.first_token = time.monotonic() - self.began

    def _tape(self, headers: Mapping[str, str]) -> Tape:
        return self.account.record.tape(self.number, headers.get("Content-Type", ""))

    def _passed_back(self, headers: Mapping[str, str]) -> CIMultiDict[str]:
        kept = [(name, value) for name, value in headers.items() if name.lower() not in NOT_PASSED_BACK]
        named = [(name, self.redact.text(value)) for name, value in kept if name == self.redact.text(name)]
        return CIMultiDict(named)


def _learn(pace: Pace, trouble: Trouble | None) -> None:
    if trouble is None:
        pace.answered()
    elif trouble.is_rate_limit:
        pace.refused(trouble.after)


async def _passing(writing: Awaitable[Any]) -> None:
    try:
        await writing
    except (ConnectionError, RuntimeError, aiohttp.ClientConnectionError) as error:
        raise AgentLeft from error


def _sentence(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        why = os.strerror(error.os_error.errno) if error.os_error.errno else str(error.os_error)
        return f"{error.host}:{error.port}: {why}"
    return " ".join(str(error).split())[:LONGEST_WORDS] or type(error).__name__

"""An agent's call of a model: passed on, passed back piece by piece, and read as it passes."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import aiohttp
from aiohttp import web
from multidict import CIMultiDict

from orvl.errors import ChildFailed
from orvl.gateway.failures import LONGEST_MESSAGE, CallFailure, is_about_account
from orvl.gateway.issues import is_same_model
from orvl.gateway.pace import PIECE
from orvl.gateway.probe import ASKED_WHEN_LIMITED
from orvl.gateway.redact import EventRedactor, redacted_body
from orvl.gateway.request import SMALL, passes, shortened, with_usage
from orvl.gateway.retry import LONGEST_ERROR, UpstreamCall, read_up_to
from orvl.gateway.wire import KEY_HEADERS
from orvl.gateway.wire.sse import EVENT_STARTS, EventFilter, EventSplitter

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from orvl.gateway.probe import Prober
    from orvl.gateway.record import AnswerLog

SHORT_SECONDS = 5.0
LONGEST_ANSWER = 64 << 20
PATIENCE = 60.0
"""Seconds for which an agent may leave an answer unread, in all: who reads a little each minute holds a place, too."""
NOT_PASSED_ON = {
    *("host", "transfer-encoding", "connection", "keep-alive", "te", "trailer", "upgrade", "accept-encoding"),
    *KEY_HEADERS,
}
NOT_PASSED_BACK = {
    *("content-length", "content-encoding", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade"),
    *("set-cookie", "www-authenticate", "proxy-authenticate", "alt-svc", "strict-transport-security"),
}


@dataclass(kw_only=True)
class AgentCall(UpstreamCall):
    """A request of an agent, and the response that it gets."""

    request: web.BaseRequest
    response: web.StreamResponse | None = None
    """An answer that has begun."""
    error_response: web.Response | None = None
    """What the agent gets if no answer has begun."""
    prober: Prober
    log: AnswerLog | None = None
    added_usage: bool = field(default=False, init=False)
    own_body: bytes = field(default=b"", init=False)
    unread_for: float = field(default=0.0, init=False)
    """Seconds for which the agent has kept the answer waiting."""

    async def forward(self) -> web.StreamResponse:
        """Sends the call; the agent gets the answer, or the failure."""
        self._ask_for_usage()
        await self.send()
        if self._is_in_question:
            await self._find_cause()
        response = self.response or self.error_response
        assert response is not None
        return response

    # -- whose failure it is

    def _max_tries(self, failure: CallFailure) -> int:
        # The last of the tries are orvl's own question.
        return super()._max_tries(failure) - (ASKED_WHEN_LIMITED if failure.is_rate_limit else 1)

    @property
    def _is_in_question(self) -> bool:
        """Whether the provider has failed before its answer began, or has said no in words that may be about orvl."""
        if self.agent_left or self.has_begun or self.account.aborted.is_set():
            return False
        if not is_same_model(self.account.model, self.asked.model):
            return False
        return self.failure is not None or (self.status in (400, 422) and is_about_account(self.refusal))

    async def _find_cause(self) -> None:
        """Asks the provider itself. If that fails, it is the provider's failure; else the call gets one more try."""
        failure = self.failure or CallFailure(f"{self.status} {self.refusal}", False, status=self.status)
        self.pay()
        with self.account.holding(self.open_call):
            own = await self.prober.ask(stream=self.asked.stream)
        self.tries += self.prober.tries
        if own is not None:
            self.failure = replace(failure, scope=own.scope if own.scope == "provider" else failure.scope)
        elif self.failure is not None and await self._reserve_again():
            self.tries += 1
            last = await self._try()
            self.failure = replace(last, by_request=not self.has_begun) if last else None

    def _failed(self, failure: CallFailure) -> CallFailure:
        # An answer that has begun is broken off for the agent, too: a clean end would look like a complete answer.
        if self.response is None:
            body = self.format.error(502, f"The provider failed: {failure.message}", "api_error")
            self.error_response = web.json_response(body, status=502)
        elif self.request.transport is not None:
            self.request.transport.abort()
        return failure

    def _headers(self) -> CIMultiDict[str]:
        """The agent's own headers, without those about its connection and its key, with the real key."""
        own = self.request.headers
        dropped = {*NOT_PASSED_ON, *(name.strip().lower() for name in own.get("Connection", "").split(","))}
        passed = ((name, value) for name, value in own.items() if name.lower() not in dropped and passes(name))
        headers = CIMultiDict((name, value) for name, value in passed if value.isprintable())
        # What was read as JSON must be read as JSON, in the same coding.
        headers.update({"Accept-Encoding": "identity", "Content-Type": "application/json"})
        headers.update(self._key_headers())
        return headers

    def _ask_for_usage(self) -> None:
        """Some formats report the usage of a stream only if asked; metering needs it, so it is asked for."""
        changed = with_usage(self.body, self.asked, self.format.usage_option) if self.format.usage_option else None
        if changed is not None:
            self.own_body, self.body, self.added_usage = self.body, changed, True

    async def _ask_without_usage(self) -> CallFailure | None:
        """As the agent wrote it; what the answer takes is then counted by its bound."""
        self.body, self.added_usage = self.own_body, False
        return await self._exchange()

    # -- answers

    async def _read_error(self, upstream: aiohttp.ClientResponse) -> CallFailure | None:
        body = await read_up_to(upstream.content, LONGEST_ERROR) or b""
        body = await redacted_body(body, self.key, self.account.worker) or b""
        if upstream.status == 400 and self.added_usage and (self.format.usage_option or "").encode() in body:
            return await self._ask_without_usage()
        self.log = self._new_log(upstream.headers)
        self.log.add(body)
        headers = self._passed_back(upstream.headers)
        self.error_response = web.Response(status=upstream.status, body=body, headers=headers)
        return self._failure_of(upstream.status, body, upstream.headers)

    async def _read_answer(self, upstream: aiohttp.ClientResponse) -> CallFailure | None:
        self.response = web.StreamResponse(status=upstream.status, headers=self._passed_back(upstream.headers))
        self.has_begun = True
        await self._to_agent(self.response.prepare(self.request))
        self.log = self._new_log(upstream.headers)
        is_stream = await self._pass_through(upstream, self.response, self.log)
        self.was_read = True
        if is_stream and not self.answer.complete and not self.answer.error:
            return self._failed(CallFailure("the answer was cut off: the stream ended before it did", True))
        await self._to_agent(self.response.write_eof())
        if self.answer.is_missing:
            kind = self._kind(upstream.headers)[:80] or "nothing"
            return CallFailure(f"{upstream.status} it sent {kind}, and no answer", retry_call=True)
        return CallFailure(self.answer.error[:LONGEST_MESSAGE], retry_call=True) if self.answer.error else None

    async def _pass_through(
        self, upstream: aiohttp.ClientResponse, response: web.StreamResponse, log: AnswerLog
    ) -> bool:
        """Every piece goes on to the agent at once, and is read afterwards. Says whether they were events."""
        read: deque[tuple[str, str]] = deque()
        events, whole = EventSplitter(lambda name, data: read.append((name, data))), bytearray()
        redactor = EventRedactor(self.key)
        is_stream = "event-stream" in upstream.headers.get("Content-Type", "")
        without_usage = EventFilter(self.format.is_usage_event) if self.added_usage else None
        try:
            async for chunk in upstream.content.iter_any():
                self.open_call.last_heard = time.monotonic()
                # Some hosts send events under another content type.
                is_stream = is_stream or (self.asked.stream and not whole and chunk.lstrip().startswith(EVENT_STARTS))
                if not is_stream:
                    self._take_part(chunk, whole)
                    continue
                for start in range(0, len(chunk), PIECE):
                    with self.account.reading.spending():
                        piece = redactor.feed(self.redactor.feed(chunk[start : start + PIECE]))
                        passed = without_usage.feed(piece) if without_usage else piece
                    await self._pass(piece, passed, response, log, events.feed)
                    await self._read_events(read)
                    await self.account.reading.rest()
            if is_stream:
                rest = redactor.feed(self.redactor.end()) + redactor.end()
                passed = without_usage.feed(rest) + without_usage.end() if without_usage else rest
                await self._pass(rest, passed, response, log, events.feed)
            else:
                await self._pass_whole(whole, response, log)
        finally:
            # What an agent did not wait for was generated, and is paid: it is read even if the agent has left.
            events.close()
            await self._read_events(read)
            if not is_stream:
                self.reader.feed_body(await self._short(bytes(whole)))
        return is_stream

    def _take_part(self, piece: bytes, whole: bytearray) -> None:
        whole += piece
        if len(whole) > LONGEST_ANSWER:
            raise aiohttp.ClientPayloadError

    async def _pass_whole(self, whole: bytearray, response: web.StreamResponse, log: AnswerLog) -> None:
        """An answer in one piece is passed on when all of it is there: only then is it known to be without the key."""
        body = await redacted_body(bytes(whole), self.key, self.account.worker)
        if body is None:
            raise aiohttp.ClientPayloadError
        whole[:] = body
        log.add(body)
        await self._to_agent(response.write(body))

    async def _read_events(self, events: deque[tuple[str, str]]) -> None:
        while events:
            name, data = events.popleft()
            self._event(name, data if len(data) <= SMALL else (await self._short(data.encode())).decode())

    async def _short(self, data: bytes) -> bytes:
        """A part of an answer that is small enough to be read here; a large one mostly repeats the request."""
        if len(data) <= SMALL:
            return data
        try:
            short = await self.account.worker.call(f"{shortened.__module__}:shortened", data, seconds=SHORT_SECONDS)
        except ChildFailed:
            return b""
        return str(short).encode()

    async def _to_agent(self, writing: Coroutine[Any, Any, Any]) -> None:
        """Writes to the agent, if it is still there; the answer is read to its end either way."""
        if self.agent_left:
            writing.close()
            return
        began = time.monotonic()
        try:
            async with asyncio.timeout(PATIENCE - self.unread_for):
                await writing
            self.unread_for += time.monotonic() - began
        except (ConnectionError, RuntimeError, TimeoutError, aiohttp.ClientConnectionError):
            # One that reads nothing for so long would keep others from the provider.
            if self.request.transport is not None:
                self.request.transport.abort()
            self.leave()

    async def _pass(
        self, piece: bytes, passed: bytes, response: web.StreamResponse, log: AnswerLog, read: Callable[[bytes], None]
    ) -> None:
        if passed:
            await self._to_agent(response.write(passed))
        log.add(piece)
        read(piece)

    def _event(self, name: str, data: str) -> None:
        self.reader.feed_event(name, data)
        if self.first_token is None and self.answer.began:
            self.first_token = time.monotonic() - self.began

    def _new_log(self, headers: Mapping[str, str]) -> AnswerLog:
        return self.account.record.answer_log(self.number, self._kind(headers))

    def _kind(self, headers: Mapping[str, str]) -> str:
        """The type of an answer, as it is kept and told; a host can write anything there."""
        return self.redactor.text(headers.get("Content-Type", ""))

    def _passed_back(self, headers: Mapping[str, str]) -> CIMultiDict[str]:
        kept = [(name, value) for name, value in headers.items() if name.lower() not in NOT_PASSED_BACK]
        redact = self.redactor.text
        return CIMultiDict((name, redact(value)) for name, value in kept if name == redact(name))

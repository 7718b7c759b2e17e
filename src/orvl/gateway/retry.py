"""One call of a model: held back while limits require it, sent, and retried where that may help."""

from __future__ import annotations

import asyncio
import io
import os
import random
import time
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import cache
from types import SimpleNamespace
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

import aiohttp

from orvl.errors import CallRefused, WaitTooLong
from orvl.gateway.failures import LONGEST_MESSAGE, CallFailure, error_message, failure_of
from orvl.gateway.metering import ChargedTry, charge_of, charged_try
from orvl.gateway.redact import Redactor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yarl import URL

    from orvl.gateway.account import Account
    from orvl.gateway.clock import OpenCall
    from orvl.gateway.limits import ModelLimiter, ProviderLimiter
    from orvl.gateway.wire.format import ModelAnswer, ModelRequest, Route, WireFormat

TRIES = 4
TRIES_WHEN_LIMITED = 8
BACK_OFF = 0.5
LONGEST_WAIT = 180.0
LONGEST_ERROR = 1 << 20
AT_ONCE = 1.0
CODINGS = ("identity", "", "gzip", "deflate", "br", "zstd")
"""What the client takes off by itself; one that it cannot take off is an error of its own."""
SMALL = 1 << 19


@dataclass
class UpstreamCall:
    """A call on its way to the provider, and what is measured of it, whether an agent or a judge makes it."""

    account: Account
    limiter: ProviderLimiter
    client: aiohttp.ClientSession
    key: str | None
    route: Route
    url: URL
    body: bytes
    asked: ModelRequest
    number: int
    open_call: OpenCall
    tries: int = 0
    waited: float = 0.0
    began: float = 0.0
    first_token: float | None = None
    status: int | None = None
    failure: CallFailure | None = None
    has_begun: bool = False
    """Whether the caller has seen a part of the answer, so that a retry would repeat it."""
    agent_left: bool = False
    left_early: bool = False
    """Whether it left before the answer was over."""
    left_held: bool = False
    """Whether orvl held the call back when it left."""
    silence: float = 0.0
    """Seconds for which the provider had sent nothing when it left."""
    turn: int = 1
    is_sent: bool = False
    """Whether the present try is with the provider, which may charge for it."""
    was_read: bool = False
    """Whether the answer of the present try was read to its end."""
    task: asyncio.Task[object] | None = None
    """What carries it out, if that goes on without the agent."""
    charged_tries: list[ChargedTry] = field(default_factory=list)
    reservation: float = 0.0
    """The most that one try can cost."""
    is_reserved: bool = True
    """Whether that is reserved for the present try."""
    paid: float = 0.0
    """What was paid for the tries so far."""
    ended: float = 0.0
    started: float = field(default_factory=time.time)
    refusal: str = ""
    """The provider's words, where it answered with an error."""

    def __post_init__(self) -> None:
        self.reader = self.format.reader()
        self.redactor = Redactor(self.key)
        self.turn = self.account.turn

    @property
    def format(self) -> WireFormat:
        return self.route.format

    @property
    def answer(self) -> ModelAnswer:
        return self.reader.answer

    @property
    def is_answered(self) -> bool:
        """Whether the last try got a status of success."""
        return self.status is not None and 200 <= self.status < 300

    @property
    def may_be_charged(self) -> bool:
        """Whether the present try went out, and got no answer without success, which would cost nothing."""
        return self.is_sent and (self.status is None or self.is_answered)

    @property
    def seconds(self) -> float:
        """From the last try's start to the answer's end, or until the agent left."""
        return (self.ended or time.monotonic()) - self.began if self.began else 0.0

    @property
    def met(self) -> CallFailure | None:
        """What the provider said to an earlier try of this call, or to another call of the same contestant."""
        if self.failure is None and self.limiter.model(self.asked.model, self.account.contestant).is_limited:
            return CallFailure("429 it limits how often it is asked", retry_call=True)
        return self.failure

    def leave(self) -> None:
        """The agent has gone. What is with the provider is still read for a while, to know what it took."""
        if self.agent_left:
            return
        self.agent_left = True
        self.left_early = not self.answer.complete
        self.left_held = self.open_call.is_held
        self.ended = time.monotonic()
        self.silence = self.ended - self.open_call.last_heard
        self.account.abandon(self)

    async def send(self) -> None:
        """Tries until an answer is through, or until a retry does not help; `failure` says why."""
        while True:
            self.tries += 1
            self.failure = await self._try()
            wait = self._wait_after(self.failure) if self.failure else None
            if wait is None or self.account.aborted.is_set() or self.agent_left:
                return
            with self.account.holding(self.open_call):
                await self._pause(wait)
            if not await self._reserve_again():
                return

    def pay(self) -> None:
        """Settles what the tries so far cost, or may have cost, instead of the reservation."""
        cost = charge_of(self).cost or 0.0
        self.account.pay(self.reservation if self.is_reserved else 0.0, cost - self.paid)
        self.is_reserved, self.paid = False, cost

    async def _reserve_again(self) -> bool:
        """Reserves the next try, where the last one may be charged; False if the budget has no room for it."""
        if self.is_reserved and not self.charged_tries:
            return True
        self.pay()
        try:
            with self.account.holding(self.open_call):
                await self.account.reserve(self.reservation)
        except CallRefused:
            return False
        self.is_reserved = True
        return True

    def _wait_after(self, failure: CallFailure) -> float | None:
        """Seconds until the next try; None if there is none."""
        if not failure.retry_call or self.tries >= self._max_tries(failure) or self.has_begun:
            return None
        if failure.is_rate_limit:
            # The model's limiter makes all its calls wait; waiting here as well would count the pause twice.
            pause = self.limiter.model(self.asked.model, self.account.contestant).wait()
            return None if self.waited + pause > LONGEST_WAIT else 0.0
        wait = max(failure.retry_after or 0.0, BACK_OFF * 2 ** (self.tries - 1))
        # Jitter keeps calls that failed together from coming back together.
        return None if self.waited + wait > LONGEST_WAIT else wait * random.uniform(1, 1.2)

    def _max_tries(self, failure: CallFailure) -> int:
        return TRIES_WHEN_LIMITED if failure.is_rate_limit else TRIES

    async def _pause(self, seconds: float) -> None:
        began = time.monotonic()
        try:
            await asyncio.wait_for(self.account.aborted.wait(), seconds)
        except TimeoutError:
            pass
        self.waited += time.monotonic() - began

    async def _try(self) -> CallFailure | None:
        arrived = time.monotonic()
        slot = self.limiter.slot(self.asked.model, self.account.contestant, self.account)
        try:
            # Only the wait for the slot counts as held back, not the call itself, so no `async with`.
            with self.account.holding(self.open_call):
                limiter = await slot.__aenter__()
        except WaitTooLong as error:
            message = f"429 it asks for a pause of {error.seconds:.0f} s"
            return self._failed(CallFailure(message, retry_call=False, retry_run=True))
        try:
            self.began = time.monotonic()
            self.waited += self.began - arrived
            failure = await self._post()
            _learn(limiter, failure)
            return failure
        finally:
            await slot.__aexit__(None, None, None)

    async def _post(self) -> CallFailure | None:
        """One try; what it may have taken is noted however it ends."""
        self.status, self.was_read, self.is_sent = None, False, False
        try:
            return await self._exchange()
        finally:
            if self.may_be_charged:
                self.charged_tries.append(charged_try(self))
            self.is_sent = False

    async def _exchange(self) -> CallFailure | None:
        silence = self.account.provider.timeout
        timeouts = aiohttp.ClientTimeout(total=None, sock_connect=min(30.0, silence), sock_read=silence)
        try:
            async with self.client.post(
                self.url,
                data=self.body if len(self.body) < SMALL else io.BytesIO(self.body),
                headers=self._headers(),
                skip_auto_headers=("User-Agent", "Accept", "Content-Type"),
                proxy=proxy_for(self.url),
                allow_redirects=False,
                timeout=timeouts,
                trace_request_ctx=self,
            ) as upstream:
                self.status = upstream.status
                self.open_call.last_heard = time.monotonic()
                if (coding := upstream.headers.get("Content-Encoding", "identity").strip().lower()) not in CODINGS:
                    # Nobody could look into it for the key, or count its tokens.
                    sentence = f"it sent an answer that was coded as {self.redactor.text(coding)[:80]}"
                    return self._failed(CallFailure(sentence, retry_call=False, retry_run=True))
                return await (self._read_answer(upstream) if self.is_answered else self._read_error(upstream))
        except aiohttp.ServerTimeoutError:
            return self._failed(CallFailure(f"it said nothing for {silence:g} s", retry_call=False, retry_run=True))
        except (aiohttp.ClientError, OSError) as error:
            if self.is_answered:
                return self._failed(CallFailure("the answer was cut off in the middle", retry_call=True))
            # Whoever hangs up at once, without a word, has not charged for one.
            self.is_sent = self.is_sent and self.seconds > AT_ONCE
            reason = self.redactor.text(_sentence(error))[:LONGEST_MESSAGE]
            return self._failed(CallFailure(f"it cannot be reached: {reason}", retry_call=True))

    def _failure_of(self, status: int, body: bytes, headers: Mapping[str, str]) -> CallFailure | None:
        """What an error answer means, without the key."""
        self.refusal = self.redactor.text(error_message(body))
        failure = failure_of(status, body, headers)
        return failure and replace(failure, message=self.redactor.text(failure.message))

    def _key_headers(self) -> dict[str, str]:
        is_vendor = self.account.provider.name == self.route.protocol
        return self.format.with_key(self.key, is_vendor=is_vendor) if self.key else {}

    @abstractmethod
    def _headers(self) -> Mapping[str, str]: ...

    @abstractmethod
    async def _read_answer(self, upstream: aiohttp.ClientResponse) -> CallFailure | None: ...

    @abstractmethod
    async def _read_error(self, upstream: aiohttp.ClientResponse) -> CallFailure | None:
        """Reads an answer whose status is not one of success."""

    def _failed(self, failure: CallFailure) -> CallFailure:
        """The provider went away, or was not reached."""
        return failure


def tracing() -> aiohttp.TraceConfig:
    """For a client's session: tells calls when they are with the provider. Until then nobody can charge for them."""

    async def sent(_: aiohttp.ClientSession, context: SimpleNamespace, __: object) -> None:
        if isinstance(context.trace_request_ctx, UpstreamCall):
            context.trace_request_ctx.is_sent = True

    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(sent)
    return trace


def _learn(limiter: ModelLimiter, failure: CallFailure | None) -> None:
    if failure is None:
        limiter.answered()
    elif failure.is_rate_limit:
        limiter.rate_limited(failure.retry_after)


def _sentence(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        reason = os.strerror(error.os_error.errno) if error.os_error.errno else str(error.os_error)
        return f"{error.host}:{error.port}: {reason}"
    return " ".join(str(error).split()) or type(error).__name__


def proxy_for(url: URL) -> str | None:
    """The proxy that the user's environment names for an address, if any; never for this machine."""
    proxies = _proxies()
    proxy = proxies.get(url.scheme) or proxies.get("all")
    if not proxy or not url.host or url.host in ("127.0.0.1", "localhost", "::1"):
        return None
    return None if proxy_bypass(url.host) else proxy


@cache
def _proxies() -> dict[str, str]:
    return getproxies()


async def read_up_to(content: aiohttp.StreamReader, size: int) -> bytes | None:
    """All of a body; None if it is longer."""
    body = bytearray()
    async for chunk in content.iter_any():
        body += chunk
        if len(body) > size:
            return None
    return bytes(body)

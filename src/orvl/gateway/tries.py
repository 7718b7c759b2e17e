"""One call of a model: held back where it must be, sent, and tried again where that helps."""

from __future__ import annotations

import asyncio
import io
import os
import random
import time
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import aiohttp

from orvl.errors import WaitTooLong
from orvl.gateway.faults import LONGEST_WORDS, Trouble, said_in, trouble_of
from orvl.gateway.filters import Redactor
from orvl.gateway.upstream import proxy_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from yarl import URL

    from orvl.gateway.account import Account, Open
    from orvl.gateway.pace import Lane, Pace
    from orvl.gateway.wire.format import ModelAnswer, ModelRequest, Route, WireFormat

TRIES = 4
TRIES_WHEN_LIMITED = 8
BACK_OFF = 0.5
LONGEST_WAIT = 180.0
LONGEST_ERROR = 1 << 20
SMALL = 1 << 19


@dataclass
class Tries:
    """A call on its way, and what is noted of it, whoever asks."""

    account: Account
    lane: Lane
    client: aiohttp.ClientSession
    key: str | None
    route: Route
    url: URL
    body: bytes
    asked: ModelRequest
    number: int
    open: Open
    tries: int = 0
    waited: float = 0.0
    began: float = 0.0
    first_token: float | None = None
    status: int | None = None
    trouble: Trouble | None = None
    has_begun: bool = False
    """Whether somebody has seen a part of the answer, so that another try would say it twice."""
    agent_left: bool = False
    started: float = field(default_factory=time.time)
    said: str = ""
    """The provider's words, where it answered with an error."""

    def __post_init__(self) -> None:
        self.reader = self.format.reader()
        self.redact = Redactor(self.key)

    @property
    def format(self) -> WireFormat:
        return self.route.format

    @property
    def answer(self) -> ModelAnswer:
        return self.reader.answer

    def _key_headers(self, key: str) -> dict[str, str]:
        return self.format.with_key(key, is_vendor=self.account.provider.name == self.route.protocol)

    async def carry(self) -> None:
        """Tries until an answer is through, or until trying again does not help; `trouble` says why."""
        while True:
            self.tries += 1
            self.trouble = await self._try()
            wait = self._wait_for(self.trouble) if self.trouble else None
            if wait is None or self.account.doomed.is_set():
                return
            with self.account.holding(self.open):
                await self._pause(wait)

    def _wait_for(self, trouble: Trouble) -> float | None:
        """Seconds until the next try; None where there is none."""
        most = TRIES_WHEN_LIMITED if trouble.is_rate_limit else TRIES
        if not trouble.helps or self.tries >= most or self.has_begun:
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

    async def _try(self) -> Trouble | None:
        arrived = time.monotonic()
        slot = self.lane.slot(self.asked.model)
        try:
            with self.account.holding(self.open):
                pace = await slot.__aenter__()
        except WaitTooLong as error:
            return self._broken(Trouble(f"429 it wants {error.seconds:.0f} s of rest", helps=False, again=True))
        try:
            self.began = time.monotonic()
            self.waited += self.began - arrived
            trouble = await self._send()
            _learn(pace, trouble)
            return trouble
        finally:
            await slot.__aexit__(None, None, None)

    async def _send(self) -> Trouble | None:
        self.status = None
        silence = self.account.provider.timeout
        limits = aiohttp.ClientTimeout(total=None, sock_connect=min(30.0, silence), sock_read=silence)
        try:
            async with self.client.post(
                self.url,
                data=self.body if len(self.body) < SMALL else io.BytesIO(self.body),
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
                return await self._take(upstream)
        except aiohttp.ServerTimeoutError:
            return self._broken(Trouble(f"it said nothing for {silence:g} s", helps=False, again=True))
        except (aiohttp.ClientError, OSError) as error:
            if self.status is not None and 200 <= self.status < 300:
                return self._broken(Trouble("the answer was cut off in the middle", helps=True))
            why = self.redact.text(_sentence(error))
            return self._broken(Trouble(f"it cannot be reached: {why}", helps=True))

    def _trouble_of(self, status: int, body: bytes, headers: Mapping[str, str]) -> Trouble | None:
        """What an error means, without the key."""
        self.said = self.redact.text(said_in(body))
        trouble = trouble_of(status, body, headers)
        return trouble and replace(trouble, words=self.redact.text(trouble.words))

    @abstractmethod
    def _headers(self) -> Mapping[str, str]: ...

    @abstractmethod
    async def _take(self, upstream: aiohttp.ClientResponse) -> Trouble | None:
        """Reads an answer."""

    @abstractmethod
    async def _error(self, upstream: aiohttp.ClientResponse) -> Trouble | None:
        """Reads an answer whose status is not one of success."""

    def _broken(self, trouble: Trouble) -> Trouble:
        """The provider went away."""
        return trouble


def _learn(pace: Pace, trouble: Trouble | None) -> None:
    if trouble is None:
        pace.answered()
    elif trouble.is_rate_limit:
        pace.refused(trouble.after)


def _sentence(error: Exception) -> str:
    if isinstance(error, aiohttp.ClientConnectorError):
        why = os.strerror(error.os_error.errno) if error.os_error.errno else str(error.os_error)
        return f"{error.host}:{error.port}: {why}"
    return " ".join(str(error).split())[:LONGEST_WORDS] or type(error).__name__

"""The one door to models: keys, metering, limits, recording."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.gateway.account import Account, Crowd
from orvl.gateway.pace import Lane, Purse
from orvl.gateway.record import Record
from orvl.gateway.wire import FORMATS
from orvl.project.providers import key_of
from orvl.project.settings import Limits
from orvl.types import AgentEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    import aiohttp

    from orvl.gateway.faults import Trouble
    from orvl.gateway.question import Question
    from orvl.project.providers import Provider
    from orvl.sandbox import Doors

PORT = 4874
FAILED_RUNS_IN_A_ROW = 4
NO_LIMITS, NO_RECORD = Limits(), Record(Path())


class Gateway:
    """All that one call of orvl asks of models goes through here."""

    def __init__(self, keys: Mapping[str, str], budget: float | None = None) -> None:
        self.purse = Purse(budget)
        self.stopped: dict[tuple[str, str | None], str] = {}
        """Providers, or models of theirs, of which nothing more is asked, each with a sentence."""
        self._keys = keys
        self._lanes: dict[str, Lane] = {}
        self._failed: dict[tuple[str, str], int] = {}
        self._crowd = Crowd()
        self._client: aiohttp.ClientSession | None = None

    def account(self, provider: Provider, protocol: str, model: str, limits: Limits, folder: Path) -> Account:
        """Opens the account of one run; what passes is written into a folder."""
        return Account(provider, protocol, model, limits, Record(folder), self.purse)

    @asynccontextmanager
    async def door(self, account: Account, *, has_walls: bool) -> AsyncIterator[tuple[Doors, AgentEndpoint]]:
        """Where a run reaches the gateway: a port inside its walls, or one on this machine's loopback."""
        from orvl.gateway.proxy import Proxy

        proxy = Proxy(account, self._lane(account.provider), self._session(), key_of(account.provider, self._keys))
        if has_walls:
            endpoint = _endpoint(PORT, account)
            yield ({PORT: proxy.serve}, environment(endpoint)), endpoint
            return
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
            listening.setblocking(False)
            endpoint = _endpoint(listening.getsockname()[1], account)
            serving = asyncio.ensure_future(proxy.serve(listening))
            try:
                yield ({}, environment(endpoint)), endpoint
            finally:
                serving.cancel()
                with suppress(asyncio.CancelledError):
                    await serving

    def own_account(self, provider: Provider, protocol: str, model: str) -> Account:
        """Opens an account for questions of orvl's own; what passes is not written anywhere."""
        return Account(provider, protocol, model, NO_LIMITS, NO_RECORD, self.purse, key="", crowd=self._crowd)

    async def ask(self, account: Account, content: dict[str, Any], begin: Callable[[], None]) -> Question:
        """Puts a question of orvl's own, counted like an agent's call; `begin` is called whenever it is sent."""
        from orvl.gateway.question import put

        provider = account.provider
        lane, key = self._lane(provider), key_of(provider, self._keys)
        return await put(account, lane, self._session(), key, content, begin)

    def lend(self, name: str, key: str) -> None:
        """Adds a key that no environment variable holds."""
        self._keys = {**self._keys, name: key}

    def why_not(self, provider: str, model: str) -> str | None:
        """Why nothing more is asked of a model at a provider, if so."""
        return self.stopped.get((provider, None)) or self.stopped.get((provider, model))

    def ended(self, account: Account, trouble: Trouble | None) -> str | None:
        """A run is over. A failure that all others would meet too stops them; says so the first time."""
        name, model = account.provider.name, account.model
        if trouble is None:
            self._failed[name, model] = 0
            return None
        failed = self._failed[name, model] = self._failed.get((name, model), 0) + 1
        if trouble.scope == "call" and failed < FAILED_RUNS_IN_A_ROW:
            return None
        place = (name, None if trouble.scope == "provider" else model)
        if place in self.stopped:
            return None
        whom = name if trouble.scope == "provider" else f"{model} at {name}"
        self.stopped[place] = sentence = f"Nothing more is asked of {whom}: {trouble.words}."
        return sentence

    def _lane(self, provider: Provider) -> Lane:
        if provider.name not in self._lanes:
            self._lanes[provider.name] = Lane(provider.concurrency, provider.per_minute)
        return self._lanes[provider.name]

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            import aiohttp

            logging.getLogger("aiohttp").addHandler(logging.NullHandler())
            connector = aiohttp.TCPConnector(limit=0, limit_per_host=0)
            self._client = aiohttp.ClientSession(
                connector=connector, cookie_jar=aiohttp.DummyCookieJar(), max_field_size=65536
            )
        return self._client

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()
            self._client = None


def _endpoint(port: int, account: Account) -> AgentEndpoint:
    root = FORMATS[account.protocol].root
    return AgentEndpoint(f"http://127.0.0.1:{port}{root}", account.key, account.protocol)


def environment(endpoint: AgentEndpoint) -> dict[str, str]:
    """The variables that lead programs to the gateway without being told."""
    plain = endpoint.url.removesuffix(FORMATS[endpoint.protocol].root)
    variables: dict[str, str] = {}
    for format in FORMATS.values():
        variables |= format.environment(plain, endpoint.key)
    return variables

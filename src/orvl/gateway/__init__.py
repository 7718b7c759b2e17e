"""The one door to models: keys, metering, limits, recording."""

from __future__ import annotations

import asyncio
import logging
import socket
from contextlib import asynccontextmanager, suppress
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.gateway.account import Account
from orvl.gateway.breaker import Breaker
from orvl.gateway.limits import Budget, ProviderLimiter
from orvl.gateway.record import Record
from orvl.gateway.redact import Redactor
from orvl.gateway.wire import FORMATS
from orvl.project.providers import key_of
from orvl.project.settings import Limits
from orvl.types import AgentEndpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    import aiohttp

    from orvl.gateway.failures import CallFailure
    from orvl.gateway.judge_call import JudgeCall
    from orvl.gateway.proxy import Proxy
    from orvl.project.providers import Provider
    from orvl.sandbox import PortForwards

PORT = 4874
NO_LIMITS, NO_RECORD = Limits(), Record(Path())


class Gateway:
    """The way to models for all runs and judges of one command."""

    def __init__(self, keys: Mapping[str, str], budget: float | None = None, *, allow_unpriced: bool = False) -> None:
        self.budget = Budget(budget, allow_unpriced=allow_unpriced)
        self.breaker = Breaker()
        self._keys = keys
        self._limiters: dict[str, ProviderLimiter] = {}
        self._client: aiohttp.ClientSession | None = None

    def account(
        self, provider: Provider, protocol: str, model: str, limits: Limits, folder: Path, contestant: str = ""
    ) -> Account:
        """Opens the account of one run; its calls are recorded in a folder."""
        return Account(provider, protocol, model, limits, Record(folder), self.budget, contestant)

    @asynccontextmanager
    async def door(self, account: Account, *, has_walls: bool) -> AsyncIterator[tuple[PortForwards, AgentEndpoint]]:
        """Where a run reaches the gateway: a port inside its sandbox, or one on this machine's loopback."""
        from orvl.gateway.proxy import Proxy

        key = key_of(account.provider, self._keys)
        proxy = Proxy(account, self._limiter(account.provider), self._session(), key)
        try:
            async with self._reached(account, proxy, has_walls=has_walls) as reached:
                yield reached
        finally:
            await account.settle(drain=False)
            account.worker.close()

    @asynccontextmanager
    async def _reached(
        self, account: Account, proxy: Proxy, *, has_walls: bool
    ) -> AsyncIterator[tuple[PortForwards, AgentEndpoint]]:
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

    def redactor(self, account: Account) -> Callable[[str], str]:
        """Takes a run's own key and its provider's out of a text."""
        secrets = [Redactor(secret) for secret in (account.key, key_of(account.provider, self._keys)) if secret]
        return lambda text: reduce(lambda left, one: one.text(left), secrets, text)

    def judge_account(self, provider: Provider, protocol: str, model: str, contestant: str = "") -> Account:
        """Opens an account for questions of orvl's own about a contestant's run, which are not recorded."""
        return Account(provider, protocol, model, NO_LIMITS, NO_RECORD, self.budget, contestant, key="")

    async def ask(self, account: Account, content: dict[str, Any], begin: Callable[[], None]) -> JudgeCall:
        """Asks a question of orvl's own, metered like an agent's call; `begin` is called before each try."""
        from orvl.gateway.judge_call import ask

        provider = account.provider
        limiter, key = self._limiter(provider), key_of(provider, self._keys)
        return await ask(account, limiter, self._session(), key, content, begin)

    def add_key(self, name: str, key: str) -> None:
        """Adds a key that no environment variable holds."""
        self._keys = {**self._keys, name: key}

    def why_stopped(self, provider: str, model: str, contestant: str = "") -> str | None:
        """Why a contestant's runs do not ask a model at a provider any more, if so."""
        return self.breaker.why_stopped(provider, model, contestant)

    def record_outcome(self, account: Account, failure: CallFailure | None) -> str | None:
        """Notes how a run ended, or a question of a judge; a sentence, the first time that something is given up."""
        return self.breaker.note(account.provider.name, account.model, account.contestant, failure)

    def _limiter(self, provider: Provider) -> ProviderLimiter:
        if provider.name not in self._limiters:
            self._limiters[provider.name] = ProviderLimiter(provider.concurrency, provider.per_minute)
        return self._limiters[provider.name]

    def _session(self) -> aiohttp.ClientSession:
        if self._client is None:
            import aiohttp

            from orvl.gateway.retry import tracing

            logging.getLogger("aiohttp").addHandler(logging.NullHandler())
            connector = aiohttp.TCPConnector(limit=0, limit_per_host=0)
            self._client = aiohttp.ClientSession(
                connector=connector,
                cookie_jar=aiohttp.DummyCookieJar(),
                max_field_size=65536,
                trace_configs=[tracing()],
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
    """The variables that lead programs to the gateway without a setting of their own."""
    plain = endpoint.url.removesuffix(FORMATS[endpoint.protocol].root)
    variables: dict[str, str] = {}
    for format in FORMATS.values():
        variables |= format.environment(plain, endpoint.key)
    return variables

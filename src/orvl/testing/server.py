"""The scripted model server: a real HTTP server on loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from orvl.gateway.wire import FORMATS
from orvl.testing.loopback import LoopbackServer
from orvl.testing.script import Given, Script, ScriptReader, Tokens

if TYPE_CHECKING:
    from orvl.testing.request import Request


class ModelServer(LoopbackServer):
    """A model that follows a script, in the protocols of coding agents.

    `usage` says when tokens are reported: if a stream asks for it, "always" or "never". With `shred`, everything is
    sent in writes of so many bytes, so that no piece arrives whole.
    """

    noun = "model server"

    def __init__(
        self,
        script: Script = (),
        *,
        key: str | None = None,
        port: int = 0,
        models: Sequence[str] = ("scripted",),
        usage: Literal["asked", "always", "never"] = "asked",
        shred: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        if usage not in ("asked", "always", "never"):
            raise ValueError(f'usage must be "asked", "always" or "never", not {usage!r}.')
        super().__init__(port)
        self.key, self.models = key, tuple(models)
        self.usage, self.shred, self.headers = usage, shred, dict(headers or {})
        self.script = ScriptReader(script)
        self.requests: list[Request] = []
        self.record: list[Given] = []
        self.open = 0
        self.others: list[str] = []
        self.mistakes: list[Exception] = []

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        super().__exit__(kind, error, trace)
        if self.mistakes and error is None:
            raise self.mistakes[0]

    def base_url(self, protocol: str) -> str:
        """The base URL for a client of this protocol."""
        if protocol not in FORMATS:
            raise ValueError(f"Unknown protocol {protocol!r}; known are {', '.join(FORMATS)}.")
        return self.url + FORMATS[protocol].root

    @property
    def given(self) -> list[Given]:
        """What each request got so far, in the order of arrival."""
        if self._thread and self._loop and self._thread is not threading.current_thread():
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result()
        return list(self.record)

    @property
    def tokens(self) -> Tokens:
        """The sum of the usage that complete answers reported."""
        reported = (given.tokens for given in self.given if given.complete and given.tokens)
        return sum(reported, Tokens(input=0, output=0))

    @property
    def most_at_once(self) -> int:
        """How many requests were ever open at the same time."""
        return max((request.at_once for request in list(self.requests)), default=0)

    @asynccontextmanager
    async def serving(self, listener: socket.socket) -> AsyncIterator[None]:
        from orvl.testing.handlers import runner_of

        runner = await runner_of(self, listener)
        yield
        await runner.cleanup()

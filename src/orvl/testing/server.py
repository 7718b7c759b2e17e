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
from orvl.testing.script import Given, Prompter, Script, Tokens

if TYPE_CHECKING:
    from orvl.testing.request import Request


class ModelServer(LoopbackServer):
    """A model that says what its script says, in the four protocols that coding agents speak.

    `usage` is when the tokens are told: when a stream asks for it, "always" or "never". `shred` cuts everything that is
    sent into so many bytes a write, so that no piece arrives as a whole.
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
            raise ValueError(f'usage is "asked", "always" or "never", and is {usage!r}')
        super().__init__(port)
        self.key, self.models = key, tuple(models)
        self.usage, self.shred, self.headers = usage, shred, dict(headers or {})
        self.prompter = Prompter(script)
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
        """What a client of this protocol wants as its base URL."""
        if protocol not in FORMATS:
            raise ValueError(f"Unknown protocol {protocol!r}; known are {', '.join(FORMATS)}.")
        return self.url + FORMATS[protocol].root

    @property
    def given(self) -> list[Given]:
        """What every request was given so far, in the order in which they arrived."""
        if self._thread and self._loop and self._thread is not threading.current_thread():
            asyncio.run_coroutine_threadsafe(asyncio.sleep(0), self._loop).result()
        return list(self.record)

    @property
    def tokens(self) -> Tokens:
        """The sum of what the answers that were sent completely are said to have used."""
        told = (one.tokens for one in self.given if one.complete and one.tokens)
        return sum(told, Tokens(input=0, output=0))

    @property
    def most_at_once(self) -> int:
        """How many requests were ever open at the same time."""
        return max((one.at_once for one in list(self.requests)), default=0)

    @asynccontextmanager
    async def serving(self, listener: socket.socket) -> AsyncIterator[None]:
        from orvl.testing.handlers import runner_of

        runner = await runner_of(self, listener)
        yield
        await runner.cleanup()

"""The scripted model server: a real HTTP server on loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Literal, Self

from orvl.testing.script import Given, Prompter, Script, Tokens

if TYPE_CHECKING:
    from orvl.testing.request import Request

ROOTS = {"openai": "/v1", "responses": "/v1", "anthropic": "", "gemini": ""}
STARTING = 30.0


class ModelServer:
    """A model that says what its script says, in the four protocols that coding agents speak.

    `usage` is when the tokens are told: when a stream asks for it, "always" or "never". `shred` cuts everything that is
    sent into so many bytes a write, so that no piece arrives as a whole.
    """

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
        self.key, self.port, self.models = key, port, tuple(models)
        self.usage, self.shred, self.headers = usage, shred, dict(headers or {})
        self.prompter = Prompter(script)
        self.requests: list[Request] = []
        self.record: list[Given] = []
        self.open = 0
        self.others: list[str] = []
        self.mistakes: list[Exception] = []
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
        if self.mistakes and error is None:
            raise self.mistakes[0]

    @property
    def url(self) -> str:
        """The address of the server; its port is known once it has started."""
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, protocol: str) -> str:
        """What a client of this protocol wants as its base URL."""
        if protocol not in ROOTS:
            raise ValueError(f"there is no protocol {protocol!r}; there are {', '.join(ROOTS)}")
        return self.url + ROOTS[protocol]

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

    def start(self) -> Self:
        """Starts to listen; once it returns, the server answers."""
        if self._thread:
            raise RuntimeError(f"the model server at {self.url} runs already")
        listener = _listener(self.port)
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listener, ready), name="orvl model server", daemon=True)
        self._thread.start()
        if not ready.wait(STARTING):
            raise RuntimeError(f"the model server at {self.url} did not start within {STARTING:g} seconds")
        return self

    def stop(self) -> None:
        """Stops to listen and cuts what is still open."""
        if self._thread and self._loop and self._ended:
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
        self._thread = None

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        asyncio.run(self._serve(listener, ready))

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        from orvl.testing.http import runner_of

        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        runner = await runner_of(self, listener)
        ready.set()
        await self._ended.wait()
        await runner.cleanup()


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise OSError(f"port {port} of 127.0.0.1 cannot be had ({error.strerror}); port=0 takes a free one") from error
    return listener

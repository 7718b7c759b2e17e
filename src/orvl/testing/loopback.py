"""A server on loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager
    from types import TracebackType

STARTING = 30.0


class LoopbackServer:
    """Listens on 127.0.0.1; subclasses answer in `serving`, for as long as it is entered."""

    noun = "server"

    def __init__(self, port: int) -> None:
        self.port = port
        """The port; 0 becomes a free one when the server starts."""
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None

    def serving(self, listener: socket.socket) -> AbstractAsyncContextManager[None]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The address of the server, once it has started."""
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> Self:
        """Starts the server, which answers once this returns."""
        if self._thread:
            raise RuntimeError(f"The {self.noun} at {self.url} is running already.")
        listener = _listener(self.port)
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listener, ready), name=f"orvl {self.noun}", daemon=True)
        self._thread.start()
        if not ready.wait(STARTING):
            raise RuntimeError(f"The {self.noun} at {self.url} did not start within {STARTING:g} s.")
        return self

    def stop(self) -> None:
        """Stops the server, and closes open connections."""
        if self._thread and self._loop and self._ended:
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
        self._thread = None

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        asyncio.run(self._serve(listener, ready))

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with self.serving(listener):
            ready.set()
            await self._ended.wait()


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise OSError(f"Cannot bind 127.0.0.1:{port} ({error.strerror}). Use port=0 for a free one.") from error
    return listener

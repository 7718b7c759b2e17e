"""The local model as a server on loopback, in a thread of its own."""

from __future__ import annotations

import asyncio
import secrets
import socket
import threading
from importlib.metadata import version
from typing import TYPE_CHECKING, Self

from orvl.errors import UserError
from orvl.local_model.weights import LIBRARY, SMOLLM2, look_for_library, weights_of

if TYPE_CHECKING:
    import os
    from types import TracebackType

    from orvl.local_model.worker import Worker

STARTING = 30.0
SMALLEST_CONTEXT = 512


class LocalModel:
    """A model that runs on this machine's processor and is asked over HTTP, with a key that is thrown away.

    `path` is a GGUF file, SmolLM2's by default. One question takes at most `deadline` seconds, the weights' loading
    included; its process is then killed, and the next question starts another.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        threads: int = 1,
        *,
        context: int = 4096,
        deadline: float = 240.0,
        port: int = 0,
    ) -> None:
        if threads < 1 or context < SMALLEST_CONTEXT or deadline <= 0:
            raise UserError(f"a local model needs a thread, a context of {SMALLEST_CONTEXT} tokens and a deadline")
        look_for_library()
        self.path = weights_of(SMOLLM2 if path is None else str(path))
        self.name = SMOLLM2 if path is None or str(path) == SMOLLM2 else self.path.stem
        self.fingerprint = f"{LIBRARY}-{version(LIBRARY)}/{self.path.stem}"
        self.threads, self.context, self.deadline, self.port = threads, context, deadline, port
        self.key = secrets.token_urlsafe(32)
        self._worker: Worker | None = None
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    @property
    def base_url(self) -> str:
        """What a client of chat completions wants as its base URL; the port is known once it has started."""
        return f"http://127.0.0.1:{self.port}/v1"

    @property
    def pid(self) -> int | None:
        """The process that runs the weights, once a question has started it."""
        return self._worker.pid if self._worker else None

    def start(self) -> Self:
        """Starts to listen; the weights are loaded by the first question."""
        if self._thread:
            raise RuntimeError(f"the local model at {self.base_url} runs already")
        listener = _listener(self.port)
        self.port = listener.getsockname()[1]
        ready = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(listener, ready), name="orvl local model", daemon=True)
        self._thread.start()
        if not ready.wait(STARTING):
            raise RuntimeError(f"the local model at {self.base_url} did not start within {STARTING:g} seconds")
        return self

    def stop(self) -> None:
        """Stops to listen and kills the process that runs the weights."""
        if self._thread and self._loop and self._ended:
            self._loop.call_soon_threadsafe(self._ended.set)
            self._thread.join()
        self._thread = self._worker = None

    def _run(self, listener: socket.socket, ready: threading.Event) -> None:
        asyncio.run(self._serve(listener, ready))

    async def _serve(self, listener: socket.socket, ready: threading.Event) -> None:
        from orvl.local_model.http import runner_of
        from orvl.local_model.worker import Worker

        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        self._worker = worker = Worker(self.path, self.threads, self.context, self.deadline)
        runner = await runner_of(self, worker, listener)
        ready.set()
        try:
            await self._ended.wait()
        finally:
            worker.close()
            await runner.cleanup()
            await worker.end()


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(("127.0.0.1", port))
    except OSError as error:
        listener.close()
        raise UserError(f"port {port} of 127.0.0.1 cannot be had ({error.strerror}); port 0 is a free one") from error
    return listener

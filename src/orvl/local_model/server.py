"""The local model as a server on loopback, in a thread of its own."""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING, Self

from orvl.errors import UserError
from orvl.local_model.weights import LIBRARY, SMOLLM2, look_for_library, weights_of
from orvl.testing.loopback import LoopbackServer

if TYPE_CHECKING:
    import os
    import socket
    from collections.abc import AsyncIterator

    from orvl.local_model.worker import Worker

SMALLEST_CONTEXT = 512


class LocalModel(LoopbackServer):
    """A model that runs on this machine's processor and is asked over HTTP, with a key that is thrown away.

    `path` is a GGUF file, SmolLM2's by default. One question takes at most `deadline` seconds, the weights' loading
    included; its process is then killed, and the next question starts another.
    """

    noun = "local model"

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
        super().__init__(port)
        look_for_library()
        self.path = weights_of(SMOLLM2 if path is None else str(path))
        self.name = SMOLLM2 if path is None or str(path) == SMOLLM2 else self.path.stem
        self.fingerprint = f"{LIBRARY}-{version(LIBRARY)}/{self.path.stem}"
        self.threads, self.context, self.deadline = threads, context, deadline
        self.key = secrets.token_urlsafe(32)
        self._worker: Worker | None = None

    @property
    def base_url(self) -> str:
        """What a client of chat completions wants as its base URL; the port is known once it has started."""
        return f"{self.url}/v1"

    @property
    def pid(self) -> int | None:
        """The process that runs the weights, once a question has started it."""
        return self._worker.pid if self._worker else None

    def start(self) -> Self:
        """Starts to listen; the weights are loaded by the first question."""
        try:
            return super().start()
        except OSError as error:
            raise UserError(str(error)) from error

    @asynccontextmanager
    async def serving(self, listener: socket.socket) -> AsyncIterator[None]:
        from orvl.local_model.http import runner_of
        from orvl.local_model.worker import Worker

        self._worker = worker = Worker(self.path, self.threads, self.context, self.deadline)
        runner = await runner_of(self, worker, listener)
        try:
            yield
        finally:
            worker.close()
            await runner.cleanup()
            await worker.end()
            self._worker = None

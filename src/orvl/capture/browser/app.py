"""An app with a command of its own runs in a sandbox apart from the browser's, which reaches its port alone."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.capture.browser.result import AppStart
from orvl.sandbox import SUBJECT
from orvl.sandbox.job import shell_job

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator

    from orvl.project.settings import Limits
    from orvl.sandbox import ProcessResult, Sandbox
    from orvl.sandbox.workdir import RunFolders

PORT = 4875
# A command that ends well may have left a server behind, which goes on for as long as this does.
START = '/bin/sh -c "$1" || exit $?; exec sleep 1000000'
KEPT = 8000
TRY_EVERY = 0.05
MOST_CONNECTIONS = 64
CHUNK = 1 << 16


@dataclass
class RunningApp:
    """An app in its sandbox; `start` says whether it listens."""

    sandbox: Sandbox
    start: AppStart
    _running: asyncio.Task[ProcessResult]

    async def serve(self, listening: socket.socket) -> None:
        """Passes connections in the browser's sandbox on to the app's port."""
        places = asyncio.Semaphore(MOST_CONNECTIONS)
        loop = asyncio.get_running_loop()
        async with asyncio.TaskGroup() as tasks:
            while True:
                await places.acquire()
                near, _ = await loop.sock_accept(listening)
                tasks.create_task(self._join(near, places))

    async def _join(self, near: socket.socket, places: asyncio.Semaphore) -> None:
        try:
            with near, suppress(OSError):
                near.setblocking(False)
                with await self.sandbox.connect(PORT) as far:
                    far.setblocking(False)
                    await asyncio.gather(_pass(near, far), _pass(far, near))
        finally:
            places.release()

    async def end(self) -> None:
        """Ends the app; `start` then has the last that it printed."""
        if not self._running.done():
            self.sandbox.end_job()
        ended = await self._running
        self.start = replace(self.start, output=_printed(ended))


async def _pass(source: socket.socket, target: socket.socket) -> None:
    loop = asyncio.get_running_loop()
    with suppress(OSError):
        while chunk := await loop.sock_recv(source, CHUNK):
            await loop.sock_sendall(target, chunk)
    with suppress(OSError):
        target.shutdown(1)


def _printed(ended: ProcessResult) -> str:
    printed = ended.stdout.read() + ended.stderr.read()
    return printed[-KEPT:].decode("utf-8", "replace")


@asynccontextmanager
async def running_app(
    command: str, folders: RunFolders, sandbox: Sandbox, limits: Limits, seconds: float, to_start: float
) -> AsyncIterator[RunningApp]:
    """Starts an app in the folders' workspace, waits until it listens, and ends it afterwards."""
    env = sandbox.view(folders).environment()
    env |= {"PORT": str(PORT), "HOST": "localhost", "BROWSER": "none", "CI": "1"}
    job = shell_job(START, env, folders.logs / "app", seconds, limits, folders)
    job = replace(job, argv=[*job.argv, "sh", command], grace=0.5, adds_only=True, user=SUBJECT)
    began = time.monotonic()
    running = asyncio.ensure_future(sandbox.run(job))
    try:
        reason = await _listens(sandbox, running, to_start)
        start = AppStart(reason is None, round(time.monotonic() - began, 3), reason=reason)
        app = RunningApp(sandbox, start, running)
        if reason is not None:
            await app.end()
        yield app
    finally:
        if not running.done():
            sandbox.end_job()
        await asyncio.wait([running])


async def _listens(sandbox: Sandbox, running: asyncio.Task[ProcessResult], seconds: float) -> str | None:
    """None when the app listens; else why it does not."""
    until = time.monotonic() + seconds
    while True:
        if running.done():
            ended = running.result()
            how = f"was ended by its limit of {ended.cut}" if ended.cut else f"ended with status {ended.status}"
            return f"its command {how} before it listened on port {PORT}"
        with suppress(OSError):
            (await sandbox.connect(PORT)).close()
            return None
        if time.monotonic() > until:
            return f"nothing listened on $PORT ({PORT}) within {seconds:.0f} s"
        await asyncio.sleep(TRY_EVERY)

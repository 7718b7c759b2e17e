"""Starts an app: its own command, or a server for its files."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from .apart import stay_apart

KEPT = 8000
AFTER_A_GOOD_END = 5.0
ADDRESSES = ("127.0.0.1", "::1")


class NoApp(Exception):
    """Why the app did not start, in one sentence."""


class App:
    """A running app; `output` is the end of what it printed."""

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = config
        self.port = 0
        self.path = config.get("path", "/")
        self._kept = bytearray()
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None

    @property
    def origin(self) -> str:
        return f"http://localhost:{self.port}"

    @property
    def output(self) -> str:
        return self._kept.decode("utf-8", "replace")

    async def start(self, seconds: float) -> None:
        if "port" in self.config:
            self.port = int(self.config["port"])  # orvl passes on to where the app is
            return
        if "files" in self.config:
            self._serve_files(Path(self.config["files"]))
            return
        self.port = _free_port()
        env = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONSAFEPATH")}
        self._process = await asyncio.create_subprocess_exec(
            *("/bin/sh", "-c", self.config["start"]),
            env=env | {"PORT": str(self.port), "HOST": "localhost", "BROWSER": "none", "CI": "1"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=stay_apart,
        )
        self._reading = asyncio.create_task(self._read())
        await self._wait(seconds)

    def _serve_files(self, page: Path) -> None:
        root = Path.cwd() / page.parent
        if not (root / page.name).is_file():
            raise NoApp(f"the run left no '{page}'")
        server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Files, directory=str(root)))
        self.port, self.path = server.server_address[1], f"/{page.name}"
        threading.Thread(target=server.serve_forever, daemon=True).start()

    async def _read(self) -> None:
        assert self._process is not None and self._process.stdout is not None
        while chunk := await self._process.stdout.read(1 << 16):
            self._kept = (self._kept + chunk)[-KEPT:]

    async def _wait(self, seconds: float) -> None:
        assert self._process is not None
        ends = time.monotonic() + seconds
        while not await asyncio.to_thread(_answers, self.port):
            status = self._process.returncode
            if status:
                await asyncio.sleep(0.2)
                raise NoApp(f"its command ended with status {status} before it listened on port {self.port}")
            if status == 0:
                ends = min(ends, time.monotonic() + AFTER_A_GOOD_END)
            if time.monotonic() > ends:
                raise NoApp(f"nothing listened on $PORT ({self.port}) within {seconds:.0f} s")
            await asyncio.sleep(0.1)

    async def end(self) -> None:
        if self._process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._process.wait(), 2)
        if self._reading is not None:
            self._reading.cancel()


class Files(SimpleHTTPRequestHandler):
    """Serves the files of a folder, but nothing that a link leads to outside of it."""

    def translate_path(self, path: str) -> str:
        found = super().translate_path(path)
        root = os.path.realpath(self.directory)
        inside = os.path.realpath(found) == root or os.path.realpath(found).startswith(root + os.sep)
        return found if inside else os.path.join(root, ".not-in-here")

    def list_directory(self, path: Any) -> None:  # noqa: ARG002
        self.send_error(404)

    def log_message(self, *_: Any) -> None:
        """Logs nothing."""


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def _answers(port: int) -> bool:
    for address in ADDRESSES:
        with suppress(OSError), socket.create_connection((address, port), timeout=1):
            return True
    return False

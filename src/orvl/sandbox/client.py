"""orvl's side of a keeper: the process that runs the jobs of one slot, whatever their walls are."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import DISK_IS_BROKEN, NotStarted
from orvl.sandbox import Ended, Stream
from orvl.sandbox.keeper.gate import SET_UP_SECONDS
from orvl.sandbox.keeper.processes import become_reaper, descendants

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from orvl.sandbox import Job, Serve

START = "import sys; sys.path.insert(0, sys.argv[1]); from keeper.serve import main; main()"
KEEPERS: set[int] = set()
KEEPER_PATIENCE = 15.0
STOP_PATIENCE = 3.0
LONGEST_ANSWER = 1 << 20
NOTHING = Stream(None, 0, 0)
NOT_BEGUN = Ended(None, "stopped", 0.0, 0.0, NOTHING, NOTHING)
MISSING = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC)


@dataclass(frozen=True)
class Spawn:
    """What the keeper is to start for a job, and how: `gate` and `clean` are a sandbox's own."""

    program: str
    argv: list[str]
    env: dict[str, str]
    gate: dict[str, Any] | None = None
    clean: list[str] = field(default_factory=list)


class KeeperClient:
    """One keeper process, which runs jobs for as long as orvl lives. A kind of sandbox says what to spawn."""

    name = ""
    has_walls = True

    def __init__(self, lock_fd: int | None = None) -> None:
        self._lock_fd = lock_fd
        self._keeper: subprocess.Popen[bytes] | None = None
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._doors: socket.socket | None = None
        self._stopped = False
        self._grace = 0.0

    def spawn(self, job: Job) -> Spawn:
        """How a job is started in this kind of sandbox."""
        raise NotImplementedError

    async def run(self, job: Job) -> Ended:
        spawn = self.spawn(job)
        message = json.dumps(_message(job, spawn)).encode() + b"\n"
        patience = KEEPER_PATIENCE + (SET_UP_SECONDS if spawn.gate else 0)
        reader, writer = await self._connection()
        if self._stopped:
            return NOT_BEGUN
        self._grace = job.grace
        assert self._doors is not None
        try:
            async with _serving(self._doors, job.doors):
                writer.write(message)
                await writer.drain()
                async with asyncio.timeout(job.seconds + job.grace + patience):
                    answer = await reader.readline()
        except (OSError, TimeoutError):
            answer = b""
        if not answer.endswith(b"\n"):
            await self._end_keeper()
            raise NotStarted("orvl's helper process was killed or stopped while the agent ran", missing=False)
        return _ended(json.loads(answer), job, self.name)

    def stop(self) -> None:
        """Ends what runs now, and lets nothing more begin."""
        self._stopped = True
        self.end_job()
        if self._keeper is not None:
            asyncio.get_running_loop().call_later(self._grace + STOP_PATIENCE, self._keeper.kill)

    def end_job(self) -> None:
        """Ends what runs now."""
        if self._writer is not None:
            self._writer.write(b"stop\n")

    async def close(self) -> None:
        """Lets the keeper go; it kills what is left below it."""
        if self._writer is not None:
            self._writer.close()
        if self._doors is not None:
            self._doors.close()
        if self._keeper is not None:
            await asyncio.to_thread(self._keeper.wait)
            KEEPERS.discard(self._keeper.pid)
        self._keeper = self._reader = self._writer = self._doors = None

    async def _end_keeper(self) -> None:
        """A keeper that does not answer goes, with all that it kept."""
        if self._keeper is not None:
            below = descendants(self._keeper.pid)
            self._keeper.kill()
            await self.close()
            await asyncio.to_thread(_kill_strays, below)

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader is None or self._writer is None:
            become_reaper()
            ours, theirs = socket.socketpair()
            self._doors, their_doors = socket.socketpair()
            kept = () if self._lock_fd is None else (self._lock_fd,)
            with theirs, their_doors:
                self._keeper = subprocess.Popen(
                    [sys.executable, "-I", "-S", "-c", START, str(Path(__file__).parent), str(their_doors.fileno())],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    start_new_session=True,
                    pass_fds=(their_doors.fileno(), *kept),
                )
            KEEPERS.add(self._keeper.pid)
            self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=LONGEST_ANSWER)
        return self._reader, self._writer


def _kill_strays(known: list[int]) -> None:
    """Kills what a dead keeper left: it has become orvl's own child, in a session that is not orvl's."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        kept = {pid for keeper in KEEPERS for pid in (keeper, *descendants(keeper))}
        strays = [pid for pid in descendants(os.getpid()) if pid not in kept and (pid in known or _left(pid))]
        if not strays:
            return
        for pid in strays:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
            with suppress(OSError):
                os.waitpid(pid, os.WNOHANG)
        time.sleep(0.01)


def _left(pid: int) -> bool:
    """Whether a process is in another session than orvl."""
    try:
        return os.getsid(pid) != os.getsid(0)
    except OSError:
        return False


@asynccontextmanager
async def _serving(handed: socket.socket, doors: Mapping[int, Serve]) -> AsyncIterator[None]:
    """Answers at a sandbox's doors from the moment that the keeper hands them over until the job is over."""
    if not doors:
        yield
        return
    loop = asyncio.get_running_loop()
    serving: list[asyncio.Task[None]] = []
    handed.setblocking(False)

    def take() -> None:
        message, descriptors, _, _ = socket.recv_fds(handed, 64, 1)
        if not descriptors:
            loop.remove_reader(handed)
            return
        listening = socket.socket(fileno=descriptors[0])
        listening.setblocking(False)
        serving.append(asyncio.ensure_future(_answer(doors[int(message)], listening)))

    loop.add_reader(handed, take)
    try:
        yield
    finally:
        loop.remove_reader(handed)
        for task in serving:
            task.cancel()
        await asyncio.gather(*serving, return_exceptions=True)


async def _answer(serve: Serve, listening: socket.socket) -> None:
    with listening:
        await serve(listening)


def _message(job: Job, spawn: Spawn) -> dict[str, Any]:
    folders = job.folders
    return {
        **vars(spawn),
        "cwd": str(folders.workspace),
        "stdin": str(job.stdin) if job.stdin else None,
        "stdout": f"{job.output}.out",
        "stderr": f"{job.output}.err",
        "seconds": job.seconds,
        "grace": job.grace,
        "output": job.output_bytes,
        "keep": job.kept_bytes,
        "most": vars(job.most),
        "folders": [str(folders.workspace), str(folders.home), str(folders.tmp)],
        "doors": list(job.doors),
        "adds_only": job.adds_only,
    }


def program_of(job: Job) -> str:
    """The file that a job's first word names, in the workspace or in PATH."""
    name = job.argv[0]
    if "/" in name:
        return os.path.join(job.folders.workspace, name)
    return installed(name, job.env.get("PATH"))


@lru_cache(maxsize=256)
def installed(name: str, path: str | None) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        raise NotStarted(f"'{name}' is not installed, or not in PATH", missing=True)
    return found


def _ended(answer: dict[str, Any], job: Job, name: str) -> Ended:
    if "not_set_up" in answer:
        raise NotStarted(f"the sandbox ({name}) could not be set up: {answer['not_set_up']}", missing=False)
    if "error" in answer:
        if answer["error"] in DISK_IS_BROKEN:
            raise OSError(answer["error"], answer["message"], answer["file"] or None)
        missing = answer["not_spawned"] and answer["error"] in MISSING
        raise NotStarted(f"'{job.argv[0]}' could not be started: {answer['message'].lower()}", missing=missing)
    return Ended(
        status=answer["status"],
        cut=answer["cut"],
        seconds=answer["seconds"],
        cpu_seconds=answer["cpu_seconds"],
        stdout=_stream(answer["stdout"]),
        stderr=_stream(answer["stderr"]),
        alive=answer["alive"],
    )


def _stream(answer: dict[str, Any]) -> Stream:
    path = answer["path"]
    return Stream(Path(path) if path else None, answer["bytes"], answer["left_out"])

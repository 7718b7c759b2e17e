"""orvl's side of the guard process, which runs the jobs of one slot in any kind of sandbox."""

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
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from orvl.errors import DISK_IS_BROKEN, DiskWasFull, NotStarted, disk_sentence
from orvl.sandbox import ProcessResult, Stream
from orvl.sandbox.guard.gate import SET_UP_SECONDS
from orvl.sandbox.guard.processes import become_reaper, descendants, process_table
from orvl.sandbox.guard.shortage import DISK_FULL, PAUSES, SHORT
from orvl.sandbox.programs import any_path, own_environment, unstartable

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from orvl.sandbox import Job, Serve
    from orvl.sandbox.workdir import DiskRoom

START = "import sys; sys.path.insert(0, sys.argv[1]); from guard.serve import main; main()"
GUARDS: set[int] = set()
"""Processes of this one that are guards. Threads read it: it is changed, and asked, only under `GUARDS_LOCK`."""
GUARDS_LOCK = Lock()
GUARD_PATIENCE = 60.0
"""Seconds beyond a job's own time: to end it, and to measure what it left, takes a guard half of it at most."""
END_PATIENCE = 15.0
RUN_PAUSES = (*PAUSES, 4.0, 8.0, 15.0)
"""Seconds: while a machine is short of something, other runs end, and give theirs back."""
STOP_PATIENCE = 3.0
CONNECT_PATIENCE = 10.0
LONGEST_ANSWER = 1 << 20
NOTHING = Stream(None, 0, 0)
NOT_BEGUN = ProcessResult(None, "stopped", 0.0, 0.0, NOTHING, NOTHING)
MISSING = (errno.ENOENT, errno.EACCES, errno.ENOTDIR, errno.ENOEXEC)


@dataclass(frozen=True)
class Spawn:
    """What the guard is to start for a job; `gate` and `clean` depend on the kind of sandbox."""

    program: str
    argv: list[str]
    env: dict[str, str]
    gate: dict[str, Any] | None = None
    clean: list[str] = field(default_factory=list)


class GuardClient:
    """One guard process, which runs jobs for as long as orvl lives. A kind of sandbox says what to spawn."""

    name = ""
    has_walls = True
    has_own_programs = False

    def __init__(self, lock_fd: int | None = None) -> None:
        self._lock_fd = lock_fd
        self._guard: subprocess.Popen[bytes] | None = None
        self._began = 0
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._port_sockets: socket.socket | None = None
        self._stopped = False
        self._is_asked = False
        """Whether the guard has been told of the job that runs now."""
        self._ends_early = False
        """Whether the job that is about to begin is not wanted any more."""
        self._grace = 0.0
        self._dialled = 0
        self._dialling: dict[int, asyncio.Future[socket.socket]] = {}
        """Connections that were asked for, by number: a page asks for several at once."""

    def spawn(self, job: Job) -> Spawn:
        """How a job is started in this kind of sandbox."""
        raise NotImplementedError

    async def warm_up(self) -> None:
        await self._connection()

    async def prepare(self, _job: Job) -> None:
        """What has to be done before a job is spawned."""

    async def run(self, job: Job) -> ProcessResult:
        self._ends_early = False
        await self.prepare(job)
        job.folders.mend()  # the job before may have removed or locked them
        spawn = self.spawn(job)
        pauses = list(RUN_PAUSES)
        while True:
            began = time.monotonic()
            answer = await self._ask(job, spawn)
            if answer is None:
                return NOT_BEGUN
            if not _is_short(answer) or not pauses:
                return _beside_others(_result(answer, job, self.name), answer, job.folders.room, began)
            await asyncio.sleep(pauses.pop(0))

    async def _ask(self, job: Job, spawn: Spawn) -> dict[str, Any] | None:
        """The guard's answer; None if nothing may begin any more."""
        message = json.dumps(_message(job, spawn)).encode() + b"\n"
        patience = GUARD_PATIENCE + (SET_UP_SECONDS if spawn.gate else 0)
        reader, writer = await self._connection()
        if self._stopped or self._ends_early:
            return None
        self._grace = job.grace
        assert self._port_sockets is not None
        try:
            async with _serving(self._port_sockets, job.ports):
                writer.write(message)
                self._is_asked = True
                await writer.drain()
                async with asyncio.timeout(job.seconds + job.grace + patience):
                    line = await reader.readline()
        except (OSError, TimeoutError):
            line = b""
        finally:
            self._is_asked = False
        if not line.endswith(b"\n"):
            await self._end_guard(spawn.clean)
            raise NotStarted("orvl's helper process was killed or stopped while the agent ran", missing=False)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def stop(self) -> None:
        """Ends what runs now, and lets nothing more begin."""
        self._stopped = True
        self.end_job()
        if self._guard is not None:
            asyncio.get_running_loop().call_later(self._grace + STOP_PATIENCE, self._guard.terminate)

    def end_job(self) -> None:
        """Ends what runs now, or is about to."""
        self._ends_early = True
        if self._writer is not None and self._is_asked:
            self._writer.write(b"stop\n")

    async def connect(self, port: int) -> socket.socket:
        """A connection to a port of what runs now, which must be a job without ports of its own."""
        handed = self._port_sockets
        if self._writer is None or handed is None:
            raise ConnectionRefusedError
        loop = asyncio.get_running_loop()
        self._dialled += 1
        number = self._dialled
        connected: asyncio.Future[socket.socket] = loop.create_future()
        self._dialling[number] = connected
        handed.setblocking(False)
        loop.add_reader(handed, _take_connection, handed, self._dialling)
        self._writer.write(b"dial %d %d\n" % (port, number))
        try:
            async with asyncio.timeout(CONNECT_PATIENCE):
                return await connected
        finally:
            del self._dialling[number]
            if not self._dialling and handed.fileno() >= 0:
                loop.remove_reader(handed)

    async def close(self) -> None:
        """Lets the guard go; it kills what is left below it."""
        if self._writer is not None:
            self._writer.close()
        if self._port_sockets is not None:
            # Whoever still waits for a connection watches it, and a closed number that is watched hides the next one.
            asyncio.get_running_loop().remove_reader(self._port_sockets)
            self._port_sockets.close()
        if self._guard is not None:
            await asyncio.to_thread(_ended, self._guard, self._began)
        self._guard = self._reader = self._writer = self._port_sockets = None

    async def _end_guard(self, clean: list[str]) -> None:
        """Ends a guard that was killed or does not answer, with all that it guarded."""
        if self._guard is not None:
            self._guard.terminate()  # its parent ends it, and what it leaves
            await self.close()
            if clean:
                await asyncio.to_thread(_tidy, clean)

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._reader is None or self._writer is None:
            become_reaper()
            ours = await self._start_guard()
            self._reader, self._writer = await asyncio.open_connection(sock=ours, limit=LONGEST_ANSWER)
        return self._reader, self._writer

    async def _start_guard(self) -> socket.socket:
        """Our end of a new guard's control socket; where the machine is short of something, asked for again."""
        pauses = list(RUN_PAUSES)
        while True:
            try:
                return self._new_guard()
            except OSError as error:
                if error.errno not in SHORT or not pauses or self._stopped:
                    reason = f"this machine refused orvl a process: {disk_sentence(error)}"
                    raise NotStarted(reason, missing=False) from error
            await asyncio.sleep(pauses.pop(0))

    def _new_guard(self) -> socket.socket:
        words = [sys.executable, "-I", "-S", "-c", START, str(Path(__file__).parent)]
        kept = () if self._lock_fd is None else (self._lock_fd,)
        self._began = int(time.clock_gettime(time.CLOCK_BOOTTIME) * os.sysconf("SC_CLK_TCK"))
        with ExitStack() as stack:
            ours, theirs = map(stack.enter_context, socket.socketpair())
            our_ports, their_ports = map(stack.enter_context, socket.socketpair())
            with GUARDS_LOCK:
                self._guard = subprocess.Popen(
                    [*words, str(their_ports.fileno()), *([] if self.has_walls else [str(os.getpid())])],
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    env={},
                    cwd="/",
                    start_new_session=True,
                    pass_fds=(their_ports.fileno(), *kept),
                )
                GUARDS.add(self._guard.pid)
            self._port_sockets = our_ports
            stack.pop_all()
            theirs.close()
            their_ports.close()
            return ours


def _is_short(answer: dict[str, Any]) -> bool:
    """Whether a job did not begin because the machine was short of something for a moment."""
    if said := answer.get("not_set_up"):
        return any(os.strerror(number) in said for number in SHORT)
    return answer.get("error") in SHORT and bool(answer.get("not_spawned"))


def _ended(guard: subprocess.Popen[bytes], began: int) -> None:
    """Waits for a guard's end; where its parent was killed with it, orvl ends what they left."""
    guard.send_signal(signal.SIGCONT)  # it may have been stopped, as any process can
    try:
        guard.wait(END_PATIENCE)
    except subprocess.TimeoutExpired:
        guard.kill()
        guard.wait()
    if guard.returncode:
        _kill_orphans(began)
    with GUARDS_LOCK:
        GUARDS.discard(guard.pid)


def _kill_orphans(began: int) -> None:
    """Kills what a guard and its parent left when both were killed.

    orvl is a subreaper, so these are its own children now, but in sessions of their own, as only a guard's jobs are.
    What belongs to other guards is below them, and never looked at.
    """
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        with GUARDS_LOCK:
            table, session = process_table(), os.getsid(0)
            orphans = [
                pid
                for pid, (parent, of, start) in table.items()
                if parent == os.getpid() and of != session and start >= began and pid not in GUARDS
            ]
            for pid in [below for orphan in orphans for below in (orphan, *descendants(orphan, table))]:
                with suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            for pid in orphans:
                with suppress(OSError):
                    os.waitpid(pid, os.WNOHANG)
        if not orphans:
            return
        time.sleep(0.01)


def _tidy(clean: list[str]) -> None:
    """Puts away a container whose guard is gone."""
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(clean, stdin=subprocess.DEVNULL, capture_output=True, timeout=END_PATIENCE, check=False)


def _take_connection(handed: socket.socket, dialling: dict[int, asyncio.Future[socket.socket]]) -> None:
    """Takes connections that the guard made, or the errors that it met; what nobody waits for any more is dropped.

    Several errors may come at once, and one connection with them, which is then the last.
    """
    try:
        message, descriptors, _, _ = socket.recv_fds(handed, 4096, 1)
    except BlockingIOError:
        return
    made = [socket.socket(fileno=descriptor) for descriptor in descriptors]
    for number, error in [map(int, line.split()) for line in message.splitlines()]:
        waiting = dialling.get(number)
        connection = made.pop() if made and not error else None
        if waiting is None or waiting.done():
            if connection is not None:
                connection.close()
        elif connection is not None:
            waiting.set_result(connection)
        else:
            waiting.set_exception(OSError(error, os.strerror(error)))
    if not message:
        for waiting in dialling.values():
            if not waiting.done():
                waiting.set_exception(ConnectionResetError())


@asynccontextmanager
async def _serving(handed: socket.socket, ports: Mapping[int, Serve]) -> AsyncIterator[None]:
    """Answers at a sandbox's ports from when the guard hands them over until the job is over."""
    if not ports:
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
        serving.append(asyncio.ensure_future(_answer(ports[int(message)], listening)))

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
        "limits": vars(job.limits),
        "folders": [str(folders.workspace), str(folders.home), str(folders.tmp)],
        "room": vars(folders.room),
        "ports": list(job.ports),
        "adds_only": job.adds_only,
    }


def program_of(job: Job) -> str:
    """The file that a job's first word names, in the workspace or in PATH."""
    name = job.argv[0]
    found = os.path.join(job.folders.workspace, name) if "/" in name else found_for(job, name)
    if why := unstartable(Path(found)):
        raise NotStarted(f"'{name}' could not be started: {why}", missing=True)
    return found


def found_for(job: Job, name: str) -> str:
    """A program that a job calls by name: from its own PATH, else from the user's."""
    return installed(name, os.pathsep.join((job.env.get("PATH", ""), any_path())))


def beside_orvl(job: Job) -> str:
    """The end of PATH for a job whose programs are installed in the environment that orvl itself lives in."""
    own, names = own_environment(), [name for name in (job.argv[0], *job.programs) if "/" not in name]
    is_beside = own and any(_real_folder(found_for(job, name)) == own for name in names)
    return f"{os.pathsep}{own}" if is_beside else ""


@lru_cache(maxsize=256)
def _real_folder(program: str) -> str:
    return os.path.realpath(os.path.dirname(program))


@lru_cache(maxsize=256)
def installed(name: str, path: str | None) -> str:
    found = shutil.which(name, path=path)
    if found is None:
        raise NotStarted(f"'{name}' is not installed, or not in PATH", missing=True)
    return found


def _result(answer: dict[str, Any], job: Job, name: str) -> ProcessResult:
    if "not_set_up" in answer:
        raise NotStarted(f"the sandbox ({name}) could not be set up: {answer['not_set_up']}", missing=False)
    if "error" in answer:
        if answer["error"] in DISK_IS_BROKEN:
            raise OSError(answer["error"], answer["message"], answer["file"] or None)
        missing = answer["not_spawned"] and answer["error"] in MISSING
        raise NotStarted(f"'{job.argv[0]}' could not be started: {answer['message'].lower()}", missing=missing)
    fault, result = answer["fault"], _ended_as(answer)
    if fault == DISK_FULL:
        raise DiskWasFull(f"it was ended from outside: {fault}", result)
    if fault:
        raise NotStarted(f"it was ended from outside: {fault}", missing=False)
    return result


def _beside_others(result: ProcessResult, answer: dict[str, Any], room: DiskRoom, began: float) -> ProcessResult:
    """A disk can be filled and have room again between two looks of a job that it broke; but whoever filled it is known
    by then, for its files are deleted after it was ended for them."""
    if answer["filled_disk"]:
        room.filled_at = time.monotonic()
    elif result.cut is None and result.status != 0 and room.filled_at >= began:
        raise DiskWasFull(f"it was ended from outside: {DISK_FULL}", result)
    return result


def _ended_as(answer: dict[str, Any]) -> ProcessResult:
    return ProcessResult(
        status=answer["status"],
        cut=answer["cut"],
        seconds=answer["seconds"],
        cpu_seconds=answer["cpu_seconds"],
        stdout=_stream(answer["stdout"]),
        stderr=_stream(answer["stderr"]),
        cpu_pressure=answer["cpu_pressure"],
        alive=answer["alive"],
        memory=answer["memory"],
    )


def _stream(answer: dict[str, Any]) -> Stream:
    path = answer["path"]
    return Stream(Path(path) if path else None, answer["bytes"], answer["left_out"])

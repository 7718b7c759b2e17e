"""The subject of a check: what the agent left, in a sandbox of its own, and how a checker in another one asks of it."""

from __future__ import annotations

import asyncio
import base64
import json
import os
import py_compile
import re
import shlex
import shutil
import socket
import sys
import tempfile
import time
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path, PurePosixPath
from py_compile import PycInvalidationMode
from typing import TYPE_CHECKING, Any, TypeVar

from orvl.capture.listening import listened_in_to
from orvl.errors import DISK_IS_BROKEN, InvalidAppConfig, NotStarted, RequestRefused, disk_sentence, is_agents_doing
from orvl.project.app import check_steps
from orvl.project.places import expanded
from orvl.sandbox import SUBJECT
from orvl.sandbox.job import shell_job
from orvl.store import beneath, tree
from orvl.store.tree import TreeLimits
from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence

    from orvl.capture.browser.result import Look
    from orvl.project.settings import Limits
    from orvl.sandbox import Job, ProcessResult, Sandbox
    from orvl.sandbox.workdir import RunFolders, View

    Browse = Callable[[Sequence[str]], Awaitable[Look]]
    OnExchange = Callable[[Mapping[str, Any], Mapping[str, Any]], None]
Answer = TypeVar("Answer")

LIBRARY = Path(__file__).parents[1] / "checks"
IN_FOLDER = '[ -d "$1" ] || mkdir -p -- "$1"; cd -- "$1" && shift && exec "$@"'
COMMAND = """#!/bin/sh
exec %s -I -S -c 'import sys; sys.path.insert(0, "%s"); from orvl.checks.__main__ import main; sys.exit(main())' "$@"
"""
"""Without `site`, which takes longer to load than all the rest."""
SYSTEM_PYTHON = "/usr/bin/python3"
OLDEST_PYTHON = 8
MAX_REQUEST = 24 * MEBI
MAX_FILE = 16 * MEBI
MAX_FILES = 10_000
MAX_COMMAND, MAX_WORD = 1 << 20, 1 << 17
TRY_PORT_EVERY = 0.05
OVER = "the check is over"
FILLED = ("disk", "disk_share")


@dataclass
class Subject:
    """A fresh copy of the agent's work for one check, and what runs in it; one command at a time."""

    sandbox: Sandbox
    new_folders: Callable[[], RunFolders]
    lay_out: Callable[[Path], None]
    """Puts a copy of what the agent left into an empty folder."""
    limits: Limits
    until: float
    browse: Browse | None = None
    draw: Mapping[str, Any] = field(default_factory=dict)
    """The values of the episode, and the seed of this check; for the checker alone."""
    asked_for_draw: bool = False
    """Whether what the check does may differ from episode to episode."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """The eval's own."""
    _making: asyncio.Task[RunFolders] | None = None
    _folders: RunFolders | None = None
    _commands: int = 0
    _running: asyncio.Task[ProcessResult] | None = None
    _used: list[RunFolders] = field(default_factory=list)
    _closed: bool = False
    share: float | None = None
    """The share of its cases that the check says have passed."""
    has_filled_disk: bool = False
    """Whether a command of its own was ended because it filled the disk."""
    on_exchange: OnExchange | None = None
    """Hears all that the check asks, with the answers."""

    def prepare(self) -> None:
        """Makes its sandbox and its first copy while the checker starts."""
        self._making = asyncio.ensure_future(self._make())

    async def folders(self) -> RunFolders:
        """Its folders; after `fresh`, new ones as soon as something is asked of it.

        What ran in them may have locked them since. Whoever could be spared a bad score by that would do it.
        """
        if self._folders is None:
            making, self._making = self._making, None
            self._folders = await (making or self._make())
        self._folders.mend()
        return self._folders

    async def _make(self) -> RunFolders:
        folders = self.new_folders()
        self._used.append(folders)
        await self.sandbox.warm_up()
        await asyncio.to_thread(self.lay_out, folders.workspace)
        return folders

    def end(self) -> None:
        """Ends what runs, and lets nothing more begin."""
        self._closed = True
        self.sandbox.end_job()

    async def close(self) -> None:
        """Deletes its folders; called when nothing runs in them."""
        under_way = [task for task in (self._making, self._running) if task is not None]
        await asyncio.gather(*under_way, return_exceptions=True)
        for folders in self._used:
            await asyncio.to_thread(folders.remove)

    # -- what can be asked

    async def run(self, request: Mapping[str, Any]) -> dict[str, Any]:
        await self._begin(request)
        ended = await self._end_running(gently=True)
        assert ended is not None
        return await self._answer(ended)

    async def start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        await self._begin(request)
        return {}

    async def stop(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        if (ended := await self._end_running()) is None:
            raise RequestRefused("nothing was started")
        return await self._answer(ended) | ({"cut": None} if ended.cut == "stopped" else {})

    async def connect(self, request: Mapping[str, Any]) -> socket.socket:
        """Tries until the port is open, what was started has ended, or the time is over."""
        port, wait = int(request["port"]), float(request["wait"])
        if not 0 < port < 1 << 16:
            raise RequestRefused(f"{port} is not a port")
        until = min(time.monotonic() + wait, self.until)
        while not self._closed:
            if self._running is None:
                raise RequestRefused("nothing was started, so there is no port to connect to")
            if self._running.done():
                said = self._running.result().stderr.read()[-300:].decode("utf-8", "replace").strip()
                raise RequestRefused(f"the started command has ended, so there is no port to connect to: {said}")
            try:
                return await self.sandbox.connect(port)
            except OSError as error:
                if not time.monotonic() <= until:
                    raise RequestRefused(f"port {port} did not open within {wait:g} s") from error
            await asyncio.sleep(TRY_PORT_EVERY)
        raise RequestRefused(OVER)

    async def read(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folders = await self.folders()
        content = await asyncio.to_thread(_content, folders.workspace, _inner(request["path"]))
        return {"content": None if content is None else base64.b64encode(content).decode()}

    async def write(self, request: Mapping[str, Any]) -> dict[str, Any]:
        folders, path = await self.folders(), _inner(request["path"])
        if not path.parts:
            raise RequestRefused("a file needs a name")
        content = base64.b64decode(request["content"], validate=True)
        mode = 0o755 if request.get("executable") else 0o644
        try:
            await asyncio.to_thread(folders.put_into, folders.workspace, path, content, mode)
        except OSError as error:
            if error.errno in DISK_IS_BROKEN:
                raise
            raise RequestRefused(f"{path} cannot be written: {error.strerror}") from error
        return {}

    async def files(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        folders = await self.folders()
        return {"files": await asyncio.to_thread(_plain_files, folders.workspace)}

    async def fresh(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        await self._end_running()
        self._folders = None
        return {}

    async def graded(self, request: Mapping[str, Any]) -> dict[str, Any]:
        passed, cases = request["passed"], request["cases"]
        if type(passed) is not int or type(cases) is not int or not 0 <= passed <= cases or not cases:
            raise RequestRefused(f"{passed} of {cases} cases cannot have passed")
        self.share = passed / cases
        return {}

    async def drawn(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        self.asked_for_draw = True
        return dict(self.draw)

    async def compared(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """How long something took, as a ratio: only whoever listens in learns of it."""
        if not float(request["ratio"]) > 0 or not float(request["bar"]) > 0:
            raise RequestRefused("a ratio and its bar are numbers above 0")
        return {}

    async def browsed(self, request: Mapping[str, Any]) -> dict[str, Any]:
        steps = [str(step) for step in request["steps"]]
        if self.browse is None:
            raise RequestRefused("there is nothing to browse: the eval has no 'app'")
        if self._running is not None:
            raise RequestRefused("a started command still runs; call stop() first")
        try:
            check_steps(steps)
        except InvalidAppConfig as error:
            raise RequestRefused(str(error)) from error
        look = await self.browse(steps)
        if look.status == "unavailable":
            raise NotStarted(f"the browser: {look.reason}", missing=False)
        tried = {step.number: step for step in look.steps}
        words = {True: "passed", False: "failed", None: "not tried"}
        rows = []
        for number, line in enumerate(steps, 1):
            result = tried.get(number)
            status, reason = (words[result.passed], result.reason) if result else (words[None], look.reason)
            rows.append({"step": line, "status": status, "reason": reason})
        return {"steps": rows}

    # -- how it is carried out

    async def _job(self, request: Mapping[str, Any]) -> Job:
        folders = await self.folders()
        view = self.sandbox.view(folders)
        words = [str(word) for word in request["argv"]]
        env = {str(name): str(value) for name, value in request["env"].items()}
        _refuse_odd(words, env)
        cwd = _inner(request["cwd"])
        self._commands += 1
        output = folders.logs / f"command{self._commands}"
        stdin = output.with_suffix(".in")
        stdin.write_bytes(base64.b64decode(request["input"], validate=True))
        seconds = max(0.1, min(float(request["seconds"]), self.until - time.monotonic()))
        job = shell_job("", _environment(view, self.variables, env), output, seconds, self.limits, folders)
        return replace(
            job,
            argv=["/bin/sh", "-c", IN_FOLDER, "sh", str(view.workspace / cwd), *words],
            stdin=stdin,
            grace=min(self.limits.grace, 1.0),
            kept_bytes=MAX_FILE // 2,
            adds_only=True,
            user=SUBJECT,
        )

    async def _begin(self, request: Mapping[str, Any]) -> None:
        if self._running is not None:
            raise RequestRefused("a started command still runs; call stop() first")
        job = await self._job(request)
        if self._closed:
            raise RequestRefused(OVER)
        self._running = asyncio.ensure_future(self.sandbox.run(job))

    async def _answer(self, ended: ProcessResult) -> dict[str, Any]:
        """How a command ended. One that filled the disk loses its files: the check itself may need the room."""
        answer = _ended(ended)
        if ended.cut in FILLED:
            self.has_filled_disk = True
            await self.fresh({})
            await asyncio.to_thread(self._used.pop().remove)
        return answer

    async def _end_running(self, *, gently: bool = False) -> ProcessResult | None:
        """The result of what runs; `gently` waits until it ends by itself or by its limits."""
        if self._running is None:
            return None
        if not gently and not self._running.done():
            self.sandbox.end_job()
        try:
            return await self._running
        finally:
            self._running = None


def _environment(view: View, variables: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    base = view.environment() | {"LANG": "C.UTF-8"}
    return base | expanded(variables, base) | dict(env)


def _refuse_odd(words: Sequence[str], env: Mapping[str, str]) -> None:
    """What no process could be started with."""
    texts = [*words, *env, *env.values()]
    if not words or any("\0" in text for text in texts) or any("=" in name or not name for name in env):
        raise RequestRefused("a command is words without NUL bytes, and its environment names with values")
    sizes = [len(text.encode("utf-8", "surrogateescape")) for text in texts]
    if sum(sizes) > MAX_COMMAND or max(sizes) >= MAX_WORD:
        raise RequestRefused(f"a command has at most {MAX_COMMAND} bytes, and a word {MAX_WORD}; use input=")


def _ended(result: ProcessResult) -> dict[str, Any]:
    return {
        "status": result.status,
        "cut": result.cut,
        "seconds": result.seconds,
        "memory": result.memory,
        "stdout": base64.b64encode(result.stdout.read()).decode(),
        "stderr": base64.b64encode(result.stderr.read()).decode(),
    }


# -- files of the subject, opened from folder to folder without following a link


def _inner(text: object) -> PurePosixPath:
    path = PurePosixPath(str(text))
    if path.is_absolute() or ".." in path.parts or "\0" in str(text) or len(path.parts) > tree.MAX_DEPTH:
        raise RequestRefused(f"'{text}' is not a path inside the workspace")
    return path


def _content(root: Path, path: PurePosixPath) -> bytes | None:
    content = beneath.read_inside(root, str(path), MAX_FILE)
    if content is not None and len(content) > MAX_FILE:
        raise RequestRefused(f"{path} is larger than {MAX_FILE // MEBI} MiB")
    return content


def _plain_files(root: Path) -> list[str]:
    try:
        entries, _ = tree.scan(root, lambda _fd, _size: "", TreeLimits(MAX_FILES), unlock=False)
    except OSError as error:  # what runs there may lock or swap anything while it is listed
        if not is_agents_doing(error):
            raise
        raise RequestRefused(f"the files cannot be listed: {disk_sentence(error)}") from error
    if len(entries) >= MAX_FILES:
        raise RequestRefused(f"there are more than {MAX_FILES} files and folders")
    return sorted(entry.path for entry in entries if entry.kind == "file")


# -- the checker's side


def equip(folders: RunFolders, sandbox: Sandbox, python: str | None = None) -> dict[str, str]:
    """Puts `orvl.checks` and the command `subject` into a checker's home; what points to them in its environment.

    `python` is the program that `python3` is to be, where that would take long to find out each time.
    """
    view, place = sandbox.view(folders), folders.home / ".orvl"
    inside = view.home / ".orvl"
    for folder in ("", "bin", "orvl", "orvl/checks", "orvl/checks/__pycache__"):
        (place / folder).mkdir()
    for name, content in _library().items():
        (place / "orvl" / "checks" / name).write_bytes(content)
    commands = {"subject": COMMAND % ("python3" if sandbox.has_own_programs else _quick_python(), inside)}
    if python is not None:
        commands["python3"] = f'#!/bin/sh\nexec {shlex.quote(python)} "$@"\n'
    for name, text in commands.items():
        (place / "bin" / name).write_text(text, encoding="utf-8")
        (place / "bin" / name).chmod(0o755)
    path = view.path or "/usr/local/bin:/usr/bin:/bin"
    return {
        "PYTHONPATH": str(inside),
        "PATH": f"{inside / 'bin'}{os.pathsep}{path}",
        "ORVL_SUBJECT": str(view.tmp / "subject"),
    }


@cache
def _library() -> dict[str, bytes]:
    """The files of `orvl.checks`, with what a Python of this version would compile them to each time."""
    files = {path.name: path.read_bytes() for path in LIBRARY.glob("*.py")}
    with tempfile.TemporaryDirectory() as folder:
        for name in list(files):
            made = os.path.join(folder, name)
            py_compile.compile(str(LIBRARY / name), made, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
            inner = f"__pycache__/{name.removesuffix('.py')}.{sys.implementation.cache_tag}.pyc"
            files[inner] = Path(made).read_bytes()
    return files


@cache
def _quick_python() -> str:
    """The system's Python where it can do; what the PATH has may be a shim that is many times slower."""
    name = os.path.basename(os.path.realpath(SYSTEM_PYTHON))
    version = re.fullmatch(r"python3\.(\d+)", name)
    is_whole = any(os.path.isfile(f"/usr/{folder}/{name}/json/__init__.py") for folder in ("lib", "lib64"))
    return SYSTEM_PYTHON if version and int(version[1]) >= OLDEST_PYTHON and is_whole else "python3"


@asynccontextmanager
async def answering(subject: Subject, folders: RunFolders, give_up: Callable[[Exception], None]) -> AsyncIterator[None]:
    """Answers at a socket in the checker's own /tmp for as long as the checker runs.

    `give_up` gets what ends the check through no fault of its own: a sandbox or a browser that does not start.
    """
    requests = Requests(subject, give_up)
    with _listening(folders.tmp) as listening:
        accepting = asyncio.ensure_future(requests.accept(listening))
        subject.prepare()
        try:
            yield
        finally:
            accepting.cancel()
            # Nothing is cancelled in its middle: the guard would go on with a job whose answer nobody takes.
            subject.end()
            await asyncio.gather(accepting, requests.current, return_exceptions=True)
            await subject.close()


def _listening(folder: Path) -> socket.socket:
    """Bound by way of a descriptor, because a path to a socket has at most 107 bytes."""
    listening = socket.socket(socket.AF_UNIX)
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        listening.bind(f"/proc/self/fd/{fd}/subject")
        os.chmod("subject", 0o777, dir_fd=fd)
    finally:
        os.close(fd)
    listening.listen()
    listening.setblocking(False)
    return listening


class Requests:
    """Takes requests, one per connection, and answers them one after the other: so a check costs few descriptors."""

    def __init__(self, subject: Subject, give_up: Callable[[Exception], None]) -> None:
        self._give_up = give_up
        self.current: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.current.set_result(None)
        self._subject = subject
        self._ways: dict[str, Callable[[Mapping[str, Any]], Awaitable[dict[str, Any]]]] = {
            "run": subject.run,
            "start": subject.start,
            "stop": subject.stop,
            "read": subject.read,
            "write": subject.write,
            "files": subject.files,
            "fresh": subject.fresh,
            "browse": subject.browsed,
            "grade": subject.graded,
            "draw": subject.drawn,
            "ratio": subject.compared,
        }

    async def accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            connection, _ = await loop.sock_accept(listening)
            self.current = asyncio.ensure_future(self._serve(connection))
            await asyncio.wait([self.current])

    async def _serve(self, connection: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        request: Mapping[str, Any] = {}
        with connection, suppress(ConnectionError):
            connection.setblocking(False)
            try:
                request = await _request(connection)
                if request.get("do") == "connect":
                    with self._heard(request, await _well_formed(self._subject.connect(request))) as dialled:
                        socket.send_fds(connection, [b"{}\n"], [dialled.fileno()])
                    return
                answer = await self._answer(request)
            except RequestRefused as error:
                answer = {"refused": str(error)}
            except ConnectionError:
                return
            except (NotStarted, OSError, shutil.Error) as error:
                self._give_up(error)
                return
            if self._subject.on_exchange is not None:
                self._subject.on_exchange(request, answer)
            await loop.sock_sendall(connection, json.dumps(answer).encode() + b"\n")

    def _heard(self, request: Mapping[str, Any], dialled: socket.socket) -> socket.socket:
        """The connection that a check gets; where somebody wants to hear what is said, one that is listened in to."""
        if self._subject.on_exchange is None:
            return dialled
        return listened_in_to(dialled, request, self._subject.on_exchange)

    async def _answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        way = self._ways.get(str(request.get("do")))
        if way is None:
            raise RequestRefused(f"nobody can '{request.get('do')}' here")
        return await _well_formed(way(request))


async def _well_formed(answer: Awaitable[Answer]) -> Answer:
    try:
        return await answer
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise RequestRefused(f"the request is malformed: {error!r}") from error


async def _request(connection: socket.socket) -> dict[str, Any]:
    loop = asyncio.get_running_loop()
    received = bytearray()
    while not received.endswith(b"\n"):
        chunk = await loop.sock_recv(connection, 1 << 20)
        if not chunk:
            raise ConnectionError
        received += chunk
        if len(received) > MAX_REQUEST:
            raise RequestRefused(f"a request has at most {MAX_REQUEST // MEBI} MiB")
    try:
        request = json.loads(received)
    except (ValueError, RecursionError) as error:
        raise RequestRefused(f"a request is a line of JSON: {error}") from error
    if not isinstance(request, dict):
        raise RequestRefused("a request is a JSON object")
    return request

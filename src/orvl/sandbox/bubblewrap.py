"""bubblewrap: the agent sees the system's programs, its own installation and its own folders, and nothing else."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import subprocess
import tempfile
from functools import cached_property, lru_cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

from orvl.errors import NotStarted
from orvl.sandbox import Backend, Job, ProcessResult, ResourceLimits, seccomp
from orvl.sandbox.config import HOST_WIDE, sandbox_config
from orvl.sandbox.guard.limits import free_bytes
from orvl.sandbox.guard_client import GuardClient, Spawn, beside_orvl, found_for, installed
from orvl.sandbox.programs import (
    ProgramFiles,
    any_path,
    inner_path,
    installation,
    search_path,
    together,
    unstartable,
    visible_path,
)
from orvl.sandbox.version import MOST_PRINTED, SECONDS, Completed
from orvl.sandbox.workdir import DiskRoom, RunFolders, View
from orvl.store import tree
from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.sandbox.config import SandboxConfig

WORKSPACE, HOME, TMP = Path("/workspace"), Path("/home/agent"), Path("/tmp")
SYSTEM = ("/usr", "/opt", "/nix/store")
INTO_USR = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
ETC = (
    "alternatives",
    "ca-certificates",
    "fonts",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "mime.types",
    "os-release",
    "pki/ca-trust/extracted",
    "pki/tls/certs",
    "protocols",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
)
JAVA = "java-*-openjdk"
"""Without its settings, which Debian keeps in /etc, no Java starts."""
TOOLS = ("node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python3", "python", "uv", "cargo", "rustc", "go", "java")
ONCE_LIMITS = ResourceLimits(processes=256, open_files=1024, file_size=64 * MEBI, disk=256 * MEBI, memory=2048 * MEBI)
ONCE_GRACE = 0.5
SHARED_MEMORY, RUNTIME = 256 << 20, 16 << 20
OUTER = ["--args", "5", "--json-status-fd", "3", "--block-fd", "4", "--seccomp", "6", "--"]
NAMESPACES = [
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent"),
    *("--new-session", "--hostname", "sandbox"),
]


DEVICES = [
    *("--dev", "/dev", "--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm"),
    *("--size", str(RUNTIME), "--tmpfs", "/run"),
]
SWITCHES = (
    ("/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000"),
    ("/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1"),
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
)


class Bubblewrap(GuardClient):
    """Its own user, process, network, ipc and host-name namespaces; no capabilities, and no way to new ones."""

    name = "bubblewrap"

    def __init__(self, config: SandboxConfig, lock_fd: int | None = None) -> None:
        super().__init__(lock_fd)
        self._config = config
        self._known: dict[tuple[Path, ...], tuple[list[Path], list[str]]] = {}

    def view(self, folders: RunFolders) -> View:
        return View(folders.inside or WORKSPACE, HOME, TMP, self._path)

    @cached_property
    def _path(self) -> str:
        return visible_path(inner_path(), self._tools)

    @cached_property
    def _tools(self) -> ProgramFiles:
        """Compilers and the like under the user's home, which agents and checks call by name."""
        return tools(inner_path(), self._config.closed)

    def spawn(self, job: Job) -> Spawn:
        program, needs = self._program(job)
        if job.programs:
            found = [Path(found_for(job, name)) for name in job.programs]
            needs = together([needs, *(installation(path, any_path(), self._config.closed) for path in found)])
        env = {**needs.env, **job.env}
        if (path := env.get("PATH", "")).endswith(self._path):
            env["PATH"] = path.removesuffix(self._path) + visible_path(inner_path(), needs) + beside_orvl(job)
        arguments = [*NAMESPACES, "--uid", job.user, "--gid", job.user, *self._root(needs, job), *_rooms(job)]
        argv = ["bwrap", *OUTER, program, *job.argv[1:]]
        return Spawn(bwrap(), argv, env, gate={"arguments": arguments, "filter": seccomp.filter_program().hex()})

    def _program(self, job: Job) -> tuple[str, ProgramFiles]:
        """The program as it is called inside, and all that must be seen of the user's own programs."""
        name = job.argv[0]
        search = any_path()
        if "/" in name and not name.startswith("/"):
            if not os.path.exists(job.folders.workspace / name):
                raise NotStarted(f"'{name}' is not in the workspace", missing=True)
            return name, self._tools
        found = name if name.startswith("/") else installed(name, search)
        if not os.path.exists(found) and _is_in_the_rooms(name, job.folders):
            return name, self._tools
        if why := unstartable(Path(found)):
            raise NotStarted(f"'{found}' could not be started: {why}", missing=True)
        needs = installation(Path(found), search, self._config.closed)
        return found, self._tools if needs == ProgramFiles() else together([self._tools, needs])

    def _root(self, needs: ProgramFiles, job: Job) -> list[str]:
        """Arguments for the read-only root: the system, what is needed of the user's own, and no more."""
        words = [*system_folders(), *_etc(self._config.etc), *_proc(), *DEVICES]
        for path in self._config.devices:
            words += ["--dev-bind", str(path), f"/dev/{path.name}"]
        words += ["--remount-ro", "/dev", "--bind", str(job.folders.tmp), str(TMP)]
        links = {path for path, _ in needs.links}
        shown = {path for path in job.readable if path not in links and not links.intersection(path.parents)}
        readable = sorted({*self._config.paths, *(path for path in shown if not _is_below(path, needs.paths))})
        own = tuple(path for path in needs.paths if not _lies_in(path, readable))
        covers, bound = self._installed(own)
        words += [word for path in covers for word in ("--tmpfs", str(path))] + bound
        for path in readable:
            words += ["--ro-bind", str(path), str(path)]
        for path in (*own, *readable):
            make_place(path, job.folders)
        for path, text in needs.links:
            if _lies_in(path, readable):
                continue
            if path.is_relative_to(HOME):
                job.folders.link(job.folders.home, path.relative_to(HOME), text)
            elif path.is_relative_to(TMP):
                job.folders.link(job.folders.tmp, path.relative_to(TMP), text)
            else:
                words += ["--symlink", text, str(path)]
        return words + [word for path in covers for word in ("--remount-ro", str(path))]

    def _installed(self, paths: tuple[Path, ...]) -> tuple[list[Path], list[str]]:
        """The user's own programs, and covers over what must not be seen in them or in the system's folders."""
        if paths not in self._known:
            system = [Path(path) for path in SYSTEM]
            first, bound = _inside(self._config.closed, system), []
            last = [path for path in _inside(self._config.hidden, [*system, *paths]) if path not in first]
            for path in paths:
                bound += ["--ro-bind", str(path), str(path)]
            for path in last:
                bound += ["--tmpfs", str(path), "--remount-ro", str(path)]
            self._known[paths] = (first, bound)
        return self._known[paths]


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(folder in path.parents for folder in folders)


def _lies_in(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _inside(hidden: Iterable[Path], seen: Sequence[Path]) -> list[Path]:
    """Of what is to be hidden, what lies in something that is seen; the outermost of it covers the rest."""
    found = [path for path in hidden if path.is_dir() and any(path.is_relative_to(folder) for folder in seen)]
    return [path for path in found if not any(other in path.parents for other in found)]


def make_place(path: Path, folders: RunFolders) -> None:
    """Where something is shown in the run's own /tmp, an agent may have put links: the place is made anew, by hand."""
    if path.is_relative_to(TMP):
        folders.make_place(folders.tmp, path.relative_to(TMP), folder=path.is_dir())


def _rooms(job: Job) -> list[str]:
    """The run's own folders; nothing else can be written."""
    folders = job.folders
    workspace = folders.inside or WORKSPACE
    words = ["--bind", str(folders.home), str(HOME)]
    for inside, outside in folders.make_shown(workspace).items():
        words += ["--bind", str(outside), str(inside)]
    for name, source in job.read_only.items():
        folders.make_place(folders.workspace, PurePath(name), folder=True)
        words += ["--ro-bind", str(source), str(workspace / name)]
    for path, source in job.at.items():
        words += ["--ro-bind", str(source), path]
    return [*words, "--remount-ro", "/", "--chdir", str(workspace)]


def _is_in_the_rooms(name: str, folders: RunFolders) -> bool:
    """Whether a path, as it is seen inside, is of a program in the run's own folders."""
    path = Path(name)
    rooms = {folders.inside or WORKSPACE: folders.workspace, HOME: folders.home, TMP: folders.tmp, **folders.shown}
    for inside, outside in rooms.items():
        if path.is_relative_to(inside) and os.path.lexists(outside / path.relative_to(inside)):
            return True
    return False


@lru_cache(maxsize=1)
def system_folders() -> tuple[str, ...]:
    """The system's folders, and the links into them that the machine has."""
    words: list[str] = []
    for path in SYSTEM:
        words += ["--ro-bind-try", path, path]
    for path in INTO_USR:
        if os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.isdir(path):
            words += ["--ro-bind", path, path]
    return tuple(words)


@lru_cache(maxsize=1)
def _proc() -> tuple[str, ...]:
    """A read-only /proc of the sandbox's own processes; what it says of the whole machine and its keys is covered.

    What this user cannot open anyway is left as it is: each cover takes time.
    """
    words = ["--proc", "/proc"]
    for name in HOST_WIDE:
        path = f"/proc/{name}"
        if os.path.isdir(path):
            words += ["--tmpfs", path, "--remount-ro", path]
        elif os.access(path, os.R_OK) or os.access(path, os.W_OK):
            words += ["--ro-bind", "/dev/null", path]
    return (*words, "--remount-ro", "/proc")


@lru_cache(maxsize=8)
def _etc(made_up: Path) -> list[str]:
    words = ["--perms", "0755", "--dir", "/etc"]
    for name in (*ETC, *sorted(path.name for path in Path("/etc").glob(JAVA))):
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group", "hosts", "nsswitch.conf"):
        words += ["--ro-bind", str(made_up / name), f"/etc/{name}"]
    return words


@lru_cache(maxsize=8)
def tools(search: str, closed: Sequence[Path]) -> ProgramFiles:
    """What is needed of the toolchains that lie outside the system's folders."""
    found = [path for path in (shutil.which(name, path=search) for name in TOOLS) if path]
    return together(installation(Path(path), search, closed) for path in found)


def once(argv: Sequence[str], readable: Sequence[Path]) -> Completed:
    """Runs a command in a sandbox of its own, outside any run: no network, new folders, limits, and nothing kept."""
    root = Path(tempfile.mkdtemp(prefix="orvl-once-"))
    try:
        room = DiskRoom(free_bytes(str(root)))
        folders = RunFolders(root, root / "workspace", root / "home", root / "tmp", root, room)
        for folder in (folders.workspace, folders.home, folders.tmp):
            folder.mkdir(mode=0o700)
        sandbox = Bubblewrap(sandbox_config(root, [], []))
        env = sandbox.view(folders).environment()
        words = (SECONDS, ONCE_GRACE, MOST_PRINTED, MOST_PRINTED, ONCE_LIMITS)
        ended = asyncio.run(_ended(sandbox, Job(argv, env, folders, root / "out", *words, readable=tuple(readable))))
        out, err = ended.stdout.read(), ended.stderr.read()
    finally:
        tree.remove(root)
    if ended.cut == "time":
        raise subprocess.TimeoutExpired(argv[0], SECONDS)
    if ended.cut not in (None, "output"):
        raise OSError(f"it hit a limit ({ended.cut})")
    return subprocess.CompletedProcess(argv, 0 if ended.cut else ended.status or 0, out, err)


async def _ended(sandbox: Bubblewrap, job: Job) -> ProcessResult:
    try:
        return await sandbox.run(job)
    finally:
        await sandbox.close()


def bwrap() -> str:
    return installed("bwrap", search_path())


# -- whether it works here


class BubblewrapBackend(Backend):
    """The default."""

    def problem(self, _image: str | None) -> str | None:
        return _problem(search_path())

    def open(self, config: SandboxConfig, lock_fd: int | None) -> Bubblewrap:
        return Bubblewrap(config, lock_fd)


def backend(_name: str) -> BubblewrapBackend:
    return BubblewrapBackend()


@lru_cache(maxsize=4)
def _problem(search: str) -> str | None:
    program = shutil.which("bwrap", path=search)
    if program is None:
        return "bubblewrap, in which agents run, is not installed: apt install bubblewrap (or dnf, pacman, zypper)."
    command = [program, *NAMESPACES, *system_folders(), "--proc", "/proc", "--dev", "/dev", "--", "/bin/true"]
    try:
        done = subprocess.run(command, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"bubblewrap does not work here ({error}): apt install --reinstall bubblewrap."
    said = done.stderr.decode("utf-8", "replace").strip().splitlines()
    return _explained(program, said[-1] if said else f"status {done.returncode}") if done.returncode else None


def _explained(program: str, said: str) -> str:
    if re.search(r"unknown option", said, re.IGNORECASE):
        return f"{program} is too old ({said}): orvl needs bubblewrap 0.8 or newer; apt install bubblewrap."
    if re.search(r"namespace|uid map|permission|permitted|clone|unshare|No space left", said, re.IGNORECASE):
        for path, bad, fix in SWITCHES:
            if _content(path) == bad:
                return f"This machine forbids user namespaces, which bubblewrap needs ({said}): sudo {fix}."
        return (
            f"bubblewrap may not make namespaces here ({said}); in a container, start it with "
            "--security-opt seccomp=unconfined --security-opt apparmor=unconfined."
        )
    return f"bubblewrap does not work here ({said}): apt install --reinstall bubblewrap."


def _content(path: str) -> str | None:
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None

"""bubblewrap: the agent sees the system's programs, its own installation and its own folders, and nothing else."""

from __future__ import annotations

import os
import shutil
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.sandbox import NotStarted
from orvl.sandbox.client import KeeperClient, Spawn, installed
from orvl.sandbox.programs import Installation, installation, together, visible_path
from orvl.workdir import View

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.sandbox import Job
    from orvl.sandbox.surroundings import Surroundings
    from orvl.workdir import RunFolders

WORKSPACE, HOME, TMP = Path("/workspace"), Path("/home/agent"), Path("/tmp")
USER = "1000"
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
TOOLS = ("node", "npm", "npx", "pnpm", "yarn", "bun", "deno", "python3", "python", "uv", "cargo", "rustc", "go", "java")
SHARED_MEMORY, RUNTIME = 256 << 20, 16 << 20
OUTER = ["--args", "5", "--json-status-fd", "3", "--block-fd", "4", "--"]
NAMESPACES = [
    *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--die-with-parent"),
    *("--new-session", "--hostname", "sandbox", "--uid", USER, "--gid", USER),
]


DEVICES = [
    *("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev", "--remount-ro", "/proc"),
    *("--size", str(SHARED_MEMORY), "--perms", "1777", "--tmpfs", "/dev/shm"),
    *("--size", str(RUNTIME), "--tmpfs", "/run"),
]


class Bubblewrap(KeeperClient):
    """Its own user, process, network, ipc and host-name namespaces; no capabilities, and no way to new ones."""

    name = "bubblewrap"

    def __init__(self, around: Surroundings, lock_fd: int | None = None) -> None:
        super().__init__(lock_fd)
        self._around = around
        self._known: dict[tuple[Path, ...], list[str]] = {}

    def view(self, _folders: RunFolders) -> View:
        return View(WORKSPACE, HOME, TMP, self._path)

    @cached_property
    def _path(self) -> str:
        return visible_path(_search(), self._tools)

    @cached_property
    def _tools(self) -> Installation:
        """Compilers and the like under the user's home, which agents and checks call by name."""
        return tools(_search(), self._around.closed)

    def spawn(self, job: Job) -> Spawn:
        program, needs = self._program(job)
        env = {**needs.env, **job.env}
        if env.get("PATH") == self._path:
            env["PATH"] = visible_path(_search(), needs)
        arguments = [*NAMESPACES, *self._root(needs, job), *_rooms(job.folders)]
        argv = ["bwrap", *OUTER, program, *job.argv[1:]]
        return Spawn(bwrap(), argv, env, gate={"arguments": arguments})

    def _program(self, job: Job) -> tuple[str, Installation]:
        """The program as it is called inside, and all that must be seen of the user's own programs."""
        name = job.argv[0]
        search = _search()
        if "/" in name and not name.startswith("/"):
            if not os.path.exists(job.folders.workspace / name):
                raise NotStarted(f"'{name}' is not in the workspace", missing=True)
            return name, self._tools
        if inside := _in_the_rooms(name, job.folders):
            return inside, self._tools
        found = name if name.startswith("/") else installed(name, search)
        if not os.access(found, os.X_OK) or os.path.isdir(found):
            raise NotStarted(f"'{found}' could not be started: it is not there, or cannot be executed", missing=True)
        needs = installation(Path(found), search, self._around.closed)
        return found, self._tools if needs == Installation() else together([self._tools, needs])

    def _root(self, needs: Installation, job: Job) -> list[str]:
        """Arguments for the read-only root: the system, what is needed of the user's own, and no more."""
        words = [*system_folders(), *_etc(self._around.etc), *DEVICES, "--bind", str(job.folders.tmp), str(TMP)]
        words += self._installed(needs.paths)
        for path in sorted({*self._around.paths, *job.readable}):
            words += ["--ro-bind", str(path), str(path)]
        for path, text in needs.links:
            if not (path.is_relative_to(HOME) and os.path.lexists(job.folders.home / path.relative_to(HOME))):
                words += ["--symlink", text, str(path)]
        return words

    def _installed(self, paths: tuple[Path, ...]) -> list[str]:
        """The user's own programs, and covers over what must not be seen in them or in the system's folders."""
        if paths not in self._known:
            system = [Path(path) for path in SYSTEM]
            bound = [word for path in paths for word in ("--ro-bind", str(path), str(path))]
            hidden = _covers(self._around.hidden, [*system, *paths])
            self._known[paths] = [*_covers(self._around.closed, system), *bound, *hidden]
        return self._known[paths]


def _covers(hidden: Iterable[Path], seen: Sequence[Path]) -> list[str]:
    """Nothing is to be seen of what lies in something that is seen."""
    inside = [path for path in hidden if path.is_dir() and any(path.is_relative_to(folder) for folder in seen)]
    return [word for path in inside for word in ("--tmpfs", str(path), "--remount-ro", str(path))]


def _rooms(folders: RunFolders) -> list[str]:
    """The run's own folders; nothing else can be written."""
    words = ["--bind", str(folders.workspace), str(WORKSPACE), "--bind", str(folders.home), str(HOME)]
    return [*words, "--remount-ro", "/", "--chdir", str(WORKSPACE)]


def _in_the_rooms(name: str, folders: RunFolders) -> str | None:
    """A program that lies in the run's own folders, by its path in there."""
    path = Path(name)
    for inside, outside in ((WORKSPACE, folders.workspace), (HOME, folders.home), (TMP, folders.tmp)):
        if path.is_relative_to(inside) and os.path.lexists(outside / path.relative_to(inside)):
            return name
    return None


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


@lru_cache(maxsize=8)
def _etc(made_up: Path) -> list[str]:
    words = ["--perms", "0755", "--dir", "/etc"]
    for name in ETC:
        words += ["--ro-bind-try", f"/etc/{name}", f"/etc/{name}"]
    for name in ("passwd", "group", "hosts", "nsswitch.conf"):
        words += ["--ro-bind", str(made_up / name), f"/etc/{name}"]
    return words


@lru_cache(maxsize=8)
def tools(search: str, closed: Sequence[Path]) -> Installation:
    """What is needed of the toolchains that lie outside the system's folders."""
    found = [path for path in (shutil.which(name, path=search) for name in TOOLS) if path]
    return together(installation(Path(path), search, closed) for path in found)


def bwrap() -> str:
    return installed("bwrap", _search())


def _search() -> str:
    return os.environ.get("PATH", os.defpath)

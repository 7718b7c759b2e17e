"""A folder as data: every entry with its bytes by content hash, its mode and its links, as they were.

What an agent left behind is hostile: links are never followed, pipes and devices never opened, depth, number and size
are bounded, and what is left out is said.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Keeper = Callable[[int, int], str]
Writer = Callable[[str, int], None]
CHUNK = 1 << 20
MAX_DEPTH = 200
BYTECODE = "__pycache__"
MADE_BY_OTHERS = frozenset(("node_modules", ".git", ".venv", "venv", BYTECODE, "target", "vendor", ".cache"))
KINDS = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "folder",
    stat.S_IFLNK: "link",
    stat.S_IFIFO: "pipe",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a folder. A name that is not UTF-8 is kept with surrogate escapes."""

    path: str
    kind: str
    mode: int
    size: int = 0
    hash: str | None = None
    target: str | None = None
    cut: str | None = None


@dataclass(frozen=True)
class TreeLimits:
    """How much of a folder is kept."""

    files: int = 1_000_000
    file_bytes: int = 1 << 40
    total_bytes: int = 1 << 42


def scan(root: Path, keep: Keeper, limits: TreeLimits, *, unlock: bool = True) -> tuple[list[Entry], list[str]]:
    """All entries, a folder before what it holds, and sentences on what was left out.

    Files come before folders, and folders full of what others made come last: where there are too many, these are the
    ones left out. `unlock` lifts modes that forbid reading, and puts them back.
    """
    scanner = _Scanner(keep, limits, unlock)
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        scanner.folder(fd, "", 0)
    finally:
        os.close(fd)
    return scanner.entries, scanner.notes()


class _Scanner:
    def __init__(self, keep: Keeper, limits: TreeLimits, unlock: bool) -> None:
        self.keep = keep
        self.limits = limits
        self.unlock = unlock
        self.entries: list[Entry] = []
        self.bytes = 0
        self.full = False
        self.large = self.over = self.deep = self.unreadable = 0

    def folder(self, fd: int, prefix: str, depth: int) -> None:
        for name in self._names(fd):
            if len(self.entries) >= self.limits.files:
                self.full = True
                return
            with suppress(FileNotFoundError):
                self._entry(fd, name, prefix + name, depth)

    def _names(self, fd: int) -> list[str]:
        names: list[tuple[bool, bool, str]] = []
        with os.scandir(fd) as found:
            for entry in found:
                names.append((entry.name in MADE_BY_OTHERS, entry.is_dir(follow_symlinks=False), entry.name))
                if len(names) > self.limits.files:
                    break
        return [name for _, _, name in sorted(names)]

    def _entry(self, fd: int, name: str, path: str, depth: int) -> None:
        info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        kind = KINDS.get(stat.S_IFMT(info.st_mode), "device")
        entry = Entry(path, kind, stat.S_IMODE(info.st_mode))
        if kind == "link":
            self.entries.append(replace(entry, target=os.readlink(name, dir_fd=fd)))
        elif kind == "file":
            self.entries.append(self._file(fd, name, replace(entry, size=info.st_size)))
        elif kind == "folder":
            self._folder(fd, name, entry, depth)
        else:
            self.entries.append(entry)

    def _folder(self, fd: int, name: str, entry: Entry, depth: int) -> None:
        if depth >= MAX_DEPTH:
            self.deep += 1
            self.entries.append(replace(entry, cut="too deep"))
            return
        inner = self._open(fd, name, os.O_RDONLY | os.O_DIRECTORY, 0o500)
        if inner is None:
            self.unreadable += 1
            self.entries.append(replace(entry, cut="unreadable"))
            return
        try:
            self.entries.append(entry)
            self.folder(inner, entry.path + "/", depth + 1)
        finally:
            self._close(inner, entry)

    def _file(self, fd: int, name: str, entry: Entry) -> Entry:
        if entry.size > self.limits.file_bytes:
            self.large += 1
            return replace(entry, cut="too large")
        if self.bytes + entry.size > self.limits.total_bytes:
            self.over += 1
            return replace(entry, cut="over the limit")
        inner = self._open(fd, name, os.O_RDONLY | os.O_NONBLOCK, 0o400)
        if inner is None:
            self.unreadable += 1
            return replace(entry, cut="unreadable")
        try:
            self.bytes += entry.size
            return replace(entry, hash=self.keep(inner, entry.size))
        finally:
            self._close(inner, entry)

    def _open(self, folder: int, name: str, flags: int, needed: int) -> int | None:
        """Opens without following or blocking; a mode that forbids it is lifted."""
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC
        try:
            return os.open(name, flags, dir_fd=folder)
        except PermissionError:
            pass
        except OSError:
            return None
        if not self.unlock:
            return None
        try:
            mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
            os.chmod(name, stat.S_IMODE(mode) | needed, dir_fd=folder)
            return os.open(name, flags, dir_fd=folder)
        except OSError:
            return None

    def _close(self, fd: int, entry: Entry) -> None:
        """Closes, and puts back the mode that was there."""
        with suppress(OSError):
            if self.unlock and stat.S_IMODE(os.fstat(fd).st_mode) != entry.mode:
                os.fchmod(fd, entry.mode)
        os.close(fd)

    def notes(self) -> list[str]:
        said = {
            f"{self.large} larger than {self.limits.file_bytes // MEBI} MiB: contents not kept": self.large,
            f"{self.over} past {self.limits.total_bytes // MEBI} MiB in all: contents not kept": self.over,
            f"{self.deep} folders deeper than {MAX_DEPTH} levels: not looked into": self.deep,
            f"{self.unreadable} that could not be read: contents not kept": self.unreadable,
            f"more than {self.limits.files} files and folders: the rest was left out": self.full,
        }
        return [sentence for sentence, count in said.items() if count]


def chunks(fd: int) -> Iterator[bytes]:
    while chunk := os.read(fd, CHUNK):
        yield chunk


def hash_of(fd: int, _size: int = 0) -> str:
    """The content hash of an open file."""
    hasher = hashlib.sha256()
    for chunk in chunks(fd):
        hasher.update(chunk)
    return hasher.hexdigest()


def digest(root: Path) -> str:
    """One hash for a user's folder: names, bytes, links and whether files can be executed; bytecode does not count."""
    entries, _ = scan(root, hash_of, TreeLimits(), unlock=False)
    for entry in entries:
        if entry.cut or entry.kind not in ("file", "folder", "link"):
            raise OSError(errno.EINVAL, entry.cut or f"it is a {entry.kind}", str(root / entry.path))
    kept = [entry for entry in entries if BYTECODE not in entry.path.split("/")]
    rows = [[e.path, e.kind, e.hash, e.target, bool(e.mode & 0o100) and e.kind == "file"] for e in kept]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def encode(entries: Iterable[Entry]) -> bytes:
    """A manifest: ASCII JSON, so that every name survives."""
    rows = [[e.path, e.kind, e.mode, e.size, e.hash, e.target, e.cut] for e in entries]
    return json.dumps(rows, separators=(",", ":")).encode()


def decode(manifest: bytes) -> list[Entry]:
    return [Entry(*row) for row in json.loads(manifest)]


def restore(entries: Iterable[Entry], root: Path, write: Writer) -> None:
    """Lays a tree down in an empty folder; `write` puts a blob into an open file. What was cut stays away.

    Everything is made inside the folder that holds it, so that no link leads out and no path is too long.
    """
    open_folders = [("", os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW), -1)]
    try:
        for entry in entries:
            while not entry.path.startswith(open_folders[-1][0]):
                _leave(open_folders)
            prefix, fd, _ = open_folders[-1]
            name = entry.path[len(prefix) :]
            if "/" in name or name in ("", ".", ".."):
                raise OSError(errno.EINVAL, "a manifest names a path without its folder", entry.path)
            if entry.kind == "folder":
                os.mkdir(name, 0o700, dir_fd=fd)
                inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=fd)
                open_folders.append((entry.path + "/", inner, entry.mode))
            else:
                _restore_one(entry, name, fd, write)
    finally:
        while open_folders:
            _leave(open_folders)


def _leave(open_folders: list[tuple[str, int, int]]) -> None:
    _, fd, mode = open_folders.pop()
    if mode >= 0:
        os.fchmod(fd, mode)
    os.close(fd)


def _restore_one(entry: Entry, name: str, folder: int, write: Writer) -> None:
    if entry.kind == "link" and entry.target is not None:
        os.symlink(entry.target, name, dir_fd=folder)
    elif entry.kind == "file" and entry.hash is not None:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            write(entry.hash, fd)
            os.fchmod(fd, entry.mode)
        finally:
            os.close(fd)


def remove(root: Path) -> None:
    """Deletes a folder, however deep it is and whatever its modes are."""
    import shutil
    import subprocess

    with suppress(OSError, RecursionError):
        shutil.rmtree(root)
    if not os.path.lexists(root):
        return
    _unlock_all(root)
    with suppress(OSError, RecursionError):
        shutil.rmtree(root)
    if os.path.lexists(root):
        subprocess.run(["rm", "-rf", "--", str(root)], stderr=subprocess.DEVNULL, check=False)


def _unlock_all(root: Path) -> None:
    with suppress(OSError, RecursionError):
        os.chmod(root, 0o700)
        for path, folders, _ in os.walk(root):
            for name in folders:
                inner = os.path.join(path, name)
                if not os.path.islink(inner):
                    os.chmod(inner, 0o700)

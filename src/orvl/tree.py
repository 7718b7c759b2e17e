"""A folder as data: every entry with its bytes by content hash, its mode and its links, as they were.

What an agent left behind is hostile: links are never followed, pipes and devices never opened, depth, number and size
are bounded, and what is left out is said.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Keeper = Callable[[int, int], str]
Writer = Callable[[str, int], None]
CHUNK = 1 << 20
MAX_DEPTH = 200
BYTECODE = "__pycache__"
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


def scan(root: Path, keep: Keeper, limits: TreeLimits) -> tuple[list[Entry], list[str]]:
    """All entries in order of their paths, and sentences on what was left out."""
    scanner = _Scanner(keep, limits)
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        scanner.folder(fd, "", 0)
    finally:
        os.close(fd)
    return scanner.entries, scanner.notes()


class _Scanner:
    def __init__(self, keep: Keeper, limits: TreeLimits) -> None:
        self.keep = keep
        self.limits = limits
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
        names: list[str] = []
        with os.scandir(fd) as found:
            for entry in found:
                names.append(entry.name)
                if len(names) > self.limits.files:
                    break
        return sorted(names)

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
        inner = _open(fd, name, os.O_RDONLY | os.O_DIRECTORY, 0o500)
        if inner is None:
            self.unreadable += 1
            self.entries.append(replace(entry, cut="unreadable"))
            return
        try:
            self.entries.append(entry)
            self.folder(inner, entry.path + "/", depth + 1)
        finally:
            os.close(inner)

    def _file(self, fd: int, name: str, entry: Entry) -> Entry:
        if entry.size > self.limits.file_bytes:
            self.large += 1
            return replace(entry, cut="too large")
        if self.bytes + entry.size > self.limits.total_bytes:
            self.over += 1
            return replace(entry, cut="over the limit")
        inner = _open(fd, name, os.O_RDONLY | os.O_NONBLOCK, 0o400)
        if inner is None:
            self.unreadable += 1
            return replace(entry, cut="unreadable")
        try:
            self.bytes += entry.size
            return replace(entry, hash=self.keep(inner, entry.size))
        finally:
            os.close(inner)

    def notes(self) -> list[str]:
        mebi = 1 << 20
        said = {
            f"{self.large} larger than {self.limits.file_bytes // mebi} MiB: contents not kept": self.large,
            f"{self.over} past {self.limits.total_bytes // mebi} MiB in all: contents not kept": self.over,
            f"{self.deep} folders deeper than {MAX_DEPTH} levels: not looked into": self.deep,
            f"{self.unreadable} that could not be read: contents not kept": self.unreadable,
            f"more than {self.limits.files} files and folders: the rest was left out": self.full,
        }
        return [sentence for sentence, count in said.items() if count]


def _open(folder: int, name: str, flags: int, needed: int) -> int | None:
    """Opens without following or blocking; a mode that forbids it is lifted for a moment."""
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        return os.open(name, flags, dir_fd=folder)
    except PermissionError:
        pass
    except OSError:
        return None
    mode = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    try:
        os.chmod(name, stat.S_IMODE(mode) | needed, dir_fd=folder)
        return os.open(name, flags, dir_fd=folder)
    except OSError:
        return None


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
    entries, _ = scan(root, hash_of, TreeLimits())
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
    """Lays a tree down in an empty folder; `write` puts a blob into an open file. What was cut stays away."""
    folders: list[tuple[str, int]] = []
    for entry in entries:
        path = os.path.join(root, entry.path)
        if entry.kind == "folder":
            os.mkdir(path, 0o700)
            folders.append((path, entry.mode))
        elif entry.kind == "link" and entry.target is not None:
            os.symlink(entry.target, path)
        elif entry.kind == "file" and entry.hash is not None:
            fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            try:
                write(entry.hash, fd)
                os.fchmod(fd, entry.mode)
            finally:
                os.close(fd)
    for path, mode in reversed(folders):
        os.chmod(path, mode)


def remove(root: Path) -> None:
    """Deletes a folder, however deep it is and whatever its modes are."""
    import shutil
    import subprocess

    def unlock(_function: object, path: str, _error: object) -> None:
        with suppress(OSError):
            os.chmod(os.path.dirname(path), 0o700)
            if not os.path.islink(path):
                os.chmod(path, 0o700)

    with suppress(OSError, RecursionError):
        shutil.rmtree(root)
        return
    with suppress(OSError, RecursionError):
        shutil.rmtree(root, onerror=unlock)
    if os.path.lexists(root):
        subprocess.run(["rm", "-rf", "--", str(root)], stderr=subprocess.DEVNULL, check=False)

"""A folder as data: every entry with its bytes by content hash, its mode and its links, as they were.

What an agent left behind is hostile: links are never followed, pipes and devices never opened, depth, number and size
are bounded, and what is left out is said.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from json.encoder import encode_basestring_ascii as quoted
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import StoreError
from orvl.store import beneath
from orvl.store.beneath import remove as remove
from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from orvl.store.protocol import Blobs

Keeper = Callable[[int, int], str]
Writer = Callable[[str, int, int], None]
CHUNK = 1 << 20
MAX_DEPTH = 200
TO_READ, TO_LOOK_INTO = 0o400, 0o500
PERMISSIONS = 0o777
"""What of a mode is restored: a file that runs as its owner is nothing that a store may make."""
BYTECODE = "__pycache__"
REPOSITORY = ".git"
NOT_GIVEN = frozenset((BYTECODE, REPOSITORY))
"""What of an eval's own folders no run gets to see."""
MADE_BY_OTHERS = frozenset(("node_modules", REPOSITORY, ".venv", "venv", BYTECODE, "target", "vendor", ".cache"))
HASH = re.compile("[0-9a-f]{64}")
MOST_ENTRIES = 1_000_000
MOST_LISTED, LISTED_EACH = 256 << 20, 1 << 10
"""Bytes of a manifest, in all, and on average for each of the entries that it may have."""
MOST_RESTORED = 16 << 30
"""Bytes that a tree may take when it is laid down."""
STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
ROW = re.compile(
    rf'\[({STRING}),"([a-z]+)",(\d{{1,6}}),(\d{{1,19}}),(?:null|"([0-9a-f]{{64}})"),(?:null|({STRING}))'
    r',(?:null|"([a-z ]+)")\]'
)
"""An entry in a manifest."""
SAID = 80
LONGEST_ROW = len('["","folder",4095,,,,"over the limit"],') + 19 + 66
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

    files: int = MOST_ENTRIES
    file_bytes: int = 1 << 40
    total_bytes: int = 1 << 42

    @property
    def listed(self) -> int:
        """Bytes of the manifest: an agent can make few files with paths of many MiB in all."""
        return min(self.files * LISTED_EACH, MOST_LISTED - MEBI)


def scan(
    root: Path, keep: Keeper, limits: TreeLimits, *, unlock: bool = True, skip: Collection[str] = ()
) -> tuple[list[Entry], list[str]]:
    """All entries, a folder before what it holds, and sentences on what was left out.

    Files come before folders, and folders full of what others made come last: where there are too many, these are the
    ones left out. `unlock` lifts modes that forbid reading, and puts them back. What has a name in `skip`, at any
    depth, is not looked at. Every file is read: neither times nor inodes prove that its bytes are the same (a write
    through a mapping on tmpfs and an exchange of extents on ext4 leave both as they were).
    """
    scanner = _Scanner(keep, limits, unlock, skip)
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        scanner.folder(fd, "", 0)
    finally:
        os.close(fd)
    return scanner.entries, scanner.notes()


class _Scanner:
    def __init__(self, keep: Keeper, limits: TreeLimits, unlock: bool, skip: Collection[str]) -> None:
        self.keep = keep
        self.limits = limits
        self.unlock = unlock
        self.skip = skip
        self.entries: list[Entry] = []
        self.bytes = self.listed = 0
        self.full = self.wordy = False
        self.large = self.over = self.deep = self.unreadable = 0

    def folder(self, fd: int, prefix: str, depth: int) -> None:
        for found in self._found(fd):
            self.full = self.full or len(self.entries) >= self.limits.files
            self.wordy = self.wordy or self.listed >= self.limits.listed
            if self.full or self.wordy:
                return
            try:
                self._entry(fd, found, prefix + found.name, depth)
            except FileNotFoundError:
                continue
            except PermissionError:
                self.unreadable += 1

    def _found(self, fd: int) -> list[os.DirEntry[str]]:
        """What lies in a folder, in order; the entries hold for as long as the folder is open."""
        listed: list[os.DirEntry[str]] = []
        with os.scandir(fd) as all_found:
            for found in all_found:
                if found.name not in self.skip:
                    listed.append(found)
                if len(listed) > self.limits.files:
                    break
        return sorted(listed, key=lambda one: (one.name in MADE_BY_OTHERS, one.is_dir(follow_symlinks=False), one.name))

    def _entry(self, fd: int, found: os.DirEntry[str], path: str, depth: int) -> None:
        info, name = found.stat(follow_symlinks=False), found.name
        self.listed += LONGEST_ROW + len(quoted(path))
        kind, mode = KINDS.get(stat.S_IFMT(info.st_mode), "device"), stat.S_IMODE(info.st_mode)
        if kind == "file":
            self.entries.append(self._file(fd, name, path, mode, info.st_size))
        elif kind == "folder":
            self._folder(fd, name, Entry(path, kind, mode), depth)
        elif kind == "link":
            target = os.readlink(name, dir_fd=fd)
            self.listed += len(quoted(target))
            self.entries.append(Entry(path, kind, mode, target=target))
        else:
            self.entries.append(Entry(path, kind, mode))

    def _folder(self, fd: int, name: str, entry: Entry, depth: int) -> None:
        if depth >= MAX_DEPTH:
            self.deep += 1
            self.entries.append(replace(entry, cut="too deep"))
            return
        inner = self._open(fd, name, os.O_RDONLY | os.O_DIRECTORY, TO_LOOK_INTO)
        if inner is None:
            self.unreadable += 1
            self.entries.append(replace(entry, cut="unreadable"))
            return
        try:
            self.entries.append(entry)
            self.folder(inner, entry.path + "/", depth + 1)
        finally:
            self._close(inner, entry.mode, TO_LOOK_INTO)

    def _file(self, fd: int, name: str, path: str, mode: int, size: int) -> Entry:
        if size > self.limits.file_bytes:
            self.large += 1
            return Entry(path, "file", mode, size, cut="too large")
        if self.bytes + size > self.limits.total_bytes:
            self.over += 1
            return Entry(path, "file", mode, size, cut="over the limit")
        inner = self._open(fd, name, os.O_RDONLY, TO_READ)
        if inner is None:
            self.unreadable += 1
            return Entry(path, "file", mode, size, cut="unreadable")
        try:
            self.bytes += size
            return Entry(path, "file", mode, size, self.keep(inner, size))
        finally:
            self._close(inner, mode, TO_READ)

    def _open(self, folder: int, name: str, flags: int, needed: int) -> int | None:
        """Opens without following or blocking; a mode that forbids it is lifted."""
        if self.unlock:
            return beneath.open_unlocked(folder, name, flags, needed)
        with suppress(OSError):
            return os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        return None

    def _close(self, fd: int, mode: int, needed: int) -> None:
        """Closes, and puts back the mode that was there if it was lifted."""
        if self.unlock and mode & needed != needed:
            with suppress(OSError):
                os.fchmod(fd, mode)
        os.close(fd)

    def notes(self) -> list[str]:
        said = {
            f"{self.large} larger than {self.limits.file_bytes // MEBI} MiB: contents not kept": self.large,
            f"{self.over} past {self.limits.total_bytes // MEBI} MiB in all: contents not kept": self.over,
            f"{self.deep} folders deeper than {MAX_DEPTH} levels: not looked into": self.deep,
            f"{self.unreadable} that could not be read: contents not kept": self.unreadable,
            f"more than {self.limits.files} files and folders: the rest was left out": self.full,
            f"names of more than {self.limits.listed // MEBI} MiB: the rest was left out": self.wordy,
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


def digest(root: Path, *, is_data: bool = False) -> str:
    """One hash for a user's folder: names, bytes, links and whether files can be executed.

    What no run gets to see does not count. With `is_data` the folder may be somebody else's, and no link in it may lead
    out of it.
    """
    entries, notes = scan(root, hash_of, TreeLimits(total_bytes=MOST_RESTORED), unlock=False, skip=NOT_GIVEN)
    for entry in entries:
        if is_data and entry.kind == "link" and beneath.leads_outside(root / entry.path, root):
            raise OSError(errno.EINVAL, f"it is a link that leads outside, to {entry.target!r}", str(root / entry.path))
        if entry.cut or entry.kind not in ("file", "folder", "link"):
            raise OSError(errno.EINVAL, entry.cut or f"it is a {entry.kind}", str(root / entry.path))
    if notes:
        raise OSError(errno.EINVAL, notes[0], str(root))
    rows = [[e.path, e.kind, e.hash, e.target, bool(e.mode & 0o100) and e.kind == "file"] for e in entries]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()


def encode(entries: Iterable[Entry]) -> bytes:
    """A manifest: ASCII JSON, so that every name survives."""
    rows = [[e.path, e.kind, e.mode, e.size, e.hash, e.target, e.cut] for e in entries]
    return json.dumps(rows, separators=(",", ":")).encode()


def entries_of(blobs: Blobs, key: str | None) -> list[Entry]:
    """The entries of a stored tree; none where there is no tree."""
    return decode(blobs.get(key, MOST_LISTED)) if key else []


def decode(manifest: bytes) -> list[Entry]:
    """Whoever made the store made this too: what is not as `encode` writes it is refused, and so is what has no end.

    It is read entry by entry: of other JSON, a few MiB can take all memory.
    """
    text = manifest.decode("ascii", "replace")
    if text == "[]":
        return []
    entries: list[Entry] = []
    before, place = "[", 0
    while len(entries) < MOST_ENTRIES and text.startswith(before, place) and (row := ROW.match(text, place + 1)):
        entries.append(_entry(row))
        before, place = ",", row.end()
    if text[place:] != "]":
        raise _damaged(text[place : place + SAID])
    return entries


def _entry(row: re.Match[str]) -> Entry:
    path, kind, mode, size, key, target, cut = row.groups()
    return Entry(_unquoted(path), kind, int(mode), int(size), key, None if target is None else _unquoted(target), cut)


def _unquoted(text: str) -> str:
    """A name; one that no file system could have is damage."""
    try:
        name = text[1:-1] if "\\" not in text else str(json.loads(text))
        if b"\0" in os.fsencode(name):
            raise _damaged(text[:SAID])
    except ValueError as error:
        raise _damaged(text[:SAID]) from error
    return name


def _damaged(what: str) -> StoreError:
    return StoreError(f"A list of files in the store is damaged ({what!r}). See: orvl doctor")


def restore(entries: Iterable[Entry], root: Path, write: Writer) -> None:
    """Lays a tree down in an empty folder; `write` puts a blob of a stated size into an open file. What was cut stays
    away.

    Everything is made inside the folder that holds it, so that no link leads out and no path is too long. A few small
    blobs can be named so often, or unpack to so much, that no disk could hold them all: that is said at once.
    """
    entries = list(entries)
    _check_size(entries, root)
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


def _check_size(entries: Iterable[Entry], root: Path) -> None:
    info = os.statvfs(root)
    size = sum(entry.size for entry in entries if entry.kind == "file" and entry.hash)
    if size > MOST_RESTORED:
        most = MOST_RESTORED >> 30
        raise StoreError(f"The files of a run take {size >> 30} GiB, and no more than {most} GiB are ever laid down.")
    if size > info.f_bavail * info.f_frsize:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(root))


def _leave(open_folders: list[tuple[str, int, int]]) -> None:
    _, fd, mode = open_folders.pop()
    if mode >= 0:
        os.fchmod(fd, mode & PERMISSIONS)
    os.close(fd)


def _restore_one(entry: Entry, name: str, folder: int, write: Writer) -> None:
    if entry.kind == "link" and entry.target is not None:
        os.symlink(entry.target, name, dir_fd=folder)
    elif entry.kind == "file" and entry.hash is not None:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600, dir_fd=folder)
        try:
            write(entry.hash, fd, entry.size)
            os.fchmod(fd, entry.mode & PERMISSIONS)
        finally:
            os.close(fd)

"""A task's folder, which anybody may have made: copied with bounds before a byte of it is looked at."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import TaskRefused, disk_sentence
from orvl.store import beneath, tree
from orvl.store.tree import TreeLimits

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

MOST_ENTRIES = 20_000
MOST_BYTES = 512 << 20
DEEPEST = 40
MOST_VISITED = 20_000
"""Folders that are looked at for tasks."""
DEEPEST_TASK = 6
LONGEST_TEXT = 1 << 20
REPOSITORY = ".git"
LICENCES = ("license", "licence", "copying", "notice")
OPEN_SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


def copy_in(source: Path, target: Path) -> None:
    """A copy of a task's folder: bytes, links that stay inside, what can be executed; without a `.git` of its own."""
    try:
        target.mkdir(mode=0o755, parents=True)
        with _opened(source, beneath.OPEN_FOLDER) as read, _opened(target, beneath.OPEN_FOLDER) as write:
            _Copier().folder(read, write, "", 1)
    except OSError as error:
        raise TaskRefused(f"it cannot be copied: {disk_sentence(error)}") from error
    for link in _links(target):
        if beneath.leads_outside(link, target):
            raise TaskRefused(f"{link.relative_to(target)} is a link that leads out of it")


@dataclass
class _Copier:
    entries: int = 0
    size: int = 0

    def folder(self, read: int, write: int, prefix: str, depth: int) -> None:
        if depth > DEEPEST:
            raise TaskRefused(f"its folders are more than {DEEPEST} deep")
        with os.scandir(read) as found:
            names = sorted(entry.name for entry in found)
        for name in names:
            if depth == 1 and name == REPOSITORY:
                continue
            self.entries += 1
            if self.entries > MOST_ENTRIES:
                raise TaskRefused(f"it has more than {MOST_ENTRIES:,} files and folders")
            if not name.isprintable() or any("\ud800" <= sign <= "\udfff" for sign in name):
                raise TaskRefused(f"the name {ascii(prefix + name)[:80]} is not plain text")
            self._one(name, read, write, prefix, depth)

    def _one(self, name: str, read: int, write: int, prefix: str, depth: int) -> None:
        mode = os.stat(name, dir_fd=read, follow_symlinks=False).st_mode
        if stat.S_ISDIR(mode):
            os.mkdir(name, 0o755, dir_fd=write)
            with _opened(name, beneath.OPEN_FOLDER, read) as inner, _opened(name, beneath.OPEN_FOLDER, write) as made:
                self.folder(inner, made, f"{prefix}{name}/", depth + 1)
        elif stat.S_ISREG(mode):
            self._file(name, read, write)
        elif stat.S_ISLNK(mode):
            os.symlink(os.readlink(name, dir_fd=read), name, dir_fd=write)
        else:
            raise TaskRefused(f"{prefix}{name} is neither a file nor a folder")

    def _file(self, name: str, read: int, write: int) -> None:
        with _opened(name, OPEN_SOURCE, read) as source:
            info = os.fstat(source)
            self.size += info.st_size
            if self.size > MOST_BYTES or not stat.S_ISREG(info.st_mode):
                raise TaskRefused(f"it has more than {MOST_BYTES >> 20} MiB")
            with _opened(name, beneath.NEW_FILE, write, 0o755 if info.st_mode & 0o100 else 0o644) as target:
                left = info.st_size
                while left > 0 and (chunk := os.read(source, min(left, 1 << 20))):
                    left -= len(chunk)
                    while chunk:
                        chunk = chunk[os.write(target, chunk) :]
                os.fchmod(target, 0o755 if info.st_mode & 0o100 else 0o644)


@contextmanager
def _opened(name: str | Path, flags: int, folder: int | None = None, mode: int = 0o600) -> Iterator[int]:
    fd = os.open(name, flags, mode, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _links(folder: Path) -> Iterator[Path]:
    for inner, folders, names in os.walk(folder):
        yield from (path for path in (Path(inner, name) for name in (*folders, *names)) if path.is_symlink())


def digest_of(folder: Path, skip: Iterable[str] = ()) -> str:
    """One hash for all that is in a folder: names, bytes, links and whether files can be executed."""
    limits = TreeLimits(MOST_ENTRIES * 4, total_bytes=MOST_BYTES * 4)
    entries, notes = tree.scan(folder, tree.hash_of, limits, unlock=False)
    if notes:
        raise OSError(0, notes[0], str(folder))
    left_out = tuple(skip)
    rows = [
        [entry.path, entry.kind, entry.hash, entry.target, entry.kind == "file" and bool(entry.mode & 0o100)]
        for entry in entries
        if entry.path.partition("/")[0] not in left_out
    ]
    return hashlib.sha256(json.dumps(sorted(rows)).encode()).hexdigest()


# -- what is in it


def text_of(folder: Path, name: str, most: int = LONGEST_TEXT) -> str:
    """A text of a task."""
    data = beneath.read_inside(folder, name, most)
    if data is None:
        raise TaskRefused(f"it has no {name}")
    if len(data) > most:
        raise TaskRefused(f"{name} has more than {most >> 10} KiB")
    try:
        return data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise TaskRefused(f"{name} is not UTF-8 text") from error


def files_in(folder: Path) -> list[str]:
    """The paths of all files and links in a folder that was copied, in order; none where there is no folder."""
    found = []
    for inner, folders, names in os.walk(folder):
        found += [Path(inner, name) for name in names]
        found += [Path(inner, name) for name in folders if os.path.islink(os.path.join(inner, name))]
    return sorted(path.relative_to(folder).as_posix() for path in found)


def copy_tree(source: Path, target: Path, skip: Collection[str] = ()) -> None:
    """Lays a folder of a task that was copied before over another one; a file replaces what is there.

    A link stays one if it leads to something in the same folder, and else becomes a copy of its file. What has a name
    in `skip` stays away.
    """
    for inner, folders, names in os.walk(source):
        folders[:] = [name for name in folders if name not in skip]
        here = target / Path(inner).relative_to(source)
        _make_way(here, folder=True)
        here.mkdir(parents=True, exist_ok=True)
        links = [name for name in folders if os.path.islink(os.path.join(inner, name))]
        folders[:] = [name for name in folders if name not in links]
        for path in (Path(inner, name) for name in (*names, *links)):
            if path.is_symlink() and not beneath.leads_outside(path, source):
                _make_way(here / path.name)
                (here / path.name).symlink_to(os.readlink(path))
            else:
                copy_file(path, here / path.name)


def copy_file(source: Path, target: Path) -> None:
    """Copies a file of a task that was copied before, or what a link in it leads to."""
    if not source.is_file():
        raise TaskRefused(f"{source.name} is a link to a folder elsewhere, or to nothing")
    target.parent.mkdir(parents=True, exist_ok=True)
    _make_way(target)
    target.write_bytes(source.read_bytes())
    target.chmod(source.stat().st_mode & 0o777)


def _make_way(place: Path, *, folder: bool = False) -> None:
    if place.is_symlink() or (place.exists() and place.is_dir() != folder):
        beneath.remove(place)


def folders_with(root: Path, name: str) -> list[Path]:
    """The folders at or below a folder that have a file of this name, in order; none that is inside another."""
    found, todo, visited = [], [(root, 0)], 0
    while todo:
        folder, depth = todo.pop()
        visited += 1
        if visited > MOST_VISITED:
            raise TaskRefused(f"{root} has more than {MOST_VISITED:,} folders; name one of them")
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        if _is_file(folder / name):
            found.append(folder)
        elif depth < DEEPEST_TASK:
            below = [entry for entry in inside if entry.is_dir(follow_symlinks=False) and entry.name[0] != "."]
            todo += [(Path(entry.path), depth + 1) for entry in reversed(below)]
    return sorted(found)


def _is_file(path: Path) -> bool:
    try:
        return stat.S_ISREG(os.lstat(path).st_mode)
    except OSError:
        return False


def licences_of(folder: Path, root: Path) -> dict[str, bytes]:
    """The licences of a task: its own, else those of the nearest folder above it, up to what was asked for."""
    for above in [folder, *(one for one in folder.parents if one.is_relative_to(root))]:
        try:
            names = sorted(name for name in os.listdir(above) if name.lower().startswith(LICENCES))
        except OSError:
            continue
        read = {name: beneath.read_inside(above, name, LONGEST_TEXT) for name in names[:8]}
        found = {name: data for name, data in read.items() if data is not None and len(data) <= LONGEST_TEXT}
        if found:
            return found
    return {}

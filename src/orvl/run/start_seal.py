"""The seal of a prepared start: what every entry in it is, so that no run begins with anything else.

A store may come from somebody else, who can write a seal as orvl does. So a seal holds only where it was made: it has
the inodes of its folders and when they were last changed, which nobody can choose for a copy.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import stat
from contextlib import suppress
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from orvl.errors import SetupFailed, StartDamaged, disk_sentence
from orvl.run.start_tree import FOLDER, SOURCE, opened
from orvl.store import tree
from orvl.store.tree import TreeLimits

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from orvl.store.tree import Entry, Keeper

PARTS = ("workspace", "home")
FILE = "seal"
SAID = 80
SYNC_ALL_AFTER = 64
"""Entries from which one sync of everything takes less time than one for each."""
LIMITS = TreeLimits(total_bytes=tree.MOST_RESTORED)
Stamp = dict[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class SealedEntry:
    """One thing in a prepared start. The time counts: an agent's `make` goes by it."""

    path: str
    kind: str
    mode: int
    size: int
    bytes: str | None
    target: str | None
    time: int


def stamp_of(folder: Path) -> Stamp:
    """Mode, size, times and inode of all that runs get, without a look into files.

    Nobody but root can write to a file and leave its stamp as it was.
    """
    return _stamp(_infos(folder))


def _infos(folder: Path) -> dict[str, os.stat_result]:
    with opened(folder, FOLDER) as fd:
        return dict(_walk(fd, "", PARTS))


def _stamp(infos: Mapping[str, os.stat_result]) -> Stamp:
    return {
        path: (info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns, info.st_ino)
        for path, info in infos.items()
    }


def check_bounds(folder: Path) -> None:
    """Raises where a folder has more, larger or deeper things than can be sealed, whoever made them; reads no file."""
    if notes := tree.scan(folder, lambda _fd, _size: "", LIMITS)[1]:
        raise SetupFailed(f"what its runs would start from cannot be kept: {'; '.join(notes)}")


def seal(folder: Path) -> None:
    """Writes down what is in a start, and returns when all of it is on the disk."""
    infos = _infos(folder)
    rows = [[getattr(entry, one.name) for one in fields(entry)] for entry in _read(folder, tree.hash_of, infos)[0]]
    text = json.dumps({"place": _place(infos), "entries": rows}, separators=(",", ":")).encode()
    (folder / FILE).write_bytes(hashlib.sha256(text).hexdigest().encode() + b"\n" + text)
    _sync(folder)


def _place(infos: Mapping[str, os.stat_result]) -> list[list[int]]:
    return [[infos[part].st_ino, infos[part].st_ctime_ns] for part in PARTS]


def is_unsealed(folder: Path) -> bool:
    """Whether it is a start as an older orvl left it, without a seal."""
    return not folder.is_symlink() and (folder / "workspace").is_dir() and not os.path.lexists(folder / FILE)


def check(folder: Path, keep: Keeper) -> tuple[list[Entry], Stamp]:
    """Reads all of a start; gives back its workspace, kept by `keep`, and the stamp of what was read.

    Where anything is not as it was sealed, that is raised.
    """
    try:
        infos = _infos(folder)
        sealed = _sealed(folder, _place(infos))
        found, workspace = _read(folder, keep, infos)
    except OSError as error:
        raise StartDamaged(disk_sentence(error)) from error
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise StartDamaged(f"{FILE} cannot be read") from error
    if wrong := _difference(sealed, found):
        raise StartDamaged(wrong)
    return workspace, _stamp(infos)


def _sealed(folder: Path, place: list[list[int]]) -> list[SealedEntry]:
    with opened(folder / FILE, SOURCE) as fd:
        digest, _, text = b"".join(tree.chunks(fd)).partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        raise StartDamaged(f"{FILE} has other bytes")
    sealed = json.loads(text)
    if sealed["place"] != place:
        raise StartDamaged(f"{FILE} was made elsewhere")
    return [SealedEntry(*row) for row in sealed["entries"]]


def _read(folder: Path, keep: Keeper, infos: Mapping[str, os.stat_result]) -> tuple[list[SealedEntry], list[Entry]]:
    """All entries, as they are, and those of the workspace as a tree."""
    found, trees = [], {}
    for part in PARTS:
        keeper = keep if part == "workspace" else tree.hash_of
        trees[part], _ = tree.scan(folder / part, keeper, LIMITS)
        root = infos[part]
        found.append(SealedEntry(part, "folder", stat.S_IMODE(root.st_mode), 0, None, None, root.st_mtime_ns))
        for one in trees[part]:
            path = f"{part}/{one.path}"
            # Below a folder that cannot be opened, or is too deep, there is nothing that a run could get either.
            time = infos[path].st_mtime_ns if path in infos else 0
            found.append(SealedEntry(path, one.kind, one.mode, one.size, one.hash, one.target, time))
    return found, trees["workspace"]


def _difference(sealed: Sequence[SealedEntry], found: Sequence[SealedEntry]) -> str | None:
    """The first thing that is not as it was sealed, as the end of a sentence."""
    if sealed == found:
        return None
    before, now = ({entry.path: entry for entry in entries} for entries in (sealed, found))
    for path in sorted(before.keys() | now.keys()):
        if path not in now:
            return f"{path} is missing"
        if path not in before:
            return f"{path} was added"
        for one in fields(SealedEntry):
            if getattr(before[path], one.name) != getattr(now[path], one.name):
                return f"{path} has another {one.name}" if one.name != "bytes" else f"{path} has other bytes"
    return "its entries are in another order"


def _walk(fd: int, prefix: str, names: Sequence[str] = (), depth: int = 0) -> Iterator[tuple[str, os.stat_result]]:
    """All below an open folder, or only what has these names in it, by descriptors: no link is followed."""
    if depth > tree.MAX_DEPTH + 1:
        raise OSError(errno.ENAMETOOLONG, "its folders are too deep", prefix[:SAID])
    with os.scandir(fd) as found:
        entries = [(one.name, one.stat(follow_symlinks=False)) for one in found if not names or one.name in names]
    for name, info in entries:
        yield prefix + name, info
        if stat.S_ISDIR(info.st_mode):
            with suppress(PermissionError), opened(name, FOLDER, fd) as inner:
                yield from _walk(inner, f"{prefix}{name}/", depth=depth + 1)


def _sync(folder: Path) -> None:
    """All files and folders are on the disk when this returns; the folder that holds it is the caller's."""
    with opened(folder, FOLDER) as fd:
        paths = [path for path, info in _walk(fd, "") if stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)]
        if len(paths) > SYNC_ALL_AFTER:
            os.sync()
            return
        for path in paths:
            sync_path(folder / path)
        os.fsync(fd)


def sync_path(path: Path) -> None:
    """One file or folder; where its mode forbids to open it, everything."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except PermissionError:
        os.sync()
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)

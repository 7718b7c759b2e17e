"""Files below a folder that somebody else has written, made and removed by descriptor: no link on the way is followed.

A path is looked up anew at each use, and then leads wherever a link that was put into it leads. A descriptor does not.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import BinaryIO

OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
ALL = 0o700
LARGEST = 4 << 20
"""Bytes of a file that a person writes, such as an eval's or an agent's."""


def stays_inside(name: str) -> bool:
    """Whether a path, as it is written, names something below the folder that it is used in."""
    return "\0" not in name and not any(part in ("", ".", "..") for part in name.split("/"))


def leads_outside(link: Path, folder: Path) -> bool:
    """Whether a link in a folder is absolute or leads out of it, itself or by the links that it goes through."""
    return os.path.isabs(os.readlink(link)) or not Path(os.path.realpath(link)).is_relative_to(folder.resolve())


def read(path: Path, most: int) -> bytes:
    """A regular file of bounded size: a pipe would never end, and a file of zeros takes no room until it is read."""
    with open(path, "rb", opener=open_file) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it is larger than {most} bytes", str(path))
    return data


def read_inside(root: Path, name: str, most: int) -> bytes | None:
    """A regular file below a folder, without following a link on the way; None where there is none that can be read.

    What is longer than `most` ends a byte after it.
    """
    opened: list[int] = []
    try:
        opened.append(os.open(root, OPEN_FOLDER))
        *parents, last = name.split("/")
        for part in parents:
            opened.append(os.open(part, OPEN_FOLDER, dir_fd=opened[-1]))
        opened.append(os.open(last, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=opened[-1]))
        if not stat.S_ISREG(os.fstat(opened[-1]).st_mode):
            return None
        with open(opened[-1], "rb", closefd=False) as file:
            return file.read(most + 1)
    except OSError:
        return None
    finally:
        for fd in opened:
            os.close(fd)


def open_file(path: str, flags: int) -> int:
    """A regular file, without waiting for a pipe."""
    fd = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", path)
    return fd


def put(root: Path, name: str, content: bytes, mode: int = 0o644) -> None:
    """Writes a file below a folder; a link, or a file where a folder is needed, makes way for it."""
    if not stays_inside(name):
        raise OSError(errno.EINVAL, "this path leads out of its folder", name)
    *parents, last = name.split("/")
    folder = os.open(root, OPEN_FOLDER)
    try:
        for part in parents:
            inner = open_or_make(folder, part)
            os.close(folder)
            folder = inner
        remove_in(folder, last)
        with open(os.open(last, NEW_FILE, mode, dir_fd=folder), "wb") as file:
            file.write(content)
            os.fchmod(file.fileno(), mode)
    finally:
        os.close(folder)


def open_or_make(folder: int, name: str) -> int:
    """Opens a folder inside an open one; makes it, and makes way for it, where it is not there."""
    try:
        return os.open(name, OPEN_FOLDER, dir_fd=folder)
    except OSError:
        remove_in(folder, name)
        os.mkdir(name, 0o755, dir_fd=folder)
        return os.open(name, OPEN_FOLDER, dir_fd=folder)


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Writes a file beside a path and renames it, so that it is complete or absent; a link there is replaced."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        with open(os.open(partial, NEW_FILE, 0o666), "wb") as out:
            yield out
        partial.rename(path)
    finally:
        partial.unlink(missing_ok=True)


# -- removing


def delete(root: Path, name: str) -> None:
    """Deletes what a path below a folder names; no folder on the way may be a link, and something has to be there."""
    if not stays_inside(name):
        raise OSError(errno.EINVAL, "this path leads out of its folder", name)
    *parents, last = name.split("/")
    folder = os.open(root, OPEN_FOLDER)
    try:
        for part in parents:
            inner = os.open(part, OPEN_FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        os.stat(last, dir_fd=folder, follow_symlinks=False)
        remove_in(folder, last)
    finally:
        os.close(folder)


def remove(path: Path) -> None:
    """Deletes a folder, however deep it is and whatever its modes are; a link or a file is only taken away."""
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            remove_in(folder, path.name)
        finally:
            os.close(folder)


def remove_in(folder: int, name: str) -> None:
    """The same inside an open folder.

    Folders are moved up to the first one and emptied there, one by one: so neither depth nor length of paths matters.
    """
    if _unlinked(folder, name) or (top := open_unlocked(folder, name, OPEN_FOLDER, ALL)) is None:
        return
    try:
        mark, number = f".orvl-{secrets.token_hex(8)}", 0
        todo = _filled(top)
        while todo:
            here = todo.pop()
            fd = open_unlocked(top, here, OPEN_FOLDER, ALL)
            if fd is None:
                continue
            for inner in _filled(fd):
                number += 1
                if _moved(fd, inner, top, f"{mark}-{number}"):
                    todo.append(f"{mark}-{number}")
            os.close(fd)
            with suppress(OSError):
                os.rmdir(here, dir_fd=top)
    finally:
        os.close(top)
    with suppress(OSError):
        os.rmdir(name, dir_fd=folder)


def _unlinked(folder: int, name: str) -> bool:
    """Whether something is gone that is no folder, or an empty one."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return True
    except OSError:
        try:
            os.rmdir(name, dir_fd=folder)
        except OSError:
            return False
    return True


def _filled(fd: int) -> list[str]:
    """The folders in an open one that are not empty; all else in it is deleted."""
    with os.scandir(fd) as found:
        names = [entry.name for entry in found]
    return [name for name in names if not _unlinked(fd, name) and _is_folder(fd, name)]


def _is_folder(fd: int, name: str) -> bool:
    with suppress(OSError):
        return stat.S_ISDIR(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode)
    return False


def _moved(source: int, name: str, target: int, new: str) -> bool:
    """Whether a folder could be moved; its own mode may forbid even that."""
    for unlocked in (False, True):
        with suppress(OSError):
            if unlocked:
                unlock(source, name, ALL)
            os.rename(name, new, src_dir_fd=source, dst_dir_fd=target)
            return True
    return False


# -- modes that forbid


def unlock(folder: int, name: str, needed: int) -> None:
    """Lifts a mode that forbids its owner something; never that of what a link leads to."""
    fd = os.open(name, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISLNK(mode) and mode & needed != needed:
            os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(mode) | needed)
    finally:
        os.close(fd)


def open_unlocked(folder: int, name: str, flags: int, needed: int) -> int | None:
    """Opens something without following or blocking, whatever its mode; None if it cannot be had."""
    flags |= os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with suppress(OSError):
        try:
            fd = os.open(name, flags, dir_fd=folder)
        except PermissionError:
            unlock(folder, name, needed)
            fd = os.open(name, flags, dir_fd=folder)
        # A folder that can be listed but not entered opens, and then nothing in it can be looked at.
        mode = os.fstat(fd).st_mode
        if mode & needed != needed:
            with suppress(OSError):
                os.fchmod(fd, stat.S_IMODE(mode) | needed)
        return fd
    return None

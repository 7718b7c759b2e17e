"""What changed between two trees, from their manifests alone."""

from __future__ import annotations

import difflib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import ChildFailed
from orvl.store.tree import REPOSITORY
from orvl.worker import shared_worker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.store.tree import Entry

MAX_FILE = 512 * 1024
MAX_LINES = 5_000
MAX_DIFF = 4 << 20
EASY = 4_000_000
"""Pairs of lines that take a second at most to compare, whatever they are."""
FILE_SECONDS = 5.0
ALL_SECONDS = 20.0
"""For all files of a diff that are not easy to compare."""


@dataclass(frozen=True)
class FileChange:
    """One path that was added, removed or changed."""

    path: str
    kind: str
    before: Entry | None
    after: Entry | None


def changes(before: Sequence[Entry], after: Sequence[Entry]) -> list[FileChange]:
    """Every difference, sorted by path. A `.git` is ignored: it is not part of the work."""
    old, new = _by_path(before), _by_path(after)
    found = []
    for path in old.keys() | new.keys():
        was, now = old.get(path), new.get(path)
        if was == now or _same_as_far_as_kept(was, now):
            continue
        kind = "added" if was is None else "removed" if now is None else "changed"
        found.append(FileChange(path, kind, was, now))
    return sorted(found, key=lambda change: change.path)


def _by_path(entries: Sequence[Entry]) -> dict[str, Entry]:
    return {entry.path: entry for entry in entries if not _in_repository(entry.path)}


def _in_repository(path: str) -> bool:
    """Whether a path is a `.git` or inside one."""
    return REPOSITORY in path and REPOSITORY in path.split("/")


def _same_as_far_as_kept(was: Entry | None, now: Entry | None) -> bool:
    """A file that was too large to keep, of the same size and mode."""
    if was is None or now is None or not (was.cut or now.cut):
        return False
    return (was.kind, was.mode, was.size) == (now.kind, now.mode, now.size)


def unified(before: Sequence[Entry], after: Sequence[Entry], read: Callable[[str], bytes]) -> str:
    """The changes as a unified diff; a file that is not text or too long gets one line."""
    pieces: list[str] = []
    size, compare = 0, HardComparisons()
    found = [change for change in changes(before, after) if not _only_a_folder(change)]
    for number, change in enumerate(found):
        piece = _one(change, read, compare)
        size += len(piece)
        if size > MAX_DIFF:
            pieces.append(f"# {len(found) - number} more changed files not shown: the diff is longer than 4 MiB\n")
            break
        pieces.append(piece)
    return "".join(pieces)


def _only_a_folder(change: FileChange) -> bool:
    return all(entry is None or entry.kind == "folder" for entry in (change.before, change.after))


class HardComparisons:
    """Compares files that could take for ever, in a process with a deadline; later ones have what time is left."""

    def __init__(self) -> None:
        self._left = ALL_SECONDS

    def __call__(self, old: bytes, new: bytes) -> str:
        began = time.monotonic()
        try:
            if self._left <= 0:
                raise ChildFailed("no time is left")
            seconds = min(FILE_SECONDS, self._left)
            compared = shared_worker().call_now(f"{__name__}:compared", old + new, len(old), seconds=seconds)
        except ChildFailed:
            return f"# {len(_lines(old))} lines became {len(_lines(new))}: takes too long to compare\n"
        finally:
            self._left -= time.monotonic() - began
        return str(compared)


def compared(both: bytes, end: int) -> str:
    """In a worker: two files that lie one after the other."""
    return _body(_lines(both[:end]), _lines(both[end:]))


def _one(change: FileChange, read: Callable[[str], bytes], compare_hard: HardComparisons) -> str:
    was, now = change.before, change.after
    name = _printable(change.path)
    head = f"--- {_side('a', name, was)}\n+++ {_side('b', name, now)}\n"
    notes = ""
    if was and now and was.kind == now.kind and was.mode != now.mode:
        notes = f"# mode {was.mode:o} became {now.mode:o}\n"
    if was and now and was.hash == now.hash and was.target == now.target and was.kind == now.kind:
        return head + notes
    if reason := _not_text(was) or _not_text(now):
        return head + notes + f"# {reason}\n"
    old, new = _content(was, read), _content(now, read)
    if b"\0" in old or b"\0" in new:
        return head + notes + f"# binary: {len(old)} bytes became {len(new)}\n"
    a, b = _lines(old), _lines(new)
    if len(a) > MAX_LINES and len(b) > MAX_LINES:
        return head + notes + f"# {len(a)} lines became {len(b)}: too long to compare\n"
    body = _body(a, b) if len(a) * len(b) <= EASY else compare_hard(old, new)
    return head + notes + body


def _body(a: list[str], b: list[str]) -> str:
    lines = list(difflib.unified_diff(a, b, lineterm="", n=3))[2:]
    return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def _side(side: str, name: str, entry: Entry | None) -> str:
    return f"{side}/{name}" if entry else "/dev/null"


def _not_text(entry: Entry | None) -> str | None:
    if entry is None or entry.kind == "link":
        return None
    if entry.kind != "file":
        return f"a {entry.kind}"
    if entry.cut:
        return f"{entry.size} bytes, {entry.cut}: not kept"
    return f"{entry.size} bytes: too long to show" if entry.size > MAX_FILE else None


def _content(entry: Entry | None, read: Callable[[str], bytes]) -> bytes:
    if entry is None:
        return b""
    if entry.kind == "link":
        return b"-> " + (entry.target or "").encode("utf-8", "surrogateescape")
    return read(entry.hash) if entry.hash else b""


def _lines(content: bytes) -> list[str]:
    lines = content.decode("utf-8", "replace").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    elif lines:
        lines[-1] += "\n\\ No newline at end of file"
    return lines


def _printable(path: str) -> str:
    """A name on one line, without control characters."""
    text = path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)

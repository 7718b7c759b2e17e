"""A workspace as linters see it, within bounds: what an agent left may be hostile."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.store.tree import MADE_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from orvl.store.tree import Entry

MODULES = "node_modules"
SKIPPED = MADE_BY_OTHERS | {"dist", "build", "coverage", "out", ".next", ".orvl", ".tox", ".mypy_cache", ".ruff_cache"}
"""Folders of generated files, which are not the project's own."""
MAX_FILES = 500
MAX_FILE = 256 * 1024
MAX_ALL = 4 << 20
MAX_NAME = 300
MAX_LEFT_OUT = 20
LOCKS = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|bun\.lockb?|go\.sum|[^/]*\.lock|[^/]*-lock\.yaml)$"
)
"""Lock files, which tools write."""


@dataclass(frozen=True)
class Workspace:
    """A tree's entries, a reader of blobs, and contents that are in no blob."""

    entries: Sequence[Entry]
    read: Callable[[str], bytes]
    made: Mapping[str, bytes] = field(default_factory=dict)

    @cached_property
    def by_path(self) -> dict[str, Entry]:
        return {entry.path: entry for entry in self.entries}

    @cached_property
    def own(self) -> dict[str, Entry]:
        """The project's own files that were kept, by path."""
        return {
            entry.path: entry
            for entry in self.entries
            if entry.kind == "file" and entry.hash and not SKIPPED.intersection(entry.path.split("/")[:-1])
        }

    def bytes_of(self, path: str, most: int = MAX_FILE) -> bytes | None:
        """A file's bytes; None if it is missing, not a file, or larger than `most`."""
        entry = self.by_path.get(path)
        if entry is None or entry.kind != "file" or not entry.hash or entry.size > most:
            return None
        return self.made[entry.hash] if entry.hash in self.made else self.read(entry.hash)

    def text_of(self, path: str) -> str:
        """A file's text; empty if it cannot be read."""
        return (self.bytes_of(path) or b"").decode("utf-8", "replace")


@dataclass(frozen=True)
class Looked:
    """The changed files that linters look at, with their number of lines, and why others are left out."""

    lines: dict[str, int]
    left_out: tuple[str, ...]


def changed(before: Workspace, after: Workspace) -> list[str]:
    """The project's own files whose bytes the agent made or changed, in order."""
    old = before.by_path
    return sorted(path for path, entry in after.own.items() if path not in old or old[path].hash != entry.hash)


def looked_at(after: Workspace, paths: Iterable[str]) -> Looked:
    """The text files among some files, within bounds."""
    lines: dict[str, int] = {}
    left_out: list[str] = []
    total = 0
    for path in paths:
        if LOCKS.search(path):
            continue
        size = after.by_path[path].size
        why = _odd_name(path) or (f"{size} bytes" if size > MAX_FILE else None)
        if not why and (len(lines) >= MAX_FILES or total + size > MAX_ALL):
            why = "too many changed files"
        content = None if why else after.bytes_of(path)
        if content is not None and b"\0" in content:
            why = "binary"
        if why or content is None:
            left_out.append(f"{shown(path)}: {why or 'not kept'}")
            continue
        total += size
        lines[path] = max(1, content.count(b"\n") + (not content.endswith(b"\n")))
    return Looked(lines, _some(left_out))


def _odd_name(path: str) -> str | None:
    if len(path) > MAX_NAME:
        return "its name is too long"
    try:
        path.encode()
    except UnicodeEncodeError:
        return "its name is not UTF-8"
    return None if path.isprintable() else "its name has control characters"


def _some(sentences: list[str]) -> tuple[str, ...]:
    if len(sentences) <= MAX_LEFT_OUT:
        return tuple(sentences)
    return (*sentences[:MAX_LEFT_OUT], f"{len(sentences) - MAX_LEFT_OUT} more files")


def shown(path: str) -> str:
    """A name on one line, without control characters, of bounded length."""
    text = path[:MAX_NAME].encode("utf-8", "backslashreplace").decode()
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def folder_of(path: str) -> str:
    """The folder of a file; the empty string for the workspace itself."""
    return posixpath.dirname(path)


def lies_in(path: str, folder: str) -> bool:
    return not folder or path.startswith(folder + "/")

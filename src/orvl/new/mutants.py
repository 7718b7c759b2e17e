"""Bugs for the controls: small changes of lines that the commits wrote, as patches against the last one's files."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.new.suite import is_configuration, is_of_tests
from orvl.new.unsaid import added
from orvl.trust.mutate.bugs import plant
from orvl.trust.mutate.candidates import candidates
from orvl.trust.mutate.syntax import apply, is_sound, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orvl.new.history import History
    from orvl.trust.mutate.candidates import Bug

APART = 8
"""Lines between two bugs of one file, so that each patch finds its place whichever others are applied."""
NO_NEWLINE = "\\ No newline at end of file\n"


@dataclass(frozen=True)
class Mutant:
    """A file of the last state with one small bug in it."""

    bug: Bug
    content: bytes
    patch: str

    @property
    def slug(self) -> str:
        """What the bug is, as part of a file's name."""
        where = self.bug.function[0] or self.bug.path.rpartition("/")[2].partition(".")[0]
        return re.sub(r"[^a-z0-9]+", "-", f"{self.bug.kind} {where}".lower()).strip("-")[:60]


def mutants(history: History) -> Iterator[Mutant]:
    """Mutants of lines that the commits wrote, those that surely matter first, file by file in turn."""
    files = {
        path: history.read(entry)
        for path, entry in history.steps[-1].tree.items()
        if _is_changed_code(history, path) and path.isprintable() and _can_be_patched(history.read(entry))
    }
    rows = [_apart(_candidates(history, path, content, files)) for path, content in files.items()]
    for place in range(max(map(len, rows), default=0)):
        for row in rows:
            if place < len(row):
                bug = row[place]
                content = plant(files, [bug])[bug.path]
                yield Mutant(bug, content, patch(bug.path, files[bug.path].decode(), content.decode()))


def _is_changed_code(history: History, path: str) -> bool:
    return any(path in step.changed for step in history.steps) and not is_of_tests(path) and not is_configuration(path)


def _can_be_patched(content: bytes) -> bool:
    """Whether a file is text whose lines a patch counts as everybody does."""
    text = text_of(content)
    return text is not None and "\r" not in text and len(text.splitlines()) == len(_lines(text))


def _candidates(history: History, path: str, content: bytes, files: Mapping[str, bytes]) -> list[Bug]:
    """The bugs in lines that the first state has not, in the order in which they matter."""
    before = history.base.get(path)
    old = (history.text(before) if before else None) or ""
    text = content.decode()
    new = {*added(old, text)}
    lines = text.splitlines()
    texts = {one: other.decode() for one, other in files.items()}
    found = [
        bug
        for bug in candidates(path, content, texts)
        if bug.line <= len(lines) and lines[bug.line - 1] in new and is_sound(path, apply(content, [bug.edit]))
    ]
    return sorted(found, key=lambda bug: (bug.rank, bug.line))


def _apart(bugs: Sequence[Bug]) -> list[Bug]:
    chosen: list[Bug] = []
    for bug in bugs:
        if all(abs(bug.line - other.line) >= APART for other in chosen):
            chosen.append(bug)
    return chosen


def patch(path: str, old: str, new: str) -> str:
    """A unified diff as `diff -u a/… b/…` writes it."""
    rows = difflib.unified_diff(_lines(old), _lines(new), f"a/{path}", f"b/{path}")
    return "".join(row if row.endswith("\n") else f"{row}\n{NO_NEWLINE}" for row in rows)


def _lines(text: str) -> list[str]:
    """Lines as a patch counts them: `splitlines` would also break at form feeds and the like."""
    return re.findall(r"[^\n]*\n|[^\n]+", text)

"""Bugs that a user wrote: unified diffs against the good files, applied in the order of their names."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.errors import FileError, disk_sentence
from orvl.store.beneath import LARGEST, read, stays_inside
from orvl.trust.mutate.syntax import text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

HUNK = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
NOWHERE = "/dev/null"


@dataclass
class Hunk:
    """Lines that replace others, with the line of the patch where it starts."""

    line: int
    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)


@dataclass
class FilePatch:
    """The hunks of one file; `before` or `after` is None where the file does not exist."""

    line: int
    before: str | None
    after: str | None
    hunks: list[Hunk] = field(default_factory=list)


def apply_patch(patch: Path, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The files with a patch applied; a patch that does not fit is an error with its line."""
    result = dict(files)
    changes = read_patch(patch)
    if not changes:
        raise FileError(patch, 1, "this is not a unified diff: make one with 'diff -u' against controls/good.")
    for change in changes:
        text = ""
        if change.before is not None:
            found = text_of(result.pop(change.before, b"\0"))
            if found is None:
                raise FileError(patch, change.line, f"good's final state has no text file '{change.before}' to change.")
            text = found
        lines = _patched(patch, change, re.findall(r"[^\n]*\n|[^\n]+", text))
        if change.after is not None:
            result[change.after] = "".join(lines).encode()
    if result == files:
        raise FileError(patch, 1, "this patch changes nothing.")
    return result


def read_patch(patch: Path) -> list[FilePatch]:
    try:
        text = text_of(read(patch, LARGEST))
    except OSError as error:
        raise FileError(patch, None, f"it cannot be read ({disk_sentence(error)}).") from error
    if text is None:
        raise FileError(patch, None, "a patch must be UTF-8 text.")
    changes: list[FilePatch] = []
    before, left_old, left_new = None, 0, 0
    for number, line in enumerate(text.replace("\r\n", "\n").splitlines(keepends=True), 1):
        if left_old > 0 or left_new > 0:
            used_old, used_new = _body_line(patch, number, line, changes[-1].hunks[-1])
            left_old, left_new = left_old - used_old, left_new - used_new
        elif line.startswith("\\") and changes and changes[-1].hunks:
            _without_end(changes[-1].hunks[-1])
        elif line.startswith("--- "):
            before = _path(patch, number, line)
        elif line.startswith("+++ "):
            changes.append(FilePatch(number, before, _path(patch, number, line)))
        elif found := HUNK.match(line):
            if not changes:
                raise FileError(patch, number, "a hunk must come after lines of '---' and '+++' that name its file.")
            changes[-1].hunks.append(Hunk(number, int(found[1])))
            left_old, left_new = int(found[2] or 1), int(found[4] or 1)
    if left_old > 0 or left_new > 0:
        raise FileError(patch, changes[-1].hunks[-1].line, "this hunk has fewer lines than it says.")
    return changes


def _path(patch: Path, number: int, line: str) -> str | None:
    path = line[4:].split("\t")[0].strip()
    if path == NOWHERE:
        return None
    path = re.sub(r"^(a|b|controls/good|good)/", "", path)
    if not stays_inside(path):
        raise FileError(patch, number, f"'{path}' leads out of controls/good; a patch may only name files in it.")
    return path


def _body_line(patch: Path, number: int, line: str, hunk: Hunk) -> tuple[int, int]:
    mark, rest = line[0], line[1:]
    if line == "\n":  # editors strip the blank from an empty line of context
        mark, rest = " ", "\n"
    if mark == "\\":
        hunk.old[-1:] = [one.removesuffix("\n") for one in hunk.old[-1:]]
        return 0, 0
    if mark not in " +-":
        raise FileError(patch, number, "a line of a hunk begins with a blank, '+' or '-'.")
    if mark in " -":
        hunk.old.append(rest)
    if mark in " +":
        hunk.new.append(rest)
    return mark in " -", mark in " +"


def _without_end(hunk: Hunk) -> None:
    """The last line of a file that does not end in a new line."""
    hunk.new[-1:] = [one.removesuffix("\n") for one in hunk.new[-1:]]
    if hunk.old and hunk.new and hunk.old[-1].removesuffix("\n") == hunk.new[-1]:
        hunk.old[-1] = hunk.new[-1]


def _patched(patch: Path, change: FilePatch, lines: list[str]) -> list[str]:
    """Each hunk goes to the nearest place that has its old lines: earlier patches move them."""
    for hunk in reversed(change.hunks):
        wanted = max(hunk.start - 1, 0) if hunk.old else hunk.start
        size = len(hunk.old)
        places = [at for at in range(len(lines) - size + 1) if lines[at : at + size] == hunk.old]
        if not places:
            name = change.before or change.after
            raise FileError(
                patch, hunk.line, f"these lines are not in '{name}', as controls/good and earlier patches leave it."
            )
        at = min(places, key=lambda place: abs(place - wanted))
        lines[at : at + size] = hunk.new
    return lines

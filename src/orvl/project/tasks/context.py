"""The folder that an image is built from: which of its files a COPY means."""

from __future__ import annotations

import re
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import TaskRefused
from orvl.project.tasks.folder import files_in, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.project.tasks.dockerfile import Instruction

IGNORE = ".dockerignore"
MOST_PATTERNS = 500
MOST_STARS = 3


class BuildContext:
    """`environment/`, without what its .dockerignore names."""

    def __init__(self, root: Path) -> None:
        self.root = root

    @cached_property
    def files(self) -> list[str]:
        """All files that can be copied."""
        rules = self._rules()
        return [name for name in files_in(self.root) if not _is_ignored(name, rules)]

    def matching(self, pattern: str, instruction: Instruction) -> list[tuple[Path, str]]:
        """What a source of a COPY stands for: paths, and their names in the folder; '' is the folder itself."""
        parts = [part for part in pattern.strip("\"'").split("/") if part not in ("", ".")]
        if ".." in parts:
            raise instruction.wrong("it copies from outside of environment/")
        if not parts:
            return [(self.root, "")]
        wanted = [_segment(part) for part in parts]
        names = {"/".join(name.split("/")[: len(parts)]) for name in self.files}
        found = sorted(
            name
            for name in names
            if len(name.split("/")) == len(parts)
            and all(rule.fullmatch(part) for rule, part in zip(wanted, name.split("/"), strict=True))
        )
        if not found and not any(sign in pattern for sign in "*?[") and (self.root / "/".join(parts)).is_dir():
            found = ["/".join(parts)]
        return [(self.root / name, name) for name in found]

    def files_below(self, folder: str) -> Iterator[tuple[str, Path]]:
        """The files of a folder: their paths in it, and on the disk."""
        prefix = f"{folder}/" if folder else ""
        for name in self.files:
            if name.startswith(prefix):
                yield name[len(prefix) :], self.root / name

    def _rules(self) -> list[tuple[bool, re.Pattern[str]]]:
        if not (self.root / IGNORE).is_file():
            return []
        lines = [line.strip() for line in text_of(self.root, IGNORE).split("\n")]
        kept = [line for line in lines if line and not line.startswith("#")][:MOST_PATTERNS]
        return [(not line.startswith("!"), _pattern(line.lstrip("!"))) for line in kept]


def _is_ignored(name: str, rules: list[tuple[bool, re.Pattern[str]]]) -> bool:
    """The last rule that names a file, or a folder that it is in, decides."""
    parts = name.split("/")
    above = ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
    ignored = False
    for ignores, pattern in rules:
        if any(pattern.fullmatch(path) for path in above):
            ignored = ignores
    return ignored


def _segment(pattern: str) -> re.Pattern[str]:
    """One part of a path with Docker's wildcards."""
    return re.compile(_regex(pattern))


def _pattern(pattern: str) -> re.Pattern[str]:
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if parts.count("**") > MOST_STARS:
        raise TaskRefused(f"the pattern {pattern[:40]} has more than {MOST_STARS} stars")
    made = ""
    for number, part in enumerate(parts):
        is_last = number == len(parts) - 1
        if part == "**":
            made += ".*" if is_last else "(?:[^/]+/)*"
        else:
            made += _regex(part) + ("" if is_last else "/")
    return re.compile(made)


def _regex(part: str) -> str:
    """With many stars, comparing a name would take for ever."""
    if part.count("*") > MOST_STARS:
        raise TaskRefused(f"the pattern {part[:40]} has more than {MOST_STARS} stars")
    made = ""
    for sign in part:
        made += "[^/]*" if sign == "*" else "[^/]" if sign == "?" else re.escape(sign)
    return made

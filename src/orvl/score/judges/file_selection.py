"""Which of a run's files a judge is shown, and how much of each.

Files that were made or changed come first, small ones before large: what says most per character. Where room is short,
small files are shown whole and the large ones share the rest, so that one huge file cannot crowd out all others.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orvl.capture.lint.workspace import LOCKS
from orvl.score.judges.redaction import escape, one_line
from orvl.store.tree import MADE_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.capture.captured_run import CapturedRun

MAX_LINE = 400
MAX_FILE = 512 << 10
MAX_BYTES = 2 << 20
MAX_FILES = 200
MADE_BY_TOOLS = MADE_BY_OTHERS | {
    *("dist", "build", "out", ".next", ".nuxt", "coverage", ".pytest_cache", ".mypy_cache", ".ruff_cache"),
    *(".svelte-kit", ".turbo", ".vite"),
}
AGENT_FILES = re.compile(
    r"(?:^|/)\.(?:claude|opencode|codex|gemini|qwen|aider|cline|kilo\w*|pi|cursor|crush|goose|continue)"
    r"(?:rules|ignore|modes|rc)?\b[^/]*(?:/|$)",
    re.IGNORECASE,
)
"""Agents' own settings, which would tell judges who did the work."""
MINIFIED = re.compile(r"\.(?:min\.(?:js|css)|map)$")


@dataclass(frozen=True)
class ShownFile:
    """A file as the judge sees it."""

    path: str
    lines: tuple[str, ...]
    state: str
    """`new`, `changed`, or `as it was before`."""
    new: frozenset[int] = frozenset()
    """The lines that a changed file did not have before."""
    removed: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def size(self) -> int:
        """About how many characters it takes with its line numbers."""
        return sum(min(len(line), MAX_LINE) + 8 for line in self.lines) + len(self.path)


@dataclass(frozen=True)
class SelectedFiles:
    """Files to show, and what was left out, in words."""

    files: tuple[ShownFile, ...]
    left_out: tuple[str, ...]


def select(run: CapturedRun, named_in: Iterable[str]) -> SelectedFiles:
    """The files that were made or changed, small ones first; then those that the task or an item names."""
    made = [path for path in run.made if not AGENT_FILES.search(path)]
    words = " ".join(named_in)
    changed = set(run.made)
    others = [path for path in run.files if path not in changed and not AGENT_FILES.search(path)]
    named = {path: None for path in others if _is_named(path, words)}
    shown: list[ShownFile] = []
    left_out: list[str] = []
    room = MAX_BYTES
    for path in [*sorted(made, key=run.size), *named]:
        why = _why_not(run, path, len(shown), room)
        file = None if why else _shown(run, path, is_changed=path not in named)
        if file is None:
            left_out.append(f"{one_line(path)} ({why or f'binary, {run.size(path)} bytes'})")
            continue
        room -= run.size(path)
        shown.append(file)
    if as_before := len(others) - len(named):
        left_out.append(f"{as_before} files that are as they were before")
    return SelectedFiles(tuple(sorted(shown, key=lambda file: (file.path in named, file.path))), tuple(left_out))


def _is_named(path: str, words: str) -> bool:
    name = PurePosixPath(path).name
    return len(name) > 3 and "." in name and name in words


def _why_not(run: CapturedRun, path: str, shown: int, room: int) -> str | None:
    if set(path.split("/")[:-1]) & MADE_BY_TOOLS or LOCKS.search(path) or MINIFIED.search(path):
        return "made by a tool"
    size = run.size(path)
    if size > MAX_FILE or size > room:
        return f"{size} bytes"
    return f"only {MAX_FILES} files are shown" if shown >= MAX_FILES else None


def _shown(run: CapturedRun, path: str, *, is_changed: bool) -> ShownFile | None:
    """A file's lines; None where it is not text."""
    text = run.read(path)
    if "\0" in text:
        return None
    lines = lines_of(escape(text))
    if not is_changed:
        return ShownFile(path, lines, "as it was before")
    before = run.read_before(path, MAX_FILE)
    if before is None:
        return ShownFile(path, lines, "changed" if path in run.started_with else "new")
    # A count of lines instead of a diff: linear in the size, and moved lines are not new.
    left = Counter(lines_of(escape(before)))
    new = set()
    for number, line in enumerate(lines, 1):
        left[line] -= 1
        if left[line] < 0:
            new.add(number)
    gone = tuple(line for line, number in left.items() if number > 0 and line.strip())
    return ShownFile(path, lines, "changed", frozenset(new), gone)


def lines_of(text: str) -> tuple[str, ...]:
    lines = text.split("\n")
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How many characters of each file are shown: small ones whole, the large share what is left equally."""
    granted = [0] * len(sizes)
    left = room
    for place, index in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        granted[index] = min(sizes[index], left // (len(sizes) - place))
        left -= granted[index]
    return granted


def numbered(file: ShownFile, lines: Sequence[str], name: str, room: int) -> tuple[str, str | None]:
    """The lines with their numbers, `+` before those that are new; cut in the middle where room is short."""
    width = len(str(len(lines)))

    def line(place: int) -> str:
        mark = "+" if place + 1 in file.new else "|"
        return f"{place + 1:>{width}}{mark} {_cut(lines[place])}"

    head, room_of_tail = _fitting(map(line, range(len(lines))), room * 2 // 3 if file.size > room else room)
    if head == len(lines):
        return "\n".join(map(line, range(head))), None
    tail, _ = _fitting(map(line, range(len(lines) - 1, head - 1, -1)), room - room * 2 // 3 + room_of_tail)
    if head + tail >= len(lines):
        return "\n".join(map(line, range(len(lines)))), None
    gap = f"lines {head + 1} to {len(lines) - tail} of {name}"
    ends = map(line, range(len(lines) - tail, len(lines)))
    return "\n".join([*map(line, range(head)), f"[… {gap} are not shown]", *ends]), gap


def _fitting(lines: Iterable[str], room: int) -> tuple[int, int]:
    """How many lines fit, and how much room is left."""
    count = 0
    for line in lines:
        if len(line) + 1 > room:
            break
        room -= len(line) + 1
        count += 1
    return count, room


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}… [{len(line)} characters]"

"""Which of a run's files a judge is shown, and how much of each: changed files first, all alike when room is short."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.capture import CapturedRun

LONGEST_LINE = 400
LARGEST_FILE = 4 << 20
MOST_FILES = 200
MADE_BY_TOOLS = {
    *("node_modules", "dist", "build", "out", ".next", ".nuxt", ".venv", "venv", "__pycache__", "vendor", "coverage"),
    *(".git", ".cache", ".pytest_cache", ".mypy_cache", ".ruff_cache", "target", ".svelte-kit", ".turbo", ".vite"),
}
OF_AGENTS = re.compile(
    r"(?:^|/)\.(?:claude|opencode|codex|gemini|qwen|aider|cline|kilo\w*|pi|cursor|crush|goose|continue)\b[^/]*(?:/|$)",
    re.IGNORECASE,
)
LOCKS = re.compile(
    r"(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|bun\.lockb?|go\.sum|[^/]*\.lock|[^/]*-lock\.yaml)$"
)
MINIFIED = re.compile(r"\.(?:min\.(?:js|css)|map)$")
LINES_OF_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


@dataclass(frozen=True)
class Shown:
    """A file as the judge sees it."""

    path: str
    text: str
    new: frozenset[int] | None
    """The lines that were added; None where the whole file is new."""
    removed: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selected:
    """Files to show, with a bound for each, and what was left out, in words."""

    files: tuple[Shown, ...]
    left_out: tuple[str, ...]


def select(run: CapturedRun, named_in: Iterable[str]) -> Selected:
    """The files that were made or changed, then those that the task or an item names."""
    made, files = run.made, run.files
    words = " ".join(named_in)
    named = [path for path in files if _is_named(path, words) and path not in set(made)]
    changes = _changes(run.diff) if run.started_with & set(made) else {}
    shown: list[Shown] = []
    left_out: list[str] = []
    for path in [*made, *named]:
        if OF_AGENTS.search(path):
            continue
        if why := _why_not(run, path, len(shown)):
            left_out.append(f"{path} ({why})")
            continue
        text = run.read(path)
        if "\0" in text[:8192]:
            left_out.append(f"{path} (binary, {run.size(path)} bytes)")
            continue
        new, removed = changes.get(path, (frozenset(), [])) if path in run.started_with else (None, [])
        shown.append(Shown(path, text, new, tuple(removed)))
    as_before = len([path for path in files if not OF_AGENTS.search(path)]) - len(made) - len(named)
    if as_before > 0:
        left_out.append(f"{as_before} files that are as they were before")
    return Selected(tuple(shown), tuple(left_out))


def _is_named(path: str, words: str) -> bool:
    name = PurePosixPath(path).name
    return len(name) > 3 and "." in name and name in words


def _why_not(run: CapturedRun, path: str, shown: int) -> str | None:
    if set(path.split("/")[:-1]) & MADE_BY_TOOLS:
        return "made by a tool"
    if LOCKS.search(path) or MINIFIED.search(path):
        return "made by a tool"
    if run.size(path) > LARGEST_FILE:
        return f"{run.size(path)} bytes"
    return f"only {MOST_FILES} files are shown" if shown >= MOST_FILES else None


def _changes(diff: str) -> dict[str, tuple[frozenset[int], list[str]]]:
    """By path: the numbers of the lines that were added, and the lines that were removed."""
    found: dict[str, tuple[set[int], list[str]]] = {}
    path, line = "", 0
    for text in diff.split("\n"):
        if text.startswith("+++ "):
            path = text[4:].removeprefix("b/")
            found[path] = (set(), [])
        elif hunk := LINES_OF_HUNK.match(text):
            line = int(hunk[1])
        elif path and text.startswith("+"):
            found[path][0].add(line)
            line += 1
        elif path and text.startswith("-") and not text.startswith("--- "):
            found[path][1].append(text[1:])
        elif text.startswith(" "):
            line += 1
    return {path: (frozenset(lines), removed) for path, (lines, removed) in found.items()}


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How much of each file is shown: small ones whole, the rest of the room alike among the large."""
    given = [0] * len(sizes)
    left = room
    for place, index in enumerate(sorted(range(len(sizes)), key=lambda i: sizes[i])):
        given[index] = min(sizes[index], left // (len(sizes) - place))
        left -= given[index]
    return given


def numbered(file: Shown, lines: Sequence[str], room: int) -> tuple[str, str | None]:
    """The lines with their numbers, `+` before those that are new; cut in the middle where room is short."""
    width = len(str(len(lines)))
    told = [
        f"{number:>{width}}{'+' if file.new and number in file.new else '|'} {_cut(line)}"
        for number, line in enumerate(lines, 1)
    ]
    if sum(map(len, told)) + len(told) <= room:
        return "\n".join(told), None
    head = _fitting(told, room * 2 // 3)
    tail = _fitting(told[head:][::-1], room - room * 2 // 3)
    first, last = head + 1, len(told) - tail
    gap = f"lines {first} to {last} of {file.path}"
    return "\n".join([*told[:head], f"[… {gap} are not shown]", *told[len(told) - tail :]]), gap


def _fitting(lines: Sequence[str], room: int) -> int:
    """How many lines fit."""
    for place, line in enumerate(lines):
        room -= len(line) + 1
        if room < 0:
            return place
    return len(lines)


def _cut(line: str) -> str:
    return line if len(line) <= LONGEST_LINE else f"{line[:LONGEST_LINE]}… [{len(line)} characters]"

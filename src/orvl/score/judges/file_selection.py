"""Which of a run's files a judge is shown, and how much of each: the evidence follows the change.

What the run changed comes first, as its changed lines with what stands around them; then what it made; then files that
the task, a check or an item names, which are never left out; and what tools made only where the run changed it. Each of
these has a part of the room of its own, and what one does not need goes to the others: so no huge file crowds out the
rest. Within a part, small files are shown whole, and large ones share what is left equally.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from orvl.capture.lint.workspace import LOCKS
from orvl.score.judges.redaction import escape, one_line
from orvl.store.tree import MADE_BY_OTHERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from orvl.capture.captured_run import CapturedRun

MAX_LINE = 400
MAX_FILE = 512 << 10
MAX_BYTES = 2 << 20
MAX_LARGE = 8 << 20
"""Bytes of a file that is read only because the run changed it, or because it is named; and of all of these."""
MAX_FILES = 500
PER_FILE = 100
"""Characters of the room for which one more file is shown."""
MAX_NAMED = 60
MAX_SAME_NAME = 8
MAX_LISTED = 20
LONG_LINES = 1000
CONTEXTS = (200, 60, 20, 8, 3, 1, 0)
"""Lines that may be shown around a changed one: as many as there is room for."""
USUAL_CONTEXT = 3
FARTHEST = 2000
ALIKE = 0.5
"""The share of lines from which on a new file is one that was removed, under another name."""
MAX_MOVED = 200
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
WITHOUT_ENDING = re.compile(r"[A-Z][A-Za-z]{3,}|(?:make|docker|just|proc)file", re.ASCII)
CHANGED, NEW, NAMED, BY_TOOL = "changed", "new", "as it was before", "made by a tool"
PARTS = (0.6, 0.25, 0.1, 0.0, 0.05)
"""Of the room: for changes and what is named of the work, new files, named files, the rest of changed ones, tools'."""


@dataclass(frozen=True)
class ShownFile:
    """A file as the judge sees it."""

    path: str
    lines: tuple[str, ...]
    state: str
    """`new`, `changed`, or `as it was before`."""
    new: frozenset[int] = frozenset()
    """The lines that a changed file did not have before."""
    removed: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    """Lines that it had before, by the number of the line that they stood before."""
    moved_from: str | None = None
    is_named: bool = False
    by_tool: bool = False
    is_compared: bool = True
    """Whether its lines could be compared with those of before."""

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def own_text(self) -> str:
        """What the run itself wrote of it."""
        if self.state == NAMED:
            return ""
        if self.state == NEW or not self.is_compared:
            return self.text
        return "\n".join(self.lines[number - 1] for number in sorted(self.new))

    @property
    def size(self) -> int:
        """About how many characters it takes with its line numbers."""
        return self.size_of(range(len(self.lines))) + len(self.path)

    def size_of(self, places: Iterable[int]) -> int:
        rows = (row for place in places for row in (self.lines[place], *self.removed.get(place + 1, ())))
        return sum(min(len(row), MAX_LINE) + 8 for row in rows)

    @property
    def has_hunks(self) -> bool:
        return self.state == CHANGED and self.is_compared

    @property
    def core(self) -> int:
        """About how many characters its changes take, with a little of what stands around them."""
        if not self.has_hunks:
            return self.size
        return self.size_of(around(self, USUAL_CONTEXT)) + len(self.path)


@dataclass(frozen=True)
class SelectedFiles:
    """Files to show, and what was left out, in words."""

    files: tuple[ShownFile, ...]
    left_out: tuple[str, ...]


@dataclass
class _Reading:
    """What may still be read and shown."""

    files: int
    small: int = MAX_BYTES
    large: int = MAX_LARGE


def select(run: CapturedRun, named_in: Iterable[str], room: int) -> SelectedFiles:
    """The files that were made or changed, and those that the task, a check or an item names."""
    made = [path for path in run.made if not AGENT_FILES.search(path)]
    is_made = set(run.made)
    others = [path for path in run.files if path not in is_made and not AGENT_FILES.search(path)]
    words = "\n".join(named_in)
    named = named_files(made, words)
    others_named = named_files(others, words)
    by_tool = {path for path in made if is_by_tool(path)}
    moved = moved_files(run)

    def importance(path: str) -> tuple[int, int, str]:
        is_changed = path in run.started_with or path in moved
        rank = 0 if path in named else 3 if path in by_tool else 1 if is_changed else 2
        return rank, run.size(path), path

    left = _Reading(max(20, min(MAX_FILES, room // PER_FILE)))
    shown: list[ShownFile] = []
    unseen: list[tuple[str, str, str]] = []
    for path in [*sorted(made, key=importance), *sorted(others_named)]:
        is_named = path in named or path in others_named
        is_changed = path in is_made and (path in run.started_with or path in moved)
        kind = "changed" if is_changed else "new" if path in is_made else "named"
        why = _why_not(run, path, left, is_named=is_named, is_changed=is_changed, by_tool=path in by_tool)
        file = None if why else _shown(run, path, moved.get(path), is_made=path in is_made, is_named=is_named)
        if file is None:
            unseen.append((path, why or f"binary, {run.size(path)} bytes", kind))
            continue
        left.files -= not is_named
        shown.append(file)
    left_out = _counted(run, unseen)
    if as_before := len(others) - len(others_named):
        left_out.append(f"{as_before} files that are as they were before")
    order = {CHANGED: 0, NEW: 1, NAMED: 2}
    listed = sorted(shown, key=lambda file: (file.by_tool, order[file.state], file.path))
    return SelectedFiles(tuple(listed), tuple(left_out))


def _counted(run: CapturedRun, unseen: Sequence[tuple[str, str, str]]) -> list[str]:
    """What is not shown: the first by name, the others by number and size."""
    lines = [f"{one_line(path)} ({why})" for path, why, _ in unseen[:MAX_LISTED]]
    rest: dict[str, list[str]] = defaultdict(list)
    for path, _, kind in unseen[MAX_LISTED:]:
        rest[kind].append(path)
    for kind, paths in rest.items():
        noun = "file" if len(paths) == 1 else "files"
        lines.append(f"… and {len(paths):,} more {kind} {noun}, {_bytes(sum(map(run.size, paths)))}")
    return lines


def _bytes(number: int) -> str:
    for unit, size in (("MB", 1_000_000), ("kB", 1_000)):
        if number >= size:
            return f"{number / size:,.1f} {unit}"
    return f"{number} bytes"


# -- which files


def named_files(paths: Iterable[str], words: str) -> set[str]:
    """The paths that a text names: in full, or by a file's name, of which the shallowest few count."""
    in_full: list[str] = []
    by_name: dict[str, list[str]] = defaultdict(list)
    for path in paths:
        name = path.rpartition("/")[2]
        if name not in words:
            continue
        if "/" in path and _is_in(path, words):
            in_full.append(path)
        elif (("." in name and len(name) > 3) or WITHOUT_ENDING.fullmatch(name)) and _is_in(name, words):
            by_name[name].append(path)
    chosen = sorted(in_full)
    for name in sorted(by_name):
        chosen += sorted(by_name[name], key=lambda path: (path.count("/"), path))[:MAX_SAME_NAME]
    return set(chosen[:MAX_NAMED])


def _is_in(name: str, words: str) -> bool:
    """Whether a name stands in a text by itself, and not as the end of another: `a.py` is not in `data.py`."""
    return re.search(rf"(?<![A-Za-z0-9_-]){re.escape(name)}(?![A-Za-z0-9_-])", words) is not None


def is_by_tool(path: str) -> bool:
    return bool(set(path.split("/")[:-1]) & MADE_BY_TOOLS or LOCKS.search(path) or MINIFIED.search(path))


def _why_not(
    run: CapturedRun, path: str, left: _Reading, *, is_named: bool, is_changed: bool, by_tool: bool
) -> str | None:
    """Why a file is not shown; of what is left, what it takes is taken."""
    size = run.size(path)
    if by_tool and not (is_named or is_changed):
        return BY_TOOL
    if size <= min(MAX_FILE, left.small) and left.files > 0:
        left.small -= size
        return None
    if (is_named or (is_changed and left.files > 0)) and size <= left.large:
        left.large -= size
        return None
    return f"{size} bytes"


def moved_files(run: CapturedRun) -> dict[str, str]:
    """New files that the run had at the start under another path: with the same content, or most of the same lines."""
    new = [path for path in run.made if path not in run.started_with]
    gone = run.removed[:MAX_MOVED]
    if not new or not gone:
        return {}
    moved = {path: old for path, old in run.renamed.items() if old in gone}
    left = [old for old in gone if old not in moved.values()]
    for path in new[:MAX_MOVED]:
        name = PurePosixPath(path).name
        candidates = [old for old in left if PurePosixPath(old).name == name] or (
            left if len(left) == 1 and PurePosixPath(left[0]).suffix == PurePosixPath(path).suffix else []
        )
        if path in moved or not candidates or run.size(path) > MAX_FILE:
            continue
        if _share_of_lines(run, candidates[0], path) >= ALIKE:
            moved[path] = candidates[0]
            left.remove(candidates[0])
    return moved


def _share_of_lines(run: CapturedRun, old: str, new: str) -> float:
    before = run.read_before(old, MAX_FILE)
    if before is None:
        return 0.0
    was, now = (Counter(line for line in lines_of(text) if line.strip()) for text in (before, run.read(new)))
    return 2 * (was & now).total() / max(1, was.total() + now.total())


def _shown(run: CapturedRun, path: str, moved_from: str | None, *, is_made: bool, is_named: bool) -> ShownFile | None:
    """A file's lines; None where it is not text, or is data on lines that nobody could read."""
    text = run.read(path)
    if "\0" in text:
        return None
    lines = lines_of(escape(text))
    if len(text) > MAX_FILE and len(text) > LONG_LINES * len(lines) and not is_named:
        return None
    by_tool = is_by_tool(path) and not is_named
    if not is_made:
        return ShownFile(path, lines, NAMED, is_named=is_named)
    before = run.read_before(moved_from or path, MAX_LARGE)
    if before is None:
        state = CHANGED if path in run.started_with else NEW
        return ShownFile(path, lines, state, is_named=is_named, by_tool=by_tool, is_compared=False)
    new, removed = compared(lines_of(escape(before)), lines)
    return ShownFile(path, lines, CHANGED, frozenset(new), removed, moved_from, is_named, by_tool)


def lines_of(text: str) -> tuple[str, ...]:
    lines = text.split("\n")
    return tuple(lines[:-1] if lines and not lines[-1] else lines)


def compared(before: Sequence[str], after: Sequence[str]) -> tuple[set[int], dict[int, tuple[str, ...]]]:
    """The numbers of new lines, and lines that are gone, each by the number of the line that it stood before.

    A count of lines instead of a diff: linear in the size, whatever the lines are, and moved lines are not new.
    """
    start = _alike(before, after)
    same = _alike(before[start:][::-1], after[start:][::-1])
    was, now = before[start : len(before) - same], after[start : len(after) - same]
    new = set(_surplus(now, was))
    gone = set(_surplus(was, now))
    places: dict[str, deque[int]] = defaultdict(deque)
    for place, line in enumerate(now):
        if place not in new:
            places[line].append(place)
    removed: dict[int, list[str]] = defaultdict(list)
    at = 0
    for place, line in enumerate(was):
        if place in gone:
            if line.strip():
                removed[start + at + 1].append(line)
            continue
        kept = places[line]
        while kept and kept[0] < at:
            kept.popleft()
        if kept and kept[0] - at <= FARTHEST:
            at = kept.popleft() + 1
    return {start + place + 1 for place in new}, {number: tuple(lines) for number, lines in removed.items()}


def _alike(some: Sequence[str], others: Sequence[str]) -> int:
    """How many of the first lines are the same."""
    pairs = enumerate(zip(some, others, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(some), len(others)))


def _surplus(lines: Sequence[str], others: Sequence[str]) -> Iterator[int]:
    """The places of lines that the others do not have, or not as often."""
    left = Counter(others)
    for place, line in enumerate(lines):
        left[line] -= 1
        if left[line] < 0:
            yield place


# -- how much of each


def rooms(files: Sequence[ShownFile], room: int) -> list[int]:
    """How many characters of each file are shown."""
    wanted = [[0] * len(files) for _ in PARTS]
    for place, file in enumerate(files):
        if file.state == CHANGED:
            part = 4 if file.by_tool else 0
            wanted[part][place] = file.size if file.is_named else file.core
            wanted[3][place] = file.size - wanted[part][place] if part == 0 else 0
        elif file.state == NEW:
            wanted[0 if file.is_named else 1][place] = file.size
        else:
            wanted[2][place] = file.size
    granted = [0] * len(files)
    left = room
    for is_rest in (False, True):
        for share, demands in zip(PARTS, wanted, strict=True):
            given = shares(demands, left if is_rest else min(left, int(room * share)))
            left -= sum(given)
            for place, number in enumerate(given):
                granted[place] += number
                demands[place] -= number
    return granted


def shares(sizes: Sequence[int], room: int) -> list[int]:
    """How many characters of each file are shown: small ones whole, the large share what is left equally."""
    granted = [0] * len(sizes)
    left = room
    wanting = [index for index in range(len(sizes)) if sizes[index] > 0]
    for place, index in enumerate(sorted(wanting, key=lambda i: sizes[i])):
        granted[index] = min(sizes[index], left // (len(wanting) - place))
        left -= granted[index]
    return granted


def around(file: ShownFile, context: int) -> list[int]:
    """The places of a file's changed lines, and of as many lines around each."""
    last = len(file.lines)
    places: set[int] = set()
    for number in (*file.new, *(min(number, last) for number in file.removed)):
        places.update(range(max(0, number - 1 - context), min(last, number + context)))
    return sorted(places)


def numbered(file: ShownFile, lines: Sequence[str], name: str, room: int, *, plain: bool) -> tuple[str, str | None]:
    """The lines with their numbers, `+` before those that are new and `-` before those that are gone.

    Where room is short: what was changed, with as much around it as fits; of any other file, its beginning and end.
    """
    width = len(str(len(lines)))

    def line(place: int) -> str:
        gone = () if plain else file.removed.get(place + 1, ())
        mark = "+" if place + 1 in file.new else "|"
        removed = "".join(f"{'':>{width}}- {_cut(text)}\n" for text in gone)
        return f"{removed}{place + 1:>{width}}{mark} {_cut(lines[place])}"

    tail = () if plain else file.removed.get(len(lines) + 1, ())
    after = "".join(f"\n{'':>{width}}- {_cut(text)}" for text in tail)
    count = len(lines)
    if file.size <= room:
        places: Sequence[int] = range(count)
    elif file.has_hunks:
        places = _hunks(file, line, room)
    else:
        places = _ends(range(count), line, room)
    if len(places) == count:
        return "\n".join(map(line, range(count))) + after, None
    gap = f"{count - len(places):,} unchanged lines of {name}" if file.has_hunks else _gap(places, count, name)
    return "\n".join(_with_gaps(places, count, line, "" if file.has_hunks else f" of {name}")) + after, gap


def _gap(places: Sequence[int], count: int, name: str) -> str:
    first = next((place for place, shown in enumerate(places) if shown != place), len(places))
    last = places[first] if first < len(places) else count
    return f"lines {first + 1} to {last} of {name}"


def _with_gaps(places: Sequence[int], count: int, line: Callable[[int], str], of: str) -> Iterator[str]:
    before = -1
    for place in (*places, count):
        if place > before + 1:
            yield f"[… lines {before + 2} to {place}{of} are not shown]"
        if place < count:
            yield line(place)
        before = place


def _hunks(file: ShownFile, line: Callable[[int], str], room: int) -> Sequence[int]:
    """The changed lines, with as much around them as fits; of too many, the first and the last ones."""
    for context in CONTEXTS:
        places = around(file, context)
        if file.size_of(places) <= room:
            return places
    return _ends(around(file, 0), line, room)


def _ends(places: Sequence[int], line: Callable[[int], str], room: int) -> Sequence[int]:
    head, left = _fitting(map(line, places), room * 2 // 3)
    tail, _ = _fitting(map(line, reversed(places[head:])), room - room * 2 // 3 + left)
    return places if head + tail >= len(places) else [*places[:head], *places[len(places) - tail :]]


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

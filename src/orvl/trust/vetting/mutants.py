"""Bugs that nobody wrote: single small changes of the lines that the good control adds or changes."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from difflib import SequenceMatcher
from typing import TYPE_CHECKING

from orvl.errors import FileError, disk_sentence
from orvl.store import beneath
from orvl.trust.mutate.candidates import candidates
from orvl.trust.mutate.lines import line_candidates
from orvl.trust.mutate.syntax import apply, is_sound, is_test, language_of, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orvl.trust.mutate.candidates import Bug
    from orvl.trust.mutate.source import ControlSource

WANTED = 44
LOOKS = ("break-selector",)
"""Kinds of bugs that a page's looks alone show."""
EXCUSED = "excused.txt"
EXCUSE = re.compile(r"(?P<name>\S+:\d+ [a-z-]+):\s*(?P<why>\S.*)")
LARGEST = 1 << 18


def mutants(source: ControlSource, most: int = WANTED) -> list[tuple[str, str, bytes]]:
    """The good work with one bug each: its name, the file that it is in, and that file's content. Spread over files,
    functions and kinds; the same ones each time."""
    files = source.good.files
    made: dict[tuple[str, bytes], str] = {}
    for bug in _spread(list(_bugs(files, source.workspace)), most):
        made.setdefault((bug.path, apply(files[bug.path], [bug.edit])), str(bug))
    return [(name, path, content) for (path, content), name in made.items()]


def _bugs(files: Mapping[str, bytes], before: Mapping[str, bytes]) -> Iterator[Bug]:
    texts = {path: text for path, content in files.items() if (text := text_of(content)) is not None}
    for path, content in sorted(files.items()):
        if is_test(path) or path not in texts:
            continue
        new = _new_lines(before.get(path, b""), content)
        found = candidates(path, content, texts) if language_of(path) else line_candidates(path, content)
        for bug in found:
            if bug.line in new and bug.kind not in LOOKS and is_sound(path, apply(content, [bug.edit])):
                yield bug


def _new_lines(before: bytes, after: bytes) -> set[int]:
    """The numbers of the lines that are not as they were."""
    matcher = SequenceMatcher(None, before.split(b"\n"), after.split(b"\n"), autojunk=False)
    changed = [(start, end) for tag, _, _, start, end in matcher.get_opcodes() if tag != "equal"]
    return {line + 1 for start, end in changed for line in range(start, end)}


def _spread(bugs: Sequence[Bug], most: int) -> list[Bug]:
    """One of each function in turn: those that surely matter first, and of kinds that were used little."""
    rows: dict[tuple[str, str, int], list[Bug]] = defaultdict(list)
    for bug in bugs:
        rows[bug.path, *bug.function].append(bug)
    chosen: list[Bug] = []
    used: Counter[str] = Counter()
    lines: Counter[tuple[str, int]] = Counter()
    while any(rows.values()) and len(chosen) < most:
        for row in rows.values():
            if not row or len(chosen) == most:
                continue
            row.sort(key=lambda bug: (lines[bug.path, bug.line], bug.rank + used[bug.kind], bug.edit.start))
            bug = row.pop(0)
            chosen.append(bug)
            used[bug.kind] += 1
            lines[bug.path, bug.line] += 1
    return chosen


def excused(source: ControlSource) -> dict[str, str]:
    """Mutants that change nothing that anybody asked for, by name, with the reasons in `controls/bugs/excused.txt`."""
    folder = source.folder_of("bugs")
    path = folder / EXCUSED if folder else None
    if path is None or not path.is_file():
        return {}
    try:
        lines = beneath.read(path, LARGEST).decode("utf-8", "replace").splitlines()
    except OSError as error:
        raise FileError(path, None, f"it cannot be read ({disk_sentence(error)}).") from error
    found = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = EXCUSE.fullmatch(line.strip())
        if match is None:
            raise FileError(path, number, "an excuse is 'FILE:LINE KIND: why nobody would notice'.")
        found[match["name"]] = match["why"]
    return found

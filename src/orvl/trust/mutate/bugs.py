"""Bugs planted in the good files: a user's patches, or small changes to the syntax tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.errors import FileError
from orvl.trust.mutate.candidates import FUNCTIONS, Bug, candidates
from orvl.trust.mutate.patches import apply_patch
from orvl.trust.mutate.source import WORD
from orvl.trust.mutate.syntax import apply, is_sound, is_test, pieces, text_of, walk

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from orvl.trust.mutate.source import ControlSource

MOST = 8
RANK_OF_DETAILS, RANK_OF_LOOKS = 2, 5


@dataclass(frozen=True)
class Planted:
    """The good files with each number of bugs, from none to all, and the bugs' names."""

    names: tuple[str, ...]
    doses: tuple[Mapping[str, bytes], ...]
    by_hand: bool = False


def planted(source: ControlSource) -> Planted:
    """All bugs of an eval; each dose includes the smaller ones."""
    good, patches = source.good.files, patches_of(source)
    if patches:
        states = [source.final.files]
        for patch in patches:
            states.append(apply_patch(patch, states[-1]))
            _check_kept(patch, source, states[-1])
        doses = tuple(over_workspace(source, state) for state in states)
        return Planted(tuple(f"controls/bugs/{patch.name}" for patch in patches), doses, by_hand=True)
    chosen = choose(good, source.spoken, MOST)
    return Planted(tuple(map(str, chosen)), tuple(plant(good, chosen[:count]) for count in range(len(chosen) + 1)))


def patches_of(source: ControlSource) -> list[Path]:
    """The bugs that a user wrote, in the order of their names."""
    folder = source.folder_of("bugs")
    return sorted(folder.glob("*.patch")) if folder else []


def over_workspace(source: ControlSource, state: Mapping[str, bytes]) -> dict[str, bytes]:
    """What of a whole workspace has to be laid over the one that the agent starts with."""
    return {
        path: content
        for path, content in state.items()
        if path in source.good.files or source.workspace.get(path) != content
    }


def _check_kept(patch: Path, source: ControlSource, state: Mapping[str, bytes]) -> None:
    if lost := sorted(source.workspace.keys() - state.keys() - source.good.deleted):
        raise FileError(patch, None, f"a bug may not remove '{lost[0]}' of the workspace; let it empty that file.")


def choose(
    files: Mapping[str, bytes], spoken: Iterable[str], most: int, kinds: Sequence[str] | None = None
) -> list[Bug]:
    """Up to so many bugs, the ones that matter most first: one in each function, then a second, and so on."""
    code = {path: content for path, content in files.items() if not is_test(path)}
    texts = {path: text for path, content in code.items() if (text := text_of(content)) is not None}
    found = [bug for path, content in code.items() for bug in candidates(path, content, texts)]
    rows: dict[tuple[str, str, int], list[Bug]] = {}
    for bug in found:
        if kinds is None or bug.kind in kinds:
            rows.setdefault((bug.path, *bug.function), []).append(bug)
    breadth = _breadths(code, texts, frozenset(spoken))
    order = sorted(rows, key=lambda key: (_crudeness(rows[key]), breadth(key)))
    return _pick(code, [rows[key] for key in order], most)


def _crudeness(bugs: Sequence[Bug]) -> int:
    """Functions that can only be broken as a whole come late, and what only looks wrong comes last."""
    best = min(bug.rank for bug in bugs)
    return 2 if best > RANK_OF_LOOKS else int(best > RANK_OF_DETAILS)


Key = tuple[str, str, int]
Breadth = tuple[bool, bool, bool, int, int, str, int]


def _breadths(code: Mapping[str, bytes], texts: Mapping[str, str], spoken: frozenset[str]) -> Callable[[Key], Breadth]:
    """Sorts functions: those that the prompts name first, and of these the ones that least else depends on.

    So the first bug is one that a user meets, and each further one breaks more: a series that breaks everything at
    once measures nothing. What all passes through, such as main, comes last.
    """
    named = Counter(word for text in texts.values() for word in WORD.findall(text))
    lines = {
        (path, piece.offset + node.start_byte): node.end_point[0] - node.start_point[0]
        for path, content in code.items()
        for piece in pieces(path, content)
        for node in walk(piece.root)
        if node.type in FUNCTIONS
    }

    def breadth(key: Key) -> Breadth:
        path, name, start = key
        size = lines.get((path, start))
        entrance = name == "main" or (not name and size is None)
        return (entrance, name not in spoken, named[name] < 2, named[name], -(size or 0), path, start)

    return breadth


def _pick(files: Mapping[str, bytes], rows: Sequence[list[Bug]], most: int) -> list[Bug]:
    """Takes from each function in turn the best bug left, preferring kinds used little; never two on one line."""
    chosen: list[Bug] = []
    left = [list(row) for row in rows]
    used: Counter[str] = Counter()
    while any(left) and len(chosen) < most:
        for row in left:
            taken = {(bug.path, bug.line) for bug in chosen}
            row[:] = [bug for bug in row if (bug.path, bug.line) not in taken]
            row.sort(key=lambda bug: (bug.rank + used[bug.kind], bug.edit.start))
            fitting = next((bug for bug in row if _fits(files, [*chosen, bug])), None)
            if fitting is None:
                row.clear()
            elif len(chosen) < most:
                row.remove(fitting)
                chosen.append(fitting)
                used[fitting.kind] += 1
    return chosen


def _fits(files: Mapping[str, bytes], bugs: Sequence[Bug]) -> bool:
    """Whether the last of these bugs leaves its file parseable and overlaps no other."""
    new = bugs[-1]
    same = [bug for bug in bugs[:-1] if bug.path == new.path]
    if any(bug.edit.start < new.edit.end and new.edit.start < bug.edit.end for bug in same):
        return False
    return is_sound(new.path, apply(files[new.path], [bug.edit for bug in [*same, new]]))


def plant(files: Mapping[str, bytes], bugs: Sequence[Bug]) -> dict[str, bytes]:
    edits: dict[str, list[Bug]] = {}
    for bug in bugs:
        edits.setdefault(bug.path, []).append(bug)
    return {path: apply(content, [bug.edit for bug in edits.get(path, ())]) for path, content in files.items()}

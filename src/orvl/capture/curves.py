"""How the code of a run grew, turn by turn: from the workspaces that are stored. Nothing of it counts in a rating."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from dataclasses import asdict, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from orvl.capture import diff
from orvl.capture.code_measures import is_code
from orvl.capture.take import tree_after, turns_reached
from orvl.errors import ChildFailed
from orvl.store import tree
from orvl.store.tree import MADE_BY_OTHERS
from orvl.worker import shared_worker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.captured_run import Inspections
    from orvl.store import Blobs
    from orvl.store.tree import Entry
    from orvl.types import Attempt

MOST_FILES = 500
LARGEST_FILE = 256 << 10
MOST_BYTES = 4 << 20
SECONDS = 10.0
MOST_KNOWN = 256
MEASURE = "orvl.capture.code_measures:measure"
NOTHING = {"lines": None, "cloned": None, "complex": None}


@dataclass(frozen=True)
class CodeState:
    """The code after a turn; None where it is unknown, as where it took too long to measure."""

    turn: int
    """0: what the agent started with."""
    lines: int | None
    cloned: float | None
    """The share of lines that stand elsewhere too, six or more in a row."""
    complex: float | None
    """The share of all paths through functions that lies in functions with more than ten."""
    lint: int | None
    """New findings of the project's own linters."""
    touched: int
    """Files that were made, changed or removed since the start."""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def curves(attempt: Attempt, blobs: Blobs, inspections: Inspections) -> list[CodeState]:
    """The start, each turn whose workspace was stored, and the end."""
    lint = dict(inspections.lint_by_turn)
    if inspections.lint:
        lint |= {0: 0, turns_reached(attempt): inspections.lint.new_count}
    keys = {0: attempt.start_tree}
    keys |= {turn: tree_after(attempt, turn) for turn in range(1, turns_reached(attempt) + 1)}
    trees = {turn: tree.entries_of(blobs, key) for turn, key in keys.items() if key}
    if 0 not in trees or len(trees) < 2:
        return []
    code = [[entry for entry in entries if _counts(entry)] for entries in trees.values()]
    measured = _measured(code, blobs)
    return [
        CodeState(turn, **one, lint=lint.get(turn), touched=_touched(trees[0], now))
        for (turn, now), one in zip(trees.items(), measured, strict=True)
    ]


def _touched(before: Sequence[Entry], now: Sequence[Entry]) -> int:
    return sum(
        "file" in (one.before and one.before.kind, one.after and one.after.kind) for one in diff.changes(before, now)
    )


def _counts(entry: Entry) -> bool:
    is_own = MADE_BY_OTHERS.isdisjoint(entry.path.split("/")[:-1])
    return (
        entry.kind == "file" and bool(entry.hash) and 0 < entry.size <= LARGEST_FILE and is_own and is_code(entry.path)
    )


def _measured(trees: Sequence[Sequence[Entry]], blobs: Blobs) -> list[dict[str, Any]]:
    """By tree; unknown where there is more to read than is reasonable, or where reading it takes too long."""
    files = {(entry.hash, entry.path): entry for entries in trees for entry in entries}
    if len(files) > MOST_FILES or sum(entry.size for entry in files.values()) > MOST_BYTES:
        return [NOTHING] * len(trees)
    number = {key: place for place, key in enumerate(files)}
    texts = [
        [entry.path, blobs.get(entry.hash or "", entry.size).decode("utf-8", "replace")] for entry in files.values()
    ]
    asked = {"texts": texts, "trees": [[number[entry.hash, entry.path] for entry in entries] for entries in trees]}
    return _ask(json.dumps(asked).encode(), len(trees))


@cache
def _known() -> OrderedDict[bytes, list[dict[str, Any]]]:
    """What was measured last in this process: a viewer shows the same run many times, also one that takes too long."""
    return OrderedDict()


def _ask(payload: bytes, number: int) -> list[dict[str, Any]]:
    key, known = hashlib.sha256(payload).digest(), _known()
    if key not in known:
        try:
            known[key] = shared_worker().call_now(MEASURE, payload, seconds=SECONDS)
        except ChildFailed:
            known[key] = [NOTHING] * number
        if len(known) > MOST_KNOWN:
            known.popitem(last=False)
    return known[key]

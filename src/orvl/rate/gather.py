"""What the store holds of cells: their counts, and the tables S of their runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.plan.layout import layout_of
from orvl.rate.board import USAGE
from orvl.store.score_matrix import Tables, tables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.plan.planning import Panel
    from orvl.store import Store
    from orvl.types import Layout

EVER = 1 << 60
Stacks = dict[int, tuple[Any, Any]]


@dataclass(frozen=True)
class CellRef:
    """A cell in the store, and how many of its runs were asked for (None: as many as there are)."""

    id: int | None
    names: tuple[str, str, str, str]
    planned: int | None = None


@dataclass
class Scoring:
    """The layout and weights under which an eval's runs are rated."""

    layout: Layout
    metric_weights: Sequence[float]
    judge_weights: Sequence[float]


@dataclass(frozen=True)
class Counts:
    """A cell's runs, those that finished or failed, and what these used."""

    runs: int
    carried_out: int = 0
    failed: int = 0
    bare: int = 0
    sandbox: str | None = None
    usage: dict[str, Any] = field(default_factory=dict)


@dataclass
class Gathered:
    """Cells, how each eval's runs are scored, and what the store has of them."""

    refs: list[CellRef]
    panels: Mapping[str, Panel]
    scorings: dict[str, Scoring] = field(default_factory=dict)
    counted: dict[int, Counts] = field(default_factory=dict)
    stacks: Stacks = field(default_factory=dict)
    """For each cell its attempts, and their S: runs × judges × metrics."""
    ratings: dict[int, NDArray[np.float64]] = field(default_factory=dict)
    """For each cell that has been rated, R of its runs."""
    unscored: int = 0
    first: int = 1
    last: int = EVER

    def attempts(self) -> set[int]:
        return {int(number) for numbers, _ in self.stacks.values() for number in numbers}


def gather(store: Store, refs: Sequence[CellRef], panels: Mapping[str, Panel], first: int, last: int) -> Gathered:
    """Reads what there is of these cells' episodes."""
    scorings = {name: scoring_of(panel) for name, panel in panels.items()}
    found = Gathered(list(refs), panels, scorings, _counts(store, first, last), first=first, last=last)
    found.stacks, found.unscored = _stacks(store, refs, scorings, found.counted, first, last)
    return found


def scoring_of(panel: Panel) -> Scoring:
    weights = [judge.weight for judge in panel.judges] or [1.0]
    return Scoring(layout_of(panel.eval, panel.metrics, panel.judges), panel.weights, weights)


def _counts(store: Store, first: int, last: int) -> dict[int, Counts]:
    """For each cell: its runs, and of those that were carried out, what was used."""
    sums = ", ".join(f"sum({name}), count({name})" for name in USAGE)
    used = store.rows(
        f"SELECT run.cell, count(*), sum(outcome = 'failed'), sum(sandbox = 'none'), group_concat(DISTINCT sandbox), "
        f"group_concat(DISTINCT cost_source), {sums} "
        "FROM attempt CROSS JOIN run ON run.id = attempt.run "
        "WHERE outcome <> 'errored' AND run.episode BETWEEN ? AND ? GROUP BY run.cell",
        (first, last),
    )
    runs = dict(store.rows("SELECT cell, count(*) FROM run WHERE episode BETWEEN ? AND ? GROUP BY cell", (first, last)))
    found = {cell: Counts(count) for cell, count in runs.items()}
    for cell, carried_out, failed, bare, sandbox, sources, *rest in used:
        totals = dict(zip(USAGE, zip(rest[::2], rest[1::2], strict=True), strict=True))
        usage = {name: total if count == carried_out else None for name, (total, count) in totals.items()}
        found[cell] = Counts(runs[cell], carried_out, failed, bare, sandbox, {**usage, "cost_source": sources})
    return found


def _stacks(
    store: Store,
    refs: Sequence[CellRef],
    scorings: dict[str, Scoring],
    counted: dict[int, Counts],
    first: int,
    last: int,
) -> tuple[Stacks, int]:
    """For each cell, the attempts that are scored and their S, stacked; and how many are not scored."""
    only = None if first == 1 and last == EVER else _attempts_between(store, first, last)
    by_layout: dict[str, list[CellRef]] = {}
    for ref in refs:
        if ref.id in counted and counted[ref.id].carried_out:
            by_layout.setdefault(scorings[ref.names[3]].layout.key, []).append(ref)
    stacks: Stacks = {}
    unscored = 0
    for here in by_layout.values():
        layout = scorings[here[0].names[3]].layout
        carried_out = {ref.id: counted[ref.id].carried_out for ref in here if ref.id}
        found = tables(store, layout, carried_out, only)
        stacks.update(_stacked(found, layout))
        unscored += sum(carried_out.values()) - len(found.attempts) + len(found.incomplete)
    return stacks, unscored


def _attempts_between(store: Store, first: int, last: int) -> set[int]:
    query = "SELECT attempt.id FROM attempt JOIN run ON run.id = attempt.run WHERE run.episode BETWEEN ? AND ?"
    return {row[0] for row in store.rows(query, (first, last))}


def _stacked(found: Tables, layout: Layout) -> Stacks:
    if not found.attempts:
        return {}
    S = np.frombuffer(b"".join(found.cards), dtype="<f8").reshape(len(found.cards), *layout.shape)
    cells, attempts = np.asarray(found.cells), np.asarray(found.attempts)
    order = np.argsort(cells, kind="stable")
    starts = np.flatnonzero(np.diff(cells[order], prepend=-1))
    return {int(cells[group[0]]): (attempts[group], S[group]) for group in np.split(order, starts[1:])}

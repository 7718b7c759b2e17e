"""What the store holds of cells: their counts, and the tables S of their runs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orvl.plan.imported import panel_name
from orvl.plan.layout import layout_of
from orvl.rate.board import Scores
from orvl.rate.earned import Earned, earn
from orvl.store.protocol import ANY_EPISODE
from orvl.store.score_matrix import score_tables
from orvl.types import Layout

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.plan.earning import Earning
    from orvl.plan.layout import Panel
    from orvl.store import Store, StoredCell
    from orvl.store.rows import CellCounts, ScoreTables
    from orvl.types import Eval


@dataclass(frozen=True)
class Stack:
    """The scored runs of a cell."""

    attempts: NDArray[np.int64]
    S: NDArray[np.float64]
    """Runs × judges × metrics, as it is rated: efficiency is what was earned of it."""
    earned: Earned | None = None

    def of(self, attempt: int) -> Stack:
        """One run alone."""
        place = np.flatnonzero(self.attempts == attempt)[:1]
        return Stack(self.attempts[place], self.S[place], self.earned[place] if self.earned else None)


@dataclass(frozen=True)
class CellRef:
    """A cell in the store, and how many of its runs were asked for (None: as many as there are)."""

    id: int | None
    names: tuple[str, str, str, str]
    planned: int | None = None
    panel: str = ""
    """The name of the panel that rates it."""
    imported: str | None = None
    """Where its results were imported from."""

    @classmethod
    def of(cls, cell: StoredCell) -> CellRef:
        origin = cell.imported
        return cls(cell.id, cell.names, None, panel_name(cell), origin.source if origin else None)


@dataclass(frozen=True)
class Scoring:
    """The layout and weights under which an eval's runs are rated."""

    layout: Layout
    metric_weights: Sequence[float]
    judge_weights: Sequence[float]
    earning: Earning | None = None

    def scores(self, stacks: Sequence[Stack]) -> Scores:
        """The tables of these runs, ready to be rated."""
        earned = [stack.earned for stack in stacks if stack.earned]
        return Scores(
            self.layout,
            self.metric_weights,
            self.judge_weights,
            np.concatenate([stack.S for stack in stacks]),
            Earned.joined(earned) if earned else None,
        )


@dataclass(frozen=True)
class Gathered:
    """Cells, how each eval's runs are scored, and what the store has of them."""

    refs: tuple[CellRef, ...]
    panels: Mapping[str, Panel]
    """By eval; imported results have panels of their own."""
    scorings: Mapping[str, Scoring] = field(default_factory=dict)
    counted: Mapping[int, CellCounts] = field(default_factory=dict)
    stacks: dict[int, Stack] = field(default_factory=dict)
    """By cell."""
    unscored: int = 0
    first: int = 1
    last: int = ANY_EPISODE

    def attempts(self, cells: Collection[int] | None = None) -> set[int]:
        """Of all cells, or of some."""
        stacks = [stack for cell, stack in self.stacks.items() if cells is None or cell in cells]
        return {number for stack in stacks for number in stack.attempts.tolist()}

    @cached_property
    def private(self) -> frozenset[int]:
        """The cells of private evals."""
        panels = {name for name, panel in self.panels.items() if panel.eval.private}
        return frozenset(ref.id for ref in self.refs if ref.id is not None and ref.panel in panels)

    def cells_by_panel(self) -> dict[str, list[int]]:
        """The cells that have scored runs."""
        cells: dict[str, list[int]] = {name: [] for name in self.scorings}
        for ref in self.refs:
            if ref.id in self.stacks:
                cells[ref.panel].append(ref.id)
        return {name: some for name, some in cells.items() if some}


def gather(store: Store, refs: Sequence[CellRef], panels: Mapping[str, Panel], first: int, last: int) -> Gathered:
    """Reads what there is of these cells' episodes."""
    scorings = {name: scoring_of(panel) for name, panel in panels.items()}
    counted = store.counts(first, last)
    stacks, unscored = _stacks(store, refs, scorings, counted, first, last)
    return Gathered(tuple(refs), panels, scorings, counted, stacks, unscored, first, last)


def families_of(panels: Mapping[str, Panel], evals: Sequence[str]) -> list[str] | None:
    """The family of each of these evals; None where each is its own."""
    known = {panel.eval.name: panel.eval for panel in panels.values()}
    return family_keys([known[name] for name in evals]) if all(name in known for name in evals) else None


def family_keys(evals: Sequence[Eval]) -> list[str] | None:
    """The same of loaded evals. A family may have the name of an eval that has none."""
    keys = [f"family {eval_.family}" if eval_.family else f"eval {eval_.name}" for eval_ in evals]
    return keys if len(set(keys)) < len(keys) else None


def scoring_of(panel: Panel) -> Scoring:
    weights = [judge.weight for judge in panel.judges] or [1.0]
    return Scoring(layout_of(panel.eval, panel.metrics, panel.judges), panel.weights, weights, panel.earning)


def fingerprint(panel: Panel, scoring: Scoring) -> str:
    """Of all that a rating on an eval rests on besides the agent: where it differs, two ratings are no pair."""
    weights = [[*map(float, scoring.metric_weights)], [*map(float, scoring.judge_weights)]]
    parts: list[object] = [panel.eval.digest, scoring.layout.key, *weights]
    if earning := scoring.earning:
        parts.append(["earned", earning.metrics, earning.by, earning.floor])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def common_scoring(scorings: Sequence[Scoring]) -> Scoring:
    """One that has the metrics of all of them, and the judges of the one that has most."""
    if len(scorings) == 1:
        return scorings[0]
    most = max(scorings, key=lambda one: (any(one.layout.judged), len(one.layout.judges)))
    columns: dict[str, tuple[str, bool, float]] = {}
    for one in (most, *scorings):
        for (name, key), judged, weight in zip(one.layout.metrics, one.layout.judged, one.metric_weights, strict=True):
            columns.setdefault(name, (key, judged, weight))
    keys, judged_ones, weights = zip(*columns.values(), strict=True)
    layout = Layout("", most.layout.judges, tuple(zip(columns, keys, strict=True)), judged_ones)
    return Scoring(layout, weights, most.judge_weights)


def spread(S: NDArray[np.float64], scoring: Scoring, common: Scoring) -> NDArray[np.float64]:
    """Judges × metrics in the places of a common scoring; what no judge said counts the same for every judge."""
    if scoring is common:
        return S
    place = {name: j for j, (name, _) in enumerate(scoring.layout.metrics)}
    wide = np.full(common.layout.shape, np.nan)
    for j, (name, _) in enumerate(common.layout.metrics):
        if name in place:
            wide[:, j] = S[:, place[name]]
    return wide


def _stacks(
    store: Store,
    refs: Sequence[CellRef],
    scorings: dict[str, Scoring],
    counted: dict[int, CellCounts],
    first: int,
    last: int,
) -> tuple[dict[int, Stack], int]:
    """For each cell, the attempts that are scored and their S, stacked; and how many are not scored."""
    only = None if first == 1 and last == ANY_EPISODE else store.attempts_between(first, last)
    alike: dict[tuple[str, Earning | None], list[CellRef]] = {}
    for ref in refs:
        if ref.id in counted and counted[ref.id].carried_out:
            scoring = scorings[ref.panel]
            alike.setdefault((scoring.layout.key, scoring.earning), []).append(ref)
    stacks: dict[int, Stack] = {}
    unscored = 0
    for here in alike.values():
        carried_out = {ref.id: counted[ref.id].carried_out for ref in here if ref.id}
        tables, earned = earned_tables(store, scorings[here[0].panel], carried_out, only)
        stacks.update(_stacked(tables, earned))
        if not here[0].imported:
            unscored += sum(carried_out.values()) - len(tables.attempts) + len(tables.incomplete)
    return stacks, unscored


def earned_tables(
    store: Store, scoring: Scoring, carried_out: Mapping[int, int], only: Collection[int] | None = None
) -> tuple[ScoreTables, Earned | None]:
    """The tables S of cells as they are rated: whoever rates stored scores has them from here."""
    tables = score_tables(store, scoring.layout, carried_out, only)
    S, earned = earn(tables.S, scoring.layout, scoring.judge_weights, scoring.earning)
    return replace(tables, S=S), earned


def _stacked(tables: ScoreTables, earned: Earned | None) -> dict[int, Stack]:
    """By cell."""
    if not len(tables.attempts):
        return {}
    cells, attempts, S = tables.cells, tables.attempts, tables.S
    if (np.diff(cells) < 0).any():
        order = np.argsort(cells, kind="stable")
        cells, attempts, S = cells[order], attempts[order], S[order]
        earned = earned[order] if earned else None
    starts = np.flatnonzero(np.diff(cells, prepend=-1))
    runs = [slice(start, end) for start, end in zip(starts, [*starts[1:], len(cells)], strict=True)]
    return {int(cells[some.start]): Stack(attempts[some], S[some], earned[some] if earned else None) for some in runs}

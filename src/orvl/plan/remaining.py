"""What of a plan is done and what is left, by what the store holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.plan.layout import layout_of
from orvl.store.score_matrix import score_tables
from orvl.types import Layout, PlannedRun

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.store import Store, StoredRun


@dataclass(frozen=True)
class Remaining:
    """Every planned run, sorted by what has to be done for it."""

    layouts: Mapping[str, Layout]
    reused: tuple[PlannedRun, ...] = ()
    to_score: tuple[PlannedRun, ...] = ()
    to_run: tuple[PlannedRun, ...] = ()
    stored: Mapping[str, StoredRun] = field(default_factory=dict)

    @property
    def todo(self) -> tuple[PlannedRun, ...]:
        return (*self.to_score, *self.to_run)


def remaining_of(plan: Plan, store: Store | None) -> Remaining:
    layouts = {name: layout_of(p.eval, p.metrics, p.judges) for name, p in plan.panels.items()}
    if store is None:
        return Remaining(layouts, to_run=plan.runs)
    stored = {run.key: run for run in store.carried_out(cell.key for cell in plan.cells)}
    scored = _scored(plan, layouts, stored, store)
    reused, to_score, to_run = [], [], []
    for planned in plan.runs:
        known = stored.get(planned.key)
        if known is None:
            to_run.append(planned)
        elif known.attempt in scored:
            reused.append(planned)
        else:
            to_score.append(planned)
    return Remaining(layouts, tuple(reused), tuple(to_score), tuple(to_run), stored)


def _scored(plan: Plan, layouts: Mapping[str, Layout], stored: Mapping[str, StoredRun], store: Store) -> set[int]:
    """The attempts that have every score which the plan asks for."""
    scored: set[int] = set()
    cells_of: dict[str, set[str]] = {}
    for cell in plan.cells:
        cells_of.setdefault(layouts[cell.eval.name].key, set()).add(cell.key)
    by_key = {layout.key: layout for layout in layouts.values()}
    cell_of_run = {run.key: run.cell.key for run in plan.runs}
    for key, cells in cells_of.items():
        wanted = [run for run in stored.values() if cell_of_run.get(run.key) in cells]
        attempts = {run.attempt for run in wanted}
        known = score_tables(store, by_key[key], Counter(run.cell for run in wanted), attempts)
        scored |= set(known.attempts.tolist()) - known.incomplete
    return scored


def next_episode(plan: Plan, store: Store | None) -> int:
    """The first episode number that none of the plan's cells has used."""
    if store is None:
        return 1
    planned = {cell.key for cell in plan.cells}
    return max((cell.last_episode for cell in store.cells() if cell.key in planned), default=0) + 1

"""A plan beside the store: what is reused, what is only scored again, what runs, and what that may cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.cards import tables
from orvl.plan import may_cost
from orvl.score import layout_of

if TYPE_CHECKING:
    from orvl.plan import Plan
    from orvl.project import Project
    from orvl.store import Store, StoredRun
    from orvl.types import Layout, PlannedRun


@dataclass
class State:
    """Every planned run, sorted by what has to be done for it."""

    layouts: dict[str, Layout]
    reused: list[PlannedRun] = field(default_factory=list)
    to_score: list[PlannedRun] = field(default_factory=list)
    to_run: list[PlannedRun] = field(default_factory=list)
    stored: dict[str, StoredRun] = field(default_factory=dict)


@dataclass(frozen=True)
class Cost:
    """Low, likely and high, in dollars; None where nothing is known."""

    low: float | None
    likely: float | None
    high: float | None
    source: str


def state_of(plan: Plan, store: Store | None) -> State:
    state = State({name: layout_of(p.eval, p.metrics, p.judges) for name, p in plan.panels.items()})
    scored: set[int] = set()
    if store is not None:
        state.stored = {run.key: run for run in store.carried_out(cell.key for cell in plan.cells)}
        scored = _scored(plan, state, store)
    for planned in plan.runs:
        stored = state.stored.get(planned.key)
        if stored is None:
            state.to_run.append(planned)
        elif stored.attempt in scored:
            state.reused.append(planned)
        else:
            state.to_score.append(planned)
    return state


def _scored(plan: Plan, state: State, store: Store) -> set[int]:
    """The attempts that have every score which the plan asks for."""
    found: set[int] = set()
    by_layout: dict[str, set[str]] = {}
    for cell in plan.cells:
        by_layout.setdefault(state.layouts[cell.eval.name].key, set()).add(cell.key)
    layouts = {layout.key: layout for layout in state.layouts.values()}
    keys = {run.key: run.cell.key for run in plan.runs}
    for key, cells in by_layout.items():
        wanted = [run for run in state.stored.values() if keys.get(run.key) in cells]
        numbers = {run.attempt for run in wanted}
        known = tables(store, layouts[key], Counter(run.cell for run in wanted), numbers)
        found |= set(known.attempts) - known.incomplete
    return found


def next_episode(plan: Plan, store: Store | None) -> int:
    """The first episode number that none of the plan's cells has used."""
    if store is None:
        return 1
    query = "SELECT max(episode) FROM run JOIN cell ON cell.id = run.cell WHERE cell.key = ?"
    return max(int(store.rows(query, (cell.key,))[0][0] or 0) for cell in plan.cells) + 1


def cost_of(project: Project, runs: list[PlannedRun], store: Store | None) -> Cost:
    """What runs may cost, from what runs of the same agent, model and provider have cost."""
    low = likely = high = 0.0
    known_from_history = False
    histories: dict[tuple[str, str, str], list[float]] = {}
    for run in runs:
        if not may_cost(project, run.cell.provider, run.cell.model_id):
            continue
        names = run.cell.contestant
        if names not in histories:
            histories[names] = sorted(_history(names, store))
        past = histories[names]
        if not past:
            return Cost(None, None, None, "unknown: no run of this agent, model and provider has a known cost yet")
        known_from_history = True
        low += past[len(past) // 10]
        likely += past[len(past) // 2]
        high += past[-1 - len(past) // 10]
    source = "from the costs of earlier runs" if known_from_history else "nothing here costs money"
    return Cost(low, likely, high, source)


def _history(contestant: tuple[str, str, str], store: Store | None) -> list[float]:
    if store is None:
        return []
    rows = store.rows(
        "SELECT cost_usd FROM attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell "
        "WHERE agent = ? AND model = ? AND provider = ? AND cost_usd IS NOT NULL ORDER BY attempt.id DESC LIMIT 200",
        contestant,
    )
    return [row[0] for row in rows]

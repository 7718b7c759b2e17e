"""A plan beside the store: what is reused, what is only scored again, what runs, and what that may cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.plan.layout import layout_of
from orvl.plan.planning import may_cost
from orvl.store.score_matrix import score_tables

if TYPE_CHECKING:
    from orvl.plan.planning import Plan
    from orvl.project import Project
    from orvl.store import Store, StoredRun
    from orvl.types import Layout, PlannedRun


NEWEST = 200
"""How many earlier runs or answers tell what the next one may cost."""


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
        known = score_tables(store, layouts[key], Counter(run.cell for run in wanted), numbers)
        found |= set(known.attempts.tolist()) - known.incomplete
    return found


def next_episode(plan: Plan, store: Store | None) -> int:
    """The first episode number that none of the plan's cells has used."""
    if store is None:
        return 1
    planned = {cell.key for cell in plan.cells}
    return max((cell.last_episode for cell in store.cells() if cell.key in planned), default=0) + 1


def cost_of(project: Project, plan: Plan, state: State, store: Store | None) -> Cost:
    """What is left to do may cost, from what runs of the same contestant, and answers of the same judge, have cost."""
    pasts: list[list[float]] = []
    histories: dict[tuple[str, ...], list[float]] = {}
    for run in state.to_run:
        if may_cost(project, run.cell.provider, run.cell.model_id):
            names = run.cell.contestant
            pasts.append(histories.get(names) or _fill(histories, names, store))
            if not pasts[-1]:
                return Cost(None, None, None, "unknown: no run of this agent, model and provider has a known cost yet")
    for run in (*state.to_run, *state.to_score):
        panel = plan.panels[run.cell.eval.name]
        judged = sum(metric.judged for metric in panel.metrics)
        for judge in panel.judges:
            if judged and not judge.is_local and may_cost(project, judge.provider, judge.model):
                past = histories.get((judge.key,)) or _fill(histories, (judge.key,), store)
                if not past:
                    return Cost(None, None, None, f"unknown: no answer of the judge {judge.name} has a known cost yet")
                pasts += [past] * judged
    source = "from the costs of earlier runs and answers" if pasts else "nothing here costs money"
    low = sum(past[len(past) // 10] for past in pasts)
    likely = sum(past[len(past) // 2] for past in pasts)
    high = sum(past[-1 - len(past) // 10] for past in pasts)
    return Cost(low, likely, high, source)


def _fill(histories: dict[tuple[str, ...], list[float]], key: tuple[str, ...], store: Store | None) -> list[float]:
    """What the newest answers of a judge, or the newest runs of a contestant, have cost."""
    if store is None:
        return []
    past = store.judge_costs(key[0], NEWEST) if len(key) == 1 else store.run_costs((key[0], key[1], key[2]), NEWEST)
    histories[key] = sorted(past)
    return histories[key]

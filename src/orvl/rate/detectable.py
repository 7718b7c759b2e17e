"""The smallest difference between two contestants that a plan can show."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.plan.planning import Plan
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.store import Store

POWER = 0.8
ENOUGH = 7
"""Degrees of freedom that own history must have: 8 evals of two contestants, or 4 of four."""
BY_EVAL, BY_RUN = 0.115, 0.136
"""The variance of a paired difference on one eval, and what each run adds to it: 13 agents, 80 tasks that are passed or
failed, 5 runs of each."""
ASSUMED = "assumed from 13 agents on 80 pass/fail tasks; graded ratings vary less"


@dataclass(frozen=True)
class Detectable:
    """What a plan can show with this power; None where it can show no difference."""

    difference: float | None
    """By the e-value that decides comparisons and races."""
    evals: int
    episodes: int
    sd: float
    """Of the paired differences on one eval."""
    source: str
    quick_difference: float | None = None
    """By a paired t test at the end, which assumes that no rare collapse is missed."""
    families: int = 0
    """Families of evals, which are the unit."""


def detectable_of(project: Project, plan: Plan, store: Store | None, episodes: int) -> Detectable:
    """From the spread of stored ratings, else from a stated assumption."""
    from orvl.rate.gather import family_keys

    every = {cell.eval.name: cell.eval for cell in plan.cells}
    evals, keys = len(every), family_keys([*every.values()])
    units = evals if keys is None else len(set(keys))
    past = _past(project, plan, store, episodes) if store is not None else None
    sd, source = past or (sqrt(BY_EVAL + BY_RUN / episodes), ASSUMED)
    from orvl.rate.stats.paired import detectable, quick_detectable
    from orvl.rate.stats.race import FEWEST

    if units < FEWEST:
        # No power is promised where nothing can be shown.
        return Detectable(None, evals, episodes, sd, source, None, units)
    quick = quick_detectable(min(sd, 1.0), units, POWER)
    smallest = detectable(min(sd, 1.0), units, POWER)
    return Detectable(smallest, evals, episodes, sd, source, quick if quick < 1 else None, units)


def _past(project: Project, plan: Plan, store: Store, episodes: int) -> tuple[float, str] | None:
    """The spread among the plan's contestants, else among all in the store."""
    from orvl.rate.collect import of_store

    planned = {cell.contestant for cell in plan.cells}
    filters: tuple[Callable[[tuple[str, ...]], bool], ...] = (lambda names: names[:3] in planned, lambda _: True)
    for keep in filters:
        if spread := _spread(of_store(project, store, keep, (), None), episodes):
            return spread
    return None


def _spread(board: Board, episodes: int) -> tuple[float, str] | None:
    """The sd of paired differences on one eval, each over so many episodes; None where too little is known."""
    from orvl.rate.numbers import numbers_of
    from orvl.rate.stats.components import variance_components

    numbers = numbers_of(board)
    # Controls are of fixed quality: they say nothing about how contestants vary.
    controls = {(row.agent, row.model, row.provider) for row in board.cells if row.sandbox == "control"}
    table = numbers.R[[names not in controls for names in numbers.contestants]][..., None]
    if len(table) < 2:
        return None
    parts = variance_components(table)
    if parts is None or (parts.contestants - 1) * (parts.evals - 1) < ENOUGH or not parts.ae + parts.run > 0:
        return None
    sd = sqrt(2 * (parts.ae + parts.run / episodes))
    stored = round(parts.contestants * parts.evals * parts.episodes)
    return sd, f"from {count(stored, 'stored run')} of {count(parts.contestants, 'contestant')}"

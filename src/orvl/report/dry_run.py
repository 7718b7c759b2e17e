"""A plan for people and for programs, before anything runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.ratings_json import SCHEMA
from orvl.report.terminal import TextColumn, TextTable
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Cost, State
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.report.terminal import Terminal
    from orvl.store import Store

MOST_ROWS = 60
POWER = 0.8
ENOUGH = 7
"""Degrees of freedom that own history must have: 8 evals of two contestants, or 4 of four."""
BY_EVAL, BY_RUN = 0.115, 0.136
"""The variance of a paired difference on one eval, and what each run adds to it: 13 agents, 80 tasks that are passed or
failed, 5 runs of each."""
ASSUMED = "assumed: what 13 agents showed on 80 tasks that are passed or failed; graded ratings vary less"


@dataclass(frozen=True)
class Detectable:
    """The smallest difference between two contestants that a plan sees; None where it can see none."""

    difference: float | None
    evals: int
    episodes: int
    sd: float
    """Of the paired differences on one eval."""
    source: str

    @property
    def sentence(self) -> str:
        from orvl.rate.stats.race import FEWEST

        if self.evals < 2:
            return "One eval cannot tell two contestants apart."
        what = "no difference" if self.difference is None else f"a difference of {self.difference:.2f}"
        size = f"{count(self.evals, 'eval')} × {count(self.episodes, 'episode')}"
        seen = f"With {size} {what} between two contestants is seen with {100 * POWER:g} % power"
        few = f" Below {FEWEST} evals no exact test reaches 5 %." if self.evals < FEWEST else ""
        return f"{seen} (sd of paired differences {self.sd:.2f}, {self.source}).{few}"

    @property
    def as_json(self) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in ("difference", "evals", "episodes", "sd", "source")}
        return {**parts, "power": POWER}


def detectable_of(project: Project, plan: Plan, store: Store | None, episodes: int) -> Detectable:
    """What a plan can see, from the spread of stored ratings, else from a stated assumption."""
    from orvl.rate.stats.paired import detectable

    evals = len({cell.eval.name for cell in plan.cells})
    past = _past(project, plan, store, episodes) if store is not None else None
    sd, source = past or (sqrt(BY_EVAL + BY_RUN / episodes), ASSUMED)
    smallest = detectable(sd, evals, POWER) if evals > 1 else 1.0
    return Detectable(smallest if smallest < 1 else None, evals, episodes, sd, source)


def _past(project: Project, plan: Plan, store: Store, episodes: int) -> tuple[float, str] | None:
    """The spread among the plan's contestants, else among all that are in the store."""
    from orvl.rate.collect import of_store

    planned = {cell.contestant for cell in plan.cells}
    tries: tuple[Callable[[tuple[str, ...]], bool], ...] = (lambda names: names[:3] in planned, lambda _: True)
    for keep in tries:
        if found := _spread(of_store(project, store, keep, (), None), episodes):
            return found
    return None


def _spread(board: Board, episodes: int) -> tuple[float, str] | None:
    """The sd of paired differences on one eval, each over so many episodes; None where too little is known."""
    from orvl.rate.numbers import numbers_of
    from orvl.rate.stats.components import variance_components

    numbers = numbers_of(board.gathered, board.rules)
    # Controls are of fixed quality: they say nothing about how contestants vary.
    controls = {(row.agent, row.model, row.provider) for row in board.cells if row.sandbox == "control"}
    table = numbers.R[[names not in controls for names in numbers.contestants]][..., None]
    if len(table) < 2:
        return None
    found = variance_components(table)
    if found is None or (found.contestants - 1) * (found.evals - 1) < ENOUGH or not found.ae + found.run > 0:
        return None
    sd = sqrt(2 * (found.ae + found.run / episodes))
    stored = round(found.contestants * found.evals * found.episodes)
    return sd, f"from {count(stored, 'stored run')} of {count(found.contestants, 'contestant')}"


def print_plan(terminal: Terminal, plan: Plan, state: State, cost: Cost, seen: Detectable) -> None:
    """The cells, how many of their runs are reused, scored again and run, the cost, and what the plan can show."""
    headings = ("agent", "model", "provider", "eval", "reused", "scored again", "to run")
    columns = [TextColumn(name, words=place < 4) for place, name in enumerate(headings)]
    tallies = [Counter(run.cell.key for run in runs) for runs in (state.reused, state.to_score, state.to_run)]
    cells = plan.cells[:MOST_ROWS]
    rows = [[*map(plain, cell.names), *(str(tally[cell.key]) for tally in tallies)] for cell in cells]
    terminal.print(TextTable(columns, rows))
    if len(plan.cells) > MOST_ROWS:
        terminal.print(f"… and {len(plan.cells) - MOST_ROWS} more cells (--json lists all)")
    left_out = len(plan.runs) - len(state.reused) - len(state.to_score) - len(state.to_run)
    terminal.print(
        f"{count(len(plan.cells), 'cell')}, {count(len(plan.runs), 'run')}: {len(state.reused)} reused, "
        f"{len(state.to_score)} only scored again, {len(state.to_run)} to run"
        + (f", {left_out} not needed by the race." if left_out else ".")
    )
    terminal.print(_cost_sentence(cost))
    terminal.print(seen.sentence)
    for warning in plan.warnings:
        terminal.print(f"! {plain(warning)}", "yellow")


def _cost_sentence(cost: Cost) -> str:
    if cost.likely is None:
        return f"Cost: {cost.source}."
    if cost.high == 0:
        return f"Cost: $0 ({cost.source})."
    return f"Cost: {dollars(cost.low)} low, {dollars(cost.likely)} likely, {dollars(cost.high)} high ({cost.source})."


def as_json(plan: Plan, state: State, cost: Cost, seen: Detectable) -> dict[str, Any]:
    what = {run.key: word for runs, word in _sorted(state) for run in runs}
    return {
        "schema": SCHEMA,
        "plan": {
            "cells": len(plan.cells),
            "reused": len(state.reused),
            "scored_again": len(state.to_score),
            "to_run": len(state.to_run),
            "cost_usd": {"low": cost.low, "likely": cost.likely, "high": cost.high, "source": cost.source},
            "runs": [
                {
                    "run": run.key,
                    "agent": run.cell.agent.name,
                    "model": run.cell.model,
                    "provider": run.cell.provider,
                    "eval": run.cell.eval.name,
                    "episode": run.episode,
                    "what": what.get(run.key, "not needed"),
                }
                for run in plan.runs
            ],
        },
        "detectable": seen.as_json,
        "warnings": plan.warnings,
    }


def _sorted(state: State) -> tuple[tuple[Any, str], ...]:
    return (state.reused, "reused"), (state.to_score, "scored again"), (state.to_run, "runs")

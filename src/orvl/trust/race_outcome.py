"""How a race stands: a sentence for each contestant, and the rows of those that did not need all their runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import nan
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from orvl.project.names import count
from orvl.rate.board import Row, Scores, rate_rows
from orvl.rate.collect import of_plan, rules_of
from orvl.rate.gather import scoring_of
from orvl.rate.stats.race import FEWEST
from orvl.store.score_matrix import score_tables
from orvl.trust.race import ALPHA, Race

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from orvl.plan.planning import Plan
    from orvl.plan.remaining import State
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.rate.gather import Scoring
    from orvl.store import Store
    from orvl.trust.race import Contestant
    from orvl.types import Cell

Stopped = Literal["by the budget", "by the user"]


def race_of(project: Project, plan: Plan, state: State, store: Store, episodes: int) -> Race:
    """The race that a plan asks for, as far as the store knows it; what is left is put into its order."""
    asked = {run.key: run.cell.key for run in state.to_run}
    cells = set(asked.values())
    tried = {run.key for run in store.runs([cell.id for cell in store.cells() if cell.key in cells])}
    todo = [*state.to_score, *state.to_run]
    race = Race(plan.cells, todo, asked.keys() & tried, _rater(project, plan, store), episodes)
    for runs in (state.to_score, state.to_run):
        runs.sort(key=lambda run: race.place[run.cell.eval.name])
    return race


def _rater(project: Project, plan: Plan, store: Store) -> Callable[[Sequence[Cell]], list[float]]:
    """Rates cells on one eval as a report does. One that misses more metrics than others is not compared with them."""
    rules, asked = rules_of(project), {run.key for run in plan.runs}

    def rate(cells: Sequence[Cell]) -> list[float]:
        rows = [Row(*cell.names) for cell in cells]
        for cell, row in zip(cells, rows, strict=True):
            scoring = scoring_of(plan.panels[cell.eval.name])
            S = _scored(store, scoring, cell, asked)
            if len(S):
                weights = scoring.metric_weights, scoring.judge_weights
                rate_rows([row], [len(S)], Scores(scoring.layout, *weights, S), rules)
        fewest = min((len(row.missing) for row in rows if row.R is not None), default=0)
        return [nan if row.R is None or len(row.missing) > fewest else row.R for row in rows]

    return rate


def _scored(store: Store, scoring: Scoring, cell: Cell, asked: set[str]) -> NDArray[np.float64]:
    """S of the cell's runs that were asked for and have all their scores."""
    runs = [run for run in store.carried_out([cell.key]) if run.key in asked]
    tables = score_tables(store, scoring.layout, Counter(run.cell for run in runs), {run.attempt for run in runs})
    return tables.S[[attempt not in tables.incomplete for attempt in tables.attempts.tolist()]]


@dataclass(frozen=True)
class Outcome:
    """How a race stands when a command ends, with what it saved."""

    race: Race
    stopped: Stopped | None
    """What ended it before its time."""
    planned: int
    run: int
    saved: int
    is_incomplete: bool
    """Whether a run that the race needs could not be rated."""

    @property
    def sentences(self) -> list[str]:
        """One for each contestant, and what they are worth."""
        said = [self.reason(one) for one in self.race.contestants]
        if len(self.race.order) < FEWEST:
            said.append(f"With {count(len(self.race.order), 'eval')} nobody can be out: at least {FEWEST} are needed.")
        if self.race.out:
            said.append("Rows above are over the evals that each ran; the race compares them on the same evals.")
        return [*said, f"{self.saved} of {count(self.planned, 'run')} were not needed."]

    def reason(self, one: Contestant) -> str:
        race = self.race
        if one in race.out:
            return race.why_out(one)
        name, after = " ".join(one), f"after {race.settled} of {len(race.order)} evals"
        if race.is_over:
            return f"{name} won: all others are out {after}."
        stopped = f"stopped {self.stopped} {after}: " if self.stopped else ""
        near = race.nearest(one)
        if near is None:
            return f"{name} is still in: {stopped}it has too few ratings to be compared."
        yet = f"could not be told apart {after}" if not stopped else "are not told apart yet"
        return (
            f"{name} is still in: {stopped}it and {' '.join(near[0])} {yet} "
            f"(e = {near[1]:.3g}, at least {race.needed:g} is needed)."
        )

    @property
    def as_json(self) -> dict[str, Any]:
        return {
            "alpha": ALPHA,
            "needed_e": self.race.needed,
            "order": self.race.order,
            "contestants": [self._contestant(one) for one in self.race.contestants],
            "planned_runs": self.planned,
            "run": self.run,
            "saved": self.saved,
        }

    def _contestant(self, one: Contestant) -> dict[str, Any]:
        race, out = self.race, self.race.out.get(one)
        near = None if out or race.is_over else race.nearest(one)
        return {
            **_names(one),
            "state": "out" if out else "won" if race.is_over else "in",
            "after": out.after if out else race.settled,
            "by": _names(out.by) if out else None,
            "e": out.e if out else near[1] if near else None,
            "reason": self.reason(one),
        }


def _names(one: Contestant) -> dict[str, str]:
    return dict(zip(("agent", "model", "provider"), one, strict=True))


def finish(
    project: Project, plan: Plan, store: Store, race: Race, episodes: int, stopped: Stopped | None
) -> tuple[Board, Outcome]:
    """The ratings after a race, where runs that it left out are not missing, and how it stands."""
    board = of_plan(project, plan, store, 1, episodes, planned=None)
    tried = sum(row.planned for row in board.cells)
    needed = [] if race.is_over else [row for row in board.cells if _contestant(row) in race.inside]
    left = sum(episodes - row.planned for row in needed)
    for row in needed:
        row.planned = episodes
    board.cells = [row for row in board.cells if row.planned]
    planned = len(plan.cells) * episodes
    is_done = race.is_over or race.settled == len(race.order)
    is_incomplete = any(row.rated < row.planned for row in needed)
    return board, Outcome(race, None if is_done else stopped, planned, tried, planned - tried - left, is_incomplete)


def _contestant(row: Row) -> Contestant:
    return row.agent, row.model, row.provider

"""The ratings that a race is decided on, from the store, and the board when it ends."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.board import Row, rate_groups
from orvl.rate.collect import of_plan, rules_of
from orvl.rate.gather import Stack, earned_tables, scoring_of
from orvl.trust.race import Race, RaceResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.project import Project
    from orvl.rate.collect import Board
    from orvl.rate.gather import Scoring
    from orvl.store import Store
    from orvl.trust.race import Stopped
    from orvl.types import Cell


def race_of(project: Project, plan: Plan, remaining: Remaining, store: Store, episodes: int) -> Race:
    """The race over a plan, as far as the store knows it."""
    asked = {run.key: run.cell.key for run in remaining.to_run}
    cells = set(asked.values())
    tried = {run.key for run in store.runs([cell.id for cell in store.cells() if cell.key in cells])}
    todo = [*remaining.to_score, *remaining.to_run]
    return Race(plan.cells, todo, asked.keys() & tried, _rater(project, plan, store), episodes)


def _rater(project: Project, plan: Plan, store: Store) -> Callable[[Sequence[Cell]], list[float]]:
    """Rates cells on one eval as a report does. A rating that misses more metrics than others is not comparable."""
    rules, asked = rules_of(project), {run.key for run in plan.runs}

    def rate(cells: Sequence[Cell]) -> list[float]:
        rows = [row_of(cell) for cell in cells]
        fewest = min((len(row.missing) for row in rows if row.R is not None), default=0)
        return [nan if row.R is None or len(row.missing) > fewest else row.R for row in rows]

    def row_of(cell: Cell) -> Row:
        scoring = scoring_of(plan.panels[cell.eval.name])
        runs = _scored(store, scoring, cell, asked)
        if not len(runs.S):
            return Row(*cell.names)
        (rating,), _ = rate_groups([len(runs.S)], scoring.scores([runs]), rules)
        return Row(*cell.names, **vars(rating))

    return rate


def _scored(store: Store, scoring: Scoring, cell: Cell, asked: set[str]) -> Stack:
    """The cell's planned runs that have all their scores."""
    runs = [run for run in store.carried_out([cell.key]) if run.key in asked]
    attempts = {run.attempt for run in runs}
    tables, earned = earned_tables(store, scoring, Counter(run.cell for run in runs), attempts)
    whole = np.array([i for i, one in enumerate(tables.attempts.tolist()) if one not in tables.incomplete], dtype=int)
    return Stack(tables.attempts[whole], tables.S[whole], earned[whole] if earned else None)


def finish(
    project: Project, plan: Plan, store: Store, race: Race, episodes: int, stopped: Stopped | None
) -> tuple[Board, RaceResult]:
    """The ratings after a race, in which runs that it did not need are not missing, and how it stands."""
    board = of_plan(project, plan, store, 1, episodes, planned=None)
    tried = sum(row.planned for row in board.cells)
    inside = set() if race.is_over else set(race.inside)
    left = sum(episodes - row.planned for row in board.cells if row.contestant in inside)
    rows = [replace(row, planned=episodes) if row.contestant in inside else row for row in board.cells]
    board = replace(board, cells=tuple(row for row in rows if row.planned))
    planned = len(plan.cells) * episodes
    result = RaceResult(
        order=tuple(race.order),
        settled=race.settled,
        needed=race.needed,
        places=tuple(race.place_of(contestant) for contestant in race.contestants),
        stopped=None if race.is_decided else stopped,
        planned=planned,
        run=tried,
        saved=planned - tried - left,
        is_incomplete=any(row.rated < row.planned for row in rows if row.contestant in inside),
    )
    return board, result

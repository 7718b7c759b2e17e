"""Every run of a board as arrays: of very many runs, rows are made only for those that are shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.board import rate_groups
from orvl.rate.collect import run_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.rate.board import GroupRating, Row
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.store.rows import RunResult


@dataclass(frozen=True)
class RunIndex:
    """The attempts of a board that count: those that are rated, by eval and cell, then those of runs that errored."""

    board: Board
    attempts: NDArray[np.int64]
    R: NDArray[np.float64]
    """NaN where a run is not rated."""
    errored: int
    """How many, at the end."""

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        return np.argsort(self.attempts, kind="stable")

    def places_of(self, attempts: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Where these attempts are in the index, in their order; what is not in it is left out."""
        asked = np.asarray(attempts, dtype=np.int64)
        if not len(self.attempts) or not len(asked):
            return np.zeros(0, dtype=np.int64)
        ordered = self.attempts[self._places]
        at = np.minimum(np.searchsorted(ordered, asked), len(ordered) - 1)
        found: NDArray[np.int64] = self._places[at[ordered[at] == asked]]
        return found

    def rows(self, store: Store, attempts: Sequence[int]) -> list[Row]:
        """As a report by run has them."""
        refs = {ref.id: ref for ref in self.board.gathered.refs}
        results = store.results_of(attempts)
        ratings = self._ratings(results)
        return [run_row(refs[one.cell], one, ratings.get(one.attempt)) for one in results]

    def _ratings(self, results: Sequence[RunResult]) -> Mapping[int, GroupRating]:
        gathered = self.board.gathered
        ratings: dict[int, GroupRating] = {}
        panels = {ref.id: ref.panel for ref in gathered.refs}
        for name in {panels[one.cell] for one in results if one.outcome != "errored"}:
            some = [one for one in results if panels[one.cell] == name and one.outcome != "errored"]
            scores = gathered.scorings[name].scores([gathered.stacks[one.cell].of(one.attempt) for one in some])
            rated = rate_groups([1] * len(some), scores, self.board.rules)[0]
            ratings.update(zip([one.attempt for one in some], rated, strict=True))
        return ratings


def run_index(store: Store, board: Board) -> RunIndex:
    gathered = board.gathered
    cells = [cell for some in gathered.cells_by_panel().values() for cell in some]
    lacking = [ref.id for ref in gathered.refs if ref.id and _has_errored(board, ref.id)]
    errored = [run.attempt for run in store.errored_runs(lacking)] if lacking else []
    rated = [gathered.stacks[cell].attempts for cell in cells]
    R = [board.ratings[cell] for cell in cells]
    return RunIndex(
        board,
        np.concatenate([*rated, np.array(errored, dtype=np.int64)]),
        np.concatenate([*R, np.full(len(errored), np.nan)]),
        len(errored),
    )


def _has_errored(board: Board, cell: int) -> bool:
    counts = board.gathered.counted.get(cell)
    return counts is not None and counts.runs > counts.carried_out

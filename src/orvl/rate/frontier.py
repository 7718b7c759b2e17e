"""Cost against quality: the contestants that nobody beats in one without losing in the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from orvl.rate.board import Row

Contestant = tuple[str, str, str]


@dataclass(frozen=True)
class Spot:
    """A contestant by its rating and what a run costs; both over the same evals as the others'."""

    contestant: Contestant
    R: float
    cost: float
    dominated_by: Contestant | None
    """One that is as good and as cheap, and better in one of the two; None on the frontier."""


def frontier(rows: Sequence[Row], per_eval: NDArray[np.float64]) -> list[Spot]:
    """The contestants with a known cost and the same evals as most, the cheapest first.

    It goes by the figures as they are: whether two of them are really apart, a comparison says.
    """
    known = [(row, frozenset(np.flatnonzero(~np.isnan(line)))) for row, line in zip(rows, per_eval, strict=True)]
    priced = [(row, evals) for row, evals in known if row.R is not None and row.cost_per_run is not None and evals]
    if not priced:
        return []
    sets = [evals for _, evals in priced]
    usual = max(sets, key=lambda evals: (sets.count(evals), len(evals)))
    spots = [
        (row.contestant, row.R, row.cost_per_run.mean)
        for row, evals in priced
        if evals == usual and row.R is not None and row.cost_per_run is not None
    ]
    placed = [Spot(name, R, cost, _dominating(R, cost, spots)) for name, R, cost in spots]
    return sorted(placed, key=lambda spot: (spot.cost, -spot.R))


def _dominating(R: float, cost: float, spots: Sequence[tuple[Contestant, float, float]]) -> Contestant | None:
    """The best of those that leave no reason to choose this one."""
    better = [(-r, c, name) for name, r, c in spots if r >= R and c <= cost and (r > R or c < cost)]
    return min(better)[2] if better else None

"""Whether judges still score the same controls as they did before.

Providers change models behind the same name. The controls' files never change, so a change of their scores is a change
of the judge. Differences are paired by eval, with t over evals, and corrected after Holm for the number of judges.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import SLACK, mean_known, probabilities
from orvl.rate.stats.claims import EXACT, LEVEL, adjust
from orvl.rate.stats.intervals import t_cdf, t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class DriftChange:
    """A mean change over evals with its interval, and how often chance alone would make one this large."""

    mean: float
    low: float
    high: float
    p: float


@dataclass(frozen=True)
class Drift:
    """How one judge's scores of the same controls on the same evals have changed."""

    judge: str
    evals: int
    controls: int
    shift: DriftChange | None
    """Of all controls together: above 0, the judge has become generous."""
    separation: DriftChange | None
    """Of good − bad: below 0, the judge tells them apart less well."""
    most_moved: str | None
    by_control: Mapping[str, float]
    moved: bool | None
    """Whether a change is beyond noise, with all judges looked at together; None where that cannot be said."""
    why: str | None = None


def drift(
    before: Mapping[str, ArrayLike],
    after: Mapping[str, ArrayLike],
    judges: Sequence[str],
    apart: tuple[str, str] = ("good", "bad"),
) -> tuple[Drift, ...]:
    """Compares two sets of scores (evals × repeats × judges by control, the evals in the same order) judge by judge.

    `apart` are the two controls whose distance says how well a judge can tell.
    """
    shared = [control for control in before if control in after]
    pairs = {control: _difference(control, before[control], after[control], len(judges)) for control in shared}
    found = [{control: pair[:, place] for control, pair in pairs.items()} for place in range(len(judges))]
    changes = [(_change(_shifts(moves)), _change(_separations(moves, *apart))) for moves in found]
    ps = adjust([change.p if change else None for pair in changes for change in pair])
    return tuple(
        _drift(judge, moves, *pair, ps[2 * place : 2 * place + 2])
        for place, (judge, moves, pair) in enumerate(zip(judges, found, changes, strict=True))
    )


def _difference(control: str, before: ArrayLike, after: ArrayLike, judges: int) -> NDArray[np.float64]:
    """After − before, evals × judges."""
    first, second = (probabilities(table, f"The scores of {control}", slack=SLACK) for table in (before, after))
    if first.ndim != 3 or second.ndim != 3 or first.shape[::2] != second.shape[::2] or first.shape[2] != judges:
        raise ValueError(f"The scores of {control} have the shapes {first.shape} and {second.shape}: not the same.")
    return mean_known(second, 1) - mean_known(first, 1)


def _shifts(moves: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """The mean change of each eval, over the controls that have both scores."""
    return mean_known(np.array(list(moves.values())), 0) if moves else np.empty(0)


def _separations(moves: Mapping[str, NDArray[np.float64]], high: str, low: str) -> NDArray[np.float64]:
    return moves[high] - moves[low] if high in moves and low in moves else np.empty(0)


def _change(values: NDArray[np.float64]) -> DriftChange | None:
    known = values[~np.isnan(values)]
    n = len(known)
    if n < 2:
        return None
    mean, error = float(known.mean()), float(known.std(ddof=1)) / sqrt(n)
    if error < EXACT:
        return DriftChange(mean, mean, mean, float(abs(mean) <= EXACT))
    half = t_quantile(0.5 + LEVEL / 2, n - 1) * error
    return DriftChange(mean, mean - half, mean + half, 2 * (1 - t_cdf(abs(mean) / error, n - 1)))


def _drift(
    judge: str,
    moves: Mapping[str, NDArray[np.float64]],
    shift: DriftChange | None,
    separation: DriftChange | None,
    ps: Sequence[float | None],
) -> Drift:
    known = {control: move[~np.isnan(move)] for control, move in moves.items()}
    means = {control: float(move.mean()) for control, move in known.items() if len(move)}
    evals = int((~np.isnan(_shifts(moves))).sum())
    most = max(means, key=lambda control: abs(means[control]), default=None)
    told = [p for p in ps if p is not None]
    count = "1 eval" if evals == 1 else f"{evals} evals"
    why = None if told else f"{judge} has scores of the same controls on {count} both times; at least 2 are needed."
    moved = any(p < 1 - LEVEL for p in told) if told else None
    return Drift(judge, evals, len(means), shift, separation, most, means, moved, why)

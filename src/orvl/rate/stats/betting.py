"""Evidence about bounded differences that holds whatever their distribution, and however often one looks.

A betting martingale: start with one coin, and on each eval stake a share λ of what you have on A. Differences are from
−1 to 1, so 1 + λ·d is never negative, and if A is no better than B its mean is at most 1: nobody can expect to win. By
Ville's inequality the wealth then ever reaches 1/α with chance α at most, after any number of looks. Nobody knows the
best λ beforehand, so the wealth of several bettors is added up. Such a sum does not depend on the order of the evals:
the same data always give the same number.

Nothing better can be had without assumptions: every test of this promise is a bet of this form.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orvl.rate.stats.arrays import check_level, probabilities

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

BETS = (1.0, 0.75, 0.5, 0.35, 0.25, 0.17, 0.12, 0.08, 0.05, 0.03, 0.02, 0.01)
SHARES = (14.0, 2.0, 2.0, 1.0, 1.0, 1.0, 0.7, 0.7, 0.5, 0.5, 0.3, 0.3)
"""Over half of the coin goes all in, which is best for graded scores that vary little, and makes six evals that one
passes and the other fails just enough; the rest is for pass and fail that go either way."""
LARGEST_LOG = 700.0
"""exp of more would overflow."""
AT_ONCE = 2_000_000
"""Bets computed at once, for memory's sake."""
_LOG_SHARES = np.log(np.array(SHARES) / sum(SHARES))


class Units(NamedTuple):
    """What counts as one piece of evidence: the evals of a family together, or an eval of its own."""

    sums: NDArray[np.float64]
    """… × units, of what the unit's evals add up to; 0 where none is known."""
    sizes: NDArray[np.float64]
    """How many of its evals are known."""
    largest: float
    """The number of evals in the largest family."""


@dataclass(frozen=True)
class Evidence:
    """That A is better, and that B is, as the logarithms of one-sided e-values."""

    log_better: float
    log_worse: float

    @property
    def e_value(self) -> float:
        """The larger of the two, halved because the side was not chosen beforehand."""
        return exp(min(max(self.log_better, self.log_worse) - log(2), LARGEST_LOG))


def units_of(values: ArrayLike, families: Sequence[object] | None = None) -> Units:
    """Values per eval (last axis, NaN for missing), added up by family; without families each eval is its own."""
    table = probabilities(values, "Values", lowest=-1.0)
    known = ~np.isnan(table)
    table = np.where(known, table, 0.0)
    if families is None:
        return Units(table, known.astype(np.float64), 1.0)
    if len(families) != table.shape[-1]:
        raise ValueError(f"There are {len(families)} families for {table.shape[-1]} evals; each eval has one.")
    names = {name: place for place, name in enumerate(dict.fromkeys(families))}
    member = np.zeros((table.shape[-1], len(names)))
    member[np.arange(table.shape[-1]), [names[name] for name in families]] = 1.0
    largest = float(member.sum(axis=0).max(initial=1.0))
    return Units(table @ member, known @ member, largest)


def log_wealth(stakes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of what the bettors have after all bets along the last axis; a stake of 0 changes nothing."""
    shape = stakes.shape[:-1]
    rows = stakes.reshape(int(np.prod(shape)), stakes.shape[-1])
    result = np.empty(len(rows))
    step = max(1, AT_ONCE // max(rows.shape[1] * len(BETS), 1))
    for start in range(0, len(rows), step):
        here = rows[start : start + step, None, :] * np.array(BETS)[:, None]
        with np.errstate(divide="ignore"):
            wins = np.log1p(np.maximum(here, -1.0)).sum(axis=-1)
        result[start : start + step] = np.logaddexp.reduce(wins + _LOG_SHARES, axis=-1)
    return result.reshape(shape)


def log_better(units: Units, than: float = 0.0) -> NDArray[np.float64]:
    """The log e-value against "the mean difference is at most `than`", for each row of units."""
    return log_wealth((units.sums - than * units.sizes) / (units.largest * (1 + than)))


def evidence(differences: ArrayLike, families: Sequence[object] | None = None) -> Evidence:
    """Of A's ratings minus B's, one per eval."""
    units = units_of(differences, families)
    opposite = units._replace(sums=-units.sums)
    return Evidence(float(log_better(units)), float(log_better(opposite)))


def confidence_sequence(
    differences: ArrayLike, families: Sequence[object] | None = None, level: float = 0.95
) -> tuple[float, float]:
    """All mean differences that the evidence does not exclude: it holds at every look at once."""
    check_level(level)
    units = units_of(differences, families)
    opposite = units._replace(sums=-units.sums)
    needed = log(2 / (1 - level))
    return _bound(units, needed), -_bound(opposite, needed)


def _bound(units: Units, needed: float) -> float:
    """The largest mean that is excluded from below; the evidence falls as it rises.

    0 is looked at first, so that a bound is on the side of 0 on which the evidence is.
    """
    low, high = -1.0, 0.0
    if float(log_better(units)) >= needed:
        low, high = 0.0, 1.0
    return bisected(lambda mean: float(log_better(units, mean)) >= needed, low, high)


def sequence_half_width(sd: float, units: int, level: float = 0.95) -> float:
    """Half of the confidence sequence of so many differences that are this far above and below 0, in turn."""
    check_level(level)
    if not 0 <= sd <= 1 or units < 1:
        raise ValueError(f"The sd is {sd} over {units} units; it must be from 0 to 1, over 1 or more.")
    needed = log(2 / (1 - level))

    def is_kept(away: float) -> bool:
        stakes = np.outer(np.array(BETS), np.array([away + sd, away - sd]) / (1 - away))
        with np.errstate(divide="ignore"):
            wins = np.log1p(np.maximum(stakes, -1.0)).sum(axis=1) * units / 2
        return float(np.logaddexp.reduce(wins + _LOG_SHARES)) < needed

    return bisected(is_kept, 0.0, 1.0)


def bisected(holds: Callable[[float], bool], low: float, high: float) -> float:
    """The largest number for which it holds; it holds at `low`, and no longer at some higher number."""
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low

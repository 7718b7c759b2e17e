"""How sure a mean is: Student's t over evals, corrected near the ends of the scale.

The values are one per eval, with episodes averaged before. Counting episodes as independent values is the obvious
mistake: with 8 evals × 3 episodes a nominal 95 % interval then holds the truth in 76 %. t rather than z because 5 to 30
evals are usual, and t rather than a percentile bootstrap because that is too narrow with so few (88 % at 8 evals).
"""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, fsum, isnan, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orvl.rate.stats.arrays import check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

EQUAL = 1e-18  # a variance below this is rounding
MANY_EVALS = 20
"""From so many evals on, one that was never met counts in full; tuned on 66 kinds of simulated evals."""


def t_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """The plain t interval of a mean of ratings between 0 and 1, NaN left out; None below two values."""
    known = [value for value in values if not isnan(value)]
    n = len(known)
    if n < 2:
        return None
    mean = fsum(known) / n
    return interval(mean, fsum((value - mean) ** 2 for value in known), n, level)


def interval(mean: float, squares: float, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """The same from the mean and the sum of squared deviations of n values."""
    if n < 2:
        return None
    half = t_quantile(0.5 + level / 2, n - 1) * sqrt(squares / (n - 1) / n)
    return max(0.0, mean - half), min(1.0, mean + half)


def mean_interval(values: ArrayLike, level: float = 0.95) -> tuple[float, float] | None:
    """The interval of the mean of one contestant's ratings, one value an eval (NaN for missing); None below two.

    Plain t misses too often near 0 and 1: where all but a few evals are at the bound, those few make the spread, and a
    sample without them looks far too sure. So the spread is taken as a share of mean·(1−mean), the most it can be, and
    the bounds are the means from which the data are just t standard errors away: Wilson's score interval, with t for z
    and a measured share for 1. In the middle of the scale that is the t interval. Values that are all equal show no
    spread at all: then the bound says what share of evals could differ from them and still not have been met.
    """
    low, high = mean_intervals(np.reshape(np.asarray(values, dtype=np.float64), (1, -1)), level)[0]
    return None if np.isnan(low) else (float(low), float(high))


def mean_intervals(table: ArrayLike, level: float = 0.95) -> NDArray[np.float64]:
    """`mean_interval` of each row of contestants × evals, as low and high; NaN where there is none."""
    return intervals_of(moments(ratings(table)), level)


def intervals_of(found: Moments, level: float = 0.95) -> NDArray[np.float64]:
    """The same from the moments of each row.

    The unseen share weighs more with more evals: over few of them t is wide enough by itself.
    """
    check_level(level)
    unseen = np.minimum(found.n / MANY_EVALS, 1.0)
    t = [t_quantile(0.5 + level / 2, n - 1) if n > 1 else np.nan for n in found.n.tolist()]
    low, high = limits(found.mean, spread_share(found, unseen), found.n, np.array(t))
    equal = (found.variance < EQUAL) & (found.n > 1)
    others = unmet_share(np.maximum(found.n, 1), level)
    low = np.where(equal, found.mean * (1 - others), low)
    high = np.where(equal, found.mean + (1 - found.mean) * others, high)
    return np.stack([low, high], axis=-1)


class Moments(NamedTuple):
    """How many values each row has, their mean and their variance (n − 1)."""

    n: NDArray[np.int64]
    mean: NDArray[np.float64]
    variance: NDArray[np.float64]


def moments(values: NDArray[np.float64]) -> Moments:
    """The moments of each row, without its NaN; the mean of nothing is NaN."""
    there = ~np.isnan(values)
    n = there.sum(axis=-1)
    mean = np.where(there, values, 0.0).sum(axis=-1) / np.maximum(n, 1)
    squares = np.where(there, values - mean[..., None], 0.0) ** 2
    return Moments(n, np.where(n > 0, mean, np.nan), squares.sum(axis=-1) / np.maximum(n - 1, 1))


def ratings(table: ArrayLike) -> NDArray[np.float64]:
    """Contestants × evals as an array; an error where a value is not from 0 to 1."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"The table has the shape {values.shape}; it must be contestants × evals.")
    if values.size and (np.fmin.reduce(values, axis=None) < -1e-9 or np.fmax.reduce(values, axis=None) > 1 + 1e-9):
        raise ValueError("Ratings must be from 0 to 1 (NaN for missing).")
    return np.clip(values, 0.0, 1.0)


def unmet_share(n: NDArray[np.int64] | int, level: float = 0.95) -> NDArray[np.float64]:
    """The share of all evals that may differ from n equal ones and still, with chance (1 − level)/2, not be met.

    Clopper and Pearson's exact bound for 0 of n: solves (1 − share)ⁿ = (1 − level)/2.
    """
    return np.asarray(1 - ((1 - level) / 2) ** (1 / n), dtype=np.float64)


def equal_p(difference: float, n: int) -> float:
    """The p of n paired differences that are all equal, where t would divide by 0.

    Equal contestants could still show this if unmet evals, with differences up to −1, made up for it: these would be a
    share d/(1 + d) of all, and n draws miss them with chance (1 + d)⁻ⁿ.
    """
    return min(1.0, 2 / (1 + abs(difference)) ** n)


def spread_share(found: Moments, unseen: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """The variance as a share of mean·(1−mean), which is the most that values from 0 to 1 can have.

    The doubt is the squared standard error over the squared distance to the nearer bound: 1 where a single eval makes
    the distance, near 0 where all do. Its square weighs in a share that was not seen (1: as if evals were pass or
    fail), so the correction fades out in the middle of the scale.
    """
    n, mean, variance = found
    mean = np.clip(mean, 0.0, 1.0)
    distance = np.minimum(mean, 1 - mean)
    n = np.maximum(n, 1)
    doubt = np.divide(variance / n, distance**2, out=np.ones_like(mean), where=distance > 1e-9)
    inside = (n * mean + 0.5) / (n + 1)
    weight = np.minimum(doubt, 1.0) ** 2 * inside * (1 - inside)
    share = (variance + unseen * weight) / np.maximum(mean * (1 - mean) + weight, 1e-300)
    return np.asarray(np.minimum(share, 1.0))


def limits(
    mean: NDArray[np.float64], share: NDArray[np.float64], n: NDArray[np.int64], t: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two means m that lie t standard errors, √(share·m·(1−m)/n), from the mean."""
    a = t * t * share / np.maximum(n, 1)
    half = np.sqrt(np.maximum(a * a / 4 + a * mean * (1 - mean), 0.0))
    return (mean + a / 2 - half) / (1 + a), (mean + a / 2 + half) / (1 + a)


class Pair(NamedTuple):
    """Two contestants on the same evals: the moments of both, their shares of spread, and their correlation."""

    found: Moments
    share: NDArray[np.float64]
    correlation: float

    def limits(self, t: float) -> tuple[float, float]:
        """The bounds of the difference of the means, from the bounds of both and their correlation.

        Where the bounds are those of plain t, this is the paired t interval.
        """
        mean = self.found.mean
        low, high = limits(mean, self.share, self.found.n, t)
        below, above = (mean - low).tolist(), (high - mean).tolist()
        difference = float(mean[0] - mean[1])
        return difference - self._joined(below[0], above[1]), difference + self._joined(above[0], below[1])

    def _joined(self, first: float, second: float) -> float:
        return sqrt(max(0.0, first**2 + second**2 - 2 * self.correlation * first * second))


def pair_of(a: NDArray[np.float64], b: NDArray[np.float64]) -> Pair:
    """Both contestants' ratings on the same evals, at least two, without NaN.

    The unseen share near a bound is 0.7 here: in simulations 0.5 lets false alarms rise just above 5 %, and 1 costs
    power.
    """
    found = moments(np.stack([a, b]))
    n, mean, variance = found
    together = float(((a - mean[0]) * (b - mean[1])).sum() / (n[0] - 1))
    both = float(variance[0] * variance[1])
    correlation = together / sqrt(both) if variance.min() > EQUAL else 0.0
    return Pair(found, spread_share(found, unseen=0.7), correlation)


def bounded_t(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """|t| of the paired test, made smaller where a contestant is so near a bound that t is too sure.

    It is the largest t whose bounds still exclude 0, found by bisection: the interval and the test then always agree.
    """
    pair, differences, n = pair_of(a, b), a - b, len(a)
    mean, variance = float(differences.mean()), float(differences.var(ddof=1))
    if variance < EQUAL:
        return t_quantile(1 - max(equal_p(mean, n), 1e-12) / 2, n - 1)
    high = abs(mean) / sqrt(variance / n)
    if _apart(pair.limits(high)):
        return high
    low = 0.0
    while high - low > 1e-6 * (1 + low):
        middle = (low + high) / 2
        low, high = (middle, high) if _apart(pair.limits(middle)) else (low, middle)
    return low


def _apart(bounds: tuple[float, float]) -> bool:
    return bounds[0] > 0 or bounds[1] < 0


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: int) -> float:
    """The p-quantile (p ≥ 0.5) of t with a whole number of degrees of freedom.

    scipy has this too, but importing it takes longer than a whole report (docs/statistics.md). Bisection of the exact
    series up to 300 degrees of freedom; beyond, the first term of Cornish and Fisher's expansion, right to 4 digits.
    """
    if not 0.5 <= p < 1 or df < 1:
        raise ValueError(f"p is {p} and df {df}; p must be from 0.5 to below 1, and df 1 or more.")
    if df > 300:
        z = NormalDist().inv_cdf(p)
        return z + (z**3 + z) / (4 * df)
    low, high = 0.0, 1.0
    while t_cdf(high, df) < p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def t_cdf(t: float, df: int) -> float:
    """P(T ≤ t), by the finite series for whole degrees of freedom (Abramowitz and Stegun 26.7.3–4)."""
    angle = atan(t / sqrt(df))
    if df == 1:
        return 0.5 + angle / pi
    term = cos(angle) if df % 2 else 1.0
    total = term
    for k in range(2 + df % 2, df - 1, 2):
        term *= cos(angle) ** 2 * (k - 1) / k
        total += term
    if df % 2:
        return 0.5 + (angle + sin(angle) * total) / pi
    return 0.5 + sin(angle) * total / 2

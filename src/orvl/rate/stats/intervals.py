"""How sure a mean is, one value an eval: what values between 0 and 1 allow, and Student's t beside it.

Episodes are averaged before. Counting them as independent values is the obvious mistake: with 8 evals × 3 episodes a
nominal 95 % interval then holds the truth in 76 %. t is narrower where it may be trusted, and far too sure of a good
agent that sometimes collapses: a sample without a collapse shows no spread at all.
"""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, fsum, isnan, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import check_level, probabilities
from orvl.rate.stats.betting import units_of
from orvl.rate.stats.bounded import EXACT, bounds, moment_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


def t_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """The plain t interval of a mean of ratings between 0 and 1, NaN left out; None below two values."""
    known = [value for value in probabilities(values, "Ratings").tolist() if not isnan(value)]
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


def mean_interval(
    values: ArrayLike, level: float = 0.95, *, families: Sequence[object] | None = None
) -> tuple[float, float] | None:
    """The interval of the mean of one contestant's ratings, one value an eval (NaN for missing); None below two.

    It assumes nothing of the ratings but that they are from 0 to 1, and that evals, or families of evals, are drawn
    independently (`orvl.rate.stats.bounded`).
    """
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise ValueError(f"The values have the shape {row.shape}; they must be one per eval.")
    low, high = mean_intervals(row[None], level, families=families)[0]
    return None if np.isnan(low) else (float(low), float(high))


def mean_intervals(
    table: ArrayLike, level: float = 0.95, *, families: Sequence[object] | None = None
) -> NDArray[np.float64]:
    """`mean_interval` of each row of contestants × evals, as low and high; NaN where there is none."""
    check_level(level)
    units = units_of(ratings(table), families)
    # The family that was not met is as large as the others are.
    worst = units.sizes.sum(axis=1) / np.maximum((units.sizes > 0).sum(axis=1), 1)
    low, high = bounds(units.sums, units.sizes, worst, level)
    few = (units.sizes > 0).sum(axis=1) < 2
    return np.where(few[:, None], np.nan, np.stack([low, high], axis=-1))


def run_intervals(values: NDArray[np.float64], sizes: NDArray[np.int64], level: float = 0.95) -> NDArray[np.float64]:
    """`mean_interval` of stretches of values: of the first `sizes[0]`, and so on; NaN values are left out."""
    check_level(level)
    known = ~np.isnan(values)
    group = np.repeat(np.arange(len(sizes)), sizes)[known]
    values = np.clip(values[known], 0.0, 1.0)
    counts = np.bincount(group, minlength=len(sizes))
    found = np.full((len(sizes), 2), np.nan)
    many = counts > EXACT
    if many.any():
        n = np.maximum(counts, 1)
        mean = np.bincount(group, values, len(sizes)) / n
        away = values - mean[group]
        square, third = (np.bincount(group, power, len(sizes)) / n for power in (away * away, away * away * away))
        low, high = moment_bounds(n.astype(np.float64), mean, square, third, level)
        found[many] = np.stack([low, high], axis=-1)[many]
    starts = np.cumsum(counts) - counts
    for n in np.unique(counts[(counts > 1) & ~many]).tolist():
        here = np.flatnonzero(counts == n)
        rows, back = np.unique(values[starts[here][:, None] + np.arange(n)], axis=0, return_inverse=True)
        found[here] = mean_intervals(rows, level)[back.ravel()]
    return found


def ratings(table: ArrayLike) -> NDArray[np.float64]:
    """Contestants × evals as an array; an error where a value is not from 0 to 1."""
    values = np.asarray(table, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"The table has the shape {values.shape}; it must be contestants × evals.")
    return bounded(values)


def bounded(values: NDArray[np.float64], lowest: float = 0.0) -> NDArray[np.float64]:
    """Values from `lowest` to 1, rounding forgiven."""
    what = "Ratings" if lowest == 0 else "Differences"
    return np.clip(probabilities(values, what, lowest=lowest), lowest, 1.0)


def unmet_share(n: NDArray[np.int64] | int, level: float = 0.95) -> NDArray[np.float64]:
    """The share of all evals that may differ from n equal ones and still, with chance (1 − level)/2, not be met.

    Clopper and Pearson's exact bound for 0 of n: solves (1 − share)ⁿ = (1 − level)/2.
    """
    return np.asarray(1 - ((1 - level) / 2) ** (1 / n), dtype=np.float64)


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

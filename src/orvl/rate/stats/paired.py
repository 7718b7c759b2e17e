"""Who is better: contestants compared on the same evals, pair by pair.

Evals differ far more than contestants do, so a comparison of two means drowns in what is the same for both; the
difference on each eval does not have it. At a true difference of .10 over 12 evals the power is 76 % paired and 16 %
unpaired.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import exp, sqrt
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import check_level
from orvl.rate.stats.intervals import EQUAL, bounded_t, equal_p, pair_of, ratings, t_cdf, t_quantile, unmet_share
from orvl.rate.stats.race import FEWEST, log_e, log_evidence, log_flip_path

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

EXACT = 16
"""Up to so many evals all 2ⁿ sign flips are counted; beyond, differences are first rounded to a fine grid."""
GRID = 6_000
"""Steps of that grid: the largest difference times the number of evals."""
MANY = 100_000
"""Nobody runs more evals than this."""


@dataclass(frozen=True)
class Paired:
    """A against B on their n common evals: the mean of A − B and how sure it is; None where n is too small to say."""

    n: int
    mean: float | None
    interval: tuple[float, float] | None
    p: float | None
    """Two-sided, by t over the evals."""
    sign_flip_p: float | None
    """Two-sided, over all flips of the differences' signs."""
    e_value: float | None
    """Evidence against equality that may be looked at after every eval."""
    bounded_p: float | None = None
    """As p, but less sure near an end of the scale; the interval goes with it."""

    @property
    def p_used(self) -> float:
        """The largest of the three; 1 below six evals.

        Each of the three fails somewhere: t where differences are skewed, sign flips where they are not symmetric, both
        near a bound. The largest keeps false alarms below 5 % in all of these. A rare collapse that no eval has shown
        yet deceives it, as it does every test.
        """
        known = [p for p in (self.p, self.sign_flip_p, self.bounded_p) if p is not None]
        return max(known) if known and self.n >= FEWEST else 1.0

    @property
    def significant(self) -> bool:
        return self.p_used <= 0.05

    @property
    def reason(self) -> str | None:
        """Why nothing can be significant here, if so."""
        if self.n >= FEWEST:
            return None
        return f"Common evals: {self.n}; below {FEWEST}, no difference can be told from chance."


def paired(a: ArrayLike, b: ArrayLike | None = None, level: float = 0.95) -> Paired:
    """Compares two contestants' ratings, one per eval in the same order; or, without b, takes differences.

    An eval that either lacks (NaN) is left out. From differences alone the ends of the scale are not known.
    """
    if b is None:
        d = _row(a, -1.0)
        return _compared(d[~np.isnan(d)], None, level)
    x, y = _row(a), _row(b)
    if x.shape != y.shape:
        raise ValueError(f"A has {len(x)} values and B has {len(y)}; they must be on the same evals.")
    both = ~np.isnan(x - y)
    return _compared((x - y)[both], (x[both], y[both]), level)


def _compared(
    d: NDArray[np.float64], pair: tuple[NDArray[np.float64], NDArray[np.float64]] | None, level: float
) -> Paired:
    check_level(level)
    n = len(d)
    if n < 2:
        return Paired(n, float(d[0]) if n else None, None, None, 1.0 if n else None, None)
    mean, variance, flip_p = float(d.mean()), float(d.var(ddof=1)), sign_flip(d)
    evidence = log_evidence(*pair) if pair else min(float(log_e(d)), float(log_flip_path(d)[-1]))
    e_value = exp(min(evidence, 700.0))
    if variance < EQUAL:
        return Paired(n, mean, *_all_equal(mean, n, level), flip_p, e_value)
    error, t = sqrt(variance / n), t_quantile(0.5 + level / 2, n - 1)
    low, high, bounded_p = mean - t * error, mean + t * error, None
    if pair:
        bounds = pair_of(*pair).limits(t)
        low, high, bounded_p = min(low, bounds[0]), max(high, bounds[1]), _two_sided(bounded_t(*pair), n)
    within = (max(-1.0, low), min(1.0, high))
    return Paired(n, mean, within, _two_sided(mean / error, n), flip_p, e_value, bounded_p)


def _all_equal(mean: float, n: int, level: float) -> tuple[tuple[float, float], float]:
    """The interval and p of differences without spread: what evals that were not met could change."""
    others = float(unmet_share(n, level))
    centre = mean * (1 - others)
    return (centre - others, centre + others), equal_p(mean, n)


def _row(values: ArrayLike, lowest: float = 0.0) -> NDArray[np.float64]:
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise ValueError(f"The values have the shape {row.shape}; they must be one per eval.")
    known = row[~np.isnan(row)]
    if known.size and (known.min() < lowest - 1e-9 or known.max() > 1 + 1e-9):
        raise ValueError(f"The values must be from {lowest:g} to 1 (NaN for missing).")
    return row


def _two_sided(t: float, n: int) -> float:
    return min(1.0, max(0.0, 2 * t_cdf(-abs(t), n - 1)))


def sign_flip(differences: ArrayLike) -> float:
    """The two-sided p of Fisher's sign-flip test: the share of all sign flips with a sum at least as far from zero.

    It is exact for any symmetric differences, where t needs them normal. Beyond 16 differences there are too many flips
    to count, so differences are rounded to a grid and the sums' distribution is built by convolution; the test stays
    exact, because rounding ignores the signs.
    """
    d = _row(differences, -1.0)
    d = d[~np.isnan(d)]
    if not d.any():
        return 1.0
    if len(d) <= EXACT:
        sums = np.zeros(1)
        for value in d[1:]:
            sums = np.concatenate([sums + value, sums - value])
        return float((np.abs(sums + d[0]) >= abs(d.sum()) - 1e-12).mean())
    steps = np.rint(d / np.abs(d).max() * max(GRID // len(d), 1)).astype(int)
    chances = np.ones(1)
    for step in np.abs(steps):
        wider = np.zeros(len(chances) + 2 * step)
        wider[: len(chances)] += chances / 2
        wider[2 * step :] += chances / 2
        chances = wider
    reach = abs(int(steps.sum()))
    middle = len(chances) // 2
    return float(min(1.0, chances[: middle - reach + 1].sum() + chances[middle + reach :].sum())) if reach else 1.0


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's adjusted p-values; a NaN is not a test and stays NaN.

    It bounds the chance of any false alarm, as Bonferroni does, and never finds less; it needs no independence, which
    pairs that share a contestant do not have.
    """
    p = np.asarray(p_values, dtype=np.float64).ravel()
    adjusted = np.full(p.shape, np.nan)
    order = np.argsort(np.where(np.isnan(p), np.inf, p), kind="stable")[: int((~np.isnan(p)).sum())]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted


@dataclass(frozen=True)
class Winners:
    """The contestants that nobody beats significantly: a set, since the top is seldom one alone."""

    winners: tuple[int, ...]
    ranks: tuple[int | None, ...]
    """1 + the contestants that are significantly better; None without any rating."""
    pairs: dict[tuple[int, int], Paired]
    adjusted: dict[tuple[int, int], float]
    """Holm's p of each pair that has six common evals."""

    @property
    def untested(self) -> tuple[int, ...]:
        """The contestants that share six evals with nobody: unbeaten only because they were never compared."""
        tested = {i for pair in self.adjusted for i in pair}
        return tuple(i for i, rank in enumerate(self.ranks) if rank and i not in tested)


def winner_set(table: ArrayLike, level: float = 0.95) -> Winners:
    """Compares all rows of contestants × evals (NaN for missing) pair by pair, with Holm's correction."""
    values = ratings(table)
    pairs = {(i, j): paired(values[i], values[j], level) for i, j in combinations(range(len(values)), 2)}
    tested = [pair for pair, found in pairs.items() if found.n >= FEWEST]
    adjusted = dict(zip(tested, holm([pairs[pair].p_used for pair in tested]).tolist(), strict=True))
    beaten = np.zeros(len(values), dtype=int)
    for (i, j), p in adjusted.items():
        if p <= 1 - level + 1e-12:
            beaten[j if (pairs[i, j].mean or 0.0) > 0 else i] += 1
    rated = [not np.isnan(row).all() for row in values]
    ranks = tuple(count + 1 if there else None for count, there in zip(beaten.tolist(), rated, strict=True))
    return Winners(tuple(i for i, rank in enumerate(ranks) if rank == 1), ranks, pairs, adjusted)


def more_evals(differences: ArrayLike, level: float = 0.95, power: float = 0.8) -> int | None:
    """How many more evals would show this difference with 80 % power, if it is as large and as spread as seen."""
    d = _row(differences, -1.0)
    d = d[~np.isnan(d)]
    if len(d) < 2:
        return None
    mean, sd = abs(float(d.mean())), float(d.std(ddof=1))
    if mean < 1e-12 or sd < 1e-9 or detectable(sd, MANY, power, level) > mean:
        return None
    low, high = FEWEST, MANY
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if detectable(sd, middle, power, level) <= mean else (middle + 1, high)
    return max(0, low - len(d))


def detectable(sd: float, evals: int, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest difference that a paired t test over so many evals shows with this power."""
    if evals < 2 or not 0.5 <= power < 1:
        raise ValueError(f"{evals} evals with a power of {power}: it needs two evals, and a power from 0.5 to below 1.")
    return (t_quantile(0.5 + level / 2, evals - 1) + t_quantile(power, evals - 1)) * sd / sqrt(evals)

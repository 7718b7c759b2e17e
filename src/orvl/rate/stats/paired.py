"""Who is better: contestants compared on the same evals, pair by pair.

Evals differ far more than contestants do, so a comparison of two means drowns in what is the same for both; the
difference on each eval does not have it.

One number decides: the e-value of `betting`, which holds for any distribution and any number of looks. The interval is
all differences that it does not exclude, so both always say the same. Beside it stand what one look planned beforehand
would say (`one_look_p`), and quick tests (`quick_p`, `quick_e`) that assume that no rare collapse was missed.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import exp, log, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from orvl.rate.stats.arrays import aligned, check_level
from orvl.rate.stats.betting import (
    BETS,
    LARGEST_LOG,
    SHARES,
    Units,
    bisected,
    confidence_sequence,
    evidence,
    log_better,
    units_of,
)
from orvl.rate.stats.bounded import bounds, chance_above
from orvl.rate.stats.intervals import bounded, ratings, t_cdf, t_quantile
from orvl.rate.stats.race import ALPHA, FEWEST, log_quick

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

EXACT = 16
"""Up to so many evals all 2ⁿ sign flips are counted; beyond, differences are first rounded to a fine grid."""
GRID = 6_000
"""Steps of that grid: the largest difference times the number of evals."""
MANY = 100_000
"""Nobody runs more evals than this."""
WITHIN = 0.05
"""Two contestants are equivalent where their difference is shown to be smaller than this."""
TIE = 1e-3
"""Sums of differences that are this near, as a share of the largest difference, are ties."""
Verdict = Literal["BETTER", "WORSE", "EQUIVALENT", "NOT ENOUGH EVIDENCE"]


@dataclass(frozen=True)
class Paired:
    """A against B on their n common evals: the mean of A − B and how sure it is; None where n is too small to say."""

    n: int
    mean: float | None
    interval: tuple[float, float] | None
    """Holds at every look at once, for any distribution; it excludes 0 exactly where `significant`."""
    e_value: float | None
    """The evidence for the better side; 20 is enough, whenever one looks."""
    one_look_interval: tuple[float, float] | None = None
    """For a single look that was planned beforehand; for any distribution."""
    one_look_p: float | None = None
    """Two-sided; goes with the interval of one look."""
    p: float | None = None
    """Quick: by t over the evals."""
    sign_flip_p: float | None = None
    """Quick: over all flips of the differences' signs."""
    quick_e: float | None = None
    """As the e-value, for differences that follow a bell curve or are symmetric."""
    families: int = 0
    """Families of evals, which are the unit: the number of evals where none was given."""

    @property
    def p_used(self) -> float:
        """1 / e: a p-value that holds however often one looks."""
        return min(1.0, 1 / self.e_value) if self.e_value else 1.0

    @property
    def significant(self) -> bool:
        """The one decision that all commands show."""
        return self.e_value is not None and self.e_value >= 1 / ALPHA

    @property
    def quick_p(self) -> float:
        """The larger of t's and the sign flips'; 1 below six."""
        known = [p for p in (self.p, self.sign_flip_p) if p is not None]
        return max(known) if known and self.families >= FEWEST else 1.0

    def is_within(self, distance: float = WITHIN) -> bool:
        """Whether the difference is shown to be smaller than this, to either side."""
        return self.interval is not None and -distance < self.interval[0] <= self.interval[1] < distance

    def verdict(self, distance: float = WITHIN) -> Verdict:
        if self.significant:
            return "BETTER" if (self.mean or 0.0) > 0 else "WORSE"
        return "EQUIVALENT" if self.is_within(distance) else "NOT ENOUGH EVIDENCE"

    @property
    def reason(self) -> str | None:
        """Why nothing can be significant here, if so."""
        if self.families >= FEWEST:
            return None
        what = "evals" if self.families == self.n else "families of evals"
        return f"Common {what}: {self.families}; below {FEWEST}, no difference can be told from chance."


def paired(
    a: ArrayLike, b: ArrayLike | None = None, level: float = 0.95, *, families: Sequence[object] | None = None
) -> Paired:
    """Compares two contestants' ratings, one per eval in the same order; or, without b, takes differences.

    An eval that either lacks (NaN) is left out. pandas Series are aligned by their index. `families` names the family
    of each eval: the evals of one are related, and count as one piece of evidence.
    """
    check_level(level)
    if b is None:
        d = _row(a, -1.0)
    else:
        x, y = map(_row, aligned(a, b))
        if x.shape != y.shape:
            raise ValueError(f"A has {len(x)} values and B has {len(y)}; they must be on the same evals.")
        d = x - y
    if families is not None and len(families) != len(d):
        raise ValueError(f"There are {len(families)} families for {len(d)} evals; each eval has one.")
    there = ~np.isnan(d)
    kept = None if families is None else [name for name, known in zip(families, there, strict=True) if known]
    return _compared(d[there], kept, level)


def _compared(d: NDArray[np.float64], families: Sequence[object] | None, level: float) -> Paired:
    units = units_of(d, families)
    n, number = len(d), len(units.sums)
    if number < 2:
        return Paired(n, float(d.mean()) if n else None, None, None, families=number)
    # The quick tests know nothing of sizes: they take the means of families as they take evals.
    means = units.sums / units.sizes
    low, p = _one_look(units, level)
    return Paired(
        n,
        float(d.mean()),
        confidence_sequence(d, families, level),
        evidence(d, families).e_value,
        low,
        p,
        t_p(means),
        sign_flip(means),
        exp(min(log_quick(means), LARGEST_LOG)),
        number,
    )


def _one_look(units: Units, level: float) -> tuple[tuple[float, float], float]:
    """The interval and the p of Gaffke's bound, on differences moved from −1 … 1 to 0 … 1."""
    worst = float(units.sizes.mean())
    low, high = bounds((units.sums + units.sizes)[None] / 2, units.sizes[None], np.array([worst]), level)
    ends = [np.append(sign * units.sums, -worst) for sign in (1, -1)]
    chances = 1 - chance_above(np.stack(ends))
    return (float(2 * low[0] - 1), float(2 * high[0] - 1)), float(min(1.0, 2 * max(chances.min(), 0.0)))


def t_p(differences: NDArray[np.float64]) -> float:
    """Student's two-sided p; differences without any spread are left to the other tests."""
    n, mean = len(differences), float(differences.mean())
    error = sqrt(float(differences.var(ddof=1)) / n)
    if error < 1e-12:
        return 1.0 if abs(mean) < 1e-12 else 0.0
    return _two_sided(mean / error, n)


def _row(values: ArrayLike, lowest: float = 0.0) -> NDArray[np.float64]:
    row = np.asarray(values, dtype=np.float64)
    if row.ndim != 1:
        raise ValueError(f"The values have the shape {row.shape}; they must be one per eval.")
    return bounded(row, lowest)


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
        # A tie is a tie also where a score was moved by a hair.
        return float((np.abs(sums + d[0]) >= abs(d.sum()) - TIE * np.abs(d).max()).mean())
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
    """The contestants that are not shown to be worse than any other: a set, since the top is seldom one alone."""

    winners: tuple[int, ...]
    ranks: tuple[int | None, ...]
    """1 + the contestants that are shown to be better; None without any rating."""
    e_values: NDArray[np.float64]
    """Of row over column: the evidence that the row's contestant is better, as `compare` has it."""
    needed: float
    """The e-value that shows it, among so many."""
    common: NDArray[np.int64]
    """Evals, or families of them, that two contestants share."""

    @property
    def untested(self) -> tuple[int, ...]:
        """The contestants that share six evals with nobody: unbeaten only because they were never compared."""
        most = self.common.max(axis=1, initial=0).tolist()
        return tuple(i for i, rank in enumerate(self.ranks) if rank and most[i] < FEWEST)


def winner_set(table: ArrayLike, level: float = 0.95, *, families: Sequence[object] | None = None) -> Winners:
    """Compares each row of contestants × evals (NaN for missing) with its k − 1 rivals.

    One is out of the set once a rival's e-value against it is (k − 1)/α. Only its k − 1 rivals can put the truly best
    contestant out, each with chance α/(k − 1) at most, whenever one looks: so it is lost with chance α at most,
    although the leader was chosen by the same data.
    """
    check_level(level)
    values = ratings(table)
    k = len(values)
    e_values, common = np.zeros((k, k)), np.zeros((k, k), dtype=np.int64)
    if pairs := list(permutations(range(k), 2)):
        first, second = np.array(pairs).T
        units = units_of(values[first] - values[second], families)
        e_values[first, second] = np.exp(np.minimum(log_better(units) - log(2), LARGEST_LOG))
        common[first, second] = (units.sizes > 0).sum(axis=1)
    needed = max(k - 1, 1) / (1 - level)
    beaten = (e_values >= needed * (1 - 1e-12)).sum(axis=0)
    rated = [not np.isnan(row).all() for row in values]
    ranks = tuple(count + 1 if there else None for count, there in zip(beaten.tolist(), rated, strict=True))
    return Winners(tuple(i for i, rank in enumerate(ranks) if rank == 1), ranks, e_values, needed, common)


def more_evals(differences: ArrayLike, level: float = 0.95, *, families: Sequence[object] | None = None) -> int | None:
    """How many more evals would settle it, if they went as those so far; None where no number would."""
    d = _row(differences, -1.0)
    units = units_of(d, families)
    n = int(units.sizes.sum())
    if not n or abs(float(np.nansum(d))) < 1e-12:
        return None
    units = units if float(np.nansum(d)) > 0 else units._replace(sums=-units.sums)
    with np.errstate(divide="ignore"):
        growth = np.log1p(np.outer(BETS, units.sums / units.largest)).sum(axis=1) / n
    shares = np.log(np.array(SHARES) / sum(SHARES))
    needed = log(2 / (1 - level))

    def is_short(evals: float) -> bool:
        return float(np.logaddexp.reduce(shares + evals * growth)) < needed

    if is_short(MANY):
        return None
    return max(0, int(np.ceil(bisected(is_short, 0.0, float(MANY)))) - n)


def detectable(sd: float, evals: int, power: float = 0.8, level: float = 0.95) -> float | None:
    """The smallest difference that the e-value over so many evals shows with this power; None where none up to 1.

    Differences are taken to be one sd above and below their mean, as far as the scale goes.
    """
    _refuse_power(sd, evals, power)
    check_level(level)
    if evals < FEWEST:
        return None
    z, needed = t_quantile(power, 1_000), log(2 / (1 - level))
    bets, shares = np.array([0.999, *BETS[1:]]), np.log(np.array(SHARES) / sum(SHARES))

    def is_missed(mean: float) -> bool:
        high = min(mean + sd, 1.0)
        # The lower value keeps the mean and, as far as −1 allows, the spread.
        low = max(mean - sd, -1.0)
        up = (mean - low) / (high - low) if high > low else 1.0
        wins, losses = np.log1p(bets * high), np.log1p(bets * low)
        middle, spread = up * wins + (1 - up) * losses, np.sqrt(up * (1 - up)) * (wins - losses)
        return float((shares + evals * middle - z * sqrt(evals) * spread).max()) < needed

    return None if is_missed(1.0) else bisected(is_missed, 0.0, 1.0)


def quick_detectable(sd: float, evals: int, power: float = 0.8, level: float = 0.95) -> float:
    """The smallest difference that a paired t test over so many evals shows with this power."""
    _refuse_power(sd, evals, power)
    return (t_quantile(0.5 + level / 2, evals - 1) + t_quantile(power, evals - 1)) * sd / sqrt(evals)


def _refuse_power(sd: float, evals: int, power: float) -> None:
    if evals < 2 or not 0.5 <= power < 1:
        raise ValueError(f"{evals} evals with a power of {power}: it needs two evals, and a power from 0.5 to below 1.")
    if not 0 <= sd <= 1:
        raise ValueError(f"The sd of differences is {sd}; it must be from 0 to 1.")

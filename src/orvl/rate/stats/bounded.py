"""What a few values between two known ends say of their mean, whatever their distribution.

Gaffke's bound: give each value, and one more at the worst possible end, a random share of the whole (a flat Dirichlet).
The quantiles of the weighted mean are bounds of the true mean. In words: the Bayesian bootstrap, with one eval that was
not met and went as badly as an eval can. It is Clopper and Pearson's for pass and fail, and for equal values the bound
of what could have been missed; in between it moves smoothly with the data. Its coverage is proved for those two, and
has held in every simulation of any others (benchmarks/intervals.py).
"""

from __future__ import annotations

from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Rows = NDArray[np.float64]

EXACT = 50
"""Up to so many values bounds are exact; beyond, they come from the first three moments, right to .003."""
STEPS = 60


def chance_above(points: Rows) -> Rows:
    """The chance that a flatly weighted mean of each row's points is above 0.

    Shares of a flat Dirichlet are exponential times over their sum, and those have no memory: whichever of a positive
    and a negative point runs out first, the rest of the other is as new. So the chance is a mean of two chances with
    one point less, in a table that has only sums of positive terms: de Boor's recursion, which ties do not disturb.
    """
    above, below = _falling(points), _falling(-points)
    rows, most, least = len(points), above.shape[1], below.shape[1]
    chance = np.zeros((rows, most + 1))
    for step in range(most + least - 1, -1, -1):
        # The table's diagonal: place i of the points above with place step − i of those below.
        if 0 <= step - least < most:
            chance[:, step - least] = 1.0
        first, last = max(0, step - least + 1), min(most, step + 1)
        if first < last:
            p, q = above[:, first:last], below[:, step - last + 1 : step - first + 1][:, ::-1]
            both = p + q
            share = np.divide(p, both, out=np.full_like(p, 0.5), where=both > 0)
            here, there = chance[:, first:last], chance[:, first + 1 : last + 1]
            chance[:, first:last] = there + share * (here - there)
    return np.asarray(chance[:, 0])


def _falling(points: Rows) -> Rows:
    """The positive points of each row, the largest first, filled with 0; as many columns as a row needs."""
    ordered = -np.sort(-np.maximum(points, 0.0), axis=1)
    needed = int((ordered > 0).sum(axis=1).max(initial=0))
    return np.asarray(ordered[:, :needed])


def bounds(sums: Rows, sizes: Rows, worst: Rows, level: float) -> tuple[Rows, Rows]:
    """Both bounds of Σ sums / Σ sizes of each row, for values from 0 to `sizes`; a size of 0 is not there.

    `worst` is the size of the one that was not met. Values of size 1 have an ordinary mean; larger ones are families of
    evals that count by their number.
    """
    tail, low, high = (1 - level) / 2, np.full(len(sums), np.nan), np.full(len(sums), np.nan)
    n = (sizes > 0).sum(axis=1)
    for which in (n > 0) & (n <= EXACT), n > EXACT:
        if which.any():
            here = sums[which], sizes[which], worst[which], tail
            low[which] = _lower(*here)
            high[which] = 1 - _lower(here[1] - here[0], *here[1:])
    return low, high


def _lower(sums: Rows, sizes: Rows, worst: Rows, tail: float) -> Rows:
    exact = int((sizes > 0).sum(axis=1).max()) <= EXACT
    distance = _exactly(sums, sizes, worst, tail) if exact else _by_moments(sums, sizes, worst, tail)
    mean = sums.sum(axis=1) / sizes.sum(axis=1)
    return _root(distance, np.zeros(len(sums)), np.maximum(mean, 0.0))


def moment_bounds(n: Rows, mean: Rows, square: Rows, third: Rows, level: float) -> tuple[Rows, Rows]:
    """The same of many values of size 1, from their mean and their mean squared and cubed deviations."""
    z = NormalDist().inv_cdf((1 - level) / 2)

    def lower(mean: Rows, third: Rows) -> Rows:
        # With one more value, at 0.
        centre = mean * n / (n + 1)
        up, down = mean - centre, -centre
        variance = np.maximum((n * (square + up**2) + down**2) / (n + 1), 1e-100)
        cubes = (n * (third + 3 * up * square + up**3) + down**3) / (n + 1)
        skew = 2 * cubes / variance**1.5 * np.sqrt(n + 2) / (n + 3)
        return np.clip(centre + z_of_skewed(z, skew) * np.sqrt(variance / (n + 2)), 0.0, 1.0)

    return lower(mean, third), 1 - lower(1 - mean, -third)


def _exactly(sums: Rows, sizes: Rows, worst: Rows, tail: float) -> Callable[[Rows], Rows]:
    def distance(bound: Rows) -> Rows:
        points = np.concatenate([sums - bound[:, None] * sizes, (-bound * worst)[:, None]], axis=1)
        return 1 - tail - chance_above(points)

    return distance


def _by_moments(sums: Rows, sizes: Rows, worst: Rows, tail: float) -> Callable[[Rows], Rows]:
    """Cornish and Fisher's expansion, with the kurtosis that goes with the skewness of a gamma distribution."""
    n = (sizes > 0).sum(axis=1) + 1.0
    z = NormalDist().inv_cdf(tail)

    def distance(bound: Rows) -> Rows:
        points, last = sums - bound[:, None] * sizes, -bound * worst
        mean = (points.sum(axis=1) + last) / n
        away, far = np.where(sizes > 0, points - mean[:, None], 0.0), last - mean
        variance = np.maximum((np.square(away).sum(axis=1) + far**2) / n, 1e-100)
        third = ((away**3).sum(axis=1) + far**3) / n
        skew = 2 * third / variance**1.5 * np.sqrt(n + 1) / (n + 2)
        # How far 0 lies above the quantile of the weighted mean.
        return np.asarray(-(mean + z_of_skewed(z, skew) * np.sqrt(variance / (n + 1))))

    return distance


def z_of_skewed(z: float, skew: Rows) -> Rows:
    """A normal quantile, moved by skewness."""
    kurtosis = 1.5 * skew**2
    return np.asarray(z + (z**2 - 1) * skew / 6 + (z**3 - 3 * z) * kurtosis / 24 - (2 * z**3 - 5 * z) * skew**2 / 36)


def _root(distance: Callable[[Rows], Rows], low: Rows, high: Rows) -> Rows:
    """Where each row's rising function is 0, or just below: false position, the stale end halved (Illinois)."""
    at_low, at_high = distance(low), distance(high)
    for step in range(STEPS):
        width = high - low
        flat = at_high - at_low <= 0
        share = np.where(flat, 0.5, -at_low / np.where(flat, 1.0, at_high - at_low))
        # Now and then a plain halving, so that no shape of the function can hold it up.
        middle = low + width * (0.5 if step % 6 == 5 else np.clip(share, 0.001, 0.999))
        here = distance(middle)
        below = here <= 0
        at_high = np.where(below, at_high / 2, here)
        at_low = np.where(below, here, at_low / 2)
        low, high = np.where(below, middle, low), np.where(below, high, middle)
        if (high - low).max(initial=0.0) < 1e-9:
            break
    return low

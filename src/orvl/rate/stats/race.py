"""When a contestant may be dropped: evidence that stays valid however often one looks.

A p-value holds for one look at the end: tested after every eval, equal contestants are called different in 30 % of
races. An e-value may be looked at any time: by Ville's inequality it ever reaches 1/α with chance α at most.

Three e-processes run over the paired differences per eval, and the smallest counts. The first is the t mixture (Lai;
Robbins), which assumes normal differences. The second bets on signs given sizes: it holds for anything symmetric, also
pass or fail, where a few equal differences in a row deceive the first. The third is the first with the smaller t of
`bounded_t`, for contestants near an end of the scale.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import exp, log, log1p
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import numbers
from orvl.rate.stats.intervals import bounded_t, ratings

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

FEWEST = 6
"""With five evals an exact sign-flip test has p ≥ 2/32: below six, nobody is better and nobody is out."""
BETS = (0.3, 0.6, 1.2, 2.4)
"""How boldly the second process bets on signs, in shares of a usual difference; valid for any choice."""


@dataclass(frozen=True)
class Racer:
    """Whether a contestant is still in, after how many evals, and the rival with the most evidence of being better."""

    is_in: bool
    evals: int
    rival: int | None
    e_value: float


@dataclass(frozen=True)
class Elimination:
    """The contestants in the table's order, the e-value that drops one, and how many ratings that took."""

    racers: tuple[Racer, ...]
    needed: float
    used: int
    planned: int

    @property
    def left(self) -> tuple[int, ...]:
        return tuple(i for i, racer in enumerate(self.racers) if racer.is_in)


def log_e(differences: ArrayLike, g: float = 1.0) -> NDArray[np.float64]:
    """The log of the t mixture's e-value along the last axis, NaN left out; 0 below two differences.

    `g` is the prior variance of the standardised difference; it moves the power, never the validity.
    """
    path = log_e_path(differences, g)
    return np.asarray(path[..., -1] if path.shape[-1] else np.zeros(path.shape[:-1]))


def log_e_path(differences: ArrayLike, g: float = 1.0) -> NDArray[np.float64]:
    """The same after each difference; a NaN changes nothing."""
    d = np.atleast_1d(numbers(differences, "Differences"))
    there = ~np.isnan(d)
    n = np.maximum(there.cumsum(axis=-1), 1)
    d = np.where(there, d, 0.0)
    # Sums of squares about a value of their own: about zero, equal differences would seem to vary a little.
    origin = np.take_along_axis(d, there.argmax(axis=-1)[..., None], axis=-1) if d.shape[-1] else d
    moved = np.where(there, d - origin, 0.0)
    squares = np.maximum((moved**2).cumsum(axis=-1) - moved.cumsum(axis=-1) ** 2 / n, 0.0)
    size = d.cumsum(axis=-1) ** 2 / n
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log(squares + size) - np.log(squares + size / (1 + n * g))
    path = -0.5 * np.log1p(n * g) + n / 2 * gain
    return np.where((n < 2) | (squares + size <= 0), 0.0, path)


def log_flip_path(differences: ArrayLike) -> NDArray[np.float64]:
    """The logarithm of an e-process that holds for all symmetric differences, after each of them.

    Given their sizes, the signs of such differences are fair coins. Each bet is sized by the differences so far, and
    the wealth of several bettors is averaged, since nobody knows beforehand how boldly to bet.
    """
    d = np.atleast_1d(numbers(differences, "Differences"))
    there = ~np.isnan(d)
    d = np.where(there, d, 0.0)
    usual = np.sqrt((d**2).cumsum(axis=-1) / np.maximum(there.cumsum(axis=-1), 1))
    x = np.multiply.outer([*BETS, *(-bet for bet in BETS)], d / np.maximum(usual, 1e-12))
    wins = (x - np.logaddexp(x, -x) + log(2)).cumsum(axis=-1)
    return np.asarray(np.logaddexp.reduce(wins, axis=0) - log(len(wins)))


def log_evidence(a: NDArray[np.float64], b: NDArray[np.float64], g: float = 1.0) -> float:
    """The log of the smallest of the three e-values for two contestants' ratings (NaN for a missing eval)."""
    a, b = numbers(a, "Ratings"), numbers(b, "Ratings")
    if a.ndim != 1 or a.shape != b.shape:
        raise ValueError(f"A has the shape {a.shape} and B {b.shape}; they must be on the same evals.")
    both = ~np.isnan(a - b)
    n = int(both.sum())
    if n < 2:
        return 0.0
    a, b = a[both], b[both]
    r = bounded_t(a, b) ** 2 / (n - 1)
    bounded = -0.5 * log1p(n * g) + n / 2 * (log1p(r) - log1p(r / (1 + n * g)))
    return min(float(log_e(a - b, g)), float(log_flip_path(a - b)[-1]), bounded)


def race(table: ArrayLike, alpha: float = 0.05, g: float = 1.0) -> Elimination:
    """Drops contestants (rows) as the evals (columns, in the order they were run) come in.

    A contestant is out once a rival that is still in has the higher mean on their common evals, at least six, and an
    e-value of (k − 1)/alpha. Only its own k − 1 rivals can drop the best contestant, each wrongly with chance
    alpha/(k − 1) at most, ever: so it is dropped with chance alpha at most, whenever one looks. Correcting for all
    k(k − 1)/2 pairs would be stricter than that promise needs. What a contestant got after it was out is not read, so
    a race over more columns begins with the race over fewer.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; it must be above 0 and below 1.")
    values = ratings(table)
    k, columns = values.shape
    needed = max(k - 1, 1) / alpha
    pairs = list(combinations(range(k), 2))
    # The cheap two of the three for all pairs at once; the third only where these are enough.
    differences = np.array([values[i] - values[j] for i, j in pairs]).reshape(len(pairs), columns)
    cheap = np.minimum(log_e_path(differences, g), log_flip_path(differences))
    cheap[(~np.isnan(differences)).cumsum(axis=1) < FEWEST] = 0.0
    out: dict[int, tuple[int, int, float]] = {}
    for column in range(columns):
        found = []
        for (i, j), path in zip(pairs, cheap, strict=True):
            if i not in out and j not in out and path[column] >= log(needed):
                seen = values[[i, j], : column + 1]
                found.append((log_evidence(seen[0], seen[1], g), *_worse(i, j, seen)))
        for size, worse, better in sorted(found, reverse=True):
            if size >= log(needed) and worse not in out and better not in out:
                out[worse] = column + 1, better, size
    return _race(values, out, needed, g)


def _worse(i: int, j: int, seen: NDArray[np.float64]) -> tuple[int, int]:
    """The worse and the better of two, on their common evals."""
    return (j, i) if np.nansum(seen[0] - seen[1]) > 0 else (i, j)


def _race(values: NDArray[np.float64], out: dict[int, tuple[int, int, float]], needed: float, g: float) -> Elimination:
    got = [int((~np.isnan(row[: out[i][0]] if i in out else row)).sum()) for i, row in enumerate(values)]
    racers = []
    for i in range(len(values)):
        if i in out:
            _, rival, size = out[i]
            racers.append(Racer(False, got[i], rival, exp(min(size, 700.0))))
        else:
            racers.append(Racer(True, got[i], *_nearest(values, i, out, g)))
    return Elimination(tuple(racers), needed, sum(got), values.size)


def _nearest(
    values: NDArray[np.float64], i: int, out: dict[int, tuple[int, int, float]], g: float
) -> tuple[int | None, float]:
    """The rival still in that has most evidence of being better, and its e-value."""
    leads = {j: float(np.nansum(values[j] - values[i])) for j in range(len(values)) if j != i and j not in out}
    ahead = [(log_evidence(values[j], values[i], g), j) for j, lead in leads.items() if lead > 0]
    if not ahead:
        return None, 1.0
    size, rival = max(ahead)
    return rival, exp(min(size, 700.0))

"""When a contestant may be dropped: evidence that stays valid however often one looks.

A p-value holds for one look at the end: tested after every eval, equal contestants are called different in 30 % of
races. An e-value may be looked at any time: by Ville's inequality it ever reaches 1/α with chance α at most. The one
that counts is that of `betting`, which holds for any distribution.

Two quicker e-processes stand beside it. The t mixture (Lai; Robbins) assumes normal differences; the other bets on
signs given sizes, and holds for anything symmetric. The smaller of both is the quick evidence: it needs fewer
evals, and is deceived by a contestant that rarely collapses.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import exp, log
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import numbers
from orvl.rate.stats.betting import LARGEST_LOG, log_better, units_of
from orvl.rate.stats.intervals import ratings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from orvl.rate.stats.betting import Units

ALPHA = 0.05
FEWEST = 6
"""Below six evals not even pass against fail on all of them is enough evidence."""
BETS = (0.3, 0.6, 1.2, 2.4)
"""How boldly the second quick process bets on signs, in shares of a usual difference; valid for any choice."""


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


def log_quick(differences: ArrayLike) -> float:
    """The log of the quick e-value: the smaller of the two quick processes."""
    return min(float(log_e(differences)), float(log_flip_path(differences)[-1])) if np.size(differences) else 0.0


def log_evidence(a: ArrayLike, b: ArrayLike, families: Sequence[object] | None = None) -> float:
    """The log of the e-value that A is better than B, halved as in `compare`; ratings per eval, NaN for missing."""
    x, y = numbers(a, "Ratings"), numbers(b, "Ratings")
    if x.ndim != 1 or x.shape != y.shape:
        raise ValueError(f"A has the shape {x.shape} and B {y.shape}; they must be on the same evals.")
    return float(log_better(units_of(ratings(x[None]) - ratings(y[None]), families))[0]) - log(2)


def race(table: ArrayLike, alpha: float = ALPHA, *, families: Sequence[object] | None = None) -> Elimination:
    """Drops contestants (rows) as the evals (columns, in the order they were run) come in.

    A contestant is out once a rival that is still in has an e-value of (k − 1)/alpha against it. Only its own k − 1
    rivals can drop the best contestant, each wrongly with chance alpha/(k − 1) at most, ever: so it is dropped with
    chance alpha at most, whenever one looks. Correcting for all k(k − 1)/2 pairs would be stricter than that promise
    needs. Where evals have families, a look is taken once all families so far are complete. What a contestant got after
    it was out is not read, so a race over more columns begins with the race over fewer.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha is {alpha}; it must be above 0 and below 1.")
    values = ratings(table)
    k, columns = values.shape
    needed = max(k - 1, 1) / alpha
    out: dict[int, tuple[int, int, float]] = {}
    for column in range(1, columns + 1):
        if is_look(column, families):
            inside = [i for i in range(k) if i not in out]
            for worse, (better, size) in shown_worse(values[:, :column], inside, needed, families).items():
                out[worse] = column, better, size
    return _race(values, out, needed, families)


def is_look(column: int, families: Sequence[object] | None) -> bool:
    """Whether every family that has begun is complete after so many evals: evidence counts family by family."""
    return families is None or not set(families[:column]) & set(families[column:])


def shown_worse(
    seen: NDArray[np.float64], inside: Sequence[int], needed: float, families: Sequence[object] | None = None
) -> dict[int, tuple[int, float]]:
    """Who of those inside is now out, by whom, and with the log of which evidence; the strongest evidence first."""
    pairs = list(permutations(inside, 2))
    if not pairs:
        return {}
    first, second = np.array(pairs).T
    sizes = log_better(_units(seen[first] - seen[second], families)) - log(2)
    found = sorted(
        (size, pair) for size, pair in zip(sizes.tolist(), pairs, strict=True) if size >= log(needed) - 1e-12
    )
    out: dict[int, tuple[int, float]] = {}
    for size, (better, worse) in reversed(found):
        if worse not in out and better not in out:
            out[worse] = better, size
    return out


def quick_after(table: ArrayLike, needed: float) -> list[int | None]:
    """After how many evals quick evidence would have dropped each contestant; None where it would not have."""
    values = ratings(table)
    after: list[int | None] = []
    for i, row in enumerate(values):
        d = np.delete(values, i, axis=0) - row
        if not d.size:
            after.append(None)
            continue
        path = np.minimum(log_e_path(d), log_flip_path(d))
        known = (~np.isnan(d)).cumsum(axis=1)
        hits = (path >= log(needed)) & (np.nancumsum(d, axis=1) > 0) & (known >= FEWEST)
        after.append(int(hits.any(axis=0).argmax()) + 1 if hits.any() else None)
    return after


def _units(differences: NDArray[np.float64], families: Sequence[object] | None) -> Units:
    """Of the first evals of a race; how large a family may be is known from all of them."""
    if families is None:
        return units_of(differences)
    missing = np.full((*differences.shape[:-1], len(families) - differences.shape[-1]), np.nan)
    return units_of(np.concatenate([differences, missing], axis=-1), families)


def _race(
    values: NDArray[np.float64],
    out: dict[int, tuple[int, int, float]],
    needed: float,
    families: Sequence[object] | None,
) -> Elimination:
    got = [int((~np.isnan(row[: out[i][0]] if i in out else row)).sum()) for i, row in enumerate(values)]
    racers = []
    for i in range(len(values)):
        if i in out:
            _, rival, size = out[i]
            racers.append(Racer(False, got[i], rival, exp(min(size, LARGEST_LOG))))
        else:
            racers.append(Racer(True, got[i], *_nearest(values, i, out, families)))
    return Elimination(tuple(racers), needed, sum(got), values.size)


def _nearest(
    values: NDArray[np.float64], i: int, out: dict[int, tuple[int, int, float]], families: Sequence[object] | None
) -> tuple[int | None, float]:
    """The rival still in that has most evidence of being better, and its e-value."""
    rivals = [j for j in range(len(values)) if j != i and j not in out and np.nansum(values[j] - values[i]) > 0]
    if not rivals:
        return None, 1.0
    sizes = log_better(_units(values[rivals] - values[i], families)) - log(2)
    best = int(sizes.argmax())
    return rivals[best], exp(min(float(sizes[best]), LARGEST_LOG))

"""How sure a share and a median are, without assuming a distribution.

Latencies and costs have long tails: their mean says little, and t over them is wrong. Order statistics assume only that
calls are independent.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from math import exp, isfinite, lgamma, log, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

from orvl.rate.stats.arrays import check_level

if TYPE_CHECKING:
    from collections.abc import Sequence

MANY = 1000


def wilson_interval(hits: int, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """Wilson's score interval of a share; None over nothing.

    The usual p ± z√(p(1−p)/n) has no width at 0 and 1, which is where most failure rates are.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} is not a share.")
    check_level(level)
    if n == 0:
        return None
    z = NormalDist().inv_cdf(0.5 + level / 2)
    middle = (hits + z * z / 2) / (n + z * z)
    half = z / (n + z * z) * sqrt(hits * (n - hits) / n + z * z / 4)
    low = 0.0 if hits == 0 else max(0.0, middle - half)
    return low, 1.0 if hits == n else min(1.0, middle + half)


def median(ordered: Sequence[float]) -> float | None:
    """The middle of values in order."""
    _refuse_unordered(ordered)
    n = len(ordered)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2 if n else None


def _refuse_unordered(ordered: Sequence[float]) -> None:
    if any(not isfinite(value) for value in ordered):
        raise ValueError("The values must be finite.")
    if any(first > second for first, second in pairwise(ordered)):
        raise ValueError("The values are not in order; sort them first.")


def quantile_interval(ordered: Sequence[float], q: float = 0.5, level: float = 0.95) -> tuple[float, float] | None:
    """The interval of a quantile, between two of the ordered values; None where they are too few for the level."""
    if not 0 < q < 1:
        raise ValueError(f"q is {q}; it must be above 0 and below 1.")
    check_level(level)
    _refuse_unordered(ordered)
    ranks = _ranks(len(ordered), q, level)
    return (ordered[ranks[0] - 1], ordered[ranks[1] - 1]) if ranks else None


@lru_cache(maxsize=1024)
def _ranks(n: int, q: float, level: float) -> tuple[int, int] | None:
    """The places, counted from 1, of the two values: at most half of what the level leaves lies beyond each."""
    tail = (1 - level) / 2
    low, high = _below(n, q, tail), n + 1 - _below(n, 1 - q, tail)
    return (low, high) if low >= 1 and high <= n else None


def _below(n: int, q: float, tail: float) -> int:
    """The highest k such that fewer than k of n values are below the quantile with at most this probability.

    Binomial tails up to 1000 values, and the normal approximation beyond.
    """
    if n > MANY:
        return int(n * q - NormalDist().inv_cdf(1 - tail) * sqrt(n * q * (1 - q)) + 0.5)
    total, k = 0.0, 0
    while k < n:
        total += exp(lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1) + k * log(q) + (n - k) * log(1 - q))
        if total > tail:
            break
        k += 1
    return k

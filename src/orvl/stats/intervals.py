"""How sure a mean is: Student's t over independent values."""

from __future__ import annotations

from functools import lru_cache
from math import atan, cos, fsum, pi, sin, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def t_interval(values: Sequence[float], level: float = 0.95) -> tuple[float, float] | None:
    """The interval of the mean of ratings between 0 and 1; None below two values."""
    n = len(values)
    if n < 2:
        return None
    mean = fsum(values) / n
    return interval(mean, fsum((value - mean) ** 2 for value in values), n, level)


def interval(mean: float, squares: float, n: int, level: float = 0.95) -> tuple[float, float] | None:
    """The same from the mean and the sum of squared deviations of n values."""
    if n < 2:
        return None
    half = t_quantile(0.5 + level / 2, n - 1) * sqrt(squares / (n - 1) / n)
    return max(0.0, mean - half), min(1.0, mean + half)


@lru_cache(maxsize=4096)
def t_quantile(p: float, df: int) -> float:
    """The p-quantile (p ≥ 0.5) of t with a whole number of degrees of freedom.

    scipy has this too, but importing it takes longer than the whole report.
    """
    if df > 300:
        z = NormalDist().inv_cdf(p)
        return z + (z**3 + z) / (4 * df)
    low, high = 0.0, 1.0
    while _t_cdf(high, df) < p:
        high *= 2
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if _t_cdf(middle, df) < p else (low, middle)
    return (low + high) / 2


def _t_cdf(t: float, df: int) -> float:
    """P(T ≤ t), by the finite series that holds for whole degrees of freedom."""
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

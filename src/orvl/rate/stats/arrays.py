"""What every statistic takes: numbers, with NaN for a missing value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """The values as an array. An infinite one is an error: it would silently spoil every mean."""
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError(f"{what} must be finite (NaN for missing).")
    return array


def check_level(level: float) -> None:
    """Refuses 95 where 0.95 is meant."""
    if not 0 < level < 1:
        raise ValueError(f"The level is {level}; it must be above 0 and below 1.")


def mean_known(
    array: NDArray[np.float64], axis: int, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """The weighted mean over what is not NaN; NaN where everything is.

    np.nanmean knows no weights, and warns where everything is NaN.
    """
    known = ~np.isnan(array)
    shares = known * (1.0 if weights is None else weights)
    total = shares.sum(axis=axis)
    sums = (np.where(known, array, 0.0) * shares).sum(axis=axis)
    return np.where(total > 0, sums / np.where(total > 0, total, 1.0), np.nan)


def all_known(array: NDArray[np.float64]) -> bool:
    """Whether nothing is NaN: a sum tells, without a mask as large as the array."""
    return not np.isnan(array.sum())

"""What every statistic takes: numbers, with NaN for a missing value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray


SLACK = 2.0
"""How far beyond 0 and 1 scores may be where only lines and variances are fitted to them: noise that follows a bell
curve leaves the scale. Scores from 0 to 100, or from 1 to 5, go further."""


def numbers(values: ArrayLike, what: str) -> NDArray[np.float64]:
    """The values as an array. An infinite one is an error: it would silently spoil every mean."""
    array = np.asarray(values, dtype=np.float64)
    if np.isinf(array).any():
        raise ValueError(f"{what} must be finite (NaN for missing).")
    return array


def probabilities(values: ArrayLike, what: str, *, lowest: float = 0.0, slack: float = 1e-9) -> NDArray[np.float64]:
    """The values as an array; an error where one is not from `lowest` to 1, such as a score from 0 to 100."""
    array = numbers(values, what)
    beyond = (array < lowest - slack) | (array > 1 + slack)
    if beyond.any():
        worst = float(array[beyond].flat[0])
        percent = " Divide scores from 0 to 100 by 100." if 1 < worst <= 100 else ""
        raise ValueError(f"{what} must be from {lowest:g} to 1 (NaN for missing), and one is {worst:g}.{percent}")
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


def aligned(*rows: ArrayLike) -> tuple[ArrayLike, ...]:
    """Rows that have an index, as a pandas Series has, in the order of the first one's; what one lacks is missing.

    Without this, numpy would pair the first value of one with the first of the other, whatever they are of.
    """
    indices = [getattr(row, "index", None) for row in rows]
    if any(index is None or callable(index) for index in indices):
        return rows
    lists: list[list[object]] = [list(index) for index in indices if index is not None]
    for index in lists:
        if len(set(index)) < len(index):
            raise ValueError("An index has a label twice, so the rows cannot be aligned by it.")
    order = list(dict.fromkeys(label for index in lists for label in index))
    return tuple(_in_order(row, index, order) for row, index in zip(rows, lists, strict=True))


def _in_order(row: ArrayLike, index: Sequence[object], order: Sequence[object]) -> NDArray[np.float64]:
    values = dict(zip(index, np.asarray(row, dtype=np.float64).tolist(), strict=True))
    return np.array([values.get(label, np.nan) for label in order], dtype=np.float64)

"""R = vᵀSᵀw and its disagreement penalty: pure numbers, for one run or a million at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


class Rating(NamedTuple):
    """The rating of one run, or of each run along the leading axes."""

    R: NDArray[np.float64]
    R_pen: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]


def rate(
    scores: ArrayLike,
    judge_weights: ArrayLike,
    metric_weights: ArrayLike,
    penalty: float = 0.5,
    *,
    variance: Literal["seed", "unbiased"] = "seed",
) -> Rating:
    """Rates S (… × judges × metrics, 0 to 1, NaN for an abstention) with weights w and v.

    A judge who abstained is left out of that metric and the others' weights are scaled up; a metric that nobody
    answered is left out of R and has a NaN mean; a run with no answer at all has R = NaN.
    """
    table = _table(scores)
    w = _weights(judge_weights, table.shape[-2], "judge")
    v = _weights(metric_weights, table.shape[-1], "metric")
    if not 0 <= penalty <= 0.5:
        raise ValueError(
            f"penalty is {penalty}; it must be from 0 to 0.5: above that, raising a score can lower the rating."
        )
    if variance not in ("seed", "unbiased"):
        raise ValueError(f"variance is {variance!r}; it must be 'seed' or 'unbiased'.")
    means, variances = _means_and_variances(table, w, variance == "unbiased")
    answered = ~np.isnan(means)
    shares = np.where(answered, v, 0.0)
    total = shares.sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        R = np.where(answered, shares * means, 0.0).sum(axis=-1) / total
        charge = np.where(answered, shares * variances, 0.0).sum(axis=-1) / total
    return Rating(R, R - penalty * charge, means, variances)


def _table(scores: ArrayLike) -> NDArray[np.float64]:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim < 2 or 0 in table.shape[-2:]:
        raise ValueError(
            f"scores has the shape {table.shape}; it must be judges × metrics, with leading axes for runs."
        )
    with np.errstate(invalid="ignore"):
        if ((table < 0) | (table > 1)).any():
            raise ValueError("scores must lie from 0 to 1 (NaN for an abstention).")
    return table


def _weights(weights: ArrayLike, count: int, noun: str) -> NDArray[np.float64]:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (count,):
        raise ValueError(f"{noun}_weights has the shape {array.shape}; scores has {count} {noun}s.")
    total = array.sum()
    if not np.isfinite(total) or (array < 0).any() or total <= 0:
        raise ValueError(f"{noun}_weights must be finite, not negative, and not all zero.")
    return np.asarray(array / total)


def _means_and_variances(
    table: NDArray[np.float64], w: NDArray[np.float64], unbiased: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weighted mean and variance over the judges (axis -2) who answered."""
    missing = np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        if not missing.any():
            means = w @ table
            squares = (table - means[..., None, :]) ** 2
            variances = w @ squares
            return means, variances / (1 - (w**2).sum()) if unbiased and len(w) > 1 else variances
        shares = np.where(missing, 0.0, w[:, None])
        shares /= shares.sum(axis=-2, keepdims=True)
        means = np.where(missing, 0.0, shares * table).sum(axis=-2)
        means = np.where(np.isnan(shares).any(axis=-2), np.nan, means)
        variances = np.where(missing, 0.0, shares * (table - means[..., None, :]) ** 2).sum(axis=-2)
        variances = np.where(np.isnan(means), np.nan, variances)
        if unbiased:
            variances = _unbias(variances, 1 - (shares**2).sum(axis=-2))
    return means, variances


def _unbias(variances: NDArray[np.float64], left: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divides by 1 − Σw²; a single judge has no variance to correct."""
    return np.where(left > 1e-12, variances / np.where(left > 1e-12, left, 1.0), variances)

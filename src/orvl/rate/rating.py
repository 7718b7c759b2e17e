"""R = vᵀSᵀw and its disagreement penalty R_pen = R − λ Σ vⱼ Varⱼ: pure numbers, for one run or a million at once."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from orvl.rate.stats.arrays import all_known

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

CHUNK = 16384  # runs at a time, to stay within the processor's cache
MONOTONE_UP_TO = 0.5
"""The largest λ at which raising a score never lowers R_pen. Above it the variance can grow faster than the mean:
with three equal judges, (0, 0, .9) → (0, 0, 1) moves R_pen from .120 down to .111 at λ = 1."""


class Rating(NamedTuple):
    """The rating of one run, or of each run along the leading axes."""

    R: NDArray[np.float64]
    R_pen: NDArray[np.float64]
    means: NDArray[np.float64]
    variances: NDArray[np.float64]


def rate(
    scores: ArrayLike,
    judge_weights: ArrayLike | None = None,
    metric_weights: ArrayLike | None = None,
    penalty: float = 0.5,
    *,
    variance: Literal["seed", "unbiased"] = "seed",
) -> Rating:
    """Rates S (… × judges × metrics, 0 to 1, NaN for an abstention) with weights w and v, equal where not given.

    Where a judge abstained, the other judges' weights are scaled up; a metric that nobody answered is left out of R
    and has a NaN mean; a run without any answer has R = NaN. An abstention is never a 0: that would punish a run for a
    judge's time-out. Rate runs one by one and average afterwards: pooling them first would charge the differences
    between runs as disagreement between judges.

    `variance="seed"` is Σ wᵢ(sᵢⱼ − s̄ⱼ)², the definition in use since the first design; as an estimate of the spread
    among all possible judges it is too small by the factor 1 − Σw², which "unbiased" divides by.
    """
    table = _table(scores)
    w = _weights(judge_weights, table.shape[-2], "judge")
    v = _weights(metric_weights, table.shape[-1], "metric")
    if not (isfinite(penalty) and penalty >= 0):
        raise ValueError(f"penalty is {penalty}; it must be a finite number, 0 or more.")
    if variance not in ("seed", "unbiased"):
        raise ValueError(f"variance is {variance!r}; it must be 'seed' or 'unbiased'.")
    runs = table.reshape(-1, *table.shape[-2:])
    parts = [_rate(runs[i : i + CHUNK], w, v, penalty, variance == "unbiased") for i in range(0, len(runs), CHUNK)]
    lead = table.shape[:-2]
    shapes = (lead, lead, (*lead, len(v)), (*lead, len(v)))
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.empty(0)] * 4
    return Rating(*(column.reshape(shape)[()] for column, shape in zip(joined, shapes, strict=True)))


def _rate(
    runs: NDArray[np.float64], w: NDArray[np.float64], v: NDArray[np.float64], penalty: float, unbiased: bool
) -> Rating:
    """Rates runs × judges × metrics. Those without a gap take a fraction of the time that others take."""
    has_gap = np.isnan(runs.reshape(len(runs), -1).sum(axis=1))
    if not has_gap.any() or has_gap.all():
        return _rate_alike(runs, w, v, penalty, unbiased)
    whole, gappy = (_rate_alike(runs[these], w, v, penalty, unbiased) for these in (~has_gap, has_gap))
    joined = [np.empty((len(runs), *column.shape[1:])) for column in whole]
    for column, of_whole, of_gappy in zip(joined, whole, gappy, strict=True):
        column[~has_gap], column[has_gap] = of_whole, of_gappy
    return Rating(*joined)


def _rate_alike(
    runs: NDArray[np.float64], w: NDArray[np.float64], v: NDArray[np.float64], penalty: float, unbiased: bool
) -> Rating:
    means, variances = _means_and_variances(runs, w, unbiased)
    if all_known(means):
        R, charge = (v * means).sum(axis=-1) / v.sum(), (v * variances).sum(axis=-1) / v.sum()
        return Rating(R, R - penalty * charge, means, variances)
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
    # fmin and fmax pass over NaN without a copy of the table.
    if table.size and (np.fmin.reduce(table, axis=None) < 0 or np.fmax.reduce(table, axis=None) > 1):
        raise ValueError("scores must be from 0 to 1 (NaN for an abstention).")
    return table


def _weights(weights: ArrayLike | None, count: int, noun: str) -> NDArray[np.float64]:
    array = np.ones(count) if weights is None else np.asarray(weights, dtype=np.float64)
    if array.shape != (count,):
        raise ValueError(f"{noun}_weights has the shape {array.shape}; scores has {count} {noun}s.")
    total = array.sum()
    if not np.isfinite(total) or (array < 0).any() or total <= 0:
        raise ValueError(f"{noun}_weights must be finite, not negative, and not all zero.")
    return np.asarray(array / total)


def _means_and_variances(
    table: NDArray[np.float64], w: NDArray[np.float64], unbiased: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The weighted mean and variance over the judges (axis -2) who answered.

    Judge by judge: panels are small, and a loop over them is several times faster than reducing a short axis.
    """
    rows = [table[..., i, :] for i in range(len(w))]
    if all_known(table):
        # The same sums as below, without a mask for every score.
        shares = [weight / sum(w) for weight in w]
        means = sum(share * row for share, row in zip(shares, rows, strict=True))
        variances = sum(share * (row - means) ** 2 for share, row in zip(shares, rows, strict=True))
        left = 1 - sum(share**2 for share in shares)
        return means, variances / left if unbiased and left > 1e-12 else variances
    missing = [np.isnan(row) for row in rows]
    shares = [np.where(gone, 0.0, weight) for gone, weight in zip(missing, w, strict=True)]
    total = sum(shares)
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = [share / total for share in shares]
        means = sum(np.where(gone, 0.0, share * row) for gone, share, row in zip(missing, shares, rows, strict=True))
        squares = (
            np.where(gone, 0.0, share * (row - means) ** 2)
            for gone, share, row in zip(missing, shares, rows, strict=True)
        )
        variances = sum(squares)
        nobody = total == 0
        means, variances = np.where(nobody, np.nan, means), np.where(nobody, np.nan, variances)
        if unbiased:
            # One judge alone leaves nothing to divide by, and has no variance anyway.
            left = 1 - sum(share**2 for share in shares)
            variances = np.where(left > 1e-12, variances / left, variances)
    return means, variances


def by_judge(scores: ArrayLike, metric_weights: ArrayLike) -> NDArray[np.float64]:
    """The rating of each judge alone: … × judges, over the metrics that it answered; NaN where it answered none."""
    table = _table(scores)
    v = _weights(metric_weights, table.shape[-1], "metric")
    answered = ~np.isnan(table)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(answered, v * table, 0.0).sum(axis=-1) / (answered * v).sum(axis=-1))

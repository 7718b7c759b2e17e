"""What harsh and generous judges would have said on a common scale, learnt from work whose worth is known.

A line for each judge: score = intercept + slope · truth, inverted. z-scores or quantiles of the contestants' own scores
would need no anchors, but they make every judge's mean contestant alike and so erase real differences between fields of
contestants. A monotone curve needs more anchors than the five doses of the control ladder can bear.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from orvl.rate.stats.arrays import SLACK, mean_known, probabilities
from orvl.rate.stats.intervals import t_quantile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

LOWEST_SLOPE = 0.2
"""Below this, dividing by the slope would blow noise up more than fivefold."""
FEWEST_ANCHORS = 3
LARGEST_ERROR = 0.15
"""A map that is further off on an anchor it has not seen is no map."""


@dataclass(frozen=True)
class JudgeMap:
    """score = intercept + slope · truth, for one judge; `refused` says why it is not to be used."""

    judge: str
    intercept: float | None
    slope: float | None
    """Shrunk towards 1 by as much as it is unsure."""
    fitted_slope: float | None
    slope_error: float | None
    slope_at_least: float | None
    anchors: int
    evals: int
    raw_error: float | None
    """The root mean square, over anchors, of the mean score as it is minus the truth."""
    held_out: Mapping[str, float]
    """By anchor: the calibrated mean, fitted without that anchor, minus the truth."""
    refused: str | None = None

    @property
    def held_out_error(self) -> float | None:
        """The root mean square of the errors on anchors held out."""
        return _size([*self.held_out.values()]) if self.held_out else None

    def apply(self, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Scores on the common scale, not clipped; as they are where the map is refused."""
        if self.refused or self.slope is None or self.intercept is None:
            return scores
        return (scores - self.intercept) / self.slope


class _Points(NamedTuple):
    """What a judge said of work that is worth something known: one value for each anchor of each eval."""

    anchor: NDArray[np.intp]
    eval: NDArray[np.intp]
    truth: NDArray[np.float64]
    score: NDArray[np.float64]
    weight: NDArray[np.float64]
    """Repeats behind the value."""

    def take(self, which: NDArray[np.bool_]) -> _Points:
        anchor, number, truth, score, weight = self
        return _Points(anchor[which], number[which], truth[which], score[which], weight[which])


class _Line(NamedTuple):
    """A fitted line; its slope's error counts evals, not scores."""

    intercept: float
    slope: float
    fitted: float
    error: float


def calibrate(
    scores: Mapping[str, ArrayLike], truth: Mapping[str, ArrayLike], judges: Sequence[str]
) -> tuple[JudgeMap, ...]:
    """A map for each judge, from anchors' scores (evals × repeats × judges) and truths (one for each eval, or one)."""
    anchors = [anchor for anchor in scores if anchor in truth]
    tables = [probabilities(scores[anchor], f"The scores of {anchor}", slack=SLACK) for anchor in anchors]
    for anchor, table in zip(anchors, tables, strict=True):
        if table.ndim != 3 or table.shape[2] != len(judges):
            raise ValueError(f"The scores of {anchor} have the shape {table.shape}, not evals × repeats × judges.")
    truths = [_truths(anchor, truth[anchor], len(table)) for anchor, table in zip(anchors, tables, strict=True)]
    return tuple(
        _judge_map(judge, anchors, _points([table[:, :, place] for table in tables], truths))
        for place, judge in enumerate(judges)
    )


def _truths(anchor: str, truth: ArrayLike, evals: int) -> NDArray[np.float64]:
    values = probabilities(truth, f"The truth of {anchor}", slack=SLACK)
    if values.shape not in ((), (evals,)):
        raise ValueError(f"The truth of {anchor} has the shape {values.shape}; it must be one number, or {evals}.")
    return np.broadcast_to(values, evals)


def _points(tables: Sequence[NDArray[np.float64]], truths: Sequence[NDArray[np.float64]]) -> _Points:
    parts = []
    for place, (table, truth) in enumerate(zip(tables, truths, strict=True)):
        score, weight = mean_known(table, 1), (~np.isnan(table)).sum(axis=1)
        known = np.flatnonzero(~np.isnan(score) & ~np.isnan(truth))
        parts.append((np.full(len(known), place), known, truth[known], score[known], weight[known]))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.empty(0)] * 5
    return _Points(columns[0].astype(np.intp), columns[1].astype(np.intp), columns[2], columns[3], columns[4])


def _judge_map(judge: str, names: Sequence[str], points: _Points) -> JudgeMap:
    anchors, evals = len(np.unique(points.anchor)), len(np.unique(points.eval))
    if reason := _too_little(judge, points, anchors, evals):
        return JudgeMap(judge, None, None, None, None, None, anchors, evals, None, {}, reason)
    line = _fit(points)
    lowest = line.fitted - t_quantile(0.95, evals - 1) * line.error
    held_out = _held_out(names, points)
    raw = [_error(points.take(points.anchor == place)) for place in np.unique(points.anchor)]
    return JudgeMap(
        *(judge, line.intercept, line.slope, line.fitted, line.error, lowest, anchors, evals, _size(raw), held_out),
        refused=_too_flat(judge, line.fitted, lowest) or _too_wrong(judge, held_out),
    )


def _too_flat(judge: str, slope: float, lowest: float) -> str | None:
    if lowest > LOWEST_SLOPE:
        return None
    return (
        f"{judge}'s scores follow the truth too little: their slope is {slope:.2f} (lower bound {lowest:.2f}, needs "
        f"more than {LOWEST_SLOPE})."
    )


def _too_wrong(judge: str, held_out: Mapping[str, float]) -> str | None:
    if not held_out or _size([*held_out.values()]) <= LARGEST_ERROR:
        return None
    worst = max(held_out, key=lambda anchor: abs(held_out[anchor]))
    return (
        f"{judge}'s scores do not follow a line: on anchors that the line has not seen it is off by "
        f"{_size([*held_out.values()]):.2f} (at most {LARGEST_ERROR}), and by {held_out[worst]:+.2f} on {worst}."
    )


def _too_little(judge: str, points: _Points, anchors: int, evals: int) -> str | None:
    if anchors < FEWEST_ANCHORS:
        return f"{judge} has scores of {anchors} anchors; a calibration needs at least {FEWEST_ANCHORS}."
    if evals < 2:
        return f"{judge} has scores of anchors on 1 eval; a calibration needs at least 2."
    if np.ptp(points.truth) < 1e-9:
        return f"All anchors that {judge} scored are worth the same; a calibration needs better and worse ones."
    return None


def _fit(points: _Points) -> _Line:
    """Least squares over every score, the slope shrunk towards 1; the line goes through the middle of the points.

    The slope's error is a sandwich over evals: scores of one eval err together, and counting them singly would be too
    sure.
    """
    w = points.weight / points.weight.sum()
    middle, height = float(w @ points.truth), float(w @ points.score)
    x = points.truth - middle
    spread = float(w @ x**2)
    slope = float(w @ (x * points.score)) / spread
    pull = w * x * (points.score - height - slope * x)
    by_eval = np.bincount(points.eval, pull)
    evals = len(np.unique(points.eval))
    error = sqrt(evals / (evals - 1) * float((by_eval**2).sum())) / spread
    shrunk = _shrink(slope, error)
    return _Line(height - shrunk * middle, shrunk, slope, error)


def _shrink(slope: float, error: float) -> float:
    """Keeps of a slope's distance from 1 the share that its own error does not explain, as James and Stein do.

    To calibrate a judge who needs none adds noise; the shrinkage makes that harm small.
    """
    away = slope - 1
    return slope if error == 0 else 1 + away * max(0.0, 1 - (error / away) ** 2) if away else 1.0


def _held_out(names: Sequence[str], points: _Points) -> dict[str, float]:
    """How wrong the calibrated mean of each anchor is when the line was fitted on the others."""
    errors = {}
    for place in np.unique(points.anchor):
        out = points.anchor == place
        rest, own = points.take(~out), points.take(out)
        if np.ptp(rest.truth) < 1e-9 or len(np.unique(rest.eval)) < 2:
            continue
        line = _fit(rest)
        if line.slope > LOWEST_SLOPE:
            errors[names[int(place)]] = _error(own._replace(score=(own.score - line.intercept) / line.slope))
    return errors


def _error(points: _Points) -> float:
    """The mean score minus the truth."""
    return float(np.average(points.score - points.truth, weights=points.weight))


def _size(errors: Sequence[float]) -> float:
    return sqrt(sum(error**2 for error in errors) / len(errors))


def calibrated_rating(
    scores: ArrayLike,
    maps: Sequence[JudgeMap | None],
    judge_weights: ArrayLike,
    metric_weights: ArrayLike,
    *,
    judged: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """R of S (… × judges × metrics) on the common scale, clipped only after averaging over the judges.

    Clipping each judge first would push means away from 0 and 1, where errors only go one way.

    `judged` marks the metrics that judges score; the others are left as they are, and so is a judge without a map.
    """
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim < 2 or table.shape[-2] != len(maps):
        raise ValueError(f"scores has the shape {table.shape}; there are {len(maps)} maps of judges.")
    w, v = np.asarray(judge_weights, dtype=np.float64), np.asarray(metric_weights, dtype=np.float64)
    if w.shape != table.shape[-2:-1] or v.shape != table.shape[-1:]:
        raise ValueError(f"scores has the shape {table.shape}; there are {w.size} judge and {v.size} metric weights.")
    which = np.ones(table.shape[-1], dtype=bool) if judged is None else np.asarray(judged, dtype=bool)
    rows = [row.apply(table[..., i, :]) if row else table[..., i, :] for i, row in enumerate(maps)]
    mapped = np.where(which, np.stack(rows, axis=-2), table)
    means = mean_known(np.moveaxis(mapped, -2, -1), mapped.ndim - 1, w)
    return mean_known(np.clip(means, 0, 1), means.ndim - 1, v)

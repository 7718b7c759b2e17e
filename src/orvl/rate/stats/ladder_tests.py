"""One test of the control ladder: what is asked of the judges, and whether their scores show it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from orvl.rate.stats.arrays import mean_known, numbers
from orvl.rate.stats.intervals import t_cdf, t_quantile
from orvl.rate.stats.paired import holm as holm_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

Side = Literal["at least", "at most", "within"]
Verdict = Literal["holds", "violated", "not shown", "not tested"]
LEVEL = 0.95
FEWEST = 3
"""Evals: two that happen to agree would look like certainty."""
EXACT = 1e-9
"""Differences of decimal fractions are off by less than this."""
DOSES = ("good", "planted-bug", "dose-2", "dose-4", "dose-all")


@dataclass(frozen=True)
class Ask:
    """A claim about the judges: control − against, or the control alone, is on one side of the margin."""

    name: str
    what: str
    control: str
    against: str | None
    side: Side
    margin: float
    judge: str | None = None
    metric: str | None = None
    fault: str = ""
    """How the contrary is said."""


@dataclass(frozen=True)
class Test:
    """How one claim came out; `passed` is None where it could not be tested."""

    __test__: ClassVar[bool] = False  # pytest takes any class of this name for tests of its own
    name: str
    what: str
    judge: str | None
    metric: str | None
    control: str
    against: str | None
    estimate: float | None
    bound: float | None
    margin: float
    side: Side
    evals: int
    passed: bool | None
    why: str | None
    p: float | None = None
    """How often judges that keep the margin would look this bad by chance."""
    adjusted: float | None = None
    """The same, corrected for the number of warnings looked for."""
    fault: str = ""
    """How the contrary of `what` is said."""

    @property
    def verdict(self) -> Verdict:
        """A claim that the data contradict is violated; one that they do not settle is only not shown."""
        if self.passed is None:
            return "not tested"
        if self.passed:
            return "holds"
        p = self.p if self.adjusted is None else self.adjusted
        return "violated" if p is not None and p < 1 - LEVEL else "not shown"


@dataclass(frozen=True)
class Ladder:
    """The scores of the controls, each evals × repeats × judges, and the judges' weights."""

    scores: Mapping[str, NDArray[np.float64]]
    by_metric: Mapping[str, Mapping[str, NDArray[np.float64]]]
    judges: tuple[str, ...]
    weights: NDArray[np.float64]

    @cached_property
    def _kept(self) -> dict[tuple[str, str | None], tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return {}

    def means(self, control: str, metric: str | None = None, judge: str | None = None) -> NDArray[np.float64]:
        """The mean of each eval, by the panel or one judge; NaN where there is none."""
        key = control, metric
        if key not in self._kept:
            # Repeats go first for judges, and judges first for the panel, as in R.
            by_judge = mean_known(self.table(control, metric), 1)
            self._kept[key] = mean_known(self.runs(control, metric), 1), by_judge
        panel, by_judge = self._kept[key]
        return panel if judge is None else by_judge[:, self.judges.index(judge)]

    def runs(self, control: str, metric: str | None = None) -> NDArray[np.float64]:
        """The panel's score of each run, evals × repeats."""
        return mean_known(self.table(control, metric), 2, self.weights)

    def table(self, control: str, metric: str | None = None) -> NDArray[np.float64]:
        """Each judge's score of each run, evals × repeats × judges; one NaN each where nothing is known."""
        tables = self.scores if metric is None else self.by_metric.get(metric, {})
        return tables[control] if control in tables else np.full((1, 1, len(self.judges)), np.nan)

    def values(self, ask: Ask) -> NDArray[np.float64]:
        """One value for each eval that has what is asked about."""
        means = self.means(ask.control, ask.metric, ask.judge)
        if ask.against is not None:
            means = means - self.means(ask.against, ask.metric, ask.judge)
        return np.asarray(means[~np.isnan(means)])

    def without(self, gone: Sequence[str]) -> Ladder | None:
        """The same ladder under the judges that are left; None where they are not more than half of the panel."""
        weights = np.array(
            [0.0 if judge in gone else weight for judge, weight in zip(self.judges, self.weights, strict=True)]
        )
        return make_ladder(self.scores, self.by_metric, self.judges, weights) if weights.sum() > 0.5 else None


def make_ladder(
    scores: Mapping[str, ArrayLike],
    by_metric: Mapping[str, Mapping[str, ArrayLike]],
    judges: Sequence[str],
    weights: ArrayLike,
) -> Ladder:
    """Checks the shapes, and leaves out judges without weight: they are not on the panel."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (len(judges),) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise ValueError(f"weights must be {len(judges)} numbers, finite, not negative, and not all zero.")
    on = w > 0
    tables = {control: _table(control, table, on) for control, table in scores.items()}
    parts = {metric: {c: _table(c, table, on) for c, table in part.items()} for metric, part in by_metric.items()}
    if len({len(table) for part in (tables, *parts.values()) for table in part.values()}) > 1:
        raise ValueError("Every control must have the same evals, with NaN where one has no score.")
    names = tuple(judge for judge, is_on in zip(judges, on, strict=True) if is_on)
    return Ladder(tables, parts, names, w[on] / w.sum())


def _table(control: str, table: ArrayLike, on: NDArray[np.bool_]) -> NDArray[np.float64]:
    array = numbers(table, f"The scores of {control}")
    if array.ndim != 3 or array.shape[2] != len(on):
        raise ValueError(f"The scores of {control} have the shape {array.shape}; it must be evals × repeats × judges.")
    return array[:, :, on]


def examine(ladder: Ladder, ask: Ask) -> Test:
    """Tests a claim with a one-sided t bound over evals."""
    return examine_values(ask, ladder.values(ask))


def examine_values(ask: Ask, values: NDArray[np.float64]) -> Test:
    """The same from one value per eval."""
    n = len(values)
    if n < FEWEST:
        mean = float(values.mean()) if n else None
        return _made(ask, mean, None, n, None, _too_few(ask, n), None)
    mean, error = float(values.mean()), float(values.std(ddof=1)) / sqrt(n)
    error = 0.0 if error < EXACT else error
    half = t_quantile(LEVEL, n - 1) * error
    bound = {"at least": mean - half, "at most": mean + half, "within": abs(mean) + half}[ask.side]
    bound = min(1.0, max(0.0 if ask.against is None else -1.0, bound))
    return _made(ask, mean, bound, n, beyond(ask, bound) <= EXACT, None, _chance(ask, mean, error, n - 1))


def _made(
    ask: Ask, mean: float | None, bound: float | None, n: int, passed: bool | None, why: str | None, p: float | None
) -> Test:
    return Test(
        ask.name,
        ask.what,
        ask.judge,
        ask.metric,
        ask.control,
        ask.against,
        mean,
        bound,
        ask.margin,
        ask.side,
        n,
        passed,
        why,
        p,
        fault=ask.fault,
    )


def point_test(ask: Ask, estimate: float | None, evals: int) -> Test:
    """A claim about a figure that has no bound of its own."""
    if estimate is None or evals < FEWEST:
        return _made(ask, estimate, None, evals, None, _too_few(ask, evals), None)
    return _made(ask, estimate, estimate, evals, beyond(ask, estimate) <= EXACT, None, None)


def beyond(ask: Ask | Test, value: float) -> float:
    """How far a value is on the wrong side of the margin."""
    if ask.side == "at least":
        return ask.margin - value
    return (abs(value) if ask.side == "within" else value) - ask.margin


def _chance(ask: Ask, mean: float, error: float, df: int) -> float:
    """The chance of a mean at least this far beyond the margin where the truth is on the margin."""
    far = beyond(ask, mean)
    if error == 0:
        return float(far <= EXACT)
    p = 1 - t_cdf(far / error, df)
    # With two margins, the mean may also have come out beyond the other one.
    return min(1.0, p + 1 - t_cdf((far + 2 * ask.margin) / error, df)) if ask.side == "within" else p


def _too_few(ask: Ask, n: int) -> str:
    names = f"'{ask.control}'" if ask.against is None else f"'{ask.control}' and '{ask.against}'"
    who = f" by {ask.judge}" if ask.judge else ""
    on = f" on {ask.metric}" if ask.metric else ""
    there = "is 1" if n == 1 else f"are {n}"
    return f"That needs at least three evals with scores of {names}{on}{who}, and there {there}."


def holm(tests: Sequence[Test]) -> tuple[Test, ...]:
    """The same tests with p-values that hold for all of them together."""
    together = adjust([item.p for item in tests])
    return tuple(replace(item, adjusted=p) for item, p in zip(tests, together, strict=True))


def adjust(chances: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's correction of p-values, in their order; None stays None."""
    adjusted = holm_of([np.nan if p is None else p for p in chances])
    return tuple(None if np.isnan(p) else float(p) for p in adjusted)


def dose_orders(ladder: Ladder, judge: str | None) -> NDArray[np.float64]:
    """Spearman's rho of bugs and score on each eval with three doses or more; −1 where each bug costs something."""
    table = np.array(np.broadcast_arrays(*(ladder.means(dose, None, judge) for dose in DOSES)))
    found = [column[~np.isnan(column)] for column in table.T]
    return np.array([_falling(column) for column in found if len(column) >= 3])


def _falling(scores: NDArray[np.float64]) -> float:
    """Rho of the scores with their places; 0 where they are all alike, since that is no order."""
    ranks = (scores[:, None] > scores).sum(axis=1) + ((scores[:, None] == scores).sum(axis=1) - 1) / 2
    places = np.arange(len(scores)) - (len(scores) - 1) / 2
    ranks = ranks - ranks.mean()
    scale = sqrt(float((ranks**2).sum() * (places**2).sum()))
    return float((ranks * places).sum()) / scale if scale else 0.0


def overlap(good: NDArray[np.float64], bad: NDArray[np.float64]) -> float | None:
    """AUC: how often a good run is rated above a bad one, ties counting half; None where either has no score."""
    high, low = good[~np.isnan(good)], bad[~np.isnan(bad)]
    if not len(high) or not len(low):
        return None
    return float(((high[:, None] > low) + 0.5 * (high[:, None] == low)).mean())

"""A claim about judges, such as "A is rated at least 0.4 above B", and whether their scores show it.

The unit of evidence is the eval: repeats and judges are averaged first, and bounds are one-sided 95 % t over evals.
Scores of the same eval go together (an easy eval is easy for every repeat and judge), so counting each score would make
the bounds too narrow.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from orvl.rate.stats.arrays import SLACK, mean_known, probabilities
from orvl.rate.stats.intervals import t_cdf, t_quantile
from orvl.rate.stats.paired import holm as holm_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

Side = Literal["at least", "at most", "within"]
Verdict = Literal["holds", "violated", "not shown", "not tested"]
LEVEL = 0.95
FEWEST_EVALS = 3
"""With two evals that agree by chance the bound would look certain."""
EXACT = 1e-9
"""Rounding error of differences of decimal fractions: 0.7 − 0.3 must pass as 0.4."""


@dataclass(frozen=True)
class Claim:
    """The score of `control`, or `control` − `against`, is on the right side of the margin."""

    name: str
    what: str
    control: str
    against: str | None
    side: Side
    margin: float
    judge: str | None = None
    metric: str | None = None
    fault: str = ""
    """The opposite of `what`, as the start of a sentence."""


@dataclass(frozen=True)
class ClaimResult:
    """How a claim came out; `passed` is None where it could not be tested."""

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
    """How often judges exactly on the margin would look this bad by chance."""
    adjusted: float | None = None
    """The same, corrected for the number of claims tested together."""
    fault: str = ""

    @property
    def verdict(self) -> Verdict:
        """Violated where the data contradict the claim; not shown where they leave it open."""
        if self.passed is None:
            return "not tested"
        if self.passed:
            return "holds"
        p = self.p if self.adjusted is None else self.adjusted
        return "violated" if p is not None and p < 1 - LEVEL else "not shown"


@dataclass(frozen=True)
class PanelScores:
    """Scores by control, each evals × repeats × judges, and the judges' weights (which add up to 1)."""

    scores: Mapping[str, NDArray[np.float64]]
    by_metric: Mapping[str, Mapping[str, NDArray[np.float64]]]
    judges: tuple[str, ...]
    weights: NDArray[np.float64]

    @cached_property
    def _cache(self) -> dict[tuple[str, str | None], tuple[NDArray[np.float64], NDArray[np.float64]]]:
        return {}

    def means(self, control: str, metric: str | None = None, judge: str | None = None) -> NDArray[np.float64]:
        """The mean on each eval, by the panel or one judge; NaN where there is none."""
        key = control, metric
        if key not in self._cache:
            # The panel's mean averages the judges of a run first, as R does: with missing scores the order matters.
            by_judge = mean_known(self.table(control, metric), 1)
            self._cache[key] = mean_known(self.runs(control, metric), 1), by_judge
        panel, by_judge = self._cache[key]
        return panel if judge is None else by_judge[:, self.judges.index(judge)]

    def runs(self, control: str, metric: str | None = None) -> NDArray[np.float64]:
        """The panel's score of each run, evals × repeats."""
        return mean_known(self.table(control, metric), 2, self.weights)

    def table(self, control: str, metric: str | None = None) -> NDArray[np.float64]:
        """Each judge's score of each run, evals × repeats × judges; one eval of NaN where the control is missing."""
        tables = self.scores if metric is None else self.by_metric.get(metric, {})
        return tables[control] if control in tables else np.full((1, 1, len(self.judges)), np.nan)

    def values(self, claim: Claim) -> NDArray[np.float64]:
        """One value for each eval that has all the scores the claim needs."""
        means = self.means(claim.control, claim.metric, claim.judge)
        if claim.against is not None:
            means = means - self.means(claim.against, claim.metric, claim.judge)
        return np.asarray(means[~np.isnan(means)])

    def without(self, gone: Sequence[str]) -> PanelScores | None:
        """The scores of the remaining judges; None unless they hold more than half of the panel's weight."""
        weights = np.array(
            [0.0 if judge in gone else weight for judge, weight in zip(self.judges, self.weights, strict=True)]
        )
        return panel_scores(self.scores, self.by_metric, self.judges, weights) if weights.sum() > 0.5 else None


def panel_scores(
    scores: Mapping[str, ArrayLike],
    by_metric: Mapping[str, Mapping[str, ArrayLike]],
    judges: Sequence[str],
    weights: ArrayLike,
) -> PanelScores:
    """Checks the shapes, and drops judges of weight 0: they are not on the panel."""
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (len(judges),) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise ValueError(f"weights must be {len(judges)} numbers, finite, not negative, and not all zero.")
    on = w > 0
    tables = {control: _table(control, table, on) for control, table in scores.items()}
    parts = {metric: {c: _table(c, table, on) for c, table in part.items()} for metric, part in by_metric.items()}
    if len({len(table) for part in (tables, *parts.values()) for table in part.values()}) > 1:
        raise ValueError("All controls must have the same evals, with NaN for a missing score.")
    names = tuple(judge for judge, is_on in zip(judges, on, strict=True) if is_on)
    return PanelScores(tables, parts, names, w[on] / w.sum())


def _table(control: str, table: ArrayLike, on: NDArray[np.bool_]) -> NDArray[np.float64]:
    array = probabilities(table, f"The scores of {control}", slack=SLACK)
    if array.ndim != 3 or array.shape[2] != len(on):
        raise ValueError(f"The scores of {control} have the shape {array.shape}; it must be evals × repeats × judges.")
    return array[:, :, on]


def examine(scores: PanelScores, claim: Claim) -> ClaimResult:
    """Tests a claim with a one-sided 95 % t bound over evals."""
    return examine_values(claim, scores.values(claim))


def examine_values(claim: Claim, values: NDArray[np.float64]) -> ClaimResult:
    """The same from one value per eval."""
    n = len(values)
    if n < FEWEST_EVALS:
        mean = float(values.mean()) if n else None
        return _made(claim, mean, None, n, None, _too_few(claim, n), None)
    mean, error = float(values.mean()), float(values.std(ddof=1)) / sqrt(n)
    error = 0.0 if error < EXACT else error  # equal values differ by rounding alone
    half = t_quantile(LEVEL, n - 1) * error
    # "within" is equivalence by one-sided bounds (TOST): |mean| plus the half width must be inside the margin. A test
    # for a difference would do the opposite and pass noisy judges, whose differences are never significant.
    bound = {"at least": mean - half, "at most": mean + half, "within": abs(mean) + half}[claim.side]
    bound = min(1.0, max(0.0 if claim.against is None else -1.0, bound))
    return _made(claim, mean, bound, n, beyond(claim, bound) <= EXACT, None, _chance(claim, mean, error, n - 1))


def _made(
    claim: Claim, mean: float | None, bound: float | None, n: int, passed: bool | None, why: str | None, p: float | None
) -> ClaimResult:
    return ClaimResult(**vars(claim), estimate=mean, bound=bound, evals=n, passed=passed, why=why, p=p)


def point_test(claim: Claim, estimate: float | None, evals: int) -> ClaimResult:
    """A claim about a figure that has no bound of its own."""
    if estimate is None or evals < FEWEST_EVALS:
        return _made(claim, estimate, None, evals, None, _too_few(claim, evals), None)
    return _made(claim, estimate, estimate, evals, beyond(claim, estimate) <= EXACT, None, None)


def beyond(claim: Claim | ClaimResult, value: float) -> float:
    """How far a value is on the wrong side of the margin."""
    if claim.side == "at least":
        return claim.margin - value
    return (abs(value) if claim.side == "within" else value) - claim.margin


def _chance(claim: Claim, mean: float, error: float, df: int) -> float:
    """P-value: a mean at least this far beyond the margin, were the truth exactly on the margin."""
    far = beyond(claim, mean)
    if error == 0:
        return float(far <= EXACT)
    p = 1 - t_cdf(far / error, df)
    # With a margin on both sides, the mean may also have landed beyond the other one.
    return min(1.0, p + 1 - t_cdf((far + 2 * claim.margin) / error, df)) if claim.side == "within" else p


def _too_few(claim: Claim, n: int) -> str:
    names = f"'{claim.control}'" if claim.against is None else f"'{claim.control}' and '{claim.against}'"
    who = f" by {claim.judge}" if claim.judge else ""
    on = f" on {claim.metric}" if claim.metric else ""
    there = "is 1" if n == 1 else f"are {n}"
    return f"That takes at least three evals with scores of {names}{on}{who}; there {there}."


def holm(tests: Sequence[ClaimResult]) -> tuple[ClaimResult, ...]:
    """The results with p-values that hold for all of them together."""
    together = adjust([item.p for item in tests])
    return tuple(replace(item, adjusted=p) for item, p in zip(tests, together, strict=True))


def adjust(chances: Sequence[float | None]) -> tuple[float | None, ...]:
    """Holm's correction of p-values, in their order; None stays None."""
    adjusted = holm_of([np.nan if p is None else p for p in chances])
    return tuple(None if np.isnan(p) else float(p) for p in adjusted)


def rank_order(scores: NDArray[np.float64]) -> float:
    """Spearman's rho of scores with their places: 1 where they rise, −1 where they fall, 0 where all are alike.

    Ties share their mean rank. All alike is taken for no order at all, where rho itself would be undefined: a judge who
    gives everything the same score has not noticed the order.
    """
    ranks = (scores[:, None] > scores).sum(axis=1) + ((scores[:, None] == scores).sum(axis=1) - 1) / 2
    places = np.arange(len(scores)) - (len(scores) - 1) / 2
    ranks = ranks - ranks.mean()
    scale = sqrt(float((ranks**2).sum() * (places**2).sum()))
    return float((ranks * places).sum()) / scale if scale else 0.0


def auc(high: NDArray[np.float64], low: NDArray[np.float64]) -> float | None:
    """AUC: how often one of `high` is above one of `low`, ties counting half; None where either is empty."""
    high, low = high[~np.isnan(high)], low[~np.isnan(low)]
    if not len(high) or not len(low):
        return None
    return float(((high[:, None] > low) + 0.5 * (high[:, None] == low)).mean())

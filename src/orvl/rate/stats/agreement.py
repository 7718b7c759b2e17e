"""How far judges agree, and what a rating owes to any one of them.

A table is runs × judges for one metric (or R as each judge alone gives it), NaN where a judge abstained. No single
number will do: alpha falls where all runs are alike although the judges agree (.24 at the noise that gives .93 on a
wide range), AC1 does not but is lenient, ICC needs every judge on every run. None of them sees an error that all judges
share: only controls and people's labels do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from orvl.rate.rating import rate
from orvl.rate.stats.arrays import numbers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

Level = Literal["nominal", "interval"]
TINY = 1e-12
DECIMALS = 9  # scores that differ by less are the same category
LEAST_RUNS = 8  # below this the effective number of judges, and a flag, would be guesswork


@dataclass(frozen=True)
class Icc:
    """Intraclass correlations of runs × judges; `reason` says why they are None."""

    icc2_1: float | None
    """One judge's absolute scores: severity counts as error."""
    icc2_k: float | None
    """The same for the mean of all judges."""
    icc3_1: float | None
    """One judge's order and distances: severity is forgiven, so the gap to `icc2_1` is severity."""
    icc3_k: float | None
    rows: int
    """Runs that every judge scored."""
    left_out: int
    """Runs that somebody did not score."""
    reason: str | None = None


@dataclass(frozen=True)
class PanelAgreement:
    """What one metric's scores say about the panel."""

    runs: int
    judges: int
    abstained: float
    """The share of cells without a score."""
    means: tuple[float | None, ...]
    """Each judge's mean over the runs that it scored."""
    level: Level
    """Nominal where every score is 0 or 1."""
    alpha: float | None
    ac1: float | None
    percent_agreement: float | None
    unanimous: float | None
    mean_absolute_difference: float | None
    icc: Icc
    effective_judges: float | None
    flagged: bool
    note: str | None


@dataclass(frozen=True)
class LeaveOneOut:
    """R without each judge in turn; NaN where nothing is left."""

    R: NDArray[np.float64]
    """Judges, then the leading axes of the scores."""
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def panel_agreement(table: ArrayLike, *, threshold: float = 0.2, near: float = 0.1) -> PanelAgreement:
    """All measures for one metric, and whether it should be flagged.

    A metric is flagged where alpha is below the threshold although the judges really differ. Alpha also falls where all
    runs are alike, with nothing to tell apart: where AC1 is 0.6 or more, or scores differ by no more than `near` on
    average, the note says so and the metric is not flagged; nor is it below eight runs that two judges scored.
    """
    scores = _table(table)
    known = ~np.isnan(scores)
    level: Level = "nominal" if np.isin(scores[known], (0.0, 1.0)).all() else "interval"
    found, gwet = alpha(scores, level), ac1(scores) if level == "nominal" else None
    apart = mean_absolute_difference(scores)
    alike = apart is not None and (apart <= near if gwet is None else gwet >= 0.6)
    low = found is not None and found < threshold
    few = len(_shared(scores)) < LEAST_RUNS
    return PanelAgreement(
        runs=len(scores),
        judges=scores.shape[1],
        abstained=float(1 - known.mean()) if known.size else 0.0,
        means=tuple(
            float(column[there].mean()) if there.any() else None
            for column, there in zip(scores.T, known.T, strict=True)
        ),
        level=level,
        alpha=found,
        ac1=gwet,
        percent_agreement=percent_agreement(scores, within=0.0 if level == "nominal" else near),
        unanimous=unanimous(scores, within=0.0 if level == "nominal" else near),
        mean_absolute_difference=apart,
        icc=icc(scores),
        effective_judges=effective_judges(scores),
        flagged=low and not alike and not few,
        note=_note(found, apart, threshold, alike=alike, few=few),
    )


def _note(found: float | None, apart: float | None, threshold: float, *, alike: bool, few: bool) -> str | None:
    if apart is None:
        return "No run was scored by two judges, so agreement is unknown."
    if found is None:
        return "Every score is the same, so alpha is undefined; the judges agree."
    if found >= threshold:
        return None
    if alike:
        return f"Alpha is below {threshold:g} because the runs are nearly alike, not because the judges differ."
    if few:
        return f"Alpha is below {threshold:g}, but over fewer than {LEAST_RUNS} runs: too few to blame the metric."
    return f"Alpha is below {threshold:g}: the judges do not agree on this metric."


def icc(table: ArrayLike) -> Icc:
    """Two-way intraclass correlations over the runs that every judge scored (Shrout and Fleiss; McGraw and Wong).

    Judges are the same for all runs, so the one-way ICC(1) would count their severity as noise of the runs.
    """
    scores = _table(table)
    rows = scores[~np.isnan(scores).any(axis=1)]
    n, k = rows.shape
    lost = len(scores) - n
    if n < 2 or k < 2:
        return Icc(None, None, None, None, n, lost, "This takes two judges, and two runs that both scored.")
    centred = rows - rows.mean()
    by_run, by_judge = centred.mean(axis=1), centred.mean(axis=0)
    between = k * float(by_run @ by_run) / (n - 1)
    severity = n * float(by_judge @ by_judge) / (k - 1)
    error = float(((centred - by_run[:, None] - by_judge) ** 2).sum()) / ((n - 1) * (k - 1))
    if between <= TINY:
        return Icc(
            None, None, None, None, n, lost, "All runs have the same mean score, so there is nothing to tell apart."
        )
    extra = k * (severity - error) / n
    return Icc(
        icc2_1=_ratio(between - error, between + (k - 1) * error + extra),
        icc2_k=_ratio(between - error, between + extra / k),
        icc3_1=_ratio(between - error, between + (k - 1) * error),
        icc3_k=_ratio(between - error, between),
        rows=n,
        left_out=lost,
    )


def alpha(table: ArrayLike, level: Level = "nominal") -> float | None:
    """Krippendorff's alpha: 1 − disagreement within runs / disagreement between any two scores.

    It takes any number of judges and missing scores, which kappa does not. None where no run has two scores, or all
    scores are the same: there is nothing to disagree about.
    """
    if level not in ("nominal", "interval"):
        raise ValueError(f"level is {level!r}; it must be 'nominal' or 'interval'.")
    scores = _shared(table)
    if not scores.size:
        return None
    # Nominal is interval over one column of zeros and ones for each category: half the squared distances add up.
    values = _categories(scores) if level == "nominal" else (scores - np.nanmean(scores))[None]
    known = ~np.isnan(scores)
    counts = known.sum(axis=1)
    filled = np.where(known, values, 0.0)
    squares, sums = (filled**2).sum(axis=2), filled.sum(axis=2)
    total = counts.sum()
    seen = ((counts * squares - sums**2) / (counts - 1)).sum() / total
    expected = (total * squares.sum(axis=1) - sums.sum(axis=1) ** 2).sum() / (total * (total - 1))
    return float(1 - seen / expected) if expected > TINY else None


def ac1(table: ArrayLike, categories: Sequence[float] = (0.0, 1.0)) -> float | None:
    """Gwet's AC1 for any number of judges; `categories` could have been given even where nobody did.

    Agreement by chance is taken from how hard the runs are to place, not from the scores' margins: so it does not
    collapse, as kappa and alpha do, where nearly all runs get the same score.
    """
    scores = _table(table)
    agreed = percent_agreement(scores)
    if agreed is None:
        return None
    marks = _categories(scores, categories)
    rated = ~np.isnan(scores).all(axis=1)
    shares = (marks.sum(axis=2)[:, rated] / (~np.isnan(scores)).sum(axis=1)[rated]).mean(axis=1)
    if len(shares) < 2:
        return None
    chance = float((shares * (1 - shares)).sum()) / (len(shares) - 1)
    return (agreed - chance) / (1 - chance)


def percent_agreement(table: ArrayLike, within: float = 0.0) -> float | None:
    """The share of pairs of judges, averaged over runs, whose scores differ by no more than `within`."""
    gaps = _gaps(table)
    return None if gaps is None else _mean_of_rows(np.where(np.isnan(gaps), np.nan, gaps <= within + 10.0**-DECIMALS))


def unanimous(table: ArrayLike, within: float = 0.0) -> float | None:
    """The share of runs with two scores or more whose scores all lie no further apart than `within`."""
    scores = _shared(table)
    if not scores.size:
        return None
    return float((np.nanmax(scores, axis=1) - np.nanmin(scores, axis=1) <= within + 10.0**-DECIMALS).mean())


def mean_absolute_difference(table: ArrayLike) -> float | None:
    """How far two judges' scores of the same run lie apart, on average."""
    gaps = _gaps(table)
    return None if gaps is None else _mean_of_rows(gaps)


def effective_judges(table: ArrayLike, truth: ArrayLike | None = None) -> float | None:
    """How many independent judges the panel is worth, from 1 to their number m.

    Counting heads would overrate a panel: nine frontier models have been measured as about two independent votes. With
    the true score of each run (controls, people's labels) it is m / (1 + (m − 1)ρ), ρ being the judges' mean error
    covariance over their mean error variance (Kish's design effect). Without, an error that all share cannot be told
    from the truth; what is left after removing the runs' and judges' means only shows who errs alike. Then it is 1 more
    than the number of equally strong independent directions of that rest: m for independent judges with equal noise, 2
    for two blocks that each speak with one voice. So it is an upper bound; it takes three judges and some runs that all
    scored.
    """
    scores = _table(table)
    known = None if truth is None else numbers(truth, "The true scores")
    if known is not None and known.shape != (len(scores),):
        raise ValueError(f"truth has the shape {known.shape}; there are {len(scores)} runs.")
    errors = scores if known is None else scores - known[:, None]
    errors = errors[~np.isnan(errors).any(axis=1)]
    n, m = errors.shape
    if m == 1:
        return 1.0
    if n < LEAST_RUNS or (m < 3 and known is None):
        return None
    errors = errors - errors.mean(axis=0)
    if known is None:
        errors = errors - errors.mean(axis=1, keepdims=True)
    covariance = errors.T @ errors / (n - 1)
    variance = float(np.trace(covariance))
    if variance <= TINY:
        return None
    worth = variance * m / float(covariance.sum()) if known is not None and covariance.sum() > TINY else float(m)
    if known is None:
        worth = 1 + _directions(covariance, n - 1)
    return float(min(max(worth, 1.0), m))


def _directions(covariance: NDArray[np.float64], df: int) -> float:
    """The participation ratio of a covariance's eigenvalues, freed of the bias that few rows give to their squares."""
    variance, squares = float(np.trace(covariance)) ** 2, float((covariance**2).sum())
    honest = df**2 / ((df - 1) * (df + 2)) * (squares - variance / df)
    return variance / honest if honest > TINY * variance else len(covariance) - 1.0


def leave_one_out(scores: ArrayLike, judge_weights: ArrayLike, metric_weights: ArrayLike) -> LeaveOneOut:
    """Rates S (… × judges × metrics) without each judge in turn; a metric that only it answered goes with it."""
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim < 2 or 0 in table.shape[-2:]:
        raise ValueError(f"scores has the shape {table.shape}; it must be … × judges × metrics.")
    w = np.asarray(judge_weights, dtype=np.float64)
    R = np.full((len(w), *table.shape[:-2]), np.nan)
    for judge in range(len(w)):
        others = np.delete(w, judge)
        if others.any():
            R[judge] = rate(np.delete(table, judge, axis=-2), others, metric_weights).R
    # fmin and fmax pass over NaN, and give NaN without a warning where there is nothing else.
    return LeaveOneOut(R, np.asarray(np.fmin.reduce(R, axis=0)), np.asarray(np.fmax.reduce(R, axis=0)))


def _table(table: ArrayLike) -> NDArray[np.float64]:
    scores = numbers(table, "Scores")
    if scores.ndim != 2 or scores.shape[1] == 0:
        raise ValueError(f"the table has the shape {scores.shape}; it must be runs × judges.")
    return scores


def _shared(table: ArrayLike) -> NDArray[np.float64]:
    """The runs that two judges or more scored: only those say anything about agreement."""
    scores = _table(table)
    return np.asarray(scores[(~np.isnan(scores)).sum(axis=1) >= 2])


def _gaps(table: ArrayLike) -> NDArray[np.float64] | None:
    """Runs × pairs of judges: how far apart; None where no run has two scores."""
    scores = _shared(table)
    if not scores.size:
        return None
    one, other = np.triu_indices(scores.shape[1], 1)
    return np.asarray(np.abs(scores[:, one] - scores[:, other]))


def _mean_of_rows(values: NDArray[np.float64]) -> float:
    """Each run counts once, however many judges scored it."""
    return float(np.nanmean(values, axis=1).mean())


def _categories(scores: NDArray[np.float64], more: Sequence[float] = ()) -> NDArray[np.float64]:
    """Categories × runs × judges: 1 where that score was given."""
    rounded = np.round(scores, DECIMALS)
    kinds = np.unique(np.concatenate([rounded[~np.isnan(rounded)], np.asarray(more, dtype=np.float64)]))
    return np.asarray(rounded[None] == kinds[:, None, None], dtype=np.float64)


def _ratio(above: float, below: float) -> float | None:
    return above / below if below > TINY else None

"""A few runs labelled by people, many scored by judges: what both together say.

Labels alone are unbiased and few; judges alone are many and may be biased. PPI++ (Angelopoulos, Duchi and Zrnic) is
unbiased whatever the judges say, and is the more precise the better they go with people.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import SLACK, probabilities
from orvl.rate.stats.intervals import t_quantile, unmet_share

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray

MIDDLE = 0.5
TUNED_FROM = 5
"""With fewer labels, how far to follow the judges is a guess that costs more than it gains."""
STEP = 0.05
"""Disagreements that differ by less are alike: then runs of other contestants come first."""


@dataclass(frozen=True)
class PeopleMean:
    """The mean that people would give all runs; figures are None where `why` says the reason.

    `error` and `worth` are also None where labels show no spread about the judges: the interval is then as wide as
    what was not labelled allows.
    """

    labels: int
    judged: int
    labels_alone: float | None = None
    estimate: float | None = None
    error: float | None = None
    low: float | None = None
    high: float | None = None
    trust: float | None = None
    """λ: how far the judges are followed, from 0 for not at all."""
    worth: float | None = None
    """How many labels each label counts for, thanks to the judges."""
    why: str | None = None


def people_mean(
    labels: ArrayLike,
    scores_of_labelled: ArrayLike,
    scores_of_others: ArrayLike,
    *,
    level: float = 0.95,
    evals_of_labelled: Sequence[Hashable] | None = None,
    evals_of_others: Sequence[Hashable] | None = None,
    at_random: bool = True,
) -> PeopleMean:
    """PPI++ for a mean: people's labels, corrected by what the judges say of runs without one.

    It assumes that the labelled runs are a random draw of all; with `at_random` false there is no estimate. With the
    evals given, evals and not runs are the units of evidence.
    """
    y, f = probabilities(labels, "Labels", slack=SLACK), probabilities(scores_of_labelled, "Scores", slack=SLACK)
    if y.shape != f.shape or y.ndim != 1:
        raise ValueError(f"There are {y.size} labels and {f.size} judges' scores of labelled runs.")
    others = probabilities(scores_of_others, "Scores", slack=SLACK)
    if others.ndim != 1:
        raise ValueError(f"The scores of other runs have the shape {others.shape}; they must be one per run.")
    both, known = ~np.isnan(y) & ~np.isnan(f), ~np.isnan(others)
    groups = _groups(evals_of_labelled, evals_of_others, both, known)
    y, f, others = y[both], f[both], others[known]
    n, N = len(y), len(others)
    if why := _too_little(n, N, groups, at_random):
        return PeopleMean(n, N, float(y.mean()) if n else None, why=why)
    return _combine(y, f, others, groups, level)


def _groups(
    labelled: Sequence[Hashable] | None,
    others: Sequence[Hashable] | None,
    both: NDArray[np.bool_],
    known: NDArray[np.bool_],
) -> tuple[NDArray[np.intp], NDArray[np.intp]] | None:
    """The number of each run's eval, for labelled and other runs; None where evals are not given."""
    if labelled is None and others is None:
        return None
    if labelled is None or others is None or len(labelled) != len(both) or len(others) != len(known):
        raise ValueError("The evals must be given for every labelled run and for every other run, or not at all.")
    numbers = {name: number for number, name in enumerate(dict.fromkeys([*labelled, *others]))}
    first, second = (np.array([numbers[name] for name in names], dtype=np.intp) for names in (labelled, others))
    return first[both], second[known]


def _too_little(
    n: int, N: int, groups: tuple[NDArray[np.intp], NDArray[np.intp]] | None, at_random: bool
) -> str | None:
    if not at_random:
        return (
            "The labelled runs were picked, not drawn at random: they show how judges err, not what all runs are worth."
        )
    if n < 2:
        return f"There {'is 1 label' if n == 1 else 'are no labels'} on a judged run; at least 2 are needed."
    if N == 0:
        return "There are no other judged runs, so the mean of the labels is the estimate."
    if groups is not None and len(np.unique(groups[0])) < 2:
        return "All labels are on runs of one eval; at least 2 evals are needed."
    return None


def _combine(
    y: NDArray[np.float64],
    f: NDArray[np.float64],
    others: NDArray[np.float64],
    groups: tuple[NDArray[np.intp], NDArray[np.intp]] | None,
    level: float,
) -> PeopleMean:
    n, N = len(y), len(others)
    trust = _trust(y, f, N)
    estimate = float(y.mean() - trust * (f.mean() - others.mean()))
    # A tuned λ has used up one degree of freedom; where it is 0, none.
    spent = 1 if trust else 0
    df, alone = n - 1 - spent, _variance(y) / n
    residual = float((y - trust * f).var()) * n / df
    variance = residual * (1 / n + _tilt(f, others, trust)) + trust**2 * _variance(others) / N
    if groups is not None:
        df, alone = len(np.unique(groups[0])) - 1, max(alone, _clustered(y, 0 * others, groups))
        by_eval = _clustered(y - trust * f, trust * others, groups) * (n - 1) / (n - 1 - spent)
        # Few evals may agree by chance: they never make a mean surer than its runs do.
        variance = max(variance, by_eval * (1 + n * _tilt(f, others, trust)))
    half = t_quantile(0.5 + level / 2, df) * sqrt(variance)
    middle, low, high = (min(1.0, max(0.0, value)) for value in (estimate, estimate - half, estimate + half))
    # λ is less than the line's slope by n / N: about the line itself, judges may be right to the last digit.
    if min(variance, _variance(y - trust * (1 + n / N) * f)) > 1e-12:
        return PeopleMean(n, N, float(y.mean()), middle, sqrt(variance), low, high, trust, alone / variance)
    # No label has shown how people and judges can differ: runs that were not labelled still may.
    unmet = float(unmet_share(n if groups is None else len(np.unique(groups[0])), level))
    low, high = min(low, middle * (1 - unmet)), max(high, middle + (1 - middle) * unmet)
    return PeopleMean(n, N, float(y.mean()), middle, None, low, high, trust)


def _trust(y: NDArray[np.float64], f: NDArray[np.float64], count: int) -> float:
    """λ that makes the error smallest; 0 where judges say the same of all runs, or the opposite of people.

    The judges' spread is taken over the labelled runs, not over all as in the paper: with few labels it goes up and
    down with their covariance, so the quotient is steadier.
    """
    n, away = len(y), f - f.mean()
    spread = float((away**2).sum())
    return max(0.0, float((y * away).sum()) / spread / (1 + n / count)) if n >= TUNED_FROM and spread > 1e-12 else 0.0


def _tilt(f: NDArray[np.float64], others: NDArray[np.float64], trust: float) -> float:
    """What an unsure λ adds to the variance: more, the further the judges see the labelled runs from the others."""
    return float((f.mean() - others.mean()) ** 2 / ((f - f.mean()) ** 2).sum()) if trust else 0.0


def _variance(values: NDArray[np.float64]) -> float:
    return float(values.var(ddof=1)) if len(values) > 1 else 0.0


def _clustered(
    left: NDArray[np.float64], added: NDArray[np.float64], groups: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> float:
    """The variance of mean(left) + mean(added) where runs of the same eval go together, whichever part they are in."""
    most = int(max(groups[0].max(), groups[1].max())) + 1
    pull = np.bincount(groups[0], (left - left.mean()) / len(left), most)
    pull += np.bincount(groups[1], (added - added.mean()) / len(added), most)
    clusters = len(np.unique(groups[0]))
    return clusters / (clusters - 1) * float((pull**2).sum())


@dataclass(frozen=True)
class Agreement:
    """How a judge's scores go with people's labels; None where there are too few, or all are alike."""

    judge: str
    runs: int
    difference: float | None
    """Judge − people: above 0 for a generous judge."""
    absolute_difference: float | None
    correlation: float | None
    same_side: float | None
    """The share of runs that both put on the same side of 0.5."""


def agreement(labels: ArrayLike, scores: Mapping[str, ArrayLike]) -> tuple[Agreement, ...]:
    """Each judge against people, on the runs that both have rated."""
    y = probabilities(labels, "Labels", slack=SLACK)
    return tuple(
        _agreement(judge, y, probabilities(row, f"The scores of {judge}", slack=SLACK)) for judge, row in scores.items()
    )


def _agreement(judge: str, labels: NDArray[np.float64], scores: NDArray[np.float64]) -> Agreement:
    if labels.ndim != 1 or labels.shape != scores.shape:
        raise ValueError(f"There are {labels.size} labels and {scores.size} scores of {judge}: not of the same runs.")
    both = ~np.isnan(labels) & ~np.isnan(scores)
    y, f = labels[both], scores[both]
    if not len(y):
        return Agreement(judge, 0, None, None, None, None)
    spread = sqrt(float(((y - y.mean()) ** 2).sum() * ((f - f.mean()) ** 2).sum()))
    correlation = float(((y - y.mean()) * (f - f.mean())).sum()) / spread if len(y) > 2 and spread > 1e-12 else None
    away = f - y
    same = float(((y >= MIDDLE) == (f >= MIDDLE)).mean())
    return Agreement(judge, len(y), float(away.mean()), float(np.abs(away).mean()), correlation, same)


def most_informative(
    scores: ArrayLike,
    contestants: Sequence[Hashable],
    *,
    labelled: ArrayLike | None = None,
    limit: int | None = None,
) -> tuple[int, ...]:
    """The runs (rows of runs × judges) that people should label first, to find where judges err.

    The largest disagreement of the judges comes first; among those that are alike, the contestant with the fewest
    labels. Labels picked like this are no random draw: see `people_mean`.
    """
    table = probabilities(scores, "Scores", slack=SLACK)
    done = np.zeros(len(contestants), dtype=bool) if labelled is None else np.asarray(labelled, dtype=bool)
    if (table.ndim != 2 and table.size) or not len(table) == len(contestants) == len(done):
        raise ValueError(
            f"scores has the shape {table.shape}; it must be runs × judges, with a contestant for each of the runs."
        )
    counts: dict[Hashable, int] = {}
    for name, is_done in zip(contestants, done, strict=True):
        counts[name] = counts.get(name, 0) + int(is_done)
    steps: dict[int, list[int]] = {}
    for place, row in enumerate(table):
        if not done[place]:
            steps.setdefault(_step(row), []).append(place)
    order: list[int] = []
    for step in sorted(steps, reverse=True):
        order += _spread(steps[step], contestants, counts)
    return tuple(order[:limit])


def _step(row: NDArray[np.float64]) -> int:
    """How far the judges are apart, in steps; −1 where fewer than two have answered."""
    known = row[~np.isnan(row)]
    return round(float(known.std()) / STEP) if len(known) > 1 else -1


def _spread(places: Sequence[int], contestants: Sequence[Hashable], counts: dict[Hashable, int]) -> list[int]:
    """The places in turns, one for each contestant; counts what it hands out."""
    queues: dict[Hashable, list[int]] = {}
    for place in reversed(places):
        queues.setdefault(contestants[place], []).append(place)
    order = []
    while queues:
        name = min(queues, key=lambda one: (counts[one], queues[one][-1]))
        order.append(queues[name].pop())
        counts[name] += 1
        if not queues[name]:
            del queues[name]
    return order

"""The ratings of contestants as arrays: what comparisons, intervals and variance components are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orvl.rating import by_judge, rate
from orvl.report.board import Scores, masked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from orvl.report.board import Rules
    from orvl.report.gather import Gathered

Contestant = tuple[str, str, str]


@dataclass(frozen=True)
class Numbers:
    """R of every run: contestants × evals × episodes; and by each judge alone, with one more axis. NaN is missing."""

    contestants: list[Contestant]
    evals: list[str]
    judges: list[str]
    R: NDArray[np.float64]
    by_judge: NDArray[np.float64]

    @property
    def per_eval(self) -> NDArray[np.float64]:
        """Contestants × evals, episodes averaged."""
        return mean_of_known(self.R, axis=2)


def mean_of_known(values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
    """The mean without NaN; NaN where nothing is known, without a warning."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(known, values, 0.0).sum(axis=axis) / known.sum(axis=axis))


def numbers_of(gathered: Gathered, rules: Rules) -> Numbers:
    """One array over all cells; cells with fewer episodes than others are filled with NaN."""
    refs = [ref for ref in gathered.refs if ref.id in gathered.stacks]
    contestants = sorted({(ref.names[0], ref.names[1], ref.names[2]) for ref in refs})
    evals = sorted({ref.names[3] for ref in refs})
    first = next(iter(gathered.scorings.values()), None)
    judges = [name for name, _ in first.layout.judges] if first else []
    most = max((len(gathered.stacks[ref.id or 0][0]) for ref in refs), default=0)
    R = np.full((len(contestants), len(evals), most), np.nan)
    alone = np.full((*R.shape, len(judges)), np.nan)
    row, column = {name: i for i, name in enumerate(contestants)}, {name: i for i, name in enumerate(evals)}
    for ref in refs:
        S = gathered.stacks[ref.id or 0][1]
        scoring = gathered.scorings[ref.names[3]]
        S = masked(Scores(scoring.layout, scoring.metric_weights, scoring.judge_weights, S), rules.quorum)
        place = row[ref.names[0], ref.names[1], ref.names[2]], column[ref.names[3]], slice(len(S))
        weights = scoring.judge_weights if any(scoring.judge_weights) else [1.0] * len(scoring.judge_weights)
        R[place] = rate(S, weights, scoring.metric_weights, rules.penalty, variance=rules.variance).R
        alone[place] = by_judge(S, scoring.metric_weights)
    return Numbers(contestants, evals, judges, R, alone)

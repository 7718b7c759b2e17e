"""The ratings of contestants as arrays: what comparisons, intervals and variance components are computed from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.board import Scores, masked
from orvl.rate.gather import families_of
from orvl.rate.rating import by_judge
from orvl.rate.stats.arrays import all_known, mean_known

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from orvl.rate.collect import Board
    from orvl.rate.gather import Gathered, Scoring

Contestant = tuple[str, str, str]


@dataclass(frozen=True)
class Numbers:
    """R of every run: contestants × evals × episodes; and by each judge alone, with one more axis. NaN is missing.

    Judges whose word does not count are not among them.
    """

    contestants: list[Contestant]
    evals: list[str]
    judges: list[str]
    R: NDArray[np.float64]
    by_judge: NDArray[np.float64]
    families: list[str] | None = None
    """Of each eval, where any are related."""

    @property
    def per_eval(self) -> NDArray[np.float64]:
        """Contestants × evals, episodes averaged."""
        return mean_known(self.R, axis=2)


def numbers_of(board: Board) -> Numbers:
    """One array over all cells; cells with fewer episodes than others are filled with NaN."""
    gathered = board.gathered
    refs = [ref for ref in gathered.refs if ref.id in gathered.stacks]
    contestants = sorted({(ref.names[0], ref.names[1], ref.names[2]) for ref in refs})
    evals = sorted({ref.names[3] for ref in refs})
    judges = counting_judges(gathered)
    most = max((len(gathered.stacks[ref.id or 0].attempts) for ref in refs), default=0)
    R = np.full((len(contestants), len(evals), most), np.nan)
    alone = np.full((*R.shape, len(judges)), np.nan)
    row, column = {name: i for i, name in enumerate(contestants)}, {name: i for i, name in enumerate(evals)}
    for ref in refs:
        S, scoring = gathered.stacks[ref.id or 0].S, gathered.scorings[ref.panel]
        place = row[ref.names[0], ref.names[1], ref.names[2]], column[ref.names[3]], slice(len(S))
        R[place] = board.ratings[ref.id or 0]
        if judges and not ref.imported:
            alone[place] = _by_judge(S, scoring, list(judges), board.rules.quorum)
    return Numbers(contestants, evals, list(judges.values()), R, alone, families_of(gathered.panels, evals))


def counting_judges(gathered: Gathered) -> dict[int, str]:
    """The judges whose word counts in R, by their row in S."""
    scorings = [scoring for scoring in gathered.scorings.values() if any(_judged_weights(scoring))]
    if not scorings:
        return {}
    first = scorings[0]
    weighed = zip(first.layout.judges, first.judge_weights, strict=True)
    return {place: name for place, ((name, _), weight) in enumerate(weighed) if name and weight}


def _judged_weights(scoring: Scoring) -> list[float]:
    return [v for v, judged in zip(scoring.metric_weights, scoring.layout.judged, strict=True) if judged]


def _by_judge(S: NDArray[np.float64], scoring: Scoring, judges: list[int], quorum: float) -> NDArray[np.float64]:
    if not all_known(S):
        scores = Scores(scoring.layout, scoring.metric_weights, scoring.judge_weights, S)
        return by_judge(masked(scores, quorum)[:, judges], scoring.metric_weights)
    v = np.asarray(scoring.metric_weights, dtype=float)
    # Rounding may carry a score of 1 a hair above it.
    return np.asarray(np.minimum(S @ (v / v.sum()), 1.0)[:, judges])

"""What exports say beside each run and each score: R, R_pen and weights, as a report has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from orvl.plan.imported import panel_name
from orvl.rate.board import masked
from orvl.rate.collect import panels_of, rules_of
from orvl.rate.gather import CellRef, gather
from orvl.rate.rating import rate
from orvl.store.protocol import ANY_EPISODE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.project import Project
    from orvl.rate.gather import Scoring
    from orvl.store import Store, StoredCell


@dataclass(frozen=True)
class Rated:
    """Ratings by attempt; weights, as shares of 1, by panel."""

    ratings: Mapping[int, tuple[float, float]] = field(default_factory=dict)
    """(R, R_pen)."""
    metrics: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    metric_keys: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """By panel and the metric's content: a score of another content has no weight."""
    judge_keys: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    panels: Mapping[str, str] = field(default_factory=dict)
    """By cell key, the panel that rates it."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """By cell key, where its results were imported from."""
    earned: Mapping[int, float] = field(default_factory=dict)
    """By attempt, the share of its efficiency that it has earned."""
    earned_keys: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """By panel, the content of the metrics that are earned."""

    def earned_of(self, panel: str, metric_key: str, attempt: int) -> float | None:
        """What a score is multiplied by when it is rated; None where it counts as it is, or where that is unknown."""
        return self.earned.get(attempt) if metric_key in self.earned_keys.get(panel, ()) else None


def rated(project: Project, store: Store, cells: Sequence[StoredCell], metrics: Mapping[str, bool] | None) -> Rated:
    """Of the runs of these cells."""
    panels, _ = panels_of(project, cells, metrics, ())
    refs = [ref for ref in map(CellRef.of, cells) if ref.panel in panels]
    gathered, rules = gather(store, refs, panels, 1, ANY_EPISODE), rules_of(project)
    ratings: dict[int, tuple[float, float]] = {}
    earned: dict[int, float] = {}
    for name, ids in gathered.cells_by_panel().items():
        scoring = gathered.scorings[name]
        stacks = [gathered.stacks[cell] for cell in ids]
        weights = scoring.judge_weights if any(scoring.judge_weights) else [1.0] * len(scoring.judge_weights)
        scores = scoring.scores(stacks)
        rating = rate(
            masked(scores, rules.quorum), weights, scoring.metric_weights, rules.penalty, variance=rules.variance
        )
        attempts = np.concatenate([stack.attempts for stack in stacks]).tolist()
        for attempt, R, R_pen in zip(attempts, rating.R.tolist(), rating.R_pen.tolist(), strict=True):
            if R == R:
                ratings[attempt] = R, R_pen
        if scores.earned:
            shares = zip(attempts, scores.earned.share.tolist(), strict=True)
            earned.update((attempt, share) for attempt, share in shares if share == share)
    scorings = gathered.scorings.items()
    return Rated(
        ratings,
        {name: _shares([metric for metric, _ in s.layout.metrics], s.metric_weights) for name, s in scorings},
        {name: _shares([key for _, key in s.layout.metrics], s.metric_weights) for name, s in scorings},
        {name: _judges(s) for name, s in scorings},
        {cell.key: panel_name(cell) for cell in cells},
        {cell.key: origin.source for cell in cells if (origin := cell.imported)},
        earned,
        {name: _earned_keys(s) for name, s in scorings},
    )


def _earned_keys(scoring: Scoring) -> frozenset[str]:
    earning = scoring.earning
    names = earning.metrics if earning and earning.by else ()
    return frozenset(key for name, key in scoring.layout.metrics if name in names)


def _judges(scoring: Scoring) -> dict[str, float]:
    return _shares([key for _, key in scoring.layout.judges], scoring.judge_weights)


def _shares(names: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    total = sum(weights)
    return {name: weight / total if total else 0.0 for name, weight in zip(names, weights, strict=True)}

"""What exports say beside each run and each score: R, R_pen and weights, as a report has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from orvl.plan.imported import panel_name
from orvl.rate.board import Scores, masked
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


def rated(project: Project, store: Store, cells: Sequence[StoredCell], metrics: Mapping[str, bool] | None) -> Rated:
    """Of the runs of these cells."""
    panels, _ = panels_of(project, cells, metrics, ())
    refs = [ref for ref in map(CellRef.of, cells) if ref.panel in panels]
    gathered, rules = gather(store, refs, panels, 1, ANY_EPISODE), rules_of(project)
    ratings: dict[int, tuple[float, float]] = {}
    for name, ids in gathered.cells_by_panel().items():
        scoring = gathered.scorings[name]
        S = np.concatenate([gathered.stacks[cell][1] for cell in ids])
        weights = scoring.judge_weights if any(scoring.judge_weights) else [1.0] * len(scoring.judge_weights)
        scores = Scores(scoring.layout, scoring.metric_weights, scoring.judge_weights, S)
        rating = rate(
            masked(scores, rules.quorum), weights, scoring.metric_weights, rules.penalty, variance=rules.variance
        )
        attempts = np.concatenate([gathered.stacks[cell][0] for cell in ids]).tolist()
        for attempt, R, R_pen in zip(attempts, rating.R.tolist(), rating.R_pen.tolist(), strict=True):
            if R == R:
                ratings[attempt] = R, R_pen
    scorings = gathered.scorings.items()
    return Rated(
        ratings,
        {name: _shares([metric for metric, _ in s.layout.metrics], s.metric_weights) for name, s in scorings},
        {name: _shares([key for _, key in s.layout.metrics], s.metric_weights) for name, s in scorings},
        {name: _judges(s) for name, s in scorings},
        {cell.key: panel_name(cell) for cell in cells},
        {cell.key: origin.source for cell in cells if (origin := cell.imported)},
    )


def _judges(scoring: Scoring) -> dict[str, float]:
    return _shares([key for _, key in scoring.layout.judges], scoring.judge_weights)


def _shares(names: Sequence[str], weights: Sequence[float]) -> dict[str, float]:
    total = sum(weights)
    return {name: weight / total if total else 0.0 for name, weight in zip(names, weights, strict=True)}

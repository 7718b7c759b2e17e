"""What the judges said of the controls, as arrays: evals × repeats × judges for each control."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from orvl.plan.layout import layout_of
from orvl.rate.rating import by_judge
from orvl.store.score_matrix import score_tables
from orvl.trust.control_agents import control_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from orvl.plan.planning import Panel
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.types import Cell

PROGRAMS = "programs"
"""Who scores where there is no judge."""
USED = ("speed", "tokens", "tool-calls")
"""What they measure of a control is nothing: it lays down files in no time."""
WORKING = ("functionality", "bugs", "missing-cases", "checks")
"""What a bug in the work should move, where it is tested."""


@dataclass
class Measured:
    """Scores of controls. `ratings` is the rating of each run by each judge, over the metrics that are tested."""

    judges: tuple[str, ...]
    weights: tuple[float, ...]
    evals: tuple[str, ...]
    metrics: tuple[str, ...]
    """Those that are tested: of a panel the judged ones, without a judge those of programs that look at the work."""
    ratings: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    works: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """The same over the metrics that say whether the work works; over all of them where there is none such."""
    by_metric: dict[str, dict[str, NDArray[np.float64]]] = field(default_factory=dict)

    @property
    def working(self) -> tuple[str, ...]:
        return tuple(name for name in self.metrics if name in WORKING) or self.metrics


def measure(ladder: Ladder, store: Store) -> Measured:
    """Reads the scores of a ladder's runs; NaN where there is none."""
    panels = ladder.plan.panels
    first = next(iter(panels.values()))
    judges = tuple(judge.name for judge in first.judges) or (PROGRAMS,)
    weights = tuple(judge.weight for judge in first.judges)
    evals = tuple(panels)
    found = Measured(
        judges, weights if any(weights) else (1.0,) * len(judges), evals, tested(panels.values(), bool(first.judges))
    )
    shape = (len(evals), len(ladder.episodes), len(judges))
    ids = {cell.key: cell.id for cell in store.cells()}
    for e, panel in enumerate(panels.values()):
        cells = {ids[cell.key]: cell for cell in ladder.plan.cells if cell.eval.name == evals[e] and cell.key in ids}
        for number, S in _stacks(store, panel, cells, ladder.episodes).items():
            control = control_of(cells[number].agent.name)
            _put(found, panel, control, e, S, shape)
    return found


def tested(panels: Iterable[Panel], has_judges: bool) -> tuple[str, ...]:
    """The metrics by which the panel is tested: those that count, or all where its word weighs nothing."""
    pairs = [
        (metric.name, weight)
        for panel in panels
        for metric, weight in zip(panel.metrics, panel.weights, strict=True)
        if (metric.judged if has_judges else not metric.judged and metric.name not in USED)
    ]
    return tuple(sorted({name for name, weight in pairs if weight} or {name for name, _ in pairs}))


def _stacks(store: Store, panel: Panel, cells: Mapping[int, Cell], asked: range) -> dict[int, NDArray[np.float64]]:
    """For each cell the tables S of its repeats."""
    layout = layout_of(panel.eval, panel.metrics, panel.judges)
    runs = [run for run in store.carried_out(cell.key for cell in cells.values()) if run.episode in asked]
    episodes = {run.attempt: run.episode for run in runs}
    known = score_tables(store, layout, Counter(run.cell for run in runs), episodes.keys())
    stacks = {cell: np.full((len(asked), *layout.shape), np.nan) for cell in cells}
    for attempt, cell, S in zip(known.attempts.tolist(), known.cells.tolist(), known.S, strict=True):
        stacks[cell][episodes[attempt] - asked[0]] = S
    return stacks


def _put(found: Measured, panel: Panel, control: str, e: int, S: NDArray[np.float64], shape: tuple[int, ...]) -> None:
    """Enters one control's tables on one eval: S is repeats × judges × metrics."""
    names = [metric.name for metric in panel.metrics]
    for kept, entered in ((found.metrics, found.ratings), (found.working, found.works)):
        weights = [weight if name in kept else 0.0 for name, weight in zip(names, _weights(panel, kept), strict=True)]
        if any(weights):
            entered.setdefault(control, np.full(shape, np.nan))[e] = by_judge(S, weights)
    for j, name in enumerate(names):
        of_metric = found.by_metric.setdefault(name, {})
        of_metric.setdefault(control, np.full(shape, np.nan))[e] = S[:, :, j]


def _weights(panel: Panel, tested: tuple[str, ...]) -> tuple[float, ...]:
    """A panel whose word weighs nothing, such as the embedded model's, is tested with its metrics' own weights."""
    names = [metric.name for metric in panel.metrics]
    if any(weight for name, weight in zip(names, panel.weights, strict=True) if name in tested):
        return panel.weights
    return tuple(metric.weight or 1.0 for metric in panel.metrics)

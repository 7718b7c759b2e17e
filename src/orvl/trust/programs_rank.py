"""Where no certificate vouches for the judges, ranks go by what programs alone have measured, and that is said."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.plan.imported import ORIGIN
from orvl.project.default_weights import default_weights
from orvl.rate.rating import rate

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray

    from orvl.plan.layout import Panel
    from orvl.rate.collect import Board


def programs_can_rank(panels: Iterable[Panel]) -> bool:
    """Whether checks say on every eval what works, and nobody has decided that judges shall count for more."""
    own = [panel for panel in panels if panel.eval.origin != ORIGIN]
    return bool(own) and all(panel.weights_from == "default" and panel.eval.checks for panel in own)


def by_programs(board: Board) -> Board:
    """The same runs, rated by the default weights of what no judge has answered."""
    gathered = board.gathered
    scorings = {
        name: scoring if panel.eval.origin == ORIGIN else replace(scoring, metric_weights=_weights(panel))
        for name, scoring in gathered.scorings.items()
        for panel in [gathered.panels[name]]
    }
    ratings: dict[int, NDArray[np.float64]] = {}
    for name, cells in gathered.cells_by_panel().items():
        weights = scorings[name].metric_weights
        ratings |= {cell: rate(gathered.stacks[cell].S, None, weights).R for cell in cells}
    return replace(board, gathered=replace(gathered, scorings=scorings), ratings=ratings)


def _weights(panel: Panel) -> list[float]:
    shares = default_weights([metric for metric in panel.metrics if not metric.judged], panel.eval, ())
    return [shares.get(metric.name, 0.0) for metric in panel.metrics]

"""How an eval's controls are scored: the panel that a certificate is of."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.plan.layout import Panel, panel_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project import Project
    from orvl.types import Eval


def certified_panel(project: Project, eval_: Eval, metrics: Mapping[str, bool] | None, judges: Sequence[str]) -> Panel:
    """As its runs are scored, or by all that judges may be asked, where they decide nothing on their own.

    Where no judge of the project has any weight (the embedded model alone, for instance), the programs are tested. A
    judge that is named is tested whatever its weight.
    """
    panel = panel_of(project, eval_, metrics, judges)
    if not judges and not any(judge.weight for judge in panel.judges):
        return _of_programs(panel)
    return panel if metrics is not None or not panel.judges else as_certified(project, panel)


def as_certified(project: Project, panel: Panel) -> Panel:
    """The panel of a certificate that speaks for this one.

    On an eval with checks judges are asked about little that a bug would move, so whether they see one would never be
    known: they are tested by what they are asked on an eval without checks. Weights that somebody wrote down, and that
    judges have a part in, are tested as they are.
    """
    counts = any(metric.judged and weight for metric, weight in zip(panel.metrics, panel.weights, strict=True))
    if counts and panel.weights_from != "default":
        return panel
    names = [judge.name for judge in panel.judges]
    alone = panel_of(project, replace(panel.eval, metrics=None, checks=()), None, names)
    known = {metric.name: (metric, weight) for metric, weight in zip(panel.metrics, panel.weights, strict=True)}
    judged = zip(alone.metrics, alone.weights, strict=True)
    known |= {metric.name: (metric, weight) for metric, weight in judged if metric.judged}
    both = [known[name] for name in sorted(known)]
    return replace(panel, metrics=tuple(metric for metric, _ in both), weights=tuple(weight for _, weight in both))


def _of_programs(panel: Panel) -> Panel:
    kept = [(m, weight) for m, weight in zip(panel.metrics, panel.weights, strict=True) if not m.judged]
    return replace(
        panel, metrics=tuple(metric for metric, _ in kept), weights=tuple(weight for _, weight in kept), judges=()
    )

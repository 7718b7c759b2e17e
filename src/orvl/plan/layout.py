"""How the runs of an eval are scored: which judge answers which metric, the rows and columns of S."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.plan.earning import CHECKS, earning_of, works_by
from orvl.project.default_weights import POINT
from orvl.types import Layout

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.plan.earning import Earning
    from orvl.project import Project, WeightsFrom
    from orvl.types import Eval, Judge, Metric

NOBODY = ("", "")


@dataclass(frozen=True)
class Panel:
    """How the runs of one eval are scored: its metrics with their weights, and the judges."""

    eval: Eval
    metrics: tuple[Metric, ...]
    weights: tuple[float, ...]
    judges: tuple[Judge, ...]
    earning: Earning | None = None
    """How efficiency is earned, where any of its metrics is about that."""
    weights_from: WeightsFrom = "eval"

    @property
    def shares(self) -> dict[str, float]:
        """The weights of the metrics that count, of 1, the largest first."""
        total = sum(self.weights)
        pairs = zip((metric.name for metric in self.metrics), self.weights, strict=True)
        return {name: weight / total for name, weight in sorted(pairs, key=lambda pair: -pair[1]) if weight}


def panel_of(project: Project, eval_: Eval, only: Mapping[str, bool] | None, judges: Sequence[str]) -> Panel:
    """An eval's metrics and weights, narrowed to those requested. One that is named always counts; a glob chooses
    among the eval's own, or among all where the eval has none of them."""
    panel = project.panel(judges)
    weights, source = project.weights(eval_, panel), project.weights_from(eval_)
    if only is not None:
        one = POINT if source == "default" else 1.0
        source = "words"
        own = [name for name, named in only.items() if named or name in weights] or list(only)
        weights = {name: weights.get(name, 0.0 if only[name] else one * project.metric(name).weight) for name in own}
        weights = {name: weight or (one if only[name] else 0.0) for name, weight in weights.items()}
    if panel and not any(judge.weight for judge in panel):
        weights = {name: 0.0 if project.metric(name).judged else weight for name, weight in weights.items()}
    if not any(weights.values()):
        weights = dict.fromkeys(weights, 1.0)
    if works_by(eval_, weights, panel) == CHECKS and any(project.metric(name).earned for name in weights):
        weights.setdefault(CHECKS, 0.0)
    names = sorted(weights)
    metrics = tuple(_with_items(project.metric(name), eval_) for name in names)
    earning = earning_of(eval_, metrics, panel, project.settings.quorum)
    return Panel(eval_, metrics, tuple(weights[name] for name in names), tuple(panel), earning, source)


def _with_items(metric: Metric, eval_: Eval) -> Metric:
    """A metric with the items that an eval adds to its own, or has instead of them."""
    brought = eval_.items.get(metric.name)
    if not brought:
        return metric
    return replace(metric, items=brought.items if brought.replace else (*metric.items, *brought.items))


def metric_key(metric: Metric, one: Eval) -> str:
    """The identity of a score's content: the metric's file and what of the eval it looks at."""
    parts: list[object] = [metric.name, metric.digest, one.scoring_digest, one.par.get(metric.name)]
    if brought := one.items.get(metric.name):
        parts.append([brought.replace, [[*item, item.good] for item in brought.items]])
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def layout_of(one: Eval, metrics: Sequence[Metric], judges: Sequence[Judge]) -> Layout:
    """Who answers what on the runs of an eval. Without a judge, one row stands for nobody."""
    rows = tuple((judge.name, judge.key) for judge in judges) or (NOBODY,)
    columns = tuple((metric.name, metric_key(metric, one)) for metric in metrics)
    key = hashlib.sha256(json.dumps([rows, columns]).encode()).hexdigest()[:16]
    return Layout(key, rows, columns, tuple(metric.judged for metric in metrics))

"""Which judge answers which metric on the runs of an eval: the rows and columns of S."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from orvl.types import Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.types import Eval, Judge, Metric

NOBODY = ("", "")


def metric_key(metric: Metric, one: Eval) -> str:
    """The identity of a score's content: the metric's file and what of the eval it looks at."""
    parts = [metric.name, metric.digest, one.scoring_digest, one.par.get(metric.name)]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def layout_of(one: Eval, metrics: Sequence[Metric], judges: Sequence[Judge]) -> Layout:
    """Who answers what on the runs of an eval. Without a judge, one row stands for nobody."""
    rows = tuple((judge.name, judge.key) for judge in judges) or (NOBODY,)
    columns = tuple((metric.name, metric_key(metric, one)) for metric in metrics)
    key = hashlib.sha256(json.dumps([rows, columns]).encode()).hexdigest()[:16]
    return Layout(key, rows, columns, tuple(metric.judged for metric in metrics))

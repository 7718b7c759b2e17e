"""What counts on an eval that names no metrics, where orvl.toml has no [metrics] either: the default v.

Weights in metrics' files are points. The built-in metrics that apply to an eval share 20 of them: what the others
leave goes to the one that tells whether the work works. A metric of a project's own counts beside them, but not on the
built-in evals, of which it knows nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.find import built_in_metrics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.types import Eval, Judge, Metric

POINTS = 20.0
POINT = 1 / POINTS
"""The share of a metric whose file states no weight, such as `speed`."""
BUILT_IN = "built-in"
ONLY_WITHOUT_CHECKS = frozenset(("functionality", "bugs", "missing-cases"))
"""What judges say of whether the work works: programs know better, where there are any."""
LEADERS = (("checks",), ("functionality",), ("round-trip",), ("semantic-similarity",), ("ui", "ux"))
"""What tells whether the work works: the first of these that applies gets what the others leave."""


def default_weights(metrics: Iterable[Metric], eval_: Eval, judges: Sequence[Judge]) -> dict[str, float]:
    """Shares of 1. Judges that have no say are asked all the same, and weigh nothing."""
    has_say = any(judge.weight for judge in judges)
    applying = [metric for metric in metrics if _applies(metric, eval_, bool(judges), has_say=has_say)]
    points = {metric.name: 0.0 if metric.needs_judge and not has_say else metric.weight for metric in applying}
    shared = {metric.name for metric in applying if metric.origin == BUILT_IN}
    leading = next((names for names in LEADERS if any(points.get(name) for name in names)), ())
    shared |= set(leading)
    left = POINTS - sum(points[name] for name in shared if name not in leading)
    points |= dict.fromkeys(leading, left / max(len(leading), 1))
    total = sum(points.values())
    return {name: weight / total for name, weight in points.items()} if total else points


def _applies(metric: Metric, eval_: Eval, has_judges: bool, *, has_say: bool) -> bool:
    """A built-in metric counts only if the eval has what it looks at. Programs read no rules: judges do."""
    if metric.name == "checks" and not eval_.checks:
        return False
    if metric.origin != BUILT_IN:
        return eval_.origin != BUILT_IN or metric.name in built_in_metrics()
    if metric.needs_judge and not has_judges:
        return False
    if metric.name in ONLY_WITHOUT_CHECKS:
        return not eval_.checks
    wanted = {
        "ui": bool(eval_.app),
        "ux": bool(eval_.app),
        "adherence": eval_.has_linters or (eval_.has_rules and has_say),
        "semantic-similarity": eval_.part("reference") is not None and eval_.part("round-trip") is None,
        "round-trip": eval_.part("round-trip") is not None,
    }
    return wanted.get(metric.name, True)

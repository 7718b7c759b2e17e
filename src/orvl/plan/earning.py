"""Efficiency is earned: how little a run took counts only as far as its work works.

e = q · par / (par + x), with q = max(0, (c − c₀) / (1 − c₀)): c says how much of the work works, and c₀ what doing
nothing gets. So nothing is gained by doing a share of the work in that share of the time, and an empty run gets 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.types import Eval, Judge, Metric

CHECKS, FUNCTIONALITY = "checks", "functionality"


@dataclass(frozen=True)
class Earning:
    """Which metrics of an eval are earned, and on what."""

    metrics: tuple[str, ...]
    by: str | None
    """The metric that says what works; None where none does, so that all counts in full."""
    floor: float = 0.0
    quorum: float = 0.0
    """The share of the judges' weight that must have answered, where judges say what works."""


def works_by(eval_: Eval, metrics: Iterable[str], judges: Sequence[Judge]) -> str | None:
    """The metric that says how much of the work on an eval works: a program's word comes before that of judges."""
    if eval_.checks:
        return CHECKS
    has_say = any(judge.weight for judge in judges)
    return FUNCTIONALITY if has_say and FUNCTIONALITY in metrics else None


def earning_of(eval_: Eval, metrics: Sequence[Metric], judges: Sequence[Judge], quorum: float) -> Earning | None:
    """None where no metric is earned."""
    by = works_by(eval_, [metric.name for metric in metrics], judges)
    earned = tuple(metric.name for metric in metrics if metric.earned and metric.name != by)
    return Earning(earned, by, eval_.floor, quorum if by == FUNCTIONALITY else 0.0) if earned else None

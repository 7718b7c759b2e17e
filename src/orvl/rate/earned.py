"""Efficiency as it counts: the scores of what a run took, times the share of the work that works."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from orvl.plan.earning import Earning
    from orvl.types import Layout


@dataclass(frozen=True)
class Earned:
    """What of runs' efficiency they have earned."""

    columns: tuple[int, ...]
    """The places of these metrics in S."""
    raw: NDArray[np.float64]
    """Runs × these columns: the scores as they are stored."""
    share: NDArray[np.float64]
    """q of each run; NaN where nobody knows what works."""

    def __getitem__(self, runs: slice | NDArray[np.int64]) -> Earned:
        return Earned(self.columns, self.raw[runs], self.share[runs])

    @classmethod
    def joined(cls, parts: Sequence[Earned]) -> Earned:
        """Of runs with the same columns."""
        if len(parts) == 1:
            return parts[0]
        raw, share = (np.concatenate([getattr(part, name) for part in parts]) for name in ("raw", "share"))
        return cls(parts[0].columns, raw, share)


def earn(
    S: NDArray[np.float64], layout: Layout, judge_weights: Sequence[float], earning: Earning | None
) -> tuple[NDArray[np.float64], Earned | None]:
    """S of runs (runs × judges × metrics) with what they have earned, and how that came about.

    Where it is unknown what works, efficiency is unknown too: a check that could not be run is nobody's fault. Where
    nothing says what works on an eval, efficiency counts in full.
    """
    if earning is None or earning.by is None:
        return S, None
    names = [name for name, _ in layout.metrics]
    columns = tuple(names.index(name) for name in earning.metrics)
    works = names.index(earning.by)
    c = _panel_mean(S[:, :, works], judge_weights, earning.quorum) if layout.judged[works] else S[:, 0, works]
    share = np.maximum((c - earning.floor) / (1 - earning.floor), 0.0)
    earned = Earned(columns, S[:, 0, list(columns)], share)
    if not S.flags.writeable:
        S = S.copy()
    for place, column in enumerate(columns):
        S[:, :, column] = (earned.raw[:, place] * share)[:, None]
    return S, earned


def _panel_mean(scores: NDArray[np.float64], judge_weights: Sequence[float], quorum: float) -> NDArray[np.float64]:
    """The judges' mean for each run, over those who answered; NaN where these are fewer than the quorum."""
    w = np.asarray(judge_weights, dtype=float)
    shares = np.where(np.isnan(scores), 0.0, w / w.sum())
    answered = shares.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(np.isnan(scores), 0.0, shares * scores).sum(axis=1) / answered
    return np.asarray(np.where((answered > 0) & (answered >= quorum - 1e-12), means, np.nan))

"""Whether a winner depends on the weights, and the nearest weights under which it changes.

Nobody can prove a weight right; what can be said is how much of the choice would have made the same winner.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from orvl.rate.stats.arrays import numbers, probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

DRAWS = 20_000
CHUNK = 65_536
EVEN = 1e-12


@dataclass(frozen=True)
class Flip:
    """The nearest weights at which the leader no longer leads: there both are level, beyond them it trails."""

    weights: tuple[float, ...]
    distance: float
    """The sum of what the weights, each a share of 1, move by; at most 2."""


@dataclass(frozen=True)
class WeightProof:
    """How much of A's lead over B, or B's over A, is owed to the choice of weights."""

    leader: Literal["A", "B"] | None
    """Who leads under the given weights; None where they are level."""
    share: float | None
    """The share of all judge and metric weights under which A beats B."""
    error: float | None
    """The standard error of that share, from the finite number of draws; 0 where the share is certain."""
    draws: int
    metric_flip: Flip | None
    judge_flip: Flip | None
    reasons: tuple[str, ...] = ()
    """Why what is None is None."""


def weight_proof(
    A: ArrayLike, B: ArrayLike, v: ArrayLike, w: ArrayLike, *, draws: int = DRAWS, seed: int = 1
) -> WeightProof:
    """Compares two contestants' mean scores (judges × metrics, NaN for missing) under all weights.

    The weights v (metrics) and w (judges) are drawn uniformly from the simplex (Dirichlet(1, …, 1)). A cell that either
    contestant lacks is left out of both.
    """
    first, second = probabilities(A, "Scores"), probabilities(B, "Scores")
    if first.ndim != 2 or first.shape != second.shape:
        raise ValueError(
            f"the scores have the shapes {first.shape} and {second.shape}; both must be the same judges × metrics."
        )
    lead = first - second
    judges, metrics = _shares(w, lead.shape[0], "judge"), _shares(v, lead.shape[1], "metric")
    here = float(_differences(lead, judges[None], metrics[None])[0])
    if np.isnan(here):
        return WeightProof(None, None, None, 0, None, None, ("No judge that counts scored both contestants.",))
    share, error, used = _share(lead, draws, seed)
    leader: Literal["A", "B"] | None = None if abs(here) <= EVEN else "A" if here > 0 else "B"
    if leader is None:
        return WeightProof(None, share, error, used, None, None, ("They are level under the given weights.",))
    ahead = lead if leader == "A" else -lead
    reasons: list[str] = []
    by_metric = _flip_metrics(ahead, judges, metrics, reasons)
    by_judge = _flip_judges(ahead, judges, metrics, reasons)
    return WeightProof(leader, share, error, used, by_metric, by_judge, tuple(reasons))


def nearest_flip(lead: ArrayLike, weights: ArrayLike) -> Flip | None:
    """The nearest weights, by the sum of absolute changes, at which a lead by parts is gone; None where there are none.

    A linear program, solved without a solver: each bit of weight does most when it moves to the part where the leader
    trails most, from the part where it leads most, so taking the best bits first is the optimum (as in a fractional
    knapsack).
    """
    parts = numbers(lead, "Leads")
    if parts.ndim != 1 or np.isnan(parts).any():
        raise ValueError("lead must be one number for each part, none of them missing.")
    moved = _shares(weights, len(parts), "part").copy()
    worst = int(parts.argmin())
    left = float(parts @ moved)
    if parts[worst] >= 0:
        return None
    distance = 0.0
    for part in np.argsort(-parts, kind="stable"):
        gain = float(parts[part] - parts[worst])
        if left <= 0 or gain <= 0:
            break
        bit = min(float(moved[part]), left / gain)
        moved[part] -= bit
        moved[worst] += bit
        left -= bit * gain
        distance += 2 * bit
    return Flip(tuple(float(weight) for weight in moved), distance)


def _flip_metrics(
    ahead: NDArray[np.float64], w: NDArray[np.float64], v: NDArray[np.float64], reasons: list[str]
) -> Flip | None:
    shares = np.where(np.isnan(ahead), 0.0, w[:, None])
    total = shares.sum(axis=0)
    if (total <= 0).any():
        reasons.append("The nearest metric weights are unknown: a metric has no score that counts.")
        return None
    found = nearest_flip((shares * np.nan_to_num(ahead)).sum(axis=0) / total, v)
    if found is None:
        reasons.append("No metric weights change the leader: it is at least as good on every metric.")
    return found


def _flip_judges(
    ahead: NDArray[np.float64], w: NDArray[np.float64], v: NDArray[np.float64], reasons: list[str]
) -> Flip | None:
    if np.isnan(ahead[:, v > 0]).any():
        reasons.append("The nearest judge weights are unknown: not every judge scored every metric.")
        return None
    found = nearest_flip(np.nan_to_num(ahead) @ v, w)
    if found is None:
        reasons.append("No judge weights change the leader: every judge puts it at least level.")
    return found


def _share(lead: NDArray[np.float64], draws: int, seed: int) -> tuple[float, float, int]:
    """A lead that no cell denies needs no draws: it holds under all weights."""
    known = lead[~np.isnan(lead)]
    if (known >= 0).all() or (known <= 0).all():
        return (0.5 if not known.any() else float(known.max() > 0)), 0.0, 0
    random = np.random.default_rng(seed)
    wins = 0.0
    for start in range(0, draws, CHUNK):
        size = min(CHUNK, draws - start)
        w = random.dirichlet(np.ones(lead.shape[0]), size)
        v = random.dirichlet(np.ones(lead.shape[1]), size)
        differences = _differences(lead, w, v)
        wins += float((differences > EVEN).sum() + 0.5 * (np.abs(differences) <= EVEN).sum())
    # Two draws more, one for each side: a share of exactly 0 or 1 is not certain.
    guarded = (wins + 1) / (draws + 2)
    return wins / draws, sqrt(guarded * (1 - guarded) / draws), draws


def _differences(lead: NDArray[np.float64], w: NDArray[np.float64], v: NDArray[np.float64]) -> NDArray[np.float64]:
    """R of A minus R of B for each pair of rows of w and v; NaN where nothing that counts is known."""
    known = ~np.isnan(lead)
    weight = w @ known
    answered = weight > 0
    means = (w @ np.nan_to_num(lead)) / np.where(answered, weight, 1.0)
    shares = np.where(answered, v, 0.0)
    total = shares.sum(axis=1)
    return np.where(total > 0, (shares * means).sum(axis=1) / np.where(total > 0, total, 1.0), np.nan)


def _shares(weights: ArrayLike, count: int, noun: str) -> NDArray[np.float64]:
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (count,):
        raise ValueError(f"{noun} weights have the shape {array.shape}; there are {count} {noun}s.")
    total = array.sum()
    if not np.isfinite(total) or (array < 0).any() or total <= 0:
        raise ValueError(f"{noun} weights must be finite, not negative, and not all zero.")
    return np.asarray(array / total)

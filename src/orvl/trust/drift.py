"""What moved since the last time: the same judges on the same controls of the same evals."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.rate.stats.drift import drift
from orvl.trust.standing import KIND

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.store import Store

Means = dict[str, dict[str, dict[str, float]]]
"""A certificate's scores: judge, control, eval."""


def drift_since(
    store: Store,
    scores: Means,
    panel: Sequence[Mapping[str, Any]],
    metrics: Mapping[str, str],
    evals: Mapping[str, str],
    weights: Mapping[str, Mapping[str, float]],
) -> dict[str, Any] | None:
    """How each judge's scores differ from the newest certificate over the same judges; None where there is none.

    Other settings, checklists, weights or evals are another question: what they change is no drift.
    """
    keys = [judge["key"] for judge in panel]
    before = next(
        (
            (number, content)
            for number, _, content in store.trust(KIND)
            if [judge["key"] for judge in content["judges"]] == keys
            and {name: metric["digest"] for name, metric in content["metrics"].items()} == metrics
            and _same_evals(content, evals, weights)
        ),
        None,
    )
    if before is None:
        return None
    number, content = before
    same = _same_evals(content, evals, weights)
    judges = [judge for judge in scores if judge in content["scores"]]
    if not judges:
        return None
    controls = sorted({control for judge in judges for control in scores[judge]})
    found = drift(
        {control: _table(content["scores"], judges, control, same) for control in controls},
        {control: _table(scores, judges, control, same) for control in controls},
        judges,
    )
    return {"since": number, "judges": [asdict(one) for one in found]}


def _same_evals(
    content: Mapping[str, Any], evals: Mapping[str, str], weights: Mapping[str, Mapping[str, float]]
) -> list[str]:
    return [
        name
        for name, known in evals.items()
        if content["evals"].get(name) == known and content.get("weights", {}).get(name) == weights[name]
    ]


def _table(scores: Means, judges: Sequence[str], control: str, evals: Sequence[str]) -> NDArray[np.float64]:
    """Evals × 1 × judges."""
    means = [[scores[judge].get(control, {}).get(one, np.nan) for judge in judges] for one in evals]
    return np.array(means, dtype=np.float64).reshape(len(evals), 1, len(judges))

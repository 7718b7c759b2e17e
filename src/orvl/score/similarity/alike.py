"""Two sets of features → how alike they are in structure and in purpose."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.score.similarity.features import Features
    from orvl.score.similarity.weights import Weights

STRUCTURE, PURPOSE = 0.75, 0.25
OFTEN: dict[str, Callable[[int], float]] = {
    **dict.fromkeys(("subtrees", "calls"), lambda count: 1 + log(count)),
    "grams": lambda _: 1.0,
    "purpose": sqrt,
}
"""How much more a feature says that a side has several times."""
LEAST_PART = 0.25
"""What is contained counts in full from this share of the larger side."""


@dataclass(frozen=True)
class Similarity:
    """Each from 0 to 1, or None where neither side has anything of the kind (or one of them does not parse)."""

    subtrees: float | None
    calls: float | None
    tokens: float | None
    purpose: float | None

    @property
    def structure(self) -> float | None:
        told = [one for one in (self.subtrees, self.calls, self.tokens) if one is not None]
        return sum(told) / len(told) if told else None

    @property
    def score(self) -> float | None:
        """The one number; where one axis says nothing, the other is it."""
        structure, purpose = self.structure, self.purpose
        if structure is None or purpose is None:
            return purpose if structure is None else structure
        return STRUCTURE * structure + PURPOSE * purpose


def alike(one: Features, other: Features, weights: Weights) -> Similarity:
    """How alike two files, functions or projects are."""
    both_parse = one.parsed and other.parsed
    return Similarity(
        subtrees=_cosine(one, other, "subtrees", weights) if both_parse else None,
        calls=_cosine(one, other, "calls", weights) if both_parse else None,
        tokens=_containment(one, other, weights),
        purpose=_cosine(one, other, "purpose", weights),
    )


def _cosine(one: Features, other: Features, kind: str, weights: Weights) -> float | None:
    a, b = (_weighed(side, kind, weights) for side in (one, other))
    if not a and not b:
        return None
    if not a or not b:
        return 0.0
    inner = sum(a[name] * b[name] for name in a.keys() & b.keys())
    return min(inner / sqrt(sum(w * w for w in a.values()) * sum(w * w for w in b.values())), 1.0)


def _containment(one: Features, other: Features, weights: Weights) -> float | None:
    """The share of the smaller side's fingerprints that the other has too."""
    a, b = (_weighed(side, "grams", weights) for side in (one, other))
    sizes = sum(a.values()), sum(b.values())
    if not max(sizes):
        return None
    common = sum(a[name] for name in a.keys() & b.keys())
    return min(common / max(min(sizes), LEAST_PART * max(sizes)), 1.0)


def _weighed(one: Features, kind: str, weights: Weights) -> dict[int, float]:
    """The features of a kind, each with its weight; kept for the next comparison."""
    kept = one.weighed.get(kind)
    if kept is None or kept[0] is not weights:
        vector, often = one.vector(kind), OFTEN[kind]
        rare = weights.of(kind, vector)
        kept = one.weighed[kind] = weights, {name: often(vector[name]) * weight for name, weight in rare.items()}
    return kept[1]

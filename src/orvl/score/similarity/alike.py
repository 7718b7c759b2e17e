"""How alike two sets of features are, in structure and in purpose."""

from __future__ import annotations

from dataclasses import dataclass
from math import log, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.score.similarity.features import Features
    from orvl.score.similarity.weights import Weights

STRUCTURE, PURPOSE = 0.75, 0.25
"""Words are easily shared by programs about the same thing; structure is not."""
DAMPED: dict[str, Callable[[int], float]] = {
    **dict.fromkeys(("subtrees", "calls"), lambda count: 1 + log(count)),
    "grams": lambda _: 1.0,
    "purpose": sqrt,
}
"""What several occurrences count: the tenth loop of a kind says less than the first, a repeated copy says nothing."""
MIN_PART = 0.25
"""A part counts as contained in full from this share of the larger side: a line of a project is not the project."""


@dataclass(frozen=True)
class Similarity:
    """Each from 0 to 1, or None if neither side has anything of the kind (or one of them does not parse)."""

    subtrees: float | None
    calls: float | None
    tokens: float | None
    purpose: float | None

    @property
    def structure(self) -> float | None:
        known = [value for value in (self.subtrees, self.calls, self.tokens) if value is not None]
        return sum(known) / len(known) if known else None

    @property
    def score(self) -> float | None:
        """One number; if one axis says nothing, the other counts alone."""
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
    """The share of the smaller side's fingerprints that the other side has, too.

    Not cosine: a copied file in a large project is still a copy.
    """
    a, b = (_weighed(side, "grams", weights) for side in (one, other))
    sizes = sum(a.values()), sum(b.values())
    if not max(sizes):
        return None
    common = sum(a[name] for name in a.keys() & b.keys())
    return min(common / max(min(sizes), MIN_PART * max(sizes)), 1.0)


def _weighed(one: Features, kind: str, weights: Weights) -> dict[int, float]:
    """The features of a kind with their weights; cached for the next comparison."""
    cached = one.weighed.get(kind)
    if cached is None or cached[0] is not weights:
        vector, damped = one.vector(kind), DAMPED[kind]
        rarity = weights.of(kind, vector)
        cached = one.weighed[kind] = weights, {name: damped(vector[name]) * weight for name, weight in rarity.items()}
    return cached[1]

"""How much a feature says: the inverse of how many documents have it, so that scaffolding weighs nothing."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.score.similarity.languages import ALL_FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.score.similarity.features import Features

KINDS = ("subtrees", "calls", "grams", "purpose")
RAREST_WORD = 5.0
"""What a word weighs at most, whether one in a hundred and fifty documents has it or none."""
LEAST_SHARE = {"subtrees": 0.02, "calls": 0.02, "grams": 0.02, "purpose": 0.007}
CHANCE_USES = 1.5
"""In how many documents of a language a word or call may be by chance."""
BACKGROUND = Path(__file__).with_name("background.json")


@dataclass(frozen=True)
class Weights:
    """Document counts by kind of feature; `scaffold` weighs nothing."""

    documents: dict[int, int]
    counts: dict[str, dict[int, int]]
    scaffold: dict[str, frozenset[int]] = field(default_factory=dict)

    def of(self, kind: str, features: Iterable[int]) -> dict[int, float]:
        """What each feature weighs; without those that weigh nothing."""
        counts, scaffold = self.counts[kind], self.scaffold.get(kind, frozenset())
        totals = [log(self.documents.get(family, 0) + 1) for family in range(8)]
        most = RAREST_WORD if kind == "purpose" else inf
        rows = ((name, min(totals[name & 7] - log(counts.get(name, 0) + 0.5), most)) for name in features)
        return {name: weight for name, weight in rows if weight > 0 and name not in scaffold}

    def without(self, start: Features) -> Weights:
        """The same weights, but none for what was there before the work began."""
        scaffold = {kind: frozenset(start.vector(kind)) for kind in KINDS}
        return Weights(self.documents, self.counts, scaffold)


def families(one: Features) -> set[int]:
    """The families of languages that a document has; every document counts for words and calls."""
    return {ALL_FAMILIES, *(feature & 7 for feature in one.grams)}


def fit(documents: Iterable[Features]) -> Weights:
    """Weights from a collection of documents."""
    totals: Counter[int] = Counter()
    counts: dict[str, dict[int, Counter[int]]] = {kind: {f: Counter() for f in range(8)} for kind in KINDS}
    for one in documents:
        totals.update(families(one))
        for kind in KINDS:
            found = one.vector(kind).keys()
            for family in families(one):
                counts[kind][family].update(found)
    return Weights(dict(totals), {kind: _most_common(counted, totals) for kind, counted in counts.items()})


def _most_common(counts: dict[int, Counter[int]], totals: Counter[int]) -> dict[int, int]:
    """How many documents would have each feature if all were of the language that uses it most."""
    total = totals[ALL_FAMILIES]
    found = dict(counts[ALL_FAMILIES])
    for family, counted in counts.items():
        for name, count in counted.items():
            if name & 7 == ALL_FAMILIES:
                found[name] = max(found[name], round((count - CHANCE_USES) / totals[family] * total))
    return found


@cache
def background() -> Weights:
    """The weights that come with orvl, fitted over some thousand files of public packages."""
    kept = json.loads(BACKGROUND.read_text())
    totals = {int(family): total for family, total in kept["documents"].items()}
    counts = {kind: {int(name, 36): count for name, count in kept[kind].items()} for kind in KINDS}
    return Weights(totals, counts)


def save(fitted: Weights) -> str:
    """The form of `background.json`: only what several documents have; the rest is rare, and needs no count."""
    kept: dict[str, object] = {"documents": fitted.documents}
    for kind in KINDS:
        rows = fitted.counts[kind].items()
        floors = {family: max(LEAST_SHARE[kind] * fitted.documents.get(family, 0), 2) for family in range(8)}
        kept[kind] = {_base36(name): count for name, count in sorted(rows) if count > floors[name & 7]}
    return json.dumps(kept, separators=(",", ":"))


def _base36(value: int) -> str:
    digits = ""
    while value:
        value, rest = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"

"""How much a feature says: the fewer documents have it, the more (inverse document frequency).

Without weights, any two web pages would be alike: most of what they have in common every page has.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from math import inf, log
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.capture.languages import ALL_FAMILIES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.score.similarity.features import Features

KINDS = ("subtrees", "calls", "grams", "purpose")
MAX_WORD_WEIGHT = 5.0
"""A word that one document in 150 has weighs as much as one that none has: most unknown words are typos and names."""
MIN_SHARE = {"subtrees": 0.02, "calls": 0.02, "grams": 0.02, "purpose": 0.007}
"""What fewer documents have is left out of the built-in file: it is rare, and rare is the default."""
CHANCE_USES = 1.5
"""Uses of a word or call in a language that may be chance; subtracted, or one odd file would make it common."""
BACKGROUND = Path(__file__).with_name("background.json")


@dataclass(frozen=True)
class Weights:
    """Numbers of documents that have each feature, by kind; what is in `scaffold` weighs nothing."""

    documents: dict[int, int]
    counts: dict[str, dict[int, int]]
    scaffold: dict[str, frozenset[int]] = field(default_factory=dict)

    def of(self, kind: str, features: Iterable[int]) -> dict[int, float]:
        """The weight of each feature, without those that weigh nothing."""
        counts, scaffold = self.counts[kind], self.scaffold.get(kind, frozenset())
        totals = [log(self.documents.get(family, 0) + 1) for family in range(8)]
        most = MAX_WORD_WEIGHT if kind == "purpose" else inf
        rows = ((name, min(totals[name & 7] - log(counts.get(name, 0) + 0.5), most)) for name in features)
        return {name: weight for name, weight in rows if weight > 0 and name not in scaffold}

    def without(self, start: Features) -> Weights:
        """The same weights, but none for what a run started from: nobody gets credit for the template."""
        scaffold = {kind: frozenset(start.vector(kind)) for kind in KINDS}
        return Weights(self.documents, self.counts, scaffold)


def families(document: Features) -> set[int]:
    """The families of a document's languages; words and calls count for every document."""
    return {ALL_FAMILIES, *(feature & 7 for feature in document.grams)}


def fit(documents: Iterable[Features]) -> Weights:
    """Weights from a collection of documents."""
    totals: Counter[int] = Counter()
    counts: dict[str, dict[int, Counter[int]]] = {kind: {f: Counter() for f in range(8)} for kind in KINDS}
    for document in documents:
        totals.update(families(document))
        for kind in KINDS:
            features = document.vector(kind).keys()
            for family in families(document):
                counts[kind][family].update(features)
    return Weights(dict(totals), {kind: _most_common(counted, totals) for kind, counted in counts.items()})


def _most_common(counts: dict[int, Counter[int]], totals: Counter[int]) -> dict[int, int]:
    """How many documents would have each feature if all were in the language that uses it most.

    `useState` is common in JavaScript, and must not be rare only because most documents are Python.
    """
    total = totals[ALL_FAMILIES]
    common = dict(counts[ALL_FAMILIES])
    for family, counted in counts.items():
        for name, count in counted.items():
            if name & 7 == ALL_FAMILIES:
                common[name] = max(common[name], round((count - CHANCE_USES) / totals[family] * total))
    return common


@cache
def background() -> Weights:
    """The built-in weights, fitted over some thousand files of public packages."""
    kept = json.loads(BACKGROUND.read_text())
    totals = {int(family): total for family, total in kept["documents"].items()}
    counts = {kind: {int(name, 36): count for name, count in kept[kind].items()} for kind in KINDS}
    return Weights(totals, counts)


def save(fitted: Weights) -> str:
    """The content of `background.json`."""
    kept: dict[str, object] = {"documents": fitted.documents}
    for kind in KINDS:
        rows = fitted.counts[kind].items()
        floors = {family: max(MIN_SHARE[kind] * fitted.documents.get(family, 0), 2) for family in range(8)}
        kept[kind] = {_base36(name): count for name, count in sorted(rows) if count > floors[name & 7]}
    return json.dumps(kept, separators=(",", ":"))


def _base36(value: int) -> str:
    digits = ""
    while value:
        value, rest = divmod(value, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[rest] + digits
    return digits or "0"

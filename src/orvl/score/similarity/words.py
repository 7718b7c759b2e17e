"""The words of a text, in names too: `parseHTTPRequests` and "a parsed request" share two."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
NO_WORDS = re.compile(r"[A-Za-z0-9+/]{80,}+")
"""Data that is written as text."""
SHORTEST, LONGEST = 3, 24
ENDINGS = ("ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "y")


def words(text: str) -> Counter[str]:
    """Sub-tokens in lower case, without their endings, counted."""
    found: Counter[str] = Counter()
    for piece, count in Counter(PIECES.findall(NO_WORDS.sub(" ", text))).items():
        if SHORTEST <= len(piece) <= LONGEST:
            found[stem(piece.lower())] += count
    return found


@lru_cache(20_000)
def stem(word: str) -> str:
    """A word without its ending, so that its forms are one."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word[: -len(ending)]
    return word

"""The words of names and texts: `parseHTTPRequests` and "a parsed request" share two."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PIECES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[^\W\d_A-Z]+")
SHORTEST, LONGEST = 3, 24
ENDINGS = ("ings", "ing", "ies", "ers", "er", "ed", "es", "s", "e", "y")


def words(text: str) -> Iterator[str]:
    """Sub-tokens in lower case, without their endings."""
    for piece in PIECES.findall(text):
        if SHORTEST <= len(piece) <= LONGEST:
            yield stem(piece.lower())


@lru_cache(20_000)
def stem(word: str) -> str:
    """A word without its ending, so that its forms are one."""
    for ending in ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= SHORTEST:
            return word[: -len(ending)]
    return word

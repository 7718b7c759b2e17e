"""Prompts that are too long for a model's context, cut in the middle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SIGNS_A_TOKEN = 32
"""No prompt has more signs a token than this on average; what is longer is cut before its tokens are counted."""
MORE_THAN_NEEDED = 1.01
MARK = "\n[… {} characters left out …]\n"


@dataclass(frozen=True)
class Fitted:
    """Texts that fit, with how many of their characters were left out, and how many tokens they are."""

    texts: list[str]
    left_out: int
    tokens: int


def fit(texts: Sequence[str], room: int, count: Callable[[list[str]], int]) -> Fitted | None:
    """Cuts the longest text in its middle, again and again, until all fit; None where no cut makes them fit."""
    kept = [len(text) for text in texts]
    _shorten(kept, sum(kept) - room * SIGNS_A_TOKEN)
    while True:
        cut = [_cut(text, size) for text, size in zip(texts, kept, strict=True)]
        tokens = count(cut)
        if tokens <= room:
            return Fitted(cut, sum(map(len, texts)) - sum(kept), tokens)
        if not any(kept):
            return None
        _shorten(kept, int((tokens - room) * sum(kept) / tokens * MORE_THAN_NEEDED) + 1)


def _shorten(kept: list[int], excess: int) -> None:
    """Takes the excess away from the longest, and what is then still too much from the next."""
    while excess > 0 and any(kept):
        longest = max(range(len(kept)), key=kept.__getitem__)
        taken = min(excess, kept[longest])
        kept[longest] -= taken
        excess -= taken


def _cut(text: str, size: int) -> str:
    """The beginning and the end of a text, `size` of its characters in all."""
    if size >= len(text):
        return text
    end = size // 2
    return text[: size - end] + MARK.format(len(text) - size) + text[len(text) - end :]

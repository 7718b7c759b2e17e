"""Find slugs that nobody has yet."""

from collections.abc import Iterable


def unique(slug: str, taken: Iterable[str]) -> str:
    """Return *slug* with the lowest number behind it, from 2 on, that makes it differ from all in *taken*."""
    others, candidate, number = frozenset(taken), slug, 1
    while candidate in others:
        number += 1
        candidate = f"{slug}-{number}"
    return candidate

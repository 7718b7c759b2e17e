"""Make slugs from titles."""

import re
import unicodedata
from collections.abc import Iterable
from itertools import count

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_WORD = re.compile(r"[a-z0-9]+")


def slugify(text: str, separator: str = "-", max_length: int | None = None) -> str:
    """Return the words of *text* in lower case, joined by *separator*.

    With *max_length*, only as many whole words as fit into so many characters.
    """
    if max_length is not None and max_length < 1:
        raise ValueError("max_length must be at least 1")
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    words = _WORD.findall(plain.replace("'", ""))
    slug = separator.join(words)
    while max_length is not None and len(slug) > max_length:
        words.pop()
        slug = separator.join(words)
    return slug


def slugify_all(titles: Iterable[str], separator: str = "-", seen: set[str] | None = None) -> list[str]:
    """Return the slugs of *titles* in order, each of them once, without those in *seen*."""
    known = set() if seen is None else seen
    found = dict.fromkeys(slugify(title, separator) for title in titles)
    new = [slug for slug in found if slug and slug not in known]
    known.update(new)
    return new


def is_slug(text: str) -> bool:
    """Tell whether *text* is a slug with the usual separator."""
    return _SLUG.fullmatch(text) is not None


def unique(slug: str, taken: Iterable[str]) -> str:
    """Return *slug*, or the first of slug-2, slug-3, ... that is not in *taken*."""
    used = set(taken)
    if slug not in used:
        return slug
    return next(name for name in (f"{slug}-{number}" for number in count(2)) if name not in used)

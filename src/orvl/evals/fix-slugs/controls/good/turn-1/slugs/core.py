"""Make slugs from titles."""

import re
import unicodedata
from collections.abc import Iterable

_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_WORD = re.compile(r"[a-z0-9]+")


def slugify(text: str, separator: str = "-") -> str:
    """Return the words of *text* in lower case, joined by *separator*."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii").lower()
    return separator.join(_WORD.findall(plain.replace("'", "")))


def slugify_all(titles: Iterable[str], separator: str = "-", seen: set[str] | None = None) -> list[str]:
    """Return the slugs of *titles* in order, each of them once, without those in *seen*."""
    seen = set() if seen is None else seen
    slugs = []
    for title in titles:
        slug = slugify(title, separator)
        if slug and slug not in seen:
            seen.add(slug)
            slugs.append(slug)
    return slugs


def is_slug(text: str) -> bool:
    """Tell whether *text* is a slug with the usual separator."""
    return _SLUG.fullmatch(text) is not None

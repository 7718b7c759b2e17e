"""Make slugs from titles."""

from collections.abc import Iterable, Iterator
from string import ascii_lowercase, digits
from unicodedata import combining, normalize

_SIGNS = frozenset(ascii_lowercase + digits)


def _words(text: str) -> Iterator[str]:
    """Yield the runs of plain letters and digits in *text*; what has no plain form is no part of a word."""
    word = ""
    for sign in normalize("NFKD", text).lower():
        if sign in _SIGNS:
            word += sign
        elif sign == "'" or combining(sign) or not sign.isascii():
            continue
        elif word:
            yield word
            word = ""
    if word:
        yield word


def slugify(text: str, separator: str = "-", max_length: int | None = None) -> str:
    """Return the words of *text* in lower case, joined by *separator*, in *max_length* characters at most."""
    if max_length is not None and max_length <= 0:
        raise ValueError(f"max_length is {max_length}, and must be 1 or more")
    slug = ""
    for word in _words(text):
        longer = slug + separator + word if slug else word
        if max_length is not None and len(longer) > max_length:
            break
        slug = longer
    return slug


def slugify_all(titles: Iterable[str], separator: str = "-", seen: Iterable[str] = ()) -> list[str]:
    """Return the slugs of *titles* in order, each of them once, without those in *seen*."""
    slugs = dict.fromkeys(slugify(title, separator) for title in titles)
    for known in ("", *seen):
        slugs.pop(known, None)
    return list(slugs)


def is_slug(text: str) -> bool:
    """Tell whether *text* is a slug with the usual separator."""
    return all(part and _SIGNS.issuperset(part) for part in text.split("-"))

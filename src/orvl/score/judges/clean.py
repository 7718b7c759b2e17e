"""Text of the work that cannot draw lines or hide signs in what a judge sees."""

from __future__ import annotations

import re

ODD = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\U000e0000-\U000e007f]"
)
LONGEST_NAME = 200


def clean(text: str) -> str:
    """Writes out all signs, but line feeds and tabs, that break lines, turn them round or cannot be seen."""
    lines = text.replace("\r\n", "\n")
    return ODD.sub(lambda found: found[0].encode("unicode_escape", "surrogatepass").decode(), lines)


def name_of(path: str) -> str:
    """A path on one line, not too long."""
    plain = clean(path).replace("\n", "\\n").replace("\t", "\\t")
    return plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + "…"

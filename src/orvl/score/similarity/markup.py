"""The scripts and styles inside HTML, as files of their own."""

from __future__ import annotations

import re
from typing import NamedTuple

OPEN = re.compile(r"<(script|style)\b", re.IGNORECASE)
TYPED = re.compile(r"""lang=["']?tsx?\b""")
LONGEST_TAG = 1000
INSIDE = {"script": "javascript", "style": "css"}


class Part(NamedTuple):
    """A text in one language."""

    language: str
    text: str


def parts(language: str, text: str) -> list[Part]:
    """A file's text, parted by language; an unclosed script goes to the end."""
    if language != "html":
        return [Part(language, text)]
    lower = text.lower()
    if len(lower) != len(text):
        return [Part(language, text)]
    inner, outer, at = [], [], 0
    while opened := OPEN.search(text, at):
        name = opened[1].lower()
        start = lower.find(">", opened.end()) + 1 or len(text)
        end = lower.find(f"</{name}", start)
        end = len(text) if end < 0 else end
        outer.append(text[at:start])
        if text[start:end].strip():
            typed = name == "script" and TYPED.search(text[opened.end() : start][:LONGEST_TAG])
            inner.append(Part("typescript" if typed else INSIDE[name], text[start:end]))
        at = end
    return [Part("html", "".join((*outer, text[at:]))), *inner]

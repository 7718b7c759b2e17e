"""Which languages a file is in, and their parsers."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from posixpath import splitext
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tree_sitter import Language, Tree

SUFFIXES = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    **dict.fromkeys((".html", ".htm", ".vue", ".svelte"), "html"),
    ".css": "css",
    **dict.fromkeys(
        (".c", ".h", ".cc", ".cpp", ".hpp", ".cs", ".go", ".rs", ".java", ".kt", ".swift", ".dart"), "other"
    ),
    **dict.fromkeys((".rb", ".php", ".pl", ".lua", ".sh", ".sql", ".scala", ".ex", ".hs", ".ml", ".r", ".jl"), "other"),
}
OTHER = "other"
"""Code in a language that orvl does not parse; it is compared by tokens."""
PROSE = "prose"
"""Texts, settings and files of unknown kinds: only their words count."""
GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "html": ("tree_sitter_html", "language"),
    "css": ("tree_sitter_css", "language"),
}
FAMILIES = {"python": 1, "javascript": 2, "typescript": 2, "tsx": 2, "html": 3, "css": 4, OTHER: 5}
"""Languages whose syntax is compared with each other; TypeScript without its types is JavaScript."""
ALL_FAMILIES = 0
OPENING_TAG = re.compile(r"<(script|style)\b", re.IGNORECASE)
TYPESCRIPT = re.compile(r"""lang=["']?tsx?\b""")
MAX_TAG = 1000
EMBEDDED = {"script": "javascript", "style": "css"}


def language_of(path: str) -> str:
    """The language of a file, by its name."""
    return SUFFIXES.get(splitext(path)[1].lower(), PROSE)


class SourcePart(NamedTuple):
    """A text in one language."""

    language: str
    text: str


def parts(language: str, text: str) -> list[SourcePart]:
    """A file's text, split by language: scripts and styles in HTML are parts of their own.

    An unclosed script goes to the end.
    """
    if language != "html":
        return [SourcePart(language, text)]
    lower = text.lower()
    # Some characters are two in lower case; places in one text would then not be places in the other.
    if len(lower) != len(text):
        return [SourcePart(language, text)]
    inner, outer, at = [], [], 0
    while opened := OPENING_TAG.search(text, at):
        name = opened[1].lower()
        start = lower.find(">", opened.end()) + 1 or len(text)
        end = lower.find(f"</{name}", start)
        end = len(text) if end < 0 else end
        outer.append(text[at:start])
        if text[start:end].strip():
            typed = name == "script" and TYPESCRIPT.search(text[opened.end() : start][:MAX_TAG])
            inner.append(SourcePart("typescript" if typed else EMBEDDED[name], text[start:end]))
        at = end
    return [SourcePart("html", "".join((*outer, text[at:]))), *inner]


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    module, function = GRAMMARS[language]
    return Language(getattr(import_module(module), function)())


def parse(source: bytes, language: str) -> Tree | None:
    """The syntax tree of a file; None where there is no grammar."""
    if language not in GRAMMARS:
        return None
    from tree_sitter import Parser

    return Parser(_grammar(language)).parse(source)

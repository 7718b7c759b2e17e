"""Which language a file is in, and its parser."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from posixpath import splitext
from typing import TYPE_CHECKING

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
"""Texts, settings and files of no known kind: only their words count."""
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


def language_of(path: str) -> str:
    """The language that a file's name says."""
    return SUFFIXES.get(splitext(path)[1].lower(), PROSE)


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

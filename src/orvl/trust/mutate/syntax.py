"""Files as syntax trees, and edits by byte offset: what all derived controls are made with."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from posixpath import basename, splitext
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from tree_sitter import Language, Node

SUFFIXES = {
    **dict.fromkeys((".py", ".pyw"), "python"),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    **dict.fromkeys((".html", ".htm"), "html"),
    ".css": "css",
}
GRAMMARS = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "html": ("tree_sitter_html", "language"),
    "css": ("tree_sitter_css", "language"),
}
SCRIPTS = ("javascript", "typescript", "tsx")
SCRIPT_TYPES = re.compile(rb"""\btype\s*=\s*["']?(?!module\b|text/javascript|application/javascript)[^\s"'>]""", re.I)
TEST_FILE = re.compile(r"(^|/)(tests?|__tests__|spec)/|(^|/)(test_[^/]*|conftest)\.py$|([._]test|[._]spec)\.[a-z]+$")


@dataclass(frozen=True)
class Edit:
    """Bytes that replace others."""

    start: int
    end: int
    text: bytes


@dataclass(frozen=True)
class Piece:
    """A file in one language, or a script or style inside a page, with the offset where it begins."""

    language: str
    offset: int
    source: bytes
    root: Node

    def text(self, node: Node) -> str:
        return self.source[node.start_byte : node.end_byte].decode()

    def edit(self, node: Node, text: str) -> Edit:
        """The edit of the whole file that replaces a node by a text."""
        return self.edit_at(node.start_byte, node.end_byte, text)

    def edit_at(self, start: int, end: int, text: str) -> Edit:
        return Edit(self.offset + start, self.offset + end, text.encode())


def language_of(path: str) -> str | None:
    """The language by a file's name; None where orvl does not parse it."""
    return SUFFIXES.get(splitext(path)[1].lower())


def is_test(path: str) -> bool:
    return TEST_FILE.search(path) is not None


def is_prose(path: str) -> bool:
    return splitext(path)[1].lower() in (".md", ".txt", ".rst") or basename(path).upper() in ("README", "LICENSE")


def text_of(source: bytes) -> str | None:
    """A file's text; None where it is not text."""
    try:
        return None if b"\0" in source else source.decode()
    except UnicodeDecodeError:
        return None


@cache
def _grammar(language: str) -> Language:
    from tree_sitter import Language

    module, function = GRAMMARS[language]
    return Language(getattr(import_module(module), function)())


def parse(source: bytes, language: str) -> Node:
    from tree_sitter import Parser

    return Parser(_grammar(language)).parse(source).root_node


def walk(node: Node, skip: Iterable[str] = ()) -> Iterator[Node]:
    """A node and all below it in source order, without nodes of the types to skip and what is below them."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.type in skip:
            continue
        yield one
        waiting.extend(reversed(one.children))


def pieces(path: str, source: bytes) -> tuple[Piece, ...]:
    """The parts of a file that can be parsed; what has syntax errors is left out."""
    language = language_of(path)
    if language is None or text_of(source) is None:
        return ()
    root = parse(source, language)
    if root.has_error:
        return ()
    whole = Piece(language, 0, source, root)
    return (whole, *_islands(whole)) if language == "html" else (whole,)


def _islands(page: Piece) -> Iterator[Piece]:
    languages = {"script_element": "javascript", "style_element": "css"}
    for node in walk(page.root):
        if node.type not in languages or SCRIPT_TYPES.search(page.source, node.start_byte, node.children[0].end_byte):
            continue
        for raw in node.children:
            if raw.type != "raw_text":
                continue
            source = page.source[raw.start_byte : raw.end_byte]
            root = parse(source, languages[node.type])
            if not root.has_error:
                yield Piece(languages[node.type], raw.start_byte, source, root)


def apply(source: bytes, edits: Iterable[Edit]) -> bytes:
    """The source with the edits applied; of two that overlap, the first wins."""
    parts, at = [], 0
    for edit in sorted(edits, key=lambda one: (one.start, one.end)):
        if edit.start < at:
            continue
        parts += [source[at : edit.start], edit.text]
        at = edit.end
    return b"".join([*parts, source[at:]])


def is_sound(path: str, source: bytes) -> bool:
    """Whether a file, with the scripts in it, can still be parsed."""
    language = language_of(path)
    if language is None:
        return True
    root = parse(source, language)
    if root.has_error:
        return False
    if language == "html":
        return all(
            not parse(piece.source, piece.language).has_error for piece in _islands(Piece("html", 0, source, root))
        )
    if language != "python":
        return True
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def line_of(source: bytes, at: int) -> int:
    return source.count(b"\n", 0, at) + 1


def is_docstring(node: Node) -> bool:
    """Whether a Python node is a string that is a statement by itself."""
    statement = node.parent
    return node.type == "string" and statement is not None and statement.type == "expression_statement"

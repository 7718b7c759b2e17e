"""Good files with everything that works removed: the bad control of an eval that has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.mutate.candidates import FUNCTIONS
from orvl.trust.mutate.syntax import Piece, apply, is_prose, is_sound, language_of, pieces, text_of, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from orvl.trust.mutate.syntax import Edit

DATA = (".json", ".toml", ".yaml", ".yml", ".lock", ".cfg", ".ini", ".svg")
KEPT = {
    *("import_statement", "import_from_statement", "future_import_statement", "function_definition", "comment"),
    *("class_definition", "decorated_definition", "class_declaration", "function_declaration", "export_statement"),
    *("lexical_declaration", "variable_declaration", "generator_function_declaration"),
}


def gutted(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same file names, with functions that do nothing, pages that show nothing and texts that say nothing."""
    return {path: _gutted(path, content) for path, content in files.items()}


def _gutted(path: str, content: bytes) -> bytes:
    if text_of(content) is None or path.endswith(DATA):
        return content
    if language_of(path) is None or is_prose(path):
        return b""
    found = pieces(path, content)
    if not found:
        return b""
    page = found[0].language == "html"
    edits = [edit for piece in found[: 1 if page else None] for edit in (_page if page else _code)(piece)]
    result = apply(content, edits)
    return result if is_sound(path, result) else b""


def _page(piece: Piece) -> Iterator[Edit]:
    """Nothing between the tags of the body, and no scripts."""
    for node in walk(piece.root):
        if node.type in ("script_element", "style_element"):
            yield piece.edit(node, "")
        elif node.type == "start_tag" and piece.text(node).lower().startswith("<body") and node.parent is not None:
            yield piece.edit_at(node.start_byte, node.end_byte, "<body>")
            last = node.parent.children[-1]
            end = last.start_byte if last.type == "end_tag" else last.end_byte
            yield piece.edit_at(node.end_byte, end, "\n")


def _code(piece: Piece) -> Iterator[Edit]:
    """Empty function bodies, and no statements that run when the file does."""
    if piece.language == "css":
        yield piece.edit(piece.root, "")
        return
    for child in piece.root.named_children:
        if child.type not in KEPT and not _is_value(child):
            yield piece.edit(child, "")
    for node in walk(piece.root):
        body = node.child_by_field_name("body") if node.type in FUNCTIONS else None
        if body is not None and body.type in ("block", "statement_block"):
            yield piece.edit(body, "return None" if piece.language == "python" else "{}")


def _is_value(node: Node) -> bool:
    """Whether a statement only names a plain value, which other files may import."""
    held = node.named_children[0] if node.type == "expression_statement" and node.named_children else node
    value = held.child_by_field_name("right") if held.type == "assignment" else None
    return value is not None and value.type in (
        "string",
        "integer",
        "float",
        "list",
        "dictionary",
        "tuple",
        "true",
        "false",
    )

"""The places in a program where one small change is a bug, and the change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.trust.mutate.operators import bugs_at
from orvl.trust.mutate.syntax import Edit, Piece, is_docstring, line_of, pieces, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

FUNCTIONS = {
    *("function_definition", "function_declaration", "method_definition", "function_expression", "arrow_function"),
    *("generator_function_declaration", "generator_function"),
}
SKIPPED = {
    *("comment", "import_statement", "import_from_statement", "future_import_statement", "decorator", "type"),
    *("type_annotation", "parameters", "formal_parameters", "lambda_parameters", "assert_statement"),
    *("raise_statement", "throw_statement", "interface_declaration", "type_alias_declaration", "enum_declaration"),
}
BLOCKS = {"if_statement", "for_statement", "for_in_statement", "try_statement", "with_statement", "match_statement"}
ENDLESS = re.compile(r"((?<![.\w])|\bitertools\.)(count|cycle|repeat)\(")
EXITS = {"return_statement", "raise_statement", "throw_statement"}


@dataclass(frozen=True)
class Bug:
    """One change of one place; `rank` is low where the change surely matters."""

    path: str
    line: int
    kind: str
    function: tuple[str, int]
    """Its name and where it begins; two bugs in one place would hide each other."""
    edit: Edit
    rank: int = 0

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}"


def candidates(path: str, source: bytes, others: Mapping[str, str] | None = None) -> list[Bug]:
    """Every bug that could be planted in a file, in the order of its text; `others` are the texts of the project."""
    found = []
    for piece in pieces(path, source):
        if piece.language == "html":
            rows = _page_bugs(piece, path, others or {})
        elif piece.language == "css":
            rows = _style_bugs(piece)
        else:
            rows = _code_bugs(piece)
        for node, kind, rank, edit, function in rows:
            if _may_hang(piece, node):
                continue
            name, start = function
            line = line_of(source, edit.start)
            found.append(Bug(path, line, kind, (name, piece.offset + start), edit, rank + 3 * _is_gate(node)))
    return found


Row = tuple["Node", str, int, Edit, tuple[str, int]]


def _code_bugs(piece: Piece) -> Iterator[Row]:
    waiting: list[tuple[Node, tuple[str, int]]] = [(piece.root, ("", 0))]
    while waiting:
        node, function = waiting.pop()
        if node.type in SKIPPED or is_docstring(node) or _is_guard(piece, node):
            continue
        if node.type in FUNCTIONS:
            function = _function(piece, node, function)
        for kind, rank, edit in bugs_at(piece, node):
            yield node, kind, rank, edit, function
        waiting.extend((child, function) for child in reversed(node.children))


def _is_guard(piece: Piece, node: Node) -> bool:
    condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
    return condition is not None and "__name__" in piece.text(condition)


def _function(piece: Piece, node: Node, outer: tuple[str, int]) -> tuple[str, int]:
    """The function that a place belongs to: callbacks belong to the named function around them."""
    name = node.child_by_field_name("name")
    holder = node.parent
    if name is None and holder is not None and holder.type in ("variable_declarator", "pair"):
        name = holder.child_by_field_name("name") or holder.child_by_field_name("key")
    if name is None:
        return outer if outer[0] else ("", node.start_byte)
    return (piece.text(name), node.start_byte)


def _may_hang(piece: Piece, node: Node) -> bool:
    """Whether a bug here could keep a loop from ending: then the program would hang instead of being wrong."""
    at: Node | None = node
    while at is not None and at.type not in FUNCTIONS:
        is_simple = at.type.endswith("statement") and at.type not in BLOCKS
        if at.type in ("while_statement", "do_statement") or (is_simple and ENDLESS.search(piece.text(at))):
            return True
        if at.parent is not None and at.parent.type == "for_statement" and _is_head(at, at.parent):
            return True
        at = at.parent
    return False


def _is_head(node: Node, loop: Node) -> bool:
    """Whether a node is one of the three parts in the head of a counting loop."""
    return loop.child_by_field_name("condition") is not None and node != loop.child_by_field_name("body")


def _is_gate(node: Node) -> bool:
    """Whether a place is in a condition that guards the rest of a function: breaking it would break everything."""
    at = node
    while at.parent is not None and not at.type.endswith(("statement", "clause", "block")):
        at = at.parent
    if at.type != "if_statement":
        return False
    body = at.child_by_field_name("consequence")
    is_in_body = body is not None and body.start_byte <= node.start_byte
    return body is not None and not is_in_body and any(child.type in EXITS for child in (body, *body.children))


def _page_bugs(piece: Piece, path: str, others: Mapping[str, str]) -> Iterator[Row]:
    """Handlers removed, and ids changed that scripts or labels refer to."""
    whole = piece.source.decode() + "".join(text for other, text in others.items() if other != path)
    for node in walk(piece.root):
        if node.type != "attribute" or len(node.children) < 3:
            continue
        name, value = piece.text(node.children[0]).lower(), piece.text(node.children[-1]).strip("\"'")
        where = (value, node.start_byte)
        if name.startswith("on"):
            yield node, "drop-handler", 1, piece.edit_at(node.start_byte - 1, node.end_byte, ""), where
        elif name == "id" and re.fullmatch(r"[\w-]+", value) and len(re.findall(rf"[\"'#]{value}\b", whole)) > 1:
            yield node, "break-id", 1, piece.edit(node.children[-1], f'"{value}-x"'), where


def _style_bugs(piece: Piece) -> Iterator[Row]:
    for node in walk(piece.root):
        if node.type == "class_name" and node.parent is not None and node.parent.type == "class_selector":
            yield (
                node,
                "break-selector",
                6,
                piece.edit(node, f"{piece.text(node)}-x"),
                (piece.text(node), node.start_byte),
            )

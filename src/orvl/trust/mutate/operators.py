"""Mutation operators: the small changes to one node of a syntax tree that make a bug."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.trust.mutate.syntax import SCRIPTS, Edit, Piece

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

Change = tuple[str, int, Edit]
"""The kind of a bug, its rank (low where it surely matters), and the edit."""
PAIRS = (("<", ">="), (">", "<="), ("==", "!="), ("===", "!=="), ("in", "not in"), ("is", "is not"))
FLIPS = dict(PAIRS) | {new: old for old, new in PAIRS}
ARITHMETIC = {"-": "+", "*": "-", "/": "*"}
LOGIC = {"and": "or", "or": "and", "&&": "||", "||": "&&"}
STATE = re.compile(
    r"(save|write|store|append|add|insert|push|set|update|remove|delete|pop|commit|render|draw|emit|send)"
)
QUIET = re.compile(r"(log|warn|debug|super|stderr|console|close|flush|add_argument|add_parser|assert|configure)")
SYMMETRIC = {
    *("min", "max", "isinstance", "issubclass", "hasattr", "getattr", "zip", "print", "gcd", "Math.min", "Math.max"),
}
COSMETIC = re.compile(
    r"(indent|width|timeout|port|encoding|errors|mode|help|description|metavar|dest|type|size|version)"
)
SHOWING = re.compile(r"(print|write|textContent|innerText|innerHTML|alert|log|label|title)")


def bugs_at(piece: Piece, node: Node) -> Iterator[Change]:
    """The bugs that a node allows, each with its kind, rank and edit."""
    if node.type in ("comparison_operator", "binary_expression"):
        yield from _flip(piece, node)
    elif node.type in ("if_statement", "elif_clause", "if_clause", "conditional_expression", "ternary_expression"):
        yield from _negate(piece, node)
    elif node.type == "binary_operator":
        yield from _arithmetic(piece, node)
    elif node.type == "boolean_operator":
        operator = node.child_by_field_name("operator")
        if operator is not None:
            yield "swap-logic", 1, piece.edit(operator, LOGIC[operator.type])
    elif node.type == "return_statement":
        yield from _drop_return(piece, node)
    elif node.type in ("integer", "number"):
        yield from _off_by_one(piece, node)
    elif node.type == "expression_statement":
        yield from _drop_call(piece, node)
    elif node.type in ("await", "await_expression") and len(node.children) == 2:
        yield "drop-await", 2, piece.edit_at(node.start_byte, node.children[1].start_byte, "")
    elif node.type in ("call", "call_expression"):
        yield from _swap_arguments(piece, node)
    elif node.type in ("string_content", "string_fragment"):
        yield from _wrong_constant(piece, node)


def _flip(piece: Piece, node: Node) -> Iterator[Change]:
    if len(node.children) != 3:
        return
    operator = node.children[1]
    mark = " ".join(piece.text(operator).split())
    if mark in FLIPS:
        yield "flip-comparison", 1 if mark.startswith("is") else 0, piece.edit(operator, FLIPS[mark])
    elif mark in ("&&", "||") and piece.language in SCRIPTS:
        yield "swap-logic", 1, piece.edit(operator, LOGIC[mark])
    else:
        yield from _arithmetic(piece, node)


def _arithmetic(piece: Piece, node: Node) -> Iterator[Change]:
    """Another operator between numbers; strings, which `+` joins and `%` fills, and paths stay."""
    if len(node.children) == 3 and not re.search("[\"'`]", piece.text(node)):
        operator = node.children[1]
        if operator.type in ARITHMETIC:
            yield "swap-arithmetic", 1, piece.edit(operator, ARITHMETIC[operator.type])


def _negate(piece: Piece, node: Node) -> Iterator[Change]:
    condition = node.child_by_field_name("condition")
    if condition is None and node.type == "conditional_expression":
        condition = node.children[2]
    elif condition is None and node.type == "if_clause":
        condition = node.children[1]
    if condition is None or _is_comparison(condition):
        return
    text = piece.text(condition)
    if piece.language in SCRIPTS:
        yield "negate-condition", 0, piece.edit(condition, f"(!{text})" if text.startswith("(") else f"!({text})")
    elif condition.type == "not_operator":
        yield "negate-condition", 0, piece.edit(condition, piece.text(condition.children[-1]))
    else:
        is_one = condition.type in ("identifier", "call", "attribute", "subscript")
        yield (
            "negate-condition",
            0 if is_one else 1,
            piece.edit(condition, f"not {text}" if is_one else f"not ({text})"),
        )


def _is_comparison(node: Node) -> bool:
    while node.type == "parenthesized_expression" and len(node.children) == 3:
        node = node.children[1]
    return node.type in ("comparison_operator", "binary_expression") and len(node.children) == 3


def _drop_return(piece: Piece, node: Node) -> Iterator[Change]:
    values = [child for child in node.children[1:] if child.type not in (";", "comment")]
    if len(values) != 1 or piece.text(values[0]) in (
        "None",
        "null",
        "undefined",
        "False",
        "false",
        "0",
        "''",
        '""',
        "[]",
    ):
        return
    if values[0].type not in ("integer", "number"):
        yield "drop-return", 3, piece.edit(values[0], "None" if piece.language == "python" else "null")


def _off_by_one(piece: Piece, node: Node) -> Iterator[Change]:
    text, holder = piece.text(node), node.parent
    if not text.isdigit() or holder is None or len(text) > 6:
        return
    if holder.type in ("keyword_argument", "pair") and COSMETIC.search(piece.text(holder.children[0])):
        return
    yield "off-by-one", 2, piece.edit(node, str(int(text) + 1))


def _drop_call(piece: Piece, node: Node) -> Iterator[Change]:
    call = node.children[0] if node.children else None
    if call is not None and call.type in ("await", "await_expression"):
        call = call.children[-1]
    if call is None or call.type not in ("call", "call_expression") or QUIET.search(piece.text(call)):
        return
    name = piece.text(call.children[0]).rpartition(".")[2]
    empty = "pass" if piece.language == "python" else ";"
    yield "drop-call", 1 if STATE.match(name) else 3, piece.edit(node, empty)


def _swap_arguments(piece: Piece, node: Node) -> Iterator[Change]:
    given = node.child_by_field_name("arguments")
    if given is None or given.type == "generator_expression" or piece.text(node.children[0]) in SYMMETRIC:
        return
    values = given.named_children
    names = [piece.text(value) for value in values]
    if len(values) == 2 and all(value.type == "identifier" for value in values) and names[0] != names[1]:
        yield "swap-arguments", 4, piece.edit_at(values[0].start_byte, values[1].end_byte, f"{names[1]}, {names[0]}")


def _wrong_constant(piece: Piece, node: Node) -> Iterator[Change]:
    text, place = piece.text(node), node.parent
    words = list(re.finditer(r"[A-Za-z]{3,}", text))
    while place is not None and place.type in ("string", "template_string", "list", "array", "binary_operator"):
        place = place.parent
    if not words or place is None or re.search(r"[\\{}<>%]", text):
        return
    if place.type in ("argument_list", "arguments") and place.parent is not None:
        is_seen = bool(SHOWING.search(piece.text(place.parent.children[0]))) and "stderr" not in piece.text(place)
    else:
        is_seen = place.type in ("return_statement", "assignment_expression", "boolean_operator", "case_pattern")
    if is_seen:
        end = words[0].end()
        yield "wrong-constant", 3, piece.edit(node, text[: end - 1] + text[end:])

"""Which names in a file can be replaced by meaningless ones without anything outside breaking, and where they are.

A name is replaced everywhere in a file or nowhere, and by one that the file does not have: so no scope is mixed up
with another. Names that other files may use stay.
"""

from __future__ import annotations

import builtins
import keyword
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.trust.mutate.source import keywords_in
from orvl.trust.mutate.syntax import Piece, walk

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from tree_sitter import Node

LETTERS = "abcdefghjkmnpqrstuvwxyz"
REFLECTION = {"eval", "exec", "globals", "locals", "vars", "with_statement", "Function"}
SCOPES = {
    *("function_definition", "lambda", "list_comprehension", "set_comprehension", "dictionary_comprehension"),
    *("generator_expression", "function_declaration", "function_expression", "arrow_function", "method_definition"),
    *("generator_function_declaration", "generator_function", "module", "program", "class_definition", "class_body"),
    *("function_type", "function_signature", "method_signature"),
}
PATTERNS = {
    *("pattern_list", "tuple_pattern", "list_pattern", "list_splat_pattern", "dictionary_splat_pattern"),
    *("object_pattern", "array_pattern", "rest_pattern", "pair_pattern", "splat_pattern", "as_pattern_target"),
    *("assignment_pattern", "object_assignment_pattern", "required_parameter", "optional_parameter"),
    *("typed_parameter", "default_parameter", "typed_default_parameter", "case_pattern", "dotted_name"),
}
TARGETS = {
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "for_in_statement": "left",
    "named_expression": "name",
    "function_definition": "name",
    "as_pattern": "alias",
    "variable_declarator": "name",
    "function_declaration": "name",
    "generator_function_declaration": "name",
    "catch_clause": "parameter",
    "arrow_function": "parameter",
}
GLOBAL = re.compile(r"(window|globalThis|self|global)\s*[.\[]")
PARAMETERS = {"parameters", "lambda_parameters", "formal_parameters"}
IDENTIFIERS = {"identifier", "shorthand_property_identifier", "shorthand_property_identifier_pattern"}


@dataclass
class Names:
    """What a piece does with names: where each is bound and used, and which must stay."""

    bound: dict[str, set[int]] = field(default_factory=dict)
    """The scopes that bind a name, by the place at which they begin and end."""
    seen: dict[str, list[Node]] = field(default_factory=dict)
    outer: set[str] = field(default_factory=set)
    parameters: set[str] = field(default_factory=set)
    hinted: set[str] = field(default_factory=set)
    """Ways in which a string, or a property of the global object, may refer to a name of the outermost scope."""
    kept: set[str] = field(default_factory=set)


def replacements(piece: Piece, mentioned: Collection[str], keywords: Collection[str]) -> dict[str, str]:
    """New names for those that can be replaced.

    `mentioned` are the words of other files, and `keywords` those by which parameters may be given.
    """
    names = _collect(piece)
    if names is None:
        return {}
    own_keywords = keywords_in(piece.source.decode()) if piece.language == "python" else ()
    public = names.hinted | set(mentioned)
    result, number = {}, 0
    taken = set(re.findall(r"[\w$]+", piece.source.decode())) | set(mentioned)
    for name in names.bound:
        stays = name in names.kept or (name in names.outer and name in public) or not _resolves(names, name)
        stays = stays or (name in names.parameters and (name in own_keywords or name in keywords))
        is_known = piece.language == "python" and hasattr(builtins, name)
        if stays or is_known or len(name) < 3 or name.startswith("__"):
            continue
        new = ""
        while not new or new in taken or keyword.iskeyword(new):
            # A name that says that it is private goes on saying so.
            new = f"{'_' * name.startswith('_')}{LETTERS[number % len(LETTERS)]}{number // len(LETTERS) + 1}"
            number += 1
        result[name] = new
    return result


def occurrences(piece: Piece, names: Collection[str]) -> Iterator[tuple[Node, str]]:
    """Each place where one of these names is a variable, with the text to put before its new name."""
    for node in walk(piece.root):
        if node.type in IDENTIFIERS and piece.text(node) in names and not _is_label(node):
            shorthand = node.type.startswith("shorthand")
            yield node, f"{piece.text(node)}: " if shorthand else ""


def _collect(piece: Piece) -> Names | None:
    """None where the program can inspect its own names."""
    names = Names()
    for node in walk(piece.root):
        if node.type in TARGETS:
            target = node.child_by_field_name(TARGETS[node.type])
            if target is not None and not _is_known_elsewhere(node):
                _bind(piece, names, target, node)
        elif node.type in PARAMETERS:
            for child in node.named_children:
                _bind(piece, names, child, node)
        elif node.type in ("case_pattern", "splat_pattern"):
            _bind(piece, names, node, node)
        if node.type in IDENTIFIERS:
            text = piece.text(node)
            if text in REFLECTION:
                return None
            if not _is_label(node):
                names.seen.setdefault(text, []).append(node)
        if node.type == "subscript_expression" and GLOBAL.match(piece.text(node)):
            return None
        _keep(piece, names, node)
    return names


def _is_known_elsewhere(node: Node) -> bool:
    return node.type == "for_in_statement" and not any(child.type in ("const", "let", "var") for child in node.children)


def _bind(piece: Piece, names: Names, target: Node, holder: Node) -> None:
    waiting = [target]
    while waiting:
        node = waiting.pop()
        if node.type in ("identifier", "shorthand_property_identifier_pattern"):
            text = piece.text(node)
            scope = _scope(node, is_function=TARGETS.get(holder.type) == "name" and "function" in holder.type)
            names.bound.setdefault(text, set()).add(scope.id)
            if scope.type in ("module", "program"):
                names.outer.add(text)
            if scope.type in ("class_definition", "class_body"):
                names.kept.add(text)
            if holder.type in PARAMETERS:
                names.parameters.add(text)
                if _is_for_others(piece, scope):
                    names.kept.add(text)
        elif node.type in PATTERNS or node == target:
            if node.type == "dotted_name" and len(node.named_children) > 1:
                continue
            waiting.extend(_parts(node))


def _parts(node: Node) -> list[Node]:
    """The parts of a pattern that can bind names: not types, and not default values."""
    if node.type in ("attribute", "subscript", "member_expression", "subscript_expression", "call"):
        return []
    skipped = [node.child_by_field_name(name) for name in ("type", "value", "right", "key")]
    if node.type == "pair_pattern":
        skipped[1] = None
    return [child for child in node.named_children if child not in skipped]


def _scope(node: Node, is_function: bool) -> Node:
    """The scope that a binding belongs to; a function's own name belongs to the one around it."""
    at = node.parent
    inside = False
    while at is not None and at.parent is not None:
        if at.type in SCOPES:
            if not is_function or inside:
                return at
            inside = True
        at = at.parent
    assert at is not None
    return at


def _is_for_others(piece: Piece, scope: Node) -> bool:
    """Whether other code calls a function, and may pass its parameters by name."""
    name = scope.child_by_field_name("name")
    is_decorated = scope.parent is not None and scope.parent.type == "decorated_definition"
    return is_decorated or (name is not None and piece.text(name).startswith(("test", "pytest_", "__")))


def _keep(piece: Piece, names: Names, node: Node) -> None:
    if node.type in ("import_statement", "import_from_statement", "export_statement", "import_clause"):
        declared = [node] if node.type != "export_statement" else [*_exported(node)]
        for one in declared:
            names.kept.update(piece.text(inner) for inner in walk(one) if inner.type == "identifier")
    elif node.type == "string_content":
        names.hinted.add(piece.text(node))
    elif node.type == "member_expression" and GLOBAL.match(piece.text(node)):
        names.hinted.add(piece.text(node.children[-1]))
    elif node.type == "interpolation" and any(child.type == "=" for child in node.children):
        names.kept.update(piece.text(inner) for inner in walk(node) if inner.type == "identifier")
    elif node.type.startswith("jsx_") and (name := node.child_by_field_name("name")) is not None:
        names.kept.add(piece.text(name))
    elif node.type == "accessibility_modifier" and node.parent is not None:
        names.kept.update(piece.text(inner) for inner in walk(node.parent) if inner.type == "identifier")
    elif node.type in ("class_definition", "class_declaration") and (name := node.child_by_field_name("name")):
        names.kept.add(piece.text(name))


def _exported(node: Node) -> Iterator[Node]:
    """The names that an export makes public, without those inside it."""
    for child in node.named_children:
        name = child.child_by_field_name("name")
        if child.type in ("export_clause", "identifier"):
            yield child
        elif name is not None:
            yield name
        elif child.type in ("lexical_declaration", "variable_declaration"):
            yield from (inner for row in child.named_children if (inner := row.child_by_field_name("name")) is not None)


def _is_label(node: Node) -> bool:
    """Whether an identifier is not a variable: an attribute, the name of a keyword, or part of an import."""
    holder = node.parent
    if holder is None:
        return False
    if holder.type in ("keyword_argument", "keyword_pattern"):
        return holder.named_children[0] == node
    if holder.type == "attribute":
        return holder.child_by_field_name("attribute") == node
    return holder.type == "dotted_name" and holder.named_children[0] != node


def _resolves(names: Names, name: str) -> bool:
    """Whether every use of a name is inside a scope that binds it."""
    for node in names.seen.get(name, ()):
        at = node.parent
        while at is not None and at.id not in names.bound[name]:
            at = at.parent
        if at is None:
            return False
    return True

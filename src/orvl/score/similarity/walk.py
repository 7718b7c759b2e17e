"""One pass over a syntax tree, without recursion: subtree hashes, API calls, literals, and the names it defines."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from orvl.capture.languages import FAMILIES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tree_sitter import Node

MIN_NODES, MAX_NODES = 3, 60
"""Sizes of subtrees that count: smaller ones every program has, larger ones no other."""
MASK = (1 << 32) - 1
TYPES = frozenset(
    ("type_annotation", "type_arguments", "type_parameters", "type", "interface_declaration", "type_alias_declaration")
)
WRAPPERS = frozenset(("required_parameter", "optional_parameter", "as_expression", "non_null_expression"))
"""What TypeScript puts around a node that JavaScript has bare: skipped, so that both compare."""
OPEN = -1
NOT_CODE = TYPES | {"comment", "html_comment", "ERROR"}
CALLS = {"call": "function", "call_expression": "function", "new_expression": "constructor"}
DEFINITIONS = {
    **dict.fromkeys(("function_definition", "class_definition"), "name"),
    **dict.fromkeys(("function_declaration", "generator_function_declaration", "class_declaration"), "name"),
    **dict.fromkeys(("method_definition", "variable_declarator", "function_expression", "class"), "name"),
    **dict.fromkeys(("field_definition", "public_field_definition"), "property"),
    **dict.fromkeys(("assignment", "assignment_expression", "for_statement", "for_in_clause"), "left"),
    **dict.fromkeys(("default_parameter", "typed_default_parameter"), "name"),
    **dict.fromkeys(("required_parameter", "optional_parameter"), "pattern"),
    "arrow_function": "parameter",
    "pair": "key",
}
FUNCTIONS = frozenset(
    ("function_definition", "function_declaration", "generator_function_declaration", "method_definition")
)
NOT_PART = frozenset(
    ("import_statement", "import_from_statement", "future_import_statement", "comment", "interface_declaration")
) | {"type_alias_declaration"}
AROUND_FUNCTIONS = frozenset(
    ("decorated_definition", "export_statement", "lexical_declaration", "variable_declaration")
)
VALUES = {"variable_declarator": "value", "pair": "value", "assignment_expression": "right"}
MEMBERS = {"attribute": "attribute", "member_expression": "property"}
PARAMETERS = frozenset(("parameters", "formal_parameters", "lambda_parameters"))
GROUPS = frozenset(("pattern_list", "tuple_pattern", "list_splat_pattern", "dictionary_splat_pattern", "array_pattern"))
NAMES = frozenset(
    ("identifier", "property_identifier", "shorthand_property_identifier_pattern", "private_property_identifier")
)
TEXTS = frozenset(("string_content", "string_fragment", "attribute_value"))
NUMBERS = frozenset(("integer", "float", "number"))
COMMON_NUMBERS = frozenset(("0", "1", "2"))
KEPT_LEAVES = frozenset(("tag_name", "attribute_name", "property_name", "plain_value", "feature_name", "unit"))
"""Leaves whose text is part of the structure: nobody can rename them in markup."""
TAGS = frozenset(("start_tag", "self_closing_tag", "jsx_opening_element", "jsx_self_closing_element"))
MAX_LITERAL = 120
NAMED_BY_AUTHOR = frozenset((b"class", b"id", b"for", b"name"))


class Rule(NamedTuple):
    """What a kind of node means."""

    note: Callable[[Walk, Node], None] | None
    hash: int
    is_code: bool
    is_wrapper: bool = False
    is_kept: bool = False
    is_statement: bool = False


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _rules(language: str) -> dict[int, Rule]:  # noqa: ARG001 - a table for each language
    return {}


class Walk:
    """Collects the features of one tree."""

    def __init__(self, language: str) -> None:
        self.language = language
        self.family = FAMILIES.get(language, 0)
        self.subtrees: Counter[int] = Counter()
        self.api: Counter[str] = Counter()
        self.literals: Counter[str] = Counter()
        self.defined: set[str] = set()
        self.functions: list[tuple[str, Node]] = []
        self._attribute: bytes | None = None

    def visit(self, root: Node) -> None:
        """Walks the named nodes down and up again; `above` has hash and size of each node that is not yet closed.

        Without recursion: a hostile file nests deeper than Python's stack.
        """
        rules = _rules(self.language)
        above = [[0, 0]]
        todo: list[Node | None] = [root]
        while todo:
            node = todo.pop()
            if node is None:
                self._close(above)
                continue
            kind = node.kind_id
            rule = rules.get(kind) or rules.setdefault(kind, _rule(node.type, self.family))
            note, mixed, is_code, is_wrapper, is_kept, is_statement = rule
            if not is_code or (is_statement and _is_doc(node)):
                continue
            if note:
                note(self, node)
            if is_kept:
                mixed = _hash(f"{node.type} {_text(node)}", self.family)
            if node.named_child_count:
                above.append([OPEN, 0] if is_wrapper else [mixed, 1])
                todo.append(None)
                todo += node.named_children[::-1]
            elif not is_wrapper:
                _mix(above[-1], mixed, 1)

    def _close(self, above: list[list[int]]) -> None:
        """A node is complete: it counts, and is mixed into the node over it."""
        mixed, size = above.pop()
        if mixed != OPEN:
            if MIN_NODES <= size <= MAX_NODES:
                self.subtrees[mixed << 3 | self.family] += 1
            _mix(above[-1], mixed, size)

    def _called(self, node: Node) -> None:
        target = node.child_by_field_name(CALLS[node.type])
        if target is not None and target.type in MEMBERS:
            target = target.child_by_field_name(MEMBERS[target.type])
        if target is not None and target.type in NAMES:
            self.api[_text(target)] += 1

    def _define(self, node: Node) -> None:
        kind = node.type
        target = node.child_by_field_name(DEFINITIONS[kind])
        if target is None:
            return
        self._bind(target)
        if kind in FUNCTIONS or _is_named_function(node):
            self.functions.append((_text(target), node))

    def _bind(self, target: Node) -> None:
        """Notes the names that an assignment, a parameter or a definition binds."""
        if target.type in MEMBERS:
            inner = target.child_by_field_name("object")
            member = target.child_by_field_name(MEMBERS[target.type])
            if inner is not None and member is not None and inner.text in (b"self", b"cls", b"this"):
                self.defined.add(_text(member))
        elif target.type in NAMES:
            self.defined.add(_text(target))
        elif target.type in GROUPS:
            for child in target.named_children:
                if child.type in NAMES:
                    self.defined.add(_text(child))

    def _literal(self, node: Node) -> None:
        text = _text(node)
        if node.type == "attribute_value" and self._attribute in NAMED_BY_AUTHOR:
            return
        text = text.strip()
        if 1 < len(text) <= MAX_LITERAL:
            self.literals[f"text {text}"] += 1

    def _imports(self, node: Node) -> None:
        for child in node.named_children:
            if child.type == "aliased_import":
                child = child.named_children[0]
            if child.type == "dotted_name":
                self.literals[f"import {_text(child)}"] += 1

    def _tag(self, node: Node) -> None:
        tag = ""
        for child in node.named_children:
            if child.type in ("tag_name", "identifier"):
                tag = _text(child)
                self.api[f"<{tag}>"] += 1
            elif child.type in ("attribute", "jsx_attribute") and child.named_children:
                self.api[f"<{tag} {_text(child.named_children[0])}>"] += 1

    def _declaration(self, node: Node) -> None:
        text = _text(node).strip("; \n")
        if len(text) <= MAX_LITERAL and ":" in text:
            name, value = text.split(":", 1)
            self.api[f"{name.strip()}:"] += 1
            self.literals[f"style {name.strip()}: {' '.join(value.split())}"] += 1

    def _parameters(self, node: Node) -> None:
        for child in node.named_children:
            self._bind(child)

    def _attribute_name(self, node: Node) -> None:
        self._attribute = node.text

    def _number(self, node: Node) -> None:
        if (text := _text(node)) not in COMMON_NUMBERS:
            self.literals[f"number {text[:MAX_LITERAL]}"] += 1


NOTES: dict[str, Callable[[Walk, Node], None]] = {
    **dict.fromkeys(CALLS, Walk._called),
    **dict.fromkeys(DEFINITIONS, Walk._define),
    **dict.fromkeys(PARAMETERS, Walk._parameters),
    **dict.fromkeys(TEXTS, Walk._literal),
    **dict.fromkeys(NUMBERS, Walk._number),
    **dict.fromkeys(("import_statement", "import_from_statement"), Walk._imports),
    **dict.fromkeys(TAGS, Walk._tag),
    "attribute_name": Walk._attribute_name,
    "declaration": Walk._declaration,
}


def _rule(kind: str, family: int) -> Rule:
    is_code = kind not in NOT_CODE
    is_kept, is_statement = kind in KEPT_LEAVES, kind == "expression_statement"
    return Rule(NOTES.get(kind), _hash(kind, family), is_code, kind in WRAPPERS, is_kept, is_statement)


def _hash(kind: str, family: int) -> int:
    return crc32(f"{family} {kind}".encode())


def _mix(over: list[int], mixed: int, size: int) -> None:
    over[0] = mixed if over[0] == OPEN else (over[0] * 1_000_003 ^ mixed) & MASK
    over[1] += size


def _is_doc(node: Node) -> bool:
    """A string alone is documentation."""
    return node.named_child_count == 1 and node.named_children[0].type == "string"


def stands_alone(root: Node) -> bool:
    """Whether a file is one function, beside imports, comments and documentation."""
    rest = [node for node in root.named_children if node.type not in NOT_PART and not _is_statement_doc(node)]
    while len(rest) == 1 and rest[0].type in AROUND_FUNCTIONS:
        rest = [node for node in rest[0].named_children if node.type not in ("decorator", "comment")]
    return len(rest) == 1 and (rest[0].type in FUNCTIONS or _is_named_function(rest[0]))


def _is_statement_doc(node: Node) -> bool:
    return node.type == "expression_statement" and _is_doc(node)


def _is_named_function(node: Node) -> bool:
    value = node.child_by_field_name(VALUES[node.type]) if node.type in VALUES else None
    return value is not None and value.type in ("arrow_function", "function_expression")

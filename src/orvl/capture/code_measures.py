"""How much code there is, how much of it is cloned, and how much of its complexity is in large functions.

It reads what an agent wrote, so it is called in a process with a deadline (`worker/`), and nothing in it recurses.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from orvl.capture.languages import GRAMMARS, OTHER, language_of, parse, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

CLONE = 6
"""So many lines in a row that stand elsewhere too are a clone."""
COMPLEX = 10
"""Functions with more paths than this are hard to change."""
LONGEST_LINE = 20_000
"""A file with a longer line was written by a program."""
FUNCTIONS = frozenset(
    (
        *("function_definition", "function_declaration", "generator_function_declaration", "method_definition"),
        *("function_expression", "generator_function", "arrow_function"),
    )
)
BRANCHES = frozenset(
    (
        *("if_statement", "elif_clause", "for_statement", "for_in_statement", "while_statement", "do_statement"),
        *("except_clause", "catch_clause", "case_clause", "switch_case", "conditional_expression"),
        *("ternary_expression", "boolean_operator", "for_in_clause", "if_clause"),
    )
)
SHORT_CIRCUITS = frozenset(("&&", "||", "??"))


def measure(payload: bytes) -> list[dict[str, float | int | None]]:
    """Of each tree, given as numbers of texts: its lines of code, the share of them that is cloned, and the share of
    all paths that lies in complex functions; None where there is nothing to take a share of."""
    asked: dict[str, Any] = json.loads(payload)
    texts = [_Code(path, text) for path, text in asked["texts"]]
    return [_measured([texts[number] for number in tree]) for tree in asked["trees"]]


def is_code(path: str) -> bool:
    language = language_of(path)
    return language in GRAMMARS or language == OTHER


class _Code:
    """One file."""

    def __init__(self, path: str, text: str) -> None:
        rows = [" ".join(line.split()) for line in text.splitlines()]
        is_generated = any(len(row) > LONGEST_LINE for row in rows)
        self.lines = [] if is_generated else [row for row in rows if any(sign.isalnum() for sign in row)]
        self.paths = [] if is_generated else list(_paths_by_function(path, text))

    def windows(self) -> Iterator[int]:
        """A number for each run of lines that may be a clone."""
        return (hash(tuple(self.lines[at : at + CLONE])) for at in range(len(self.lines) - CLONE + 1))


def _measured(files: Sequence[_Code]) -> dict[str, float | int | None]:
    lines = sum(len(file.lines) for file in files)
    paths = [number for file in files for number in file.paths]
    return {
        "lines": lines,
        "cloned": _cloned(files) / lines if lines else None,
        "complex": sum(number for number in paths if number > COMPLEX) / sum(paths) if paths else None,
    }


def _cloned(files: Sequence[_Code]) -> int:
    """Lines that are part of a window which stands elsewhere too."""
    seen = Counter(window for file in files for window in file.windows())
    number = 0
    for file in files:
        reach = 0
        for at, window in enumerate(file.windows()):
            if seen[window] > 1:
                number += at + CLONE - max(at, reach)
                reach = at + CLONE
    return number


def _paths_by_function(path: str, text: str) -> Iterator[int]:
    """The cyclomatic complexity of each function; one inside another counts for itself."""
    for part in parts(language_of(path), text):
        tree = parse(part.text.encode("utf-8", "replace"), part.language)
        if tree is not None:
            yield from _complexities(tree.root_node)


def _complexities(root: Node) -> list[int]:
    found: list[int] = []
    todo: list[tuple[Node, int]] = [(root, -1)]
    while todo:
        node, owner = todo.pop()
        if node.type in FUNCTIONS:
            owner = len(found)
            found.append(1)
        elif owner >= 0 and _branches(node):
            found[owner] += 1
        todo += [(child, owner) for child in node.children]
    return found


def _branches(node: Node) -> bool:
    return (node.is_named and node.type in BRANCHES) or (not node.is_named and node.type in SHORT_CIRCUITS)

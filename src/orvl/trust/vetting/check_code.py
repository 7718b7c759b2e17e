"""The files in `checks/` as texts and syntax trees: what they say, and what they call."""

from __future__ import annotations

import ast
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.trust.mutate.syntax import text_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ORIGINAL = "original/"
"""A folder for what was in the workspace at first, to compare with."""


@dataclass(frozen=True)
class CheckCode:
    """All files that checks are made of, apart from copies of the workspace."""

    files: Mapping[str, bytes]

    @cached_property
    def texts(self) -> dict[str, str]:
        found = {path: text_of(content) for path, content in self.files.items() if not path.startswith(ORIGINAL)}
        return {path: text for path, text in found.items() if text is not None}

    @cached_property
    def trees(self) -> dict[str, ast.Module]:
        """The Python files."""
        return {
            path: tree
            for path, text in self.texts.items()
            if path.endswith(".py") and (tree := parsed(text)) is not None
        }

    def nodes(self) -> Iterator[tuple[str, ast.AST]]:
        for path, tree in self.trees.items():
            for node in ast.walk(tree):
                yield path, node

    @cached_property
    def strings(self) -> frozenset[str]:
        """All texts that the files hold as values; of files in other languages, their lines."""
        found: set[str] = set()
        for path, text in self.texts.items():
            if path in self.trees:
                found |= set(_strings(self.trees[path]))
            else:
                found |= set(text.splitlines())
        return frozenset(found)

    @cached_property
    def programs(self) -> frozenset[str]:
        """Those of the texts that are programs themselves, which checks run beside the work."""
        return frozenset(text for text in self.strings if "\n" in text and _is_program(text))

    @cached_property
    def numbers(self) -> frozenset[int]:
        values = (node.value for _, node in self.nodes() if isinstance(node, ast.Constant))
        return frozenset(value for value in values if type(value) is int)


def parsed(text: str) -> ast.Module | None:
    """A Python text as a tree; None where it is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _is_program(text: str) -> bool:
    tree = parsed(text)
    statements = ast.Import | ast.ImportFrom | ast.FunctionDef
    return tree is not None and any(isinstance(node, statements) for node in ast.walk(tree))


def _strings(tree: ast.Module) -> Iterator[str]:
    docs = {id(doc) for node in ast.walk(tree) if (doc := _docstring(node)) is not None}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and id(node) not in docs:
            if isinstance(node.value, str):
                yield node.value
            elif isinstance(node.value, bytes):
                yield node.value.decode("utf-8", "replace")


def _docstring(node: ast.AST) -> ast.Constant | None:
    if not isinstance(node, ast.Module | ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef) or not node.body:
        return None
    first = node.body[0]
    return first.value if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) else None

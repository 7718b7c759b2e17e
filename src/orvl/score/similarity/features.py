"""The features of a file by which it is compared: hashed subtrees, API calls and literals, fingerprints, and words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from zlib import crc32

from orvl.capture.languages import ALL_FAMILIES, FAMILIES, SourcePart, language_of, parse, parts
from orvl.score.similarity.tokens import fingerprints, words
from orvl.score.similarity.walk import Walk, stands_alone

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tree_sitter import Node, Tree

    from orvl.score.similarity.weights import Weights

    Parser = Callable[[bytes, str], Tree | None]

BROKEN = 0.3
"""If more than this share of a file is in syntax errors, its tree says nothing."""
MAX_NESTED = 2
"""How often a file's text may count in its functions: a thousand nested functions would cost a thousand times."""


@dataclass
class Features:
    """Of a file, a function or a whole project. The last three bits of a hash name the family of languages."""

    subtrees: Counter[int] = field(default_factory=Counter)
    api: Counter[str] = field(default_factory=Counter)
    literals: Counter[str] = field(default_factory=Counter)
    defined: set[str] = field(default_factory=set)
    grams: Counter[int] = field(default_factory=Counter)
    purpose: Counter[int] = field(default_factory=Counter)
    parsed: bool = False
    is_function: bool = False
    weighed: dict[str, tuple[Weights, dict[int, float]]] = field(default_factory=dict, repr=False, compare=False)

    def vector(self, kind: str) -> Counter[int]:
        """The counted features of one kind."""
        counts: Counter[int] = getattr(self, kind)
        return counts

    @property
    def calls(self) -> Counter[int]:
        """The API that is used, and the literals. Calls of what the project itself defines are a matter of names."""
        outside = {f"call {name}": count for name, count in self.api.items() if name not in self.defined}
        return Counter({number(name): count for name, count in (outside | self.literals).items()})

    def __bool__(self) -> bool:
        return bool(self.grams or self.purpose)


def number(text: str, family: int = ALL_FAMILIES) -> int:
    """A feature's hash, the same on every machine. Python's own differs from process to process."""
    return crc32(text.encode("utf-8", "replace")) << 3 | family


def features(path: str, text: str, parser: Parser = parse) -> Features:
    """The features of one file, HTML with its scripts and styles; without a tree, only tokens and words."""
    return together(_of_node(part, _tree(part, parser)) for part in parts(language_of(path), text))


def functions(path: str, text: str, parser: Parser = parse) -> list[tuple[str, Features]]:
    """The name and the features of each function of a file."""
    found: list[tuple[str, Features]] = []
    for part in parts(language_of(path), text):
        root = _tree(part, parser)
        walk = Walk(part.language)
        if root is not None:
            walk.visit(root)
        left = MAX_NESTED * len(part.text)
        for name, node in walk.functions:
            left -= node.end_byte - node.start_byte
            if left < 0:
                break
            own = (node.text or b"").decode("utf-8", "replace")
            found.append((name, _of_node(SourcePart(part.language, own), node)))
    return found


def together(files: Iterable[Features]) -> Features:
    """A project: the features of all its files."""
    total, all_files = Features(), list(files)
    total.is_function = len(all_files) == 1 and all_files[0].is_function
    for file in all_files:
        total.subtrees.update(file.subtrees)
        total.api.update(file.api)
        total.literals.update(file.literals)
        total.defined |= file.defined
        total.grams.update(file.grams)
        total.purpose.update(file.purpose)
        total.parsed |= file.parsed
    return total


def _tree(part: SourcePart, parser: Parser) -> Node | None:
    source = part.text.encode("utf-8", "replace")
    tree = parser(source, part.language)
    return tree.root_node if tree and not _is_broken(tree.root_node, len(source)) else None


def _is_broken(root: Node, size: int) -> bool:
    """Whether errors at the top level cover so much that the tree is a guess."""
    if not root.has_error:
        return False
    if root.type == "ERROR":
        return True
    wrong = sum(child.end_byte - child.start_byte for child in root.children if child.is_error)
    return wrong > BROKEN * size


def _of_node(part: SourcePart, root: Node | None) -> Features:
    grams: set[int] = set()
    if part.language in FAMILIES:
        family = FAMILIES[part.language]
        grams = {gram << 3 | family for gram in fingerprints(part.text, part.language)}
    walk = Walk(part.language)
    if root is not None:
        walk.visit(root)
    spoken = Counter({number(word): count for word, count in words(part.text).items()})
    alone = root is not None and stands_alone(root)
    return Features(
        walk.subtrees, walk.api, walk.literals, walk.defined, Counter(grams), spoken, root is not None, alone
    )

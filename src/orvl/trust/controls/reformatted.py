"""C11, good work in another layout: indentation, quotes, blank lines and line ends, every word kept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.errors import ControlUnavailable
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.source import ControlSource
from orvl.trust.mutate.syntax import SCRIPTS, Piece, apply, is_docstring, is_sound, pieces, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from orvl.trust.mutate.syntax import Edit

PANEL_WITHIN, JUDGE_WITHIN = 0.05, 0.10
LONG = 72
FIXED = {
    *("string", "concatenated_string", "template_string", "comment", "regex", "jsx_text", "text"),
    *("quoted_attribute_value", "raw_text"),
}
"""What may span several lines and must not be touched."""
VERBATIM = re.compile(rb"<(pre|textarea)\b.*?</\1", re.I | re.DOTALL)
BRACKETS = {"argument_list", "arguments", "list", "dictionary", "array", "set", "parameters", "formal_parameters"}


def make(source: ControlSource) -> Derived:
    """The good files with other indentation, quotes, blank lines and ends of lines in calls."""
    good = source.good.files
    files = {path: reformat(path, content) for path, content in good.items()}
    changed = [path for path in good if files[path] != good[path]]
    if not changed:
        raise ControlUnavailable(
            "no file in controls/good has a layout that orvl can change: write controls/reformatted."
        )
    return Derived(files, FROM_GOOD, {"changed": changed})


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C11", "formatting does not change the rating", "reformatted", "good", "within", PANEL_WITHIN),
        fault="Formatting changes the rating",
    )
    for judge in evidence.judges:
        yield evidence.test(
            *("C11", f"formatting does not change {judge}'s rating", "reformatted", "good", "within", JUDGE_WITHIN),
            judge=judge,
            fault=f"Formatting changes {judge}'s rating",
        )


def reformat(path: str, source: bytes) -> bytes:
    """A file in another layout; itself where that cannot be done safely."""
    new = source
    for step in (_quotes, _wraps, _margins):
        edits = [edit for piece in pieces(path, new) for edit in step(piece)]
        changed = apply(new, edits)
        if is_sound(path, changed):
            new = changed
    return new


def _quotes(piece: Piece) -> Iterator[Edit]:
    """Simple strings in the other quotes."""
    for node in walk(piece.root, skip=("interpolation", "template_substitution")):
        if node.type not in ("string", "quoted_attribute_value", "string_value") or _is_directive(piece, node):
            continue
        found = re.fullmatch(r"([rb]?)(['\"])([^'\"\\\n]*)\2", piece.text(node))
        if found and not _is_json(node) and (node.parent is None or node.parent.type != "jsx_attribute"):
            quote = "'" if found[2] == '"' else '"'
            yield piece.edit(node, f"{found[1]}{quote}{found[3]}{quote}")


def _is_directive(piece: Piece, node: Node) -> bool:
    return is_docstring(node) or piece.text(node)[1:-1] == "use strict"


def _is_json(node: Node) -> bool:
    """Whether a string is in an object of a script with quoted keys: something may read it as JSON."""
    at = node.parent
    while at is not None:
        key = at.child_by_field_name("key") if at.type == "pair" else None
        if key is not None and key.type == "string" and at.parent is not None and at.parent.type == "object":
            return True
        at = at.parent
    return False


def _wraps(piece: Piece) -> Iterator[Edit]:
    """Long lines break after the first comma of a call or a list."""
    if piece.language not in ("python", *SCRIPTS):
        return
    done: set[int] = set()
    for node in walk(piece.root, skip=("interpolation", "template_substitution", "import_statement")):
        row = node.start_point[0]
        if node.type != "," or node.parent is None or node.parent.type not in BRACKETS or row in done:
            continue
        line = _line(piece.source, node.start_byte)
        following = piece.source[node.end_byte : node.end_byte + 1]
        if len(line) > LONG and following == b" ":
            done.add(row)
            margin = line[: len(line) - len(line.lstrip())].decode()
            yield piece.edit_at(node.end_byte, node.end_byte + 1, f"\n{margin}        ")


def _line(source: bytes, at: int) -> bytes:
    start = source.rfind(b"\n", 0, at) + 1
    end = source.find(b"\n", at)
    return source[start : len(source) if end < 0 else end]


def _margins(piece: Piece) -> Iterator[Edit]:
    """Half or twice the indentation, and one blank line where there were several.

    Every width is changed by the same strictly increasing rule, so lines that were level stay level.
    """
    fixed = [found.span() for found in VERBATIM.finditer(piece.source)] if piece.language == "html" else []
    fixed += [(node.start_byte, node.end_byte) for node in walk(piece.root) if _is_fixed(piece, node)]
    lines = [
        found for found in re.finditer(rb"^([ \t]*)(.*)\n?", piece.source, re.M) if not _is_inside(found.start(), fixed)
    ]
    widths = [len(found[1]) for found in lines if found[2].strip()]
    if any(b"\t" in found[1] for found in lines):
        return
    halves = all(width % 4 == 0 for width in widths) and any(widths)
    blank = False
    for found in lines:
        if not found[2].strip():
            if blank and found.end() > found.start():
                yield piece.edit_at(found.start(), found.end(), "")
            blank = True
            continue
        blank = False
        width = len(found[1])
        yield piece.edit_at(found.start(1), found.end(1), " " * (width // 2 if halves else 2 * width))


def _is_fixed(piece: Piece, node: Node) -> bool:
    if piece.language == "html" and node.type == "text":
        return False
    return node.type in FIXED and node.start_point[0] != node.end_point[0]


def _is_inside(at: int, spans: list[tuple[int, int]]) -> bool:
    return any(start < at < end for start, end in spans)


CONTROLS = (Control("C11", "reformatted", make, warnings=warnings),)

"""C10, good work with meaningless names and no comments: it works as before, and is harder to read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.errors import ControlUnavailable
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.names import occurrences, replacements
from orvl.trust.mutate.source import ControlSource, words_of
from orvl.trust.mutate.syntax import SCRIPTS, Edit, Piece, apply, is_docstring, is_sound, language_of, pieces, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

READABILITY_BELOW_GOOD, FUNCTIONALITY_WITHIN = 0.20, 0.10
NOTHING_SAID = "-"
DIRECTIVE = re.compile(
    r"#!|#\s*(-\*-|type:|noqa|pragma)|//\s*(@ts-|eslint)|/\*\s*(eslint|global|@jsx)|<!--\[if|<!doctype", re.I
)


def make(source: ControlSource) -> Derived:
    """The good files with meaningless names, no comments, and docstrings that say nothing."""
    good = source.good.files
    count = 0
    result = dict(good)
    for path, content in good.items():
        if language_of(path) is None:
            continue
        edits, names = _renaming(source, path, content)
        new = apply(content, edits)
        if new != content and is_sound(path, new):
            result[path] = new
            count += names
    if result == good:
        raise ControlUnavailable(
            "no file in controls/good has names or comments that orvl can replace: write controls/renamed."
        )
    return Derived(result, FROM_GOOD, {"names": count})


def _renaming(source: ControlSource, path: str, content: bytes) -> tuple[list[Edit], int]:
    parts = pieces(path, content)
    edits: list[Edit] = []
    count = 0
    for piece in parts:
        edits += _without_comments(piece)
        if piece.language not in ("python", *SCRIPTS):
            continue
        # Beside a script in a page stands the page, with handlers that call it.
        beside = (content[: piece.offset] + content[piece.offset + len(piece.source) :]).decode()
        mentioned = source.mentioned(path) | (words_of(path, beside) if beside else frozenset())
        new = replacements(piece, mentioned, source.promised if piece.language == "python" else ())
        edits += [piece.edit(node, before + new[piece.text(node)]) for node, before in occurrences(piece, new)]
        count += len(new)
    return edits, count


def _without_comments(piece: Piece) -> Iterator[Edit]:
    """Comments go, with their line where they have one of their own; docstrings stay, but say nothing."""
    for node in walk(piece.root):
        if node.type in ("comment", "html_comment") and not DIRECTIVE.match(piece.text(node)):
            start, end = node.start_byte, node.end_byte
            line = piece.source.rfind(b"\n", 0, start) + 1
            alone = not piece.source[line:start].strip() and piece.source[end : end + 1] == b"\n"
            yield piece.edit_at(line, end + 1, "") if alone else piece.edit_at(start, end, "")
        elif piece.language == "python" and is_docstring(node) and node.prev_sibling is None:
            yield piece.edit(node, f'"""{NOTHING_SAID}"""')


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C10", "the judges notice meaningless names", "good", "renamed", "at least", READABILITY_BELOW_GOOD),
        metric="readability",
        fault="The judges did not notice meaningless names",
    )
    yield evidence.test(
        *("C10", "names do not change functionality", "renamed", "good", "within", FUNCTIONALITY_WITHIN),
        metric="functionality",
        fault="Names change the functionality score",
    )


CONTROLS = (Control("C10", "renamed", make, warnings=warnings),)

"""Twins of the good files that do the same: one without words that help a reader, one with other whitespace."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.errors import ControlUnavailable
from orvl.trust.ladder.names import occurrences, replacements
from orvl.trust.ladder.reformat import reformat
from orvl.trust.ladder.syntax import SCRIPTS, Edit, Piece, apply, is_docstring, is_sound, language_of, pieces, walk
from orvl.trust.ladder.trees import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from orvl.trust.ladder.trees import Source

NOTHING_SAID = "-"
DIRECTIVE = re.compile(
    r"#!|#\s*(-\*-|type:|noqa|pragma)|//\s*(@ts-|eslint)|/\*\s*(eslint|global|@jsx)|<!--\[if|<!doctype", re.I
)


def renamed(source: Source) -> tuple[Mapping[str, bytes], dict[str, object]]:
    """The good files with meaningless names, and without comments; what docstrings say is taken out."""
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
    return result, {"names": count}


def _renaming(source: Source, path: str, content: bytes) -> tuple[list[Edit], int]:
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
    """Comments go, with the line if they have one of their own; a docstring that is there stays there, but empty."""
    for node in walk(piece.root):
        if node.type in ("comment", "html_comment") and not DIRECTIVE.match(piece.text(node)):
            start, end = node.start_byte, node.end_byte
            line = piece.source.rfind(b"\n", 0, start) + 1
            alone = not piece.source[line:start].strip() and piece.source[end : end + 1] == b"\n"
            yield piece.edit_at(line, end + 1, "") if alone else piece.edit_at(start, end, "")
        elif piece.language == "python" and is_docstring(node) and node.prev_sibling is None:
            yield piece.edit(node, f'"""{NOTHING_SAID}"""')


def reformatted(source: Source) -> tuple[Mapping[str, bytes], dict[str, object]]:
    """The good files with other indentation, quotes, blank lines and ends of lines in calls."""
    good = source.good.files
    result = {path: reformat(path, content) for path, content in good.items()}
    changed = [path for path in good if result[path] != good[path]]
    if not changed:
        raise ControlUnavailable(
            "no file in controls/good has a layout that orvl can change: write controls/reformatted."
        )
    return result, {"changed": changed}

"""Bugs in languages that orvl does not parse: small changes of one line, by its signs alone."""

from __future__ import annotations

import re
from posixpath import splitext
from typing import TYPE_CHECKING

from orvl.trust.mutate.candidates import Bug
from orvl.trust.mutate.syntax import Edit, text_of

if TYPE_CHECKING:
    from collections.abc import Iterator

CODE = (".sh", ".bash", ".go", ".pl", ".pm", ".sql", ".rb", ".rs", ".c", ".h", ".cc", ".cpp", ".java", ".php", ".awk")
COMMENT = re.compile(r"\s*(#|//|--|/\*|\*)")
CHANGES = {
    "flip-comparison": {
        "==": "!=",
        "!=": "==",
        "<=": ">",
        ">=": "<",
        " < ": " >= ",
        " > ": " <= ",
        " -eq ": " -ne ",
        " -ne ": " -eq ",
        " -lt ": " -ge ",
        " -gt ": " -le ",
        " eq ": " ne ",
        " ne ": " eq ",
    },
    "swap-logic": {"&&": "||", "||": "&&", " AND ": " OR ", " OR ": " AND "},
    "swap-arithmetic": {" + ": " - ", " - ": " + ", " * ": " + "},
    "wrong-constant": {"true": "false", "false": "true", " ASC": " DESC", " DESC": " ASC"},
}
RANKS = {"flip-comparison": 0, "swap-logic": 1, "swap-arithmetic": 1, "off-by-one": 2, "wrong-constant": 3}
QUOTED = re.compile(r"""\"(?:[^\"\\\n]|\\.)*\"|'[^'\n]*'""")
NUMBER = re.compile(r"(?<![\w.$&><-])\d{1,6}(?![\w.>&])")


def line_candidates(path: str, source: bytes) -> list[Bug]:
    """Every bug that could be planted in a file of such a language, in the order of its text."""
    text = text_of(source)
    if text is None or splitext(path)[1].lower() not in CODE:
        return []
    found, at = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if not COMMENT.match(line):
            for kind, start, end, new in _changes(line):
                first, last = (at + len(line[:place].encode()) for place in (start, end))
                found.append(Bug(path, number, kind, ("", number), Edit(first, last, new.encode()), RANKS[kind]))
        at += len(line.encode()) + 1
    return found


def _changes(line: str) -> Iterator[tuple[str, int, int, str]]:
    """The kind of each change, where it begins and ends in the line, and what is put there."""
    bare = QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), line)
    for kind, marks in CHANGES.items():
        for old, new in marks.items():
            pattern = rf"\b{old}\b" if old.isalpha() else rf"(?<![=!<>&|+*-]){re.escape(old)}(?![=&|>])"
            for match in re.finditer(pattern, bare):
                yield kind, match.start(), match.end(), new
    for match in NUMBER.finditer(bare):
        yield "off-by-one", match.start(), match.end(), str(int(match[0]) + 1)

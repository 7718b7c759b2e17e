"""Ratings as Markdown for pull requests: the verdict, then tables, cut to a size.

Everything that a person or an agent has named stands in a code span. GitHub looks for mentions and links in what it has
rendered, where escaped signs are signs again; only code is left alone. Signs that could end a span or a cell of a table
are written as in a terminal, such as \\x7c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.rate.gate import unrated_parts
from orvl.report.certificate import standing_sentence
from orvl.report.gate import gate_sentences, headline
from orvl.report.ratings_json import warnings_of
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate

COMMENT = 64_000
"""Bytes; a comment on GitHub may have 65,536 signs."""
SUMMARY = 1_000_000
"""Bytes of the summary of a step; GitHub takes 1 MiB."""
LONGEST = 300
"""Signs of a name or a sentence."""
WIDTH = 21
UNKNOWN = "–"
SIGNS = str.maketrans({sign: f"\\x{ord(sign):02x}" for sign in "`|<>"})
MARKS = {"passed": "✅", "failed": "❌", "undecided": "⚠️"}


@dataclass(frozen=True)
class Part:
    """Lines that may be left out from the end, between lines that may not."""

    before: Sequence[str]
    lines: Sequence[str]
    after: Sequence[str] = ("",)
    noun: str = "line"

    def cut(self, room: int) -> tuple[list[str], int]:
        """As many lines as there is room for, with a count of the others; and the room that is left."""
        kept = 0
        while kept < len(self.lines) and (size := _size(self.lines[kept])) <= room:
            room -= size
            kept += 1
        left = len(self.lines) - kept
        # A table ends at an empty line: the count must not become a row of it.
        said = ["", f"_{count(left, self.noun)} left out._"] if left else []
        return [*self.before, *self.lines[:kept], *said, *self.after], room

    @property
    def overhead(self) -> int:
        said = ["", f"_{count(len(self.lines), self.noun)}s left out._"]
        return sum(map(_size, [*self.before, *said, *self.after]))


def as_markdown(rows: Sequence[Row], board: Board, gate: Gate, limit: int = COMMENT) -> str:
    """All of it in `limit` bytes; what is most important is left out last."""
    parts = [part for part in _parts(rows, board, gate) if part.lines or not part.noun]
    room = limit - sum(part.overhead for part in parts)
    lines: list[str] = []
    for part in parts:
        shown, room = part.cut(room)
        lines += shown
    return "\n".join(lines).rstrip("\n") + "\n"


def _parts(rows: Sequence[Row], board: Board, gate: Gate) -> list[Part]:
    verdicts = [f"- {MARKS[state]} {code(text)}" for state, text in gate_sentences(gate)][1:]
    title = f"## orvl: {MARKS[gate.state]} {code(headline(gate))}" if gate.is_asked else "## orvl"
    heading = ["| contestant | R | 0 … 1 | 95 % | runs | cost | time |", "|---|--:|---|---|--:|--:|--:|"]
    ordered = sorted(rows, key=lambda row: (row.is_elsewhere, -1 if row.R is None else 0, -(row.R or 0.0)))
    notes = [standing_sentence(board.standing), *_common(rows, board), *warnings_of(board)]
    return [
        Part([title], [], noun=""),
        Part([], verdicts, noun="sentence"),
        Part(heading, [_row(row) for row in ordered], noun="row"),
        Part(["Runs: rated / failed / errored / planned.", ""], [f"- {code(note)}" for note in notes], noun="note"),
        *([_evals(board, gate)] if any(row.eval is None for row in rows) else []),
    ]


def _common(rows: Sequence[Row], board: Board) -> list[str]:
    return board.common.sentences() if any(row.eval is None for row in rows) else []


def _evals(board: Board, gate: Gate) -> Part:
    """By eval, folded; what went wrong first."""

    def trouble(cell: Row) -> tuple[bool, float]:
        return not unrated_parts(cell), 2.0 if cell.R is None else cell.R

    before = ["<details><summary>By eval</summary>", "", "| eval | contestant | R | runs | |", "|---|---|--:|--:|---|"]
    lines = [_cell(cell, gate) for cell in sorted([*board.cells, *gate.not_run], key=trouble)]
    return Part(before, lines, ["", "</details>", ""], "row")


def _row(row: Row) -> str:
    name = code(" ".join(filter(None, [*row.contestant, row.eval, f"#{row.episode}" if row.episode else ""])))
    interval = f"{row.interval[0]:.2f}–{row.interval[1]:.2f}" if row.interval else UNKNOWN
    cost, taken = row.usage.get("cost_usd"), row.usage.get("seconds")
    bound = "≤ " if cost is not None and row.usage.get("is_bound") else ""
    return _cells(
        [
            name,
            _number(row),
            f"`{whisker(row)}`",
            interval,
            _runs(row),
            f"{bound}{dollars(cost)}",
            UNKNOWN if taken is None else seconds(taken),
        ]
    )


def _cell(cell: Row, gate: Gate) -> str:
    parts = [*([gate.below(cell)] if gate.is_below(cell) else []), *unrated_parts(cell)]
    contestant = code(" ".join(filter(None, cell.contestant)))
    return _cells(
        [code(cell.eval or ""), contestant, _number(cell), _runs(cell), code("; ".join(parts)) if parts else ""]
    )


def _cells(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _number(row: Row) -> str:
    return (
        UNKNOWN
        if row.R is None
        else f"{row.R:.3f}" + ("\\*" if row.missing else "") + ("°" if row.is_elsewhere else "")
    )


def _runs(row: Row) -> str:
    return f"{row.rated}/{row.failed}/{row.errored}/{row.planned}"


def whisker(row: Row) -> str:
    """R and its interval on a line from 0 to 1, without colours or pictures."""
    signs = ["·"] * WIDTH
    if row.R is None:
        return "".join(signs)
    if row.interval:
        low, high = (round(end * (WIDTH - 1)) for end in row.interval)
        signs[low : high + 1] = ["─"] * (high + 1 - low)
        signs[low], signs[high] = "├", "┤"
    signs[round(row.R * (WIDTH - 1))] = "●"
    return "".join(signs)


def code(text: str) -> str:
    """Hostile text as a code span, in which nothing is a mention, a link, HTML or the end of a cell."""
    text = " ".join(plain(text).translate(SIGNS).split())
    return f"`{text[:LONGEST] + '…' if len(text) > LONGEST else text or UNKNOWN}`"


def _size(line: str) -> int:
    return len(line.encode()) + 1

"""Parts of pages: links, long texts, tables, and what commands print, as HTML."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING, TextIO

from orvl.project.names import count
from orvl.report.terminal import Terminal, TextTable
from orvl.web.html import Html, join, tag

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from orvl.report.terminal import TextCell
    from orvl.web.html import Child

LONGEST_LINE = 2_000
MOST_SIGNS = 64_000
"""Of one text on a page; the rest is behind a link."""
LONGEST_NAME = 200
CLASSES = {"red": "bad", "green": "good", "yellow": "warn", "dim": "note", "bold": "bold"}
HEATS = 6
WIDE = 1 << 20
"""A page is as wide as what it shows: it scrolls."""


def link(text: Child, address: str | None) -> Child:
    return tag("a", text, href=address) if address else text


def sentences(lines: Iterable[str], class_: str = "note") -> list[Html]:
    return [tag("p", line, class_=class_) for line in lines]


def folded(heading: Child, *inside: Child, is_open: bool = False, id_: str | None = None) -> Html:
    return tag("details", tag("summary", heading), *inside, open=is_open, id_=id_)


def cut(text: str, most: int = MOST_SIGNS) -> tuple[str, int]:
    """The beginning of a text, its long lines cut too; and how many signs are missing."""
    lines = []
    for line in text[:most].split("\n"):
        more = len(line) - LONGEST_LINE
        lines.append(line if more <= 0 else f"{line[:LONGEST_LINE]} … {more:,} more signs on this line")
    kept = sum(min(len(line), LONGEST_LINE) for line in text[:most].split("\n")) + text[:most].count("\n")
    return "\n".join(lines), len(text) - kept


def short(name: str) -> str:
    """A name in a table or a heading, which may be as long as an agent likes."""
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…"


def long_text(text: str, raw: str | None = None, most: int = MOST_SIGNS) -> Html:
    """An agent's text; what is too long for a page is counted, and linked."""
    made, missing = fitted(text, most, lambda shown: tag("pre", shown))
    return join(made, _missing(missing, raw) if missing else None)


def _missing(missing: int, raw: str | None) -> Html:
    return tag(
        "p", f"{count(missing, 'sign')} not shown. ", link("The whole text", raw) if raw else None, class_="note"
    )


def diff_text(text: str, raw: str | None = None, most: int = MOST_SIGNS) -> Html:
    """A unified diff, its lines marked by what they are."""

    def marked(shown: str) -> Html:
        return tag("pre", [_diff_lines(*group) for group in groupby(shown.split("\n"), _diff_kind)])

    made, missing = fitted(text, most, marked)
    return join(made, _missing(missing, raw) if missing else None)


def fitted(text: str, most: int, render: Callable[[str], Html]) -> tuple[Html, int]:
    """As much of a text as `most` bytes of markup can show, and how many signs are missing.

    A sign that a page must escape becomes up to eight bytes, so what comes out is measured.
    """
    signs = most
    while True:
        shown, missing = cut(text, signs)
        made = render(shown)
        size = len(made.markup.encode())
        if size <= most or signs == 0:
            return made, missing
        signs = int(min(signs, len(text)) * min(most / size, 0.9))


def fitting(pieces: Iterable[Html], most: int) -> tuple[list[Html], int]:
    """The first pieces that fit into so many bytes, one at least; and how many do not."""
    shown: list[Html] = []
    left = most
    waiting = iter(pieces)
    for piece in waiting:
        left -= len(piece.markup.encode())
        if shown and left < 0:
            return shown, 1 + sum(1 for _ in waiting)
        shown.append(piece)
    return shown, 0


def _diff_kind(line: str) -> str | None:
    kinds = {"+": "add", "-": "del", "@": "at", "#": "at"}
    return "bold" if line.startswith(("+++ ", "--- ")) else kinds.get(line[:1])


def _diff_lines(kind: str | None, lines: Iterable[str]) -> Child:
    """Lines of one kind are one element: a page with a hundred thousand is slow."""
    text = "".join(f"{line}\n" for line in lines)
    return tag("span", text, class_=kind) if kind else text


@dataclass(frozen=True)
class TableCell:
    """A cell with a class of its own."""

    content: Child
    class_: str


TableRow = tuple[str | None, "Sequence[Child | TableCell]"]
"""The class of a row, and its cells."""


@dataclass(frozen=True)
class Heading:
    """A column of a table."""

    text: str
    words: bool = False


def table(
    caption: str,
    headings: Sequence[Heading],
    rows: Iterable[TableRow],
    *,
    first_is_name: bool = True,
) -> Html:
    """Rows with their classes; on a phone each becomes a card. The first cell names its row."""

    def cell(place: int, content: Child | TableCell) -> Html:
        kind = "th" if first_is_name and not place else "td"
        heading = headings[place]
        scope = "row" if kind == "th" else None
        class_ = "words" if heading.words else None
        if isinstance(content, TableCell):
            return tag(kind, content.content, class_=content.class_, scope=scope, data_label=heading.text)
        return tag(kind, content, class_=class_, scope=scope, data_label=heading.text)

    head = [_head(one) for one in headings]
    body = [tag("tr", [cell(*pair) for pair in enumerate(cells)], class_=class_) for class_, cells in rows]
    made = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="cards")
    return tag("div", made, class_="scroll", tabindex=0, role="group", aria_label=caption)


def heat(value: float, content: Child = None) -> TableCell:
    """A share of 1, coloured in six steps, with its number."""
    return TableCell(f"{value:.2f}" if content is None else content, f"heat-{min(int(value * HEATS), HEATS - 1)}")


def missing(content: Child) -> TableCell:
    """Hatched, with the word for why there is nothing."""
    return TableCell(content, "missing")


def _head(heading: Heading) -> Html:
    if not heading.text:
        return tag("td")
    return tag("th", heading.text, scope="col", class_="words" if heading.words else None)


@dataclass(frozen=True)
class PageTerminal(Terminal):
    """Takes what a command prints, and keeps it as HTML: a page then says what the command says."""

    file: TextIO = field(default_factory=io.StringIO)
    width: int = WIDE
    parts: list[Html] = field(default_factory=list)
    caption: str = "Table"
    has_lead: bool = True
    """Whether the first bold sentence is the answer of the page."""
    said: list[str] = field(default_factory=list)
    tables: list[TextTable] = field(default_factory=list)
    cells: Mapping[str, str | None] = field(default_factory=dict)
    """Addresses by the text of a cell."""

    def print(self, content: str | TextTable = "", style: str = "") -> None:
        if isinstance(content, TextTable):
            self.tables.append(content)
            headings = [Heading(column.heading, column.words) for column in content.columns]
            rows = [(None, [self._content(cell) for cell in row]) for row in content.rows if row is not None]
            self.parts.append(table(self.caption, headings, rows))
        elif content.strip():
            self.said.append(f"{content.strip()} ")
            is_lead = self.has_lead and style.startswith("bold") and not self.parts
            classes = " ".join(CLASSES[word] for word in style.split())
            self.parts.append(tag("p", content.strip("\n"), class_="lead" if is_lead else classes or None))

    def _content(self, cell: str | TextCell) -> Child:
        text, style = (cell, "") if isinstance(cell, str) else cell
        content = link(text, self.cells.get(text))
        return tag("span", content, class_=" ".join(CLASSES[word] for word in style.split())) if style else content

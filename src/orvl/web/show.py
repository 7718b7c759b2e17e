"""Parts of pages: links, long texts, tables, and what commands print, as HTML."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TextIO

from orvl.project.names import count
from orvl.report.terminal import Terminal, TextTable
from orvl.web.html import Html, join, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.report.terminal import TextCell
    from orvl.web.html import Child

LONGEST_LINE = 2_000
MOST_SIGNS = 64_000
"""Of one text on a page; the rest is behind a link."""
CLASSES = {"red": "bad", "green": "good", "yellow": "warn", "dim": "note", "bold": "bold"}
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


def long_text(text: str, raw: str | None = None, most: int = MOST_SIGNS) -> Html:
    """An agent's text; what is too long for a page is counted, and linked."""
    shown, missing = cut(text, most)
    if not missing:
        return tag("pre", shown)
    return join(tag("pre", shown), _missing(missing, raw))


def _missing(missing: int, raw: str | None) -> Html:
    return tag(
        "p", f"{count(missing, 'sign')} not shown. ", link("The whole text", raw) if raw else None, class_="note"
    )


def diff_text(text: str, raw: str | None = None, most: int = MOST_SIGNS) -> Html:
    """A unified diff, its lines marked by what they are."""
    shown, missing = cut(text, most)
    lines = [_diff_line(line) for line in shown.split("\n")]
    return join(tag("pre", lines), _missing(missing, raw) if missing else None)


def _diff_line(line: str) -> Child:
    kinds = {"+": "add", "-": "del", "@": "at", "#": "at"}
    kind = "bold" if line.startswith(("+++ ", "--- ")) else kinds.get(line[:1])
    return (tag("span", line, class_=kind) if kind else line, "\n")


TableRow = tuple[str | None, "Sequence[Child]"]
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

    def cell(place: int, content: Child) -> Html:
        kind = "th" if first_is_name and not place else "td"
        heading = headings[place]
        scope = "row" if kind == "th" else None
        return tag(kind, content, class_="words" if heading.words else None, scope=scope, data_label=heading.text)

    head = [_head(one) for one in headings]
    body = [tag("tr", [cell(*pair) for pair in enumerate(cells)], class_=class_) for class_, cells in rows]
    made = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="cards")
    return tag("div", made, class_="scroll", tabindex=0, role="group", aria_label=caption)


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
    cells: Mapping[str, str | None] = field(default_factory=dict)
    """Addresses by the text of a cell."""

    def print(self, content: str | TextTable = "", style: str = "") -> None:
        if isinstance(content, TextTable):
            headings = [Heading(column.heading, column.words) for column in content.columns]
            rows = [(None, [self._content(cell) for cell in row]) for row in content.rows if row is not None]
            self.parts.append(table(self.caption, headings, rows))
        elif content.strip():
            is_lead = style.startswith("bold") and not self.parts
            classes = " ".join(CLASSES[word] for word in style.split())
            self.parts.append(tag("p", content.strip("\n"), class_="lead" if is_lead else classes or None))

    def _content(self, cell: str | TextCell) -> Child:
        text, style = (cell, "") if isinstance(cell, str) else cell
        content = link(text, self.cells.get(text))
        return tag("span", content, class_=" ".join(CLASSES[word] for word in style.split())) if style else content

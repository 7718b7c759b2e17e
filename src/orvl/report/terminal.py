"""Sentences and tables on a terminal. rich would take a third of the time of a short command, so only live progress
uses it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from orvl.report.layout import GAP, Placed, blocks
from orvl.report.text import escaped, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
PIPE = 1 << 20
"""The width of what is no terminal: nothing is folded there, so that programs find a row in one line."""
NUMBER = "row"
LEAST_TEXT = 20
"""Places that a text is given after a mark, however narrow the terminal is."""
EMOJI_STYLE = "\ufe0f"
"""Makes the sign before it wider on some terminals."""


class TextCell(NamedTuple):
    """A table's cell that has a style."""

    text: str
    style: str = ""


@dataclass(frozen=True)
class TextColumn:
    """A table's column: numbers to the right, or words to the left, which may wrap."""

    heading: str
    words: bool = False
    key: bool = False
    """Whether it tells rows apart, and is repeated where columns are put below; else the first column is."""
    below: bool = False
    """Whether it is put below first where there is too little room."""


@dataclass(frozen=True)
class TextTable:
    """Columns and rows; None in place of a row leaves a line empty."""

    columns: Sequence[TextColumn]
    rows: Sequence[Sequence[str | TextCell] | None]


@dataclass(frozen=True)
class Terminal:
    """Where text is shown, how wide that is, and whether it has styles."""

    file: TextIO
    width: int = 120
    styles: bool = False

    def print(self, content: str | TextTable = "", style: str = "") -> None:
        lines = self._table(content) if isinstance(content, TextTable) else self._text(content, style)
        trusted(self.file).write("".join(f"{line}\n" for line in lines))

    def print_marked(self, mark: str, text: str, indent: int | None = None) -> None:
        """One line after a mark; where it does not fit, it goes on below itself, or after an indent."""
        beside = len(mark) if indent is None else indent
        lines = list(wrap(self._clean(text), max(self.width - beside, LEAST_TEXT)))
        below = [f"{' ' * beside}{line}\n" for line in lines[1:]]
        trusted(self.file).write("".join([f"{mark}{lines[0]}\n", *below]))
        self.file.flush()

    def _text(self, text: str, style: str) -> Iterator[str]:
        for line in self._clean(text).split("\n"):
            yield from (self._styled(part, style) for part in wrap(line, self.width))

    def _table(self, table: TextTable) -> Iterator[str]:
        rows = [None if row is None else [self._cell(cell) for cell in row] for row in table.rows]
        number_width = max(len(NUMBER), len(str(len(rows))))
        placed = _placed(table.columns, rows)
        for block in blocks(placed, self.width - 2, number_width):
            columns = [table.columns[place] for place in block.columns]
            shown: list[Sequence[TextCell] | None] = [
                None if row is None else [row[place] for place in block.columns] for row in rows
            ]
            widths = block.widths
            if block.is_numbered:
                columns, shown, widths = [TextColumn(NUMBER), *columns], _numbered(shown), (number_width, *widths)
            yield from self._block(columns, shown, widths)
        yield ""

    def _block(
        self, columns: Sequence[TextColumn], rows: Sequence[Sequence[TextCell] | None], widths: Sequence[int]
    ) -> Iterator[str]:
        encoding = getattr(self.file, "encoding", None) or "utf-8"
        rule = ("─" if encoding.lower().startswith("utf") else "-") * (sum(widths) + GAP * (len(widths) - 1))
        yield ""
        yield from self._row(columns, [TextCell(plain(column.heading), "bold") for column in columns], widths)
        yield f" {rule}"
        for row in rows:
            yield from [""] if row is None else self._row(columns, row, widths)

    def _row(self, columns: Sequence[TextColumn], cells: Sequence[TextCell], widths: Sequence[int]) -> Iterator[str]:
        """One row, which takes as many lines as its highest cell."""
        parts = [list(wrap(cell.text, width)) for cell, width in zip(cells, widths, strict=True)]
        for i in range(max(map(len, parts), default=0)):
            line = []
            for column, cell, width, texts in zip(columns, cells, widths, parts, strict=True):
                text = texts[i] if i < len(texts) else ""
                space = " " * (width - cell_width(text))
                shown = self._styled(text, cell.style)
                line.append(shown + space if column.words else space + shown)
            yield f" {(' ' * GAP).join(line)}".rstrip()

    def _styled(self, text: str, style: str) -> str:
        if not (self.styles and style and text):
            return text
        return f"\x1b[{';'.join(STYLES[word] for word in style.split())}m{text}\x1b[0m"

    def _cell(self, cell: str | TextCell) -> TextCell:
        text, style = (cell, "") if isinstance(cell, str) else cell
        return TextCell(plain(self._clean(text)).replace("\t", " "), style)

    def _clean(self, text: str) -> str:
        """The styles are orvl's own; the text may be anybody's. How wide a tab is depends on where it stands."""
        return escaped(text).expandtabs(4) if self.file.isatty() else text


class CleanStream:
    """A terminal that gets no control characters, whoever writes them; see `trusted` for orvl's own."""

    def __init__(self, stream: TextIO) -> None:
        self.trusted = stream
        self.buffer = CleanBuffer(stream)

    def write(self, text: str) -> int:
        self.trusted.write(escaped(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.trusted, name)


class CleanBuffer:
    """What takes bytes for a terminal: they are read as UTF-8, and others are escaped."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, data: bytes) -> int:
        self._stream.write(escaped(bytes(data).decode("utf-8", "surrogateescape")))
        return len(data)

    def writelines(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def trusted(stream: TextIO) -> TextIO:
    """A stream for text that is clean already, and has styles."""
    own: TextIO = getattr(stream, "trusted", stream)
    return own


def _placed(columns: Sequence[TextColumn], rows: Sequence[Sequence[TextCell] | None]) -> list[Placed]:
    widths = [0] * len(columns)
    for row in rows:
        if row is not None:
            widths = [max(width, cell_width(cell.text)) for width, cell in zip(widths, row, strict=True)]
    return [
        Placed(cell_width(plain(column.heading)), width, column.words, column.key, column.below)
        for column, width in zip(columns, widths, strict=True)
    ]


def _numbered(rows: Sequence[Sequence[TextCell] | None]) -> list[Sequence[TextCell] | None]:
    """Each row with its number before it; empty lines have none."""
    numbers = iter(range(1, len(rows) + 1))
    return [None if row is None else [TextCell(str(next(numbers))), *row] for row in rows]


PIECES = re.compile(r"[^-_/.:@+]*[-_/.:@+]+|[^-_/.:@+]+")


def cell_width(text: str) -> int:
    """How many places of a terminal a text takes: signs of East Asia two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_sign_width, text))


def _sign_width(sign: str) -> int:
    if unicodedata.category(sign) in ("Mn", "Me") and sign != EMOJI_STYLE:
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def wrap(text: str, width: int) -> Iterator[str]:
    """Lines of at most this width, broken between words and indented alike; a longer word is cut."""
    if cell_width(text) <= width:
        yield text
        return
    words = text.lstrip(" ")
    indent = " " * min(len(text) - len(words), width // 2)
    room = width - len(indent)
    line = ""
    for word in words.split(" "):
        longer = f"{line} {word}" if line else word
        if cell_width(longer) <= room:
            line = longer
            continue
        if line:
            yield indent + line
        *whole, line = _cut(word, room)
        yield from (indent + part for part in whole)
    yield indent + line


def _cut(word: str, width: int) -> list[str]:
    """Parts of at most this width, cut after a sign that parts names where there is one."""
    parts = [""]
    for piece in PIECES.findall(word):
        if cell_width(parts[-1] + piece) <= width:
            parts[-1] += piece
        else:
            *whole, last = _cut_anywhere(piece, width)
            parts += [*whole, last]
    return parts if parts[0] or len(parts) == 1 else parts[1:]


def _cut_anywhere(piece: str, width: int) -> list[str]:
    """A mark stays with the sign that it stands on."""
    parts, room = [""], width
    for sign in piece:
        takes = _sign_width(sign)
        if parts[-1] and takes > room:
            parts.append("")
            room = width
        parts[-1] += sign
        room -= takes
    return parts

"""A table of a page as CSV and as Markdown."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from orvl.report.ratings_markdown import plain_text, span
from orvl.report.text import no_formula, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.report.terminal import TextCell, TextTable
    from orvl.web.page import Twin


def table_twins(*tables: TextTable) -> dict[str, Twin]:
    return {"csv": lambda: as_csv(tables), "md": lambda: as_markdown(tables)}


def as_csv(tables: Sequence[TextTable]) -> str:
    """One after another, with an empty line between them."""
    return "\n".join(_csv(table) for table in tables)


def _csv(table: TextTable) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([column.heading for column in table.columns])
    writer.writerows([no_formula(_text(cell)) for cell in row] for row in table.rows if row is not None)
    return out.getvalue()


def as_markdown(tables: Sequence[TextTable]) -> str:
    return "\n".join(_markdown(table) for table in tables)


def _markdown(table: TextTable) -> str:
    """Words are code, so that nobody is called and nothing is a link."""
    columns = table.columns
    lines = [
        [plain_text(plain(column.heading)) for column in columns],
        [":--" if column.words else "--:" for column in columns],
        *(
            [_cell(_text(cell), words=column.words) for column, cell in zip(columns, row, strict=True)]
            for row in table.rows
            if row is not None
        ),
    ]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _cell(text: str, *, words: bool) -> str:
    return span(plain(text)) if words else plain_text(plain(text))


def _text(cell: str | TextCell) -> str:
    return cell if isinstance(cell, str) else cell.text

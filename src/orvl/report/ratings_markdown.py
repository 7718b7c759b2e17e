"""Ratings as Markdown: the columns of the table, with names in code spans, so that no `@name` in them calls anybody."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.report.ratings_json import warnings_of
from orvl.report.table import in_order, sentences_below, shown_columns
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board


def as_markdown(rows: Sequence[Row], board: Board, trust: Iterable[str] = ()) -> str:
    """A table, and below it what a report says below its table."""
    if not rows:
        return "No stored run matches these words.\n"
    ordered = in_order(rows)
    columns = shown_columns(ordered, board)
    lines = [
        _line([plain_text(column.heading) for column in columns]),
        _line([":--" if column.words else "--:" for column in columns]),
        *(
            _line([span(column.cell(row)) if column.words else plain_text(column.cell(row)) for column in columns])
            for row in ordered
        ),
    ]
    said = [*trust, *sentences_below(columns, ordered, board), *(f"! {one}" for one in warnings_of(board))]
    return "\n".join([*lines, "", *(f"- {plain_text(plain(sentence))}" for sentence in said)]) + "\n"


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def span(text: str) -> str:
    """Text from anybody as code: the fence is longer than any row of backticks inside."""
    if not text:
        return ""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def plain_text(text: str) -> str:
    """Text without anything that Markdown or HTML would act on."""
    return re.sub(r"([\\`*_{}\[\]<>#|@~!&])", r"\\\1", text).replace("\\@", "@\u2060").replace("\\!", "!")

"""Ratings as a table with links: the columns are those of `orvl report`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.report.table import in_order, sentences_below, shown_columns
from orvl.web.draw import WHOLE, whisker
from orvl.web.html import Html, tag
from orvl.web.show import Heading, link, sentences, table

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.report.columns import Column
    from orvl.web.draw import Scale
    from orvl.web.html import Child
    from orvl.web.page import Links


def _axis(scale: Scale) -> str:
    return "0 to 1" if scale == WHOLE else f"{scale.low:.2f} to {scale.high:.2f}"


def ratings(
    caption: str,
    rows: Sequence[Row],
    board: Board,
    links: Links,
    best: Collection[tuple[str, str, str]] = (),
    scale: Scale = WHOLE,
) -> list[Child]:
    """The table, and what must be said below it; rows of the best are shaded."""
    if not rows:
        return [tag("p", "No stored run matches these words.")]
    ordered = in_order(rows)
    columns = shown_columns(ordered, board)
    return [ratings_table(caption, ordered, columns, links, best, scale), _below(columns, ordered, board, scale)]


def ratings_table(
    caption: str,
    rows: Sequence[Row],
    columns: Sequence[Column[Row]],
    links: Links,
    best: Collection[tuple[str, str, str]] = (),
    scale: Scale = WHOLE,
) -> Html:
    """In the order of the rows."""
    names = [column for column in columns if column.heading == "agent model provider"]
    columns = [*names, *(column for column in columns if column not in names)]
    place = next(i for i, column in enumerate(columns) if column.heading == "R")
    headings = [Heading(column.heading, column.words) for column in columns]
    headings.insert(place, Heading(_axis(scale)))

    def cells(row: Row) -> list[Child]:
        shown: list[Child] = [_cell(column, row, links) for column in columns]
        shown.insert(place, whisker(row, scale))
        return shown

    return table(caption, headings, [("winner" if row.contestant in best else None, cells(row)) for row in rows])


def _below(columns: Sequence[Column[Row]], rows: Sequence[Row], board: Board, scale: Scale) -> list[Html]:
    picture = f"{_axis(scale)}: R is the dot, its interval the line, R_pen the tick; dotted is what doing nothing gets."
    if any(row.one_judge_less for row in rows):
        picture += " The band below is R with one judge less."
    if scale != WHOLE:
        picture += " The axis does not begin at 0 nor end at 1: differences look larger than they are."
    return sentences((*sentences_below(columns, rows, board), picture))


def _cell(column: Column[Row], row: Row, links: Links) -> Child:
    text = column.cell(row)
    names = {"agent": row.agent, "model": row.model, "provider": row.provider, "eval": row.eval or ""}
    if column.heading in ("R", "runs", "run"):
        address = links.run(row.run) if row.run else links.runs(**names)
        return link(tag("span", text, class_="bold") if column.bold else text, address)
    if column.heading in ("cost", "time"):
        return link(text, links.run(row.run) if row.run else links.runs(**names, sort=column.heading))
    if column.heading == "agent model provider":
        return link(text, links.run(row.run) if row.run else links.runs(**names))
    return link(text, links.eval(row.eval)) if column.heading == "eval" and row.eval else text

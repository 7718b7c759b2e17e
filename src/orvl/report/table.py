"""Ratings as a table for a terminal, and the text around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.report.certificate import standing_sentence
from orvl.report.columns import leaderboard
from orvl.report.ratings_json import warnings_of
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.report.columns import Column

T = TypeVar("T")


def print_ratings(console: Console, rows: Sequence[Row], board: Board, trust: Iterable[str] = ()) -> None:
    """The table, its legend, the certificate, how far the ratings can be trusted, and warnings."""
    if not rows:
        console.print("No stored run matches these words.")
        _print_warnings(console, warnings_of(board))
        return
    ordered = sorted(rows, key=lambda row: (len(row.missing), -(row.R if row.R is not None else -1), row.agent))
    columns = [
        column for column in leaderboard(ordered, board.rules.penalty) if column.heading and column.when(ordered)
    ]
    fitting = that_fit(console.width, columns, ordered)
    console.print(make_table(fitting, ordered))
    for sentence in (
        *_hidden(columns, fitting, ordered),
        *_missing(ordered),
        *(legend for column in fitting if (legend := column.legend(ordered))),
        *_uncounted(ordered),
        standing_sentence(board.standing),
    ):
        console.print(sentence, style="dim", highlight=False, markup=False)
    for sentence in trust:
        console.print(sentence, highlight=False, markup=False)
    _print_warnings(console, warnings_of(board))


def that_fit(width: int, columns: Sequence[Column[T]], rows: Sequence[T]) -> list[Column[T]]:
    """The columns without the optional ones for which there is no room, last ones first."""
    widths = {id(column): column_width(column, rows) for column in columns}
    room = width - 2 - sum(widths[id(column)] for column in columns if not column.optional)
    kept = []
    for column in columns:
        if column.optional:
            room -= widths[id(column)]
        if not column.optional or room >= 0:
            kept.append(column)
    return kept


def column_width(column: Column[T], rows: Sequence[T]) -> int:
    return max(len(text) for text in (column.heading, *(column.cell(row) for row in rows))) + 2


def make_table(columns: Sequence[Column[T]], rows: Sequence[T]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in columns:
        justify = "left" if column.words else "right"
        table.add_column(column.heading, justify=justify, no_wrap=not column.words, overflow="fold")  # type: ignore[arg-type]
    for row in rows:
        table.add_row(*(Text(column.cell(row), style="bold" if column.bold else "") for column in columns))
    return table


def _hidden(columns: Sequence[Column[Row]], fitting: Sequence[Column[Row]], rows: Sequence[Row]) -> Iterator[str]:
    """The metrics that weigh something and found no room."""
    counted = {name for row in rows for name, metric in row.metrics.items() if metric.weight}
    shown = {column.heading for column in fitting}
    if hidden := sorted(column.heading for column in columns if column.heading in counted - shown):
        yield f"Hidden (terminal too narrow): {', '.join(hidden)}; see --json."


def _missing(rows: Sequence[Row]) -> Iterator[str]:
    if missing := sorted({name for row in rows for name in row.missing}):
        yield f"* rated without {', '.join(missing)}: compare only with rows that miss the same."


def _uncounted(rows: Sequence[Row]) -> Iterator[str]:
    """The scores of judges that are never part of a rating."""
    for judge in sorted({judge for row in rows for metric in row.metrics.values() for judge in metric.uncounted}):
        scores = [(row, dict(_scores_by(row, judge))) for row in rows]
        if not any(by_metric for _, by_metric in scores):
            continue
        yield f"Scores of the judge {judge}, which are never part of a rating:"
        for row, by_metric in scores:
            if by_metric:
                place = f" {plain(row.eval)}" if row.eval else ""
                values = ", ".join(f"{name} {value:.2f}" for name, value in by_metric.items())
                yield f"  {plain(f'{row.agent} {row.model} {row.provider}')}{place}: {values}"


def _scores_by(row: Row, judge: str) -> Iterator[tuple[str, float]]:
    for name, metric in row.metrics.items():
        value = metric.judges.get(judge)
        if judge in metric.uncounted and value is not None:
            yield name, value


def _print_warnings(console: Console, warnings: Sequence[str]) -> None:
    for warning in warnings:
        console.print(Text("! " + plain(warning), style="yellow"))

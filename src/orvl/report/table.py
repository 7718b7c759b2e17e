"""Ratings as a table for a terminal, and the text around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from orvl.report.certificate import standing_sentence
from orvl.report.columns import leaderboard
from orvl.report.ratings_json import warnings_of
from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.report.columns import Column
    from orvl.report.terminal import Terminal

T = TypeVar("T")


def print_ratings(terminal: Terminal, rows: Sequence[Row], board: Board, trust: Iterable[str] = ()) -> None:
    """The table, its legend, the certificate, how far the ratings can be trusted, and warnings."""
    if not rows:
        terminal.print("No stored run matches these words.")
        print_warnings(terminal, warnings_of(board))
        return
    ordered = in_order(rows)
    columns = shown_columns(ordered, board)
    terminal.print(make_table(columns, ordered))
    for sentence in sentences_below(columns, ordered, board):
        terminal.print(sentence, "dim")
    for sentence in trust:
        terminal.print(sentence)
    print_warnings(terminal, warnings_of(board))


def in_order(rows: Sequence[Row]) -> list[Row]:
    """The best first, those that miss less before those that miss more."""
    ordered = sorted(
        rows,
        key=lambda row: (row.is_elsewhere, len(row.missing), -(row.R if row.R is not None else -1), row.agent),
    )
    if all(row.is_elsewhere for row in ordered if row.R is not None):
        # Nobody has enough in common with anybody: an order would be a ranking.
        ordered.sort(key=lambda row: row.contestant)
    return ordered


def shown_columns(rows: Sequence[Row], board: Board) -> list[Column[Row]]:
    return [column for column in leaderboard(rows, board.rules.penalty) if column.heading and column.when(rows)]


def sentences_below(columns: Sequence[Column[Row]], rows: Sequence[Row], board: Board) -> Iterator[str]:
    """What is missing, what the columns mean, and how the judges stand to a certificate."""
    yield from _missing(rows)
    yield from board.common.sentences() if any(row.eval is None for row in rows) else ()
    yield from (legend for column in columns if (legend := column.legend(rows)))
    yield from _uncounted(rows)
    yield standing_sentence(board.standing)
    yield from _isolation(board)
    yield from _imported(board)


def make_table(columns: Sequence[Column[T]], rows: Sequence[T]) -> TextTable:
    return TextTable(
        [TextColumn(column.heading, column.words, column.key, column.below) for column in columns],
        [[TextCell(column.cell(row), "bold" if column.bold else "") for column in columns] for row in rows],
    )


def _missing(rows: Sequence[Row]) -> Iterator[str]:
    if missing := sorted({name for row in rows for name in row.missing}):
        yield f"* rated without {', '.join(missing)}: compare only with rows that miss the same."


def _isolation(board: Board) -> Iterator[str]:
    beside = [name for name, checks in board.isolation.items() if "in-process" in checks]
    if beside:
        yield f"Checks of {', '.join(beside)} run in-process: the agent's code beside them can change what they find."
    elif board.isolation:
        yield "Checks run in a sandbox of their own, apart from the agent's code."


def _imported(board: Board) -> Iterator[str]:
    by_tool: dict[str, list[str]] = {}
    for name, tool in board.imported_evals.items():
        by_tool.setdefault(tool, []).append(name)
    for tool, names in sorted(by_tool.items()):
        yield f"Evals imported from {plain(tool)}: {', '.join(names)}."


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


def print_warnings(terminal: Terminal, warnings: Sequence[str]) -> None:
    for warning in warnings:
        terminal.print(f"! {plain(warning)}", "yellow")

"""Agents × evals, with R in each place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.report.table import print_warnings
from orvl.report.terminal import TextColumn, TextTable
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.report.terminal import Terminal

MISSING, UNRATED = "–", "!"


def matrix_json(board: Board) -> dict[str, Any]:
    """Rows and columns by name; null where there is no rating."""
    rows, evals, cells = _parts(board)
    return {
        "rows": [
            {"agent": row.agent, "model": row.model or None, "provider": row.provider or None, "imported": row.imported}
            for row in rows
        ],
        "evals": evals,
        "R": [[_R(cells.get((*row.contestant, name))) for name in evals] for row in rows],
    }


def print_matrix(terminal: Terminal, board: Board) -> None:
    """Contestants down, evals across, where there is room for them."""
    rows, evals, cells = _parts(board)
    if not rows:
        terminal.print("No stored run matches these words.")
    else:
        columns = [TextColumn("agent model provider", words=True), *(TextColumn(plain(eval_)) for eval_ in evals)]
        terminal.print(TextTable(columns, [_line(row, evals, cells) for row in rows]))
    terminal.print(f"R of each cell; {MISSING}: not run, {UNRATED}: not rated, see: orvl report --by eval", "dim")
    for sentence in board.common.sentences():
        terminal.print(plain(sentence), "dim")
    print_warnings(terminal, board.warnings)


def _parts(board: Board) -> tuple[list[Row], list[str], dict[tuple[str, ...], Row]]:
    rows = sorted(
        board.contestants, key=lambda row: (row.is_elsewhere, -(row.R if row.R is not None else -1), row.contestant)
    )
    evals = sorted({row.eval for row in board.cells if row.eval})
    return rows, evals, {(*row.contestant, row.eval or ""): row for row in board.cells}


def _line(row: Row, evals: Sequence[str], cells: Mapping[tuple[str, ...], Row]) -> list[str]:
    name = plain(" ".join(name or MISSING for name in row.contestant))
    return [name, *(_text(cells.get((*row.contestant, eval_))) for eval_ in evals)]


def _R(row: Row | None) -> float | None:
    return row.R if row else None


def _text(row: Row | None) -> str:
    if row is None:
        return MISSING
    return UNRATED if row.R is None else f"{row.R:.3f}" + ("*" if row.missing else "")

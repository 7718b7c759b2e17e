"""Agents × evals, with R in each place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.report.table import print_warnings
from orvl.report.terminal import TextCell, TextColumn, TextTable, cell_width
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.report.terminal import Terminal

MISSING, UNRATED = "–", "!"
LEAST = 6


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
    """One table, or several below each other where the terminal is too narrow for all evals."""
    rows, evals, cells = _parts(board)
    if not rows:
        terminal.print("No stored run matches these words.")
    names = [plain(" ".join(name or MISSING for name in row.contestant)) for row in rows]
    left = max((cell_width(name) for name in ("agent model provider", *names)), default=0) + 4
    for some in _blocks(evals, terminal.width - left):
        table: list[list[str | TextCell]] = [
            [name, *(TextCell(_text(cells.get((*row.contestant, eval_)))) for eval_ in some)]
            for name, row in zip(names, rows, strict=True)
        ]
        columns = [TextColumn("agent model provider", words=True), *(TextColumn(plain(eval_)) for eval_ in some)]
        terminal.print(TextTable(columns, table))
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


def _R(row: Row | None) -> float | None:
    return row.R if row else None


def _text(row: Row | None) -> str:
    if row is None:
        return MISSING
    return UNRATED if row.R is None else f"{row.R:.3f}" + ("*" if row.missing else "")


def _blocks(evals: Sequence[str], room: int) -> Iterator[list[str]]:
    """As many columns as fit, at least one."""
    block: list[str] = []
    used = 0
    for name in evals:
        width = max(cell_width(plain(name)), LEAST) + 2
        if block and used + width > room:
            yield block
            block, used = [], 0
        block.append(name)
        used += width
    if block:
        yield block

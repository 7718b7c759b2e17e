"""`/evals`: contestants × evals, with R in each place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.matrix import MISSING, UNRATED, matrix_json
from orvl.report.ratings_json import report_json
from orvl.report.terminal import TextColumn, TextTable
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.pages.board import RatedRows, rated_rows
from orvl.web.show import Heading, heat, link, missing, sentences, table
from orvl.web.twins import table_twins

if TYPE_CHECKING:
    from typing import Any

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.web.html import Child
    from orvl.web.page import Links, PageRequest
    from orvl.web.show import TableCell, TableRow

PARTS = ("agent", "model", "provider")


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    found = rated_rows(asked, "agent")
    matrix = matrix_json(found.board)

    def as_data() -> str:
        return json_text(report_json(found.rows, found.board, found.beside, "agent", matrix=matrix))

    return Page(
        "Evals",
        lambda: [
            tag("h1", _answer(found.board)),
            filters("/evals", asked, *SelectionWords),
            evals_part(asked, found),
        ],
        ("orvl", "report", "--matrix", *flags(asked.words, *SelectionWords)),
        {"json": as_data, **table_twins(_as_text(found.board))},
    )


def _answer(board: Board) -> str:
    """How many there are, the hardest, and the one that tells contestants apart most."""
    by_eval: dict[str, list[float]] = {}
    for row in board.cells:
        if row.eval and row.R is not None and row.agent not in board.controls:
            by_eval.setdefault(row.eval, []).append(row.R)
    said = f"{count(len({row.eval for row in board.cells}), 'eval')} with runs."
    if len(by_eval) > 1:
        hardest = min(by_eval, key=lambda name: sum(by_eval[name]) / len(by_eval[name]))
        said += f" The hardest: {hardest}, R {sum(by_eval[hardest]) / len(by_eval[hardest]):.2f} on average."
    apart = {name: max(values) - min(values) for name, values in by_eval.items() if len(values) > 1}
    if len(apart) > 1:
        widest = max(apart, key=lambda name: apart[name])
        said += f" Contestants are farthest apart on {widest}: by {apart[widest]:.2f}."
    return said


def evals_part(asked: PageRequest, found: RatedRows) -> Child:
    """Evals down, contestants across: there are more evals than contestants, and a page scrolls down."""
    matrix, cells = matrix_json(found.board), _cells(found.board)
    if not matrix["rows"]:
        return tag("p", "No stored run matches these words.")

    def line(name: str) -> TableRow:
        places = [_cell(cells.get((*who, name)), asked.links) for who in _who(matrix)]
        return None, [link(name, asked.links.eval(name)), *places]

    rows = [line(name) for name in matrix["evals"]]
    legend = (
        "R of each cell, from light (0) to full (1). Hatched: – was not run, ! is not rated.",
        *found.board.common.sentences(),
    )
    headings = [Heading("eval", words=True), *(Heading(name) for name in _names(matrix))]
    return [table("R by eval and contestant", headings, rows), *sentences(legend)]


def _cells(board: Board) -> dict[tuple[str, ...], Row]:
    return {(*row.contestant, row.eval or ""): row for row in board.cells}


def _who(matrix: dict[str, Any]) -> list[tuple[str, ...]]:
    return [tuple(row[part] or "" for part in PARTS) for row in matrix["rows"]]


def _names(matrix: dict[str, Any]) -> list[str]:
    return [" ".join(row[part] or MISSING for part in PARTS) for row in matrix["rows"]]


def _cell(row: Row | None, links: Links) -> TableCell:
    if row is None:
        return missing(f"{MISSING} not run")
    address = links.runs(agent=row.agent, model=row.model, provider=row.provider, eval=row.eval or "")
    return missing(link(_text(row), address)) if row.R is None else heat(row.R, link(_text(row), address))


def _text(row: Row | None) -> str:
    if row is None:
        return f"{MISSING} not run"
    if row.R is not None:
        return f"{row.R:.3f}" + ("*" if row.missing else "")
    return f"{UNRATED} {row.errored} errored" if row.errored else f"{UNRATED} not rated"


def _as_text(board: Board) -> TextTable:
    matrix, cells = matrix_json(board), _cells(board)
    columns = [TextColumn("eval", words=True), *map(TextColumn, _names(matrix))]
    rows = [[name, *(_text(cells.get((*who, name))) for who in _who(matrix))] for name in matrix["evals"]]
    return TextTable(columns, rows)

"""`/evals`: contestants × evals, with R in each place."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.matrix import matrix_json
from orvl.report.ratings_json import report_json
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.pages.board import RatedRows, rated_rows
from orvl.web.show import Heading, link, sentences, table

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.page import PageRequest


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    found = rated_rows(asked, "agent")
    matrix = matrix_json(found.board)

    def as_data() -> str:
        return json_text(report_json(found.rows, found.board, found.beside, "agent", matrix=matrix))

    return Page(
        "Evals",
        lambda: [
            tag("h1", f"{count(len(matrix['evals']), 'eval')} with runs."),
            filters("/evals", asked, *SelectionWords),
            evals_part(asked, found),
        ],
        ("orvl", "report", "--matrix", *flags(asked.words, *SelectionWords)),
        {"json": as_data},
    )


def evals_part(asked: PageRequest, found: RatedRows) -> Child:
    """Evals down, contestants across: there are more evals than contestants, and a page scrolls down."""
    matrix = matrix_json(found.board)
    if not matrix["rows"]:
        return tag("p", "No stored run matches these words.")
    names = [" ".join(row[part] or "–" for part in ("agent", "model", "provider")) for row in matrix["rows"]]
    cells = {(row.contestant, row.eval): row for row in found.board.cells}
    contestants = [tuple(row[part] or "" for part in ("agent", "model", "provider")) for row in matrix["rows"]]

    def place(column: int, name: str, R: float | None) -> Child:
        agent, model, provider = contestants[column]
        if ((agent, model, provider), name) not in cells:
            return "–"
        text = "!" if R is None else f"{R:.3f}"
        return link(text, asked.links.runs(agent=agent, model=model, provider=provider, eval=name))

    rows = [
        (None, [link(name, asked.links.eval(name)), *(place(j, name, line[i]) for j, line in enumerate(matrix["R"]))])
        for i, name in enumerate(matrix["evals"])
    ]
    legend = ("R of each cell; –: not run, !: not rated.", *found.board.common.sentences())
    headings = [Heading("eval", words=True), *map(Heading, names)]
    return [table("R by eval and contestant", headings, rows), *sentences(legend)]

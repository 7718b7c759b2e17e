"""How the code grew, turn by turn. Nothing of it counts in a rating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.report.run import curve_rows
from orvl.web.show import Heading, sentences, table

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow

MEANING = (
    "Cloned: lines that stand elsewhere too, six or more in a row. In complex functions: of all paths through "
    "functions, those in functions with more than ten. None of this has a weight."
)


def part(run: RunAsked) -> Child:
    """A table of turns, or None where nothing is stored of them."""
    states = run.shown.curves
    if not states:
        return None
    turns = ["at the start" if not state.turn else f"after turn {state.turn}" for state in states]
    rows: list[TableRow] = [(None, [name, *values]) for name, values in curve_rows(states).items()]
    headings = [Heading("code", words=True), *map(Heading, turns)]
    return [table("Code by turn", headings, rows), sentences([MEANING])]

"""How the code grew, turn by turn, beside good work. Nothing of it counts in a rating."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.report.run import curve_rows
from orvl.web.draw_run import curve
from orvl.web.show import Heading, sentences, table

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow

MEANING = (
    "Cloned: lines that stand elsewhere too, six or more in a row. In complex functions: of all paths through "
    "functions, those in functions with more than ten. None of this has a weight."
)
GOOD = "Dashed: good work on the same eval (dummy-good)."
NAMES = {
    "lines": "lines",
    "cloned": "cloned",
    "complex": "in complex functions",
    "lint": "new lint findings",
    "touched": "files touched",
}
"""What a row shows, as `curve_rows` calls it."""


def part(run: RunAsked) -> Child:
    """A table of turns, or None where nothing is stored of them."""
    states, good = run.shown.curves, run.shown.good_curves
    if not states:
        return None
    turns = ["at the start" if not state.turn else f"after turn {state.turn}" for state in states]
    shown, ends = curve_rows(states), {name: values[-1] for name, values in curve_rows(good).items()} if good else {}
    rows: list[TableRow] = []
    for measure, name in NAMES.items():
        if name in shown:
            lines = [[(state.turn, getattr(state, measure)) for state in each] for each in (states, good)]
            rows.append((None, [name, curve(*lines), *shown[name], *([ends.get(name, "–")] if good else [])]))
    headings = [
        Heading("code", words=True),
        Heading(""),
        *map(Heading, turns),
        *([Heading("good, in the end")] if good else []),
    ]
    return [table("Code by turn", headings, rows), sentences([MEANING, *([GOOD] if good else [])])]

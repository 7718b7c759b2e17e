"""`/compare?a=…&b=…`: which of two is better, as `orvl compare` says it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.pipeline import compare
from orvl.report.comparison import comparison_json, print_comparison
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, flags
from orvl.web.show import Heading, PageTerminal, link, table

if TYPE_CHECKING:
    from orvl.rate.compare import Comparison
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableRow

WORDS = ("model", "provider", "eval", "metric", "judge")


def page(asked: PageRequest) -> Page:
    asked.only("a", "b", "within", *WORDS)
    a, b = asked.words.get("a"), asked.words.get("b")
    form = filters("/compare", asked, "a", "b", "within", *WORDS, button="Compare")
    if not a or not b:
        return Page(
            "Compare", lambda: [tag("h1", "Which of two is better?"), form, _choices(asked)], ("orvl", "compare")
        )
    found = compare(asked.project, asked.store, a, b, replace(asked.selection, agent="all"), asked.judges)
    if (within := asked.number("within")) is not None:
        if not 0 < within <= 1:
            raise UserError(f"within={within:g} is not between 0 and 1.")
        found = replace(found, within=within)
    return Page(
        f"{a} against {b}",
        lambda: [form, comparison_part(asked, found)],
        ("orvl", "compare", a, b, *flags(asked.words, "within", *WORDS)),
        {"json": lambda: json_text(comparison_json(found))},
    )


def _choices(asked: PageRequest) -> Child:
    """What can be compared: agents, models and providers of the store."""
    cells = [cell for cell in asked.store.cells() if cell.runs and not cell.agent.startswith("control:")]
    names = {kind: sorted({getattr(cell, kind) for cell in cells}) for kind in ("agent", "model", "provider")}
    return [tag("p", f"{kind}s: {', '.join(known)}") for kind, known in names.items() if len(known) > 1]


def comparison_part(asked: PageRequest, found: Comparison) -> list[Child]:
    terminal = PageTerminal(caption="Differences by metric")
    print_comparison(terminal, found)
    headings = [Heading("eval", words=True), *map(Heading, (found.a, found.b, "difference"))]
    rows: list[TableRow] = [
        (None, [link(one.name, asked.links.eval(one.name)), f"{one.a:.3f}", f"{one.b:.3f}", f"{one.difference:+.3f}"])
        for one in sorted(found.evals, key=lambda one: -abs(one.difference))
    ]
    first, *rest = terminal.parts
    lead = tag("h1", "Comparison"), first
    return [*lead, *rest, tag("h2", "By eval"), table("Differences by eval", headings, rows)]

"""`/history`: runs of files that have changed since, and what changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.plan.selection import chosen_metrics, stored_matcher
from orvl.project.names import count
from orvl.rate.history import history
from orvl.report.history import history_json, print_history
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.show import PageTerminal

if TYPE_CHECKING:
    from orvl.web.page import PageRequest


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    cells = asked.store.cells()
    keep = stored_matcher(asked.project, asked.selection, [cell.names for cell in cells])
    rows = history(
        asked.project, asked.store, keep, asked.judges, chosen_metrics(asked.project, asked.selection, cells)
    )
    newest = {row.keys[-1][:12]: asked.links.run(row.keys[-1]) for row in rows if row.keys}
    terminal = PageTerminal(caption="Runs of files that have changed since", cells=newest)
    print_history(terminal, rows)
    return Page(
        "History",
        lambda: [
            tag("h1", f"{count(len(rows), 'cell')} of files that have changed since."),
            filters("/history", asked, *SelectionWords),
            terminal.parts,
        ],
        ("orvl", "report", "--history", *flags(asked.words, *SelectionWords)),
        {"json": lambda: json_text({"schema": 1, "history": history_json(rows)})},
    )

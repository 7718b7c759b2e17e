"""`/endpoints`: how providers served the same model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.endpoints import shown_endpoints
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, flags
from orvl.web.show import PageTerminal

if TYPE_CHECKING:
    from orvl.web.page import PageRequest

WORDS = ("agent", "model", "provider", "eval")


def page(asked: PageRequest) -> Page:
    asked.only(*WORDS)
    found = shown_endpoints(asked.project, asked.store, asked.selection)
    terminal = PageTerminal(caption="Endpoints")
    found.print(terminal)
    return Page(
        "Endpoints",
        lambda: [
            tag("h1", f"{count(len(found.rows), 'endpoint')}; something went wrong in {count(found.failing, 'call')}."),
            filters("/endpoints", asked, *WORDS),
            terminal.parts,
        ],
        ("orvl", "endpoints", *flags(asked.words, *WORDS)),
        {"json": lambda: json_text(found.as_json())},
    )

"""`/endpoints`: how providers served the same model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.endpoints import shown_endpoints
from orvl.web.json_text import json_text
from orvl.web.page import flags
from orvl.web.printed import printed_page

if TYPE_CHECKING:
    from orvl.web.page import Page, PageRequest

WORDS = ("agent", "model", "provider", "eval")


def page(asked: PageRequest) -> Page:
    asked.only(*WORDS)
    found = shown_endpoints(asked.project, asked.store, asked.selection)
    return printed_page(
        asked,
        "Endpoints",
        f"{count(len(found.rows), 'endpoint')}; something went wrong in {count(found.failing, 'call')}.",
        found.print,
        words=WORDS,
        command=("orvl", "endpoints", *flags(asked.words, *WORDS)),
        as_json=lambda: json_text(found.as_json()),
    )

"""`/trust`: whether the judges can be trusted, and by which test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.report.certificate import print_certificate, standing_json, standing_sentence
from orvl.report.trust_text import as_json
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.pages.board import RatedRows, rated_rows
from orvl.web.show import PageTerminal, sentences

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.page import PageRequest


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    found = rated_rows(asked, "agent")
    standing = found.board.standing

    def as_data() -> str:
        trust = as_json(found.beside, standing) if found.beside else None
        return json_text({"schema": 1, "certificate": standing_json(standing), "trust": trust})

    return Page(
        "Trust",
        lambda: [
            tag("h1", standing_sentence(standing)),
            filters("/trust", asked, *SelectionWords),
            trust_part(found),
        ],
        ("orvl", "report", *flags(asked.words, *SelectionWords)),
        {"json": as_data},
    )


def trust_part(found: RatedRows) -> list[Child]:
    """The certificate with its tests, then what the judges agree on and what more runs would settle."""
    standing = found.board.standing
    terminal = PageTerminal(caption="Tests of the judges")
    if standing.content is not None:
        print_certificate(terminal, standing.content)
    reasons = standing.reasons if standing.state == "stale" else ()
    return [sentences(reasons, "warn"), terminal.parts, sentences(found.said, "")]

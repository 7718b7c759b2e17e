"""`/trust`: whether the judges can be trusted, and by which test."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.report.certificate import print_certificate, standing_json, standing_sentence
from orvl.report.trust_text import as_json
from orvl.report.trust_text import sentences as trust_sentences
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.pages.board import RatedRows, rated_rows
from orvl.web.show import PageTerminal, sentences
from orvl.web.trust_tables import agreement_table, alarms, controls_part, people_table, text_part
from orvl.web.twins import table_twins

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.page import PageRequest


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    found = rated_rows(asked, "agent")
    standing = found.board.standing
    terminal = _printed(found)
    tables = [*terminal.tables, *filter(None, (agreement_table(found.beside), people_table(found.beside)))]

    def as_data() -> str:
        trust = as_json(found.beside, standing) if found.beside else None
        return json_text({"schema": 1, "certificate": standing_json(standing), "trust": trust})

    return Page(
        "Trust",
        lambda: [
            tag("h1", _answer(found)),
            filters("/trust", asked, *SelectionWords),
            _parts(asked, found, terminal),
        ],
        ("orvl", "report", *flags(asked.words, *SelectionWords)),
        {"json": as_data, **(table_twins(*tables) if tables else {})},
    )


def trust_part(found: RatedRows) -> list[Child]:
    """The certificate with its tests, then what the judges agree on and what more runs would settle."""
    return [_reasons(found), _printed(found).parts, sentences(found.said, "")]


def _answer(found: RatedRows) -> str:
    """Certified or not, and the test that was the closest call."""
    standing = found.board.standing
    said = standing_sentence(standing)
    tests = [test for test in (standing.content or {}).get("tests", ()) if test["passed"] and test["bound"] is not None]
    if standing.state != "certified" or not tests:
        return said
    closest = min(tests, key=lambda test: abs(test["bound"] - test["margin"]))
    needs = f"{closest['bound']:.2f} where {closest['margin']:.2f} is asked"
    return f"{said} The closest call: {closest['name']}, {needs}."


def _reasons(found: RatedRows) -> Child:
    standing = found.board.standing
    return sentences(standing.reasons if standing.state == "stale" else (), "warn")


def _printed(found: RatedRows) -> PageTerminal:
    terminal = PageTerminal(caption="Tests of the judges")
    if found.board.standing.content is not None:
        print_certificate(terminal, found.board.standing.content)
    return terminal


def _parts(asked: PageRequest, found: RatedRows, terminal: PageTerminal) -> list[Child]:
    agreement, people = agreement_table(found.beside), people_table(found.beside)
    return [
        _reasons(found),
        terminal.parts[1:],
        controls_part(asked, found.board.standing.content),
        text_part("Agreement of the judges", agreement),
        text_part("People against judges", people) or _label_link(asked),
        alarms(asked, found.board),
        sentences(_not_in_tables(found), ""),
    ]


def _not_in_tables(found: RatedRows) -> list[str]:
    """What a report says beside its table, without what stands in a table here."""
    beside = found.beside
    if beside is None:
        return []
    people = replace(beside.people, judges=()) if beside.people else None
    return list(trust_sentences(replace(beside, people=people), found.board.standing))


def _label_link(asked: PageRequest) -> Child:
    way = tag("a", "Label some", href=asked.links.to("/label"))
    return tag("p", "Nobody has labelled runs yet: agreeing judges may all be wrong. ", way, ".")

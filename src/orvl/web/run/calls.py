"""The calls of models: a picture of all, then a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.calls import how_it_failed, was_left
from orvl.report.text import dollars, seconds
from orvl.web.draw_run import barcode
from orvl.web.html import join, tag
from orvl.web.show import Heading, link, sentences, short, table

if TYPE_CHECKING:
    from orvl.types import ModelCall
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked
    from orvl.web.show import TableRow

MARKUP_OF_A_ROW = 400
"""Bytes around the cells."""
FIGURES = ("turn", "model", "status", "in", "cached", "out", "cost", "waited", "took")
LEGEND = (
    "A tick is a call: from left to right in time, as high as its tokens; red with a dot where it failed.",
    "in, cached, out: tokens, cached ones being part of those that went in; waited: held back by orvl.",
)


def part(run: RunAsked) -> Child:
    calls = run.last.calls
    if not calls:
        return None
    first = int(run.asked.number("at") or 1)
    kept = [call for call in calls if call.number >= first]
    rows, following = _fitting(run, kept)
    headings = [Heading("call"), *map(Heading, FIGURES), Heading("trouble", words=True)]
    more = sum(call.number >= following for call in kept) if following else 0
    return [
        barcode(calls),
        table("Model calls", headings, rows),
        tag("p", f"{count(more, 'more call')}. ", link("Go on", run.address("calls", at=str(following))))
        if more
        else None,
        sentences(LEGEND),
    ]


def _fitting(run: RunAsked, calls: list[ModelCall]) -> tuple[list[TableRow], int | None]:
    """And the number of the first call that does not fit."""
    rows: list[TableRow] = []
    room = run.most
    for call in calls:
        cells = _row(run, call)
        room -= len(join(*cells).markup.encode()) + MARKUP_OF_A_ROW
        if rows and room < 0:
            return rows, call.number
        rows.append((None, cells))
    return rows, None


def _row(run: RunAsked, call: ModelCall) -> list[Child]:
    most = "≤ " if call.is_bound else ""
    failed = how_it_failed(call)
    status = failed or ("abandoned" if was_left(call) else str(call.status or "–"))
    model = short(call.asked_model)
    if call.served_model and call.served_model != call.asked_model:
        model = f"{model}, answered by {short(call.served_model)}"
    troubles = dict.fromkeys((*([call.trouble] if call.trouble else ()), *(one.kind for one in call.findings)))
    return [
        link(f"#{call.number}", run.raw("call", call.number)),
        str(call.turn),
        model,
        tag("span", short(status), class_="bad" if failed else None),
        *(_tokens(most, number) for number in (call.input_tokens, call.cached_tokens, call.output_tokens)),
        "?" if call.cost_usd is None else most + dollars(call.cost_usd),
        seconds(call.waited) if call.waited >= 0.05 else "",
        seconds(call.seconds),
        "; ".join(map(short, troubles)),
    ]


def _tokens(most: str, number: int | None) -> str:
    return "?" if number is None else f"{most}{number:,}"

"""`/runs`: every run, filtered by words of the address."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.project.names import count, did_you_mean
from orvl.report.table import shown_columns
from orvl.report.text import plain
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.pages.board import rated_rows
from orvl.web.ratings import ratings_table
from orvl.web.show import link

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.web.html import Child
    from orvl.web.page import Links, PageRequest

OWN_WORDS = ("outcome", "reason", "below", "above", "cost_over", "seconds_over", "sort")
OUTCOMES = ("finished", "failed", "errored")
ON_A_PAGE = 50
LAST = float("inf")
"""What is unknown comes last, whatever is sorted by."""
SORTS: dict[str, Callable[[Row], float]] = {
    "worst": lambda row: LAST if row.R is None else row.R,
    "best": lambda row: LAST if row.R is None else -row.R,
    "cost": lambda row: LAST if row.usage.get("cost_usd") is None else -row.usage["cost_usd"],
    "time": lambda row: LAST if row.usage.get("seconds") is None else -row.usage["seconds"],
}


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords, *OWN_WORDS, "after")
    found = rated_rows(asked, "run")
    rows = chosen(asked, found.rows)
    shown = found.only(rows)
    return Page(
        "Runs",
        lambda: [
            tag("h1", _summary(rows)),
            filters("/runs", asked, *SelectionWords, *OWN_WORDS),
            _table(asked, rows, found.board),
        ],
        ("orvl", "report", "--by=run", *flags(asked.words, *SelectionWords)),
        {"json": lambda: shown.twins()["json"], "csv": lambda: shown.twins()["csv"]},
    )


def chosen(asked: PageRequest, rows: Iterable[Row]) -> list[Row]:
    """The rows that fit, in the order that was asked for; a figure that is unknown is over and below nothing."""
    outcome, reason = asked.words.get("outcome"), asked.words.get("reason", "").casefold()
    if outcome and outcome not in OUTCOMES:
        raise UserError(f"There is no outcome '{outcome}'. {did_you_mean(outcome, OUTCOMES)}")
    sort = asked.words.get("sort")
    if sort and sort not in SORTS:
        raise UserError(f"There is no order '{sort}'. {did_you_mean(sort, SORTS)}")
    below, above = asked.number("below"), asked.number("above")
    cost, seconds = asked.number("cost_over"), asked.number("seconds_over")

    def fits(row: Row) -> bool:
        return (
            (not outcome or (row.outcome or "errored") == outcome)
            and (not reason or reason in (row.reason or "").casefold())
            and (below is None or (row.R is not None and below > row.R))
            and (above is None or (row.R is not None and above < row.R))
            and (cost is None or (row.usage.get("cost_usd") or 0.0) > cost)
            and (seconds is None or (row.usage.get("seconds") or 0.0) > seconds)
        )

    kept = [row for row in rows if fits(row)]
    return sorted(kept, key=SORTS[sort]) if sort else kept


def _summary(rows: list[Row]) -> str:
    failed = sum(row.outcome == "failed" for row in rows)
    errored = sum(row.outcome == "errored" for row in rows)
    return f"{count(len(rows), 'run')}, {failed} failed, {errored} errored."


def _table(asked: PageRequest, rows: list[Row], board: Board) -> Child:
    if not rows:
        return tag("p", "No stored run matches these words.")
    start = _start(asked, rows)
    some = rows[start : start + ON_A_PAGE]
    further = start + ON_A_PAGE < len(rows)
    after = {**asked.words, "after": some[-1].run or ""}
    more = tag("p", link(f"The next {min(ON_A_PAGE, len(rows) - start - ON_A_PAGE)}", asked.links.to("/runs", after)))
    return [runs_table(some, board, asked.links), more if further else None]


def _start(asked: PageRequest, rows: list[Row]) -> int:
    """The place after the last run of the page before, which other runs may have moved."""
    after = asked.words.get("after")
    if not after:
        return 0
    place = next((place for place, row in enumerate(rows) if row.run == after), None)
    if place is None:
        raise UserError(f"The run '{after[:12]}' is not among these any more. See: /runs")
    return place + 1


def runs_table(rows: list[Row], board: Board, links: Links) -> Child:
    """In the order of the rows, with how each ended."""
    outcome = replace(
        next(column for column in shown_columns(rows, board) if column.heading == "eval"),
        heading="outcome",
        cell=lambda row: plain(f"{row.outcome}: {row.reason}" if row.reason else row.outcome or ""),
    )
    return ratings_table("Ratings by run", rows, [*shown_columns(rows, board), outcome], links)

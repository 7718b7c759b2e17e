"""`/now`: what a command that is running has done, spent and left."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.project.names import count
from orvl.report.now_file import read_now
from orvl.report.text import seconds
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page
from orvl.web.show import Heading, link, table

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableRow

SECONDS = 5
LONGEST = 3600
MOST_ROWS = 200
COUNTS = ("done", "total", "running", "failed", "errored", "spent")


def page(asked: PageRequest) -> Page:
    asked.only("every")
    every = asked.number("every")
    if every is not None and not 1 <= every <= LONGEST:
        raise UserError(f"every={every:g} is not between 1 and {LONGEST} seconds.")
    is_running = asked.store.has_writer
    content = read_now(asked.store.folder) if is_running else None
    return Page(
        "Now",
        lambda: [_running(asked, content) if content else _quiet(is_running), _again(asked, every)],
        twins={"json": lambda: json_text({"schema": 1, "running": is_running, "now": content})},
        refresh=int(every) if every else None,
    )


def _quiet(is_running: bool) -> Child:
    sentence = "Another command is writing to the store." if is_running else "Nothing is running."
    return [tag("h1", sentence), tag("p", tag("a", "All runs", href="/runs"))]


def _again(asked: PageRequest, every: float | None) -> Child:
    """A page that loads itself again is for those who ask for it: it takes a reader's place away."""
    if every:
        return tag("p", link("Stop loading this page again", asked.links.to("/now")), class_="note")
    address = asked.links.to("/now", {"every": str(SECONDS)})
    return tag("p", link(f"Load this page every {SECONDS} seconds", address), class_="note")


def _running(asked: PageRequest, content: dict[str, Any]) -> list[Child]:
    runs, contestants = content["runs"], content["contestants"]
    now = time.time()
    headings = [Heading("run", words=True), Heading("episode"), Heading("for")]
    rows: list[TableRow] = [
        (None, [_names(one, "agent", "model", "provider", "eval"), one["episode"], seconds(now - one["began"])])
        for one in sorted(runs, key=lambda one: one["began"])[:MOST_ROWS]
    ]
    tallies: list[TableRow] = [
        (None, [_names(one, "agent", "model", "provider"), *(str(one[name]) for name in COUNTS)])
        for one in contestants[:MOST_ROWS]
    ]
    return [
        tag("h1", f"{content['summary']}."),
        tag("h2", f"{count(len(runs), 'run')} under way, the longest first"),
        table("Runs under way", headings, rows) if rows else None,
        tag("h2", "By contestant"),
        table("By contestant", [Heading("agent model provider", words=True), *map(Heading, COUNTS)], tallies),
        tag("p", f"As of {seconds(max(now - content['written'], 0))} ago.", class_="note"),
        tag("p", link("Runs that are done", asked.links.to("/runs"))),
    ]


def _names(one: dict[str, Any], *names: str) -> str:
    return " ".join(str(one[name]) for name in names)

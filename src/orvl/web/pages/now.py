"""`/now`: what a command that is running has done, spent and left; numbers follow by themselves where a script may."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.errors import UserError
from orvl.report.now_file import read_now
from orvl.report.text import dollars, plain, seconds
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page
from orvl.web.show import Heading, link, table

if TYPE_CHECKING:
    from orvl.store import Store
    from orvl.web.html import Child, Html
    from orvl.web.page import PageRequest

SECONDS = 5
LONGEST = 3600
MOST_ROWS = 200
COUNTS = ("done", "total", "running", "failed", "errored", "spent")
TABLES = {
    "runs": ("Runs under way, the longest first", ("run", "episode", "for", "at", "silent for", "calls")),
    "contestants": ("By contestant", ("agent model provider", *COUNTS)),
    "providers": ("Providers", ("provider", "calls open", "at most")),
    "notices": ("What was said, the newest first", ("sentence", "ago")),
}
Rows = list[list[str]]


@dataclass(frozen=True)
class NowTexts:
    """All that the page shows, as texts: the page and its stream show the same."""

    texts: dict[str, str]
    tables: dict[str, Rows] = field(default_factory=lambda: {name: [] for name in TABLES})

    def as_json(self) -> dict[str, Any]:
        return {"texts": self.texts, "tables": self.tables}


def now_texts(store: Store) -> NowTexts:
    is_running = store.has_writer
    content = read_now(store.folder) if is_running else None
    if content is None:
        sentence = "Another command is writing to the store." if is_running else "Nothing is running."
        return NowTexts({"summary": sentence, "budget": "", "written": ""})
    now = time.time()
    budget, spent = content.get("budget"), plain(str(content["spent"]))
    return NowTexts(
        {
            "summary": f"{plain(str(content['summary']))}.",
            "budget": f"Budget: {spent} of {dollars(budget)} are spent by agents." if budget else "",
            "written": f"As of {_ago(now, content['written'])} ago.",
        },
        {
            "runs": [_run(one, now) for one in sorted(content["runs"], key=lambda one: one["began"])[:MOST_ROWS]],
            "contestants": [
                [_names(one, "agent", "model", "provider"), *(plain(str(one[name])) for name in COUNTS)]
                for one in content["contestants"][:MOST_ROWS]
            ],
            "providers": [_provider(one) for one in content.get("providers", ())],
            "notices": [
                [plain(str(one["sentence"])), _ago(now, one["at"])] for one in reversed(content.get("notices", ()))
            ],
        },
    )


def _run(one: dict[str, Any], now: float) -> list[str]:
    """Files of an earlier version have less to say."""
    calls = f"{one['calls']}, {one['open_calls']} open" if "calls" in one else "–"
    silent = _ago(now, one["heard"]) if "heard" in one else "–"
    stage = plain(str(one.get("stage") or "–"))
    names = _names(one, "agent", "model", "provider", "eval")
    return [names, str(one["episode"]), _ago(now, one["began"]), stage, silent, calls]


def _provider(one: dict[str, Any]) -> list[str]:
    most = one["concurrency"]
    return [plain(str(one["provider"])), str(one["open_calls"]), "no limit" if most is None else str(most)]


def _names(one: dict[str, Any], *names: str) -> str:
    return plain(" ".join(str(one[name]) for name in names))


def _ago(now: float, then: float) -> str:
    return seconds(max(now - then, 0.0))


def page(asked: PageRequest) -> Page:
    asked.only("every")
    every = asked.number("every")
    if every is not None and not 1 <= every <= LONGEST:
        raise UserError(f"every={every:g} is not between 1 and {LONGEST} seconds.")
    shown = now_texts(asked.store)
    is_running = asked.store.has_writer
    content = read_now(asked.store.folder) if is_running else None
    return Page(
        "Now",
        lambda: _body(asked, shown, every),
        twins={"json": lambda: json_text({"schema": 1, "running": is_running, "now": content})},
        refresh=int(every) if every else None,
        access="reading" if every else "live",
    )


def _body(asked: PageRequest, shown: NowTexts, every: float | None) -> list[Child]:
    return [
        tag("h1", shown.texts["summary"], data_now="summary"),
        tag("p", shown.texts["budget"], data_now="budget"),
        [_section(name, rows) for name, rows in shown.tables.items()],
        tag("p", shown.texts["written"], data_now="written", class_="note"),
        tag("p", link("Runs that are done", asked.links.to("/runs"))),
        _again(asked, every),
    ]


def _section(name: str, rows: Rows) -> Html:
    title, columns = TABLES[name]
    headings = [Heading(text, words=not place) for place, text in enumerate(columns)]
    made = table(title, headings, [(None, list(row)) for row in rows])
    return tag("section", tag("h2", title), made, data_now=name, hidden=not rows)


def _again(asked: PageRequest, every: float | None) -> Child:
    """A page that loads itself again is for those who ask for it: it takes a reader's place away."""
    if every:
        return tag("p", link("Stop loading this page again", asked.links.to("/now")), class_="note")
    address = asked.links.to("/now", {"every": str(SECONDS)})
    state = tag("span", "Without a script these numbers stand still.", data_now="state")
    return tag("p", state, " ", link(f"Load this page every {SECONDS} seconds", address), class_="note")

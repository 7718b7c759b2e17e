"""`/runs`: every run, filtered by words of the address."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from orvl.errors import UserError
from orvl.project.names import count, did_you_mean
from orvl.report.ratings_csv import as_csv
from orvl.report.ratings_json import report_json
from orvl.report.table import shown_columns
from orvl.report.text import plain
from orvl.store.rows import AttemptFilter, Figure
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.ratings import ratings_table
from orvl.web.show import link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.run_index import RunIndex
    from orvl.store import Store
    from orvl.web.html import Child
    from orvl.web.page import Links, PageRequest

OWN_WORDS = ("outcome", "reason", "below", "above", "cost_over", "seconds_over", "alarm", "q", "sort")
OUTCOMES = ("finished", "failed", "errored")
BY_R = {"worst": 1, "best": -1}
BY_FIGURE: dict[str, Figure] = {"cost": "cost_usd", "time": "seconds"}
SORTS = (*BY_R, *BY_FIGURE)
ON_A_PAGE = 50
SEARCH_SECONDS = 2.0
"""For which a page looks into conversations; there may be very many, and they have no index."""


@dataclass(frozen=True)
class Listed:
    """The runs of one page, and what is known of all that fit."""

    attempts: Sequence[int]
    fitting: int
    failed: int
    errored: int
    after: int | None
    """The last attempt that was looked at, where there are more."""
    left: int = 0
    searched: tuple[int, int] | None = None
    """Where something is searched for: how many of the runs that fit have been looked into so far, and on this page."""


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords, *OWN_WORDS, "after")
    index = asked.boards.runs(asked)
    listed = _listed(asked, index)
    rows = index.rows(asked.store, listed.attempts)

    def as_data() -> str:
        found = report_json(rows, index.board, None, "run")
        return json_text({**found, "page": {"fitting": listed.fitting, "after": listed.after}})

    return Page(
        "Runs",
        lambda: [
            tag("h1", _summary(listed)),
            filters("/runs", asked, *SelectionWords, *OWN_WORDS),
            _searched(listed, len(rows)),
            runs_table(rows, index.board, asked.links) if rows else tag("p", "No stored run matches these words."),
            _more(asked, listed),
        ],
        ("orvl", "report", "--by=run", *flags(asked.words, *SelectionWords)),
        {"json": as_data, "csv": lambda: as_csv(rows, index.board)},
    )


# -- which of them


def _listed(asked: PageRequest, index: RunIndex) -> Listed:
    fitting = _fitting(asked, index)
    start = _start(asked, index, fitting)
    attempts = index.attempts[fitting]
    failed = np.isin(attempts, asked.boards.attempts(asked, AttemptFilter("failed"))).sum()
    errored = (fitting >= len(index.attempts) - index.errored).sum()
    if part := asked.words.get("q"):
        shown, looked = _with_text(asked.store, attempts[start:].tolist(), part)
    else:
        shown = attempts[start : start + ON_A_PAGE].tolist()
        looked = len(shown)
    left = len(attempts) - start - looked
    after = int(attempts[start + looked - 1]) if left else None
    return Listed(
        shown, len(fitting), int(failed), int(errored), after, left, (start + looked, looked) if part else None
    )


def _fitting(asked: PageRequest, index: RunIndex) -> NDArray[np.int64]:
    """The places in the index of runs that fit, in the order that was asked for; what is unknown is over and below
    nothing, and comes last."""
    sort = _known(asked, "sort", SORTS)
    places = _by_attempt(asked, index, BY_FIGURE.get(sort or ""))
    if (below := asked.number("below")) is not None:
        places = places[index.R[places] < below]
    if (above := asked.number("above")) is not None:
        places = places[index.R[places] > above]
    if asked.words.get("alarm"):
        places = places[np.isin(index.attempts[places], [one.attempt for one in asked.store.alarmed()])]
    return places[np.argsort(BY_R[sort] * index.R[places], kind="stable")] if sort in BY_R else places


def _by_attempt(asked: PageRequest, index: RunIndex, figure: Figure | None) -> NDArray[np.int64]:
    """Those that fit by what the store knows of their attempts."""
    cost, seconds = asked.number("cost_over"), asked.number("seconds_over")
    outcome, reason = _known(asked, "outcome", OUTCOMES), asked.words.get("reason", "")
    wanted = AttemptFilter(outcome, reason, cost, seconds, figure)
    if wanted == AttemptFilter():
        return np.arange(len(index.attempts))
    places = index.places_of(asked.boards.attempts(asked, wanted))
    places = places if figure else np.sort(places)
    # What an attempt used that errored is no figure of its run.
    has_errored = places >= len(index.attempts) - index.errored
    last = places[has_errored] if cost is None and seconds is None else places[:0]
    return np.concatenate([places[~has_errored], last])


def _known(asked: PageRequest, name: str, known: Sequence[str]) -> str | None:
    word = asked.words.get(name)
    if word and word not in known:
        raise UserError(f"There is no {name} '{word}'. {did_you_mean(word, known)}")
    return word


def _start(asked: PageRequest, index: RunIndex, fitting: NDArray[np.int64]) -> int:
    """The place after the last run of the page before, which other runs may have moved."""
    after = asked.number("after")
    if after is None:
        return 0
    place = np.flatnonzero(index.attempts[fitting] == after)
    if not len(place):
        raise UserError(f"The run with the number {after:g} is not among these any more. See: /runs")
    return int(place[0]) + 1


def _with_text(store: Store, attempts: Iterable[int], part: str) -> tuple[list[int], int]:
    """Runs whose conversation has this text, in any case, until a page is full or some time has passed; and how many
    were looked into."""
    until, found, looked = time.monotonic() + SEARCH_SECONDS, [], 0
    for attempt in attempts:
        steps = store.attempt(attempt)[0].steps
        looked += 1
        if steps and part.casefold() in _text(store, steps):
            found.append(attempt)
        if len(found) >= ON_A_PAGE or time.monotonic() > until:
            break
    return found, looked


def _text(store: Store, steps: str) -> str:
    import json

    def texts(value: object) -> Iterable[str]:
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict | list):
            for one in value.values() if isinstance(value, dict) else value:
                yield from texts(one)

    return "\n".join(texts(json.loads(store.blobs.get(steps)))).casefold()


# -- what is said


def _summary(listed: Listed) -> str:
    return f"{count(listed.fitting, 'run')}, {listed.failed} failed, {listed.errored} errored."


def _searched(listed: Listed, found: int) -> Child:
    if listed.searched is None:
        return None
    so_far, here = listed.searched
    return tag("p", f"Searched {so_far:,} of {count(listed.fitting, 'run')}; {found} of the last {here:,} have it.")


def _more(asked: PageRequest, listed: Listed) -> Child:
    if listed.after is None:
        return None
    address = asked.links.to("/runs", {**asked.words, "after": str(listed.after)})
    return tag("p", link("Search on" if listed.searched else f"The next {min(ON_A_PAGE, listed.left)}", address))


def runs_table(rows: Sequence[Row], board: Board, links: Links) -> Child:
    """In the order of the rows, with how each ended."""
    outcome = replace(
        next(column for column in shown_columns(rows, board) if column.heading == "eval"),
        heading="outcome",
        cell=lambda row: plain(f"{row.outcome}: {row.reason}" if row.reason else row.outcome or ""),
    )
    return ratings_table("Ratings by run", rows, [*shown_columns(rows, board), outcome], links)

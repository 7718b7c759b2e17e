"""`/compare/runs?l=KEY&r=KEY`: two runs side by side, and what differs in what they left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.capture.stored_run import load_run
from orvl.project.names import count
from orvl.report.shown_run import of_this_store, shown_run
from orvl.report.text import dollars, seconds
from orvl.web.compared_runs import ComparedRuns
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page
from orvl.web.run.asked import RunAsked
from orvl.web.run.others import other_runs
from orvl.web.show import Heading, diff_text, link, sentences, short, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orvl.report.shown_run import ShownRun
    from orvl.types import Usage
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableRow

OF_THE_DIFF = 800_000
"""Bytes."""
PATH = "/compare/runs"


def page(asked: PageRequest) -> Page:
    asked.only("l", "r")
    form = filters(PATH, asked, "l", "r", button="Compare")
    left, right = (_run(asked, asked.words[name]) if asked.words.get(name) else None for name in ("l", "r"))
    one = left or right
    if left and right:
        found = ComparedRuns(asked.store, left, right)
        title = f"{_name(left)} against {_name(right)}"
        return Page(
            title,
            lambda: [tag("h1", title), form, compared_part(asked, found)],
            twins={"json": lambda: json_text(_as_json(found))},
        )
    return Page("Compare runs", lambda: [tag("h1", "Two runs side by side"), form, _choices(asked, one)])


def _choices(asked: PageRequest, one: ShownRun | None) -> Child:
    """What a run can be compared with; without one, where to find it."""
    found = other_runs(RunAsked(asked, one, 0)) if one else None
    return found or tag(
        "p", "Give the keys of two runs, or begin with one: ", link("all runs", asked.links.to("/runs"))
    )


def _run(asked: PageRequest, name: str) -> ShownRun:
    return shown_run(asked.project, asked.store, load_run(asked.project, asked.store, name))


def _as_json(found: ComparedRuns) -> object:
    with of_this_store(found.left.run), of_this_store(found.right.run):
        return found.as_json()


def compared_part(asked: PageRequest, found: ComparedRuns, most: int = OF_THE_DIFF) -> list[Child]:
    """The answer, the figures, metric by metric, and the diff."""
    with of_this_store(found.left.run), of_this_store(found.right.run):
        return [
            tag("p", answer(found), class_="lead"),
            sentences(_notes(found), "warn"),
            _figures(asked, found),
            _metrics(found) if found.metrics else None,
            tag("h2", "What differs in their files"),
            _files(found, most),
        ]


def answer(found: ComparedRuns) -> str:
    """Which run got more, by how much, and on what."""
    if found.difference is None:
        return f"R of these runs cannot be compared: {_why_not(found)}."
    if abs(found.difference) < 0.0005:
        return "Both runs have the same R."
    better = "left" if found.difference > 0 else "right"
    most = max(found.metrics, key=lambda pair: pair.points if better == "left" else -pair.points)
    return f"The {better} run is ahead by {abs(found.difference):.3f}, {abs(most.points):.3f} of it by {most.metric}."


def _why_not(found: ComparedRuns) -> str:
    if not found.is_same_eval:
        return "they are of different evals"
    if found.rated_once:
        return f"only one of them is rated on {', '.join(found.rated_once)}"
    unrated = [side for side, one in zip(("left", "right"), found.sides, strict=True) if one.ledger is None]
    return f"{' and '.join(unrated)} not rated"


def _notes(found: ComparedRuns) -> Iterator[str]:
    for side, one in zip(("left", "right"), found.sides, strict=True):
        if one.changed is not None:
            yield f"The {side} run is history: changed since: {', '.join(one.changed) or 'its files'}."


def _name(shown: ShownRun) -> str:
    return f"{' '.join(shown.run.cell.contestant)} #{shown.run.episode}"


def _figures(asked: PageRequest, found: ComparedRuns) -> Child:
    headings = [Heading("", words=True), Heading("left", words=True), Heading("right", words=True)]
    names: dict[str, Callable[[ShownRun], Child]] = {
        "run": lambda one: link(f"{_name(one)} {one.run.cell.eval}", asked.links.run(one.run.key)),
        "outcome": _outcome,
        "R": lambda one: f"{one.ledger.R:.3f}" if one.ledger else "–",
        "R_pen": lambda one: f"{one.ledger.R_pen:.3f}" if one.ledger else "–",
        "time": lambda one: "unknown" if (time := _usage(one).seconds) is None else seconds(time),
        "tokens": lambda one: "unknown" if (tokens := _usage(one).tokens) is None else f"{tokens:,}",
        "cost": lambda one: dollars(_usage(one).cost_usd),
    }
    rows: list[TableRow] = [(None, [name, *map(make, found.sides)]) for name, make in names.items()]
    return table("Both runs", headings, rows)


def _outcome(shown: ShownRun) -> str:
    last = shown.attempts[-1].attempt
    return f"{last.outcome}: {short(last.reason)}" if last.reason else last.outcome


def _usage(shown: ShownRun) -> Usage:
    return shown.attempts[-1].attempt.usage


def _metrics(found: ComparedRuns) -> Child:
    headings = [Heading("metric", words=True), *map(Heading, ("left", "right", "difference"))]
    rows: list[TableRow] = [
        (None, [one.metric, *(_score(score) for score in one.scores), _difference(one.difference)])
        for one in found.metrics
    ]
    return table(
        "Scores by metric", headings, [*rows, ("bold", ["R", *map(_R, found.sides), _difference(found.difference)])]
    )


def _R(shown: ShownRun) -> str:
    return _score(shown.ledger.R if shown.ledger else None)


def _score(score: float | None) -> str:
    return "–" if score is None else f"{score:.3f}"


def _difference(difference: float | None) -> str:
    return "–" if difference is None else f"{difference:+.3f}"


def _files(found: ComparedRuns, most: int) -> Child:
    if any(one.attempts[-1].attempt.tree is None for one in found.sides):
        return tag("p", "One of the runs left nothing behind.")
    if not found.changes:
        return tag("p", "Both left the same files.")
    kinds = [one.kind for one in found.changes]
    parts = (
        f"{kinds.count('changed')} differ",
        f"{kinds.count('removed')} only left",
        f"{kinds.count('added')} only right",
    )
    return [
        tag("p", f"{count(len(kinds), 'file')}: {', '.join(parts)}. - is the left run, + the right one."),
        diff_text(found.diff, None, most),
    ]

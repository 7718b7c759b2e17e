"""`/run/KEY` and its parts: where the points went, what the judges said, what the agent did and left."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.capture.stored_run import load_run, prompts_of
from orvl.report.atif import trajectory
from orvl.report.shown_run import of_this_store, shown_run
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page
from orvl.web.run import PARTS, part
from orvl.web.run.asked import RunAsked
from orvl.web.run.facts import facts
from orvl.web.run.ledger import history, ledger
from orvl.web.run.others import other_runs
from orvl.web.show import folded, link, sentences

if TYPE_CHECKING:
    from collections.abc import Collection

    from orvl.web.html import Child
    from orvl.web.page import PageRequest

ON_ONE_PAGE = 64_000
ALONE = 900_000
"""Bytes of a part beside others, and on a page of its own: no page is larger than a megabyte."""
WORDS = ("attempt", "file", "at", "kind", "tool", "q")


def page(asked: PageRequest) -> Page:
    asked.only(*WORDS)
    key, *rest = asked.names
    attempt = asked.attempt
    details = load_run(asked.project, asked.store, key, attempt)
    run = RunAsked(asked, shown_run(asked.project, asked.store, details), ALONE if rest else ON_ONE_PAGE)
    flag = [f"--attempt={attempt}"] if attempt else []
    if rest == ["steps"]:
        return Page(
            run.title, lambda: _alone(run, rest[0]), ("orvl", "export", "runs"), {"json": lambda: _as_atif(run)}
        )
    return Page(
        run.title,
        lambda: _alone(run, rest[0]) if rest else whole_run(run),
        ("orvl", "show", details.key[:12], *flag),
        {} if rest else {"json": lambda: json_text(run.shown.as_json())},
    )


def whole_run(run: RunAsked, heading: str = "h1", parts: Collection[str] = tuple(PARTS)) -> list[Child]:
    """The answer and the ledger are open; each other part is folded, and has a page of its own."""
    shown = run.shown
    with of_this_store(run.details):
        made_parts = [
            folded(tag("h2", title), _alone_link(run, name), made, is_open=name in ("verdicts", "checks"))
            for name, title in PARTS.items()
            if name in parts and (made := part(name, run)) is not None
        ]
        return [
            tag(heading, run.title),
            tag("p", shown.answer, class_="lead"),
            sentences(history(shown), "warn"),
            ledger(shown),
            other_runs(run),
            facts(run),
            made_parts,
        ]


def _alone_link(run: RunAsked, name: str) -> Child:
    address = run.address(name)
    return tag("p", link("On a page of its own", address), class_="note") if address else None


def _alone(run: RunAsked, name: str) -> list[Child]:
    with of_this_store(run.details):
        made = part(name, run)
    return [
        tag("h1", f"{PARTS[name]}: {run.title}"),
        tag("p", link("The whole run", run.address())),
        made if made is not None else tag("p", "The run has none."),
    ]


def _as_atif(run: RunAsked) -> str:
    details, attempt, store = run.details, run.details.last.attempt, run.asked.store
    steps = store.blobs.get(attempt.steps) if attempt.steps else b"[]"
    cell = {name: getattr(details.cell, name) for name in ("agent", "model", "provider", "eval", "version")}
    prompts, scores = prompts_of(store, details.cell.id, attempt), store.scores(details.last.id)
    return json_text(trajectory(details.key, cell, details.episode, prompts, attempt, steps, scores))

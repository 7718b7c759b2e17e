"""`/eval/NAME`: what an eval asks for, and how contestants did on it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from orvl.errors import OrvlError, UserError
from orvl.project.names import count, did_you_mean
from orvl.report.ratings_json import warnings_of
from orvl.web.eval_items import items_part, runs_part
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.page import Page, SelectionWords, as_word, flags
from orvl.web.pages.board import RatedRows, rated_rows
from orvl.web.ratings import ratings
from orvl.web.show import Heading, folded, long_text, sentences, table

if TYPE_CHECKING:
    from orvl.types import Eval
    from orvl.web.html import Child
    from orvl.web.page import PageRequest
    from orvl.web.show import TableRow

WORDS = tuple(word for word in SelectionWords if word != "eval")


def page(asked: PageRequest) -> Page:
    asked.only(*WORDS)
    (name,) = asked.names
    stored = {cell.eval for cell in asked.store.cells() if cell.runs}
    known = stored | set(asked.project.eval_files)
    if name not in known:
        raise UserError(f"There is no eval '{name}'. {did_you_mean(name, known)}")
    form = filters(asked.links.eval(name) or "/evals", asked, *WORDS)
    if name not in stored:
        return Page(name, lambda: [tag("h1", name), _asks(asked, name), tag("p", "No run of it is stored.")])
    word = as_word(name)
    found = rated_rows(replace(asked, words={**asked.words, "eval": word}), "eval")
    return Page(
        name,
        lambda: [
            tag("h1", _answer(name, found)),
            form,
            eval_part(asked, name, found),
            runs_part(asked, found.board, name),
            items_part(asked, found.board, name),
            sentences((f"! {warning}" for warning in warnings_of(found.board)), "warn"),
        ],
        ("orvl", "report", "--by=eval", f"--eval={word}", *flags(asked.words, *WORDS)),
        found.lazy_twins(),
    )


def eval_part(asked: PageRequest, name: str, found: RatedRows) -> list[Child]:
    return [_asks(asked, name), ratings(f"Ratings on {name}", found.rows, found.board, asked.links)]


def _answer(name: str, found: RatedRows) -> str:
    """Who has the highest R on it; an eval alone shows nobody to be better."""
    rated = [row for row in found.rows if row.R is not None and row.agent not in found.board.controls]
    if len(rated) < 2:
        return f"{name}: {count(sum(row.rated for row in found.rows), 'rated run')}."
    highest = max(row.R or 0.0 for row in rated)
    best = [" ".join(row.contestant) for row in rated if highest == row.R]
    who = f"{best[0]} has the highest R" if len(best) == 1 else f"{len(best)} contestants share the highest R"
    return f"{name}: {who}, {highest:.3f}; one eval shows nobody to be better."


def _asks(asked: PageRequest, name: str) -> Child:
    """The conversation, the weights and the checks; what its file cannot say is said."""
    if name not in asked.project.eval_files:
        return tag("p", "The project has no such eval: its runs are imported, or its file is gone.", class_="quiet")
    try:
        eval_ = asked.project.eval(name)
        weights = asked.project.weights(eval_, asked.project.panel())
    except OrvlError as error:
        return tag("p", str(error), class_="bad")
    if eval_.private and asked.for_others:
        return tag("p", "It is private: its ratings are all that is said of it here.", class_="quiet")
    return [
        tag("p", eval_.description) if eval_.description else None,
        tag(
            "p",
            f"{count(len(eval_.prompts), 'turn')}, {count(len(eval_.checks), 'check')}. Weights: {_listed(weights)}.",
        ),
        [folded(f"Turn {number}", long_text(prompt)) for number, prompt in enumerate(eval_.prompts, 1)],
        folded("Checks", _checks(eval_)) if eval_.checks else None,
    ]


def _listed(weights: dict[str, float]) -> str:
    return ", ".join(f"{name} {weight:g}" for name, weight in weights.items()) or "none"


def _checks(eval_: Eval) -> Child:
    rows: list[TableRow] = [(None, [check.name, tag("code", check.run), f"{check.weight:g}"]) for check in eval_.checks]
    return table("Checks", [Heading("check", words=True), Heading("command", words=True), Heading("weight")], rows)

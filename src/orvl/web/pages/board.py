"""`/board`: which agent to take. First who is best, then the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.certificate import standing_sentence
from orvl.report.ratings_csv import as_csv
from orvl.report.ratings_json import report_json, warnings_of
from orvl.report.ratings_markdown import as_markdown
from orvl.report.table import in_order
from orvl.report.text import dollars
from orvl.report.trust_text import sentences as trust_sentences
from orvl.web.against import against_part
from orvl.web.board_picture import BoardPicture
from orvl.web.board_words import NO_WORDS, OWN_WORDS, WEIGHT, BoardWords
from orvl.web.draw import WHOLE, cost_and_quality, fitted
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.ratings import ratings
from orvl.web.show import sentences

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.trust.section import Trust
    from orvl.web.html import Child
    from orvl.web.page import PageRequest, Twin


@dataclass(frozen=True)
class RatedRows:
    """The rows of a board as a report has them."""

    board: Board
    rows: Sequence[Row]
    beside: Trust | None = None
    by: str = "agent"

    @property
    def said(self) -> list[str]:
        return list(trust_sentences(self.beside, self.board.standing)) if self.beside else []

    @property
    def best(self) -> list[tuple[str, str, str]]:
        """Whom nobody beats beyond chance; empty where nothing is certified, or where that is everybody."""
        found, ranking = self.beside, self.beside.ranking if self.beside else None
        if found is None or ranking is None or not self.board.standing.ranks_by:
            return []
        best = [found.ranked[i] for i in ranking.winners if i not in ranking.untested]
        return best if len(best) < len(found.ranked) - len(ranking.untested) else []

    @property
    def leads(self) -> bool:
        """Whether the first thing that is said is who leads."""
        return bool(self.beside and self.beside.ranking is not None and self.board.standing.ranks_by)

    def lazy_twins(self) -> dict[str, Twin]:
        return {ending: lambda ending=ending: self.twins()[ending] for ending in ("json", "csv", "md")}  # type: ignore[misc]

    def only(self, rows: Sequence[Row]) -> RatedRows:
        return replace(self, rows=rows)

    def twins(self) -> dict[str, str]:
        """What `orvl report` writes as JSON and CSV, and the same as Markdown."""
        return {
            "json": json_text(report_json(self.rows, self.board, self.beside, self.by)),
            "csv": as_csv(self.rows, self.board),
            "md": as_markdown(self.rows, self.board, self.said),
        }


def rated_rows(asked: PageRequest, by: str, only: Collection[tuple[str, ...]] | None = None) -> RatedRows:
    """By the words of the address; `only` keeps some contestants."""
    return RatedRows(*asked.boards.rated(asked, by, only), by)


def page(asked: PageRequest) -> Page:
    words = BoardWords.of(asked)
    asked = replace(asked, project=words.project(asked.project), version=words.version(asked.version))
    found, dear = _within_limits(asked, words)
    if words.is_rerated:
        found = _unranked(found, words)
    command = ("orvl", "report", *flags(asked.words, *SelectionWords))
    if words.is_rerated or words.has_limits:
        command = ()  # no command takes these words
    return Page(
        "Board",
        lambda: [
            tag("h1", answer(found)),
            _form(asked, found),
            tag("p", words.rerated_sentence, class_="warn") if words.is_rerated else None,
            tag("p", dear) if dear else None,
            *board_part(asked, found, words),
        ],
        command,
        {**found.lazy_twins(), "svg": lambda: _picture(found)},
    )


def _picture(found: RatedRows) -> str:
    spots = found.beside.frontier if found.beside else ()
    return BoardPicture(found.rows, found.best, found.board.standing, spots).svg()


def _form(asked: PageRequest, found: RatedRows) -> Child:
    metrics = sorted({name for row in found.rows for name in row.metrics if name in asked.project.metric_files})
    more = (*OWN_WORDS, *(f"{WEIGHT}{name}" for name in metrics))
    return filters("/board", asked, *SelectionWords, folded="Limits, weights, axis, against one", more=more)


def _within_limits(asked: PageRequest, words: BoardWords) -> tuple[RatedRows, str]:
    """Who keeps to the limits is ranked among those who do; and how many do not, in a sentence."""
    found = rated_rows(asked, "agent")
    if not words.has_limits or not found.rows:
        return found, ""
    kept = words.affordable(found.rows)
    unknown = sum(row.cost_per_run is None for row in found.rows if row.contestant not in kept)
    left_out = len(found.rows) - len(kept)
    said = f"{count(left_out, 'contestant')} left out by the limits, {unknown} of them without a known cost."
    return rated_rows(asked, "agent", kept), said if left_out else ""


def _unranked(found: RatedRows, words: BoardWords) -> RatedRows:
    """Moved weights are not those that a certificate is of."""
    beside = replace(found.beside, ranking=None) if found.beside else None
    standing = replace(found.board.standing, programs_rank=False)
    if standing.may_rank:
        standing = replace(standing, state="stale", reasons=(words.rerated_sentence,))
    rows = [replace(row, rank=None) for row in found.rows]
    return replace(found, rows=rows, beside=beside, board=replace(found.board, standing=standing))


def board_part(asked: PageRequest, found: RatedRows, words: BoardWords = NO_WORDS) -> list[Child]:
    """The table, how far it can be trusted, and warnings."""
    scale = fitted(found.rows) if words.is_fitted else WHOLE
    one = words.contestant(found.rows)
    return [
        against_part(asked, found, one) if one else None,
        ratings("Ratings by contestant", found.rows, found.board, asked.links, found.best, scale),
        cost_and_quality(found.beside.frontier) if found.beside else None,
        sentences(found.said[1:] if found.leads else found.said, ""),
        sentences((f"! {warning}" for warning in warnings_of(found.board)), "warn"),
    ]


def answer(found: RatedRows) -> str:
    """Whom nobody beats beyond chance, and the cheapest of these; else why nobody is ranked."""
    if not found.leads:
        return _unranked_answer(found)
    rows = {row.contestant: row for row in found.rows}
    costs = [(row.cost_per_run.mean, name) for name in found.best if (row := rows[name]).cost_per_run]
    if len(costs) < 2 or len(costs) < len(found.best):
        return found.said[0]
    cost, cheapest = min(costs)
    return f"{found.said[0]} The cheapest of these: {' '.join(cheapest)}, {dollars(cost)} a run."


def _unranked_answer(found: RatedRows) -> str:
    """Who has the highest R, which says nothing of chance, and why nobody is ranked."""
    rows = [row for row in in_order(found.rows) if row.R is not None and not row.is_elsewhere]
    rated = [row for row in rows if row.agent not in found.board.controls]
    why = standing_sentence(found.board.standing)
    if rows and not rated:
        return f"Only controls, work of known quality, have been run here. Run an agent: orvl AGENT. {why}"
    if len(rated) < 2:
        return why
    highest = f"Highest R: {' '.join(rated[0].contestant)}, {rated[0].R:.3f}."
    return f"{highest} {why}"

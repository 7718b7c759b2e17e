"""`/board`: which agent to take. First who is best, then the table."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.plan.selection import chosen_metrics, stored_matcher
from orvl.report.certificate import standing_sentence
from orvl.report.ratings_csv import as_csv
from orvl.report.ratings_json import report_json, warnings_of
from orvl.report.ratings_markdown import as_markdown
from orvl.report.trust_text import sentences as trust_sentences
from orvl.trust.rated_board import rated_board
from orvl.web.draw import cost_and_quality
from orvl.web.filters import filters
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import Page, SelectionWords, flags
from orvl.web.ratings import ratings
from orvl.web.show import sentences

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.trust.section import Trust
    from orvl.web.html import Child
    from orvl.web.page import PageRequest


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
        if found is None or ranking is None or not self.board.standing.may_rank:
            return []
        best = [found.ranked[i] for i in ranking.winners if i not in ranking.untested]
        return best if len(best) < len(found.ranked) - len(ranking.untested) else []

    def only(self, rows: Sequence[Row]) -> RatedRows:
        return replace(self, rows=rows)

    def twins(self) -> dict[str, str]:
        """What `orvl report` writes as JSON and CSV, and the same as Markdown."""
        return {
            "json": json_text(report_json(self.rows, self.board, self.beside, self.by)),
            "csv": as_csv(self.rows, self.board),
            "md": as_markdown(self.rows, self.board, self.said),
        }


def rated_rows(asked: PageRequest, by: str) -> RatedRows:
    cells = asked.store.cells()
    keep = stored_matcher(asked.project, asked.selection, [cell.names for cell in cells])
    metrics = chosen_metrics(asked.project, asked.selection, cells)
    return RatedRows(*rated_board(asked.project, asked.store, keep, asked.judges, metrics, by), by)


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    found = rated_rows(asked, "agent")
    return Page(
        "Board",
        lambda: [tag("h1", answer(found)), filters("/board", asked, *SelectionWords), *board_part(asked, found)],
        ("orvl", "report", *flags(asked.words, *SelectionWords)),
        {ending: lambda ending=ending: found.twins()[ending] for ending in ("json", "csv", "md")},  # type: ignore[misc]
    )


def board_part(asked: PageRequest, found: RatedRows) -> list[Child]:
    """The table, how far it can be trusted, and warnings."""
    return [
        ratings("Ratings by contestant", found.rows, found.board, asked.links, found.best),
        cost_and_quality(found.beside.frontier) if found.beside else None,
        sentences(found.said[1:], ""),
        sentences((f"! {warning}" for warning in warnings_of(found.board)), "warn"),
    ]


def answer(found: RatedRows) -> str:
    """The first thing that a report says beside its table; else, how the judges stand to a certificate."""
    return found.said[0] if found.said else standing_sentence(found.board.standing)

"""`/history`: what runs of files that have changed since were rated, beside the runs of now."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from orvl.plan.selection import chosen_metrics, stored_matcher
from orvl.project.names import count
from orvl.rate.history import history
from orvl.report.history import history_json, print_history
from orvl.web.draw import whisker
from orvl.web.html import tag
from orvl.web.json_text import json_text
from orvl.web.page import SelectionWords, flags
from orvl.web.pages.board import rated_rows
from orvl.web.printed import printed_page
from orvl.web.show import Heading, link, sentences, table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.rate.board import Row
    from orvl.rate.history import PastRow
    from orvl.web.html import Child
    from orvl.web.page import Page, PageRequest
    from orvl.web.show import TableRow

LEGEND = "0 to 1: R is the dot, its interval the line. Intervals that are apart are no test of a difference."


def page(asked: PageRequest) -> Page:
    asked.only(*SelectionWords)
    cells = asked.store.cells()
    keep = stored_matcher(asked.project, asked.selection, [cell.names for cell in cells])
    metrics = chosen_metrics(asked.project, asked.selection, cells)
    rows = history(asked.project, asked.store, keep, asked.judges, metrics)
    now = _now(asked) if rows else {}
    newest = {row.keys[-1][:12]: asked.links.run(row.keys[-1]) for row in rows if row.keys}
    return printed_page(
        asked,
        "History",
        _answer(rows, now),
        lambda terminal: print_history(terminal, rows),
        words=SelectionWords,
        command=("orvl", "report", "--history", *flags(asked.words, *SelectionWords)),
        as_json=lambda: json_text({"schema": 1, "history": history_json(rows)}),
        cells=newest,
        more=_identities(asked, rows, now) if rows else None,
    )


def _answer(rows: Sequence[PastRow], now: Mapping[tuple[str, ...], Row]) -> str:
    """How many cells have changed, and where R moved most since the last time."""
    said = f"{count(len(rows), 'cell')} of files that have changed since."
    moves = [(now[row.names].R or 0.0) - row.R for row in rows if row.R is not None and _is_rated(now.get(row.names))]
    if not moves:
        return said
    widest = max(moves, key=abs)
    if abs(widest) < 0.005:
        return f"{said} R has not moved."
    return f"{said} R moved by {widest:+.2f} at most; whether that is beyond chance, only a comparison says."


def _is_rated(row: Row | None) -> bool:
    return row is not None and row.R is not None


def _now(asked: PageRequest) -> dict[tuple[str, ...], Row]:
    return {(*row.contestant, row.eval or ""): row for row in rated_rows(asked, "eval").rows}


def _identities(asked: PageRequest, rows: Sequence[PastRow], now: Mapping[tuple[str, ...], Row]) -> list[Child]:
    """One row an identity: of each cell that of now, then those before it, the newest first."""
    lines: dict[tuple[str, ...], list[TableRow]] = {}
    for row in rows:
        if row.names not in lines:
            current = now.get(row.names)
            lines[row.names] = [(None, _current(asked, current))] if current else []
        lines[row.names].append((None, _past(asked, row)))
    columns = ("files", "0 to 1", "R", "runs", "last run")
    headings = [Heading("agent model provider eval", words=True), *map(Heading, columns)]
    every = [line for some in lines.values() for line in some]
    return [tag("h2", "By identity"), table("R by identity", headings, every), sentences([LEGEND])]


def _current(asked: PageRequest, row: Row) -> list[Child]:
    names = {"agent": row.agent, "model": row.model, "provider": row.provider, "eval": row.eval or ""}
    R = "–" if row.R is None else f"{row.R:.3f}"
    runs = asked.links.runs(**names)
    return [link(" ".join(names.values()), runs), "of now", whisker(row), link(R, runs), str(row.rated), "–"]


def _past(asked: PageRequest, row: PastRow) -> list[Child]:
    R = "–" if row.R is None else f"{row.R:.3f}"
    picture = whisker(row.row) if row.row is not None else None
    last = datetime.fromtimestamp(row.last).strftime("%Y-%m-%d %H:%M")
    newest = asked.links.run(row.keys[-1]) if row.keys else None
    version = row.version or "before"
    return [" ".join(row.names), version, picture, link(R, newest), str(row.runs), last]

"""`orvl report --html`: the viewer's parts in one file, which opens from disk without network or script."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from orvl.capture.stored_run import load_run
from orvl.errors import OrvlError
from orvl.project.names import count
from orvl.report.shown_run import shown_run
from orvl.web.html import document, style_sheet, tag
from orvl.web.page import Links, PageRequest
from orvl.web.pages.board import RatedRows, answer, board_part, rated_rows
from orvl.web.pages.eval import eval_part
from orvl.web.pages.evals import evals_part
from orvl.web.pages.run import whole_run
from orvl.web.pages.runs import runs_table
from orvl.web.pages.trust import trust_part
from orvl.web.run_parts import RunAsked
from orvl.web.style import style

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.web.html import Child, Html

OF_A_PART = 16_000
"""Signs of each part of a run."""
MOST_MISSES = 10
MOST_LISTED = 200
"""Runs in the table of runs."""


class FileLinks(Links):
    """Addresses inside the file; None for what is not in it."""

    def __init__(self, runs: Collection[str] = (), evals: Sequence[str] = ()) -> None:
        self._runs, self._evals = frozenset(runs), {name: number for number, name in enumerate(evals, 1)}

    def to(self, path: str, words: Mapping[str, str] | None = None) -> str | None:  # noqa: ARG002
        return None

    def runs(self, **words: str) -> str | None:  # noqa: ARG002
        return "#runs"

    def eval(self, name: str) -> str | None:
        return f"#eval-{self._evals[name]}" if name in self._evals else None

    def run(self, key: str, part: str = "", words: Mapping[str, str] | None = None) -> str | None:
        return f"#run-{key}" if key in self._runs and not part and not words else None


def one_file(project: Project, store: Store, words: Mapping[str, str], size: int) -> str:
    """Board, judges and evals always; runs by interest, as many as the size leaves room for."""
    asked = PageRequest(project, store, words, links=FileLinks())
    parts = FileParts(*(rated_rows(asked, by) for by in ("agent", "eval", "run")))
    every = sorted(parts.by_run.rows, key=_interest)
    room = size - len(_document(parts.body(asked, every, dict.fromkeys(row.run or "" for row in every))).encode())
    return _document(parts.body(asked, every, _sections(asked, every, room)))


@dataclass(frozen=True)
class FileParts:
    """The same ratings by contestant, by eval and by run."""

    board: RatedRows
    by_eval: RatedRows
    by_run: RatedRows

    def body(self, asked: PageRequest, every: Sequence[Row], sections: Mapping[str, Html | None]) -> Html:
        """Links lead to the runs that have a section."""
        names = sorted({row.eval for row in self.by_eval.rows if row.eval})
        asked = replace(asked, links=FileLinks(sections, names))
        return tag(
            "main",
            tag("h1", answer(self.board)),
            tag("p", _inside(len(self.board.rows), len(names), len(sections), len(every)), class_="quiet"),
            _part("board", "Board", board_part(asked, self.board)),
            _part("trust", "Trust", trust_part(self.board)),
            _part("evals", "Evals", [evals_part(asked, self.board), self._evals(asked, names)]),
            _part("runs", "Runs", _runs(asked, every, self.by_run.board)),
            list(sections.values()),
        )

    def _evals(self, asked: PageRequest, names: Sequence[str]) -> list[Child]:
        rows = {name: [row for row in self.by_eval.rows if row.eval == name] for name in names}
        return [
            tag("section", tag("h3", name), eval_part(asked, name, self.by_eval.only(rows[name])), id_=f"eval-{number}")
            for number, name in enumerate(names, 1)
        ]


def _interest(row: Row) -> tuple[bool, bool, float]:
    """Failed runs first, then errored ones, then the worst."""
    return row.outcome != "failed", row.outcome != "errored", row.R if row.R is not None else 0.0


def _sections(asked: PageRequest, rows: Sequence[Row], room: int) -> dict[str, Html]:
    """Of the runs that there is room for, by their keys; after some that do not fit, no more are tried."""
    made: dict[str, Html] = {}
    misses = 0
    for row in rows:
        section = _section(asked, row.run or "")
        size = len(section.markup.encode())
        if size <= room:
            room -= size
            made[row.run or ""] = section
        elif (misses := misses + 1) >= MOST_MISSES:
            break
    return made


def _section(asked: PageRequest, key: str) -> Html:
    try:
        details = load_run(asked.project, asked.store, key)
        content = whole_run(RunAsked(asked, shown_run(asked.project, asked.store, details), OF_A_PART), "h2")
    except OrvlError as error:
        content = [tag("h2", key[:12]), tag("p", str(error), class_="bad")]
    return tag("section", content, id_=f"run-{key}", class_="run")


def _inside(contestants: int, evals: int, shown: int, runs: int) -> str:
    made = datetime.now().strftime("%Y-%m-%d %H:%M")
    parts = f"{count(contestants, 'contestant')}, {count(evals, 'eval')}, {shown} of {count(runs, 'run')}"
    missing = " Runs that are not inside: orvl show KEY, or a larger --size." if shown < runs else ""
    left_out = f"Not inside: pictures, and texts beyond {OF_A_PART:,} signs; see them with: orvl view."
    return f"Inside, as of {made}: {parts}. {left_out}{missing}"


def _part(name: str, title: str, content: Child) -> Html:
    return tag("section", tag("h2", title), content, id_=name)


def _runs(asked: PageRequest, rows: Sequence[Row], board: Board) -> Child:
    if not rows:
        return tag("p", "No stored run matches these words.")
    more = len(rows) - MOST_LISTED
    rest = tag("p", f"{count(more, 'more run')}: orvl report --by run") if more > 0 else None
    return [runs_table(list(rows[:MOST_LISTED]), board, asked.links), rest]


def _document(body: Html) -> str:
    """Under a policy of its own: no script, nothing from anywhere, and only orvl's style."""
    css = style()
    digest = base64.b64encode(hashlib.sha256(css.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    names = {"board": "Board", "trust": "Trust", "evals": "Evals", "runs": "Runs"}
    navigation = tag("nav", [tag("a", title, href=f"#{name}") for name, title in names.items()], aria_label="Parts")
    return document(
        tag(
            "head",
            tag("meta", charset="utf-8"),
            tag("meta", http_equiv="Content-Security-Policy", content=policy),
            tag("title", "orvl report"),
            tag("meta", name_="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", name_="color-scheme", content="light dark"),
            tag("meta", name_="referrer", content="no-referrer"),
            style_sheet(css),
        ),
        tag("body", tag("header", navigation), body, tag("footer", "orvl report --html")),
    )

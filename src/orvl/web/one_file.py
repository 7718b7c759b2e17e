"""`orvl report --html`: the viewer's parts in one file, which opens from disk without network or script."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.pipeline import compare
from orvl.plan.private import private_evals
from orvl.project.names import count
from orvl.report.comparison import print_comparison
from orvl.report.table import in_order
from orvl.web.file_runs import OF_A_PART, FileRuns, file_runs
from orvl.web.html import document, style_sheet, tag
from orvl.web.interest import by_interest
from orvl.web.page import Links, PageRequest, as_word
from orvl.web.pages.board import RatedRows, answer, board_part, rated_rows
from orvl.web.pages.eval import eval_part
from orvl.web.pages.evals import evals_part
from orvl.web.pages.runs import runs_table
from orvl.web.pages.trust import trust_part
from orvl.web.show import PageTerminal
from orvl.web.style import style

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.store import Store
    from orvl.web.html import Child, Html

MOST_LISTED = 200
"""Runs in the table of runs."""
RESERVE = 1_000
"""Bytes for what the top says of what is missing."""


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


def one_file(project: Project, store: Store, words: Mapping[str, str], size: int, without: Collection[str] = ()) -> str:
    """Board, judges, evals and the first comparison always; runs by interest, as many as the size leaves room for."""
    asked = PageRequest(project, store, words, links=FileLinks(), for_others=True)
    parts = FileParts(asked, without, *(rated_rows(asked, by) for by in ("agent", "eval", "run")))
    every = by_interest(store, parts.by_run.rows)
    private = private_evals(project, store.cells())
    open_ = [row for row in every if row.eval not in private]
    bare = FileRuns(dict.fromkeys(row.run or "" for row in open_))
    least = RESERVE + len(_document(parts.body(every, bare)).encode())
    if least > size:
        raise UserError(f"--size is too small: without any run the file has {least:,} bytes.")
    return _document(parts.body(every, file_runs(asked, open_, size - least, without)))


@dataclass(frozen=True)
class FileParts:
    """The same ratings by contestant, by eval and by run."""

    asked: PageRequest
    without: Collection[str]
    board: RatedRows
    by_eval: RatedRows
    by_run: RatedRows

    def body(self, every: Sequence[Row], runs: FileRuns) -> Html:
        """Links lead to the runs that have a section."""
        names = sorted({row.eval for row in self.by_eval.rows if row.eval})
        asked = replace(self.asked, links=FileLinks(runs.sections, names))
        return tag(
            "main",
            tag("h1", answer(self.board)),
            tag("p", self._inside(len(names), runs, len(every)), class_="quiet"),
            _part("board", "Board", board_part(asked, self.board)),
            _part("compare", "Compare", self._comparison),
            _part("trust", "Trust", trust_part(self.board)),
            _part("evals", "Evals", [evals_part(asked, self.board), self._evals(asked, names)]),
            _part("runs", "Runs", _runs(asked, every, self.by_run.board)),
            list(runs.sections.values()),
        )

    @cached_property
    def _comparison(self) -> Child:
        """Of the first two contestants that are no controls; what cannot be compared is said."""
        rated = [row for row in in_order(self.board.rows) if row.R is not None]
        first = [row for row in rated if row.agent not in self.board.board.controls][:2]
        if len(first) < 2:
            return tag("p", "There are no two rated contestants to compare.")
        a, b = (" ".join(map(as_word, row.contestant)) for row in first)
        asked = self.asked
        try:
            found = compare(asked.project, asked.store, a, b, replace(asked.selection, agent="all"), asked.judges)
        except UserError as error:
            return tag("p", str(error))
        terminal = PageTerminal(caption="Differences by metric")
        print_comparison(terminal, found)
        return terminal.parts

    def _inside(self, evals: int, runs: FileRuns, every: int) -> str:
        made = datetime.now().strftime("%Y-%m-%d %H:%M")
        shown, full = len(runs.sections), len(runs.full)
        some = f"{shown} of {count(every, 'run')}, {full} of them with all their parts"
        parts = f"{count(len(self.board.rows), 'contestant')}, {count(evals, 'eval')}, {some}"
        missing = " Runs that are not inside: orvl show KEY, or a larger --size." if full < every else ""
        left_out = ", ".join((*sorted(self.without), f"texts beyond {OF_A_PART:,} bytes"))
        return f"Inside, as of {made}: {parts}. Not inside: {left_out}; see them with: orvl view.{missing}"

    def _evals(self, asked: PageRequest, names: Sequence[str]) -> list[Child]:
        rows = {name: [row for row in self.by_eval.rows if row.eval == name] for name in names}
        return [
            tag("section", tag("h3", name), eval_part(asked, name, self.by_eval.only(rows[name])), id_=f"eval-{number}")
            for number, name in enumerate(names, 1)
        ]


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
    policy = f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; form-action 'none'"
    names = {"board": "Board", "compare": "Compare", "trust": "Trust", "evals": "Evals", "runs": "Runs"}
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

"""What happens, drawn on a terminal while it happens."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from orvl.report.progress import Progress
from orvl.report.terminal import trusted
from orvl.report.text import plain, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.report.progress import Doing
    from orvl.types import PlannedRun

SHOW_CURSOR = b"\x1b[?25h\r\n"
LEAST_ROWS = 6
FRAME = 12
"""Rows of the screen that titles, headings and rules take."""


class LiveProgress(Progress):
    """Tables that are drawn again while runs go on: who has done how much, and what goes on right now."""

    live: Any = None
    console: Any = None

    def __enter__(self) -> LiveProgress:
        from rich.console import Console
        from rich.live import Live

        self.console = Console(file=trusted(sys.stderr))
        self.live = Live(get_renderable=self._drawn, console=self.console, refresh_per_second=4, transient=True)
        self.live.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.live.__exit__(None, None, None)
        sys.stderr.write(self.summary() + "\n")

    def leave(self) -> None:
        # Not through `live`: the thread that draws may hold its lock, and nobody can wait for it here.
        with suppress(OSError, ValueError):
            os.write(sys.stderr.fileno(), SHOW_CURSOR)

    def show(self, planned: PlannedRun, outcome: str, reason: str | None, took: float | None) -> None:  # noqa: ARG002
        if outcome in ("failed", "errored"):
            self.say(f"{planned.cell} #{planned.episode} {outcome}: {reason}")

    def say(self, sentence: str) -> None:
        from rich.text import Text

        self.console.print(Text(plain(sentence)))

    def _drawn(self) -> Any:
        from rich.console import Group

        # What is drawn is drawn in another thread, while the counts change in this one.
        doing = sorted([*self.doing.values()], key=lambda one: one.began)
        room = max(LEAST_ROWS, self.console.height - FRAME)
        contestants = self._contestants(room - min(len(doing), room // 2))
        parts = [contestants, self._doing(doing, room // 2)] if doing else [contestants]
        return Group(*parts)

    def _contestants(self, most: int) -> Any:
        title = self.summary() + (f"; judges' scores left: {left}" if (left := self.judges_left()) else "")
        table = _table(title, "agent model provider", ("done", "running", "failed", "errored", "spent"))
        shown = sorted(self.by_contestant.items(), key=lambda pair: pair[1].done + pair[1].errored >= pair[1].total)
        for names, tally in shown[:most]:
            numbers = (f"{tally.done}/{tally.total}", tally.running, tally.failed, tally.errored)
            table.add_row(_text(" ".join(names)), *map(str, numbers), tally.spent_text if tally.spent else "–")
        _add_rest(table, len(shown) - most, 5)
        return table

    def _doing(self, doing: Sequence[Doing], most: int) -> Any:
        table = _table("", "going on", ("for",), "")
        now = time.monotonic()
        for one in doing[:most]:
            name = f"{one.run.cell} #{one.run.episode}"
            table.add_row(_text(name), seconds(now - one.began), _text(one.text))
        _add_rest(table, len(doing) - most, 2)
        return table


def _table(title: str, first: str, numbers: Sequence[str], last: str | None = None) -> Any:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title=Text(title) if title else None,
        title_justify="left",
        title_style="bold",
    )
    table.add_column(first, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right")
    if last is not None:
        table.add_column(last, overflow="fold")
    return table


def _add_rest(table: Any, number: int, columns: int) -> None:
    if number > 0:
        table.add_row(f"… and {number} more", *[""] * columns)


def _text(words: str) -> Any:
    """Names are anybody's, and no markup."""
    from rich.text import Text

    return Text(plain(words))

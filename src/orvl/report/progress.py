"""What happens, while it happens: a live table on a terminal, plain lines elsewhere."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.engine import AttemptEnded, RunGivenUp, RunScored, RunStarted
from orvl.project.names import count
from orvl.report.terminal import trusted
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.engine import Event
    from orvl.types import Attempt, PlannedRun

LINE_EACH_UP_TO = 100
EVERY = 2.0
SHOW_CURSOR = b"\x1b[?25h\r\n"


@dataclass
class Tally:
    """The counts of one contestant, or of all."""

    total: int = 0
    done: int = 0
    failed: int = 0
    errored: int = 0
    running: int = 0
    spent: float = 0.0
    has_bound: bool = False
    """Whether some of it is an upper bound."""
    has_unknown: bool = False
    """Whether a run's cost is unknown, so that the sum is too small."""

    @property
    def spent_text(self) -> str:
        sign = "about " if self.has_bound and self.has_unknown else "≤ " if self.has_bound else ""
        return f"{sign or ('≥ ' if self.has_unknown else '')}{dollars(self.spent)}"


@dataclass
class Progress:
    """Counts what happens; says nothing."""

    runs: Sequence[PlannedRun]
    all: Tally = field(default_factory=Tally)
    by_contestant: dict[tuple[str, str, str], Tally] = field(default_factory=dict)
    began: float = field(default_factory=time.monotonic)
    told: set[tuple[str, str | None]] = field(default_factory=set)
    given_up: set[str] = field(default_factory=set)
    """Keys of runs; one that is started after all counts anew."""

    def __post_init__(self) -> None:
        self.all.total = len(self.runs)
        for run in self.runs:
            self.by_contestant.setdefault(run.cell.contestant, Tally()).total += 1

    def __call__(self, event: Event) -> None:
        """What an engine says."""
        if isinstance(event, RunStarted):
            self.started(event.run)
        elif isinstance(event, AttemptEnded):
            self.ended(event.run, event.attempt)
        elif isinstance(event, RunGivenUp):
            self.gave_up(event.run)
        elif isinstance(event, RunScored):
            self.scored(event.run)
        else:
            self.say(event.sentence)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def started(self, planned: PlannedRun) -> None:
        for tally in self._tallies(planned):
            tally.running += 1
            tally.errored -= planned.key in self.given_up
        self.given_up.discard(planned.key)

    def ended(self, planned: PlannedRun, attempt: Attempt) -> None:
        """An attempt has ended; an errored one may be tried again."""
        for tally in self._tallies(planned):
            tally.spent += attempt.usage.cost_usd or 0.0
            tally.has_bound |= attempt.usage.is_bound
            tally.has_unknown |= attempt.usage.cost_usd is None
            if attempt.outcome != "errored":
                tally.failed += attempt.outcome == "failed"
                tally.running -= 1
                tally.done += 1
        trouble = (planned.cell.agent.name, attempt.reason)
        if attempt.outcome != "errored" or trouble not in self.told:
            self.show(planned, attempt.outcome, attempt.reason, attempt.usage.seconds)
        self.told.add(trouble)

    def gave_up(self, planned: PlannedRun) -> None:
        """A run is errored for good, or was cut short."""
        for tally in self._tallies(planned):
            tally.running -= 1
            tally.errored += 1
        self.given_up.add(planned.key)

    def scored(self, planned: PlannedRun) -> None:
        for tally in self._tallies(planned):
            tally.done += 1
        self.show(planned, "scored again", None, None)

    def _tallies(self, planned: PlannedRun) -> tuple[Tally, Tally]:
        return self.all, self.by_contestant[planned.cell.contestant]

    def show(self, planned: PlannedRun, outcome: str, reason: str | None, took: float | None) -> None:
        """Called after each change."""

    def say(self, sentence: str) -> None:
        sys.stderr.write(plain(sentence) + "\n")

    def leave(self) -> None:
        """Gives the terminal back as it was, at once: the process ends now."""

    def summary(self) -> str:
        left = ""
        ended = self.all.done + self.all.errored
        if 0 < ended < self.all.total:
            took = time.monotonic() - self.began
            left = f", about {seconds(took / ended * (self.all.total - ended))} left"
        spent = f", {self.all.spent_text} spent" if self.all.spent else ""
        bad = "".join(f", {n} {word}" for n, word in ((self.all.failed, "failed"), (self.all.errored, "errored")) if n)
        return f"{self.all.done} of {count(self.all.total, 'run')} done{bad}{spent}{left}"


class PlainProgress(Progress):
    """A line for each run of a small matrix; of a large one, a line every two seconds and one for each trouble."""

    last = 0.0

    def show(self, planned: PlannedRun, outcome: str, reason: str | None, took: float | None) -> None:
        now = time.monotonic()
        if self.all.total <= LINE_EACH_UP_TO or outcome in ("failed", "errored"):
            after = f" in {seconds(took)}" if took is not None else ""
            why = f": {reason}" if reason else ""
            self.say(f"[{self.all.done}/{self.all.total}] {planned.cell} #{planned.episode} {outcome}{after}{why}")
        elif now - self.last >= EVERY:
            self.last = now
            self.say(self.summary())


class LiveProgress(Progress):
    """A table that is drawn again while runs go on."""

    live: Any = None
    console: Any = None

    def __enter__(self) -> LiveProgress:
        from rich.console import Console
        from rich.live import Live

        self.console = Console(file=trusted(sys.stderr))
        self.live = Live(get_renderable=self._table, console=self.console, refresh_per_second=4, transient=True)
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

    def _table(self) -> Any:
        from rich import box
        from rich.table import Table
        from rich.text import Text

        table = Table(
            box=box.SIMPLE_HEAD, pad_edge=False, title=self.summary(), title_justify="left", title_style="bold"
        )
        table.add_column("agent model provider", overflow="fold")
        for name in ("done", "running", "failed", "errored", "spent"):
            table.add_column(name, justify="right")
        shown = sorted(self.by_contestant.items(), key=lambda pair: pair[1].done + pair[1].errored >= pair[1].total)
        most = max(5, self.console.height - 8)
        for names, tally in shown[:most]:
            numbers = (f"{tally.done}/{tally.total}", tally.running, tally.failed, tally.errored)
            table.add_row(Text(plain(" ".join(names))), *map(str, numbers), tally.spent_text if tally.spent else "–")
        if len(shown) > most:
            table.add_row(f"… and {len(shown) - most} more", *[""] * 5)
        return table

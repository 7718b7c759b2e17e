"""What happens, while it happens: counted, and said in plain lines. `live.py` draws it on a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orvl.engine import (
    AttemptEnded,
    BudgetOpened,
    JudgeAsked,
    JudgeEnded,
    Notice,
    RunDoing,
    RunGivenUp,
    RunScored,
    RunStarted,
)
from orvl.project.names import count
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.engine import Event
    from orvl.gateway.limits import Budget
    from orvl.plan.layout import Panel
    from orvl.types import Attempt, PlannedRun

LINE_EACH_UP_TO = 100
EVERY = 2.0
WORTH_SAYING = 5.0
"""Seconds from which on a silence is one."""


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
class Doing:
    """A run that goes on, and what it does."""

    run: PlannedRun
    began: float = field(default_factory=time.monotonic)
    now: RunDoing | None = None
    asked: Counter[str] = field(default_factory=Counter)
    """How many scores each judge is asked for at the moment."""

    @property
    def _open(self) -> list[tuple[str, int]]:
        """Judges that are asked now. What is drawn is drawn in another thread, so the counts are copied at once."""
        return [(name, number) for name, number in sorted(self.asked.items()) if number > 0]

    @property
    def what(self) -> str:
        if asked := self._open:
            return "asking " + ", ".join(f"{name} ({number})" for name, number in asked)
        return self.now.what if self.now else "starting"

    @property
    def text(self) -> str:
        """Such as `turn 2 of 3, silent for 12 s`."""
        now = self.now
        silence = now.silence() if now and now.silence and not self._open else 0.0
        return self.what + (f", silent for {seconds(silence)}" if silence >= WORTH_SAYING else "")


@dataclass
class Progress:
    """Counts what happens; says nothing."""

    runs: Sequence[PlannedRun]
    panels: Mapping[str, Panel] = field(default_factory=dict)
    """By eval: who is asked about its runs."""
    doing: dict[str, Doing] = field(default_factory=dict)
    """By key: the runs that go on."""
    left: Counter[str] = field(default_factory=Counter)
    """How many scores each judge is still to give, at most."""
    budget: Budget | None = None
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
        self._unasked = {run.key: self._questions(run) for run in self.runs} if self.panels else {}
        for questions in self._unasked.values():
            self.left.update(questions)

    def _questions(self, run: PlannedRun) -> Counter[str]:
        """How many scores of a run each judge is asked for, at most: some may be stored already."""
        panel = self.panels.get(run.cell.eval.name)
        if panel is None:
            return Counter()
        judged = sum(metric.judged for metric in panel.metrics)
        return Counter({judge.name: judged for judge in panel.judges if judged})

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
        elif isinstance(event, BudgetOpened):
            self.budget = event.budget
        elif isinstance(event, RunDoing):
            self._going_on(event.run).now = event
        elif isinstance(event, JudgeAsked | JudgeEnded):
            self._judged(event)
        elif isinstance(event, Notice):
            self.say(event.sentence)

    def _going_on(self, run: PlannedRun) -> Doing:
        return self.doing.setdefault(run.key, Doing(run))

    def _judged(self, event: JudgeAsked | JudgeEnded) -> None:
        asked = self._going_on(event.run).asked
        if isinstance(event, JudgeAsked):
            asked[event.judge] += 1
            return
        asked[event.judge] -= 1
        if questions := self._unasked.get(event.run.key):
            self.left[event.judge] -= questions[event.judge] > 0
            questions[event.judge] -= 1

    def _is_over(self, run: PlannedRun) -> None:
        """A run goes on no longer, and nobody is asked about it any more."""
        self.doing.pop(run.key, None)
        for judge, number in self._unasked.pop(run.key, Counter()).items():
            self.left[judge] -= max(number, 0)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def started(self, planned: PlannedRun) -> None:
        self.doing[planned.key] = Doing(planned)
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
        if attempt.outcome != "errored":
            self._is_over(planned)
        trouble = (planned.cell.agent.name, attempt.reason)
        if attempt.outcome != "errored" or trouble not in self.told:
            self.show(planned, attempt.outcome, attempt.reason, attempt.usage.seconds)
        self.told.add(trouble)

    def gave_up(self, planned: PlannedRun) -> None:
        """A run is errored for good, or was cut short."""
        for tally in self._tallies(planned):
            tally.running -= 1
            tally.errored += 1
        self._is_over(planned)
        self.given_up.add(planned.key)

    def scored(self, planned: PlannedRun) -> None:
        for tally in self._tallies(planned):
            tally.done += 1
        self._is_over(planned)
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
        spent = f", {self._spent()} spent" if self._spent() else ""
        bad = "".join(f", {n} {word}" for n, word in ((self.all.failed, "failed"), (self.all.errored, "errored")) if n)
        return f"{self.all.done} of {count(self.all.total, 'run')} done{bad}{spent}{left}"

    def _spent(self) -> str:
        """By agents, and by judges, too, where a budget counts them; empty where nothing was."""
        if self.budget is None or self.budget.limit is None:
            return self.all.spent_text if self.all.spent else ""
        spent = replace(self.all, spent=max(self.budget.spent, self.all.spent))
        return f"{spent.spent_text} of {dollars(self.budget.limit)}"

    def judges_left(self) -> str:
        """Such as `anna 12, bert 3`; empty where nobody is asked."""
        return ", ".join(f"{plain(name)} {number}" for name, number in sorted(self.left.items()) if number > 0)


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

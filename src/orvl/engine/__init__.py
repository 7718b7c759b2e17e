"""Who carries runs out. The store is the only truth; an engine only does the work and says what happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from orvl.project.names import count

if TYPE_CHECKING:
    import asyncio

    from orvl.engine.attempt import Conversed
    from orvl.gateway.account import Account
    from orvl.gateway.limits import Budget
    from orvl.plan.options import RunOptions
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.types import Attempt, PlannedRun


@dataclass(frozen=True)
class RunStarted:
    """A run begins; it may need several attempts."""

    run: PlannedRun


@dataclass(frozen=True)
class AttemptEnded:
    """An attempt is stored, and scored unless it is errored; an errored one may be tried again."""

    run: PlannedRun
    attempt: Attempt


@dataclass(frozen=True)
class RunGivenUp:
    """A run is errored for good, or was cut short."""

    run: PlannedRun


@dataclass(frozen=True)
class RunScored:
    """A stored run has been scored again."""

    run: PlannedRun


@dataclass(frozen=True)
class RunDoing:
    """What a run does from now on, such as its second turn."""

    run: PlannedRun
    what: str
    silence: Callable[[], float] | None = None
    """For how many seconds nothing has come of it; None where it makes no sound."""
    account: Account | None = None
    """Its calls of models, where they go through the gateway."""


@dataclass(frozen=True)
class JudgeAsked:
    """A judge is asked for a score of a run on a metric."""

    run: PlannedRun
    judge: str
    metric: str


@dataclass(frozen=True)
class JudgeEnded:
    """A judge has given that score, or has not."""

    run: PlannedRun
    judge: str
    metric: str


@dataclass(frozen=True)
class BudgetOpened:
    """Where the money is counted that agents and judges spend from now on."""

    budget: Budget


@dataclass(frozen=True)
class Notice:
    """A sentence for whoever watches."""

    sentence: str


Activity = RunDoing | JudgeAsked | JudgeEnded | BudgetOpened
"""What goes on between the events that change what is stored."""
Event = RunStarted | AttemptEnded | RunGivenUp | RunScored | Notice | Activity
OnEvent = Callable[[Event], None]
"""Is called when what an event says is durable, or has begun."""


def without_activity(on_event: OnEvent) -> OnEvent:
    """For those who keep events, and need none that only say what goes on."""

    def told(event: Event) -> None:
        if not isinstance(event, Activity):
            on_event(event)

    return told


@dataclass(frozen=True)
class Execution:
    """How an execution ended."""

    interrupted: bool = False
    over_budget: bool = False
    unjudged: bool = False
    """Whether the money for judges ran out before they had answered everything."""
    budget: float | None = None
    spent: float = 0.0
    judging_cost: float = 0.0
    """Dollars that judges cost, as far as it is known."""
    judging_cost_is_partial: bool = False
    user_cost: float = 0.0
    """Dollars that the model cost which answers for users, as far as it is known."""
    user_cost_is_partial: bool = False
    unknown_cost: frozenset[str] = frozenset()
    """Agents whose runs may have cost something that nobody knows."""
    not_installed: Mapping[str, str] = field(default_factory=dict)
    """Agents whose program is missing, each with a sentence."""
    given_up: tuple[str, ...] = ()
    """A sentence for each endpoint that was given up."""
    missed: Mapping[str, tuple[int, str]] = field(default_factory=dict)
    """By judge, '' for the browser: how many scores are missing because it failed, and the usual reason."""

    @property
    def missed_sentences(self) -> list[str]:
        return [
            f"{f'The judge {judge}' if judge else 'The browser'} missed {count(number, 'score')}: {why.rstrip('.')}. "
            "The same command, given again, asks for what is missing."
            for judge, (number, why) in sorted(self.missed.items())
        ]


@dataclass(frozen=True)
class Settled:
    """What came of one attempt at a run: stored, and scored as far as it could be."""

    attempt: Attempt
    is_scored: bool
    """Whether it has every score that was asked for."""


class Stages(Protocol):
    """The stages of one run, as an engine offers them; each takes what the one before made, and changes none of it."""

    async def run(self, planned: PlannedRun) -> Conversed:
        """The conversation, in fresh folders and a sandbox."""
        ...

    async def capture(self, planned: PlannedRun, conversed: Conversed) -> Attempt:
        """What it left, sealed: files, usage, checks. The folders are gone afterwards."""
        ...

    async def score(self, planned: PlannedRun, attempt: Attempt) -> Settled:
        """Stored and scored, durably; then announced."""
        ...


OneRun = Callable[["PlannedRun", Stages], Awaitable[Settled]]
"""What is done for each run: see pipeline.one_run."""


class RunPolicy(Protocol):
    """Decides while runs go on which others are still worth starting; a race is one."""

    def may_start(self, planned: PlannedRun, at_once: int) -> bool:
        """Whether a run is needed now, where `at_once` runs may go on together."""
        ...

    def ended(self, planned: PlannedRun) -> list[str]:
        """Takes note that a run was scored or given up; returns what to tell the user."""
        ...


class Engine(Protocol):
    """Carries out what is left of a plan; everything that finishes is in the store before an event says so."""

    async def execute(
        self,
        plan: Plan,
        remaining: Remaining,
        options: RunOptions,
        *,
        one_run: OneRun,
        on_event: OnEvent,
        stop: asyncio.Event,
        policy: RunPolicy | None = None,
    ) -> Execution:
        """Setting `stop` starts nothing new, and cuts what still runs after a grace time."""
        ...

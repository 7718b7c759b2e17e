"""Who carries runs out. The store is the only truth; an engine only does the work and says what happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import asyncio

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
class Notice:
    """A sentence for whoever watches."""

    sentence: str


Event = RunStarted | AttemptEnded | RunGivenUp | RunScored | Notice
OnEvent = Callable[[Event], None]
"""Is called when what an event says is durable."""


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
    unknown_cost: frozenset[str] = frozenset()
    """Agents whose runs may have cost something that nobody knows."""
    not_installed: Mapping[str, str] = field(default_factory=dict)
    """Agents whose program is missing, each with a sentence."""
    given_up: tuple[str, ...] = ()
    """A sentence for each endpoint that was given up."""


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
        on_event: OnEvent,
        stop: asyncio.Event,
        policy: RunPolicy | None = None,
    ) -> Execution:
        """Setting `stop` starts nothing new, and cuts what still runs after a grace time."""
        ...

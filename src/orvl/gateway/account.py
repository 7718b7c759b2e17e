"""One run at the gateway: its key, its limits, its calls, and what went wrong."""

from __future__ import annotations

import asyncio
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.errors import CallRefused
from orvl.gateway.faults import Trouble
from orvl.gateway.pace import Purse
from orvl.gateway.steps import step_of
from orvl.types import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from orvl.gateway.record import Record
    from orvl.gateway.tries import Tries
    from orvl.project.providers import Provider
    from orvl.project.settings import Limits
    from orvl.types import ModelCall

FAILURES_IN_A_ROW = 3


@dataclass(eq=False)
class Open:
    """A call that is under way."""

    heard: float
    """When the provider was last heard of."""
    held: bool = True


class Crowd:
    """Calls that share a decision: one begins without surely having money left only where no other is open."""

    def __init__(self) -> None:
        self.open: set[Open] = set()
        self.changed = asyncio.Event()


@dataclass(eq=False)
class Account:
    """What a run may do at the gateway, and what it did. Judges have one each, too."""

    provider: Provider
    protocol: str
    model: str
    limits: Limits
    record: Record
    session: Purse
    key: str = field(default_factory=lambda: f"orvl-{secrets.token_hex(20)}")
    turn: int = 1
    calls: list[ModelCall] = field(default_factory=list)
    trouble: Trouble | None = None
    """A failure of the provider that trying again did not help."""
    failing: Trouble | None = None
    """How the last call failed; None after one that did not."""
    refusal: str | None = None
    """What the provider said to the last call, where it refused it as the agent's own mistake."""
    left_waiting: Trouble | None = None
    """The silence that the agent left its last call in, if it was long."""
    over: str | None = None
    """The limit that the run hit."""
    over_budget: bool = False
    silence: float = 0.0
    """Seconds for which the provider had said nothing when the agent left its last call."""
    held: float = 0.0
    """Seconds in which orvl itself held calls of this run back."""
    crowd: Crowd = field(default_factory=Crowd)

    def __post_init__(self) -> None:
        self.purse = Purse(self.limits.cost)
        self.doomed = asyncio.Event()
        self.begun = 0
        self.failures = 0
        self.tokens = 0
        self._holding: set[Open] = set()
        self._holding_since = 0.0
        self._steps: list[Mapping[str, Any]] = []

    # -- before a call

    async def admit(self, estimate: float) -> tuple[int, Open]:
        """Waits until a call may begin. Money holds: a second call at once begins only where both surely fit."""
        while True:
            self._refuse()
            room = self.purse.has_room_for(estimate) and self.session.has_room_for(estimate)
            if room or not self.crowd.open:
                break
            self.crowd.changed.clear()
            await self.crowd.changed.wait()
        call = Open(time.monotonic())
        self.crowd.open.add(call)
        self.begun += 1
        for purse in (self.purse, self.session):
            purse.promised += estimate
        return self.begun, call

    def _refuse(self) -> None:
        limits = self.limits
        if self.trouble is not None:
            raise CallRefused(self.trouble.words)
        if self.session.is_empty:
            self.over_budget = True
            self.end(f"the budget of ${self.session.most:g} is spent")
        elif self.begun >= limits.calls:
            self.end(f"it made more calls of models than its limit of {limits.calls:g} (limits.calls)")
        elif self.tokens >= limits.tokens:
            self.end(f"its calls took more tokens than its limit of {limits.tokens:g} (limits.tokens)")
        elif self.purse.is_empty:
            self.end(f"its calls cost more than its limit of ${limits.cost:g} (limits.cost)")
        if self.over is not None:
            raise CallRefused(self.over)

    def end(self, why: str) -> None:
        """No more calls: the run has hit a limit."""
        self.over = self.over or why
        self.doomed.set()
        self.crowd.changed.set()

    # -- after a call

    def close(self, call: Tries, estimate: float, done: ModelCall, charged: float, tokens: int) -> None:
        """A call is over, well or not; what it took is known, or guessed."""
        self.crowd.open.discard(call.open)
        for purse in (self.purse, self.session):
            purse.promised -= estimate
            purse.spent += charged
        self.tokens += tokens
        self.calls.append(done)
        if call.agent_left:
            self.silence = time.monotonic() - call.open.heard
            self.left_waiting = Trouble(done.trouble, helps=True) if done.trouble else None
        elif call.trouble is not None:
            self._fail(call.trouble, has_begun=call.has_begun, model=call.asked.model)
        elif call.status is not None and call.status < 300:
            self.failing, self.left_waiting, self.refusal, self.failures = None, None, None, 0
            self._steps.append(step_of(call.answer, done))
        elif call.status is not None:
            self.refusal = f"{call.status} {call.said}".strip()
        self.crowd.changed.set()

    def _fail(self, trouble: Trouble, *, has_begun: bool, model: str) -> None:
        """The run is over when trying again does not help, or when calls fail again and again."""
        if trouble.scope == "model" and model != self.model:
            return
        self.failing = trouble
        self.failures += 1
        if not has_begun or self.failures >= FAILURES_IN_A_ROW:
            self.trouble = self.trouble or trouble
            self.doomed.set()

    def was_answered(self, turn: int) -> bool:
        """Whether any call of a turn was."""
        return any(call.turn == turn and is_answered(call) for call in self.calls)

    def begin_turn(self, turn: int) -> None:
        self.turn, self.silence, self.left_waiting = turn, 0.0, None

    def take_steps(self) -> tuple[Mapping[str, Any], ...]:
        """What the model said since this was last asked, as steps of a trajectory."""
        steps, self._steps = tuple(self._steps), []
        return steps

    # -- time

    @contextmanager
    def holding(self, call: Open) -> Iterator[None]:
        """While orvl holds a call back; overlapping times count once. A call that is left then stays held."""
        call.held = True
        if not self._holding:
            self._holding_since = time.monotonic()
        self._holding.add(call)
        try:
            yield
            call.held, call.heard = False, time.monotonic()
        finally:
            self._holding.discard(call)
            if not self._holding:
                self.held += time.monotonic() - self._holding_since

    # -- what the run used

    def usage(self, seconds: float) -> Usage:
        """The sums over all answers; a sum that misses one is unknown, not smaller."""
        answered = [call for call in self.calls if is_answered(call)]
        counted = [call for call in self.calls if call.output_tokens is not None]
        has_all = all(call.output_tokens is not None for call in answered) and bool(answered or not self.calls)
        costs = [call.cost_usd for call in counted]
        known = [cost for cost in costs if cost is not None]
        sources = {call.cost_source for call in counted if call.cost_usd is not None}
        is_priced = has_all and len(known) == len(costs)
        return Usage(
            seconds=seconds,
            input_tokens=sum(call.input_tokens or 0 for call in counted) if has_all else None,
            cached_tokens=_sum(call.cached_tokens for call in counted) if has_all else None,
            output_tokens=sum(call.output_tokens or 0 for call in counted) if has_all else None,
            tool_calls=sum(call.tool_calls for call in self.calls),
            cost_usd=sum(known) if is_priced else None,
            cost_source=(sources.pop() if len(sources) == 1 else "metered") if is_priced else None,
        )


def is_answered(call: ModelCall) -> bool:
    """Whether a call was answered to its end."""
    return call.status is not None and 200 <= call.status < 300 and not call.trouble and not call.left


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)

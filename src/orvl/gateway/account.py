"""One run at the gateway: its key, limits and budget, its calls, and what went wrong."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from orvl.errors import CallRefused
from orvl.gateway.clock import Clock, OpenCall
from orvl.gateway.failures import CallFailure
from orvl.gateway.issues import is_same_model
from orvl.gateway.limits import Budget
from orvl.gateway.metering import step_of, trouble_of
from orvl.gateway.pace import TimeShare
from orvl.types import Usage
from orvl.worker import DeadlineWorker

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping

    from orvl.gateway.record import Record
    from orvl.gateway.retry import UpstreamCall
    from orvl.project.providers import Provider
    from orvl.project.settings import Limits
    from orvl.types import CallIssue, ModelCall

CUT_OFF_IN_A_ROW = 3
READING_ANSWERS, SAVED_FOR_ANSWERS = 1 / 2, 4.0
"""The part of orvl's time that goes into looking through one run's streams, and the seconds of it that it may save."""
DRAIN_SECONDS = 15.0
"""How long an answer is still read that its agent does not wait for."""
Result = TypeVar("Result")


class AskProvider(Protocol):
    """Asks a provider on orvl's own behalf, and says how it failed; None if it answers."""

    async def __call__(self, *, stream: bool) -> CallFailure | None: ...


@dataclass(eq=False)
class Account:
    """What a run, or a judge, may do at the gateway, and what it did."""

    provider: Provider
    protocol: str
    model: str
    limits: Limits
    record: Record
    command_budget: Budget
    contestant: str = ""
    """Whose run it is, or whose run a judge looks at: what one meets must not stop another."""
    key: str = field(default_factory=lambda: f"orvl-{secrets.token_hex(20)}")
    may_use_others: bool = False
    """Whether it may call other models than its own."""
    turn: int = 1
    calls: list[ModelCall] = field(default_factory=list)
    failure: CallFailure | None = None
    """The failure of the provider that ended the run: orvl's own question met it, too."""
    last_failure: CallFailure | None = None
    """How the last call failed; None after a success."""
    last_streamed: bool = False
    refusal: str | None = None
    """The provider's words, if it refused the last call as the agent's own mistake."""
    abandoned: CallFailure | None = None
    """Why the agent gave up on its last call, if it had waited for long."""
    was_held: bool = False
    """Whether orvl itself held that call back, and it was the run's only one."""
    ask_provider: AskProvider | None = None
    limit_hit: str | None = None
    """The limit that ended the run."""
    over_budget: bool = False
    silence: float = 0.0
    """Seconds for which the provider had sent nothing when the agent gave up on its last call."""
    refused: Counter[str] = field(default_factory=Counter)
    """Requests of the agent that were not passed on, by the reason."""
    open_calls: set[OpenCall] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.budget = Budget(self.limits.cost)
        self.aborted = asyncio.Event()
        self.begun = 0
        self.free_requests = 0
        self.most_open = 0
        """How many calls of this turn were open at once."""
        self._held_before = 0.0
        self._heard = time.monotonic()
        """When the last call ended."""
        self.tokens = 0
        self.probes: list[ModelCall] = []
        self._cut_off = 0
        """Calls in a row whose answers began and were not complete."""
        self._asking: asyncio.Task[None] | None = None
        self.clock = Clock()
        self.worker = DeadlineWorker()
        self.reading = TimeShare(READING_ANSWERS, SAVED_FOR_ANSWERS)
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_over = False
        self._steps: list[Mapping[str, Any]] = []

    # -- before a call

    async def admit(self, reservation: float) -> tuple[int, OpenCall]:
        """Waits until a call may go out that costs so much at most; raises CallRefused if none may any more."""
        call = OpenCall(time.monotonic())
        self.open_calls.add(call)
        self.most_open = max(self.most_open, len(self.open_calls))
        self.clock.open(call)
        try:
            await self.reserve(reservation, self._check_limits)
        except BaseException as error:
            self.open_calls.discard(call)
            self.clock.close(call, has_tools=False)
            if isinstance(error, asyncio.CancelledError):
                self._gave_up_waiting(time.monotonic() - call.last_heard)
            raise
        self.begun += 1
        return self.begun, call

    async def reserve(self, amount: float, check: Callable[[], None] | None = None) -> None:
        """Waits until the run's own limit and the budget have room; raises CallRefused if one of them is spent."""
        check = check or self._check_budgets
        await self.budget.reserve(amount, check)
        try:
            await self.command_budget.reserve(amount, check)
        except BaseException:
            self.budget.settle(amount, 0.0)
            raise

    def pay(self, reserved: float, charged: float) -> None:
        """What a try cost, or may have cost, takes the place of its reservation."""
        for budget in (self.budget, self.command_budget):
            budget.settle(reserved, charged)

    def _gave_up_waiting(self, seconds: float) -> None:
        reason = f"orvl held the call back for {seconds:.0f} s to stay within the budget, and the agent gave up"
        self.abandoned = CallFailure(reason, retry_call=True)
        self.was_held = not self.clock.has_open_calls

    def _check_limits(self) -> None:
        if self._is_over:
            raise CallRefused("it is over")
        limits = self.limits
        if self.failure is not None or self.command_budget.is_spent:
            pass  # these come first: they are not the run's own doing
        elif self.begun >= limits.calls:
            self._abort(f"it made more model calls than its limit of {limits.calls:g} (limits.calls)")
        elif self.tokens >= limits.tokens:
            self._abort(f"its model calls used more tokens than its limit of {limits.tokens:g} (limits.tokens)")
        self._check_budgets()

    def _check_budgets(self) -> None:
        if self.failure is not None:
            raise CallRefused(self.failure.message)
        if self.command_budget.is_spent:
            self.over_budget = True
            self._abort(f"the budget of ${self.command_budget.limit:g} is spent")
        elif self.budget.is_spent:
            self._abort(f"its model calls cost more than its limit of ${self.limits.cost:g} (limits.cost)")
        if self.limit_hit is not None:
            raise CallRefused(self.limit_hit)

    def _abort(self, reason: str) -> None:
        self.limit_hit = self.limit_hit or reason
        self._stop()

    def _stop(self) -> None:
        """No call may go out any more; those that wait for the budget are told."""
        self.aborted.set()
        self.budget.wake()
        self.command_budget.wake()

    # -- after a call

    def close(self, call: UpstreamCall, done: ModelCall, tokens: int) -> None:
        """A call is over, well or not: its reservation is replaced by what it cost, or may have cost."""
        self.open_calls.discard(call.open_call)
        self._heard = time.monotonic()
        self.clock.close(call.open_call, has_tools=bool(done.tool_calls))
        if call.failure is not None and call.failure.by_request:
            self.clock.give_back(call.open_call)
        call.pay()
        self.tokens += tokens
        self.calls.append(done)
        self.last_streamed = call.asked.stream
        if call.agent_left:
            pass  # how it left was noted then
        elif call.failure is not None:
            self._fail(call.failure, has_begun=call.has_begun, model=call.asked.model)
        elif call.status is not None and call.status < 300:
            self.last_failure, self.abandoned, self.refusal, self._cut_off = None, None, None, 0
            self._steps.append(step_of(call.answer, done))
        elif call.status is not None:
            self.refusal = f"{call.status} {call.refusal}".strip()

    def _fail(self, failure: CallFailure, *, has_begun: bool, model: str) -> None:
        """Ends the run if the provider fails orvl's own question, too.

        A call whose answer had begun was neither retried nor asked about, so the agent gets the chance to retry. The
        failure of another model than the assigned one is the agent's own matter, and so is one that only its request
        meets.
        """
        if not is_same_model(self.model, model):
            self.refusal = failure.message
            return
        self.last_failure = failure
        if failure.by_request:
            self.refusal = failure.message
        elif not has_begun:
            self.fail(failure)
        elif self._cut_off >= CUT_OFF_IN_A_ROW - 1:
            self._asking = asyncio.ensure_future(self._end_if_provider_fails(failure))
        else:
            self._cut_off += 1

    def fail(self, failure: CallFailure) -> None:
        """The run cannot go on, and not by its own fault."""
        self.failure = self.failure or failure
        self._stop()

    async def _end_if_provider_fails(self, failure: CallFailure) -> None:
        self._cut_off = 0
        if await self.provider_failure() is not None:
            self.fail(failure)

    async def provider_failure(self) -> CallFailure | None:
        """How the provider fails orvl's own question now; None if it answers."""
        if self.ask_provider is None:
            return None
        return await self.ask_provider(stream=self.last_streamed)

    def charge_probe(self, call: ModelCall) -> None:
        """Adds what a question of orvl's own cost, if it was answered."""
        if call.output_tokens is None:
            return
        self.probes.append(call)
        self.tokens += (call.input_tokens or 0) + call.output_tokens

    def abandon(self, call: UpstreamCall) -> None:
        """The agent has left a call. If it is with the provider, it is read to its end, or for a while."""
        self.clock.close(call.open_call, has_tools=False)
        if call.turn == self.turn:
            trouble = trouble_of(call)
            self.silence = call.silence
            self.abandoned = CallFailure(trouble, retry_call=True) if trouble else None
            self.was_held = call.left_held and not self.clock.has_open_calls
            # A pause after an error is orvl's, but the error may be due to the agent: the provider is to be asked.
            if call.left_held and (error := call.met) is not None:
                self.last_failure, self.was_held = error, False
        if call.task is not None:
            _cancel_later(call, call.task)

    def start(self, work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Work on a call, which goes on when its agent has left."""
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it sees it; nobody need

    async def settle(self, *, drain: bool) -> None:
        """Waits until all calls are closed; those that take too long are closed by their upper bound.

        No other may go out: one of a process that the run left behind would be in nobody's account.
        """
        self._is_over = True
        deadline = time.monotonic() + (DRAIN_SECONDS if drain else 0.0)
        while self._tasks:
            await asyncio.wait(set(self._tasks), timeout=max(0.0, deadline - time.monotonic()))
            if time.monotonic() >= deadline:
                for task in self._tasks:
                    task.cancel()
                await asyncio.gather(*self._tasks, return_exceptions=True)

    def add_findings(self, number: int, findings: tuple[CallIssue, ...]) -> None:
        """What was found out about a call after it was closed."""
        self.calls = [replace(call, findings=findings) if call.number == number else call for call in self.calls]

    def allows(self, model: str) -> bool:
        """Whether the run may call a model: its own, by the very name, unless others are allowed."""
        return self.may_use_others or model == self.model

    def refuse(self, kind: str, sentence: str | None = None) -> None:
        """A request of the agent is not passed on, and so is in no account. Even reading it takes time, so a run may
        make as many of them as calls."""
        self.refused[kind] += 1
        self.refusal = sentence or self.refusal
        if self.refused.total() > self.limits.calls:
            self._abort(f"it made more than {self.limits.calls:g} requests that orvl refused (limits.calls)")

    def begin_free_request(self) -> bool:
        """Whether the run may make another request that costs nothing: a provider limits these, too."""
        self.free_requests += 1
        return self.free_requests <= self.limits.calls

    def was_answered(self, turn: int) -> bool:
        """Whether any call of a turn was answered."""
        return any(call.turn == turn and is_answered(call) for call in self.calls)

    def begin_turn(self, turn: int) -> None:
        self.turn, self.silence, self.abandoned, self.was_held = turn, 0.0, None, False
        self.most_open, self._held_before = 0, self.seconds_held
        self.clock.begin()

    def take_steps(self) -> tuple[Mapping[str, Any], ...]:
        """The model's answers since the last call of this, as steps of a trajectory."""
        steps, self._steps = tuple(self._steps), []
        return steps

    # -- time that orvl took

    @property
    def quiet_for(self) -> float:
        """Seconds since anything was last heard of a model. May be asked in any thread."""
        return time.monotonic() - max((call.last_heard for call in tuple(self.open_calls)), default=self._heard)

    @contextmanager
    def holding(self, call: OpenCall) -> Iterator[None]:
        """Marks a call as held back by orvl."""
        self.clock.hold(call, is_held=True)
        try:
            yield
        finally:
            call.last_heard = time.monotonic()
            self.clock.hold(call, is_held=False)

    @property
    def seconds_held(self) -> float:
        """Seconds in which orvl held back all open calls of the run."""
        return self.clock.waiting

    @property
    def seconds_held_in_turn(self) -> float:
        return self.seconds_held - self._held_before

    # -- what the run used

    def usage(self, seconds: float) -> Usage:
        """The sums over all calls that went out, and how turns of so many seconds were spent.

        A sum with an upper bound in it is one, and says so. One of calls without a price has no cost.
        """
        counted = [call for call in (*self.calls, *self.probes) if call.output_tokens is not None]
        costs = [call.cost_usd for call in counted]
        is_counted = bool(counted or not self.calls)
        is_priced = is_counted and None not in costs
        sources = {call.cost_source for call in counted if call.cost_usd is not None}
        split = self.clock.seconds
        return Usage(
            seconds=max(0.0, seconds - self.seconds_held),
            input_tokens=sum(call.input_tokens or 0 for call in counted) if is_counted else None,
            cached_tokens=_sum(call.cached_tokens for call in counted) if is_counted else None,
            output_tokens=sum(call.output_tokens or 0 for call in counted) if is_counted else None,
            tool_calls=sum(call.tool_calls for call in self.calls),
            cost_usd=sum(cost or 0.0 for cost in costs) if is_priced else None,
            cost_source=(sources.pop() if len(sources) == 1 else "metered") if is_priced else None,
            is_bound=any(call.is_bound for call in counted),
            model_seconds=split["model"],
            tools_seconds=split["tools"],
            waiting_seconds=split["waiting"],
            own_seconds=max(0.0, seconds - split["model"] - split["tools"] - split["waiting"]),
        )


def is_answered(call: ModelCall) -> bool:
    """Whether a call was answered to its end."""
    return call.status is not None and 200 <= call.status < 300 and not call.trouble and not call.left


def _sum(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count or 0 for count in known)


def _cancel_later(call: UpstreamCall, task: asyncio.Task[object]) -> None:
    """Cancels an abandoned call: at once if it is not with the provider, unless it goes there at this moment."""
    loop, was_sent = asyncio.get_running_loop(), call.is_sent

    def cancel() -> None:
        if call.is_sent and not was_sent:
            loop.call_later(DRAIN_SECONDS, task.cancel)
        else:
            task.cancel()

    loop.call_later(DRAIN_SECONDS if was_sent else 0.0, cancel)

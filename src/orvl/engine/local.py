"""All runs in this process, a few at a time; each is tried, stored, scored, stored, and only then announced."""

from __future__ import annotations

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orvl.engine.attempt import Attempts
from orvl.engine.inspection import Inspector
from orvl.engine.scoring import Samples, Scoring, saving
from orvl.errors import DiskError, Interrupted, NotStarted, OrvlError, StoreError, disk_sentence
from orvl.run.start_cache import Starts
from orvl.sandbox.choose import Slot
from orvl.score.judges.bench import Bench, Seat
from orvl.store.writer import Writer

if TYPE_CHECKING:
    from orvl.engine import Watcher
    from orvl.gateway import Gateway
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import State
    from orvl.project.settings import Settings
    from orvl.sandbox.kinds import Kind
    from orvl.sandbox.surroundings import Surroundings
    from orvl.sandbox.workdir import WorkDir
    from orvl.store import Store
    from orvl.trust.race import Race
    from orvl.types import Attempt, Inspection, PlannedRun, Score

STOP_GRACE = 10.0
BACK_OFF = 0.5
Task = tuple["PlannedRun", Callable[["PlannedRun", "Slot"], Awaitable[bool]]]
"""A run, and what is done for it; that says whether it is settled, be it scored or given up."""


def default_concurrency() -> int:
    return max(4, min(16, 2 * (os.cpu_count() or 2)))


@dataclass
class LocalEngine:
    """Carries a plan out. `stop` lets what runs end, within a grace time."""

    plan: Plan
    state: State
    store: Store
    work: WorkDir
    settings: Settings
    watcher: Watcher
    call: int
    concurrency: int
    sandbox: Kind
    around: Surroundings
    gateway: Gateway
    samples: Samples = "missing"
    race: Race | None = None
    """Says which runs are not needed, or not yet."""
    over_budget: bool = False
    unknown_cost: set[str] = field(default_factory=set)
    """Agents whose runs may have cost something that nobody told."""
    interrupted: bool = False
    judging_cost: float = 0.0
    """Dollars that judges took, as far as they are known."""
    is_unjudged: bool = False
    """Whether the money for judges ended before they had said all."""

    def __post_init__(self) -> None:
        self._writer = Writer(self.store)
        starts = Starts(self.store, self.work, self.settings, self.around.image, self.watcher.say)
        self._attempts = Attempts(
            self.store, self.work, self.settings, starts, self.gateway, self.plan.hosts, self.watcher.say
        )
        limits = self.settings.limits
        self._bench = Bench(self.gateway, lambda judge: Seat.of(judge, self.settings), limits.judge, self.watcher.say)
        self._finding = Inspector(self.store, self.work, limits, self._writer)
        self._scoring = Scoring(self.store, self.work, limits.score, self.samples, self._bench)
        self._stopping = asyncio.Event()
        self._going = 0
        self._changed = asyncio.Event()
        self._slots: list[Slot] = []
        self._fatal: OrvlError | None = None

    @property
    def not_installed(self) -> dict[str, str]:
        """Agents whose program is not there, each with a sentence."""
        return self._attempts.not_installed

    async def carry_out(self) -> None:
        """Does all that is left; a full disk ends it at once, with a sentence."""
        await self._writer.write(self._register)
        todo: deque[Task] = deque((run, self._score_again) for run in self.state.to_score)
        todo.extend((run, self._run) for run in self.state.to_run)
        await asyncio.gather(*(self._worker(todo) for _ in range(min(self.concurrency, len(todo)))))
        await self._attempts.cleaned()
        self._bench.close()
        await self.gateway.close()
        self._budget_is_spent()
        if self._fatal is not None:
            raise self._fatal

    def _register(self, store: Store) -> None:
        self._cells = {cell.key: store.add_cell(cell) for cell in self.plan.cells}
        self._layouts = {name: store.add_layout(layout) for name, layout in self.state.layouts.items()}

    async def _worker(self, todo: deque[Task]) -> None:
        slot = Slot(self.sandbox, self.around, self.work.lock_fd)
        self._slots.append(slot)
        try:
            while (task := await self._next(todo)) is not None:
                with suppress(Interrupted):
                    await self._do(task, slot)
        except OSError as error:
            self._end_all(DiskError(f"Runs cannot go on: {disk_sentence(error)}. What was finished is safe."))
        except OrvlError as error:
            self._end_all(error)
        finally:
            await slot.close()

    async def _next(self, todo: deque[Task]) -> Task | None:
        """The first that may start. Where a race holds all back, it is asked again when something has ended."""
        while todo and not self.stopped and not self._budget_is_spent():
            at = next((at for at, (planned, _) in enumerate(todo) if self._may_start(planned)), None)
            if at is not None:
                task = todo[at]
                del todo[at]
                return task
            if not self._going:
                return None
            await self._changed.wait()
        return None

    def _may_start(self, planned: PlannedRun) -> bool:
        return self.race is None or self.race.may_start(planned, self.concurrency)

    async def _do(self, task: Task, slot: Slot) -> None:
        planned, do = task
        self._going += 1
        try:
            if self.race is None:
                if not self._cannot_run(planned):
                    await do(planned, slot)
            elif self._cannot_run(planned) or await do(planned, slot):
                for sentence in self.race.ended(planned):
                    self.watcher.say(sentence)
        finally:
            self._going -= 1
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _cannot_run(self, planned: PlannedRun) -> bool:
        cell = planned.cell
        is_stopped = cell.key in self.plan.hosts and self.gateway.why_not(cell.provider, cell.model_id)
        return cell.agent.name in self.not_installed or bool(is_stopped)

    def _budget_is_spent(self) -> bool:
        self.over_budget = self.gateway.purse.is_empty
        return self.over_budget

    # -- ending

    def stop(self) -> None:
        """Nothing new starts; what still runs after the grace time is cut."""
        if not self.stopped:
            self._stopping.set()
            self._wake()
            asyncio.get_running_loop().call_later(STOP_GRACE, self._cut)

    @property
    def stopped(self) -> bool:
        return self._stopping.is_set()

    def _cut(self) -> None:
        for slot in self._slots:
            slot.stop()
        self._scoring.cancel()

    def _end_all(self, error: OrvlError) -> None:
        self._fatal = self._fatal or error
        self._stopping.set()
        self._wake()
        self._cut()

    # -- one run

    async def _run(self, planned: PlannedRun, slot: Slot) -> bool:
        """Tries a run until it is carried out, or until trying again does not help."""
        self.watcher.started(planned)
        for number in range(self.settings.attempts):
            if number:
                await self._wait(BACK_OFF * 4 ** (number - 1))
            attempt = await self._attempts.make(planned, slot)
            is_scored = await self._keep(planned, attempt, slot)
            self.watcher.ended(planned, attempt)
            if attempt.outcome != "errored":
                return is_scored
            if not attempt.retry or self.stopped or self._cannot_run(planned) or self._budget_is_spent():
                break
        self.watcher.gave_up(planned)
        return not self.stopped and not self._budget_is_spent()

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _keep(self, planned: PlannedRun, attempt: Attempt, slot: Slot) -> bool:
        """Stores an attempt, and then its scores; says whether it has them all."""
        cell, checks_key = self._cells[planned.cell.key], planned.cell.eval.checks_digest
        number = await self._writer.write(
            lambda store: store.add_attempt(planned, cell, self.call, attempt, checks_key)
        )
        if planned.cell.key not in self.plan.hosts:
            self.gateway.purse.spent += attempt.usage.cost_usd or 0.0
        if attempt.usage.cost_usd is None:
            self.unknown_cost.add(planned.cell.agent.name)
        return attempt.outcome != "errored" and await self._score(planned, number, attempt, [], slot, ())

    async def _score(
        self,
        planned: PlannedRun,
        number: int,
        attempt: Attempt,
        before: list[Score],
        slot: Slot,
        found: Sequence[Inspection],
    ) -> bool:
        name = planned.cell.eval.name
        panel = self.plan.panels[name]
        finds = await self._finding.of(planned.cell, number, attempt, panel, slot, found)
        browse = self._finding.browser_of(panel.eval, attempt, slot)
        scores, is_all = await self._scoring.scores(attempt, number, panel, before, finds, browse)
        self.is_unjudged = self.is_unjudged or not is_all
        self.judging_cost += sum((score.detail or {}).get("cost_usd") or 0.0 for score in scores)
        cell, layout_id, layout = self._cells[planned.cell.key], self._layouts[name], self.state.layouts[name]
        await self._writer.write(saving(number, cell, self.call, layout_id, layout, before, scores, is_all))
        return is_all

    def _stored(self, number: int, checks_key: str) -> tuple[Any, list[Score], list[Inspection]]:
        """All that is kept of an attempt: itself with its checks, its scores, and what was found out about it."""
        return self.store.attempt(number, checks_key), self.store.scores(number), self.store.inspections(number)

    async def _score_again(self, planned: PlannedRun, slot: Slot) -> bool:
        """Scores a stored run; checks that have changed since are run on its capture."""
        checks_key = planned.cell.eval.checks_digest
        number = self.state.stored[planned.key].attempt
        (attempt, results), before, found = await asyncio.to_thread(self._stored, number, checks_key)
        if results is None:
            try:
                results = await self._attempts.check_again(planned, attempt, slot)
            except (StoreError, NotStarted) as error:
                self.watcher.say(f"{planned.cell} #{planned.episode} cannot be checked again: {error}")
                return True
            again = results
            await self._writer.write(lambda store: store.add_checks(number, checks_key, again))
        is_scored = await self._score(planned, number, replace(attempt, checks=results), before, slot, found)
        self.watcher.scored(planned)
        return is_scored

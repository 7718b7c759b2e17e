"""All runs in this process, a few at a time; each is tried, stored, scored, stored, and only then announced."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.capture.inspector import Inspector
from orvl.engine import (
    AttemptEnded,
    BudgetOpened,
    Execution,
    JudgeAsked,
    JudgeEnded,
    Notice,
    RunDoing,
    RunGivenUp,
    RunScored,
    RunStarted,
    Settled,
)
from orvl.engine.attempt import Attempts
from orvl.engine.machine import concurrency, threads
from orvl.engine.scoring import RunScorer, browse_as_text, hidden_names, saving
from orvl.engine.set_up import SetUps
from orvl.errors import (
    DISK_IS_FULL,
    DiskError,
    Interrupted,
    NotStarted,
    OrvlError,
    StoreError,
    disk_sentence,
)
from orvl.gateway import Gateway
from orvl.plan.prices import check_budget
from orvl.project import PARTS
from orvl.project.draw import drawn_run
from orvl.project.endpoints import check_judges
from orvl.project.judges import reach
from orvl.project.user import as_judge, asks_users, check_user
from orvl.run.start_cache import Starts
from orvl.run.user import SelectingUser
from orvl.sandbox.backends import Slot, backend, chosen, has_commands, is_trusted
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.readable import readable_paths
from orvl.sandbox.workdir import WorkDir, is_alive, no_room
from orvl.score.judges.panel import JudgeEndpoint, JudgePanel
from orvl.score.score_run import is_missed
from orvl.store.records import about
from orvl.store.writer import Writer

if TYPE_CHECKING:
    from orvl.engine import OneRun, OnEvent, RunPolicy
    from orvl.engine.attempt import Conversed
    from orvl.gateway.account import Account
    from orvl.plan.options import RunOptions
    from orvl.plan.planning import Plan
    from orvl.plan.remaining import Remaining
    from orvl.project import Project
    from orvl.sandbox.config import SandboxConfig
    from orvl.score.score_run import WatchJudge
    from orvl.store import Store
    from orvl.store.rows import JudgeReply
    from orvl.types import Attempt, Inspection, PlannedRun, SandboxName, Score

STOP_GRACE = 10.0
STORE_LOOK = 0.5
BACK_OFF = 0.5
MOST_UNSTORED = 32
"""Runs that may wait for the disk while the slots that made them go on: more of them share a transaction."""
Task = tuple["PlannedRun", Callable[["PlannedRun", "Slot"], Awaitable[bool]]]
"""A run, and what is done for it; that says whether it is settled, be it scored or given up."""


@dataclass(frozen=True)
class LocalEngine:
    """Carries runs out in this process. `environment` holds the providers' keys."""

    project: Project
    store: Store
    environment: Mapping[str, str]

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
        """Does what is left of a plan; a full disk ends it at once, with a sentence."""
        project, settings = self.project, self.project.settings
        evals = {run.cell.eval.name for run in remaining.todo}
        judges = [judge for name in evals for judge in plan.panels[name].judges]
        check_judges(settings, judges, self.environment)
        if asked := asks_users(remaining.to_run):
            check_user(settings, asked, self.environment)
        check_budget(settings, plan, remaining, options.budget, allow_unpriced=options.allow_unpriced)
        image = options.image or settings.sandbox.image
        untrusted = any(not is_trusted(run.cell.agent) or has_commands(run.cell.eval) for run in remaining.to_run)
        kind = chosen(options.sandbox or settings.sandbox.use, image, untrusted=untrusted)
        readable = readable_paths(project)
        at_once = concurrency(options, settings, lambda sentence: on_event(Notice(sentence)))
        pool = threads()
        asyncio.get_running_loop().set_default_executor(pool)
        pool.submit(backend(kind).sweep, is_alive)
        # What was imported lives as long as the process; without this the collector visits all of it again and again.
        gc.freeze()
        try:
            with closing(WorkDir(at_once)) as work:
                folders = [cell.eval.folder for cell in plan.cells if cell.eval.folder]
                closed = (project.root, self.store.folder, *(project.root / part for part in PARTS))
                try:
                    around = sandbox_config(work.root, closed, folders, readable, image)
                except OSError as error:
                    raise no_room(error) from error
                place = _Place(work, kind, around)
                return await _Crew(self, plan, remaining, options, place, one_run, on_event, stop, policy).carry_out()
        finally:
            gc.unfreeze()


@dataclass(frozen=True)
class _Place:
    """Where this execution's runs live."""

    work: WorkDir
    sandbox: SandboxName
    around: SandboxConfig

    def slot(self) -> Slot:
        return Slot(self.sandbox, self.around, self.work.lock_fd)


class _SlotStages:
    """The stages of one run in one worker's slot."""

    def __init__(self, crew: _Crew, slot: Slot, number: int) -> None:
        self._crew, self._slot, self._number = crew, slot, number

    async def run(self, planned: PlannedRun) -> Conversed:
        turns = len(planned.cell.eval.prompts)

        def on_turn(turn: int, silence: Callable[[], float], account: Account | None) -> None:
            self._crew.on_event(RunDoing(planned, f"turn {turn} of {turns}", silence, account))

        return await self._crew.attempts.run(planned, self._slot, self._number, on_turn)

    async def capture(self, planned: PlannedRun, conversed: Conversed) -> Attempt:
        self._crew.on_event(RunDoing(planned, "checks" if planned.cell.eval.checks else "capture"))
        return await self._crew.attempts.capture(planned, conversed, self._slot)

    async def score(self, planned: PlannedRun, attempt: Attempt) -> Settled:
        return await self._crew.settle(planned, attempt, self._slot)


class _Crew:
    """The workers of one execution, and what they share."""

    def __init__(
        self,
        engine: LocalEngine,
        plan: Plan,
        remaining: Remaining,
        options: RunOptions,
        place: _Place,
        one_run: OneRun,
        on_event: OnEvent,
        stop: asyncio.Event,
        policy: RunPolicy | None,
    ) -> None:
        self.plan, self.remaining, self.options, self.place = plan, remaining, options, place
        self.one_run, self.on_event, self.stop, self.policy = one_run, on_event, stop, policy
        self.store, self.settings = engine.store, engine.project.settings
        self.concurrency = place.work.room.at_once
        self.gateway = Gateway(engine.environment, options.budget, allow_unpriced=options.allow_unpriced)
        limits, work = self.settings.limits, place.work
        self._writer = Writer(self.store)
        starts = Starts(self.store, work, self.settings, place.around.image, self._say)
        self.attempts = Attempts(
            self.store,
            work,
            self.settings,
            starts,
            self.gateway,
            plan.endpoints,
            self._say,
            SetUps(self.store),
            engine.project.root,
            self._user(),
        )
        self._judges = JudgePanel(
            self.gateway, lambda judge: JudgeEndpoint.of(judge, self.settings), limits.judge, self._say, self._writer
        )
        self._inspector = Inspector(self.store, work, limits, self._writer, is_fresh=options.samples == "all")
        self._scoring = RunScorer(self.store, work, limits.score, options.samples, self._judges)
        self._stopping = asyncio.Event()
        self._going = 0
        self._changed = asyncio.Event()
        self._slots: list[Slot] = []
        self._finishing: set[asyncio.Task[None]] = set()
        self._fatal: OrvlError | None = None
        self._unknown_cost: set[str] = set()
        self._unjudged = False
        self._missed: dict[str, list[str]] = {}
        """By judge: why questions went unanswered that the same command asks again."""

    def _say(self, sentence: str) -> None:
        self.on_event(Notice(sentence))

    def _user(self) -> SelectingUser | None:
        """Who answers what agents ask; None where no eval has a user."""
        if not asks_users(self.remaining.to_run):
            return None
        model = as_judge(self.settings)
        provider, protocol = reach(self.settings, model)
        return SelectingUser(
            self.gateway, model, provider, protocol, self.settings.limits.judge, self.store, self._writer
        )

    async def carry_out(self) -> Execution:
        self.on_event(BudgetOpened(self.gateway.budget))
        await self._writer.write(self._register)
        todo: deque[Task] = deque((run, self._score_again) for run in self.remaining.to_score)
        todo.extend((run, self._run) for run in self.remaining.to_run)
        watching = [asyncio.ensure_future(self._watch_for_stop()), asyncio.ensure_future(self._watch_store())]
        try:
            while todo:
                await asyncio.gather(*(self._worker(todo) for _ in range(min(self.concurrency, len(todo)))))
                await asyncio.gather(*self._finishing)
                todo = self._in_doubt()
        except asyncio.CancelledError:
            self._stopping.set()
            self._cut()
            raise
        finally:
            for task in watching:
                task.cancel()
            await self.attempts.cleaned()
            self._judges.close()
            await self.gateway.close()
            await self._writer.drained()
        if self._fatal is not None:
            raise self._fatal
        if not (self.stop.is_set() or self._over_budget or self._unjudged):
            await self._writer.write(lambda store: store.add_end(self.call))
        return Execution(
            interrupted=self.stop.is_set(),
            over_budget=self._over_budget,
            unjudged=self._unjudged,
            budget=self.gateway.budget.limit,
            spent=self.gateway.budget.spent,
            judging_cost=self._judges.cost,
            judging_cost_is_partial=self._judges.has_unknown_cost,
            user_cost=self.attempts.user.cost if self.attempts.user else 0.0,
            user_cost_is_partial=self.attempts.user is not None and self.attempts.user.has_unknown_cost,
            unknown_cost=frozenset(self._unknown_cost),
            not_installed=dict(self.attempts.not_installed),
            given_up=self.gateway.breaker.given_up,
            missed={judge: (len(reasons), max(reasons, key=reasons.count)) for judge, reasons in self._missed.items()},
        )

    def _in_doubt(self) -> deque[Task]:
        """Runs that were errored for their agent's set-up, which has turned out to work."""
        is_over = self._is_stopping or self._over_budget
        return deque((run, self._run) for run in ([] if is_over else self.attempts.set_ups.in_doubt()))

    def _register(self, store: Store) -> None:
        words, samples = str(self.options.selection), self.options.samples
        if samples != "missing":
            self._scoring.resampled = store.scored_before_end(words, samples)
        written = {"words": words, "flags": self.options.written, "samples": samples}
        self.call = store.add_call(written, self.plan.seed)
        self._cells = {cell.key: store.add_cell(cell) for cell in self.plan.cells}
        self._layouts = {name: store.add_layout(layout) for name, layout in self.remaining.layouts.items()}

    async def _worker(self, todo: deque[Task]) -> None:
        slot = self.place.slot()
        self._slots.append(slot)
        try:
            while (task := await self._next(todo)) is not None:
                await self._unless_fatal(self._do(task, slot))
        finally:
            await slot.close()

    async def _unless_fatal(self, work: Awaitable[None]) -> None:
        """What goes wrong here is not one run's trouble: it ends all of them."""
        try:
            with suppress(Interrupted):
                await work
        except OSError as error:
            self._end_all(DiskError(f"Cannot continue: {disk_sentence(error)}. What was finished is safe."))
        except OrvlError as error:
            self._end_all(error)

    async def _next(self, todo: deque[Task]) -> Task | None:
        """The first that may start. Where a race holds all back, it is asked again when something has ended."""
        while todo and not self._is_stopping and not self._over_budget:
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
        return self.policy is None or self.policy.may_start(planned, self.concurrency)

    async def _do(self, task: Task, slot: Slot) -> None:
        planned, do = task
        planned = drawn_run(planned)
        self._going += 1
        try:
            if self.policy is None:
                if not self._cannot_run(planned):
                    await do(planned, slot)
            elif self._cannot_run(planned) or await do(planned, slot):
                for sentence in self.policy.ended(planned):
                    self._say(sentence)
        finally:
            self._going -= 1
            self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _cannot_run(self, planned: PlannedRun) -> bool:
        cell = planned.cell
        why_stopped = self.gateway.why_stopped(cell.provider, cell.model_id, cell.agent.name)
        is_stopped = cell.key in self.plan.endpoints and why_stopped is not None
        return cell.agent.name in self.attempts.not_installed or is_stopped

    @property
    def _over_budget(self) -> bool:
        return self.gateway.budget.is_spent

    # -- ending

    @property
    def _is_stopping(self) -> bool:
        """The user's word counts at once, before the watching task has seen it."""
        return self.stop.is_set() or self._stopping.is_set()

    async def _watch_for_stop(self) -> None:
        """Nothing new starts; what still runs after the grace time is cut."""
        await self.stop.wait()
        self._stopping.set()
        self._wake()
        await asyncio.sleep(STOP_GRACE)
        self._cut()

    async def _watch_store(self) -> None:
        """A store that is gone keeps nothing: going on would cost money for nothing."""
        while True:
            await asyncio.sleep(STORE_LOOK)
            try:
                self.store.check_place()
            except StoreError as error:
                return self._end_all(error)

    def _cut(self) -> None:
        for slot in self._slots:
            slot.stop()
        self._scoring.cancel()
        if self.attempts.user:
            self.attempts.user.cancel()

    def _end_all(self, error: OrvlError) -> None:
        self._fatal = self._fatal or error
        self._stopping.set()
        self._wake()
        self._cut()

    # -- one run

    async def _run(self, planned: PlannedRun, slot: Slot) -> bool:
        """Tries a run until it is carried out, or until trying again does not help."""
        self.on_event(RunStarted(planned))
        for number in range(self.settings.attempts):
            if number:
                await self._wait(BACK_OFF * 4 ** (number - 1))
            settled = await self.one_run(planned, _SlotStages(self, slot, number))
            if settled.attempt.outcome != "errored":
                return settled.is_scored
            if not settled.attempt.retry or self._is_stopping or self._cannot_run(planned) or self._over_budget:
                break
        self.on_event(RunGivenUp(planned))
        return not self._is_stopping and not self._over_budget

    async def settle(self, planned: PlannedRun, attempt: Attempt, slot: Slot) -> Settled:
        """Stores an attempt and its scores, then says so; where no slot is needed, while it begins the next run."""
        self._charge(planned, attempt)
        if attempt.outcome != "errored" and self._needs_no_slot(planned):
            await self._finish_aside(planned, attempt, slot)
            return Settled(attempt, is_scored=True)
        is_scored = await self._keep(planned, attempt, slot)
        self.on_event(AttemptEnded(planned, attempt))
        return Settled(attempt, is_scored)

    def _needs_no_slot(self, planned: PlannedRun) -> bool:
        """Whether a run's scores are plain arithmetic: no judge, browser or linter is asked, and no policy waits."""
        panel = self.plan.panels[planned.cell.eval.name]
        plain = all(metric.origin == "built-in" and not metric.judged for metric in panel.metrics)
        return plain and not panel.eval.app and self.policy is None

    async def _finish_aside(self, planned: PlannedRun, attempt: Attempt, slot: Slot) -> None:
        """Stores and announces a run while its slot begins the next one: a slot should not wait for the disk."""

        async def finish() -> None:
            await self._keep(planned, attempt, slot)
            self.on_event(AttemptEnded(planned, attempt))

        task = asyncio.ensure_future(self._unless_fatal(finish()))
        self._finishing.add(task)
        task.add_done_callback(self._finishing.discard)
        while len(self._finishing) >= MOST_UNSTORED:
            await asyncio.wait(self._finishing, return_when=asyncio.FIRST_COMPLETED)

    def _charge(self, planned: PlannedRun, attempt: Attempt) -> None:
        """Counts what an agent says that it cost; where it goes through the gateway, that has counted already."""
        if planned.cell.key not in self.plan.endpoints:
            self.gateway.budget.settle(0.0, attempt.usage.cost_usd or 0.0)
        if attempt.usage.cost_usd is None:
            self._unknown_cost.add(planned.cell.agent.name)

    async def _wait(self, seconds: float) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _keep(self, planned: PlannedRun, attempt: Attempt, slot: Slot) -> bool:
        """Stores an attempt, and then its scores; says whether it has them all."""
        cell, checks_key = self._cells[planned.cell.key], planned.cell.eval.checks_digest
        number = await self._writer.write(
            lambda store: store.add_attempt(planned, cell, self.call, attempt, checks_key)
        )
        return attempt.outcome != "errored" and await self._score(planned, number, attempt, [], slot, ())

    async def _score(
        self,
        planned: PlannedRun,
        number: int,
        attempt: Attempt,
        before: list[Score],
        slot: Slot,
        stored: Sequence[Inspection],
        replies: Sequence[JudgeReply] = (),
    ) -> bool:
        name = planned.cell.eval.name
        panel = replace(self.plan.panels[name], eval=planned.cell.eval)
        if panel.eval.app or any(metric.judged for metric in panel.metrics):
            self.on_event(RunDoing(planned, "scores"))
        try:
            inspections = await self._inspector.inspect(number, attempt, panel, slot, stored)
        except OSError as error:
            if error.errno not in DISK_IS_FULL:
                raise
            await self.attempts.settle_disk(error)  # another run may have filled it, and is gone by now
            inspections = await self._inspector.inspect(number, attempt, panel, slot, stored)
        items = tuple(text for metric in panel.metrics for text, _ in metric.items)
        inspections = replace(inspections, hidden_names=hidden_names(planned.cell), items=items)
        browse = browse_as_text(self._inspector.browser_of(panel.eval, attempt, slot))
        contestant = planned.cell.agent.name
        scores, is_all = await self._scoring.scores(
            attempt, number, panel, before, inspections, browse, replies, contestant, self._watch_judges(planned)
        )
        self._unjudged = self._unjudged or not is_all
        for score in filter(is_missed, scores):
            self._missed.setdefault(score.judge, []).append(score.reason or "")
            is_all = False
        cell, layout_id, layout = self._cells[planned.cell.key], self._layouts[name], self.remaining.layouts[name]
        await self._writer.write(saving(number, cell, self.call, layout_id, layout, before, scores, is_all))
        return is_all

    def _watch_judges(self, planned: PlannedRun) -> WatchJudge:
        @contextmanager
        def asking(judge: str, metric: str) -> Iterator[None]:
            self.on_event(JudgeAsked(planned, judge, metric))
            try:
                yield
            finally:
                self.on_event(JudgeEnded(planned, judge, metric))

        return asking

    def _stored(
        self, number: int, checks_key: str
    ) -> tuple[Any, list[Score], tuple[list[Inspection], list[JudgeReply]]]:
        """All that is kept of an attempt: itself with its checks, its scores, what was found out about it, and answers
        of judges that a call of orvl got before it was killed."""
        found = self.store.inspections(number), self.store.replies(about(number))
        return self.store.attempt(number, checks_key), self.store.scores(number), found

    async def _score_again(self, planned: PlannedRun, slot: Slot) -> bool:
        """Scores a stored run; checks that have changed since are run on its capture."""
        checks_key = planned.cell.eval.checks_digest
        number = self.remaining.stored[planned.key].attempt
        (attempt, results), before, found = await asyncio.to_thread(self._stored, number, checks_key)
        if results is None:
            try:
                results = await self.attempts.check_again(planned, attempt, slot)
            except (StoreError, NotStarted) as error:
                self._say(f"{planned.cell} #{planned.episode} cannot be checked again: {error}")
                return True
            again = results
            await self._writer.write(lambda store: store.add_checks(number, checks_key, again))
        is_scored = await self._score(planned, number, replace(attempt, checks=results), before, slot, *found)
        self.on_event(RunScored(planned))
        return is_scored

"""All runs in this process: asyncio, a few at a time, each run → capture → check → store → score → store."""

from __future__ import annotations

import asyncio
import errno
import os
import shutil
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from orvl import capture, cards, checks, tree
from orvl.capture import CapturedRun
from orvl.checks import Stopped
from orvl.errors import DiskError, OrvlError, disk_sentence
from orvl.run import Conversation, converse, limits_of, prepare
from orvl.sandbox import NotStarted
from orvl.sandbox.process import BareProcess
from orvl.score import score_run
from orvl.store.writer import Writer
from orvl.types import Attempt, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from orvl.engine import Watcher
    from orvl.plan import Plan
    from orvl.project.settings import Limits, Settings
    from orvl.sandbox import Sandbox
    from orvl.state import State
    from orvl.store import Store
    from orvl.types import CheckResult, PlannedRun, Score
    from orvl.workdir import RunFolders, WorkDir

STOP_GRACE = 10.0
BACK_OFF = 0.5
Samples = Literal["missing", "unanswered", "all"]
FATAL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)


def default_concurrency() -> int:
    return max(4, min(16, 2 * (os.cpu_count() or 2)))


def sampler(before: list[Score], wanted: str) -> Callable[[str, str], int | None]:
    """Which sample of a score to take: the first, a second where nobody answered, or one more of all."""
    last: dict[tuple[str, str], Score] = {(score.metric_key, score.judge_key): score for score in before}

    def sample(metric_key: str, judge_key: str) -> int | None:
        score = last.get((metric_key, judge_key))
        if score is None:
            return 1
        again = wanted == "all" or (wanted == "unanswered" and score.kind in ("error", "abstained"))
        return score.sample + 1 if again else None

    return sample


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
    budget: float | None = None
    samples: Samples = "missing"
    spent: float = 0.0
    over_budget: bool = False
    interrupted: bool = False
    not_installed: dict[str, str] = field(default_factory=dict)
    started: int = 0

    async def carry_out(self) -> None:
        """Does all that is left; a full disk ends it at once, with a sentence."""
        self._writer = Writer(self.store)
        self._stopping = asyncio.Event()
        self._fatal: OrvlError | None = None
        self._sandboxes: list[Sandbox] = []
        self._start_trees: dict[str, str] = {}
        self._cells: dict[str, int] = {}
        self._layouts: dict[str, int] = {}
        self._cleaning: set[asyncio.Task[None]] = set()
        self._scoring: set[asyncio.Task[list[Score]]] = set()
        await self._writer.write(self._register)
        todo = deque([(run, self._score_again) for run in self.state.to_score])
        todo.extend((run, self._run) for run in self.state.to_run)
        workers = [self._worker(todo) for _ in range(min(self.concurrency, len(todo)))]
        await asyncio.gather(*workers)
        await asyncio.gather(*self._cleaning)
        if self._fatal is not None:
            raise self._fatal

    def stop(self) -> None:
        """Nothing new starts; what still runs after the grace time is cut."""
        if not self._stopping.is_set():
            self._stopping.set()
            asyncio.get_running_loop().call_later(STOP_GRACE, self._cut)

    @property
    def stopped(self) -> bool:
        return self._stopping.is_set()

    def _cut(self) -> None:
        for sandbox in self._sandboxes:
            sandbox.stop()
        for task in self._scoring:
            task.cancel()

    def _register(self, store: Store) -> None:
        self._cells = {cell.key: store.add_cell(cell) for cell in self.plan.cells}
        self._layouts = {name: store.add_layout(layout) for name, layout in self.state.layouts.items()}

    async def _worker(self, todo: deque[tuple[PlannedRun, Callable[..., Coroutine[Any, Any, None]]]]) -> None:
        sandbox = BareProcess(self.work.lock_fd)
        self._sandboxes.append(sandbox)
        try:
            while todo and not self._stopping.is_set() and not self._budget_is_spent():
                planned, do = todo.popleft()
                if planned.cell.agent.name not in self.not_installed:
                    with suppress(Stopped):
                        await do(planned, sandbox)
        except OSError as error:
            self._end_all(DiskError(f"Runs cannot go on: {disk_sentence(error)}. What was finished is safe."))
        except OrvlError as error:
            self._end_all(error)
        finally:
            await sandbox.close()

    def _end_all(self, error: OrvlError) -> None:
        self._fatal = self._fatal or error
        self._stopping.set()
        self._cut()

    def _budget_is_spent(self) -> bool:
        self.over_budget = self.budget is not None and self.spent >= self.budget
        return self.over_budget

    # -- one run

    async def _run(self, planned: PlannedRun, sandbox: Sandbox) -> None:
        """Tries a run until it is carried out, or until trying again does not help."""
        self.watcher.started(planned)
        self.started += 1
        for number in range(1, self.settings.attempts + 1):
            attempt = await self._attempt(planned, sandbox)
            if attempt.outcome != "errored" or not attempt.retry or self._stopping.is_set():
                return
            if number < self.settings.attempts:
                await self._wait(BACK_OFF * 4 ** (number - 1))

    async def _wait(self, seconds: float) -> None:
        try:
            await asyncio.wait_for(self._stopping.wait(), seconds)
        except TimeoutError:
            pass

    async def _attempt(self, planned: PlannedRun, sandbox: Sandbox) -> Attempt:
        one = planned.cell.eval
        limits = limits_of(planned, self.settings.limits)
        folders = self.work.new()
        try:
            attempt = await self._carry_out_once(planned, folders, sandbox, limits)
            number = await self._writer.write(
                lambda store: store.add_attempt(
                    planned, self._cells[planned.cell.key], self.call, attempt, one.checks_digest
                )
            )
        finally:
            self._clean(folders)
        self.spent += attempt.usage.cost_usd or 0.0
        scores = []
        if attempt.outcome != "errored":
            scores = await self._score(planned, number, attempt, [])
        self.watcher.ended(planned, attempt, scores)
        return attempt

    async def _carry_out_once(
        self, planned: PlannedRun, folders: RunFolders, sandbox: Sandbox, limits: Limits
    ) -> Attempt:
        """Runs, captures and checks. What an agent does to its own folders is its own trouble, not that of others."""
        started = time.time()
        try:
            await asyncio.to_thread(prepare, planned, folders)
            talk = await converse(planned, folders, sandbox, limits)
            if talk.stopped:
                raise Stopped
            if talk.missing_program:
                self._not_installed(planned, talk)
            attempt = await asyncio.to_thread(self._capture, planned, talk, folders)
            return attempt if attempt.outcome == "errored" else await self._check(planned, attempt, folders, sandbox)
        except (OSError, shutil.Error) as error:
            if isinstance(error, OSError) and error.errno in FATAL:
                raise
            reason = disk_sentence(error) if isinstance(error, OSError) else str(error)
            return Attempt("errored", f"the run's folders: {reason}", started, Usage(), retry=True)

    def _not_installed(self, planned: PlannedRun, talk: Conversation) -> None:
        agent = planned.cell.agent
        if agent.name not in self.not_installed:
            self.not_installed[agent.name] = f"The agent {agent.name} cannot run: {talk.reason} ({agent.path})."

    def _capture(self, planned: PlannedRun, talk: Conversation, folders: RunFolders) -> Attempt:
        """In a thread: everything that the run left goes into the store's blobs, durably."""
        one = planned.cell.eval
        batch = self.store.blobs.batch()
        try:
            if one.digest not in self._start_trees:
                self._start_trees[one.digest] = capture.start_tree(one, batch)
            limits = limits_of(planned, self.settings.limits)
            attempt = capture.take(talk, self._start_trees[one.digest], folders, batch, limits, "none")
            batch.sync()
        except BaseException:
            batch.drop()
            raise
        return attempt

    async def _check(self, planned: PlannedRun, attempt: Attempt, folders: RunFolders, sandbox: Sandbox) -> Attempt:
        one = planned.cell.eval
        if not one.checks:
            return replace(attempt, checks=())
        fresh = self.work.new()
        try:
            await asyncio.to_thread(checks.lay_out, one, folders.workspace, fresh)
            return replace(attempt, checks=await checks.run_checks(one, fresh, sandbox, self.settings.limits))
        except NotStarted as error:
            return replace(attempt, outcome="errored", reason=f"a check: {error}", retry=True)
        finally:
            self._clean(fresh)

    # -- scoring

    async def _score(self, planned: PlannedRun, number: int, attempt: Attempt, before: list[Score]) -> list[Score]:
        """Asks for what is missing, and stores it with the table S of the run."""
        name = planned.cell.eval.name
        panel = self.plan.panels[name]
        scratch = self.work.root / f"score{number}"
        run = CapturedRun(attempt, panel.eval.prompts, self.store.blobs, scratch)
        scores = await self._cancellable(
            score_run(
                run,
                panel.eval,
                panel.metrics,
                panel.judges,
                self.settings.limits.score,
                sampler(before, self.samples),
            )
        )
        await self._store_scores(planned, number, before, scores)
        if scratch.exists():
            await asyncio.to_thread(tree.remove, scratch)
        return before + scores

    async def _cancellable(self, scoring: Coroutine[Any, Any, list[Score]]) -> list[Score]:
        """Scores, unless orvl is being ended: then the run is scored by the next call."""
        task = asyncio.create_task(scoring)
        self._scoring.add(task)
        try:
            return await task
        except asyncio.CancelledError:
            if task.cancelled() and self._stopping.is_set():
                raise Stopped from None
            raise
        finally:
            self._scoring.discard(task)

    async def _store_scores(self, planned: PlannedRun, number: int, before: list[Score], scores: list[Score]) -> None:
        name = planned.cell.eval.name
        cell, layout = self._cells[planned.cell.key], self._layouts[name]
        table = cards.pack(self.state.layouts[name], before + scores)
        await self._writer.write(lambda store: store.add_scores(number, cell, self.call, scores, layout, table))

    async def _score_again(self, planned: PlannedRun, sandbox: Sandbox) -> None:
        """Scores a stored run; checks that have changed since are run on its capture."""
        one = planned.cell.eval
        number = self.state.stored[planned.key].attempt
        attempt, results = await asyncio.to_thread(self.store.attempt, number, one.checks_digest)
        if results is None:
            results = await self._check_again(planned, number, attempt, sandbox)
        before = await asyncio.to_thread(self.store.scores, number)
        scores = await self._score(planned, number, replace(attempt, checks=results), before)
        self.watcher.scored(planned, scores)

    async def _check_again(
        self, planned: PlannedRun, number: int, attempt: Attempt, sandbox: Sandbox
    ) -> tuple[CheckResult, ...]:
        one = planned.cell.eval
        fresh = self.work.new()
        try:
            entries = tree.decode(self.store.blobs.get(attempt.tree)) if attempt.tree else []
            await asyncio.to_thread(checks.lay_out_again, one, entries, self.store.blobs.write_to, fresh)
            results = await checks.run_checks(one, fresh, sandbox, self.settings.limits)
        finally:
            self._clean(fresh)
        await self._writer.write(lambda store: store.add_checks(number, one.checks_digest, results))
        return results

    def _clean(self, folders: RunFolders) -> None:
        """Deletes a run's folders off the critical path."""
        task = asyncio.ensure_future(asyncio.to_thread(tree.remove, folders.root))
        self._cleaning.add(task)
        task.add_done_callback(self._cleaning.discard)

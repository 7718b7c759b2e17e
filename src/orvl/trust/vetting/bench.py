"""Where the gate looks at work: in the sandboxes, by the code, and from the starting files of real runs.

It has a store of its own, which is gone afterwards: nothing of it is on anybody's board.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from orvl.capture.checks import Checker, active, missing_browser
from orvl.capture.programs import CheckPrograms
from orvl.capture.take import workspace_tree
from orvl.capture.turn_scores import checks_score
from orvl.errors import NotStarted, OrvlError
from orvl.project import PARTS
from orvl.project.control_scripts import SCRIPT
from orvl.project.places import SOLUTION, expanded
from orvl.run.start_cache import Starts
from orvl.sandbox.backends import Slot, chosen
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.job import shell_job
from orvl.sandbox.places import missing_walls, placed
from orvl.sandbox.readable import readable_paths
from orvl.sandbox.registries import registry_access
from orvl.sandbox.workdir import WorkDir
from orvl.store import open_store, tree
from orvl.trust.vetting.clocks import Took, read_clocks
from orvl.trust.vetting.episodes import in_episode
from orvl.trust.vetting.works import EMPTY, Work

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.project import Project
    from orvl.project.settings import Limits
    from orvl.sandbox.workdir import RunFolders
    from orvl.store import Store
    from orvl.types import Check, CheckResult, Eval

TRIES = 3
"""How often a check that cannot be run through no fault of its own is tried."""
COMMAND_SECONDS = 20.0


@dataclass(frozen=True)
class Exchange:
    """What a check asked of the work, and what came back."""

    request: Mapping[str, Any]
    answer: Mapping[str, Any]


@dataclass(frozen=True)
class Verdicts:
    """What the checks say of a work: after each turn that is checked, and at the end."""

    work: Work
    results: tuple[CheckResult, ...]

    @property
    def score(self) -> float:
        return checks_score(self.results) or 0.0

    @property
    def failed(self) -> list[CheckResult]:
        return [result for result in self.results if not result.passed]

    @property
    def passed_names(self) -> frozenset[str]:
        """The checks that passed at least once."""
        return frozenset(result.name for result in self.results if result.passed)


@dataclass
class CheckBench:
    """Runs an eval's checks on works, several at a time. What was looked at once is not looked at again."""

    eval: Eval
    limits: Limits
    slots: asyncio.Queue[Slot]
    store: Store
    place: WorkDir
    starts: Starts
    at_once: int
    checked: int = 0
    """Checks that were run."""
    _trees: dict[tuple[Any, ...], asyncio.Future[str]] = field(default_factory=dict)
    _results: dict[tuple[Any, ...], asyncio.Future[list[CheckResult]]] = field(default_factory=dict)
    _heard: set[str] = field(default_factory=set)
    """Trees of which all is kept that checks ask of them."""
    _exchanges: dict[tuple[Any, ...], list[Exchange]] = field(default_factory=dict)

    # -- works

    async def tree(self, work: Work, turn: int = 0, episode: int = 1) -> str:
        """What a work leaves after a turn, or at the end (0), as a stored tree."""
        stage = work.stage(turn or len(self.eval.prompts))
        return await self.tree_at(work, stage, episode)

    async def tree_at(self, work: Work, stage: int, episode: int = 1) -> str:
        """The same after one of its own turns; 0 is what everybody starts with."""
        key = (work.name, stage, episode) if stage else (EMPTY.name, 0, episode)
        if key not in self._trees:
            self._trees[key] = asyncio.ensure_future(self._make(work, stage, episode))
        manifest = await self._trees[key]
        if work.is_heard:
            self._heard.add(manifest)
        return manifest

    async def _make(self, work: Work, stage: int, episode: int) -> str:
        eval_ = in_episode(self.eval, episode)
        folders = placed(self.place.new(), eval_)
        async with self._slot() as slot:
            try:
                await self.starts.give(eval_, slot.walled, (), folders)
                await asyncio.to_thread(work.lay, stage, folders, eval_)
                for script in work.scripts(stage):
                    await self._perform(script, folders, slot)
                if work.command and stage:
                    env = slot.walled.view(folders).environment()
                    job = shell_job(work.command, env, folders.logs / "did", COMMAND_SECONDS, self.limits, folders)
                    await slot.walled.run(replace(job, grace=1.0))
                return await asyncio.to_thread(self._keep, folders)
            finally:
                await asyncio.to_thread(folders.remove)

    async def _perform(self, folder: Path, folders: RunFolders, slot: Slot) -> None:
        """Runs the script of a control, as its agent does in a run; what it did not get done its checks will tell."""
        ports, reach = registry_access(self.eval, slot.walled, self.starts.settings.sandbox.registries)
        env = slot.walled.view(folders).environment() | reach
        env |= expanded(self.eval.env, env)
        seconds = self.eval.limits.get("turn", self.limits.turn)
        job = shell_job(f"sh {SOLUTION}/{SCRIPT}", env, folders.logs / "performed", seconds, self.limits, folders)
        await slot.walled.run(replace(job, ports=ports, at={SOLUTION: folder}))

    def _keep(self, folders: Any) -> str:
        with self.store.blobs.batch() as batch:
            return workspace_tree(folders, batch, self.limits).tree

    # -- checks

    async def verdicts(self, work: Work, episode: int = 1) -> Verdicts:
        """As after a run of an agent that left this."""
        found: list[CheckResult] = []
        for turn in (*self.eval.checked_turns, 0):
            manifest = await self.tree(work, turn, episode)
            results = await self.results(manifest, active(self.eval, turn), episode)
            found += [replace(result, turn=turn) for result in results.values()]
        return Verdicts(work, tuple(found))

    async def results(self, manifest: str, checks: Iterable[Check], episode: int = 1) -> dict[str, CheckResult]:
        """What these checks say of a tree, by their names."""
        groups = _together(checks)
        done = await asyncio.gather(*(self._once(manifest, group, episode) for group in groups))
        return {result.name: result for results in done for result in results}

    async def again(self, manifest: str, checks: Iterable[Check], episode: int = 1) -> dict[str, CheckResult]:
        """The same, whether they have looked at it before or not."""
        done = await asyncio.gather(*(self._run(manifest, group, episode) for group in _together(checks)))
        return {result.name: result for results in done for result in results}

    async def in_a_row(self, manifest: str, checks: Sequence[Check], episode: int = 1) -> Took:
        """How long all of these take, one after the other, as they do after a run."""
        began = read_clocks()
        await self._run(manifest, checks, episode)
        return read_clocks() - began

    async def first_failure(self, manifest: str, checks: Iterable[Check], episode: int = 1) -> CheckResult | None:
        """The first of these checks that a tree fails; the others are not run."""
        for group in _together(checks):
            for result in await self._once(manifest, group, episode):
                if not result.passed:
                    return result
        return None

    def exchanges(self, manifest: str, check: Check, episode: int = 1) -> list[Exchange]:
        """What a check has asked of a tree when it last looked at it."""
        return self._exchanges.get((manifest, check.name, episode), [])

    async def _once(self, manifest: str, checks: Sequence[Check], episode: int) -> list[CheckResult]:
        key = (manifest, *(check.name for check in checks), episode)
        if key not in self._results:
            self._results[key] = asyncio.ensure_future(self._run(manifest, checks, episode))
        return await self._results[key]

    async def _run(self, manifest: str, checks: Sequence[Check], episode: int) -> list[CheckResult]:
        """Tries again where the machine is at fault: that says nothing of the eval."""
        for number in range(1, TRIES + 1):
            try:
                async with self._slot() as slot:
                    return await self._run_on(slot, manifest, checks, episode)
            except NotStarted as error:
                if error.missing or number == TRIES:
                    raise OrvlError(f"The checks of {self.eval.name} cannot be run: {error}.") from error
        raise AssertionError

    async def _run_on(self, slot: Slot, manifest: str, checks: Sequence[Check], episode: int) -> list[CheckResult]:
        results = []
        heard: list[Exchange] = []

        def hear(request: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
            heard.append(Exchange(request, answer))

        eval_ = in_episode(self.eval, episode)
        checker = Checker(
            replace(eval_, checks=tuple(replace(_of(eval_, check), turn=0, until=0) for check in checks)),
            slot,
            self.place,
            self.limits,
            lambda workspace: self._lay_out(manifest, workspace),
            on_exchange=hear if manifest in self._heard else None,
            give_home=partial(self.starts.give_home, eval_, slot.walled),
        )
        for check, result in zip(checks, await checker.results(), strict=True):
            self.checked += 1
            if len(checks) == 1:
                self._exchanges[manifest, check.name, episode] = heard
            results.append(replace(result, due=check.turn, keep=check.keep))
        return results

    def _lay_out(self, manifest: str, workspace: Path) -> None:
        tree.restore(tree.entries_of(self.store.blobs, manifest), workspace, self.store.blobs.write_to)

    @asynccontextmanager
    async def _slot(self) -> AsyncIterator[Slot]:
        slot = await self.slots.get()
        try:
            yield slot
        finally:
            self.slots.put_nowait(slot)


def _of(eval_: Eval, check: Check) -> Check:
    """The same check as it is in an episode."""
    return next(one for one in eval_.checks if one.name == check.name)


def _together(checks: Iterable[Check]) -> list[list[Check]]:
    """Checks beside the work find what the ones before them have built, so they are run together; others alone."""
    every = list(checks)
    beside = [check for check in every if check.is_beside]
    return [[check] for check in every if check not in beside] + ([beside] if beside else [])


@asynccontextmanager
async def opened(project: Project, eval_: Eval) -> AsyncIterator[CheckBench]:
    """A bench for an eval, with as many sandboxes as the machine has cores."""
    settings = project.settings
    at_once = max(1, min(16, os.cpu_count() or 1))
    kind = chosen(settings.sandbox.use, settings.sandbox.image, untrusted=True)
    with closing(WorkDir(at_once)) as work, open_store(work.root / "store", write=True) as store:
        closed = (project.root, *(project.root / part for part in PARTS))
        hidden = [eval_.folder] if eval_.folder else []
        config = sandbox_config(work.root, closed, hidden, readable_paths(project), settings.sandbox.image)
        slots = [Slot(kind, config, work.lock_fd) for _ in range(at_once)]
        queue: asyncio.Queue[Slot] = asyncio.Queue()
        for slot in slots:
            queue.put_nowait(slot)
        starts = Starts(store, work, settings, config.image, lambda _: None)
        try:
            await _check_programs(eval_, slots[0], work, settings.limits)
            yield CheckBench(eval_, settings.limits, queue, store, work, starts, at_once)
        finally:
            for slot in slots:
                await slot.close()


async def _check_programs(eval_: Eval, slot: Slot, work: WorkDir, limits: Limits) -> None:
    why = missing_walls(eval_, slot.walled) or await asyncio.to_thread(missing_browser, eval_, slot.walled)
    why = why or await CheckPrograms(work, limits).missing(eval_, slot.walled)
    if why:
        raise OrvlError(f"Nothing can be checked: {why}.")

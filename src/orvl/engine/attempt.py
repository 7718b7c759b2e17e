"""One attempt at a run: the conversation in fresh folders, then the capture and the checks."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING

from orvl.capture.checks import Checker, missing_browser, not_reached
from orvl.capture.programs import CheckPrograms
from orvl.capture.take import take, tree_after, turns_reached, workspace_tree
from orvl.engine.set_up import SetUps
from orvl.errors import (
    DISK_IS_BROKEN,
    DISK_IS_FULL,
    Interrupted,
    NotStarted,
    SetupFailed,
    disk_sentence,
    is_agents_doing,
)
from orvl.install import AgentInstallation, installed, serving
from orvl.project import PARTS
from orvl.project.control_scripts import is_scripted
from orvl.project.names import name_of
from orvl.run.conversation import Conversation, RunAccess, converse, limits_of
from orvl.run.paste import printed
from orvl.run.project_files import ProjectFiles
from orvl.run.start_cache import Starts
from orvl.sandbox.backends import is_trusted
from orvl.sandbox.guard.limits import disk_use, free_bytes
from orvl.sandbox.places import missing_walls, placed
from orvl.sandbox.registries import registry_access
from orvl.store import tree
from orvl.types import MEBI, Attempt, CheckResult, Usage

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from orvl.gateway import Gateway
    from orvl.gateway.account import Account
    from orvl.project.endpoints import Endpoint
    from orvl.project.settings import Limits, Settings
    from orvl.run.conversation import OnTurn
    from orvl.run.user import SelectingUser
    from orvl.sandbox import Sandbox
    from orvl.sandbox.backends import Slot
    from orvl.sandbox.workdir import RunFolders, WorkDir
    from orvl.store import Store
    from orvl.types import Agent, Eval, PlannedRun

ROOM = 1 << 20
ROOM_SECONDS = 10.0
"""How long a full disk may take to have that many bytes again."""
COPIES = 2
"""Of what a run left, the most that its checks have at once: one for those beside it, one for those apart from it."""


@dataclass(frozen=True)
class Conversed:
    """A conversation that is over, in the folders that it was held in; or why there was none."""

    folders: RunFolders
    limits: Limits
    talk: Conversation | None = None
    start_tree: str = ""
    sandbox: str = ""
    account: Account | None = None
    errored: Attempt | None = None


def _errored(error: Exception, started: float) -> Attempt:
    """An attempt that something other than the agent broke."""
    if isinstance(error, SetupFailed):
        return Attempt("errored", str(error), started, Usage())
    if isinstance(error, NotStarted):
        return Attempt("errored", str(error), started, Usage(), retry=not error.missing)
    reason = disk_sentence(error) if isinstance(error, OSError) else str(error)
    return Attempt("errored", f"the run's folders: {reason}", started, Usage(), retry=True)


def _unchecked(eval: Eval, attempt: Attempt, reason: str) -> Attempt:
    """An attempt whose work is such that no check can be run on it: it passes none."""
    failed = tuple(CheckResult(check.name, False, None, 0.0, reason, check.weight) for check in eval.checks)
    return replace(attempt, outcome="failed", reason=attempt.reason or reason, checks=failed)


@dataclass
class Attempts:
    """Tries runs, and runs checks again on what was kept of them."""

    store: Store
    work: WorkDir
    settings: Settings
    starts: Starts
    gateway: Gateway
    hosts: Mapping[str, Endpoint]
    say: Callable[[str], None]
    set_ups: SetUps
    root: Path
    """The project's folder."""
    user: SelectingUser | None = None
    """Who answers what agents ask, where evals let them."""
    not_installed: dict[str, str] = field(default_factory=dict)
    _serving: Callable[[str], AgentInstallation | None] = field(default_factory=lambda: cache(serving))
    """Looked up once, so that all runs of a command, whose version was asked for once, are of the same program."""
    _closed: tuple[Path, ...] = ()
    """Folders of the project that no agent may look into."""
    _cleaning: set[asyncio.Task[None]] = field(default_factory=set)
    _checked: dict[tuple[str | None, ...] | None, tuple[CheckResult, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._programs = CheckPrograms(self.work, self.settings.limits)
        self._closed = (self.store.folder, *(self.root / part for part in PARTS))

    async def run(self, planned: PlannedRun, slot: Slot, number: int, on_turn: OnTurn) -> Conversed:
        """The conversation, in fresh folders. What an agent does to them is its own trouble; a broken disk is all's.

        `number` counts the attempts at this run that were made before.
        """
        started, eval_ = time.time(), planned.cell.eval
        folders = placed(self.work.place(), eval_)
        limits = limits_of(planned, self.settings.limits)
        try:
            if why := missing_walls(eval_, slot.walled):
                raise NotStarted(why, missing=True)
            if eval_.app and (why := await asyncio.to_thread(missing_browser, eval_, slot.walled)):
                raise NotStarted(why, missing=True)
            if why := await self._programs.missing(eval_, slot.walled):
                raise NotStarted(why, missing=True)
            folders.make()
            overlays = planned.cell.agent.overlays
            start = await self.starts.give(planned.cell.eval, slot.walled, overlays, folders)
            agent = planned.cell.agent
            sandbox = slot.walled if is_scripted(eval_, agent.control) else slot.of(agent)
            async with self._access(planned, folders, sandbox, limits, number) as access:
                access = replace(
                    access,
                    on_turn=on_turn,
                    snapshot=partial(asyncio.to_thread, self._snapshot, folders, limits),
                    checks_after=partial(self._checks_after, planned, slot),
                    printed=partial(self._printed, slot),
                    ask_user=self.user.answer if self.user else access.ask_user,
                )
                talk = await converse(planned, folders, sandbox, limits, access)
        except (SetupFailed, NotStarted, OSError, shutil.Error) as error:
            self._clean(folders)
            await self.settle_disk(error)
            return Conversed(folders, limits, errored=_errored(error, started))
        except BaseException:
            self._clean(folders)
            raise
        self._note(planned, talk, access.account)
        if talk.stopped:
            self._clean(folders)
            raise Interrupted
        return Conversed(folders, limits, talk, start.tree, sandbox.name, access.account)

    def _note(self, planned: PlannedRun, talk: Conversation, account: Account | None) -> None:
        """What one run's end means for others: an endpoint that is given up, a program that is missing."""
        if account is not None and (sentence := self.gateway.record_outcome(account, talk.trouble)):
            self.say(sentence)
        if talk.missing_program:
            agent = planned.cell.agent
            self.not_installed[agent.name] = f"The agent {agent.name} cannot run: {talk.reason} ({agent.path})."

    async def capture(self, planned: PlannedRun, conversed: Conversed, slot: Slot) -> Attempt:
        """What a conversation left, and what the eval's checks say of it; then its folders are deleted."""
        if conversed.errored is not None:
            return conversed.errored
        attempt: Attempt | None = None
        try:
            attempt = await self._captured(conversed)
            if conversed.talk and planned.cell.key in self.hosts:
                attempt = await asyncio.to_thread(self.set_ups.judged, planned, attempt, conversed.talk)
            if attempt.outcome == "errored":
                return attempt
            checked = conversed.talk.checked if conversed.talk else ()
            return await self._check(planned, attempt, conversed.folders, slot, checked)
        except (OSError, shutil.Error) as error:
            if attempt is not None and isinstance(error, OSError) and is_agents_doing(error):
                return _unchecked(planned.cell.eval, attempt, f"its work cannot be checked: {disk_sentence(error)}")
            workspace, most = str(conversed.folders.workspace), int(conversed.limits.capture * MEBI)
            needed = (await asyncio.to_thread(disk_use, [workspace], most))[0]
            self._clean(conversed.folders)
            await self.settle_disk(error, needed)
            return _errored(error, conversed.talk.started if conversed.talk else time.time())
        finally:
            self._clean(conversed.folders)

    async def settle_disk(self, error: Exception, needed: int = 0) -> None:
        """After an error: a disk that is full gets a moment, in which the run that filled it is ended and deleted.

        A disk that stays full, or is broken, ends everything: no run can go on, and none is to blame. `needed` is what
        the store must have room for, or the run would be paid for again in vain.
        """
        if not isinstance(error, OSError) or error.errno not in DISK_IS_BROKEN:
            return
        others_disk = os.stat(self.work.root).st_dev != os.stat(self.store.folder).st_dev
        if error.errno not in DISK_IS_FULL or (others_disk and free_bytes(str(self.store.folder)) < needed):
            raise error
        deadline = time.monotonic() + ROOM_SECONDS
        while not await asyncio.to_thread(self._has_room, needed):
            if time.monotonic() > deadline:
                raise error
            await asyncio.sleep(0.2)

    def _has_room(self, needed: int) -> bool:
        """Whether a little can be written, which a quota may forbid where there is room on the disk."""
        try:
            for folder in (self.work.root, self.store.folder):
                with tempfile.TemporaryFile(dir=folder) as file:
                    file.write(bytes(ROOM))
        except OSError:
            return False
        return free_bytes(str(self.store.folder)) >= needed

    async def _captured(self, conversed: Conversed) -> Attempt:
        """The capture; of a run that filled the disk, nothing where even the capture has no room."""
        try:
            return await asyncio.to_thread(self._capture, conversed)
        except OSError as error:
            assert conversed.talk is not None
            hogs = any(turn.result.cut in ("disk", "disk_share") for turn in conversed.talk.turns)
            if error.errno not in DISK_IS_FULL or not hogs:
                raise
        conversed.talk.reason = f"{conversed.talk.reason}; its files were deleted, for there was no room to keep them"
        await asyncio.to_thread(conversed.folders.empty)
        return await asyncio.to_thread(self._capture, conversed)

    @asynccontextmanager
    async def _access(
        self, planned: PlannedRun, folders: RunFolders, sandbox: Sandbox, limits: Limits, number: int
    ) -> AsyncIterator[RunAccess]:
        """Opens what a run may reach: registries where its eval asks for them, its model, its own installation."""
        cell = planned.cell
        ports, env = registry_access(cell.eval, sandbox, self.settings.sandbox.registries)
        own = None if sandbox.has_own_programs else installed(cell.agent)
        access = RunAccess(
            ports,
            env,
            programs=own.bin if own else None,
            readable=own.readable if own else (),
            project_files=ProjectFiles(self.root, self._closed),
            serving=self._serving,
            attempt=number,
            attempts=self.settings.attempts,
        )
        host = self.hosts.get(cell.key)
        if host is None:
            yield access
            return
        calls = folders.root / "calls"
        account = self.gateway.account(host.provider, host.protocol, cell.model_id, limits, calls, cell.agent.name)
        account.may_use_others = self._may_use_others(cell.agent)
        async with self.gateway.door(account, has_walls=sandbox.has_walls) as ((more_ports, more_env), endpoint):
            yield replace(
                access,
                ports=ports | more_ports,
                env=env | more_env,
                account=account,
                endpoint=endpoint,
                redact=self.gateway.redactor(account),
            )

    def _may_use_others(self, agent: Agent) -> bool:
        """Whether orvl.toml lets an agent call other models than its run's."""
        return any(own.other_models for key, own in self.settings.agents.items() if name_of(key) == agent.file_name)

    def _capture(self, conversed: Conversed) -> Attempt:
        """In a thread: everything that the run left goes into the store's blobs, durably."""
        assert conversed.talk is not None
        with self.store.blobs.batch() as batch:
            return take(
                conversed.talk,
                conversed.start_tree,
                conversed.folders,
                batch,
                conversed.limits,
                conversed.sandbox,
                conversed.account,
            )

    def _snapshot(self, folders: RunFolders, limits: Limits) -> str:
        """In a thread: the workspace between two turns."""
        with self.store.blobs.batch() as batch:
            return workspace_tree(folders, batch, limits).tree

    async def _checks_after(
        self, planned: PlannedRun, slot: Slot, turn: int, manifest: str, names: Collection[str]
    ) -> tuple[CheckResult, ...]:
        """Some checks on what was there after a turn, while the conversation waits for them."""
        return await self._checker(planned, manifest, slot).results_of(names, turn)

    async def _printed(self, slot: Slot, command: str, manifest: str) -> str:
        """What a command prints in a copy of what the agent has made so far."""
        lay_out = partial(self._lay_out, manifest)
        return await printed(command, slot.subject, self.work.new, lay_out, self.settings.limits)

    async def _check(
        self,
        planned: PlannedRun,
        attempt: Attempt,
        folders: RunFolders,
        slot: Slot,
        checked: Sequence[CheckResult],
    ) -> Attempt:
        """A control leaves the same files each time; its checks are run once."""
        one = planned.cell.eval
        if not one.checks:
            return replace(attempt, checks=())
        trees = (attempt.tree, *(turn.tree for turn in attempt.turns))
        same = (one.checks_digest, *trees) if is_trusted(planned.cell.agent) else None
        if same in self._checked:
            return replace(attempt, checks=self._checked[same])
        try:
            left = await asyncio.to_thread(self._left, folders)
            results, is_drawn = await self._results(planned, attempt, slot, left, checked)
            if same and not is_drawn:
                self._checked[same] = results
            return replace(attempt, checks=results)
        except NotStarted as error:
            return replace(attempt, outcome="errored", reason=f"a check: {error}", retry=True)

    def _left(self, folders: RunFolders) -> Path | None:
        """The workspace as the agent left it; where the disk may lack room for copies beside it, it is deleted.

        Else whoever fills most of a disk would be spared its checks.
        """
        if free_bytes(str(folders.root)) > COPIES * self.settings.limits.capture * MEBI:
            return folders.workspace
        folders.empty()
        return None

    async def check_again(self, planned: PlannedRun, attempt: Attempt, slot: Slot) -> tuple[CheckResult, ...]:
        """Runs an eval's present checks on what was kept of a run."""
        eval_ = planned.cell.eval
        if why := missing_walls(eval_, slot.walled) or await self._programs.missing(eval_, slot.walled):
            raise NotStarted(why, missing=True)
        return (await self._results(planned, attempt, slot))[0]

    async def _results(
        self,
        planned: PlannedRun,
        attempt: Attempt,
        slot: Slot,
        left: Path | None = None,
        checked: Sequence[CheckResult] = (),
    ) -> tuple[tuple[CheckResult, ...], bool]:
        """Of what was there at the end, and after each turn that is checked; and whether they are of this episode
        alone. `left` is the agent's own folder, which is used up; `checked` are results from between two turns."""
        eval_, results = planned.cell.eval, list[CheckResult]()
        alone = {check.name for check in eval_.checks if not check.is_beside}
        same: dict[str, dict[str, CheckResult]] = {}
        """Of each tree, what these have found in it: a turn that changes nothing changes no verdict."""
        last = self._checker(planned, attempt.tree, slot)
        checkers = [last]
        for turn in eval_.checked_turns:
            if turn > turns_reached(attempt):
                results += not_reached(eval_, turn)
            elif manifest := tree_after(attempt, turn):
                checkers.append(self._checker(planned, manifest, slot))
                known = {result.name: result for result in checked if result.turn == turn}
                results += await checkers[-1].results(turn, known=same.setdefault(manifest, {}) | known)
                same[manifest] |= {one.name: one for one in results if one.turn == turn and one.name in alone}
        results += await last.results(left=left, known=same.get(attempt.tree or "", {}))
        is_drawn = any(check.steps for check in eval_.checks if eval_.vary) or any(
            one.asked_for_draw for one in checkers
        )
        return tuple(results), is_drawn

    def _checker(self, planned: PlannedRun, manifest: str | None, slot: Slot) -> Checker:
        eval_ = planned.cell.eval
        lay_out = partial(self._lay_out, manifest)
        give_home = partial(self.starts.give_home, eval_, slot.walled)
        return Checker(eval_, slot, self.work, self.settings.limits, lay_out, give_home=give_home)

    def _lay_out(self, manifest: str | None, workspace: Path) -> None:
        """Puts a copy of what was kept into an empty folder."""
        entries = tree.entries_of(self.store.blobs, manifest)
        tree.restore(entries, workspace, self.store.blobs.write_to)

    def _clean(self, folders: RunFolders) -> None:
        """Deletes a run's folders off the critical path."""
        if self.work.keeps(folders):
            return
        task = asyncio.ensure_future(asyncio.to_thread(folders.remove))
        self._cleaning.add(task)
        task.add_done_callback(self._cleaning.discard)

    async def cleaned(self) -> None:
        await asyncio.gather(*self._cleaning)

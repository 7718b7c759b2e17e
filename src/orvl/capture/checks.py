"""Runs the eval's checks on what the agent left, after every process of the agent has ended.

A check with `isolated: true` has a sandbox of its own, without the agent's files; what it asks of them goes to a
second sandbox (`subject.py`). Other checks run beside the agent's files, and their results say so.
"""

from __future__ import annotations

import asyncio
import shutil
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orvl.capture.browser import find
from orvl.capture.browser.patient import patient_look
from orvl.capture.programs import python_behind_shim
from orvl.capture.reward import read_reward, rewarded, with_tests
from orvl.capture.subject import Subject, answering, equip
from orvl.errors import DiskWasFull, Interrupted, NotStarted
from orvl.project.draw import seed_of_check
from orvl.project.places import expanded
from orvl.sandbox.job import hit, shell_job
from orvl.sandbox.places import placed
from orvl.sandbox.workdir import DiskRoom
from orvl.store import tree
from orvl.types import CheckResult

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
    from pathlib import Path

    from orvl.capture.browser.result import Look
    from orvl.capture.subject import OnExchange
    from orvl.project.settings import Limits
    from orvl.sandbox import Job, ProcessResult, Sandbox
    from orvl.sandbox.backends import Slot
    from orvl.sandbox.workdir import RunFolders, WorkDir
    from orvl.types import Check, Eval, Isolation

SHOWN = 4000
BROWSES = b"browse"
"""The word by which a check's own files ask for a browser."""


def missing_browser(eval_: Eval, sandbox: Sandbox) -> str | None:
    """Why an eval's checks cannot be run here: they need a browser. Asked before an agent is paid for its work."""
    if not eval_.app or sandbox.has_own_programs or (why := find.trouble()) is None:
        return None
    return f"the checks of {eval_.name} need a browser. {why}" if _browses(eval_) else None


def _browses(eval_: Eval) -> bool:
    if any(check.steps or BROWSES in check.run.encode() for check in eval_.checks):
        return True
    hidden = eval_.part("checks") if any(check.isolated for check in eval_.checks) else None
    return hidden is not None and any(BROWSES in path.read_bytes() for path in hidden.rglob("*") if path.is_file())


def active(eval_: Eval, turn: int = 0) -> list[Check]:
    """The checks of what is wanted after a turn, or at the end (0)."""
    return [check for check in eval_.checks if eval_.is_active(check, turn or len(eval_.prompts))]


def not_reached(eval_: Eval, turn: int) -> list[CheckResult]:
    """The checks of a turn that the agent did not get to: nothing of it is there."""
    said = f"the run ended before turn {turn}"
    return [
        CheckResult(
            check.name,
            passed=False,
            status=None,
            seconds=0.0,
            output=said,
            weight=check.weight,
            isolation=eval_.isolation_of(check),
            turn=turn,
            due=check.turn,
            keep=check.keep,
        )
        for check in active(eval_, turn)
    ]


async def _no_home(_folders: RunFolders) -> None:
    """For an eval without a setup."""


@dataclass(frozen=True)
class Checker:
    """Runs the checks of one eval on one agent's work."""

    eval: Eval
    slot: Slot
    work: WorkDir
    limits: Limits
    lay_out: Callable[[Path], None]
    """Puts a copy of what the agent left into an empty folder."""
    asked_for_draw: set[str] = field(default_factory=set)
    """The checks that wanted to know what was drawn for the episode, and may differ from one to the other."""
    on_exchange: OnExchange | None = None
    """Hears what isolated checks ask of the work, and what it answers."""
    give_home: Callable[[RunFolders], Awaitable[None]] = _no_home
    """Lays HOME into folders as the eval's setup left it."""

    async def results(
        self, turn: int = 0, left: Path | None = None, known: Mapping[str, CheckResult] | None = None
    ) -> tuple[CheckResult, ...]:
        """Runs the checks that are due after a turn, or at the end (0), one by one, in the eval's order. `left` is the
        agent's own folder, which is used up; `known` are results that this turn has already."""
        return await self._results(active(self.eval, turn), turn, left, known or {})

    async def results_of(self, names: Collection[str], turn: int) -> tuple[CheckResult, ...]:
        """The same of some of them. One that runs beside the agent's files has there what earlier ones have built."""
        due = active(self.eval, turn)
        last = max((at for at, check in enumerate(due) if check.name in names and check.is_beside), default=-1)
        needed = [check for at, check in enumerate(due) if check.name in names or (check.is_beside and at < last)]
        return tuple(one for one in await self._results(needed, turn, None, {}) if one.name in names)

    async def _results(
        self, checks: Sequence[Check], turn: int, left: Path | None, known: Mapping[str, CheckResult]
    ) -> tuple[CheckResult, ...]:
        shared = None
        results = []
        try:
            for number, check in enumerate(checks, 1):
                if check.name in known and not check.is_beside:
                    results.append(known[check.name])
                elif check.steps:
                    results.append(await self._by_steps(check))
                elif check.isolated:
                    results.append(await self._separate(check))
                elif check.verifier:
                    results.append(await self._by_reward(check))
                else:
                    if shared is None:
                        shared = await asyncio.to_thread(self._shared, left)
                    result = await self._in_process(check, shared, number)
                    results.append(known.get(check.name, result))
        finally:
            if shared is not None:
                await asyncio.to_thread(shared.remove)
        return tuple(replace(result, turn=turn) for result in results)

    def _new_folders(self) -> RunFolders:
        return placed(self.work.new(), self.eval)

    # -- beside the agent's files

    def _shared(self, left: Path | None) -> RunFolders:
        """The folders of all checks that are not isolated: what one of them builds is there for the next."""
        folders = self._new_folders()
        if left is None:
            self.lay_out(folders.workspace)
        else:
            folders.workspace.rmdir()
            left.rename(folders.workspace)
        folders.mend()
        self._show_hidden(folders)
        return folders

    async def _in_process(self, check: Check, folders: RunFolders, number: int) -> CheckResult:
        job = self._job(check, folders, f"check{number}")
        return self._result(check, await self.slot.walled.run(job))

    async def _by_reward(self, check: Check) -> CheckResult:
        """A verifier, on a copy of its own, with a folder for its reward that no agent has ever seen."""
        folders = self._new_folders()
        try:
            await asyncio.to_thread(self.lay_out, folders.workspace)
            await self.give_home(folders)
            folders = await asyncio.to_thread(with_tests, folders, self.eval.part("checks"), check)
            ended = await self.slot.walled.run(replace(self._job(check, folders, "check"), read_only={}))
            result = self._result(check, ended)
            return result if result.cut else rewarded(result, *await asyncio.to_thread(read_reward, folders))
        finally:
            await asyncio.to_thread(folders.remove)

    # -- apart from them

    async def _separate(self, check: Check) -> CheckResult:
        folders, broken = self._new_folders(), list[Exception]()
        sandbox = self.slot.walled

        def give_up(error: Exception) -> None:
            broken.append(error)
            sandbox.end_job()

        try:
            await asyncio.to_thread(self._show_hidden, folders)
            # A full disk is for the subject's own guard to judge: it knows whether the subject has filled it.
            job = self._job(check, replace(folders, room=DiskRoom()), "check")
            python = await python_behind_shim(sandbox, job)
            more = await asyncio.to_thread(equip, folders, sandbox, python)
            subject = Subject(
                self.slot.subject,
                self._new_folders,
                self.lay_out,
                self.limits,
                time.monotonic() + check.limit,
                self._look if self.eval.app else None,
                self._draw(check),
                on_exchange=self.on_exchange,
                variables=self.eval.env,
            )
            async with answering(subject, folders, give_up):
                ended = await _ran(sandbox, replace(job, env={**job.env, **more}), subject)
            if broken:
                raise broken[0]
            if subject.asked_for_draw:
                self.asked_for_draw.add(check.name)
            return _with_share(self._result(check, ended), subject.share)
        finally:
            await asyncio.to_thread(folders.remove)

    def _draw(self, check: Check) -> dict[str, Any]:
        draw = self.eval.drawn
        return {"values": dict(draw.values), "seed": seed_of_check(draw, check.name)} if draw else {}

    async def _by_steps(self, check: Check) -> CheckResult:
        """The steps in a browser, instead of a command."""
        began = time.monotonic()
        page = await self._look(check.steps, check.limit)
        if page.status == "unavailable":
            raise NotStarted(f"the browser: {page.reason}", missing=False)
        failed = [step for step in page.steps if not step.passed]
        passed = not failed and len(page.steps) == len(check.steps)
        said = [f"{'not tried' if step.passed is None else 'failed'}: {step.step} ({step.reason})" for step in failed]
        return CheckResult(
            name=check.name,
            passed=passed,
            status=int(not passed),
            seconds=time.monotonic() - began,
            output="" if passed else "\n".join(said[:3]) or page.reason or "no step was tried",
            weight=check.weight,
            isolation=self._isolation(check),
            due=check.turn,
            keep=check.keep,
        )

    async def _look(self, steps: Sequence[str], seconds: float | None = None) -> Look:
        page, _ = await patient_look(
            self.eval.app, steps, self.lay_out, self.work.new, self.slot, self.limits, seconds, views=False
        )
        return page

    # -- both

    def _show_hidden(self, folders: RunFolders) -> None:
        """Without walls nothing can be shown read-only: there the hidden files are copied."""
        hidden = self.eval.part("checks")
        if hidden is None or self.slot.walled.has_walls:
            return
        place = folders.workspace / "checks"
        if place.is_symlink() or place.is_file():
            place.unlink()
        tree.remove(place)
        shutil.copytree(hidden, place, symlinks=True)

    def _job(self, check: Check, folders: RunFolders, output: str) -> Job:
        view = self.slot.walled.view(folders)
        env = view.environment() | {"CHECKS": str(view.workspace / "checks")}
        env |= expanded(self.eval.env, env)
        hidden = self.eval.part("checks")
        shown = {"checks": hidden} if hidden is not None and self.slot.walled.has_walls else {}
        job = shell_job(check.run, env, folders.logs / output, check.limit, self.limits, folders)
        return replace(job, adds_only=True, read_only=shown)

    def _result(self, check: Check, ended: ProcessResult) -> CheckResult:
        if ended.cut == "stopped":
            raise Interrupted
        printed = (ended.stdout.read() + ended.stderr.read()).decode("utf-8", "replace")
        cut = f"passed its limit of {check.limit:g} s" if ended.cut == "time" else None
        if ended.cut and not cut:
            cut = hit(ended.cut, self.limits)
        return CheckResult(
            name=check.name,
            passed=ended.status == 0 and cut is None,
            status=ended.status,
            seconds=ended.seconds,
            output=printed if len(printed) <= SHOWN else "…" + printed[-SHOWN:],
            weight=check.weight,
            cut=cut,
            isolation=self._isolation(check),
            due=check.turn,
            keep=check.keep,
        )

    def _isolation(self, check: Check) -> Isolation:
        if not self.slot.walled.has_walls:
            return "none"
        beside = check.steps and "start" in self.eval.app and not self.slot.separates_apps
        return "in-process" if beside else self.eval.isolation_of(check)


def _with_share(result: CheckResult, share: float | None) -> CheckResult:
    """A result by the share of cases that the check told. One that was cut off, or that failed although all of its
    cases passed, has come to grief itself: its share means nothing."""
    if share is None or result.cut or (share == 1 and not result.passed):
        return result
    return replace(result, share=share, passed=share == 1)


async def _ran(sandbox: Sandbox, job: Job, subject: Subject) -> ProcessResult:
    """How a checker ended. A disk that its own subject has filled is no excuse for the agent."""
    try:
        return await sandbox.run(job)
    except DiskWasFull as full:
        if not subject.has_filled_disk:
            raise
        result: ProcessResult = full.result
        return result

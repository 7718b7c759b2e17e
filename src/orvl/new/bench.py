"""Tries the tests of a range of commits on its states: which fail before a commit and pass after it, and which stay."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.new.hidden import HiddenCheck, RepeatedRuns, by_end, check_name
from orvl.new.making import NO_PROMPT
from orvl.new.mutants import mutants
from orvl.new.suite import WHOLE, is_of_tests
from orvl.new.trial import all_of, busy_machine
from orvl.project.names import count
from orvl.run import start_tree
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from orvl.new.history import History
    from orvl.new.making import Making
    from orvl.new.mutants import Mutant
    from orvl.new.suite import TestRunner
    from orvl.new.trial import TestReport, Trial

QUIET, LOADED = 5, 2
"""How often tests are run, without and beside processes that keep the machine busy."""
SECONDS, KEEP_SECONDS = 300.0, 60.0
"""How long the tests of a commit may take, and all others together."""
MOST_BY_FILE = 6
"""Files of tests up to which a commit has a check for each."""
MUTANTS_TRIED, MUTANTS_KEPT = 8, 5


def other_tests(history: History, runner: TestRunner, keep: Sequence[str]) -> tuple[str, ...]:
    """The files of tests that were there before the first commit: all, or those in these files and folders."""
    tests = [path for path in history.base if is_of_tests(path) and runner.is_runnable(path)]
    names = [name.strip("/") for name in keep]
    for name in names:
        if not any(_lies_in(path, name) for path in tests):
            raise UserError(f"--keep {name}: there are no such tests before the first commit.")
    return tuple(path for path in tests if not names or any(_lies_in(path, name) for name in names))


@dataclass
class CommitBench:
    """An eval that is being made, a place to run tests in, and the states of the repository."""

    making: Making
    trial: Trial
    states: list[Path] = field(default_factory=list)
    reasons: list[str] = field(default_factory=list)
    """Why turns have no hidden tests."""

    async def set_up(self) -> None:
        """The folder of a run before the first turn, and as the commits leave it after each."""
        place, making = self.trial.work.root, self.making
        await self.trial.start(making.write([NO_PROMPT] * making.turns), place / "state-0")
        self.states = [place / f"state-{turn}" for turn in range(making.turns + 1)]
        for turn in range(1, making.turns + 1):
            await asyncio.to_thread(making.next_state, self.states[turn - 1], self.states[turn], turn)

    # -- tests that a commit changed

    async def hidden(self, turn: int) -> list[HiddenCheck]:
        """The checks of a commit."""
        step, runner = self.making.history.steps[turn - 1], self.making.runner
        tests = [path for path in step.changed if is_of_tests(path)]
        files = [path for path in tests if runner.is_runnable(path)]
        if not (tests if runner.kind in WHOLE else files):
            self._none_hidden(turn, "it changes no test that can be run")
            return []
        is_one = len(files) > MOST_BY_FILE or runner.kind in WHOLE
        groups = [tuple(files)] if is_one else [(path,) for path in files]
        found: list[HiddenCheck] = []
        for number, group in enumerate(groups, 1):
            name = f"turn-{turn}" if len(groups) == 1 else check_name(turn, number, group[0])
            found += await self._hidden(HiddenCheck(name, turn, () if runner.kind in WHOLE else group))
        return found

    async def _hidden(self, check: HiddenCheck) -> list[HiddenCheck]:
        """Those of the tests that fail before their commit and pass after it, however often, as one check or, where a
        later commit breaks some, as several."""
        self.making.write_plan([check])
        turn, shown = check.turn, ", ".join(check.files) or "all tests"
        after, before = await all_of(self._report(check, at) for at in (turn, turn - 1))
        if not after.passed - before.passed:
            why = "it passes before, too" if after.passed else f"it does not pass after the commit: {after.last_words}"
            self._none_hidden(turn, f"{shown}: {why}")
            return []
        good = RepeatedRuns.of([after, *await self._again(check, turn)])
        bad = RepeatedRuns.of([before, *await self._again(check, turn - 1)])
        expected = good.always - bad.always - bad.sometimes
        self._tell_chance(turn, good, bad)
        if good.names_change or not expected:
            self._none_hidden(turn, f"{shown}: its names or results change from run to run")
            return []
        check = replace(check, expected=expected, reported=good.reported, seconds=max(good.seconds, bad.seconds))
        self.making.say(
            f"Turn {turn}: {count(len(expected), 'hidden test')} in {shown}, failing before and passing after."
        )
        return by_end(check, await self._later(check))

    def _none_hidden(self, turn: int, why: str) -> None:
        self.reasons.append(f"turn {turn}: {why}")
        self.making.say(f"Turn {turn} has no hidden test: {why}.")

    def _tell_chance(self, turn: int, *verdicts: RepeatedRuns) -> None:
        if names := sorted(frozenset[str]().union(*(verdict.sometimes for verdict in verdicts))):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self.making.say(f"Turn {turn}: left out, because they pass by chance: {', '.join(names[:3])}{more}.")

    # -- all others

    async def kept(self, files: tuple[str, ...]) -> list[HiddenCheck]:
        """The checks of those of these tests that pass before the first turn."""
        if not files and self.making.runner.kind not in WHOLE:
            return []
        check = HiddenCheck("keep", 0, files)
        self.making.write_plan([check])
        first = await self._report(check, 0, KEEP_SECONDS)
        if first.cut and len(files) > 1:
            check = replace(check, files=await self._quick(files))
            self.making.write_plan([check])
            first = await self._report(check, 0, 2 * KEEP_SECONDS) if check.files else first
        if not first.passed:
            self.making.say(f"No other test is kept: {first.last_words}")
            return []
        verdict = RepeatedRuns.of([first, *await self._again(check, 0)])
        if verdict.names_change or not verdict.always:
            self.making.say("No other test is kept: their names or results change from run to run.")
            return []
        check = replace(check, expected=verdict.always, reported=verdict.reported, seconds=verdict.seconds)
        found = by_end(check, await self._later(check))
        self.making.say(
            f"Kept: {count(sum(len(one.expected) for one in found), 'other test')} that must go on to pass."
        )
        return found

    async def _quick(self, files: Sequence[str]) -> tuple[str, ...]:
        """Files of tests that together take no longer than they may, each tried alone."""
        say = self.making.say
        say(f"All other tests take longer than {KEEP_SECONDS:g} s together, so each file is tried alone …")
        chosen, left = [], KEEP_SECONDS
        for path in files:
            check = HiddenCheck("keep", 0, (path,))
            self.making.write_plan([check])
            report = await self._report(check, 0, min(left, KEEP_SECONDS / 4))
            if report.passed and report.seconds < left:
                chosen.append(path)
                left -= report.seconds
            if left < 1:
                break
        say(f"{len(chosen)} of {count(len(files), 'file')} with other tests are kept. Choose them with --keep PATH.")
        return tuple(chosen)

    # -- the checks as they will be

    async def confirm(self) -> None:
        """Every check passes where it must, and fails before its turn."""
        await all_of(
            self._confirm(check, turn)
            for check in self.making.checks
            for turn in range(len(self.states))
            if check.is_due(turn) or turn == check.turn - 1
        )

    async def _confirm(self, check: HiddenCheck, turn: int) -> None:
        is_due = check.is_due(turn)
        if await self._passes(self.states[turn], check) != is_due:
            what = f"fails after turn {turn}" if is_due else "passes before its turn"
            raise UserError(f"The check {check.name} {what}, where it did not before: it cannot be relied on.")

    async def bugs(self) -> list[Mutant]:
        """Mutants of the commits' lines that a hidden test catches."""
        checks = [check for check in self.making.checks if check.turn and not check.until]
        tried = list(islice(mutants(self.making.history), MUTANTS_TRIED))
        are_caught = await all_of(self._is_caught(number, mutant, checks) for number, mutant in enumerate(tried))
        return [mutant for mutant, is_caught in zip(tried, are_caught, strict=True) if is_caught][:MUTANTS_KEPT]

    async def _is_caught(self, number: int, mutant: Mutant, checks: Sequence[HiddenCheck]) -> bool:
        state = self.trial.work.root / f"mutant-{number}"
        await asyncio.to_thread(self._plant, state, mutant)
        try:
            for check in checks:
                if not await self._passes(state, check):
                    return True
            return False
        finally:
            await asyncio.to_thread(tree.remove, state)

    def _plant(self, state: Path, mutant: Mutant) -> None:
        state.mkdir()
        start_tree.copy(self.states[-1], state)
        (state / mutant.bug.path).write_bytes(mutant.content)

    async def _passes(self, state: Path, check: HiddenCheck) -> bool:
        return await self.trial.passes(state, self.making.hidden, check.name, SECONDS)

    # -- runs

    async def _report(self, check: HiddenCheck, turn: int, seconds: float = SECONDS) -> TestReport:
        return await self.trial.report(self.states[turn], self.making.hidden, check.name, seconds)

    async def _again(self, check: HiddenCheck, turn: int) -> list[TestReport]:
        """The runs after the first, the last of them on a busy machine."""
        reports = await all_of(self._report(check, turn) for _ in range(QUIET - 1))
        with busy_machine():
            return [*reports, *await all_of(self._report(check, turn) for _ in range(LOADED))]

    async def _later(self, check: HiddenCheck) -> dict[int, TestReport]:
        turns = range(check.turn + 1, len(self.states))
        return dict(zip(turns, await all_of(self._report(check, turn) for turn in turns), strict=True))


def _lies_in(path: str, name: str) -> bool:
    return path == name or path.startswith(f"{name}/")

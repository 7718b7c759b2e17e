"""Which tests become checks: those that fail before a commit and pass after it, and those that pass all along."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.new.suite import CONFIGURATION, SUPPORT
from orvl.new.trial import WHOLE_SUITE
from orvl.trust.mutate.syntax import TEST_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.new.history import History
    from orvl.new.suite import TestRunner
    from orvl.new.trial import TestReport

LEAST_LIMIT, TIMES_SLOWEST = 30, 4
"""Seconds of a check, and how many times as long as the slowest run it may take."""


@dataclass(frozen=True)
class HiddenCheck:
    """Tests of one state of the repository, as a check; `turn` 0 are those that were there before."""

    name: str
    turn: int
    files: tuple[str, ...]
    """What the runner is told to run; empty: all that there is."""
    expected: frozenset[str] = frozenset()
    """The tests that must pass."""
    reported: frozenset[str] = frozenset()
    """The tests that are run, whatever becomes of them."""
    until: int = 0
    seconds: float = 0.0
    """How long the slowest run took."""

    @property
    def is_by_status(self) -> bool:
        return self.reported == {WHOLE_SUITE}

    def is_due(self, turn: int) -> bool:
        """Whether it must pass after a turn."""
        return turn >= self.turn and not (self.until and turn >= self.until)

    def as_json(self) -> dict[str, Any]:
        """For the program that runs it."""
        by_name = None if self.is_by_status else sorted(self.reported)
        return {"state": self.turn, "files": list(self.files), "expected": sorted(self.expected), "reported": by_name}

    def settings(self) -> dict[str, Any]:
        """As a check of the eval's front matter."""
        when: dict[str, Any] = {"turn": self.turn} if self.turn else {"keep": True}
        if self.until:
            when["until"] = self.until
        limit = max(LEAST_LIMIT, round(TIMES_SLOWEST * self.seconds))
        return {"name": self.name, "run": f"python3 checks/run_tests.py {self.name}", **when, "limit": limit}


@dataclass(frozen=True)
class RepeatedRuns:
    """What several runs of the same tests said: which pass always, which never, and which by chance."""

    always: frozenset[str]
    sometimes: frozenset[str]
    reported: frozenset[str]
    names_change: bool
    seconds: float

    @classmethod
    def of(cls, reports: Sequence[TestReport]) -> RepeatedRuns:
        passed = [report.passed for report in reports]
        always, ever = frozenset.intersection(*passed), frozenset.union(*passed)
        names = {report.reported for report in reports}
        slowest = max(report.seconds for report in reports)
        return cls(always, ever - always, frozenset.intersection(*names), len(names) > 1, slowest)


def plan(runner: TestRunner, history: History, checks: Sequence[HiddenCheck], canary: str) -> dict[str, Any]:
    """What the program in the sandbox goes by."""
    return {
        "canary": canary,
        "runner": runner.as_json(),
        "tests": f"{TEST_FILE.pattern}|{SUPPORT.pattern}",
        "configuration": list(CONFIGURATION),
        "deleted": {str(turn): list(step.deleted) for turn, step in enumerate(history.steps, 1)},
        "checks": {check.name: check.as_json() for check in checks},
    }


def by_end(check: HiddenCheck, later: Mapping[int, TestReport]) -> list[HiddenCheck]:
    """A check, and others for those of its tests that a later commit breaks: they are retired there."""
    ends: dict[int, set[str]] = {}
    for name in check.expected:
        end = next((turn for turn, report in sorted(later.items()) if _fails(check, name, report)), 0)
        ends.setdefault(end, set()).add(name)
    seconds = max([check.seconds, *(report.seconds for report in later.values())])
    found = []
    for end, names in sorted(ends.items()):
        if end and end <= max(check.turn, 1):
            continue
        name = f"{check.name}-until-{end}" if end else check.name
        found.append(replace(check, name=name, expected=frozenset(names), until=end, seconds=seconds))
    return found


def _fails(check: HiddenCheck, name: str, report: TestReport) -> bool:
    return name not in report.passed or report.reported != check.reported


def check_name(turn: int, number: int, path: str) -> str:
    """The name of a check for one of several files of tests."""
    stem = path.rpartition("/")[2].partition(".")[0]
    slug = re.sub(r"[^A-Za-z0-9]+", "-", stem).strip("-").lower()
    return f"turn-{turn}-{number}-{slug}".rstrip("-")

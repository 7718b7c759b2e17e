"""Checks that say how good the work is by a reward: a number that they write to a file, as Harbor's verifiers do."""

from __future__ import annotations

import json
import math
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.project.places import LOGS, TESTS
from orvl.store import beneath

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.sandbox.workdir import RunFolders
    from orvl.types import Check, CheckResult

FILES = ("reward.json", "reward.txt")
"""By name, the first that is there counts."""
VERIFIER, OTHERS = "verifier", ("agent", "artifacts")
"""Folders of /logs."""
MOST = 64 << 10
SHOWN = 80
MOST_METRICS = 1000


def with_tests(folders: RunFolders, hidden: Path | None, check: Check) -> RunFolders:
    """The folders with a copy of a check's own files at /tests, which it may write to, and empty logs."""
    assert hidden is not None
    tests, logs = folders.tmp / TESTS[1:], folders.tmp / LOGS[1:]
    shutil.copytree(hidden / check.verifier, tests, symlinks=True)
    _make_writable(tests)
    for name in (VERIFIER, *OTHERS):
        (logs / name).mkdir(parents=True)
    return replace(folders, shown={**folders.shown, Path(TESTS): tests, Path(LOGS): logs})


def _make_writable(folder: Path) -> None:
    for inner, _, names in os.walk(folder):
        os.chmod(inner, 0o755)
        for path in (os.path.join(inner, name) for name in names):
            if not os.path.islink(path):
                os.chmod(path, os.stat(path).st_mode & 0o777 | 0o600)


def read_reward(folders: RunFolders) -> tuple[float | None, str]:
    """The reward that a verifier has left, from 0 to 1, and a sentence; called when nothing of it runs any more.

    What ran beside the verifier may have put anything there: no link is followed, and the file has an end.
    """
    for name in FILES:
        text = beneath.read_inside(folders.tmp, f"{LOGS[1:]}/{VERIFIER}/{name}", MOST)
        if text is not None:
            return _reward(text, name)
    return None, f"it wrote no reward to {LOGS}/{VERIFIER}/{FILES[1]} or {FILES[0]}"


def _reward(text: bytes, name: str) -> tuple[float | None, str]:
    where = f"{LOGS}/{VERIFIER}/{name}"
    if len(text) > MOST:
        return None, f"{where} has more than {MOST >> 10} KiB"
    try:
        reward = _number(json.loads(text)) if name.endswith(".json") else float(text)
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None, f"{where} has no number: {text[:SHOWN].decode('utf-8', 'replace')!a}"
    if not 0 <= reward <= 1:
        return None, f"{where} says {reward:g}, which is not from 0 to 1"
    return reward, ""


def _number(value: object) -> float:
    """One number for a reward of several: that named `reward`, else their mean."""
    if isinstance(value, dict):
        if "reward" in value:
            return _number_of(value["reward"])
        if not 0 < len(value) <= MOST_METRICS:
            raise ValueError
        return math.fsum(_each(value.values())) / len(value)
    return _number_of(value)


def _each(values: Iterable[object]) -> Iterable[float]:
    for value in values:
        number = _number_of(value)
        if not 0 <= number <= 1:
            raise ValueError
        yield number


def _number_of(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise TypeError
    return float(value)


def rewarded(result: CheckResult, reward: float | None, why: str) -> CheckResult:
    """A result by its reward, whatever the status. One without a reward has failed, and says why: it runs beside the
    agent's code, which could else choose not to be scored."""
    if reward is None:
        return replace(result, passed=False, output=f"{result.output.rstrip()}\n{why}".lstrip())
    return replace(result, passed=reward == 1, share=reward)

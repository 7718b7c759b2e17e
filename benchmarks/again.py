"""Giving a command again when nothing is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, seconds
from benchmarks.measure import best
from benchmarks.runs import RUNS, noop_runs

if TYPE_CHECKING:
    from pathlib import Path

TARGET, BOUND = 0.6, 3.0
TIMES = 2


def again(folder: Path) -> list[Line]:
    """The command of `memory`, over the store that it filled."""
    command = noop_runs(folder, RUNS).command
    used = best(TIMES, *command)
    return [seconds("again", used.seconds, TARGET, BOUND, f" for {RUNS:,} runs", cpu=used.cpu)]

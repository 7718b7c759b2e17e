"""Giving a command again when nothing is left to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, timed
from benchmarks.measure import Spawns, best
from benchmarks.memory import RUNS
from benchmarks.runs import noop_runs

if TYPE_CHECKING:
    from pathlib import Path

TARGET = 0.6
TIMES = 3


def again(folder: Path) -> list[Line]:
    """The command of `memory`, over the store that it filled."""
    command = noop_runs(folder, RUNS).command
    with Spawns() as spawns:
        used = best(TIMES, *command)
    return [timed("again", used.seconds, spawns, TARGET, note=f" for {RUNS:,} runs")]

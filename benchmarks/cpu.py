"""CPU per no-op run: orvl, its helpers and the agent's process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, timed
from benchmarks.noop import RUNS
from benchmarks.runs import noop_runs

if TYPE_CHECKING:
    from pathlib import Path

TARGET = 0.005


def cpu(folder: Path) -> list[Line]:
    """From the runs of `noop`."""
    runs = noop_runs(folder, RUNS)
    return [timed("cpu", runs.used.cpu / RUNS, runs.spawns, TARGET, "ms", " a run")]

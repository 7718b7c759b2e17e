"""CPU per no-op run: orvl, its helpers and the agent's process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, at_most
from benchmarks.runs import RUNS, noop_runs

if TYPE_CHECKING:
    from pathlib import Path

TARGET, BOUND = 5.0, 20.0


def cpu(folder: Path) -> list[Line]:
    """From the runs of `noop`."""
    runs = noop_runs(folder, RUNS)
    each = runs.used.cpu / RUNS * 1000
    return [at_most("cpu", each, TARGET, BOUND, f"{each:.2f} ms a run", unit=" ms")]

"""Peak memory over 5,000 runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, at_most
from benchmarks.runs import RUNS, noop_runs

if TYPE_CHECKING:
    from pathlib import Path

TARGET, BOUND = 120, 200


def memory(folder: Path) -> list[Line]:
    """The largest process is orvl itself; its helpers are sampled, and what they share is counted for each."""
    runs = noop_runs(folder, RUNS)
    peak = runs.used.peak_mb
    measured = f"{peak:.0f} MB ({runs.helpers} helpers: +{runs.helpers_mb:.0f} MB)"
    return [at_most("memory", peak, TARGET, BOUND, measured, unit=" MB")]

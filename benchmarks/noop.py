"""No-op runs a second, as a share of the spawn rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, verdict
from benchmarks.runs import noop_runs

if TYPE_CHECKING:
    from pathlib import Path

RUNS = 2000
TARGET = 0.20


def noop(folder: Path) -> list[Line]:
    """A bare process, captured, stored durably, scored; the time of the whole command, start and table included."""
    runs = noop_runs(folder, RUNS)
    rate, spawns = RUNS / runs.used.seconds, runs.spawns.rate
    ratio = f"{rate / spawns:.1%} of {spawns:,.0f}/s"
    scaled = f"≥ {TARGET * spawns:.0f} runs/s"
    return [Line("noop", f"{rate:.0f} runs/s", ratio, f"≥ {TARGET:.0%}", scaled, verdict(TARGET * spawns, rate))]

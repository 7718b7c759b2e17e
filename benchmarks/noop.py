"""No-op runs a second, as a share of the spawn rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, at_least
from benchmarks.runs import RUNS, noop_runs

if TYPE_CHECKING:
    from pathlib import Path

TARGET, BOUND = 20.0, 3.0


def noop(folder: Path) -> list[Line]:
    """A bare process, captured, stored durably, scored; the time of the whole command, start and table included."""
    runs = noop_runs(folder, RUNS)
    rate, spawns = RUNS / runs.used.seconds, runs.spawns.rate
    share = 100 * rate / spawns
    ratio = f"{share:.1f} % of {spawns:,.0f} spawns/s"
    return [at_least("noop", share, TARGET, BOUND, f"{rate:.0f} runs/s", ratio, " %")]

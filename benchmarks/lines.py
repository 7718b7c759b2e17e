"""The lines of the table, and what a target means on a machine that is not the reference."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from benchmarks.measure import Spawns

REFERENCE_SPAWNS = 2000.0
"""Processes a second that the machine spawns for which the targets were set."""
MISSED = "MISSED"
WIDTHS = "{:<18}{:<40}{:<19}{:<10}{:<15}{}"
HEADER = WIDTHS.format("benchmark", "measured", "ratio", "target", "scaled target", "")
NOTE = (
    "A spawn is one posix_spawn and waitpid of /bin/true, timed before and after each benchmark. Targets in seconds\n"
    f"are for a machine that spawns {REFERENCE_SPAWNS:,.0f} a second; scaled, they are as many spawns of this machine."
)


@dataclass(frozen=True)
class Line:
    """One number: what was measured, against what, and whether it is good enough."""

    name: str
    measured: str
    ratio: str = "–"
    target: str = "–"
    scaled: str = "–"
    verdict: str = ""

    def __str__(self) -> str:
        return WIDTHS.format(*astuple(self))


def verdict(used: float, allowed: float) -> str:
    """Machines are noisy: up to half more than allowed is close, and only beyond that is a target missed."""
    return "ok" if used <= allowed else "close" if used <= 1.5 * allowed else MISSED


def timed(name: str, seconds: float, spawns: Spawns, target: float, unit: str = "s", note: str = "") -> Line:
    """A line for a time with a target; both are compared in spawns, so that slower machines get more time."""
    times = 1000 if unit == "ms" else 1
    scaled = target * REFERENCE_SPAWNS / spawns.rate
    return Line(
        name,
        f"{seconds * times:.3g} {unit}{note}",
        f"{seconds * spawns.rate:,.1f} spawns",
        f"≤ {target * times:g} {unit}",
        f"≤ {scaled * times:.3g} {unit}",
        verdict(seconds, scaled),
    )

"""CPU of `orvl --help`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, timed
from benchmarks.measure import Spawns, best

if TYPE_CHECKING:
    from pathlib import Path

TARGET = 0.1
TIMES = 5


def help(_folder: Path) -> list[Line]:
    """The best of several, beside a Python that does nothing."""
    with Spawns() as spawns:
        bare = best(TIMES, "-c", "pass").cpu
        used = best(TIMES, "-m", "orvl", "--help").cpu
    return [timed("help", used, spawns, TARGET, note=f" CPU (python -c pass: {bare:.2g} s)")]

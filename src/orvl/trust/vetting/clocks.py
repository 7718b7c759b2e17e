"""How long something takes, and how long it would take on a machine that has nothing else to do."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from pathlib import Path

from orvl.sandbox.guard.processes import descendants_at_a_glance
from orvl.sandbox.guard_client import GUARDS

TICKS = os.sysconf("SC_CLK_TCK")
OWN_TIMES = slice(11, 15)
"""In `/proc/PID/stat`, behind the name: of a process and of all that it has waited for, in the system and out of it."""
IDLE = slice(3, 5)
"""In the first line of `/proc/stat`: nothing to do, and waiting for a disk."""


@dataclass(frozen=True)
class Took:
    """Seconds that something took; also what clocks show at a moment."""

    wall: float
    processor: float
    """What it made processors work: orvl, its sandboxes and all that ran in them."""
    idle: float
    """How long each of the machine's processors had nothing to do meanwhile, in the mean."""

    def __sub__(self, before: Took) -> Took:
        return Took(self.wall - before.wall, self.processor - before.processor, self.idle - before.idle)

    @property
    def seconds(self) -> float:
        """Without what it waited for others: where a machine is never idle, only its own work counts."""
        return min(self.wall, self.processor + self.idle)


def read_clocks() -> Took:
    below = {pid for guard in list(GUARDS) for pid in (guard, *descendants_at_a_glance(guard))}
    own = time.process_time() + sum(map(_processor_seconds, below))
    return Took(time.monotonic(), own, _idle_seconds())


def _processor_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return sum(map(int, fields[OWN_TIMES])) / TICKS


def _idle_seconds() -> float:
    fields = Path("/proc/stat").read_text(encoding="utf-8").split("\n", 1)[0].split()[1:]
    return sum(map(int, fields[IDLE])) / TICKS / (os.cpu_count() or 1)

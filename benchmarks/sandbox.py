"""A job in bubblewrap, through orvl's guard process, against bubblewrap alone with the same arguments."""

from __future__ import annotations

import asyncio
import os
import time
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.lines import Line, at_most
from orvl.sandbox import Job, ResourceLimits
from orvl.sandbox.bubblewrap import Bubblewrap, bwrap
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.workdir import RunFolders

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 60
TARGET, BOUND = 1.3, 2.5
PLENTY = ResourceLimits(processes=1024, open_files=4096, file_size=1 << 30, disk=1 << 30, memory=1 << 33)


def sandbox(folder: Path) -> list[Line]:
    """The median of jobs that do nothing, one through orvl and one without it in turn."""
    alone, through = asyncio.run(_both(folder))
    ratio = through / alone
    measured, against = f"{through * 1000:.1f} ms for a job that does nothing", f"{ratio:.2f} × bwrap alone"
    return [at_most("sandbox", ratio, TARGET, BOUND, measured, against)]


async def _both(folder: Path) -> tuple[float, float]:
    work = folder / "sandbox"
    rooms = RunFolders(work, work / "workspace", work / "home", work / "tmp", work / "logs")
    for room in (rooms.root, rooms.workspace, rooms.home, rooms.tmp, rooms.logs):
        room.mkdir()
    walled = Bubblewrap(sandbox_config(work, [], []))
    env = walled.view(rooms).environment()
    alone, through = [], []
    try:
        for number in range(ROUNDS):
            job = Job(["true"], env, rooms, rooms.logs / str(number), 60.0, 1.0, 1 << 20, 1 << 20, PLENTY)
            began = time.perf_counter()
            await walled.run(job)
            between = time.perf_counter()
            _alone(walled, job)
            through.append(between - began)
            alone.append(time.perf_counter() - between)
    finally:
        await walled.close()
    return median(alone), median(through)


def _alone(walled: Bubblewrap, job: Job) -> None:
    spawn = walled.spawn(job)
    assert spawn.gate is not None
    words = ["bwrap", *spawn.gate["arguments"], "--", "true"]
    os.waitpid(os.posix_spawn(bwrap(), words, spawn.env), 0)

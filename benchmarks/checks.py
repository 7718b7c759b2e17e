"""A check that asks its subject for one command: beside the agent's files, and with a sandbox for each of the two."""

from __future__ import annotations

import asyncio
import os
import time
from dataclasses import replace
from pathlib import Path
from statistics import median
from unittest.mock import patch

from benchmarks.lines import Line, at_most
from orvl.capture.checks import Checker
from orvl.project.settings import Limits
from orvl.sandbox.backends import Slot
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.workdir import WorkDir
from orvl.types import Check, Eval

ROUNDS = 20
TARGET, BOUND = 6.0, 9.0
"""Two sandboxes instead of one, and a Python that asks."""
BESIDE = Check("beside", "true", 60.0)
APART = Check("apart", "subject run true", 60.0, isolated=True)


def checks(folder: Path) -> list[Line]:
    """The median of checks whose command does nothing, of both kinds in turn."""
    with patch.dict(os.environ, TMPDIR=str(folder)), patch("tempfile.tempdir", None):
        beside, apart = asyncio.run(_both())
    ratio = apart / beside
    measured = f"{apart * 1000:.0f} ms for an isolated check"
    return [at_most("checks", ratio, TARGET, BOUND, measured, f"{ratio:.1f} × a check beside the files")]


async def _both() -> tuple[float, float]:
    work = WorkDir()
    slot = Slot("bubblewrap", sandbox_config(work.root, [], []), work.lock_fd)
    eval_ = Eval("e", Path(), "", "", "", "", "", ("Go.",))
    times: dict[str, list[float]] = {"beside": [], "apart": []}
    try:
        for _ in range(ROUNDS):
            for check in (BESIDE, APART):
                checker = Checker(replace(eval_, checks=(check,)), slot, work, Limits(), lambda _: None)
                began = time.perf_counter()
                (result,) = await checker.results()
                times[check.name].append(time.perf_counter() - began)
                assert result.passed, result.output
    finally:
        await slot.close()
        work.close()
    return median(times["beside"]), median(times["apart"])

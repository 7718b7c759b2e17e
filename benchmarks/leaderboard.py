"""The leaderboard over 300,000 runs with 15 scores each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.lines import Line, timed
from benchmarks.many_runs import RUNS, fill
from benchmarks.measure import Spawns, best, python

if TYPE_CHECKING:
    from pathlib import Path

TARGET = 1.0
TIMES = 3


def leaderboard(folder: Path) -> list[Line]:
    """`orvl report --json`, the whole command."""
    project = folder / "leaderboard"
    fill(project)
    command = ("-m", "orvl", "report", "--json", "--project", str(project))
    with Spawns() as spawns:
        used = best(TIMES, *command)
    make_sure_of(command, folder / "leaderboard.json")
    return [timed("leaderboard", used.seconds, spawns, TARGET, note=f" for {RUNS:,} runs × 15 scores")]


def make_sure_of(command: tuple[str, ...], output: Path) -> None:
    """A report that left runs out would be fast."""
    python(*command, output=str(output))
    rated = sum(row["runs"]["rated"] for row in json.loads(output.read_text())["ratings"])
    assert rated == RUNS, f"{rated} of {RUNS} runs were rated"

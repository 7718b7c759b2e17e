"""The leaderboard over 300,000 runs with 15 scores each."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from benchmarks.lines import Line, seconds
from benchmarks.many_runs import RUNS, filled
from benchmarks.measure import best, python

if TYPE_CHECKING:
    from pathlib import Path

FIRST, THEN, BOUND = 1.0, 0.5, 8.0
TIMES = 2


def leaderboard(folder: Path) -> list[Line]:
    """`orvl report --json`, the whole command: the first time, and when it is given again."""
    project = filled(folder)
    command = ("-m", "orvl", "report", "--json", "--project", str(project))
    output = folder / "leaderboard.json"
    first = python(*command, output=str(output))
    make_sure_of(output)
    then = best(TIMES, *command)
    return [
        seconds("leaderboard", first.seconds, FIRST, BOUND, f" for {RUNS:,} runs × 15 scores", cpu=first.cpu),
        seconds("leaderboard again", then.seconds, THEN, BOUND, f", the best of {TIMES}", cpu=then.cpu),
    ]


def make_sure_of(output: Path) -> None:
    """A report that left runs out would be fast."""
    rated = sum(row["runs"]["rated"] for row in json.loads(output.read_text())["ratings"])
    assert rated == RUNS, f"{rated} of {RUNS} runs were rated"

"""CPU of commands that only read: `orvl --help`, and `list`, `--dry-run` and `report` on a small project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import Line, seconds
from benchmarks.measure import best
from benchmarks.runs import noop_runs

if TYPE_CHECKING:
    from pathlib import Path

HELP, HELP_BOUND = 0.1, 0.3
READ, READ_BOUND = 0.25, 1.5
TIMES, RUNS = 4, 20


def commands(folder: Path) -> list[Line]:
    """The best of several, beside a Python that does nothing."""
    bare = best(TIMES, "-c", "pass").cpu
    used = best(TIMES, "-m", "orvl", "--help").cpu
    run = noop_runs(folder, RUNS).command
    project = ("--project", str(folder / f"noop-{RUNS}"))
    reads = {
        "list": ("-m", "orvl", "list", *project),
        "dry run": (*run, "--dry-run"),
        "report": ("-m", "orvl", "report", *project),
    }
    return [
        seconds("help", used, HELP, HELP_BOUND, f" CPU (python -c pass: {bare:.2g} s)"),
        *(seconds(name, best(TIMES, *words).cpu, READ, READ_BOUND, " CPU") for name, words in reads.items()),
    ]

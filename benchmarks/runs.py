"""Runs of an agent that does nothing, each measured once and shared by the benchmarks that look at it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.measure import Spawns, Used, python

RUNS = 5000
AGENT = 'models = {"none": ["none"]}\n\n\ndef command(prompt):\n    return "true"\n'
EVAL = "---\nmetrics: {speed: 1}\n---\nDo nothing.\n"


@dataclass(frozen=True)
class Runs:
    """How a matrix of no-op runs went."""

    command: tuple[str, ...]
    used: Used
    spawns: Spawns
    helpers: int
    helpers_mb: float


@cache
def noop_runs(folder: Path, count: int) -> Runs:
    """Carries out a number of no-op runs in a fresh project."""
    project = folder / f"noop-{count}"
    for name, text in {"agents/noop.py": AGENT, "evals/nothing.md": EVAL}.items():
        (project / name).parent.mkdir(parents=True)
        (project / name).write_text(text)
    words = ("noop", "none", "none", "nothing", "speed")
    command = (
        "-m",
        "orvl",
        "run",
        *words,
        "--episodes",
        str(count),
        "--sandbox",
        "none",
        "-q",
        "--project",
        str(project),
    )
    samples = [(0, 0.0)]
    with Spawns() as spawns:
        used = python(*command, sample=lambda pid: samples.append(helpers(pid)))
    return Runs(command, used, spawns, *max(samples, key=lambda sample: sample[1]))


def helpers(parent: int) -> tuple[int, float]:
    """How many processes a process keeps beside it, and their resident memory in MB."""
    pages = [
        int(fields[21]) for fields in map(stat_of, filter(str.isdigit, os.listdir("/proc"))) if fields[1] == str(parent)
    ]
    return len(pages), sum(pages) * os.sysconf("SC_PAGE_SIZE") / 2**20


def stat_of(pid: str) -> list[str]:
    """The fields of a process's stat from its state on; blanks where it is gone."""
    try:
        return Path("/proc", pid, "stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return [""] * 22

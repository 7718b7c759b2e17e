"""Runs the named benchmarks, or all but the simulations, and prints a line for each number."""

from __future__ import annotations

import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.lines import HEADER, NOTE, REGRESSED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.lines import Line

# `memory` comes before whatever fills this process: a child's peak memory starts at its parent's.
NAMES = (
    "noop",
    "cpu",
    "memory",
    "commands",
    "again",
    "ratings",
    "leaderboard",
    "viewer",
    "sandbox",
    "checks",
    "workspace",
    "gateway",
    "judging",
)
SIMULATIONS = ("intervals", "components", "gate")
"""They take minutes, and their seeds are fixed: `make nightly` runs them."""


def main(names: Sequence[str]) -> int:
    known = (*NAMES, *SIMULATIONS)
    if unknown := [name for name in names if name not in known]:
        print(f"Unknown benchmark '{unknown[0]}'. Choose from: {', '.join(known)}", file=sys.stderr)
        return 2
    print(HEADER)
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="orvl-bench-") as folder:
        for name in [name for name in known if name in (names or NAMES)]:
            lines += measure(name, Path(folder))
    print(NOTE)
    return int(any(line.verdict == REGRESSED for line in lines))


def measure(name: str, folder: Path) -> list[Line]:
    """Carries out one benchmark; its file and its function have its name."""
    lines: list[Line] = getattr(import_module(f"benchmarks.{name}"), name)(folder)
    for line in lines:
        print(line, flush=True)
    return lines


sys.exit(main(sys.argv[1:]))

"""Runs the named benchmarks, or all, and prints a line for each number."""

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
    "sandbox",
    "workspace",
    "gateway",
    "judging",
    "intervals",
    "components",
    "gate",
)


def main(names: Sequence[str]) -> int:
    if unknown := [name for name in names if name not in NAMES]:
        print(f"Unknown benchmark '{unknown[0]}'. Choose from: {', '.join(NAMES)}", file=sys.stderr)
        return 2
    print(HEADER)
    lines: list[Line] = []
    with tempfile.TemporaryDirectory(prefix="orvl-bench-") as folder:
        for name in NAMES:
            if not names or name in names:
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

"""A workspace of 10,000 files: the fresh copy for a run, and what the run changed in it."""

from __future__ import annotations

import os
import random
import subprocess
import time
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.lines import Line, at_most, seconds

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.store.folder import FolderBlobs
    from orvl.store.tree import Entry

FILES, CHANGED = 10_000, 100
LINES = 100
COPIES, TIMES = 3, 2
TARGET, BOUND = 1.2, 2.5
DIFF_TARGET, DIFF_BOUND = 0.5, 3.0


def workspace(folder: Path) -> list[Line]:
    """As for an eval with starting files: prepared and committed once, then copied, captured and compared."""
    from orvl.run import start_tree as start
    from orvl.store.folder import FolderBlobs

    prepared, blobs = folder / "prepared", FolderBlobs(folder / "blobs")
    fill(prepared)
    start.commit(prepared)
    before, _ = scanned(prepared, blobs)
    copies = copy_line(prepared, folder)
    run = folder / f"start.copy-{COPIES - 1}"
    same = median(compared(run, before, blobs) for _ in range(TIMES))
    changed = median(compared(change(run, number), before, blobs) for number in range(TIMES))
    return [
        copies,
        seconds("workspace same", same, DIFF_TARGET, DIFF_BOUND, " for scan and diff"),
        seconds("workspace changed", changed, DIFF_TARGET, DIFF_BOUND, f" for {CHANGED} changed files"),
    ]


def fill(prepared: Path) -> None:
    """Files of 4 KiB on average, in folders of a hundred."""
    draw = random.Random(1)
    for number in range(FILES):
        path = prepared / f"part-{number // 100}" / f"{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{draw.getrandbits(156):039x}\n" for _ in range(draw.randrange(2 * LINES))))


def copy_line(prepared: Path, folder: Path) -> Line:
    """Both ways in turn, so that a disk that gets slower slows both, and the median of their ratios."""
    from orvl.run import start_tree as start

    def cp(source: Path, target: Path) -> None:
        subprocess.run(["cp", "-a", "--reflink=auto", "-T", source, target], check=True)

    took: dict[str, list[float]] = {"start.copy": [], "cp": []}
    for number in range(COPIES):
        ways = [("start.copy", start.copy), ("cp", cp)]
        for name, way in ways if number % 2 else reversed(ways):
            target = folder / f"{name}-{number}"
            target.mkdir()
            os.sync()
            began = time.perf_counter()
            way(prepared, target)
            took[name].append(time.perf_counter() - began)
    ratio = median(own / plain for own, plain in zip(*took.values(), strict=True))
    measured = f"{median(took['start.copy']):.3g} s for {FILES:,} files"
    return at_most("workspace copy", ratio, TARGET, BOUND, measured, f"{ratio:.2f} × cp -a")


def change(run: Path, number: int) -> Path:
    for path in sorted(run.glob("*/*.txt"))[:: FILES // CHANGED]:
        path.write_text(f"{path.read_text()}line {number}\n")
    return run


def compared(run: Path, before: list[Entry], blobs: FolderBlobs) -> float:
    """Seconds for the scan and the diff of what it kept; the wait for the disk in between does not count."""
    from orvl.capture import diff
    from orvl.store import tree

    after, seconds = scanned(run, blobs)
    began = time.perf_counter()
    diff.unified(before, tree.decode(tree.encode(after)), blobs.get)
    return seconds + time.perf_counter() - began


def scanned(root: Path, blobs: FolderBlobs) -> tuple[list[Entry], float]:
    from orvl.store import tree

    with blobs.batch() as batch:
        began = time.perf_counter()
        entries, _ = tree.scan(root, batch.put_fd, tree.TreeLimits())
        return entries, time.perf_counter() - began

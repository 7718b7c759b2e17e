"""The viewer over 300,000 runs with 15 scores each: how soon it answers, and what it takes."""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.lines import Line, at_most, seconds
from benchmarks.many_runs import RUNS, filled

if TYPE_CHECKING:
    from collections.abc import Iterator

START, COLD, FIRST_BYTE, PAGE_MB, MEMORY_MB = 0.5, 1.0, 0.3, 1.0, 300.0
PAGES = 100
OTHERS = (
    "/board",
    "/evals",
    "/trust",
    "/history",
    "/endpoints",
    "/now",
    "/eval/eval-3",
    "/compare?a=agent-1&b=agent-2",
    "/runs",
    "/runs?sort=worst",
    "/runs?below=0.3",
    "/runs?sort=time",
    "/runs?outcome=failed",
)


def viewer(folder: Path) -> list[Line]:
    """The real command; each page as a browser gets it, to its last byte."""
    project = filled(folder)
    with viewing(project) as (view, started):
        cold, _ = view.get("/board")
        took = {path: view.get(path) for path in OTHERS}
        slowest = max(took, key=lambda path: took[path][0])
        largest = max(len(body) for _, body in took.values())
        began = time.perf_counter()
        turned = view.turn_pages(PAGES)
        each = (time.perf_counter() - began) / PAGES
        memory = view.peak_mb
    assert turned == PAGES * 50, f"{turned} runs on {PAGES} pages"
    return [
        seconds("viewer start", started, START, 5.0),
        seconds("cold board", cold, COLD, 8.0, f" for {RUNS:,} runs × 15 scores"),
        seconds("slowest page", took[slowest][0], FIRST_BYTE, 5.0, f", {slowest}"),
        seconds("turning a page", each, FIRST_BYTE, 5.0, f", the mean of {PAGES:,}"),
        at_most("largest page", largest / 1e6, PAGE_MB, PAGE_MB, f"{largest / 1e6:.2f} MB", unit=" MB"),
        at_most("viewer memory", memory, MEMORY_MB, 600.0, f"{memory:.0f} MB after {PAGES:,} pages", unit=" MB"),
    ]


@dataclass(frozen=True)
class View:
    """A running `orvl view`."""

    port: int
    token: str
    pid: int

    def get(self, path: str) -> tuple[float, bytes]:
        """How long it took, and what came."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        began = time.perf_counter()
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}"})
        answer = connection.getresponse()
        body = answer.read()
        took = time.perf_counter() - began
        connection.close()
        assert answer.status == 200, f"{path}: {answer.status}"
        return took, body

    def turn_pages(self, number: int) -> int:
        """How many runs so many pages of them have."""
        runs, after = 0, ""
        for _ in range(number):
            found = json.loads(self.get(f"/runs.json?sort=worst{after}")[1])
            runs += len(found["ratings"])
            after = f"&after={found['page']['after']}"
        return runs

    @property
    def peak_mb(self) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.findall(r"VmHWM:\s+(\d+)", status)[0]) / 1024


@contextmanager
def viewing(project: Path) -> Iterator[tuple[View, float]]:
    """The viewer, and how long it took to say where it is."""
    began = time.perf_counter()
    words = [sys.executable, "-m", "orvl", "view", "--no-open", "--project", str(project)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        started = time.perf_counter() - began
        found = re.search(r"http://127\.0\.0\.1:(\d+)/board\?token=(\S+)", line)
        assert found, line
        yield View(int(found[1]), found[2], process.pid), started
    finally:
        process.terminate()
        process.wait()

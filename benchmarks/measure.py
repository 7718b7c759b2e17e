"""What a process used, and how fast this machine starts processes."""

from __future__ import annotations

import os
import select
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SPAWNS = 500
SAMPLE_EVERY = 0.2


class Spawns:
    """The spawn rate around a piece of work: the mean of before and after."""

    rate: float

    def __enter__(self) -> Spawns:
        self._before = spawn_rate()
        return self

    def __exit__(self, *_: object) -> None:
        self.rate = (self._before + spawn_rate()) / 2


def spawn_rate() -> float:
    """Processes a second that this machine starts and waits for when every core does nothing else.

    One loop alone would leave the other cores idle, and what runs on all of them would look that much better.
    """
    loops = len(os.sched_getaffinity(0))
    began = time.perf_counter()
    children = [_fork_loop() for _ in range(loops)]
    for child in children:
        os.waitpid(child, 0)
    return loops * SPAWNS / (time.perf_counter() - began)


def _fork_loop() -> int:
    if child := os.fork():
        return child
    for _ in range(SPAWNS):
        os.waitpid(os.posix_spawn("/bin/true", ["true"], os.environ), 0)
    os._exit(0)


@dataclass(frozen=True)
class Used:
    """What a command used, with all that it waited for."""

    seconds: float
    cpu: float
    peak_mb: float


def python(*args: str, output: str = os.devnull, sample: Callable[[int], None] = lambda _pid: None) -> Used:
    """Runs this Python with arguments; `sample` is called with the process's id a few times a second."""
    to_output = (os.POSIX_SPAWN_OPEN, 1, output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    began = time.perf_counter()
    pid = os.posix_spawn(sys.executable, [sys.executable, *args], os.environ, file_actions=[to_output])
    ended = os.pidfd_open(pid)
    while not select.select([ended], [], [], SAMPLE_EVERY)[0]:
        sample(pid)
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - began
    os.close(ended)
    if status:
        sys.exit(f"python {' '.join(args)} ended with status {os.waitstatus_to_exitcode(status)}.")
    return Used(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024)


def best(times: int, *args: str) -> Used:
    """The least of each that several runs took."""
    used = [python(*args) for _ in range(times)]
    return Used(min(u.seconds for u in used), min(u.cpu for u in used), min(u.peak_mb for u in used))

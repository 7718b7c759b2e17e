"""What this machine lets orvl have: descriptors, threads, and so many runs at once as these allow."""

from __future__ import annotations

import os
import resource
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Event
from typing import TYPE_CHECKING

from orvl.errors import OrvlError

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.plan.options import RunOptions
    from orvl.project.settings import Settings

MOST_FILES = 65_536
OWN_FILES, FILES_PER_RUN = 64, 24
"""Descriptors that orvl itself needs, and each run: sockets to its guard, its model's calls, and files."""


def concurrency(options: RunOptions, settings: Settings, say: Callable[[str], None]) -> int:
    """How many runs go on at once: as many as asked for, unless there are too few descriptors for them."""
    wanted = options.concurrency or settings.concurrency or max(4, min(16, 2 * (os.cpu_count() or 2)))
    files = allow_many_files()
    possible = max(1, (files - OWN_FILES) // FILES_PER_RUN)
    if possible < wanted and (options.concurrency or settings.concurrency):
        say(f"Only {possible} runs at once instead of {wanted}: a process may open {files} files here (ulimit -n).")
    return min(wanted, possible)


def allow_many_files() -> int:
    """Raises the limit on open files as far as this user may; returns it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard == resource.RLIM_INFINITY:
        hard = max(soft, MOST_FILES)
    with suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, MOST_FILES)), hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def threads() -> ThreadPoolExecutor:
    """All threads that will be needed, begun now: one that is refused in the middle of a run would end it."""
    most = min(32, (os.cpu_count() or 1) + 4)
    pool, gate, begun = ThreadPoolExecutor(most, thread_name_prefix="orvl"), Event(), 0
    with suppress(RuntimeError):
        for begun in range(1, most + 1):  # noqa: B007 - counts what was begun
            pool.submit(gate.wait)
        begun = most + 1
    gate.set()
    if begun <= 1:
        raise OrvlError("This machine refuses orvl a thread: too many processes, or too little memory.")
    pool._max_workers = begun - 1  # it must not ask for those again
    return pool

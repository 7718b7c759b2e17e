"""A machine with too much to do: busy processes beside what is looked at."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PER_CORE = 2
# It ends with its parent, also where that is killed.
BUSY = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextmanager
def loaded() -> Iterator[int]:
    """Twice as many busy processes as there are cores."""
    number = PER_CORE * (os.cpu_count() or 1)
    busy = [subprocess.Popen([sys.executable, "-I", "-S", "-c", BUSY], stdin=subprocess.DEVNULL) for _ in range(number)]
    try:
        yield number
    finally:
        for process in busy:
            process.kill()
        for process in busy:
            process.wait()

"""A machine that is short of processes, memory or descriptors for a moment: what it refuses is asked for again."""

import errno
import time
from collections.abc import Callable
from typing import TypeVar

SHORT = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE)
DISK_FULL = "the disk that runs live on was full (TMPDIR)"
PAUSES = (0.05, 0.2, 0.8, 2.0)
"""Seconds."""
Result = TypeVar("Result")


def patiently(ask: Callable[[], Result]) -> Result:
    """What the machine gives in the end; its refusal where it refuses each time."""
    for pause in PAUSES:
        try:
            return ask()
        except OSError as error:
            if error.errno not in SHORT:
                raise
        time.sleep(pause)
    return ask()

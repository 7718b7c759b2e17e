"""Runs an installer: says that it goes on while it does, keeps its last words for when it fails."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from orvl.errors import InstallerFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

EVERY = 5.0
LAST_LINES, LONGEST_LINE, MOST_KEPT = 15, 300, 1 << 20
WOULD_INSTALL_ELSEWHERE = frozenset(
    ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_DRY_RUN", "PYTHONHOME", "PYTHONPATH")
) | {"VIRTUAL_ENV", "NPM_CONFIG_GLOBAL", "NPM_CONFIG_LOCATION", "NPM_CONFIG_PREFIX", "NPM_CONFIG_DRY_RUN"}


def environment() -> dict[str, str]:
    """The user's environment without keys of providers, and without what leads an installer elsewhere."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() not in WOULD_INSTALL_ELSEWHERE and not name.endswith("_API_KEY")
    }


def run(name: str, words: Sequence[str], folder: Path, say: Callable[[str], None]) -> None:
    """Waits for an installer to end; ends it and all that it started when orvl is interrupted."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env=environment(),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    status = process.wait(EVERY)
                    break
                say(f"{name} is at work for {time.monotonic() - began:.0f} s")
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if status:
            raise InstallerFailed(name, status, _end_of(output.fileno()))


def _end_of(fd: int) -> str:
    size = os.fstat(fd).st_size
    return os.pread(fd, MOST_KEPT, max(0, size - MOST_KEPT)).decode("utf-8", "replace")


def last_lines(text: str) -> list[str]:
    """The end of what an installer printed, each line cut to a length that can be read."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…" for line in lines[-LAST_LINES:]]


def said(*words: str) -> str:
    """The first line that a program prints about itself."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
    return next(iter(done.stdout.splitlines()), "").strip()

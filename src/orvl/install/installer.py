"""What npm and pip share: running an installer, and what it has installed."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orvl.errors import InstallerFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

PROGRESS_SECONDS = 5.0
MAX_LINES, MAX_LINE, MAX_OUTPUT = 15, 300, 1 << 20
MISLEADING = frozenset(
    ("PIP_USER", "PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_PYTHON", "PIP_DRY_RUN", "PYTHONHOME", "PYTHONPATH")
) | {"VIRTUAL_ENV", "NPM_CONFIG_GLOBAL", "NPM_CONFIG_LOCATION", "NPM_CONFIG_PREFIX", "NPM_CONFIG_DRY_RUN"}


@dataclass(frozen=True)
class InstalledPackages:
    """What an installer has put into a folder."""

    installer: str
    runtime: str
    named: tuple[str, ...]
    """The packages that the agent's file names, with their versions."""
    versions: Mapping[str, str]
    """All packages, those that they depend on included."""
    proof: Any
    """Hashes of what was installed: another installation with the same proof is the same."""
    programs: Mapping[str, Path]
    """The programs of the named packages."""
    readable: tuple[Path, ...] = ()
    """Folders outside of the installation that it needs, such as Python's own."""


def environment() -> dict[str, str]:
    """The user's environment without API keys, and without what makes an installer install elsewhere."""
    return {
        name: value
        for name, value in os.environ.items()
        if name.upper() not in MISLEADING and not name.endswith("_API_KEY")
    }


def run(name: str, words: Sequence[str], folder: Path, say: Callable[[str], None]) -> None:
    """Runs an installer; kills it and all that it started when orvl is interrupted."""
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
                    status = process.wait(PROGRESS_SECONDS)
                    break
                say(f"{name} has been running for {time.monotonic() - began:.0f} s")
        except BaseException:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        if status:
            raise InstallerFailed(name, status, _end_of(output.fileno()))


def _end_of(fd: int) -> str:
    size = os.fstat(fd).st_size
    return os.pread(fd, MAX_OUTPUT, max(0, size - MAX_OUTPUT)).decode("utf-8", "replace")


def last_lines(text: str) -> list[str]:
    """The end of an installer's output, its lines cut to a readable length."""
    lines = [line.rstrip() for line in text.splitlines() if line.strip()]
    return [line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…" for line in lines[-MAX_LINES:]]


def first_line_of(*words: str) -> str:
    """The first line that a program prints about itself."""
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=True)
    return next(iter(done.stdout.splitlines()), "").strip()

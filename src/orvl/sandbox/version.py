"""What an agent's version command prints, wherever it is run."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class NoVersion:
    """Why an agent's version could not be had."""

    why: str


def printed_version(
    argv: Sequence[str], run: Callable[[Sequence[str]], subprocess.CompletedProcess[bytes]]
) -> str | NoVersion:
    """What a version command prints, wherever it is run."""
    asked = shlex.join(argv)
    try:
        done = run(argv)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return NoVersion(f"is not installed: '{argv[0]}' is not in PATH")
    except (OSError, subprocess.TimeoutExpired) as error:
        return NoVersion(f"cannot say its version: `{asked}` failed: {error}")
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()
    last = lines[-1].strip()[:200] if lines else "nothing"
    if done.returncode:
        return NoVersion(f"cannot say its version: `{asked}` ended with status {done.returncode} and said: {last}")
    return lines[0].strip()[:200] if lines else NoVersion(f"cannot say its version: `{asked}` said nothing")

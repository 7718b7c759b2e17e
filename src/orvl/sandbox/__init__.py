"""Where a run lives. One small interface: a job goes in, how it ended comes out, and nothing of it is alive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


@dataclass(frozen=True)
class Job:
    """A process to run, with its limits."""

    argv: Sequence[str]
    env: Mapping[str, str]
    cwd: Path
    output: Path
    seconds: float
    grace: float
    output_bytes: int
    kept_bytes: int
    stdin: Path | None = None


@dataclass(frozen=True)
class Stream:
    """What a process printed: the file that keeps it (None for nothing), and how much it was."""

    path: Path | None
    size: int
    left_out: int

    def read(self) -> bytes:
        """All that was kept; an agent may have put something else in the file's place."""
        if self.path is None or not self.path.is_file() or self.path.is_symlink():
            return b""
        return self.path.read_bytes()


@dataclass(frozen=True)
class Ended:
    """How a job ended. `cut` is None, `time`, `output` or `stopped`."""

    status: int | None
    cut: str | None
    seconds: float
    cpu_seconds: float
    stdout: Stream
    stderr: Stream
    alive: int = 0


class NotStarted(Exception):
    """The process could not be started: the program is not there, or the system refused."""

    def __init__(self, message: str, *, missing: bool) -> None:
        super().__init__(message)
        self.missing = missing


class Sandbox(Protocol):
    """Runs jobs, one at a time."""

    name: str

    async def run(self, job: Job) -> Ended: ...

    def stop(self) -> None:
        """Ends the job that is running, as its limit would."""

    async def close(self) -> None: ...

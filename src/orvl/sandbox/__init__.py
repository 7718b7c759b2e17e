"""Where a run lives. One small interface: a job goes in, how it ended comes out, and nothing of it is alive."""

from __future__ import annotations

import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from orvl.sandbox.workdir import RunFolders, View

Serve = Callable[[socket.socket], Awaitable[None]]
Doors = tuple[dict[int, Serve], dict[str, str]]
"""Ports with what answers there, and the environment that leads programs to them."""


@dataclass(frozen=True)
class Most:
    """How much a job may use: threads of all its processes, files that one of them has open, and bytes."""

    processes: int
    open_files: int
    file_size: int
    disk: int
    memory: int


@dataclass(frozen=True)
class Job:
    """A process to run in a run's folders, with its limits.

    `doors` are ports on the sandbox's own loopback, each with what answers there from outside; `readable` is what the
    process may read besides; `programs` are what it calls by name, and must be there. With `adds_only`, what lies in
    the folders already does not count for its limits.
    """

    argv: Sequence[str]
    env: Mapping[str, str]
    folders: RunFolders
    output: Path
    seconds: float
    grace: float
    output_bytes: int
    kept_bytes: int
    most: Most
    stdin: Path | None = None
    doors: Mapping[int, Serve] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()
    programs: tuple[str, ...] = ()
    adds_only: bool = False


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
    """How a job ended. `cut` is None, `stopped`, or the limit that it hit: `time`, `output` or a field of Most."""

    status: int | None
    cut: str | None
    seconds: float
    cpu_seconds: float
    stdout: Stream
    stderr: Stream
    alive: int = 0


class Sandbox(Protocol):
    """Runs jobs, one at a time."""

    name: str
    has_walls: bool

    def view(self, folders: RunFolders, /) -> View:
        """Where a run's folders are for a process inside."""

    async def run(self, job: Job) -> Ended: ...

    def stop(self) -> None:
        """Ends the job that is running, as its limit would, and lets no other begin."""

    def end_job(self) -> None:
        """Ends the job that is running, as its limit would."""

    async def close(self) -> None: ...

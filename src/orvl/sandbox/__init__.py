"""Where a run lives. One small interface: a job goes in, how it ended comes out, and nothing of it is left alive."""

from __future__ import annotations

import os
import socket
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from orvl.sandbox.version import NoVersion

AGENT, SUBJECT = "1000", "1001"
"""Users inside a sandbox: that of agents and checkers, and that of what a checker runs."""

if TYPE_CHECKING:
    from orvl.sandbox.config import SandboxConfig
    from orvl.sandbox.workdir import RunFolders, View
    from orvl.types import Agent

Serve = Callable[[socket.socket], Awaitable[None]]
"""Answers at a listening socket until it is cancelled."""
PortForwards = tuple[dict[int, Serve], dict[str, str]]
"""Ports with what answers there, and the environment that points programs to them."""


@dataclass(frozen=True)
class ResourceLimits:
    """How much a job may use: threads of all its processes, open files of each process, and bytes."""

    processes: int
    open_files: int
    file_size: int
    disk: int
    memory: int


@dataclass(frozen=True)
class Job:
    """A process to run in a run's folders, with its limits."""

    argv: Sequence[str]
    env: Mapping[str, str]
    folders: RunFolders
    output: Path
    """Standard output and error go to this path with `.out` and `.err` added."""
    seconds: float
    grace: float
    """Seconds between SIGTERM and SIGKILL."""
    output_bytes: int
    """The job is ended when it prints more."""
    kept_bytes: int
    """Of each stream, the beginning that is kept; a little of its end is kept besides."""
    limits: ResourceLimits
    stdin: Path | None = None
    ports: Mapping[int, Serve] = field(default_factory=dict)
    """Ports on the sandbox's own loopback, each with what answers there from outside."""
    readable: tuple[Path, ...] = ()
    """What it may read besides its folders and the system."""
    programs: tuple[str, ...] = ()
    """Programs that it calls by name; they must be installed."""
    adds_only: bool = False
    """Whether what the folders hold already does not count towards its limits."""
    read_only: Mapping[str, Path] = field(default_factory=dict)
    """Folders of the workspace that are shown read-only, and where each comes from."""
    at: Mapping[str, Path] = field(default_factory=dict)
    """Absolute paths at which folders are shown read-only, and where each comes from."""
    user: str = AGENT
    """The user's number inside."""


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

    def tail(self, size: int) -> bytes:
        """The last bytes of it."""
        if self.path is None or not self.path.is_file() or self.path.is_symlink():
            return b""
        with self.path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - size))
            return file.read(size)


@dataclass(frozen=True)
class ProcessResult:
    """How a job ended."""

    status: int | None
    """The exit status; a signal's number, negative; None if the process never began."""
    cut: str | None
    """None, `stopped`, or the limit that it hit: `time`, `output`, a field of ResourceLimits, or `disk_share`, its part
    of a disk that ran full."""
    seconds: float
    cpu_seconds: float
    stdout: Stream
    stderr: Stream
    cpu_pressure: float | None = None
    """The share of the time in which something on this machine waited for a processor."""
    alive: int = 0
    """Processes of the job that could not be killed."""
    memory: int = 0
    """The most bytes of memory that one of its processes has had."""


class Sandbox(Protocol):
    """Runs jobs, one at a time. tests/sandbox/test_contract.py holds for each."""

    name: str
    has_walls: bool
    """Whether a job sees only what it is given. Without walls it sees what the user sees."""
    has_own_programs: bool
    """Whether programs come from an image instead of this machine."""

    def view(self, folders: RunFolders, /) -> View:
        """Where a run's folders are for a process inside."""

    async def warm_up(self) -> None:
        """Makes what the first job would have to wait for; never while a job begins."""

    async def run(self, job: Job) -> ProcessResult:
        """Returns when no process of the job is left; raises NotStarted if it could not begin.

        That is never because of how a job before it left its folders.
        """

    def stop(self) -> None:
        """Ends the running job as its limit would, and lets no other begin."""

    def end_job(self) -> None:
        """Ends the running job as its limit would."""

    async def connect(self, port: int) -> socket.socket:
        """A connection to a port on the running job's loopback; raises OSError if nobody listens there."""

    async def close(self) -> None: ...


class Backend(Protocol):
    """A kind of sandbox: whether it works on this machine, and how one is made."""

    has_own_programs: bool = False
    """Whether programs come from an image instead of this machine."""

    def problem(self, image: str | None) -> str | None:
        """Why it does not work here, in one sentence with the command that fixes it; None if it works."""

    def problem_without_image(self) -> str | None:
        """The same as far as it does not depend on an image."""
        return self.problem(None)

    def open(self, config: SandboxConfig, lock_fd: int | None) -> Sandbox:
        """A sandbox, whose guard process keeps `lock_fd` open for as long as something may run."""

    def agent_version(self, _agent: Agent, image: str) -> str | NoVersion:
        """An agent's version in an image; asked only where `has_own_programs`."""
        return NoVersion(f"cannot say its version: this sandbox has no image {image}")

    def sweep(self, _is_alive: Callable[[Path], bool]) -> None:
        """Removes what orvl processes that are gone have left: those whose folder is not alive."""
        return

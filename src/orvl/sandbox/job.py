"""Jobs for the sandbox: one turn of an agent, or a shell command of an eval's, with a run's limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.sandbox import Job, ProcessResult, ResourceLimits
from orvl.types import MEBI, Command

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from orvl.project.settings import Limits
    from orvl.sandbox.workdir import RunFolders, View

SAID = 4096
COMPLAINTS = {
    "too many open files": "open_files",
    "file too large": "file_size",
    "file size limit exceeded": "file_size",
    "resource temporarily unavailable": "processes",
    "can't start new thread": "processes",
}


def resource_limits(limits: Limits) -> ResourceLimits:
    """What the kernel and the guard hold a job to."""
    return ResourceLimits(
        processes=int(limits.processes),
        open_files=int(limits.open_files),
        file_size=int(limits.file_size * MEBI),
        disk=int(limits.disk * MEBI),
        memory=int(limits.memory * MEBI),
    )


def shell_job(
    command: str, env: Mapping[str, str], output: Path, seconds: float, limits: Limits, folders: RunFolders
) -> Job:
    """A shell command of an eval's, run in a run's folders; a MiB of its output is kept."""
    return Job(
        argv=["/bin/sh", "-c", command],
        env=env,
        folders=folders,
        output=output,
        seconds=seconds,
        grace=limits.grace,
        output_bytes=int(limits.output * MEBI),
        kept_bytes=MEBI,
        limits=resource_limits(limits),
    )


def turn_job(command: Command, folders: RunFolders, view: View, turn: int, seconds: float, limits: Limits) -> Job:
    for name, content in command.files.items():
        folders.put(name, _bytes(content))
    stdin = None
    if command.stdin is not None:
        stdin = folders.logs / f"{turn}.in"
        stdin.write_bytes(_bytes(command.stdin))
    return Job(
        argv=command.argv,
        env=view.environment() | dict(command.env),
        folders=folders,
        output=folders.logs / str(turn),
        seconds=seconds,
        grace=limits.grace,
        output_bytes=int(limits.output * MEBI),
        kept_bytes=int(limits.kept_output * MEBI),
        limits=resource_limits(limits),
        stdin=stdin,
    )


def _bytes(content: str | bytes) -> bytes:
    return content if isinstance(content, bytes) else content.encode("utf-8", "surrogateescape")


def hit(cut: str, limits: Limits) -> str:
    """How a limit was hit, with its value and its name."""
    what = {
        "output": "printed more than its limit of {:g} MiB",
        "processes": "reached its limit of {:g} processes and threads",
        "open_files": "reached its limit of {:g} open files",
        "file_size": "wrote a file up to its limit of {:g} MiB",
        "disk": "filled more of the disk than its limit of {:g} MiB",
        "memory": "took more memory than its limit of {:g} MiB",
        "disk_share": "filled the disk beyond its share of what was free, below its limit of {:g} MiB",
    }[cut]
    name = "disk" if cut == "disk_share" else cut
    return f"{what.format(getattr(limits, name))} (limits.{name})"


def complaint(ended: ProcessResult, limits: Limits) -> str:
    """A limit that only the process itself saw: it got an error, said so, and gave up."""
    said = (ended.stdout.tail(SAID) + ended.stderr.tail(SAID)).decode("utf-8", "replace").lower()
    for words, name in COMPLAINTS.items():
        if words in said:
            unit = " MiB" if name == "file_size" else ""
            return f", after '{words}': its limit is {getattr(limits, name):g}{unit} (limits.{name})"
    return ""

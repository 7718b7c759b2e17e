"""Every exception of orvl.

OrvlError               a sentence for the user, and the exit status that goes with it
├── UserError           the call or the project is wrong (2)
│   └── FileError       … at a place in a user's file
├── StoreError          the store cannot be used (2)
│   └── StoreBusy       … because another process writes to it
├── DiskError           the disk is full or cannot be written (1)
├── InstallError        an agent could not be installed
├── ChildFailed         a process beside orvl's own was late or died
├── SetupFailed         an eval's setup failed: none of its runs can begin
├── Missed              a score is missing for now: the same command makes it
└── BuilderFailed       a judge built no project or no rules

The others never reach a user as they are: the part that raises one and the part that catches it agree on it.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import os


class OrvlError(Exception):
    """A sentence for the user; never shown with a traceback."""

    exit_status = 1


class UserError(OrvlError):
    """The call or the project is wrong."""

    exit_status = 2


class FileError(UserError):
    """A mistake in a user's file, with its place."""

    def __init__(self, path: str | os.PathLike[str], line: int | None, message: str) -> None:
        place = f"{path}:{line}" if line else f"{path}"
        super().__init__(f"{place}: {message}")


class StoreError(OrvlError):
    """The store cannot be opened or trusted."""

    exit_status = 2


class StoreBusy(StoreError):
    """Another process writes to the store; `waiting` is for whoever waits for it."""

    def __init__(self, folder: str | os.PathLike[str], owner: str) -> None:
        super().__init__(
            f"Another orvl (process {owner}) is writing to {folder}. Wait for it, or use another store: --store DIR"
        )
        self.owner = owner
        self.waiting = (
            f"Waiting for another orvl (process {owner}), which is writing to {folder}; then this command does what is "
            "left. Ctrl-C stops waiting, --store DIR uses another store."
        )


class DiskError(OrvlError):
    """The disk is full or cannot be written while runs are under way."""


class NotStarted(Exception):
    """The process could not be started: the program is not there, or the system refused."""

    def __init__(self, message: str, *, missing: bool) -> None:
        super().__init__(message)
        self.missing = missing


class DiskWasFull(NotStarted):
    """The process ran on a disk that was full, and not by itself; `result` says how it ended."""

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message, missing=False)
        self.result = result


class ProxyRefusal(Exception):
    """A status and a sentence, which the proxy itself answers."""


class WaitTooLong(Exception):
    """A model wants more rest than a call may wait."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"{seconds:.0f} s")
        self.seconds = seconds


class CallRefused(Exception):
    """A call that is not passed on, with the sentence for the agent."""


class MalformedRequest(Exception):
    """A request of an agent that is not passed on: the status and the sentence that it gets."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class InvalidTrajectory(Exception):
    """A value that its place in the format does not take."""


class InstallError(OrvlError):
    """An agent could not be installed."""


class InstallerFailed(Exception):
    """An installer exited with a status other than 0."""

    def __init__(self, name: str, status: int, output: str) -> None:
        super().__init__(f"{name} exited with status {status}")
        self.output = output


class ChildFailed(OrvlError):
    """A process beside orvl's own could not be started, was late or died."""


class FunctionTimeout(Exception):
    """A user's function took too long."""


class Missed(OrvlError):
    """What a score needs could not be had now; the same command, given again, asks for it."""


class FunctionRaised(Exception):
    """A user's function raised something; the sentence says what and where."""


class InvalidAppConfig(ValueError):
    """An app or a step that cannot be meant, in a sentence."""


class LabelTakenBack(Exception):
    """The person wants the question before."""


class LabelSkipped(Exception):
    """The person wants the next run."""


class LabellingEnded(Exception):
    """The person has had enough."""


class LinterMissing(Exception):
    """A tool cannot be run here: it, or what it needs, is not installed."""


class LinterFailed(Exception):
    """A tool did not get to look at files: its configuration is broken, or it is."""


class Interrupted(Exception):
    """The checks were cut short because orvl is being ended."""


class ControlUnavailable(Exception):
    """A control that an eval cannot have as it is, with what to add."""


class InvalidCommand(Exception):
    """What `command` returned cannot be run."""


class SetupFailed(OrvlError):
    """An eval's `setup` did not end well: none of its runs can begin."""


class StartDamaged(Exception):
    """What an eval's runs start from is not as it was prepared; says what is wrong."""


class NoAnswer(Exception):
    """Why there is no answer."""

    def __init__(self, reason: str, words: str = "", *, is_missed: bool = False) -> None:
        super().__init__(reason)
        self.words = words
        self.is_missed = is_missed
        """Whether its provider failed or it was not asked: it may answer when it is asked again."""


class BudgetSpent(Exception):
    """No money is left to ask judges with: nothing is said about the work."""


class Abstention(Exception):
    """A judge's abstention, where a number was wanted of it."""


class UnusableAnswer(Exception):
    """An answer that is none, with the reason."""


class BuilderFailed(OrvlError):
    """A judge that gave no project or no rules."""


DISK_IS_BROKEN = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO)
"""What no run can go on after, whoever runs."""
DISK_IS_FULL = (errno.ENOSPC, errno.EDQUOT)
"""What may pass, when the run that filled it is ended."""
MACHINE_IS_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EAGAIN, errno.ENOBUFS)
"""What passes, and is no run's own doing."""


def is_agents_doing(error: OSError) -> bool:
    """Whether an error over what an agent left is due to how it left it: modes, owners, links, names."""
    return error.errno not in (*DISK_IS_BROKEN, *MACHINE_IS_SHORT)


def disk_sentence(error: OSError) -> str:
    """An operating system error as the end of a sentence."""
    place = f" at {error.filename}" if error.filename else ""
    return f"{(error.strerror or str(error)).lower()}{place}"


class RequestRefused(Exception):
    """A check asked for something that makes no sense; it gets the sentence."""


class TaskRefused(Exception):
    """A task of another tool that cannot become an eval here, or an eval that cannot become such a task: why."""


class InvalidYaml(ValueError):
    """What is wrong, as the end of a sentence, and in which line, if that is known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.problem, self.line = problem, line


class UserFailed(Exception):
    """The model that answers agents' questions could not be asked: nothing can be said about the run."""

    def __init__(self, reason: str, *, retry: bool) -> None:
        super().__init__(reason)
        self.retry = retry


class InvalidPrompt(ValueError):
    """What is wrong with a prompt, and the place in its text."""

    def __init__(self, sentence: str, place: int) -> None:
        super().__init__(sentence)
        self.place = place

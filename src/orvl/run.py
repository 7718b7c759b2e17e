"""One run: a fresh workspace, the conversation turn by turn, limits, and the outcome."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, field, replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.command import CommandMistake, Folder, Word, folder, to_command
from orvl.errors import FileError
from orvl.project.names import did_you_mean
from orvl.project.python_file import TimeLimit, UserFunction, UserFunctionRaised
from orvl.sandbox import Doors, Ended, Job, Most, NotStarted, Sandbox
from orvl.types import MEBI, Command, Outcome, PlannedRun, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.project.settings import Limits
    from orvl.workdir import RunFolders, View

SAID = 4096
COMPLAINTS = {
    "too many open files": "open_files",
    "file too large": "file_size",
    "file size limit exceeded": "file_size",
    "resource temporarily unavailable": "processes",
    "can't start new thread": "processes",
}
NO_DOORS: Doors = ({}, {})
TOLD = ("session", "steps", "usage", "error", "provider_error")
COUNTS = ("input_tokens", "cached_tokens", "output_tokens", "tool_calls")


@dataclass
class TurnEnd:
    """A turn as it ended, before it is captured."""

    ended: Ended
    session: str | None = None


@dataclass
class Conversation:
    """What happened in a run, while it happens."""

    started: float = field(default_factory=time.time)
    outcome: Outcome = "finished"
    reason: str | None = None
    retry: bool = False
    missing_program: bool = False
    stopped: bool = False
    turns: list[TurnEnd] = field(default_factory=list)
    steps: list[Mapping[str, Any]] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)

    def end(self, outcome: Outcome, reason: str, *, retry: bool = False) -> None:
        self.outcome, self.reason, self.retry = outcome, reason, retry


def limits_of(planned: PlannedRun, limits: Limits) -> Limits:
    """The project's limits with the eval's own over them."""
    own: Mapping[str, Any] = planned.cell.eval.limits
    return replace(limits, **own)


async def converse(
    planned: PlannedRun, folders: RunFolders, sandbox: Sandbox, limits: Limits, doors: Doors = NO_DOORS
) -> Conversation:
    """Runs all turns in one session of the agent; stops at the first that does not end well."""
    talk = Conversation()
    if planned.cell.provider == "none":
        talk.usage = Usage(0.0, 0, 0, 0, 0, 0.0, "none")
    session: str | None = None
    readable = _readable(planned)
    for turn, prompt in enumerate(planned.cell.eval.prompts, 1):
        left = limits.run - talk.usage.seconds
        if left <= 0:
            talk.end("failed", f"the run passed its limit of {limits.run:g} s (limits.run)")
            break
        try:
            folders.mend()
            view = sandbox.view(folders)
            command = _command(planned, folders, view, prompt, session, turn)
            command = replace(command, env=doors[1] | dict(command.env))
            job = _job(command, folders, view, turn, min(limits.turn, left), limits)
            readable |= _named(command, prompt) if turn == 1 else set()
            ended = await sandbox.run(replace(job, readable=tuple(readable), doors=doors[0]))
        except NotStarted as error:
            talk.end("errored", str(error), retry=not error.missing)
            talk.missing_program = error.missing
            break
        except FileError as error:
            talk.end("errored", str(error))
            break
        talk.usage = replace(talk.usage, seconds=talk.usage.seconds + ended.seconds)
        talk.turns.append(TurnEnd(ended, session))
        _judge_end(talk, ended, turn, limits, left)
        session = await _read(planned, folders, talk, ended, turn, limits) or session
        talk.turns[-1].session = session
        if talk.outcome != "finished" or talk.stopped:
            break
    return talk


def _controls(planned: PlannedRun) -> Path | None:
    return planned.cell.eval.part("controls") if planned.cell.agent.control else None


def _readable(planned: PlannedRun) -> set[Path]:
    """What an agent may read besides the system and its own installation."""
    controls = _controls(planned)
    return {*planned.cell.agent.paths, *([controls] if controls else ())}


def _named(command: Command, prompt: str) -> set[Path]:
    """The files that a command names by absolute path, as a script of the user's own; a prompt names none.

    Asked in the first turn alone: later ones have a session in them, which the agent itself tells.
    """
    words = [word for word in command.argv[1:] if word.startswith("/") and word != prompt]
    return {Path(word) for word in words if os.path.isfile(word)}


def _command(
    planned: PlannedRun, folders: RunFolders, view: View, prompt: str, session: str | None, turn: int
) -> Command:
    cell = planned.cell
    function = cell.agent.command
    assert isinstance(function, UserFunction)
    controls = _controls(planned)
    try:
        returned = function(
            provider=Word(cell.provider),
            model=Word(cell.model_id),
            prompt=Word(prompt),
            session=None if session is None else Word(session),
            workspace=folder(folders.workspace, view.workspace),
            endpoint=None,
            turn=turn,
            controls=Folder(controls) if controls else None,
        )
        return to_command(returned, prompt)
    except CommandMistake as error:
        raise FileError(function.path, function.line, f"{error}.") from error
    except (Exception, SystemExit) as error:
        raise function.mistake(error) from error


def most_of(limits: Limits) -> Most:
    """What the kernel and the keeper hold a process to."""
    return Most(
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
        most=most_of(limits),
    )


def _job(command: Command, folders: RunFolders, view: View, turn: int, seconds: float, limits: Limits) -> Job:
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
        most=most_of(limits),
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
    }[cut]
    return f"{what.format(getattr(limits, cut))} (limits.{cut})"


def _complaint(ended: Ended, limits: Limits) -> str:
    """A limit that only the process itself saw: it got an error, said so, and gave up."""
    said = (ended.stdout.read()[-SAID:] + ended.stderr.read()[-SAID:]).decode("utf-8", "replace").lower()
    for words, name in COMPLAINTS.items():
        if words in said:
            unit = " MiB" if name == "file_size" else ""
            return f", after '{words}': its limit is {getattr(limits, name):g}{unit} (limits.{name})"
    return ""


def _judge_end(talk: Conversation, ended: Ended, turn: int, limits: Limits, left: float) -> None:
    """The outcome as far as the process alone tells it."""
    if ended.alive:
        talk.end("errored", f"{ended.alive} processes of turn {turn} could not be killed")
    elif ended.cut == "stopped":
        talk.stopped = True
    elif ended.cut == "time" and left < limits.turn:
        talk.end("failed", f"turn {turn} passed the run's limit of {limits.run:g} s (limits.run)")
    elif ended.cut == "time":
        talk.end("failed", f"turn {turn} passed its limit of {limits.turn:g} s (limits.turn)")
    elif ended.cut:
        talk.end("failed", f"turn {turn} {hit(ended.cut, limits)}")
    elif ended.status is not None and ended.status < 0:
        talk.end("failed", f"turn {turn} was ended by signal {-ended.status}")
    elif ended.status:
        as_after = f", as after signal {ended.status - 128}" if 128 < ended.status < 192 else ""
        talk.end("failed", f"turn {turn} ended with status {ended.status}{as_after}{_complaint(ended, limits)}")


async def _read(
    planned: PlannedRun, folders: RunFolders, talk: Conversation, ended: Ended, turn: int, limits: Limits
) -> str | None:
    """Lets the agent's own `read` tell session, steps, usage and errors from the turn's output."""
    function = planned.cell.agent.read
    if function is None or talk.stopped:
        return None
    assert isinstance(function, UserFunction)
    try:
        told = await function.call(
            limits.score,
            output=ended.stdout.read().decode("utf-8", "replace"),
            stderr=ended.stderr.read().decode("utf-8", "replace"),
            status=ended.status,
            turn=turn,
            workspace=Path(folders.workspace),
            home=Path(folders.home),
        )
        return _take(talk, told or {}, turn)
    except TimeLimit:
        talk.end("errored", f"{function.path}: read took longer than {limits.score:g} s (limits.score)")
    except UserFunctionRaised as error:
        talk.end("errored", str(error))
    except (TypeError, ValueError) as error:
        talk.end("errored", str(function.mistake(error)))
    return None


def _take(talk: Conversation, told: Any, turn: int) -> str | None:
    if not isinstance(told, dict):
        raise TypeError(f"read must return a dict, and returned {told!r}")
    _known("read", told, TOLD)
    steps, usage = told.get("steps") or [], told.get("usage") or {}
    if not isinstance(steps, list | tuple) or not all(isinstance(step, dict) for step in steps):
        raise TypeError("'steps' must be a list of dicts")
    if not isinstance(usage, dict):
        raise TypeError(f"'usage' must be a dict, and is {usage!r}")
    _known("usage", usage, (*COUNTS, "cost_usd"))
    talk.steps += steps
    talk.usage = _add(talk.usage, usage, turn)
    if error := told.get("provider_error"):
        talk.end("errored", f"turn {turn}: {error}", retry=True)
    elif (error := told.get("error")) and talk.outcome == "finished":
        talk.end("failed", f"turn {turn}: {error}")
    session = told.get("session")
    return str(session) if session else None


def _known(what: str, told: Mapping[str, Any], names: Sequence[str]) -> None:
    if unknown := [name for name in told if name not in names]:
        raise ValueError(f"{what} tells '{unknown[0]}', which means nothing. {did_you_mean(str(unknown[0]), names)}")


def _add(usage: Usage, told: Mapping[str, Any], turn: int) -> Usage:
    """Adds a turn's own figures; a sum that misses a turn is unknown, not smaller."""
    numbers: dict[str, Any] = {}
    for name in (*COUNTS, "cost_usd"):
        before, value = getattr(usage, name), told.get(name)
        if value is None:
            numbers[name] = before if usage.cost_source == "none" else None
            continue
        if not isinstance(value, int | float) or not isfinite(value) or value < 0:
            raise ValueError(f"usage '{name}' is {value!r}; it must be a number, 0 or more")
        value = value if name == "cost_usd" else int(value)
        numbers[name] = value if turn == 1 else None if before is None else before + value
    if told.get("cost_usd") is not None:
        numbers["cost_source"] = "agent"
    return replace(usage, **numbers)

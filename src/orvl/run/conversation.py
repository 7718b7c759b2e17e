"""One run: a fresh workspace, the conversation turn by turn, limits, and the outcome."""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError, FunctionRaised, FunctionTimeout, InvalidCommand, NotStarted
from orvl.project.endpoints import continues
from orvl.project.python_file import UserFunction
from orvl.run import acp
from orvl.run.command import Folder, Word, arguments_of, folder, laid_over, to_command, with_arguments
from orvl.run.turn_report import Told, add, told_by
from orvl.sandbox import Ended, Job, Sandbox, Serve
from orvl.sandbox.job import complaint, hit, turn_job
from orvl.types import AgentEndpoint, Command, Outcome, PlannedRun, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.gateway.account import Account
    from orvl.gateway.failures import CallFailure
    from orvl.project.settings import Limits
    from orvl.sandbox.workdir import RunFolders, View

LAST_WORDS = 2.0


@dataclass(frozen=True)
class Ways:
    """How a run reaches what lies outside its folders: doors, models, and the agent's own installation."""

    doors: Mapping[int, Serve] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    endpoint: AgentEndpoint | None = None
    programs: Path | None = None
    readable: tuple[Path, ...] = ()


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
    trouble: CallFailure | None = None
    turns: list[TurnEnd] = field(default_factory=list)
    steps: list[Mapping[str, Any]] = field(default_factory=list)
    said: list[tuple[str, str]] = field(default_factory=list)
    """Prompts, each with the agent's answer."""
    usage: Usage = field(default_factory=Usage)
    told: Usage | None = None

    def end(self, outcome: Outcome, reason: str, *, retry: bool = False) -> None:
        self.outcome, self.reason, self.retry = outcome, reason, retry


def limits_of(planned: PlannedRun, limits: Limits) -> Limits:
    """The project's limits with the eval's own over them."""
    own: Mapping[str, Any] = planned.cell.eval.limits
    return replace(limits, **own) if own else limits


async def converse(
    planned: PlannedRun, folders: RunFolders, sandbox: Sandbox, limits: Limits, ways: Ways
) -> Conversation:
    """Runs all turns in one session of the agent; stops at the first that does not end well."""
    talk = Conversation()
    if planned.cell.provider == "none":
        talk.usage = Usage(0.0, 0, 0, 0, 0, 0.0, "none")
    session: str | None = None
    readable = _readable(planned, ways)
    for turn, prompt in enumerate(planned.cell.eval.prompts, 1):
        left = limits.run - talk.usage.seconds
        if left <= 0:
            talk.end("failed", f"the run passed its limit of {limits.run:g} s (limits.run)")
            break
        try:
            folders.mend()
            view = sandbox.view(folders)
            said = _in_full(planned, talk, prompt, ways)
            command = _command(planned, folders, view, said, session, turn, ways)
            readable |= _named(command, said) if turn == 1 else set()
            programs: tuple[str, ...] = ()
            if planned.cell.agent.speaks_acp:
                programs = (command.argv[0],)
                command = acp.wrap(command, prompt, session, str(view.workspace), planned.cell.model_id)
            job = turn_job(command, folders, _with_programs(view, ways), turn, min(limits.turn, left), limits)
            job = replace(job, readable=tuple(readable), programs=programs, doors=ways.doors)
            ended = await _run(sandbox, job, turn, ways.account)
        except NotStarted as error:
            talk.end("errored", str(error), retry=not error.missing)
            talk.missing_program = error.missing
            break
        except FileError as error:
            talk.end("errored", str(error))
            break
        talk.usage = replace(talk.usage, seconds=talk.usage.seconds + ended.seconds)
        talk.turns.append(TurnEnd(ended, session))
        doomed = ways.account is not None and ways.account.aborted.is_set()
        _judge_end(talk, ended, turn, limits, left, doomed=doomed)
        told = await _read(planned, folders, talk, ended, turn, limits) or Told()
        _take(talk, told, turn, prompt, ways.account)
        if ways.account is not None:
            _judge_calls(talk, ended, turn, ways.account, min(limits.turn, left))
        session = told.session or session
        talk.turns[-1].session = session
        if talk.outcome != "finished" or talk.stopped:
            break
    if ways.account is not None:
        talk.usage = ways.account.usage(max(0.0, talk.usage.seconds - ways.account.seconds_held))
    return talk


async def _run(sandbox: Sandbox, job: Job, turn: int, account: Account | None) -> Ended:
    """Runs a turn; one whose calls of models are over, for whatever reason, gets a moment for its last words."""
    if account is None:
        return await sandbox.run(job)
    account.begin_turn(turn)

    async def end_when_doomed() -> None:
        await account.aborted.wait()
        await asyncio.sleep(LAST_WORDS)
        sandbox.end_job()

    watching = asyncio.ensure_future(end_when_doomed())
    try:
        return await sandbox.run(job)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


# -- the command


def _controls(planned: PlannedRun) -> Path | None:
    return planned.cell.eval.part("controls") if planned.cell.agent.control else None


def _readable(planned: PlannedRun, ways: Ways) -> set[Path]:
    """What an agent may read besides the system and its own installation."""
    agent, controls = planned.cell.agent, _controls(planned)
    drivers = acp.readable() if agent.speaks_acp else ()
    return {*agent.paths, *ways.readable, *drivers, *([controls] if controls else ())}


def _named(command: Command, prompt: str) -> set[Path]:
    """The files that a command names by absolute path, as a script of the user's own; a prompt names none.

    Asked in the first turn alone: later ones have a session in them, which the agent itself tells.
    """
    words = [word for word in command.argv[1:] if word.startswith("/") and word != prompt]
    return {Path(word) for word in words if os.path.isfile(word)}


def _with_programs(view: View, ways: Ways) -> View:
    """The agent's own installation comes first in PATH."""
    return replace(view, path=f"{ways.programs}:{view.path or os.defpath}") if ways.programs else view


def _from_installation(command: Command, ways: Ways) -> Command:
    """The command with its program from the agent's own installation, if that has it."""
    own = ways.programs / command.argv[0] if ways.programs and "/" not in command.argv[0] else None
    return replace(command, argv=[str(own), *command.argv[1:]]) if own and own.exists() else command


def _in_full(planned: PlannedRun, talk: Conversation, prompt: str, ways: Ways) -> str:
    """A prompt; for an agent that keeps no session, with the conversation so far before it."""
    if not talk.said or ways.account is None or continues(planned.cell.agent):
        return prompt
    before = "\n\n".join(f"User: {asked}\n\nYou: {answered}" for asked, answered in talk.said)
    return (
        "This goes on with a conversation that you had before; the files are as you left them. "
        f"What was said so far:\n\n{before}\n\nThe user's next message, which is to be answered now:\n\n{prompt}"
    )


def _command(
    planned: PlannedRun, folders: RunFolders, view: View, prompt: str, session: str | None, turn: int, ways: Ways
) -> Command:
    cell = planned.cell
    function = cell.agent.command
    assert isinstance(function, UserFunction)
    controls = _controls(planned)
    arguments = arguments_of(cell.agent.overlays)
    try:
        returned = function(
            provider=Word(cell.provider),
            model=Word(cell.model_id),
            prompt=Word(prompt),
            session=None if session is None else Word(session),
            workspace=folder(folders.workspace, view.workspace) if function.asks_for("workspace") else None,
            endpoint=ways.endpoint,
            turn=turn,
            controls=Folder(controls) if controls else None,
            arguments=arguments,
        )
        command = _from_installation(to_command(returned, prompt), ways)
    except InvalidCommand as error:
        raise FileError(function.path, function.line, f"{error}.") from error
    except (Exception, SystemExit) as error:
        raise function.mistake(error) from error
    if arguments and "arguments" not in inspect.signature(function.function).parameters:
        command = replace(command, argv=with_arguments(command.argv, arguments, prompt))
    command = laid_over(command, cell.agent.overlays, ways.endpoint, ways.env)
    return replace(command, env={**ways.env, **command.env})


# -- how a turn ended


def _judge_end(talk: Conversation, ended: Ended, turn: int, limits: Limits, left: float, *, doomed: bool) -> None:
    """The outcome as far as the process alone tells it."""
    if ended.alive:
        talk.end("errored", f"{ended.alive} processes of turn {turn} could not be killed")
    elif ended.cut == "stopped":
        talk.stopped = not doomed
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
        talk.end("failed", f"turn {turn} ended with status {ended.status}{as_after}{complaint(ended, limits)}")


async def _read(
    planned: PlannedRun, folders: RunFolders, talk: Conversation, ended: Ended, turn: int, limits: Limits
) -> Told | None:
    """Lets the agent's own `read` tell session, steps, usage and errors from the turn's output."""
    agent = planned.cell.agent
    function = agent.read
    if talk.stopped or (function is None and not agent.speaks_acp):
        return None
    output, stderr = (stream.read().decode("utf-8", "replace") for stream in (ended.stdout, ended.stderr))
    if function is None:
        return told_by(acp.read(output, stderr, ended.status))
    assert isinstance(function, UserFunction)
    try:
        returned = await function.call(
            limits.score,
            output=output,
            stderr=stderr,
            status=ended.status,
            turn=turn,
            workspace=Path(folders.workspace),
            home=Path(folders.home),
        )
        return told_by(returned or {})
    except FunctionTimeout:
        talk.end("errored", f"{function.path}: read took longer than {limits.score:g} s (limits.score)")
    except FunctionRaised as error:
        talk.end("errored", str(error))
    except (TypeError, ValueError) as error:
        talk.end("errored", str(function.mistake(error)))
    return None


def _take(talk: Conversation, told: Told, turn: int, prompt: str, account: Account | None) -> None:
    """Adds what a turn told; with a gateway its figures are only kept beside the gateway's own."""
    seen = account.take_steps() if account else ()
    steps = told.steps or seen
    if account or steps:
        talk.steps += [{"source": "user", "message": prompt}, *steps]
    talk.said.append((prompt, _last_message(steps)))
    if account is None:
        talk.usage = add(talk.usage, told.usage, turn)
    elif told.usage:
        talk.told = add(talk.told or Usage(), told.usage, turn)
    if told.provider_error and account is None:
        talk.end("errored", f"turn {turn}: {told.provider_error}", retry=True)
    elif (error := told.error or told.provider_error) and talk.outcome != "errored":
        talk.end("failed", f"turn {turn}: {error}")


def _last_message(steps: Sequence[Mapping[str, Any]]) -> str:
    said = (step.get("message") for step in reversed(steps) if step.get("source") == "agent")
    return next((text for text in said if isinstance(text, str) and text.strip()), "(nothing)")


def _judge_calls(talk: Conversation, ended: Ended, turn: int, account: Account, seconds: float) -> None:
    """The outcome as the gateway tells it, which knows better than an exit status whose failure it was."""
    if ended.alive or (talk.outcome == "errored" and not account.aborted.is_set()):
        return
    name = account.provider.name
    is_stuck = ended.cut != "time" and (talk.outcome == "failed" or not account.was_answered(turn))
    trouble = account.failure or account.last_failure or (account.abandoned if is_stuck else None)
    if account.over_budget:
        talk.end("errored", f"turn {turn} was stopped: {account.limit_hit}")
    elif account.limit_hit is not None:
        talk.end("failed", f"turn {turn} was stopped: {account.limit_hit}")
    elif talk.stopped:
        return
    elif trouble is not None:
        talk.trouble = trouble
        talk.end("errored", f"turn {turn}: {name}: {trouble.message}", retry=trouble.retry_call or trouble.retry_run)
    elif ended.cut == "time" and account.silence > seconds / (2 if account.was_answered(turn) else 4):
        talk.end("errored", f"turn {turn}: {name} said nothing for {account.silence:.0f} s", retry=True)
    elif talk.outcome == "failed" and not account.calls:
        talk.reason = f"{talk.reason}; it made no call of a model"
    elif talk.outcome == "failed" and account.refusal:
        talk.reason = f"{talk.reason}; {name} had refused its last call: {account.refusal}"

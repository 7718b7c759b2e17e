"""One run: the conversation turn by turn, within its limits, and its outcome.

An outcome is decided three times a turn, each with more knowledge than before, and the last word counts:
`_judge_process` knows how the process ended, `_take` what the agent says of it, `_judge_calls` what the gateway saw.
An exit status alone says little: agents exit with 0 after a provider's outage, and with 1 after work well done.
What is the provider's, the machine's or orvl's own fault is `errored`, which is never a score; the rest is `failed`.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import time
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl.errors import (
    ChildFailed,
    FileError,
    FunctionRaised,
    FunctionTimeout,
    InvalidCommand,
    NotStarted,
    UserFailed,
    disk_sentence,
    is_agents_doing,
)
from orvl.gateway.failures import CallFailure
from orvl.install import AgentInstallation, serving
from orvl.project.control_scripts import SCRIPT, is_scripted, script_folder
from orvl.project.endpoints import continues
from orvl.project.places import SOLUTION, expanded
from orvl.project.python_file import UserFunction
from orvl.run import acp
from orvl.run.agent_output import TurnReport, add_usage, parse_turn
from orvl.run.command import CommandPath, Word, arguments_of, folder, laid_over, to_command, with_arguments
from orvl.run.controls import lay_control
from orvl.run.last_words import last_words
from orvl.run.paste import as_pasted
from orvl.run.project_files import ProjectFiles
from orvl.run.script import Script
from orvl.sandbox import Job, ProcessResult, Sandbox, Serve
from orvl.sandbox.backends import is_trusted
from orvl.sandbox.job import complaint, hit, turn_job
from orvl.types import Agent, AgentEndpoint, Command, Eval, Outcome, PlannedRun, Usage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Mapping, Sequence

    from orvl.gateway.account import Account
    from orvl.project.settings import Limits
    from orvl.run.message import Message
    from orvl.run.user import UserChoice
    from orvl.sandbox.workdir import RunFolders, View
    from orvl.types import CheckResult, EvalUser, UserPart

LAST_WORDS = 2.0
NOTHING = "(nothing)"
REPLY = 1 << 16
"""Bytes of what an agent prints that are taken for its reply, where its file does not say what that is."""
OnTurn = Callable[[int, Callable[[], float], "Account | None"], None]
"""Takes a turn's number, what says for how many seconds nothing has come of it, and its calls of models."""
MOST_REPEATED = 24_000
"""Characters of an agent's earlier answers that it is told again; each may be four bytes of an argument."""


async def _nowhere(*_: object) -> Any:
    raise RuntimeError("this conversation has no store and no sandbox for checks")


@dataclass(frozen=True)
class RunAccess:
    """What a run may reach outside its folders: ports, models, and the agent's own installation."""

    ports: Mapping[int, Serve] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    account: Account | None = None
    endpoint: AgentEndpoint | None = None
    programs: Path | None = None
    readable: tuple[Path, ...] = ()
    project_files: ProjectFiles = field(default_factory=ProjectFiles)
    serving: Callable[[str], AgentInstallation | None] = serving
    """Finds a program that was installed for another agent."""
    redact: Callable[[str], str] = str
    """Takes the keys of this run out of a text."""
    on_turn: OnTurn = lambda *_: None
    """Hears that a turn begins."""
    attempt: int = 0
    """How many attempts at this run were made before."""
    attempts: int = 1
    """How many there may be."""
    snapshot: Callable[[], Awaitable[str]] = _nowhere
    """Stores the workspace as it is between two turns, and gives its key."""
    checks_after: Callable[[int, str, Collection[str]], Awaitable[Sequence[CheckResult]]] = _nowhere
    """Runs some of the eval's checks on what was stored after a turn."""
    printed: Callable[[str, str], Awaitable[str]] = _nowhere
    """What a command prints in a copy of what was stored."""
    ask_user: Callable[[EvalUser, str], Awaitable[UserChoice]] = _nowhere
    """What the user answers to a reply of the agent."""

    @property
    def is_last(self) -> bool:
        return self.attempt + 1 >= self.attempts


@dataclass
class TurnEnd:
    """A turn, or a part of it between two answers, as it ended, before it is captured."""

    result: ProcessResult
    session: str | None = None
    tree: str | None = None
    """The workspace after it, where something is checked there."""
    of: int = 0
    """The turn of the eval."""
    reply: str = ""
    """What the agent said last."""
    asked: str = ""
    """The end of it, where the user answered it."""


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
    """What counts: the gateway's figures where the run goes through it, else the agent's own."""
    reported_usage: Usage | None = None
    """The agent's own figures, where the gateway has better ones."""
    prompts: tuple[str, ...] = ()
    """What the agent is told, where that is not what the eval says to all."""
    checked: list[CheckResult] = field(default_factory=list)
    """Of checks that had to be run between two turns."""

    user: UserPart | None = None
    """What the user had to say beside the eval's prompts."""

    @property
    def is_over(self) -> bool:
        """Whether the last turn has not ended well, or everything is being stopped."""
        return self.outcome != "finished" or self.stopped

    def end(self, outcome: Outcome, reason: str, *, retry: bool = False) -> None:
        self.outcome, self.reason, self.retry = outcome, reason, retry


def limits_of(planned: PlannedRun, limits: Limits) -> Limits:
    """The project's limits with the eval's own over them."""
    own: Mapping[str, Any] = planned.cell.eval.limits
    return replace(limits, **own) if own else limits


async def converse(
    planned: PlannedRun, folders: RunFolders, sandbox: Sandbox, limits: Limits, access: RunAccess
) -> Conversation:
    """Runs all turns in one session of the agent; stops after the first that does not end well."""
    turns, eval_ = _Turns(planned, folders, sandbox, limits, access), planned.cell.eval
    talk = turns.talk
    script = Script(eval_, talk, access)
    try:
        async with aclosing(script.messages()) as messages:
            async for message in messages:
                await turns.take(message)
                if talk.is_over:
                    break
    except NotStarted as error:
        talk.end("errored", f"between two turns: {error}", retry=not error.missing)
    except UserFailed as error:
        talk.end("errored", f"the model of the user: {error}", retry=error.retry)
    if eval_.wordings or eval_.user:
        talk.prompts = script.all_said
    if access.account is not None:
        await access.account.settle(drain=not talk.stopped)
        talk.usage = access.account.usage(talk.usage.seconds or 0.0)
    elif planned.cell.provider == "none":
        talk.usage = without_models(talk.usage)
    return talk


class _Turns:
    """The turns of one run, each with what the ones before it have left: a session, and files that it may read."""

    def __init__(
        self, planned: PlannedRun, folders: RunFolders, sandbox: Sandbox, limits: Limits, access: RunAccess
    ) -> None:
        self.planned, self.folders, self.sandbox, self.limits = planned, folders, sandbox, limits
        self.access = access
        self.talk = Conversation()
        if planned.cell.provider == "none":
            self.talk.usage = Usage(0.0, 0, 0, 0, 0, 0.0, "none")
        self._session: str | None = None
        self._program = ""
        """The program of the last command, where it is not the sandbox's own."""
        self._readable = _readable(planned, access)

    async def take(self, message: Message) -> None:
        """Runs the agent on a message, and decides how that ended."""
        left = self.limits.run - (self.talk.usage.seconds or 0.0)
        if left <= 0:
            self.talk.end("failed", f"the run passed its limit of {self.limits.run:g} s (limits.run)")
            return
        result = await self._start(message, min(self.limits.turn, left))
        if result is not None:
            await self._conclude(message, result, left)

    async def _start(self, message: Message, seconds: float) -> ProcessResult | None:
        """Runs the agent's process; None if it cannot start, which ends the run."""
        talk = self.talk
        try:
            self.folders.mend()  # the turn before may have removed or locked them
            if not message.answer:
                await _lay_control(self.planned, self.folders, message.turn)
            job = self._job(message, seconds)
            self.access.on_turn(message.turn, _silence(job, self.access.account), self.access.account)
            return await _run(self.sandbox, job, message.number, self.access.account)
        except NotStarted as error:
            # What was there in the first turn, and is not in a later one, the agent has taken away itself.
            is_agents = error.missing and not message.is_first
            hint = self.access.project_files.hint(self._program) if error.missing and message.is_first else ""
            talk.end("failed" if is_agents else "errored", f"{error}{hint}", retry=not error.missing)
            talk.missing_program = error.missing and not is_agents
        except FileError as error:
            # Before the first turn, the agent has not said anything yet that its file could stumble over.
            is_agents = not message.is_first and not is_trusted(self.planned.cell.agent)
            talk.end("failed" if is_agents else "errored", str(error))
        except OSError as error:
            if message.is_first or not is_agents_doing(error):
                raise
            talk.end("failed", f"{message} cannot start in the folders that the agent left: {disk_sentence(error)}")
        return None

    def _job(self, message: Message, seconds: float) -> Job:
        """The process of a turn, with what it may see and use."""
        cell, view = self.planned.cell, self.sandbox.view(self.folders)
        said = _in_full(self.planned, self.talk, message.text, self.access)
        command = _command(self.planned, self.folders, view, said, self._session, message.number, self.access)
        command = self._located(command, said, is_first=message.is_first)
        command = _with_variables(command, cell.eval, _with_programs(view, self.access))
        self._readable |= {*self.access.readable, *self.access.project_files.readable}
        self._readable |= _named(command, said) if message.is_first else set()
        programs: tuple[str, ...] = ()
        if cell.agent.speaks_acp:
            programs = (command.argv[0],)
            command = acp.wrap(command, message.text, self._session, str(view.workspace), cell.model_id)
        script = script_folder(cell.eval, cell.agent.control, message.turn) if is_trusted(cell.agent) else None
        if script is not None:
            command = replace(command, argv=["/bin/sh", f"{SOLUTION}/{SCRIPT}"])
        job = turn_job(command, self.folders, _with_programs(view, self.access), message.number, seconds, self.limits)
        at = {SOLUTION: script} if script is not None else {}
        return replace(job, readable=tuple(self._readable), programs=programs, ports=self.access.ports, at=at)

    def _located(self, command: Command, said: str, *, is_first: bool) -> Command:
        """A command with its program and the project's files where they are."""
        if is_first and not self.sandbox.has_own_programs:
            self.access = _with_installation(self.access, command)
        command = _from_installation(command, self.access)
        if self.sandbox.has_own_programs:
            return command
        values = (said, self._session, self.planned.cell.model_id, self.planned.cell.provider)
        located = self.access.project_files.located(command, self.folders.workspace, values)
        self._program = located.argv[0]
        return located

    async def _conclude(self, message: Message, result: ProcessResult, left: float) -> None:
        """Notes what a turn took and said, and decides its outcome."""
        talk, account = self.talk, self.access.account
        talk.usage = replace(talk.usage, seconds=(talk.usage.seconds or 0.0) + result.seconds)
        talk.turns.append(TurnEnd(result, self._session, of=message.turn))
        aborted = account is not None and account.aborted.is_set()
        _judge_process(talk, result, message, self.limits, left, aborted=aborted)
        _quote(talk, result, self.access)
        report = await _read(self.planned, self.folders, talk, result, message.number, self.limits) or TurnReport()
        _take(talk, report, message, account, is_trusted=_is_trusted(self.planned, self.sandbox))
        if account is not None:
            await _judge_calls(talk, result, message, self.access, min(self.limits.turn, left))
        self._session = report.session or self._session
        talk.turns[-1].session = self._session
        talk.turns[-1].reply = self._reply()

    def _reply(self) -> str:
        """What the agent said last; one whose file cannot tell says what it prints. A control asks nobody."""
        agent, said = self.planned.cell.agent, self.talk.said[-1][1]
        if said != NOTHING or agent.control:
            return "" if agent.control else said
        return "" if agent.read or agent.speaks_acp else as_pasted(self.talk.turns[-1].result.stdout.tail(REPLY))


def without_models(usage: Usage) -> Usage:
    """How the time of an agent was spent that has no model: all of it is its own."""
    return replace(usage, model_seconds=0.0, tools_seconds=0.0, waiting_seconds=0.0, own_seconds=usage.seconds)


async def _run(sandbox: Sandbox, job: Job, turn: int, account: Account | None) -> ProcessResult:
    """Runs a turn. One whose calls were aborted, as over the budget, gets a moment to write what it has."""
    if account is None:
        return await sandbox.run(job)
    account.begin_turn(turn)

    async def end_when_aborted() -> None:
        await account.aborted.wait()
        await asyncio.sleep(LAST_WORDS)
        sandbox.end_job()

    watching = asyncio.ensure_future(end_when_aborted())
    try:
        return await sandbox.run(job)
    finally:
        account.clock.end()
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching


def _silence(job: Job, account: Account | None) -> Callable[[], float]:
    """For how long a turn has neither printed anything nor heard anything of its model."""
    began, outputs = time.time(), (f"{job.output}.out", f"{job.output}.err")

    def silence() -> float:
        heard = [began]
        for path in outputs:
            with suppress(OSError):
                heard.append(os.stat(path).st_mtime)
        quiet = time.time() - max(heard)
        return max(0.0, quiet if account is None else min(quiet, account.quiet_for))

    return silence


# -- the command


async def _lay_control(planned: PlannedRun, folders: RunFolders, turn: int) -> None:
    """Lays down what orvl's own controls leave in a turn. Both their files and the workspace may be somebody else's:
    nothing of either is executed, and no link in them is followed. What is a script is run instead, in a sandbox."""
    controls, control = _controls(planned), planned.cell.agent.control
    if controls and is_trusted(planned.cell.agent) and not is_scripted(planned.cell.eval, control):
        await asyncio.to_thread(lay_control, controls / str(control), turn, folders.workspace, planned.cell.eval.drawn)


def _controls(planned: PlannedRun) -> Path | None:
    return planned.cell.eval.part("controls") if planned.cell.agent.control else None


def _readable(planned: PlannedRun, access: RunAccess) -> set[Path]:
    """What an agent may read besides the system and its own installation."""
    agent, controls = planned.cell.agent, _controls(planned)
    drivers = acp.readable() if agent.speaks_acp else ()
    return {*agent.paths, *access.readable, *drivers, *([controls] if controls else ())}


def _named(command: Command, prompt: str) -> set[Path]:
    """The files that a command names by absolute path, as a script of the user's own; a prompt names none.

    Asked in the first turn alone: later ones have a session in them, which the agent itself tells.
    """
    words = [word for word in command.argv[1:] if word.startswith("/") and word != prompt]
    return {Path(word) for word in words if os.path.isfile(word)}


def _with_variables(command: Command, eval_: Eval, view: View) -> Command:
    """The command with the eval's own variables, where it does not set them itself."""
    return replace(command, env={**expanded(eval_.env, view.environment()), **command.env}) if eval_.env else command


def _with_programs(view: View, access: RunAccess) -> View:
    """The agent's own installation comes first in PATH."""
    return replace(view, path=f"{access.programs}:{view.path or os.defpath}") if access.programs else view


def _with_installation(access: RunAccess, command: Command) -> RunAccess:
    """With what `orvl install` has installed under any agent's name, where the agent's own file names no packages."""
    own = None if access.programs or "/" in command.argv[0] else access.serving(command.argv[0])
    return replace(access, programs=own.bin, readable=(*access.readable, *own.readable)) if own else access


def _from_installation(command: Command, access: RunAccess) -> Command:
    """The command with its program from the agent's own installation, if that has it."""
    own = access.programs / command.argv[0] if access.programs and "/" not in command.argv[0] else None
    return replace(command, argv=[str(own), *command.argv[1:]]) if own and own.exists() else command


def _in_full(planned: PlannedRun, talk: Conversation, prompt: str, access: RunAccess) -> str:
    """A prompt; for an agent that keeps no session, with the conversation so far before it."""
    if not talk.said or access.account is None or continues(planned.cell.agent):
        return prompt
    # A command's argument has a largest size, which an agent could pass by what it says.
    said = [(asked, answered.replace("\0", "")) for asked, answered in talk.said]
    most = MOST_REPEATED // len(said)
    before = "\n\n".join(f"User: {asked}\n\nYou: {answered[-most:]}" for asked, answered in said)
    return (
        "This goes on with a conversation that you had before; the files are as you left them. "
        f"What was said so far:\n\n{before}\n\nThe user's next message, which is to be answered now:\n\n{prompt}"
    )


def _command(
    planned: PlannedRun, folders: RunFolders, view: View, prompt: str, session: str | None, turn: int, access: RunAccess
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
            endpoint=access.endpoint,
            turn=turn,
            controls=CommandPath(controls) if controls else None,
            arguments=arguments,
        )
        command = to_command(returned, prompt)
    except InvalidCommand as error:
        raise FileError(function.path, function.line, f"{error}.") from error
    except (Exception, SystemExit) as error:
        raise function.mistake(error) from error
    if arguments and "arguments" not in inspect.signature(function.function).parameters:
        command = replace(command, argv=with_arguments(command.argv, arguments, prompt))
    command = laid_over(command, cell.agent.overlays, access.endpoint, access.env)
    return replace(command, env={**access.env, **command.env})


# -- how a turn ended


def _judge_process(
    talk: Conversation, result: ProcessResult, message: Message, limits: Limits, left: float, *, aborted: bool
) -> None:
    """The outcome as far as the process alone shows it."""
    if result.alive:
        # They could go on writing while the run is captured and checked: nothing about this run can be trusted.
        talk.end("errored", f"{result.alive} processes of {message} could not be killed")
    elif result.cut == "stopped":
        # Either the user stops everything, and the run is left to the next call; or this run's calls are over, and
        # `_judge_calls` says why.
        talk.stopped = not aborted
    elif result.cut == "time" and left < limits.turn:
        talk.end("failed", f"{message} passed the run's limit of {limits.run:g} s (limits.run)")
    elif result.cut == "time":
        talk.end("failed", f"{message} passed its limit of {limits.turn:g} s (limits.turn)")
    elif result.cut:
        talk.end("failed", f"{message} {hit(result.cut, limits)}")
    elif result.status is not None and result.status < 0:
        talk.end("failed", f"{message} was ended by signal {-result.status}")
    elif result.status:
        # A shell reports a child's signal as 128 + its number.
        as_after = f", as after signal {result.status - 128}" if 128 < result.status < 192 else ""
        talk.end("failed", f"{message} ended with status {result.status}{as_after}{complaint(result, limits)}")


def _quote(talk: Conversation, result: ProcessResult, access: RunAccess) -> None:
    """Adds the agent's last words to why its process failed."""
    if talk.outcome == "failed" and result.status and (words := last_words(result, access.redact)):
        talk.reason = f"{talk.reason}, and said: {words}"


async def _read(
    planned: PlannedRun, folders: RunFolders, talk: Conversation, result: ProcessResult, turn: int, limits: Limits
) -> TurnReport | None:
    """What the agent's own `read` makes of the turn's output.

    An agent's output decides whether its `read` can make sense of it, so a `read` that cannot is the agent's failure.
    """
    agent = planned.cell.agent
    function = agent.read
    if talk.stopped or (function is None and not agent.speaks_acp):
        return None
    said, stderr = result.stdout.read(), result.stderr.read().decode("utf-8", "replace")
    try:
        if function is None:
            return parse_turn(await acp.read_within(limits.score, said, stderr, result.status))
        assert isinstance(function, UserFunction)
        output = said.decode("utf-8", "replace")
        returned = await function.call(
            limits.score,
            output=output,
            stderr=stderr,
            status=result.status,
            turn=turn,
            workspace=Path(folders.workspace),
            home=Path(folders.home),
        )
        return parse_turn(returned or {})
    except ChildFailed as error:
        _cannot_read(talk, agent, f"what it said over ACP cannot be read: {error}")
    except FunctionTimeout:
        _cannot_read(talk, agent, f"{agent.path}: read took longer than {limits.score:g} s (limits.score)")
    except FunctionRaised as error:
        _cannot_read(talk, agent, str(error))
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError, RecursionError) as error:
        own = str(function.mistake(error)) if isinstance(function, UserFunction) else None
        _cannot_read(talk, agent, own or f"what it said over ACP cannot be read: {error}")
    return None


def _cannot_read(talk: Conversation, agent: Agent, reason: str) -> None:
    if not _hears_agent(agent):
        talk.end("errored", reason)
    elif talk.outcome == "finished":
        talk.end("failed", reason)


def _hears_agent(agent: Agent) -> bool:
    """Whether an agent's `read` asks for anything that the agent has a part in; if not, its mistakes are the file's."""
    return agent.speaks_acp or (isinstance(agent.read, UserFunction) and bool(agent.read.wants or agent.read.by_place))


def _is_trusted(planned: PlannedRun, sandbox: Sandbox) -> bool:
    """Whether an agent's word on its provider counts: it calls one past the gateway, or it is not the agent's word."""
    calls_past_gateway = planned.cell.provider != "none" and not sandbox.has_walls
    return calls_past_gateway or not _hears_agent(planned.cell.agent)


def _take(
    talk: Conversation,
    report: TurnReport,
    message: Message,
    account: Account | None,
    *,
    is_trusted: bool,
) -> None:
    """Adds what the agent reports of a turn; with a gateway its figures are only kept beside the gateway's own."""
    seen = account.take_steps() if account else ()
    steps = report.steps or seen
    if account or steps:
        talk.steps += [{"source": "user", "message": message.text}, *steps]
    talk.said.append((message.text, _last_message(steps)))
    if account is None:
        talk.usage = add_usage(talk.usage, report.usage, message.number)
    elif report.usage:
        talk.reported_usage = add_usage(talk.reported_usage or Usage(), report.usage, message.number)
    # An agent that calls a provider past the gateway must be taken at its word, as nobody else has seen the call. Where
    # there is a gateway, or no way to a provider, an agent's word never excuses it.
    if report.provider_error and account is None and is_trusted:
        talk.end("errored", f"{message}: {report.provider_error}", retry=True)
    elif (error := report.error or report.provider_error) and talk.outcome != "errored":
        talk.end("failed", f"{message}: {error}")


def _last_message(steps: Sequence[Mapping[str, Any]]) -> str:
    said = (step.get("message") for step in reversed(steps) if step.get("source") == "agent")
    return next((text for text in said if isinstance(text, str) and text.strip()), NOTHING)


async def _judge_calls(
    talk: Conversation, result: ProcessResult, message: Message, access: RunAccess, seconds: float
) -> None:
    """The outcome as the gateway saw it, which knows better than an exit status whose failure it was."""
    account = access.account
    assert account is not None
    # What is errored already stays so, unless the gateway itself ended the turn: then its reason is the true one.
    if result.alive or (talk.outcome == "errored" and not account.aborted.is_set()):
        return
    name = account.provider.name
    if account.over_budget:
        talk.end("errored", f"{message} was stopped: {account.limit_hit}")
    elif account.limit_hit is not None:
        talk.end("failed", f"{message} was stopped: {account.limit_hit}")
    elif talk.stopped:
        return
    elif (trouble := await _provider_trouble(talk, result, message.number, access, seconds)) is not None:
        talk.trouble = trouble
        talk.end("errored", f"{message}: {name}: {trouble.message}", retry=trouble.retry_call or trouble.retry_run)
    elif talk.outcome == "failed" and not account.calls:
        talk.reason = f"{talk.reason}; it made no call of a model"
    elif talk.outcome == "failed" and account.refusal:
        talk.reason = f"{talk.reason}; {name} had refused its last call: {account.refusal}"


async def _provider_trouble(
    talk: Conversation, result: ProcessResult, turn: int, access: RunAccess, seconds: float
) -> CallFailure | None:
    """The provider's failure that the turn met, if it is the provider's.

    An agent chooses what it sends and when it gives up, so what it met proves nothing. The provider is asked by orvl
    itself: if that fails, too, the failure is the provider's. If it answers, what may have been a moment's trouble (an
    answer that was cut, a 500, a wait for orvl's own limits) earns another attempt, except in the last one; what the
    agent gave up on is the agent's.
    """
    account = access.account
    assert account is not None
    if account.failure is not None:
        return account.failure
    is_timed_out = result.cut == "time"
    # A call that was still waiting when the process gave up counts against the provider only if the agent got nowhere
    # without it: one that finished its work may well leave a call open.
    is_stuck = not is_timed_out and (talk.outcome == "failed" or not account.was_answered(turn))
    met = account.last_failure or (account.abandoned if is_stuck else None)
    # A turn that ran into its limit may be the provider's fault if it spent most of it waiting for an answer; the bar
    # is lower where no call was answered at all.
    held = _held_for_long(account, seconds) if is_timed_out and met is None else None
    met = met or held
    if met is None and is_timed_out and account.silence > seconds / (2 if account.was_answered(turn) else 4):
        met = CallFailure(f"it said nothing for {account.silence:.0f} s", retry_call=True)
    if met is None:
        return None
    is_held = (account.was_held and met is account.abandoned) or met is held
    if is_held:
        # An agent that has several calls open may hold itself back.
        return None if access.is_last and (access.attempt or account.most_open > 1) else met
    if (own := await account.provider_failure()) is not None:
        return replace(met, retry_run=True, scope="provider" if own.scope == "provider" else met.scope)
    is_momentary = met is account.last_failure and met.retry_call
    return met if is_momentary and not access.is_last else None


def _held_for_long(account: Account, seconds: float) -> CallFailure | None:
    """Why a turn that ran into its limit had no chance, if orvl held its calls back for most of it."""
    if account.seconds_held_in_turn <= seconds / 2:
        return None
    reason = f"orvl held its calls back for {account.seconds_held_in_turn:.0f} s to stay within limits"
    return CallFailure(reason, retry_call=True)

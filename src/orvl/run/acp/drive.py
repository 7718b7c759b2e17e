"""Speaks the Agent Client Protocol with one agent for one turn; runs beside the agent, inside the sandbox.

What the agent tells is printed as JSON lines; the last one says how the turn ended. Inside, orvl itself is not there:
this file and `client.py` are handed over as text, and import only the protocol's SDK and each other. An agent shares
its client's sandbox, and is asked to use its own tools; one that asks for the client's all the same is served.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import signal
import sys
from asyncio.subprocess import PIPE, Process
from contextlib import suppress
from pathlib import Path
from typing import Any

from acp import PROTOCOL_VERSION, RequestError
from acp.client.router import build_client_router
from acp.connection import Connection

from orvl.run.acp.client import PATIENCE, Client, end

LONGEST_LINE = 64 << 20
SHOWN = 300
AUTHENTICATION_REQUIRED = -32000
API_KEY = re.compile(r"api[-_ ]?key", re.IGNORECASE)
OWN_TOOLS = {"fs": {"readTextFile": False, "writeTextFile": False}, "terminal": False}
CONVERSATION = ".orvl-conversation.json"
SO_FAR = "This is our conversation so far. What you did in it is in the workspace."


class Failure(Exception):
    """Why the turn did not end, as a sentence."""


class Refused(Failure):
    """The agent answered with an error."""


class LoginWanted(Refused):
    """The agent does nothing before it is authenticated."""


def tell(kind: str, **what: Any) -> None:
    """Prints one JSON line."""
    sys.stdout.write(json.dumps({"type": kind, **what}) + "\n")
    sys.stdout.flush()


def short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def part(value: Any, *names: str) -> Any:
    """What lies under some names of an answer that may have any form."""
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def items(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


class Lines:
    """The agent's standard input and output as messages; what is no message goes to standard error."""

    def __init__(self, process: Process) -> None:
        assert process.stdin and process.stdout
        self.writer, self.reader = process.stdin, process.stdout
        self.garbage = ""

    async def send(self, message: dict[str, Any]) -> None:
        self.writer.write(json.dumps(message).encode() + b"\n")
        await self.writer.drain()

    async def receive(self) -> dict[str, Any] | None:
        while True:
            try:
                line = await self.reader.readline()
            except ValueError:
                self.skip(f"a line of more than {LONGEST_LINE >> 20} MiB")
                continue
            except OSError:
                return None
            if not line:
                return None
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                message = None
            if isinstance(message, dict) and isinstance(message.get("id"), str | int | None):
                if not isinstance(message.get("error", {}), dict):
                    message["error"] = {"message": short(message["error"])}
                return message
            self.skip(line.decode("utf-8", "replace").strip())

    def skip(self, text: str) -> None:
        if text:
            self.garbage = self.garbage or text[:SHOWN]
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()

    async def close(self) -> None:
        self.writer.close()


class Turn:
    """One prompt to one agent."""

    def __init__(self, process: Process, asked: dict[str, Any]) -> None:
        self.asked, self.process = asked, process
        self.lines, self.client = Lines(process), Client(asked["workspace"])
        self.router = build_client_router(self.client)  # type: ignore[arg-type]
        self.connection = Connection(self.answer, self.lines)
        self.place = {"cwd": asked["workspace"], "mcpServers": []}
        self.prompting = False
        self.said: list[str] = []
        self.ended: dict[str, Any] = {}

    async def answer(self, method: str, params: Any, is_notification: bool) -> Any:
        if method == "session/request_permission":
            tell("permission", call=part(params, "toolCall"))
        if method != "session/update":
            return await self.router(method, params, is_notification)
        update = part(params, "update")
        if self.prompting and isinstance(update, dict):
            tell("update", update=update)
            text = part(update, "content", "text")
            if update.get("sessionUpdate") == "agent_message_chunk" and isinstance(text, str):
                self.said.append(text)
        return None

    async def ask(self, method: str, **params: Any) -> Any:
        """The agent's answer; what is no answer is told as a sentence."""
        try:
            return await self.connection.send_request(method, params)
        except RequestError as error:
            data = f" ({short(error.data)})" if error.data else ""
            why = f"the agent answered {method} with error {error.code}: {short(str(error))}{data}"
            raise (LoginWanted if error.code == AUTHENTICATION_REQUIRED else Refused)(why) from error
        except OSError as error:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self.process.wait(), PATIENCE)
            code = self.process.returncode
            how = "closed its output" if code is None else f"ended with status {code}"
            said = f"; on its standard output was: {self.lines.garbage}" if self.lines.garbage else ""
            raise Failure(f"the agent {how} before it answered {method}{said}") from error

    async def open(self, methods: list[dict[str, Any]], method: str, **params: Any) -> Any:
        """Asks for a session; an agent that wants a login first gets one with a key from the environment."""
        try:
            return await self.ask(method, **params)
        except LoginWanted as wanted:
            chosen = next((one.get("id") for one in methods if _takes_key(one)), None)
            if chosen is None:
                names = ", ".join(str(one.get("id")) for one in methods) or "none"
                raise Failure(f"{wanted}; none of its ways to log in takes an API key: {names}") from wanted
        await self.ask("authenticate", methodId=chosen)
        tell("authenticated", method=chosen)
        return await self.ask(method, **params)

    async def run(self) -> None:
        """Greets the agent, opens the session, and gives the prompt."""
        hello = await self.ask("initialize", protocolVersion=PROTOCOL_VERSION, clientCapabilities=OWN_TOOLS)
        tell("agent", info=part(hello, "agentInfo"), protocol=part(hello, "protocolVersion"))
        methods, asked = items(part(hello, "authMethods")), self.asked["prompt"]
        before = _conversation() if self.asked["session"] else []
        session, opened, loaded = await self.opened(methods, ways_to_load(part(hello, "agentCapabilities")))
        tell("session", session=session)
        await self.choose_model(session, opened)
        self.prompting = True
        prompt = asked if loaded else _with_conversation(before, asked)
        answer = await self.ask("session/prompt", sessionId=session, prompt=[{"type": "text", "text": prompt}])
        _remember([*before, (asked, "".join(self.said))])
        usage = part(answer, "usage")
        self.ended = {"session": session, "stop": part(answer, "stopReason"), "usage": usage, "loaded": loaded}

    async def opened(self, methods: list[dict[str, Any]], ways: list[str]) -> tuple[str, Any, bool]:
        """The session of the turn before where the agent can load it, else a new one."""
        session = self.asked["session"]
        for way in ways if session else ():
            try:
                return session, await self.open(methods, way, sessionId=session, **self.place), True
            except Refused as error:
                tell("not loaded", reason=str(error))
        answer = await self.open(methods, "session/new", **self.place)
        session = part(answer, "sessionId")
        if not isinstance(session, str) or not session:
            raise Failure("the agent answered session/new without a session id")
        return session, answer, False

    async def choose_model(self, session: str, opened: Any) -> None:
        """Asks for the model in whichever way the agent offers; one that offers none has it from its command."""
        choice = model_choice(opened)
        if choice is None:
            return
        method, field, more, current, offered = choice
        chosen = matching(offered, current, self.asked["model"])
        try:
            if chosen is None or chosen != current:
                await self.ask(method, sessionId=session, **more, **{field: chosen or self.asked["model"]})
            tell("model", model=chosen or self.asked["model"])
        except Refused as error:
            tell("model", model=current, reason=str(error))


def ways_to_load(can: Any) -> list[str]:
    """How the agent says that it goes on with a session, that without a replay first."""
    resumes = part(can, "sessionCapabilities", "resume") is not None
    return ["session/resume"] * resumes + ["session/load"] * (part(can, "loadSession") is True)


def model_choice(opened: Any) -> tuple[str, str, dict[str, Any], Any, dict[str, Any]] | None:
    """How a session's model is chosen: the method, its field, what else it wants, the model now, and all by name."""
    if models := part(opened, "models"):
        offered = {str(one.get("modelId")): one.get("name") for one in items(part(models, "availableModels"))}
        return "session/set_model", "modelId", {}, part(models, "currentModelId"), offered
    options = items(part(opened, "configOptions"))
    options.sort(key=lambda option: (option.get("id") != "model", option.get("category") != "model"))
    for option in options[:1]:
        if "model" in (option.get("id"), option.get("category")):
            groups = items(option.get("options"))
            every = [one for group in groups for one in items(group.get("options")) or [group]]
            offered = {str(one.get("value")): one.get("name") for one in every}
            more = {"configId": option.get("id")}
            return "session/set_config_option", "value", more, option.get("currentValue"), offered
    return None


def matching(offered: dict[str, Any], current: Any, wanted: str) -> str | None:
    """The model that is meant, be there a provider before its name or a way to log in behind it."""
    names = [name for name in (current, *offered) if isinstance(name, str)]
    plain = {name: name.partition("(")[0] for name in names}
    for spelled in (
        lambda name: name,
        lambda name: offered.get(name),
        lambda name: plain[name],
        lambda name: plain[name].partition("/")[2],
        lambda name: plain[name].rpartition("/")[2],
    ):
        if found := [name for name in names if spelled(name) == wanted]:
            return found[0]
    return None


def _takes_key(method: dict[str, Any]) -> bool:
    if method.get("type") == "env_var":
        needed = [str(one.get("name")) for one in items(method.get("vars")) if one.get("optional") is not True]
        return all(name in os.environ for name in needed)
    return any(API_KEY.search(str(method.get(name))) for name in ("id", "name", "description"))


def _conversation() -> list[tuple[str, str]]:
    """What was said in earlier turns, kept for an agent that cannot load its session."""
    try:
        turns = json.loads(Path.home().joinpath(CONVERSATION).read_text(encoding="utf-8"))
        return [(str(asked), str(said)) for asked, said in turns]
    except (OSError, ValueError, TypeError) as error:
        raise Failure(f"the conversation so far, in ~/{CONVERSATION}, is not what it was: {error}") from error


def _remember(turns: list[tuple[str, str]]) -> None:
    Path.home().joinpath(CONVERSATION).write_text(json.dumps(turns), encoding="utf-8")


def _with_conversation(before: list[tuple[str, str]], prompt: str) -> str:
    if not before:
        return prompt
    turns = [f"I said:\n{asked}\n\nYou said:\n{said}" for asked, said in before]
    return "\n\n".join([SO_FAR, *turns, f"Now I say:\n{prompt}"])


async def drive(argv: list[str], asked: dict[str, Any]) -> None:
    """One turn from the agent's start to its end; nothing of it stays behind, also after SIGTERM."""
    task, loop, patience = asyncio.current_task(), asyncio.get_running_loop(), 0.0
    assert task
    loop.add_signal_handler(signal.SIGTERM, task.cancel)
    try:
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=PIPE, stdout=PIPE, limit=LONGEST_LINE, process_group=0
        )
    except (OSError, ValueError) as error:
        raise Failure(f"'{argv[0]}' could not be started: {getattr(error, 'strerror', None) or error}") from error
    turn = Turn(process, asked)
    try:
        await turn.run()
        patience = PATIENCE
    finally:
        loop.add_signal_handler(signal.SIGTERM, lambda: None)
        turn.lines.writer.close()
        await end(process, patience)
        await turn.client.close()
        await turn.connection.close()
    tell("end", **turn.ended)


def main(argv: list[str], asked: dict[str, Any]) -> int:
    """The exit status of a turn: 0 if the prompt was answered, 1 with a sentence if not."""
    logging.disable()
    try:
        asyncio.run(drive(argv, asked))
    except Failure as failure:
        tell("end", error=str(failure))
        sys.stderr.write(f"{failure}\n")
        return 1
    except asyncio.CancelledError:
        return 128 + signal.SIGTERM
    return 0

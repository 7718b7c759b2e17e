"""A small agent that speaks the Agent Client Protocol; its first argument says how it behaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

from acp import RequestError, run_agent
from acp.helpers import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_tool_call,
    update_user_message_text,
)
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    EnvVarAuthMethod,
    Implementation,
    InitializeResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ResumeSessionResponse,
    SessionCapabilities,
    SessionResumeCapabilities,
    SetSessionConfigOptionResponse,
    ToolCallUpdate,
)

BEHAVIOUR = set(sys.argv[1].split(",")) if len(sys.argv) > 1 else set()
OPTIONS = [
    PermissionOption(option_id="no", name="No", kind="reject_once"),
    PermissionOption(option_id="once", name="Once", kind="allow_once"),
    PermissionOption(option_id="always", name="Always", kind="allow_always"),
]
MODELS = {
    "type": "select",
    "id": "model",
    "name": "Model",
    "category": "model",
    "currentValue": "zen/other",
    "options": [{"value": "zen/other", "name": "Other"}, {"value": "zen/scripted", "name": "Scripted"}],
}


def state(session: str) -> Path:
    return Path.home() / f"{session}.json"


class Agent:
    """Keeps what it was told in a file per session, and does what the prompt says."""

    def on_connect(self, client):
        self.client = client
        self.model = "zen/other"
        self.authenticated = "login" not in BEHAVIOUR
        self.told: dict[str, list[str]] = {}

    async def initialize(self, protocol_version, client_capabilities=None, client_info=None, **_):
        if "silent" in BEHAVIOUR:
            Path("ready").touch()
            await asyncio.sleep(3600)
        if "error" in BEHAVIOUR:
            raise RequestError.internal_error({"details": "the disk is full"})
        method = EnvVarAuthMethod(type="env_var", id="key", name="Key", vars=[{"name": "TEST_KEY"}])
        resume = SessionResumeCapabilities() if "resume" in BEHAVIOUR else None
        return InitializeResponse(
            protocol_version=protocol_version,
            agent_capabilities=AgentCapabilities(
                load_session="load" in BEHAVIOUR, session_capabilities=SessionCapabilities(resume=resume)
            ),
            auth_methods=[method],
            agent_info=Implementation(name="test-agent", version="1"),
        )

    async def authenticate(self, method_id, **_):
        self.authenticated = method_id == "key"
        return AuthenticateResponse()

    async def new_session(self, cwd, mcp_servers=None, **_):
        if not self.authenticated:
            raise RequestError.auth_required()
        session = f"session-{len(list(Path.home().glob('session-*.json'))) + 1}"
        self.told[session] = []
        state(session).write_text("[]")
        models = {"configOptions": [MODELS]} if "models" in BEHAVIOUR else {}
        return NewSessionResponse.model_validate({"sessionId": session, **models})

    async def load_session(self, cwd, session_id, mcp_servers=None, **_):
        if "forgets" in BEHAVIOUR:
            raise RequestError.resource_not_found(session_id)
        self.told[session_id] = json.loads(state(session_id).read_text())
        for text in self.told[session_id]:
            await self.client.session_update(session_id, update_user_message_text(text))
            await self.client.session_update(session_id, update_agent_message_text("said in an earlier turn"))
        return LoadSessionResponse()

    async def resume_session(self, session_id, cwd, mcp_servers=None, **_):
        if "forgets" in BEHAVIOUR:
            raise RequestError.method_not_found("session/resume")
        self.told[session_id] = json.loads(state(session_id).read_text())
        return ResumeSessionResponse()

    async def set_config_option(self, config_id, session_id, value, **_):
        self.model = value
        return SetSessionConfigOptionResponse.model_validate({"configOptions": [{**MODELS, "currentValue": value}]})

    async def prompt(self, session_id, prompt, **_):
        text = prompt[0].text
        self.told[session_id].append(text)
        state(session_id).write_text(json.dumps(self.told[session_id]))
        await self.say(session_id, update_agent_thought_text("Let me "), update_agent_thought_text("think."))
        word = text.split(maxsplit=1)[0].strip("-") if text.split() else ""
        if action := getattr(self, f"do_{word}", None):
            stop = await action(session_id)
            if stop:
                return PromptResponse(stop_reason=stop)
        said = f"{self.model} heard {len(self.told[session_id])}: {text}"
        await self.say(session_id, *(update_agent_message_text(piece) for piece in (said[:5], said[5:])))
        return PromptResponse(stop_reason="end_turn")

    async def say(self, session, *updates):
        for update in updates:
            await self.client.session_update(session, update)

    async def do_write(self, session):
        """Writes a file with its own tool, once it is allowed to."""
        call = start_tool_call("call-1", "write", kind="edit", raw_input={"path": "made.txt"}, status="pending")
        await self.say(session, call)
        answer = await self.client.request_permission(session, ToolCallUpdate(tool_call_id="call-1"), OPTIONS)
        chosen = getattr(answer.outcome, "option_id", "cancelled")
        Path("made.txt").write_text(chosen)
        done = [tool_content(text_block(f"written, {chosen}"))]
        await self.say(session, update_tool_call("call-1", status="completed", content=done))

    async def do_count(self, session):
        Path("heard.txt").write_text(f"{len(self.told[session])}\n")

    async def do_client(self, session):
        """Uses the client's own files and terminals."""
        client, here = self.client, os.getcwd()
        await client.write_text_file(session, f"{here}/deep/in.txt", "one\r\ntwo\nthree\n")
        part = await client.read_text_file(session, f"{here}/deep/in.txt", line=2, limit=1)
        facts = {"part": part.content, "outside": await self.refused(session, "/etc/passwd")}
        Path("way-out").symlink_to("/etc")
        facts["by a link"] = await self.refused(session, f"{here}/way-out/passwd")
        facts["missing"] = await self.refused(session, f"{here}/nothing.txt")
        line = await client.create_terminal(session, "echo $WORD; exit 3", env=[{"name": "WORD", "value": "hello"}])
        status = await client.wait_for_terminal_exit(session, line.terminal_id)
        output = await client.terminal_output(session, line.terminal_id)
        facts["terminal"] = [output.output, status.exit_code, output.exit_status.exit_code, output.truncated]
        long = await client.create_terminal(
            session, "sh", args=["-c", "printf 123456; exec sleep 600"], output_byte_limit=3
        )
        while (output := await client.terminal_output(session, long.terminal_id)).output != "456":
            await asyncio.sleep(0.01)
        await client.kill_terminal(session, long.terminal_id)
        status = await client.wait_for_terminal_exit(session, long.terminal_id)
        facts["killed"] = [output.truncated, status.signal]
        await client.create_terminal(session, "sleep", args=["601"])
        Path("facts.json").write_text(json.dumps(facts))

    async def refused(self, session, path):
        try:
            return (await self.client.read_text_file(session, path)).content
        except RequestError as error:
            return f"{error.code} {error.data}"

    async def do_garbage(self, session):
        for line in ("Welcome!", "[1, 2]", '"text"', "42", '{"id": [], "result": 1}', "{" * 5000):
            sys.stdout.buffer.write(line.encode() + b"\n")
        sys.stdout.buffer.flush()

    async def do_die(self, session):
        print("no more memory", file=sys.stderr, flush=True)
        os._exit(7)

    async def do_fail(self, session):
        raise RequestError(-32603, "Internal error", {"details": "I lost my notes"})

    async def do_provider(self, session):
        raise RequestError(401, "Incorrect API key provided")

    async def do_refuse(self, session):
        return "refusal"

    async def do_linger(self, session):
        """Does not end when it is asked to, and has a child that does not either."""
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sh", "-c", "trap '' TERM; sleep 602 & touch ready; wait"])
        await asyncio.sleep(3600)


async def main():
    await run_agent(Agent(), use_unstable_protocol=True)
    if "stays" in BEHAVIOUR:
        await asyncio.sleep(3600)


if __name__ == "__main__":
    if "usage" in BEHAVIOUR:
        print("usage: agent [options]")
        sys.exit(2)
    asyncio.run(main())

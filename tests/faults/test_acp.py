"""Agents that speak the Agent Client Protocol: a real driver, with a real agent made with the protocol's SDK."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.thinned import thinned
from orvl.errors import InvalidCommand
from orvl.run import acp
from orvl.run.acp.drive import matching
from orvl.types import Command

AGENT = Path(__file__).parents[1] / "helpers" / "acp_agent.py"


class Talk:
    """A workspace and a home that stay from turn to turn."""

    def __init__(self, folder: Path, behaviour: str) -> None:
        self.workspace, self.home = folder / "workspace", folder / "home"
        self.workspace.mkdir()
        self.home.mkdir()
        self.argv = [sys.executable, str(AGENT), behaviour]
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home)}
        self.session: str | None = None
        self.lines: list[dict] = []
        self.stderr = ""

    def start(self, prompt: str, model: str = "scripted") -> subprocess.Popen:
        command = acp.wrap(Command(self.argv), prompt, self.session, str(self.workspace), model)
        assert isinstance(command.stdin, str)
        pipe = subprocess.PIPE
        started = subprocess.Popen(
            command.argv, cwd=self.workspace, env=self.env, stdin=pipe, stdout=pipe, stderr=pipe, text=True
        )
        assert started.stdin
        started.stdin.write(command.stdin)
        started.stdin.close()
        started.stdin = None
        return started

    def turn(self, prompt: str, model: str = "scripted") -> dict:
        driver = self.start(prompt, model)
        output, self.stderr = driver.communicate(timeout=300)
        self.status = driver.returncode
        self.lines = [json.loads(line) for line in output.splitlines()]
        told = acp.read(output, self.stderr, self.status)
        self.session = told.get("session", self.session)
        return told

    def said(self, told: dict) -> str:
        return told["steps"][-1]["message"]

    def line(self, kind: str) -> dict:
        return next(line for line in self.lines if line["type"] == kind)

    def processes(self) -> list[str]:
        """The command lines of what runs in the workspace."""
        found = []
        for process in Path("/proc").glob("[0-9]*"):
            with suppress(OSError):
                if Path(os.readlink(process / "cwd")).is_relative_to(self.workspace):
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        return found


@pytest.fixture
def talk(tmp_path):
    return lambda behaviour="": Talk(tmp_path, behaviour)


def test_a_turn_is_told_as_steps(talk):
    one = talk("load")
    told = one.turn("write a file")
    assert (one.status, told["session"], told["usage"]) == (0, "session-1", {"tool_calls": 1})
    assert told["steps"] == [
        {
            "source": "agent",
            "message": "",
            "reasoning_content": "Let me think.",
            "tool_calls": [{"tool_call_id": "call-1", "function_name": "write", "arguments": {"path": "made.txt"}}],
            "observation": {"results": [{"source_call_id": "call-1", "content": "written, always"}]},
        },
        {"source": "agent", "message": "zen/other heard 1: write a file"},
    ]
    assert (one.workspace / "made.txt").read_text() == "always"
    assert "error" not in told and "provider_error" not in told


@pytest.mark.parametrize("behaviour", thinned(["load", "resume", "resume,load"]))
def test_the_second_turn_goes_on_with_the_session_and_repeats_nothing(talk, behaviour):
    one = talk(behaviour)
    one.turn("first")
    told = one.turn("second")
    assert told["session"] == "session-1"
    assert [step["message"] for step in told["steps"]] == ["zen/other heard 2: second"]
    assert one.line("end")["loaded"] is True


@pytest.mark.parametrize("behaviour", thinned(["", "load,forgets", "resume,forgets"]))
def test_an_agent_that_cannot_load_gets_the_conversation_so_far(talk, behaviour):
    one = talk(behaviour)
    one.turn("first")
    told = one.turn("second")
    assert (one.status, told["session"], one.line("end")["loaded"]) == (0, "session-2", False)
    heard = one.said(told)
    assert "heard 1: This is our conversation so far." in heard
    assert "I said:\nfirst\n\nYou said:\nzen/other heard 1: first" in heard
    assert heard.endswith("Now I say:\nsecond")
    third = one.said(one.turn("third"))
    assert third.count("This is our conversation so far.") == 2, "once as such, once as what the agent said of it"
    assert third.endswith("Now I say:\nthird")


@pytest.mark.parametrize(
    "prompt",
    thinned(
        {
            "signs": "--help $(touch x) `y` 'z' \"",
            "lines": "line\nline\r\n\ttab é 漢 🎈 \u2028",
            "null": "null",
            "long": "x" * 300_000,
        },
    ),
)
def test_a_prompt_reaches_the_agent_as_it_is(talk, prompt):
    one = talk()
    assert one.said(one.turn(prompt)) == f"zen/other heard 1: {prompt}"


def test_the_model_is_chosen_where_the_agent_lets_one_choose(talk):
    one = talk("models")
    assert one.said(one.turn("hello", "scripted")).startswith("zen/scripted heard")
    assert one.line("model")["model"] == "zen/scripted"


def test_which_model_is_meant():
    offered = {
        "zen/kimi-k2": "Kimi",
        "openrouter/qwen/qwen3": "Q",
        "mock-1(openai)": None,
        "$x|other(y)": "plain-name",
        "kimi-k2-turbo": None,
    }
    assert matching(offered, None, "kimi-k2") == "zen/kimi-k2"
    assert matching(offered, None, "qwen/qwen3") == "openrouter/qwen/qwen3"
    assert matching(offered, None, "qwen3") == "openrouter/qwen/qwen3"
    assert matching(offered, None, "mock-1") == "mock-1(openai)"
    assert matching(offered, None, "plain-name") == "$x|other(y)"
    assert matching({"a/m": "", "b/m": ""}, "b/m", "m") == "b/m"
    assert matching({"a/m": "", "m": ""}, "a/m", "m") == "m"
    assert matching({}, "flash", "flash") == "flash"
    assert matching(offered, 3, "kimi") is None


def test_a_login_with_a_key_from_the_environment(talk):
    one = talk("login")
    assert "none of its ways to log in takes an API key: key" in one.turn("hello")["error"]
    assert one.status == 1
    one.env["TEST_KEY"] = "k"
    assert one.said(one.turn("hello")) == "zen/other heard 1: hello"
    assert one.line("authenticated")["method"] == "key"


def test_files_of_the_workspace_and_terminals_are_served(talk):
    one = talk()
    told = one.turn("client")
    assert "error" not in told
    facts = json.loads((one.workspace / "facts.json").read_text())
    assert (one.workspace / "deep/in.txt").read_bytes() == b"one\r\ntwo\nthree\n"
    assert facts["part"] == "two\n"
    assert facts["outside"].startswith("-32602") and "/etc/passwd is not in the workspace" in facts["outside"]
    assert facts["by a link"].startswith("-32602") and "not in the workspace" in facts["by a link"]
    assert facts["missing"].startswith("-32002")
    assert facts["terminal"] == ["hello\n", 3, 3, False]
    assert facts["killed"] == [True, "SIGTERM"]
    assert not one.processes()


def test_garbage_on_standard_output_is_passed_on_and_does_no_harm(talk):
    one = talk()
    told = one.turn("garbage")
    assert (one.status, one.said(told)) == (0, "zen/other heard 1: garbage")
    assert "Welcome!\n" in one.stderr and "[1, 2]\n" in one.stderr
    assert all(line["type"] in ("agent", "session", "update", "end") for line in one.lines)


@pytest.mark.parametrize(
    ("behaviour", "prompt", "sentence"),
    thinned(
        [
            ("", "die", "the agent ended with status 7 before it answered session/prompt"),
            (
                "usage",
                "hello",
                "the agent ended with status 2 before it answered initialize; "
                "on its standard output was: usage: agent [options]",
            ),
            (
                "error",
                "hello",
                'the agent answered initialize with error -32603: Internal error ({"details": "the disk is',
            ),
            ("", "fail", 'the agent answered session/prompt with error -32603: Internal error ({"details": "I lost my'),
        ]
    ),
)
def test_an_agent_that_fails_is_told_in_a_sentence(talk, behaviour, prompt, sentence):
    one = talk(behaviour)
    told = one.turn(prompt)
    assert told["error"].startswith(sentence)
    assert told["error"] in one.stderr
    assert one.status == 1
    assert "Traceback" not in one.stderr
    assert "provider_error" not in told


def test_a_model_host_that_fails_is_not_the_agents_error(talk):
    told = talk().turn("provider")
    assert told["provider_error"] == "the agent answered session/prompt with error 401: Incorrect API key provided"
    assert "error" not in told


def test_a_refusal_is_an_error_of_a_turn_that_ended(talk):
    one = talk()
    assert one.turn("refuse")["error"] == "the model refused to go on"
    assert one.status == 0


def test_an_agent_that_is_not_there(talk):
    one = talk()
    one.argv = ["no-such-agent", "acp"]
    assert one.turn("hello")["error"] == "'no-such-agent' could not be started: No such file or directory"
    assert one.status == 1


def test_an_agent_that_stays_after_its_turn_is_ended(talk):
    one = talk("stays")
    started = time.monotonic()
    assert one.said(one.turn("hello")) == "zen/other heard 1: hello"
    assert time.monotonic() - started < 600  # it would stay for an hour
    assert not one.processes()


@pytest.mark.parametrize("behaviour", thinned(["linger", "silent"]))
def test_sigterm_ends_the_agent_and_its_children(talk, behaviour):
    one = talk(behaviour)
    driver = one.start("linger")
    deadline = time.monotonic() + 30
    while not (one.workspace / "ready").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert len(one.processes()) == {"silent": 2, "linger": 4}[behaviour]
    driver.send_signal(signal.SIGTERM)
    output, stderr = driver.communicate(timeout=300)
    assert driver.returncode == 128 + signal.SIGTERM
    assert not one.processes()
    assert acp.read(output, stderr, driver.returncode)["error"].startswith("the turn ended with status 143 before")


def test_read_never_raises(talk):
    one = talk()
    driver = one.start("write")
    output = driver.communicate(timeout=300)[0]
    numbers = random.Random(7)
    values = [
        "null",
        "1",
        "[]",
        "{}",
        '"x"',
        "1e999",
        "[[]]",
        '{"text": {}}',
        '{"type": "end"}',
        "\ud800".encode("utf-8", "replace").decode(),
    ]
    for _ in range(500):
        text = list(output)
        for _ in range(numbers.randrange(1, 6)):
            at = numbers.randrange(len(text))
            text[at : at + numbers.randrange(40)] = numbers.choice([*values, "\n", "", "}"])
        told = acp.read("".join(text), "", numbers.choice([0, 1, -9, None]))
        assert set(told) <= {"session", "steps", "usage", "error", "provider_error"}
        json.dumps(told)
    for name in ("update", "permission", "session", "end"):
        for value in values:
            acp.read(
                f'{{"type": "{name}", "update": {value}, "call": {value}, "session": {value}, "error": {value}}}', "", 0
            )


def test_output_without_an_end_is_an_error():
    assert acp.read("", "", None)["error"] == "the turn was cut off before the agent answered"
    assert acp.read("x", "warning\nout of memory\n", 9)["error"] == (
        "the turn ended with status 9 before the agent answered: out of memory"
    )


def test_what_an_agent_says_of_its_models_host():
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "[API Error: 401 Incorrect]"}}
    lines = [{"type": "update", "update": update}, {"type": "end", "stop": "end_turn"}]
    assert acp.read("\n".join(map(json.dumps, lines)), "", 0)["provider_error"] == "[API Error: 401 Incorrect]"


def test_a_command_keeps_its_environment_and_files():
    made = acp.wrap(Command(["agent", "-x"], env={"A": "b"}, files={"c": "d"}), "p", None, "/workspace", "m")
    assert (made.env, made.files, made.argv[-3:]) == ({"A": "b"}, {"c": "d"}, ["--", "agent", "-x"])
    with pytest.raises(InvalidCommand, match="leave 'stdin' out"):
        acp.wrap(Command(["agent"], stdin="x"), "p", None, "/workspace", "m")


def test_two_turns_inside_the_sandbox(project):
    project.agent(
        "acp-test",
        f"""
        protocol = "acp"
        models = {{"none": ["scripted"]}}
        paths = [{str(AGENT)!r}]

        def command():
            return ["sh", "-c", 'exec "$0" "$1" load', {sys.executable!r}, {str(AGENT)!r}]
        """,
    )
    project.eval(
        "two",
        """
        ---
        metrics: {checks: 1}
        checks: [{name: made, run: grep -qx always made.txt}, {name: heard, run: grep -qx 2 heard.txt}]
        ---
        write a file
        ---
        --count what you were told
        """,
    )
    ended = project.orvl("acp-test", "--eval=two", "--json")
    assert ended.status == 0, ended.err
    (row,) = ended.json["ratings"]
    assert (row["R"], row["runs"]) == (1.0, {"planned": 1, "rated": 1, "failed": 0, "errored": 0})
    assert row["usage"]["tool_calls"] == 1
    assert project.rows("select distinct sandbox from attempt") == [("bubblewrap",)]

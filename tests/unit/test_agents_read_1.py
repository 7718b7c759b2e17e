"""opencode, kilo, claude-code, codex and pi: what they are told to do, and what is read from their real output."""

from __future__ import annotations

import json
import random
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
from atif import Step

import orvl
from orvl.project.agents import load_agent
from orvl.project.find import SourceFile
from orvl.run.agent_output import Steps, count_at, json_lines, number_at, plain_text, text_at
from orvl.run.command import Word, to_command

AGENTS = ("opencode", "kilo", "claude-code", "codex", "pi")
TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
FILES = sorted(path for name in AGENTS for path in (TRANSCRIPTS / name).glob("*.jsonl"))
TOLD = {"session", "steps", "usage", "error", "provider_error"}
TRICKY = "-rf --help do 'it' \"now\" $(touch x) \\ `x`\nsecond line \u2014 \u00fcn\u00ef \u65e5\u672c \u2028 end"


def agent(name):
    path = Path(orvl.__file__).parent / "agents" / f"{name.replace('-', '_')}.py"
    return load_agent(SourceFile(name, path, "built-in"), {})


LOADED = {name: agent(name) for name in AGENTS}


def read(name, output, turn=1):
    function = LOADED[name].read.function
    given = {"output": output, "turn": turn, "stderr": "", "status": 0}
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return function(**{name: given[name] for name in names})


def transcript(place):
    return (TRANSCRIPTS / f"{place}.jsonl").read_text()


def endpoint(protocol):
    path = "/v1" if protocol in ("openai", "responses") else ""
    return SimpleNamespace(url=f"http://127.0.0.1:4321{path}", key="key-of-this-run", protocol=protocol)


def command(name, protocol, prompt=TRICKY, session=None, provider="zen", model="qwen3-coder"):
    function = LOADED[name].command.function
    given = {
        "provider": Word(provider),
        "model": Word(model),
        "prompt": Word(prompt),
        "session": Word(session) if session else None,
        "endpoint": endpoint(protocol),
        "arguments": (),
    }
    names = function.__code__.co_varnames[: function.__code__.co_argcount]
    return to_command(function(**{name: given[name] for name in names}), prompt)


def speaks():
    return [(name, protocol) for name in AGENTS for protocol in LOADED[name].protocols]


OPENCODE_SESSION, KILO_SESSION = "ses_e1f3f40a0ffesBouP2UgZ1b8g3", "ses_e1f3f1df0ffe2OD22DfRp4GoFh"
CLAUDE_SESSION = "ef30cc36-13cb-4962-a42a-c7e45d594088"
CODEX_SESSION = "01a1e0b7-8a95-7411-b482-277e8be73f2b"
PI_SESSION = "01a1e0c2-a905-757a-8706-a4c2f6cbc2ad"
FIRST = {"input_tokens": 2010, "cached_tokens": 500, "output_tokens": 201, "tool_calls": 1}
SECOND = {"input_tokens": 4030, "cached_tokens": 1000, "output_tokens": 403, "tool_calls": 1}
TURNS = [
    ("opencode/turn1", OPENCODE_SESSION, "write", "call_000002", {**FIRST, "cost_usd": 0.001962}),
    ("opencode/turn2", OPENCODE_SESSION, "write", "call_000004", {**SECOND, "cost_usd": 0.003936}),
    ("kilo/turn1", KILO_SESSION, "write", "call_000001", {**FIRST, "cost_usd": 0.001962}),
    ("kilo/turn2", KILO_SESSION, "write", "call_000003", {**SECOND, "cost_usd": 0.003936}),
    ("claude-code/turn1", CLAUDE_SESSION, "Write", "toolu_000001", {**FIRST, "cost_usd": 0.007695}),
    ("claude-code/turn2", CLAUDE_SESSION, "Write", "toolu_000003", {**SECOND, "cost_usd": 0.015435}),
    ("codex/turn1", CODEX_SESSION, "shell", "turn_1_item_1", FIRST),
    ("codex/turn2", CODEX_SESSION, "shell", "turn_2_item_1", {"tool_calls": 1}),
    ("pi/turn1", PI_SESSION, "write", "call_000001", {**FIRST, "cost_usd": 0.001962}),
    ("pi/turn2", PI_SESSION, "write", "call_000003", {**SECOND, "cost_usd": 0.003936}),
]


@pytest.mark.parametrize(("place", "session", "tool", "call", "usage"), TURNS, ids=[turn[0] for turn in TURNS])
def test_a_turn_is_read_exactly(place, session, tool, call, usage):
    number = int(place[-1])
    told = read(place.split("/")[0], transcript(place), number)
    assert set(told) == {"session", "steps", "usage"}
    assert told["session"] == session
    assert told["usage"] == pytest.approx(usage)
    acts, says = told["steps"]
    assert [(one["function_name"], one["tool_call_id"]) for one in acts["tool_calls"]] == [(tool, call)]
    assert f"turn{number}.txt" in json.dumps(acts["tool_calls"][0]["arguments"])
    assert [one["source_call_id"] for one in acts["observation"]["results"]] == [call]
    assert says["message"] == f"Done with turn {number}."
    assert "tool_calls" not in says


def test_steps_have_their_own_metrics_in_one_definition():
    expected = [
        {"prompt_tokens": 1000, "cached_tokens": 0, "completion_tokens": 100, "cost_usd": 0.0012},
        {"prompt_tokens": 1010, "cached_tokens": 500, "completion_tokens": 101, "cost_usd": 0.000762},
    ]
    for name in ("opencode", "kilo", "pi"):
        told = read(name, transcript(f"{name}/turn1"))
        assert [step["metrics"] for step in told["steps"]] == [pytest.approx(one) for one in expected]


def test_what_a_tool_gave_back_and_what_was_thought():
    acts, says = read("opencode", transcript("opencode/thinking"))["steps"]
    assert (acts["message"], acts["reasoning_content"]) == ("I run it.", "Let me think.")
    assert acts["observation"]["results"][0]["content"] == "(no output)"
    assert says["message"] == "All done."
    result = read("claude-code", transcript("claude-code/turn1"))["steps"][0]["observation"]["results"][0]
    assert result["content"].startswith("File created successfully")
    result = read("pi", transcript("pi/turn1"))["steps"][0]["observation"]["results"][0]
    assert result["content"] == "Successfully wrote 18 bytes to /workspace/turn1.txt"


HIGH_DEMAND = "We\u2019re currently experiencing high demand, which may cause temporary errors."
NO_MODEL = (
    "404 There's an issue with the selected model (nosuch). It may not exist or you may not have access to it. "
    "Run --model to pick a different model."
)
UNAUTHORIZED = "unexpected status 401 Unauthorized: Incorrect API key provided, url: http://127.0.0.1:8803/v1/responses"
FAILURES = [
    ("opencode/err_mock_err401", "provider_error", "APIError 401: Incorrect API key provided"),
    ("opencode/err_mock_nosuch", "provider_error", "APIError 404: The model `nosuch` does not exist"),
    ("opencode/err_500", "provider_error", "APIError 500: mock internal error"),
    ("opencode/err_bad_bad", "error", "UnknownError: Unexpected server error. Check server logs for details."),
    (
        "opencode/err_mock_undefined-model",
        "error",
        "UnknownError: Unexpected server error. Check server logs for details.",
    ),
    ("kilo/err_401", "provider_error", "APIError 401: Incorrect API key provided"),
    ("claude-code/err_err401", "provider_error", "401 authentication_failed"),
    ("claude-code/err_err500", "provider_error", "500 server_error"),
    ("claude-code/err_nosuch", "provider_error", NO_MODEL),
    (
        "claude-code/err_401_at_once",
        "provider_error",
        "401 Failed to authenticate. API Error: 401 Incorrect API key provided",
    ),
    ("claude-code/err_refused", "provider_error", "API Error: Unable to connect to API (ConnectionRefused)"),
    ("codex/err_err401", "provider_error", UNAUTHORIZED),
    ("codex/err_err500", "provider_error", HIGH_DEMAND),
    ("codex/err_nosuch", "provider_error", "The model `nosuch` does not exist"),
    ("codex/err_429", "provider_error", "exceeded retry limit, last status: 429 Too Many Requests"),
    (
        "codex/err_waiting",
        "provider_error",
        "Reconnecting... waiting for network (Connection failed: error sending request)",
    ),
    ("pi/err_err401", "provider_error", "401 Incorrect API key provided"),
    ("pi/err_err500", "provider_error", "500 mock internal error"),
    ("pi/err_nosuch", "provider_error", "404 The model `nosuch` does not exist"),
    ("pi/err_refused", "provider_error", "Connection error."),
]


@pytest.mark.parametrize(("place", "kind", "sentence"), FAILURES, ids=[failure[0] for failure in FAILURES])
def test_a_failure_is_told_whatever_the_exit_status_says(place, kind, sentence):
    told = read(place.split("/")[0], transcript(place))
    assert {name: told.get(name) for name in ("error", "provider_error")} == {
        "error": None,
        "provider_error": None,
        kind: sentence,
    }
    assert told["session"]
    assert not told.get("steps")


def test_every_transcript_is_looked_at():
    looked_at = {f"{place}.jsonl" for place, *_ in TURNS + FAILURES}
    looked_at |= {"opencode/thinking.jsonl", "pi/err_undefined-model.jsonl"}
    assert {f"{path.parent.name}/{path.name}" for path in FILES} == looked_at


def test_a_model_that_pi_does_not_know_is_no_failure():
    told = read("pi", transcript("pi/err_undefined-model"))
    assert told["usage"]["input_tokens"] == 2010
    assert not {"error", "provider_error"} & set(told)


def test_claudes_price_list_is_believed_for_claude_only():
    text = transcript("claude-code/turn1").replace("claude-sonnet-4-5", "mock-1")
    assert read("claude-code", text)["usage"] == FIRST


def test_claudes_failure_of_its_own_is_not_the_providers():
    line = {"type": "result", "subtype": "error_max_turns", "is_error": False, "session_id": "s"}
    assert read("claude-code", json.dumps(line))["error"] == "error_max_turns"


def test_codex_that_ran_out_of_room_failed_itself():
    line = {"type": "turn.failed", "error": {"message": "Codex ran out of room in the model's context window."}}
    assert set(read("codex", json.dumps(line))) == {"error"}


def test_codex_that_reconnected_did_not_fail():
    lines = transcript("codex/turn1").splitlines()
    lines.insert(3, '{"type":"error","message":"Reconnecting... 1/1 (stream disconnected)"}')
    assert "provider_error" not in read("codex", "\n".join(lines[:6]))


def fine(told):
    """Whether orvl can take what was told."""
    assert isinstance(told, dict)
    assert set(told) <= TOLD
    for name in ("session", "error", "provider_error"):
        told.get(name, "").encode()
    for name, figure in told.get("usage", {}).items():
        assert name == "cost_usd" or isinstance(figure, int)
        assert figure >= 0
    for number, step in enumerate(told.get("steps", []), 1):
        Step.model_validate({**step, "step_id": number})
    json.dumps(told)
    return told


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_output_may_be_cut_anywhere(path):
    whole = path.read_bytes()
    for end in range(0, len(whole), 50):
        for part in (whole[:end], whole[end:]):
            fine(read(path.parent.name, part.decode("utf-8", "replace")))
    fine(read(path.parent.name, whole.decode()))


@pytest.mark.parametrize("name", AGENTS)
def test_output_may_be_anything(name):
    chance = random.Random(7)
    for _ in range(50):
        fine(read(name, chance.randbytes(2000).decode("utf-8", "replace")))
    for text in ("", "\n", "null", "[1]", "{}", '"x"', "{" * 5000, '{"type":' * 5000, "\x00", "1" * 10000):
        assert fine(read(name, text)) == {}


STRANGE = [None, True, -1, 1.5, 10**30, "text", "\ud800", [], [1, None, "x", {}], {}, {"a": 1}, {"text": 5, "id": []}]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_values_may_be_of_any_type(path):
    chance = random.Random(path.name)

    def spoilt(value):
        if chance.random() < 0.08:
            return chance.choice(STRANGE)
        if isinstance(value, dict):
            return {name: spoilt(one) for name, one in value.items()}
        return [spoilt(one) for one in value] if isinstance(value, list) else value

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for _ in range(30):
        text = "\n".join(json.dumps(spoilt(line)) for line in lines)
        fine(read(path.parent.name, text.replace("1e+30", "1e999")))


def test_much_output_is_read_quickly():
    import time

    update = '{"type":"message_update","message":{"role":"assistant","content":"' + "x" * 20_000 + '"}}\n'
    text = transcript("pi/turn1")
    start = time.process_time()
    read("pi", text)
    once = time.process_time() - start
    start = time.process_time()
    assert read("pi", update * 1000 + text)["usage"]["input_tokens"] == 2010
    assert time.process_time() - start < 1 + 20 * once


@pytest.mark.parametrize(("name", "protocol"), speaks())
def test_a_prompt_arrives_byte_for_byte_and_a_session_goes_on(name, protocol):
    first, second = command(name, protocol), command(name, protocol, session="the-session")
    for made in (first, second):
        if made.stdin is None:
            assert made.argv[-1] == TRICKY
            assert "--" in made.argv[:-1]
        else:
            assert made.stdin == TRICKY
            assert TRICKY not in made.argv
    assert "the-session" not in first.argv
    assert "the-session" in second.argv


@pytest.mark.parametrize(("name", "protocol"), speaks())
def test_the_endpoint_is_all_that_an_agent_knows(name, protocol):
    made = command(name, protocol)
    settings = json.dumps(dict(made.env)) + json.dumps(dict(made.files))
    assert "http://127.0.0.1:4321" in settings
    assert "key-of-this-run" in settings
    assert "qwen3-coder" in " ".join(made.argv)
    assert "key-of-this-run" not in " ".join(made.argv)


def test_opencode_asks_each_protocol_at_its_own_address():
    expected = {
        "openai": ("@ai-sdk/openai-compatible", "http://127.0.0.1:4321/v1"),
        "anthropic": ("@ai-sdk/anthropic", "http://127.0.0.1:4321/v1"),
        "responses": ("@ai-sdk/openai", "http://127.0.0.1:4321/v1"),
        "gemini": ("@ai-sdk/google", "http://127.0.0.1:4321/v1beta"),
    }
    for name, variable in (("opencode", "OPENCODE_CONFIG_CONTENT"), ("kilo", "KILO_CONFIG_CONTENT")):
        for protocol, (package, address) in expected.items():
            made = command(name, protocol)
            provider = json.loads(made.env[variable])["provider"]["opencode"]
            assert (provider["npm"], provider["options"]["baseURL"]) == (package, address)
            assert provider["models"] == {"qwen3-coder": {"status": "active"}}
            assert "opencode/qwen3-coder" in made.argv


def test_a_model_may_have_any_name():
    odd = '~maker/some "model" \u65e5'
    made = command("opencode", "openai", model=odd)
    settings = json.loads(made.env["OPENCODE_CONFIG_CONTENT"])
    assert settings["model"] == settings["small_model"] == f"opencode/{odd}"
    assert f"opencode/{odd}" in made.argv
    assert list(settings["provider"]["opencode"]["models"]) == [odd]
    settings = json.loads(command("pi", "openai", model=odd).files[".pi/agent/models.json"])
    assert settings["providers"]["orvl"]["models"] == [{"id": odd}]
    assert command("claude-code", "anthropic", model=odd).env["ANTHROPIC_MODEL"] == odd


def test_opencode_under_its_own_name_for_a_provider_that_would_speak_responses():
    made = command("opencode", "openai", provider="openai", model="gpt-6-sol")
    assert "openai-chat/gpt-6-sol" in made.argv
    assert "openai/gpt-6-sol" in command("opencode", "responses", provider="openai", model="gpt-6-sol").argv


def test_claude_asks_for_no_other_model():
    made = command("claude-code", "anthropic", model="claude-sonnet-5")
    models = {name: value for name, value in made.env.items() if "MODEL" in name}
    assert len(models) == 6
    assert set(models.values()) == {"claude-sonnet-5"}


def test_nothing_is_fetched_reported_or_tried_for_long():
    claude = command("claude-code", "anthropic").env
    switches = [name for name in claude if "DISABLE" in name]
    assert len(switches) == 4
    assert {claude[name] for name in (*switches, "CLAUDE_CODE_MAX_RETRIES", "IS_SANDBOX")} == {"1"}
    codex = tomllib.loads(command("codex", "responses").files[".codex/config.toml"])
    assert codex["model_providers"]["orvl"] == {
        "name": "orvl",
        "base_url": "http://127.0.0.1:4321/v1",
        "env_key": "ORVL_KEY",
        "wire_api": "responses",
        "request_max_retries": 1,
        "stream_max_retries": 1,
    }
    assert not any((*codex["features"].values(), codex["analytics"]["enabled"], codex["check_for_update_on_startup"]))
    pi = command("pi", "openai")
    assert json.loads(pi.files[".pi/agent/settings.json"])["retry"]["enabled"] is False
    assert pi.env["PI_OFFLINE"] == "1"
    for name, prefix in (("opencode", "OPENCODE"), ("kilo", "KILO")):
        env = command(name, "openai").env
        assert {env[f"{prefix}_DISABLE_{what}"] for what in ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD")} == {"1"}
        assert json.loads(env[f"{prefix}_CONFIG_CONTENT"])["agent"] == {"title": {"disable": True}}


def test_versions_are_pinned_and_the_first_example_is_there():
    for name in AGENTS:
        assert all(package.rindex("@") > 0 for package in LOADED[name].install["npm"])
        assert LOADED[name].version[-1] == "--version"
        assert LOADED[name].description
    assert LOADED["opencode"].models["zen"]["qwen3-coder"] == "qwen3-coder"
    assert LOADED["kilo"].models == LOADED["opencode"].models


def test_lines_that_are_no_objects_are_skipped():
    text = 'x\n[1]\n{"a": 1\n{"a": "\u2028"}\r\n{"b": "\\ud800"}\n' + '{"a":' * 200 + "1" + "}" * 200 + '\n{"skip": 1}'
    assert list(json_lines(text, skip=('{"skip"',))) == [{"a": "\u2028"}, {"b": "?"}]


def test_getters_give_nothing_for_what_is_not_there():
    line = {"a": {"b": "text", "n": 3, "bad": -1, "nan": float("nan"), "yes": True}}
    assert (text_at(line, "a", "b"), text_at(line, "a", "n"), text_at(line, "x", "b")) == ("text", "", "")
    assert (count_at(line, "a", "n"), count_at(line, "a", "b"), count_at(line, "a", "bad")) == (3, None, None)
    assert (number_at(line, "a", "nan"), number_at(line, "a", "yes"), number_at(None, "a")) == (None, None, None)
    assert plain_text([{"text": "a"}, {"type": "image"}, {"text": "b"}]) == "a\nb"
    assert (plain_text({"a": 1}), plain_text(None)) == ('{"a": 1}', "")


def test_a_sum_that_misses_a_step_is_left_out():
    steps = Steps()
    steps.say("one")
    steps.measure(10, 5, 1)
    steps.begin()
    steps.call("c", "tool")
    steps.result("c", "fine")
    steps.result("unknown", "lost")
    assert steps.usage() == {"tool_calls": 1}
    steps.measure(20, None, 2)
    assert steps.usage() == {"tool_calls": 1, "input_tokens": 30, "output_tokens": 3}
    assert steps.list[1]["observation"]["results"] == [{"source_call_id": "c", "content": "fine"}]

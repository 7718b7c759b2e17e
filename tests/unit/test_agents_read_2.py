"""gemini-cli, qwen-code, aider, mini-swe-agent and cline: what they are told to do, and what is read from their real output."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from atif import Step

import orvl
from orvl.project.agents import load_agent
from orvl.project.find import SourceFile
from orvl.run.command import Word, folder, to_command

AGENTS = ("gemini-cli", "qwen-code", "aider", "mini-swe-agent", "cline")
TRANSCRIPTS = Path(__file__).parents[1] / "transcripts"
TOLD = {"session", "steps", "usage", "error", "provider_error"}
FIGURES = {"input_tokens", "cached_tokens", "output_tokens", "tool_calls", "cost_usd"}
TRAJECTORY = ".config/mini-swe-agent/last_mini_run.traj.json"
TRICKY = (
    "-rf --help do 'it' \"now\" $(touch x) {{task}} \\ `x`\nsecond line \u2014 \u00fcn\u00ef \u65e5\u672c \u2028 end"
)


def agent(name):
    path = Path(orvl.__file__).parent / "agents" / f"{name.replace('-', '_')}.py"
    return load_agent(SourceFile(name, path, "built-in"), {})


LOADED = {name: agent(name) for name in AGENTS}


def called(function, **given):
    return function.function(**{name: given[name] for name in function.wants})


def read(name, output="", stderr="", home=None):
    told = called(LOADED[name].read, output=output, stderr=stderr, home=home or Path("/nonexistent"), status=0, turn=1)
    assert set(told) <= TOLD
    assert set(told.get("usage", {})) <= FIGURES
    for number, step in enumerate(told.get("steps", []), 1):
        Step.model_validate({"step_id": number, **step})
    return told


def transcript(name, place):
    """What `read` tells of a kept transcript; mini-swe-agent's is in a file of its own."""
    found = TRANSCRIPTS / name / f"{place}.jsonl"
    stderr = found.with_suffix(".stderr")
    return read(name, found.read_text(), stderr.read_text() if stderr.exists() else "")


def trajectory(home, text):
    path = home / TRAJECTORY
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read("mini-swe-agent", home=home)


def command(name, tmp_path, prompt=TRICKY, session=None, turn=1, protocol=None):
    protocol = protocol or LOADED[name].protocols[0]
    url = "http://127.0.0.1:4321" + ("/v1" if protocol == "openai" else "")
    return to_command(
        called(
            LOADED[name].command,
            provider=Word("zen"),
            model=Word("some/model"),
            prompt=Word(prompt),
            session=Word(session) if session else None,
            workspace=folder(tmp_path, Path("/workspace")),
            endpoint=SimpleNamespace(url=url, key="key-of-this-run", protocol=protocol),
            turn=turn,
        ),
        prompt,
    )


def calls(told):
    return [(call["function_name"], call["arguments"]) for step in told["steps"] for call in step.get("tool_calls", ())]


def results(told):
    return [one["content"] for step in told["steps"] for one in step.get("observation", {}).get("results", ())]


@pytest.mark.parametrize("name", AGENTS)
def test_every_file_is_pinned_and_says_its_version(name):
    one = LOADED[name]
    [(kind, packages)] = one.install.items()
    assert all(("==" if kind == "pip" else "@") in package[1:] for package in packages)
    assert one.version
    assert one.description
    assert one.protocols


@pytest.mark.parametrize("name", AGENTS)
def test_a_session_goes_on_only_where_the_agent_can(name):
    continues = {"gemini-cli": {"session"}, "qwen-code": {"session"}, "aider": {"turn"}}
    assert {"session", "turn"} & set(LOADED[name].command.wants) == continues.get(name, set())


@pytest.mark.parametrize("name", AGENTS)
def test_address_key_and_model_reach_the_agent(name, tmp_path):
    made = command(name, tmp_path)
    said = json.dumps([list(made.argv), dict(made.env), dict(made.files)])
    assert "127.0.0.1:4321" in said
    assert "key-of-this-run" in said
    assert "some/model" in said
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ("gemini-cli", "qwen-code"))
def test_a_prompt_is_one_argument_or_standard_input(name, tmp_path):
    made = command(name, tmp_path)
    assert f"--prompt={TRICKY}" in made.argv
    assert made.stdin is None
    for unfit in ('"all of it in quotes"', "long " * 30_000):
        made = command(name, tmp_path, prompt=unfit)
        assert made.stdin == unfit
        assert not any("prompt" in word for word in made.argv)
    assert "--resume=id-1" in command(name, tmp_path, session="id-1").argv


def test_mini_gets_its_task_as_one_argument_and_an_empty_trajectory(tmp_path):
    made = command("mini-swe-agent", tmp_path, protocol="anthropic")
    assert f"--task={TRICKY}" in made.argv
    assert "--model=anthropic/some/model" in made.argv
    assert made.files == {TRAJECTORY: ""}


def test_cline_gets_its_prompt_after_two_dashes_and_never_as_a_command(tmp_path):
    assert command("cline", tmp_path).argv[-2:] == ["--", TRICKY]
    assert command("cline", tmp_path, prompt="auth").argv[-1] == "auth "
    with pytest.raises(ValueError, match="too long"):
        command("cline", tmp_path, prompt="long " * 30_000)
    settings = json.loads(command("cline", tmp_path).files[".cline/data/settings/providers.json"])
    assert settings["providers"]["openai-compatible"]["settings"] == {
        "provider": "openai-compatible",
        "apiKey": "key-of-this-run",
        "model": "some/model",
        "baseUrl": "http://127.0.0.1:4321/v1",
    }


def test_aider_gets_its_prompt_as_a_file_and_never_as_a_command(tmp_path):
    made = command("aider", tmp_path)
    assert made.files[".aider/prompt.md"] == TRICKY
    assert command("aider", tmp_path, prompt="!rm x").files[".aider/prompt.md"] == "\n!rm x"
    assert "--restore-chat-history" not in made.argv
    assert "--restore-chat-history" in command("aider", tmp_path, turn=2).argv
    anthropic = command("aider", tmp_path, protocol="anthropic").argv
    assert "--set-env=ANTHROPIC_API_BASE=http://127.0.0.1:4321" in anthropic
    assert "--api-key=anthropic=key-of-this-run" in anthropic


def test_aider_is_given_the_small_texts_of_the_workspace(tmp_path):
    def given():
        return [word for word in command("aider", tmp_path).argv if word.startswith(("--file", "--read"))]

    (tmp_path / "src").mkdir()
    (tmp_path / "src/-a b.py").write_text("a")
    assert given() == ["--read=src/-a b.py"]
    (tmp_path / "top.md").write_text("top")
    (tmp_path / "binary").write_bytes(b"a\0b")
    (tmp_path / "latin").write_bytes(b"\xff\xfe")
    (tmp_path / "huge.txt").write_text("x" * 50_000)
    (tmp_path / ".hidden").write_text("x")
    (tmp_path / "link").symlink_to("/etc/passwd")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules/x.js").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    assert given() == ["--file=top.md", "--file=src/-a b.py"]
    for number in range(100):
        (tmp_path / f"{number}.txt").write_text("x" * 10_000)
    assert len(given()) < 15


@pytest.mark.parametrize(
    ("turn", "number", "used"),
    [(1, "1", (2010, 500, 215)), (2, "3", (4030, 1000, 417))],
)
def test_gemini_tells_a_turn(turn, number, used):
    told = transcript("gemini-cli", f"turn{turn}")
    assert told["session"] == "6d1aa882-75f6-4f5f-bc9c-cc39c7f60b86"
    assert [step["message"] for step in told["steps"]] == ["", f"Done with turn {turn}."]
    place = {"file_path": f"/workspace/turn{turn}.txt", "content": f"hello from turn {turn}\n"}
    assert calls(told) == [("write_file", place)]
    assert results(told) == ["success"]
    assert told["steps"][0]["tool_calls"][0]["tool_call_id"] == f"write_file__call_00000{number}"
    names = ("input_tokens", "cached_tokens", "output_tokens")
    assert told["usage"] == {**dict(zip(names, used, strict=True)), "tool_calls": 1}
    assert not {"error", "provider_error"} & set(told)


def test_gemini_puts_pieces_of_a_message_together():
    told = transcript("gemini-cli", "deltas")
    assert [step["message"] for step in told["steps"]] == ["I will write it.", "Done with turn 1."]
    assert told["usage"] == {"input_tokens": 2010, "cached_tokens": 500, "output_tokens": 214, "tool_calls": 1}


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("err_err401", "Incorrect API key provided"),
        ("err_nosuch", "The model `nosuch` does not exist"),
        ("err_err500", "mock internal error"),
        ("err_err429", "Rate limit reached"),
    ],
)
def test_gemini_tells_whose_fault_it_was(place, words):
    told = transcript("gemini-cli", place)
    assert words in told["provider_error"]
    assert told["session"]
    assert "steps" not in told
    assert "error" not in told


def test_gemini_that_asked_wrongly_or_just_ended_has_failed_itself():
    result = {"type": "result", "status": "error", "error": {"message": '[API Error: {"error":{"code":400}}]'}}
    assert read("gemini-cli", json.dumps(result)) == {"error": '[API Error: {"error":{"code":400}}]'}
    assert read("gemini-cli") == {"error": "gemini ended without a result"}


@pytest.mark.parametrize(("turn", "used"), [(1, (2010, 500, 201)), (2, (4030, 1000, 403))])
def test_qwen_tells_a_turn(turn, used):
    told = transcript("qwen-code", f"turn{turn}")
    assert told["session"] == "adea14e7-680e-4c3a-b213-5bb190a6fde8"
    assert [step["message"] for step in told["steps"]] == ["", f"Done with turn {turn}."]
    place = {"file_path": f"/workspace/turn{turn}.txt", "content": f"hello from turn {turn}\n"}
    assert calls(told) == [("write_file", place)]
    assert results(told) == [f"Successfully created and wrote to new file: /workspace/turn{turn}.txt."]
    names = ("input_tokens", "cached_tokens", "output_tokens")
    assert told["usage"] == {**dict(zip(names, used, strict=True)), "tool_calls": 1}
    assert not {"error", "provider_error"} & set(told)


def test_qwen_puts_thoughts_and_answer_of_a_call_together():
    told = transcript("qwen-code", "thinking")
    assert [step.get("reasoning_content") for step in told["steps"]] == [None, "thinking hard"]
    assert [step["message"] for step in told["steps"]] == ["I will write it.", "Done with turn 1."]
    assert told["usage"] == {"input_tokens": 2010, "cached_tokens": 500, "output_tokens": 201, "tool_calls": 1}


def test_qwen_tells_whose_fault_it_was():
    for place, words in (("err_err401", "401 Incorrect API key provided"), ("err_nosuch", "404 The model `nosuch`")):
        told = transcript("qwen-code", place)
        assert told["provider_error"].startswith(f"[API Error: {words}")
        assert set(told) == {"session", "provider_error"}
    assert transcript("qwen-code", "err_err500") == {
        "session": "8c242b85-427a-4171-95ec-02bd031134d7",
        "error": "qwen ended without a result",
    }
    wrong = {"type": "result", "is_error": False, "result": "[API Error: 400 too long]"}
    assert read("qwen-code", json.dumps(wrong)) == {"error": "[API Error: 400 too long]"}


@pytest.mark.parametrize(("turn", "used"), [(1, (1000, 100)), (2, (2000, 200))])
def test_aider_tells_a_turn(turn, used):
    told = transcript("aider", f"turn{turn}")
    [step] = told["steps"]
    assert step["message"].startswith(f"Creating the file.\n\nturn{turn}.txt\n```\n<<<<<<< SEARCH")
    assert step["message"].endswith("```")
    assert told["usage"] == {"input_tokens": used[0], "output_tokens": used[1], "tool_calls": 0}
    assert set(told) == {"steps", "usage"}


def test_aider_counts_what_was_cached_once():
    told = read(
        "aider", "Aider v1\n\nYes.\n\nTokens: 12k sent, 2.0k cache write, 3.5k cache hit,\n900 received. Cost: $1\n"
    )
    assert told["usage"] == {"input_tokens": 10_000, "cached_tokens": 3_500, "output_tokens": 900, "tool_calls": 0}
    assert told["steps"][0]["message"] == "Yes."


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("err_err401", "AuthenticationError: AuthenticationError: OpenAIException - Incorrect API key provided"),
        ("err_nosuch", "NotFoundError: NotFoundError: OpenAIException - The model `nosuch` does not exist"),
        ("err_err500", "InternalServerError: InternalServerError: OpenAIException - mock internal error"),
        ("err_err429", "RateLimitError: RateLimitError: OpenAIException - Rate limit reached"),
    ],
)
def test_aider_tells_whose_fault_it_was(place, words):
    told = transcript("aider", place)
    assert set(told) == {"provider_error"}
    assert told["provider_error"].startswith(words)


def test_aider_that_recovered_or_gave_up():
    failure, answer = (
        "litellm.RateLimitError: slow down\nRetrying in 0.2 seconds...\n",
        "Hi.\n\nTokens: 5 sent, 6 received.\n",
    )
    assert not {"error", "provider_error"} & set(read("aider", failure + answer))
    assert read("aider", answer + "Only 3 reflections allowed, stopping.\n")["error"].startswith("Only 3 reflections")
    assert "provider_error" in read("aider", answer + failure)
    assert set(read("aider", "litellm.ContextWindowExceededError: too long\n")) == {"error"}
    assert read("aider") == {"error": "aider ended without an answer"}


def test_mini_tells_a_turn(tmp_path):
    told = trajectory(tmp_path, (TRANSCRIPTS / "mini-swe-agent/turn1.traj.json").read_text())
    assert calls(told) == [
        ("bash", {"command": "printf 'hello from turn 1\\n' > turn1.txt"}),
        ("bash", {"command": "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT"}),
    ]
    assert [json.loads(result)["returncode"] for result in results(told)] == [0, -1]
    assert told["usage"] == {"input_tokens": 2010, "cached_tokens": 500, "output_tokens": 201, "tool_calls": 2}
    assert set(told) == {"steps", "usage"}


def test_mini_tells_whose_fault_it_was(tmp_path):
    told = trajectory(tmp_path, (TRANSCRIPTS / "mini-swe-agent/err_nosuch.traj.json").read_text())
    assert set(told) == {"provider_error"}
    assert told["provider_error"].endswith("OpenAIException - The model `nosuch` does not exist")
    limit = {"info": {"exit_status": "LimitsExceeded"}, "messages": [{"role": "exit", "content": "enough"}]}
    assert trajectory(tmp_path, json.dumps(limit)) == {"error": "LimitsExceeded: enough"}
    for nothing in ("", "[]", '{"info": 3, "messages": [null, 3, {"extra": []}]}'):
        assert trajectory(tmp_path, nothing) == {"error": "mini-swe-agent ended without submitting"}


def test_mini_reads_no_file_but_its_own(tmp_path):
    own, other = tmp_path / "home", tmp_path / "other"
    secret = (TRANSCRIPTS / "mini-swe-agent/turn1.traj.json").read_text()
    assert trajectory(other, secret)["steps"]
    path = own / TRAJECTORY
    nothing = {"error": "mini-swe-agent ended without submitting"}
    own.mkdir()
    (own / ".config").symlink_to(other / ".config")
    assert read("mini-swe-agent", home=own) == nothing
    (own / ".config").unlink()
    path.parent.mkdir(parents=True)
    path.symlink_to(other / TRAJECTORY)
    assert read("mini-swe-agent", home=own) == nothing
    path.unlink()
    os.mkfifo(path)
    assert read("mini-swe-agent", home=own) == nothing
    path.unlink()
    path.mkdir()
    assert read("mini-swe-agent", home=own) == nothing
    path.rmdir()
    with path.open("wb") as huge:
        huge.truncate(1 << 40)
    assert read("mini-swe-agent", home=own) == nothing


def test_cline_tells_a_turn():
    told = transcript("cline", "turn1")
    assert [step["message"] for step in told["steps"]] == ["", "Done with turn 1."]
    assert calls(told) == [("editor", {"path": "/workspace/turn1.txt", "new_text": "hello from turn 1\n"})]
    assert json.loads(results(told)[0])["success"] is True
    assert told["usage"] == {"input_tokens": 2010, "cached_tokens": 500, "output_tokens": 201, "tool_calls": 1}
    assert set(told) == {"steps", "usage"}
    thinking = transcript("cline", "thinking")
    assert [step.get("reasoning_content") for step in thinking["steps"]] == [None, "thinking hard"]
    assert [step["message"] for step in thinking["steps"]] == ["I will write it.", "Done with turn 1."]


def test_cline_tells_whose_fault_it_was():
    assert transcript("cline", "err_err401") == {"provider_error": "Incorrect API key provided"}
    assert transcript("cline", "err_nosuch") == {"provider_error": "The model `nosuch` does not exist"}
    assert transcript("cline", "err_err500") == {"error": "cline ended without a result"}
    stderr = (TRANSCRIPTS / "cline/turn2.stderr").read_text()
    assert read("cline", "", stderr)["error"].startswith("cline ended without a result: JSON output mode requires")
    limit = {"type": "run_result", "finishReason": "mistake_limit", "text": "too many"}
    assert read("cline", json.dumps(limit)) == {"error": "mistake_limit: too many"}


def everything(name):
    """The texts that `read` of an agent may be given, as bytes."""
    kind = "*.traj.json" if name == "mini-swe-agent" else "*.jsonl"
    return [path.read_bytes() for path in sorted((TRANSCRIPTS / name).glob(kind))]


def read_bytes(name, content, home):
    if name == "mini-swe-agent":
        return trajectory(home, content)
    text = content.decode("utf-8", "replace")
    return read(name, text, text)


@pytest.mark.parametrize("name", AGENTS)
def test_cut_output_is_no_problem(name, tmp_path):
    texts = everything(name)
    assert texts
    for text in texts:
        for end in range(0, len(text), 50):
            read_bytes(name, text[:end], tmp_path)
            if name != "mini-swe-agent":
                read_bytes(name, text[end:], tmp_path)


def mangled(value, chance):
    """JSON of the same form in which some values are of other types."""
    if chance.random() < 0.15:
        return chance.choice([None, True, -1, 1e300, 10**30, "x", "\ud800", [], {}, [[{}]], {"text": 3}, [None, 3]])
    if isinstance(value, dict):
        return {name: mangled(one, chance) for name, one in value.items()}
    return [mangled(one, chance) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("name", [name for name in AGENTS if name != "aider"])
def test_json_of_other_types_is_no_problem(name, tmp_path):
    chance = random.Random(7)
    for text in everything(name):
        lines = [text] if name == "mini-swe-agent" else text.splitlines()
        whole = [json.loads(line) for line in lines]
        for _ in range(60):
            content = "\n".join(json.dumps(mangled(line, chance)) for line in whole)
            read_bytes(name, content.encode(), tmp_path)


@pytest.mark.parametrize("name", AGENTS)
def test_noise_is_no_problem_and_takes_no_time(name, tmp_path):
    chance = random.Random(7)
    began = time.monotonic()
    for _ in range(50):
        read_bytes(name, chance.randbytes(2_000), tmp_path)
    for line in (
        "[" * 100_000,
        '{"a":' * 100_000,
        "Aider v\n" * 100_000,
        "Tokens: 1 sent,\n" * 100_000,
        "{}\n" * 100_000,
    ):
        read_bytes(name, line.encode(), tmp_path)
    read_bytes(name, b"\nTokens: " + b"1" * 1_000_000 + b" sent, " + b"." * 100_000 + b" received.\n", tmp_path)
    assert time.monotonic() - began < 20

"""Runs as ATIF files: valid whatever an agent told, and with all that orvl knows."""

from __future__ import annotations

import json
import random
import re
from math import inf, nan
from pathlib import Path

import pytest
from atif import Trajectory

import orvl
from orvl.project.agents import load_agent
from orvl.project.find import SourceFile
from orvl.report.atif import steps_of, trajectory
from orvl.types import Attempt, Score, Turn, Usage

TRANSCRIPTS = sorted((Path(__file__).parents[1] / "transcripts").glob("*/*.jsonl"))
CELL = {"agent": "opencode", "model": "qwen3-coder", "provider": "zen", "eval": "todo", "version": "1.18.33"}
RUN = "ab" * 32
WITHOUT_TOOLS = ("aider",)
NAMES = re.findall(
    r"\w+",
    """
    source message step_id timestamp model_name reasoning_effort reasoning_content tool_calls observation metrics
    extra llm_call_count is_copied_context tool_call_id function_name arguments results source_call_id content
    subagent_trajectory_ref trajectory_id trajectory_path session_id prompt_tokens completion_tokens cached_tokens
    cost_usd prompt_token_ids completion_token_ids logprobs type text media_type path x
    """,
)


def turn(session=None):
    return Turn(1.0, 0.5, 0, None, session, None, None, 0)


def made(told, attempt=None, **more):
    """A run's file, as other programs read it: strict JSON, valid by the format's own models."""
    attempt = attempt or Attempt("finished", None, 1.7e9, Usage(2.0), (turn(),))
    told = told if isinstance(told, bytes) else json.dumps(told).encode()
    file = trajectory(RUN, {**CELL, **more}, 1, ("Do it.", "Again."), attempt, told)
    text = json.dumps(file, allow_nan=False, ensure_ascii=False).encode("utf-8")
    Trajectory.model_validate_json(text)
    return Trajectory.model_validate(json.loads(text)).to_json_dict()


def step(**told):
    """One step that an agent told, as it stands in the file."""
    return made([told])["steps"][0]


def test_a_run_with_all_that_is_known_of_it():
    usage = Usage(12.5, 1000, 300, 200, 4, 0.25, "metered")
    attempt = Attempt(
        "failed", "turn 2 ended with status 1", 1.7e9, usage, (turn("ses_1"), turn()), sandbox="bubblewrap"
    )
    told = [
        {"source": "user", "message": "Do it."},
        {
            "source": "agent",
            "message": "I write.",
            "reasoning_content": "Hm.",
            "model_name": "qwen3-coder-480b",
            "timestamp": "2026-01-02T03:04:05Z",
            "tool_calls": [{"tool_call_id": "c1", "function_name": "write", "arguments": {"path": "a.py"}}],
            "observation": {"results": [{"source_call_id": "c1", "content": "written"}]},
            "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cached_tokens": 3, "cost_usd": 0.5},
        },
    ]
    score = Score("speed", "k", "", "", 1, "scored", 0.5)
    file = trajectory(RUN, CELL, 3, ("Do it.",), attempt, json.dumps(told).encode(), [score])
    Trajectory.model_validate(file)
    assert file["schema_version"] == "ATIF-v1.8"
    assert file["session_id"] == "ses_1"
    assert file["agent"] == {
        "name": "opencode",
        "version": "1.18.33",
        "model_name": "qwen3-coder",
        "extra": {"provider": "zen"},
    }
    assert file["steps"] == [{"step_id": number, **one} for number, one in enumerate(told, 1)]
    assert file["final_metrics"] == {
        "total_prompt_tokens": 1000,
        "total_completion_tokens": 200,
        "total_cached_tokens": 300,
        "total_cost_usd": 0.25,
        "total_steps": 2,
        "extra": {"seconds": 12.5, "tool_calls": 4, "cost_source": "metered"},
    }
    facts = file["extra"]["orvl"]
    assert facts.pop("started")
    assert facts == {
        "run": RUN,
        "eval": "todo",
        "episode": 3,
        "provider": "zen",
        "outcome": "failed",
        "reason": "turn 2 ended with status 1",
        "sandbox": "bubblewrap",
        "scores": [{"metric": "speed", "kind": "scored", "value": 0.5}],
    }


@pytest.mark.parametrize("told", [b"[]", b"{}", b"not JSON", b"[" * 100_000, b"\xff", b"[1, null, [], {}]"])
def test_a_run_without_steps_has_its_prompts(told):
    file = made(told, version="")
    assert [(one["source"], one["message"]) for one in file["steps"]] == [("user", "Do it."), ("user", "Again.")]
    assert file["session_id"] == RUN
    assert file["agent"]["version"] == "unknown"
    assert "total_cost_usd" not in file["final_metrics"], "what nobody knows is not 0"


def test_what_the_format_does_not_know_moves_into_extra():
    told = step(source="agent", message="Hi", mood="good", step_id=99, extra={"a": 1}, timestamp="yesterday")
    assert told == {
        "step_id": 1,
        "source": "agent",
        "message": "Hi",
        "extra": {"a": 1, "mood": "good", "timestamp": "yesterday"},
    }
    assert step(source="robot", message="Hi")["extra"] == {"source": "robot"}
    assert step(source="agent", message="Hi", extra="plain")["extra"] == {"extra": "plain"}


def test_what_only_agents_have_moves_out_of_other_steps():
    told = step(
        source="user", message="Hi", metrics={"prompt_tokens": 1}, tool_calls=[], model_name="m", observation={}
    )
    assert told["extra"] == {"metrics": {"prompt_tokens": 1}, "tool_calls": [], "model_name": "m", "observation": {}}
    quiet = step(source="agent", message="Hi", llm_call_count=0, metrics={"prompt_tokens": 1}, reasoning_content="Hm.")
    assert quiet["extra"] == {"metrics": {"prompt_tokens": 1}, "reasoning_content": "Hm."}


def test_tool_calls_are_kept_whatever_they_lack():
    calls = step(
        tool_calls=[
            {"tool_call_id": 7, "function_name": "ls", "arguments": '{"path": "."}'},
            {"function_name": "run", "arguments": "make test", "seconds": 3},
            {"tool_call_id": "c", "function_name": None, "arguments": None},
            "ls -l",
        ]
    )["tool_calls"]
    assert calls == [
        {"tool_call_id": "7", "function_name": "ls", "arguments": {"path": "."}},
        {
            "tool_call_id": "call_2",
            "function_name": "run",
            "arguments": {"value": "make test"},
            "extra": {"seconds": 3},
        },
        {"tool_call_id": "c", "function_name": "unknown", "arguments": {}},
        {"tool_call_id": "call_4", "function_name": "unknown", "arguments": {"value": "ls -l"}},
    ]


def test_results_refer_to_calls_of_their_own_step():
    call = {"tool_call_id": "c1", "function_name": "ls", "arguments": {}}
    results = [{"source_call_id": "c1", "content": {"a": 1}}, {"source_call_id": "c9", "content": "?"}, "free"]
    told = step(message="", tool_calls=[call], observation={"results": results})["observation"]["results"]
    assert told == [
        {"source_call_id": "c1", "content": '{"a": 1}'},
        {"content": "?", "extra": {"source_call_id": "c9"}},
        {"content": "free"},
    ]
    alone = step(message="", observation=[{"source_call_id": "c1", "content": "x"}])
    assert alone["observation"]["results"] == [{"content": "x", "extra": {"source_call_id": "c1"}}]


def test_messages_in_parts():
    image = {"type": "image", "source": {"media_type": "image/png", "path": "a.png"}}
    parts = [{"type": "text", "text": "see"}, image, {"type": "image", "source": {"media_type": "x", "path": "y"}}]
    kept = step(message=parts)["message"]
    assert kept[:2] == parts[:2]
    assert json.loads(kept[2]["text"]) == parts[2]
    assert step(message={"a": 1})["message"] == '{"a": 1}'


def test_figures_that_are_none():
    told = step(message="x", metrics={"prompt_tokens": -1, "cached_tokens": 2.0, "cost_usd": "much", "thoughts": 5})
    assert told["metrics"] == {"cached_tokens": 2, "extra": {"prompt_tokens": -1, "cost_usd": "much", "thoughts": 5}}


def test_steps_in_which_nothing_is_are_left_out():
    told = [{"source": "agent", "message": ""}, {}, {"source": "agent", "message": None}, {"message": "here"}]
    assert steps_of(told) == [{"step_id": 1, "source": "agent", "message": "here"}]


def garbage(luck, depth=0):
    """Anything that JSON, or Python's reading of it, can hold; with a liking for the format's own names."""
    plain = [
        None,
        True,
        False,
        0,
        1,
        -1,
        2**70,
        10**18,
        1.5,
        1e300,
        nan,
        inf,
        "",
        "c1",
        "c2",
        "agent",
        "user",
        "system",
    ]
    plain += ["text", "image", "image/png", "2026-01-02T03:04:05Z", "\ud800", "\0", "{}", '{"a": NaN}', "[", "é" * 50]
    kind = luck.random()
    if depth > 5 or kind < 0.35:
        return luck.choice(plain)
    if kind < 0.55:
        return [garbage(luck, depth + 1) for _ in range(luck.randrange(4))]
    return {luck.choice(NAMES): garbage(luck, depth + 1) for _ in range(luck.randrange(7))}


@pytest.mark.parametrize("seed", range(30))
def test_any_garbage_becomes_a_valid_file(seed):
    luck = random.Random(seed)
    for _ in range(100):
        steps = [garbage(luck, 1) for _ in range(luck.randrange(6))]
        steps += [
            {
                "source": "agent",
                "message": garbage(luck, 3),
                luck.choice(["tool_calls", "metrics", "observation"]): garbage(luck, 2),
            }
        ]
        made(json.dumps(steps).encode(), Attempt("finished", "\udcff", 1.7e9, Usage(), (turn("\udcff"),)))


def test_very_deep_garbage():
    deep = b'[{"message": "x", "extra": {"a": ' + b"[" * 900 + b"]" * 900 + b"}}]"
    assert made(deep)["steps"][0]["message"] == "x"


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_real_transcripts(path, tmp_path):
    name = path.parent.name
    file = Path(orvl.__file__).parent / "agents" / f"{name.replace('-', '_')}.py"
    function = load_agent(SourceFile(name, file, "built-in"), {}).read.function
    kept = path.with_suffix(".traj.json")
    if kept.exists():
        place = tmp_path / function.__globals__["TRAJECTORY"]
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(kept.read_bytes())
    given = {"output": path.read_text(), "turn": 1, "stderr": "", "status": 0, "home": tmp_path, "workspace": tmp_path}
    wanted = function.__code__.co_varnames[: function.__code__.co_argcount]
    told = function(**{one: given[one] for one in wanted}).get("steps", [])
    file = made([{"source": "user", "message": "Do it."}, *told])
    assert [one["source"] for one in file["steps"]] == ["user", *["agent"] * len(told)]
    calls = [call["tool_call_id"] for one in told for call in one.get("tool_calls", ())]
    assert [call["tool_call_id"] for one in file["steps"] for call in one.get("tool_calls", ())] == calls
    results = [one for told_step in told for one in told_step.get("observation", {}).get("results", ())]
    assert [one for kept in file["steps"] for one in kept.get("observation", {}).get("results", ())] == results
    if path.stem.startswith("turn"):
        assert told
        assert calls or name in WITHOUT_TOOLS


# -- the command


@pytest.fixture
def told(small):
    """A project with runs of two agents, one of which tells its steps."""
    small.agent(
        "teller",
        """
        models = {"none": ["fixed"]}
        version = ["sh", "-c", "echo 4.5"]

        def command(prompt):
            return ["sh", "-c", "echo hello > a.txt"]

        def read(output):
            call = {"tool_call_id": "c1", "function_name": "sh", "arguments": ["echo"]}
            return {"session": "mine", "steps": [{"source": "agent", "message": "done", "tool_calls": [call]}]}
        """,
    )
    assert small.orvl("writer,teller", "--eval=one", "--episodes=2").status == 0
    return small


def test_a_file_for_each_run(told):
    done = told.orvl("export", "atif", "--output", "out/files")
    assert (done.status, done.out) == (0, "4 runs written to out/files\n")
    files = list((told.root / "out/files").iterdir())
    made = [Trajectory.model_validate_json(path.read_bytes()) for path in files]
    assert sorted((one.agent.name, one.extra["orvl"]["episode"]) for one in made) == [
        ("teller", 1),
        ("teller", 2),
        ("writer", 1),
        ("writer", 2),
    ]
    assert {path.name for path in files} == {f"{one.trajectory_id[:12]}.atif.json" for one in made}
    teller = next(one for one in made if one.agent.name == "teller")
    assert (teller.session_id, teller.agent.version, teller.agent.model_name) == ("mine", "4.5", "fixed")
    assert [(one.source, one.message) for one in teller.steps] == [("user", "Say hello."), ("agent", "done")]
    assert teller.steps[1].tool_calls[0].arguments == {"value": ["echo"]}
    assert teller.extra["orvl"]["scores"][0]["metric"] == "speed"


def test_words_and_standard_output(told):
    assert told.orvl("export", "atif", "tell*", "--output", "some").out == "2 runs written to some\n"
    assert told.orvl("export", "atif", "writer", "fixed", "none", "one", "--output", "some").out.startswith("2 runs")
    one = told.orvl("export", "atif", "teller/one/2", "--output=-")
    file = Trajectory.model_validate_json(one.out)
    assert file.extra["orvl"]["episode"] == 2
    assert told.orvl("export", "atif", file.trajectory_id[:10], "--output=-").out == one.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["atif"], "--output DIR"),
        (["atif", "--output=-"], "Only one run can go to standard output"),
        (["atif", "telle", "--output=x"], "Did you mean 'teller'?"),
        (["atif", "teller/one/9", "--output=x"], "no run 'teller/one/9'"),
        (["atif", "a", "b", "c", "d", "e", "--output=x"], "Too many words"),
        (["atif", "--output=agents/teller.py/x"], "Cannot write agents/teller.py/x"),
        (["atif", "--output=x", "--format=csv"], "without --format"),
        (["runs"], "orvl export runs FILE"),
        (["runs", "a.csv", "b.csv"], "The store has no agent 'b.csv'"),
        (["scores", "a.csv", "--output=x"], "orvl export scores FILE"),
    ],
)
def test_mistakes_are_sentences(told, words, said):
    done = told.orvl("export", *words)
    assert done.status == 2
    assert said in done.err
    assert "Traceback" not in done.err
    assert not (told.root / "x").exists()

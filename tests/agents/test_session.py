"""A conversation of two turns, in each of which the agent writes a file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.conftest import LookAt
from agents.model import FILES, PROMPTS, WORDS
from agents.world import World

AGENTS = (
    *("claude-code", "codex", "pi", "opencode", "gemini-cli", "qwen-code", "aider"),
    *("kilo", "cline", "mini-swe-agent", "opencode-acp"),
)
NAME = "works"
FIGURES = ("input_tokens", "cached_tokens", "output_tokens", "tool_calls")
ROUNDS = ("aider",)


@pytest.mark.parametrize("agent", AGENTS)
def test_a_session(agent: str, tmp_path: Path, look_at: LookAt) -> None:
    with World(tmp_path, agent) as world:
        world.install()
        world.write({"house": [NAME]})
        look = world.look_at_the_end()
        done = world.orvl(agent, NAME, "house", "session", "--json")
        world.model.at_the_end.set()
        look.join()
        assert done.status == 0, done.err
        look_at(
            world,
            (
                both_turns_are_done,
                the_second_turn_goes_on_with_the_first,
                every_call_of_the_model_is_counted,
                its_own_figures_are_the_same,
                its_calls_are_well_formed,
                its_version_is_kept,
                its_trajectory_is_valid,
                the_key_is_nowhere,
            ),
        )


def run_of(world: World) -> dict[str, Any]:
    return world.row("house", NAME)


def both_turns_are_done(world: World) -> None:
    run = run_of(world)
    assert (run["outcome"], run["reason"]) == ("finished", None)
    assert {name: world.file(run["run"], name) for name in FILES} == FILES
    assert run["R"] == 1
    assert run["sandbox"] == "bubblewrap"


def the_second_turn_goes_on_with_the_first(world: World) -> None:
    asked = [request.prompt_text for request in world.server.requests]
    second = next(text for text in asked if PROMPTS[1] in text)
    assert PROMPTS[0] in second
    assert WORDS[0] in second


def every_call_of_the_model_is_counted(world: World) -> None:
    answers = world.answered(NAME)
    used = {
        "input_tokens": sum(tokens.input for _, tokens in answers),
        "cached_tokens": sum(tokens.cached for _, tokens in answers),
        "output_tokens": sum(tokens.output for _, tokens in answers),
        "tool_calls": sum(len(answer.tool_calls) for answer, _ in answers),
    }
    assert {request.model for request in world.server.requests} == {NAME}
    assert {name: run_of(world)["usage"][name] for name in used} == used


def its_own_figures_are_the_same(world: World) -> None:
    """What an agent tells of itself is read as it means it."""
    run = run_of(world)
    told = world.shown(run["run"])["attempts"][-1]["told"] or {}
    known = {name: told[name] for name in FIGURES if told.get(name) is not None}
    assert known
    if world.agent not in ROUNDS:
        assert known == {name: run["usage"][name] for name in known}


def its_calls_are_well_formed(world: World) -> None:
    calls = world.calls(run_of(world)["run"])
    assert len(calls) == len(world.answered(NAME))
    assert [(call.number, finding) for call in calls for finding in call.findings] == []
    assert {(call.status, call.trouble, call.tries) for call in calls} == {(200, None, 1)}


def its_version_is_kept(world: World) -> None:
    assert world.pinned_version in world.shown(run_of(world)["run"])["version"]


def its_trajectory_is_valid(world: World) -> None:
    from atif import Trajectory

    run = run_of(world)
    trajectory = Trajectory.model_validate_json(world.trajectory(run["run"]))
    assert trajectory.schema_version == "ATIF-v1.8"
    assert [step.message for step in trajectory.steps if step.source == "user"] == list(PROMPTS)
    said = "\n".join(str(step.message) for step in trajectory.steps if step.source == "agent")
    assert [words for words in WORDS if words not in said] == []
    assert trajectory.final_metrics is not None
    assert trajectory.final_metrics.total_prompt_tokens == run["usage"]["input_tokens"]


def the_key_is_nowhere(world: World) -> None:
    assert world.look.files > 0
    assert world.look.processes > 0
    assert world.look.key_in == []
    assert world.key_kept_in() == []

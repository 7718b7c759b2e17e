"""A conversation of two turns, in each of which the agent writes a file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.model import FILES, PROMPTS, WORDS
from conformance.world import World

NAME = "works"
FIGURES = ("input_tokens", "cached_tokens", "output_tokens", "tool_calls")
TELLS_NOTHING: tuple[str, ...] = ()
ROUNDS = ("aider",)


@pytest.fixture(scope="module")
def world(agent: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with World(tmp_path_factory.mktemp(agent), agent) as made:
        made.install()
        made.write({"house": [NAME]})
        look = made.look_at_the_end()
        made.orvl(agent, NAME, "house", "session", "--json")
        made.model.at_the_end.set()
        look.join()
        yield made


@pytest.fixture(scope="module")
def run(world: World) -> dict[str, Any]:
    return world.row("house", NAME)


@pytest.fixture(scope="module")
def shown(world: World, run: dict[str, Any]) -> dict[str, Any]:
    return world.shown(run["run"])


def test_both_turns_are_done(world: World, run: dict[str, Any]) -> None:
    assert (run["outcome"], run["reason"]) == ("finished", None)
    assert {name: world.file(run["run"], name) for name in FILES} == FILES
    assert run["R"] == 1
    assert run["sandbox"] == "bubblewrap"


def test_the_second_turn_goes_on_with_the_first(world: World) -> None:
    asked = [
        request.prompt_text for request in world.server.requests if request.tools or PROMPTS[0] in request.prompt_text
    ]
    second = [text for text in asked if PROMPTS[1] in text]
    assert second, "the second prompt never reached the model"
    assert PROMPTS[0] in second[0]
    assert WORDS[0] in second[0]
    assert not any(PROMPTS[1] in text for text in asked[: asked.index(second[0])])


def test_every_call_of_the_model_is_counted(world: World, run: dict[str, Any]) -> None:
    answers = world.answered(NAME)
    used = {
        "input_tokens": sum(tokens.input for _, tokens in answers),
        "cached_tokens": sum(tokens.cached for _, tokens in answers),
        "output_tokens": sum(tokens.output for _, tokens in answers),
        "tool_calls": sum(len(answer.tool_calls) for answer, _ in answers),
    }
    assert {request.model for request in world.server.requests} == {NAME}
    assert {name: run["usage"][name] for name in used} == used


def test_its_own_figures_are_the_same(agent: str, run: dict[str, Any], shown: dict[str, Any]) -> None:
    """What an agent tells of itself is read as it means it."""
    told = shown["attempts"][-1]["told"] or {}
    known = {name: told[name] for name in FIGURES if told.get(name) is not None}
    assert bool(known) == (agent not in TELLS_NOTHING)
    if agent not in ROUNDS:
        assert known == {name: run["usage"][name] for name in known}


def test_its_calls_are_well_formed(world: World, run: dict[str, Any]) -> None:
    calls = world.calls(run["run"])
    assert len(calls) == len(world.answered(NAME))
    assert [(call.number, finding) for call in calls for finding in call.findings] == []
    assert {(call.status, call.trouble, call.tries) for call in calls} == {(200, None, 1)}


def test_its_version_is_kept(world: World, shown: dict[str, Any]) -> None:
    assert world.pinned_version in shown["version"]


def test_its_trajectory_is_valid(world: World, run: dict[str, Any]) -> None:
    from atif import Trajectory

    trajectory = Trajectory.model_validate_json(world.trajectory(run["run"]))
    assert trajectory.schema_version == "ATIF-v1.8"
    assert [step.message for step in trajectory.steps if step.source == "user"] == list(PROMPTS)
    said = [str(step.message) for step in trajectory.steps if step.source == "agent"]
    assert all(any(words in message for message in said) for words in WORDS)
    assert trajectory.final_metrics is not None
    assert trajectory.final_metrics.total_prompt_tokens == run["usage"]["input_tokens"]


def test_the_key_is_nowhere(world: World) -> None:
    key = world.key.encode()
    assert world.look.files > 0
    assert world.look.processes > 0
    assert world.look.key_in == []
    assert [place for place, content in world.bytes_kept().items() if key in content] == []
    assert [said for said in world.said if world.key in said.out + said.err] == []

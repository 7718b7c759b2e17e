"""Everything that a model's host may do wrong, with every agent: what broke outside the agent is never a bad score."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from conformance.model import FILES
from conformance.world import MOST_CALLS, WRONG_KEY, World, closed_port

PASSING = ["limited", "limited-twice", "broken", "cut", "cut-once", "looping"]
MODELS = {
    "house": PASSING,
    "quiet": ["silent"],
    "gone": ["away"],
    "picky": ["forbidden", "missing"],
    "locked": ["any", "other"],
}
SILENCE = 4
ATTEMPTS = 2
TRIES, TRIES_WHEN_LIMITED = 4, 8
ONE_AFTER_THE_OTHER = ("--episodes", "2", "--concurrency", "1")


@pytest.fixture(scope="module")
def world(agent: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """All faults at once; those that stop other runs, too, one after the other."""
    with World(tmp_path_factory.mktemp(agent), agent) as made:
        made.install()
        made.write(
            MODELS,
            quiet=f"timeout = {SILENCE}",
            gone=f'base_url = "http://127.0.0.1:{closed_port()}"',
            locked=f'key = "{WRONG_KEY}"',
        )
        made.orvl(agent, "all", "house,quiet,gone", "single", "--json")
        made.orvl(agent, "all", "picky,locked", "single", "--json", *ONE_AFTER_THE_OTHER)
        yield made


def attempts(world: World, run: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.shown(run)["attempts"]
    return found


def assert_errored(world: World, provider: str, model: str, words: str, tries: int, times: int = ATTEMPTS) -> None:
    """It is missing data: nothing is rated, the host's words are told, and it was tried as often as that may help."""
    run = world.row(provider, model)
    assert run["outcome"] == "errored", run["reason"]
    assert words in run["reason"]
    assert run["R"] is None
    assert run["runs"] == {"planned": 1, "rated": 0, "failed": 0, "errored": 1}
    made = attempts(world, run["run"])
    assert [attempt["outcome"] for attempt in made] == ["errored"] * times
    assert [attempt["scores"] for attempt in made] == [[]] * times
    calls = world.calls(run["run"])
    assert {call.tries for call in calls} == {tries}
    assert {call.turn for call in calls} == {1}


def test_too_many_calls_for_ever(world: World) -> None:
    assert_errored(world, "house", "limited", "429 Slow down, please.", TRIES_WHEN_LIMITED)
    assert world.model.asked["limited"] == ATTEMPTS * TRIES_WHEN_LIMITED


def test_too_many_calls_for_a_while(world: World) -> None:
    assert_finished(world, "limited-twice")
    assert sorted(call.tries for call in world.calls(world.row("house", "limited-twice")["run"]))[-1] == 3


def assert_finished(world: World, model: str) -> None:
    run = world.row("house", model)
    assert (run["outcome"], run["reason"], run["R"]) == ("finished", None, 1)
    assert world.file(run["run"], "one.txt") == FILES["one.txt"]


def test_a_broken_host(world: World) -> None:
    assert_errored(world, "house", "broken", "500 The machine is on fire.", TRIES)
    assert world.model.asked["broken"] == ATTEMPTS * TRIES


def test_answers_that_break_off_for_ever(world: World) -> None:
    assert_errored(world, "house", "cut", "the stream was cut", 1)
    assert ATTEMPTS <= world.model.asked["cut"] <= ATTEMPTS * 3


def test_an_answer_that_breaks_off_once(world: World) -> None:
    """Either the agent asks again by itself, or the run is tried again; in no case is it the agent's failure."""
    assert_finished(world, "cut-once")
    outcomes = [attempt["outcome"] for attempt in attempts(world, world.row("house", "cut-once")["run"])]
    assert outcomes in (["finished"], ["errored", "finished"])


def test_a_silent_host(world: World) -> None:
    assert_errored(world, "quiet", "silent", f"it said nothing for {SILENCE} s", 1)


def test_a_host_that_is_not_there(world: World) -> None:
    assert_errored(world, "gone", "away", "it cannot be reached", TRIES)


def test_a_model_that_never_ends(world: World) -> None:
    run = world.row("house", "looping")
    assert run["outcome"] == "failed"
    assert "(limits.calls)" in run["reason"]
    assert world.model.asked["looping"] == MOST_CALLS
    assert run["runs"]["rated"] == 1


@pytest.mark.parametrize(
    ("model", "words"), [("forbidden", "403 This model is not for you."), ("missing", "404 There is no such model.")]
)
def test_a_model_that_is_not_to_be_had(world: World, model: str, words: str) -> None:
    """One call tells; the model's other runs are not started."""
    assert_errored(world, "picky", model, words, tries=1, times=1)
    assert world.model.asked[model] == 1


def test_a_wrong_key(world: World) -> None:
    """One call tells; no other run at that provider is started, and what was said is said once."""
    runs = [row for row in world.rows if row["provider"] == "locked"]
    assert len(runs) == 1
    assert_errored(world, "locked", runs[0]["model"], "401", tries=1, times=1)
    assert world.model.asked["any"] + world.model.asked["other"] == 0
    refused = [request for request in world.server.requests if request.model in MODELS["locked"]]
    assert len(refused) == 1
    told = [result.err for result in world.said if "Nothing more is asked of locked" in result.err]
    assert len(told) == 1
    assert told[0].count("Nothing more is asked of locked") == 1


def test_the_key_is_nowhere(world: World) -> None:
    key = world.key.encode()
    assert [place for place, content in world.bytes_kept().items() if key in content] == []
    assert [said for said in world.said if world.key in said.out + said.err] == []

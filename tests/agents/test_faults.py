"""Everything that a model's host may do wrong, with every agent: what broke outside the agent is never a bad score."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agents.conftest import LookAt
from agents.model import FILES
from agents.world import WRONG_KEY, World, closed_port

pytestmark = pytest.mark.nightly

AGENTS = (
    *("claude-code", "codex", "pi", "opencode", "gemini-cli", "qwen-code", "aider"),
    *("cline", "mini-swe-agent", "opencode-acp"),
)
MODELS = {
    "house": ["limited", "limited-twice", "broken", "cut", "cut-once", "looping"],
    "quiet": ["silent"],
    "gone": ["away"],
    "picky": ["forbidden", "missing"],
    "locked": ["any", "other"],
}
SILENCE = 4
ATTEMPTS = 2
TRIES, TRIES_WHEN_LIMITED = 4, 8
MOST_CALLS, GIVES_UP_SOON = 6, {"aider": 3}
ONE_AFTER_THE_OTHER = ("--episodes", "2", "--concurrency", "1")


@pytest.mark.parametrize("agent", AGENTS)
def test_faults(agent: str, tmp_path: Path, look_at: LookAt) -> None:
    """All faults at once; those that stop other runs, too, one after the other."""
    with World(tmp_path, agent) as world:
        world.install()
        own = {
            "quiet": f"timeout = {SILENCE}",
            "gone": f'base_url = "http://127.0.0.1:{closed_port()}"',
            "locked": f'key = "{WRONG_KEY}"',
        }
        world.write(MODELS, own, GIVES_UP_SOON.get(agent, MOST_CALLS))
        passing = world.orvl(agent, "all", "house,quiet,gone", "single", "--json")
        lasting = world.orvl(agent, "all", "picky,locked", "single", "--json", *ONE_AFTER_THE_OTHER)
        assert (passing.status, lasting.status) == (1, 1), passing.err + lasting.err
        look_at(
            world,
            (
                too_many_calls_for_ever,
                too_many_calls_for_a_while,
                a_broken_host,
                answers_that_break_off_for_ever,
                an_answer_that_breaks_off_once,
                a_silent_host,
                a_host_that_is_not_there,
                a_model_that_never_ends,
                a_model_that_is_forbidden,
                a_model_that_is_missing,
                a_wrong_key,
                the_key_is_nowhere,
            ),
        )


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


def too_many_calls_for_ever(world: World) -> None:
    assert_errored(world, "house", "limited", "429 Slow down, please.", TRIES_WHEN_LIMITED)
    assert world.model.asked["limited"] == ATTEMPTS * TRIES_WHEN_LIMITED


def too_many_calls_for_a_while(world: World) -> None:
    assert_finished(world, "limited-twice")
    assert sorted(call.tries for call in world.calls(world.row("house", "limited-twice")["run"]))[-1] == 3


def assert_finished(world: World, model: str) -> None:
    run = world.row("house", model)
    assert (run["outcome"], run["reason"], run["R"]) == ("finished", None, 1)
    assert world.file(run["run"], "one.txt") == FILES["one.txt"]


def a_broken_host(world: World) -> None:
    assert_errored(world, "house", "broken", "500 The machine is on fire.", TRIES)
    assert world.model.asked["broken"] == ATTEMPTS * TRIES


def answers_that_break_off_for_ever(world: World) -> None:
    assert_errored(world, "house", "cut", "the answer was cut off", 1)
    assert ATTEMPTS <= world.model.asked["cut"] <= ATTEMPTS * 4


def an_answer_that_breaks_off_once(world: World) -> None:
    """Either the agent asks again by itself, or the run is tried again; in no case is it the agent's failure."""
    assert_finished(world, "cut-once")
    outcomes = [attempt["outcome"] for attempt in attempts(world, world.row("house", "cut-once")["run"])]
    assert outcomes in (["finished"], ["errored", "finished"])


def a_silent_host(world: World) -> None:
    assert_errored(world, "quiet", "silent", f"it said nothing for {SILENCE} s", 2)


def a_host_that_is_not_there(world: World) -> None:
    assert_errored(world, "gone", "away", "it cannot be reached", TRIES)


def a_model_that_never_ends(world: World) -> None:
    run = world.row("house", "looping")
    assert run["outcome"] == "failed"
    assert "(limits.calls)" in run["reason"]
    assert world.model.asked["looping"] == GIVES_UP_SOON.get(world.agent, MOST_CALLS)
    assert run["runs"]["rated"] == 1


def a_model_that_is_forbidden(world: World) -> None:
    assert_told_by_one_call(world, "forbidden", "403 This model is not for you.")


def a_model_that_is_missing(world: World) -> None:
    assert_told_by_one_call(world, "missing", "404 There is no such model.")


def assert_told_by_one_call(world: World, model: str, words: str) -> None:
    """The model's other runs are not started."""
    assert_errored(world, "picky", model, words, tries=2, times=1)
    assert world.model.asked[model] == 2, "one of the agent, one of orvl's own"


def a_wrong_key(world: World) -> None:
    """One call tells; no other run at that provider is started, and what was said is said once."""
    runs = [row for row in world.rows if row["provider"] == "locked"]
    assert len(runs) == 1
    assert_errored(world, "locked", runs[0]["model"], "401", tries=2, times=1)
    assert world.model.asked["any"] + world.model.asked["other"] == 0
    refused = [request for request in world.server.requests if request.model in MODELS["locked"]]
    assert len(refused) == 2, "one of the agent, one of orvl's own"
    told = [result.err for result in world.said if "Giving up on locked" in result.err]
    assert len(told) == 1
    assert told[0].count("Giving up on locked") == 1


def the_key_is_nowhere(world: World) -> None:
    assert world.key_kept_in() == []

"""A conversation of five turns that goes by what a real agent does: its question is answered, its mistake pasted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.world import KEY, PROTOCOLS, World
from orvl.testing import Answer, Fault, ModelServer, Request, writes

EVAL = """\
---
metrics: {checks: 1}
vary:
  city: [Lyon, Ghent]
user:
  goal: A script for a café.
  facts:
    opening: We open at eight.
    closing: We close at six in {{city}}.
checks:
  - {name: right, run: 'test "$(python3 shop.py)" = "open at 8"', turn: 1}
  - {name: closes, run: test -s closes.txt}
---
Our café is in {{city}}. Write shop.py; it prints when we open.
---
when: {failed: right}
That is not what I meant. I ran it in the shop:

{{output: python3 shop.py; echo "status $?"}}
--- or
Works in the shop, thanks.
---
when: {failed: right}
Still wrong.
--- or
Better, it prints {{output: python3 shop.py}}.
---
Now write closes.txt, with when we close.
---
Thanks, goodbye.
"""
DOES = [
    ("Thanks, goodbye.", lambda _: Answer("Goodbye.")),
    ("We close at six", writes("closes.txt", "six\n", then="The closing time is written down.")),
    ("Now write closes.txt", lambda _: Answer("When do you close? I need the hour.")),
    ("Better, it prints", lambda _: Answer("Good to hear.")),
    ("That is not what I meant", writes("shop.py", 'print("open at 8")\n', then="It prints the right words now.")),
    ("We open at eight.", writes("shop.py", 'print("eight")\n', then="It prints eight, when you open.")),
    ("Our café is in", lambda _: Answer("When do you open in the morning?")),
]
"""By what the user said last, the last first."""


def works(request: Request) -> Answer | Fault:
    if request.model == "selector":
        return selects(request.prompt_text.partition("The agent's last message:")[2].split("Which facts answer")[0])
    return next(does(request) for words, does in DOES if words in request.prompt_text)


def selects(asked: str) -> Answer:
    facts = [
        name for name, words in (("opening", "When do you open"), ("closing", "When do you close")) if words in asked
    ]
    return Answer(json.dumps({"facts": facts, "your_call": False}))


@pytest.mark.nightly
@pytest.mark.parametrize("agent", ["opencode", "pi"])
def test_five_turns(agent: str, tmp_path: Path) -> None:
    with World(tmp_path, agent) as world:
        world.server.stop()
        world.server = ModelServer(works, key=world.key)
        world.server.start()
        world.install()
        write(world)
        done = world.orvl(agent, "works", "house", "shop", "--json")
        assert done.status == 0, done.err
        run = world.row("house", "works")
        assert (run["outcome"], run["reason"]) == ("finished", None)
        attempt = world.shown(run["run"])["attempts"][-1]
        city = "Lyon" if "Lyon" in attempt["prompts"][0] else "Ghent"
        assert attempt["prompts"] == [
            f"Our café is in {city}. Write shop.py; it prints when we open.",
            "We open at eight.",
            "That is not what I meant. I ran it in the shop:\n\neight\nstatus 0",
            "Better, it prints open at 8.",
            "Now write closes.txt, with when we close.",
            f"We close at six in {city}.",
            "Thanks, goodbye.",
        ]
        assert [turn["of"] for turn in attempt["turns"]] == [1, 1, 2, 3, 4, 4, 5]
        part = attempt["user"]
        assert (part["corrections"], part["answers"]) == (1, 2)
        assert world.file(run["run"], "closes.txt") == "six\n"
        by_turn = {check["turn"]: check["passed"] for check in attempt["checks"] if check["name"] == "right"}
        assert by_turn == {1: False, 2: True, 3: True, 4: True, 0: True}
        assert said_to(agent, json.loads(world.trajectory(run["run"]))) == attempt["prompts"]
        assert_nothing_was_spent_twice(world, run, attempt)
        again = world.orvl("replay", run["run"][:12], "--json")
        assert again.status == 0, again.out + again.err
        assert again.json["same"]
        assert world.key_kept_in() == []


def write(world: World) -> None:
    places = ", ".join(f'{one} = "{world.server.base_url(one)}"' for one in PROTOCOLS)
    (world.root / "orvl.toml").write_text(
        f'attempts = 1\n[agents.{world.agent}.models]\nhouse = ["works"]\n'
        f'[providers.house]\nprotocol = {{{places}}}\nkey = "{KEY}"\n'
        '[user]\nmodel = "selector"\nprovider = "house"\nprotocol = "anthropic"\n'
    )
    (world.root / "evals").mkdir()
    (world.root / "evals/shop.md").write_text(EVAL)


def said_to(agent: str, trajectory: dict[str, Any]) -> list[str]:
    return [step["message"] for step in trajectory["steps"] if step["source"] == "user"]


def assert_nothing_was_spent_twice(world: World, run: dict[str, Any], attempt: dict[str, Any]) -> None:
    """The agent pays for its own calls, and the user's model was asked once about each reply."""
    of_agent = world.answered("works")
    assert run["usage"]["input_tokens"] == sum(tokens.input for _, tokens in of_agent)
    asked = [request for request in world.server.requests if request.model == "selector"]
    assert len(asked) == attempt["user"]["calls"] == attempt["user"]["replies"] == 7
    assert all(request.body["temperature"] == 0 for request in asked)

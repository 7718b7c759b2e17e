"""Agents that speak several protocols have the same conversation in each of them, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.model import FILES
from agents.world import PROTOCOLS, World

pytestmark = pytest.mark.nightly

SPOKEN = {
    "pi": PROTOCOLS,
    "opencode": PROTOCOLS,
    "aider": ("openai", "anthropic"),
    "mini-swe-agent": ("openai", "anthropic"),
}


@pytest.mark.parametrize("name", SPOKEN)
def test_each_protocol(name: str, tmp_path: Path) -> None:
    spoken = SPOKEN[name]
    with World(tmp_path, name) as world:
        world.install()
        places = {one: f'protocol = "{one}"\nbase_url = "{world.server.base_url(one)}"' for one in spoken}
        world.write({one: [f"by-{one}"] for one in spoken}, places)
        world.orvl(name, "all", ",".join(spoken), "session", "--json")
        for protocol in spoken:
            check(world, protocol, f"by-{protocol}")


def check(world: World, protocol: str, model: str) -> None:
    run = world.row(protocol, model)
    assert (protocol, run["outcome"], run["reason"]) == (protocol, "finished", None)
    assert {name: world.file(run["run"], name) for name in FILES} == FILES
    assert {one.protocol for one in world.server.requests if one.model == model} == {protocol}
    tokens = [told for _, told in world.answered(model)]
    counted = [run["usage"][figure] for figure in ("input_tokens", "cached_tokens", "output_tokens")]
    assert counted == [sum(getattr(one, figure) for one in tokens) for figure in ("input", "cached", "output")]
    assert [finding for call in world.calls(run["run"]) for finding in call.findings] == []

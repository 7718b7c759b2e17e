"""What all agents are tested for, each agent in one test: its runs take long, and are made once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable

import pytest

from agents.world import World

Look = Callable[[World], None]
LookAt = Callable[[World, Iterable[Look]], None]


@pytest.fixture(autouse=True)
def no_keys_and_no_agents_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unlike in other tests, agents are installed in the user's own cache: once for all tests, and for the next time."""
    for name in list(os.environ):
        if name.endswith("_API_KEY"):
            monkeypatch.delenv(name)


@pytest.fixture
def look_at(subtests: pytest.Subtests) -> LookAt:
    """Looks at all that came of an agent's runs: one thing that is wrong does not hide the others."""

    def look(world: World, looks: Iterable[Look]) -> None:
        for one in looks:
            with subtests.test(f"{world.agent}: {one.__name__.replace('_', ' ')}"):
                one(world)

    return look

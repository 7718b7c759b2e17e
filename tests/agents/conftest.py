"""What all agents are tested for, each agent in one test: its runs take long, and are made once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from agents.world import World

Look = Callable[[World], None]
LookAt = Callable[[World, Iterable[Look]], None]


@pytest.fixture
def look_at(subtests: pytest.Subtests) -> LookAt:
    """Looks at all that came of an agent's runs: one thing that is wrong does not hide the others."""

    def look(world: World, looks: Iterable[Look]) -> None:
        for one in looks:
            with subtests.test(f"{world.agent}: {one.__name__.replace('_', ' ')}"):
                one(world)

    return look

"""What an agent of some skill does in each turn of an eval: the same for the same seed, on every machine."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SKILLS = (0.05, 0.2, 0.35, 0.5, 0.65, 0.8, 0.95)
TASTE = 0.5
"""How evals suit agents: the sd of what is added to the log odds of a skill, by agent and eval."""
WITH_BUGS, UNDONE = 0.5, 0.75
"""Of turns that go wrong, half are done with bugs, a quarter is left undone, and a quarter is bad."""


@dataclass(frozen=True)
class Turn:
    """What the workspace is made to be: a control's state after a turn, with bugs; None leaves it as it is."""

    control: str | None
    bugs: tuple[str, ...] = ()


def name_of(skill: float) -> str:
    return f"skill-{round(100 * skill):02}"


def turns_of(
    skill: float, eval_: str, episode: int, turns: int, bugs: Sequence[str], has_second: bool, seed: str = "pilot"
) -> list[Turn]:
    """One turn after the other. Bugs stay once they are in; work without any may be of the other good design."""
    taste = random.Random(f"{seed}:{skill}:{eval_}").gauss(0, TASTE)
    right = 1 / (1 + math.exp(-math.log(skill / (1 - skill)) - taste))
    coins = random.Random(f"{seed}:{skill}:{eval_}:{episode}")
    planted: set[str] = set()
    done: list[Turn] = []
    for _ in range(turns):
        wrong = 0.0 if coins.random() < right else coins.random()
        draws = {bug: coins.random() for bug in bugs}
        if 0 < wrong < WITH_BUGS and bugs:
            planted |= {bug for bug, draw in draws.items() if draw >= right} or {min(draws, key=draws.__getitem__)}
        if wrong >= UNDONE:
            done.append(Turn("bad"))
        elif wrong >= WITH_BUGS:
            done.append(Turn(None))
        else:
            done.append(Turn("good", tuple(sorted(planted))))
    if has_second and not planted and coins.random() < 0.5:
        done = [Turn("good-2") if turn.control == "good" else turn for turn in done]
    return done

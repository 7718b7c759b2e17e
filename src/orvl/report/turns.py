"""The turns of a run, and what the user said in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.types import Attempt, Turn, UserPart

MOST_LINES = 12
MOST_ASKED = 4


def turn_names(turns: Sequence[Turn]) -> list[str]:
    """`2`, or `2, answer 1` for what followed an answer of the user."""
    names: list[str] = []
    answers = 0
    for place, turn in enumerate(turns):
        is_answer = place > 0 and turn.of > 0 and turn.of == turns[place - 1].of
        answers = answers + 1 if is_answer else 0
        names.append(f"{turn.of or place + 1}" + (f", answer {answers}" if answers else ""))
    return names


def prompt_lines(attempt: Attempt, place: int) -> Iterator[str]:
    """What the agent was told, where the eval does not say the same to all."""
    lines = attempt.prompts[place].splitlines() if place < len(attempt.prompts) else []
    yield from (f"    > {plain(line)}" for line in lines[:MOST_LINES])
    if len(lines) > MOST_LINES:
        yield f"    > … and {count(len(lines) - MOST_LINES, 'more line')}; see --json"


def asked_lines(turn: Turn) -> Iterator[str]:
    """What the agent said that the user answered: its end, where questions stand."""
    lines = [line for line in turn.asked.splitlines() if line.strip()]
    if len(lines) > MOST_ASKED:
        yield "    < …"
    yield from (f"    < {plain(line)}" for line in lines[-MOST_ASKED:])


def user_line(part: UserPart) -> str:
    """What the user had to say beside the eval's prompts, and what that cost."""
    said = f"  user: {count(part.corrections, 'correction')}, {count(part.answers, 'answer')}"
    if not part.replies:
        return said
    calls = f"{count(part.calls, 'call')} of its model on {part.replies} of the agent's replies"
    return f"{said}; {calls}, cost {dollars(part.cost_usd)}, which is not the agent's"

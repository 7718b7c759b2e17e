"""One message of the user to the agent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """What the user says to the agent: the prompt of a turn, or an answer in it."""

    text: str
    number: int
    """Of all messages of the run, from 1."""
    turn: int
    answer: int = 0
    """Which one of the turn's; 0: its prompt."""

    @property
    def is_first(self) -> bool:
        return self.number == 1

    def __str__(self) -> str:
        return f"turn {self.turn}" + (f", answer {self.answer}" if self.answer else "")

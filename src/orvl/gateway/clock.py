"""How a run's time is spent, as the gateway sees it: by the model, by tools, held back by orvl, or by the agent."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Literal

State = Literal["model", "waiting", "tools", "own"]


@dataclass(eq=False)
class OpenCall:
    """A call that has been admitted and is not over."""

    last_heard: float
    """When the provider last sent something."""
    is_held: bool = True
    """Whether orvl holds the call back."""
    waiting_before: float = 0.0
    """What the run had waited for when the call was opened."""


class Clock:
    """Adds up a run's time in each state.

    It is the model's while a call is open that orvl does not hold back, and waiting while all open calls are held back:
    a call that waits beside one that works takes no time off. Without an open call it is the tools' after an answer
    that called some, until the next call, and otherwise the agent's own.
    """

    def __init__(self) -> None:
        self.seconds: dict[State, float] = dict.fromkeys(("model", "waiting", "tools", "own"), 0.0)
        self._open: set[OpenCall] = set()
        self._has_tools = False
        self._is_running = True
        self._since = time.monotonic()
        self._state: State = "own"

    def begin(self) -> None:
        """A turn begins."""
        self._has_tools = False
        self._change()
        self._is_running = True

    def end(self) -> None:
        """A turn is over: what is still open, as an answer that nobody waits for, takes no time of the run."""
        self._change()
        self._is_running = False

    def open(self, call: OpenCall) -> None:
        call.waiting_before = self.waiting
        self._open.add(call)
        self._has_tools = False
        self._change()

    def hold(self, call: OpenCall, *, is_held: bool) -> None:
        call.is_held = is_held
        self._change()

    def close(self, call: OpenCall, *, has_tools: bool) -> None:
        if call in self._open:
            self._open.discard(call)
            self._has_tools = self._has_tools or has_tools
            self._change()

    def give_back(self, call: OpenCall) -> None:
        """What was waited for a call that failed by its own request is no time that orvl took."""
        waited = max(0.0, self.waiting - call.waiting_before)
        self.seconds["waiting"] -= waited
        self.seconds["model"] += waited

    @property
    def has_open_calls(self) -> bool:
        return bool(self._open)

    @property
    def waiting(self) -> float:
        self._change()
        return self.seconds["waiting"]

    def _change(self) -> None:
        now = time.monotonic()
        if self._is_running:
            self.seconds[self._state] += now - self._since
        self._since = now
        if any(not call.is_held for call in self._open):
            self._state = "model"
        elif self._open:
            self._state = "waiting"
        else:
            self._state = "tools" if self._has_tools else "own"

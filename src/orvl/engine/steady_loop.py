"""An event loop whose clock stands still while orvl does: stopped by Ctrl-Z, say, or with the whole machine.

Each deadline is by the loop's clock. Without this, all of them would pass at the moment when orvl goes on: answers that
came meanwhile would be thrown away, and asked for and paid for again.
"""

from __future__ import annotations

import asyncio
import selectors
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

LATE = 2.0
"""Seconds by which a wait may end too late on a busy machine; after more, orvl was stopped."""
Result = TypeVar("Result")


class _StoppedTime(selectors.DefaultSelector):
    """Adds up the waits, and what is done between them, that took longer than they could."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds, self._last = 0.0, time.monotonic()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._passed(0.0)
        ready = super().select(timeout)
        self._passed(timeout)
        return ready

    def _passed(self, expected: float | None) -> None:
        """Without an expected time nothing has a deadline, either."""
        before, self._last = self._last, time.monotonic()
        if expected is not None and self._last - before - max(0.0, expected) > LATE:
            # All of it: else a deadline would pass in the same moment in which what it waits for is read.
            self.seconds += self._last - before


class SteadyLoop(asyncio.SelectorEventLoop):
    """Like any other, but for its clock."""

    def __init__(self) -> None:
        self._stopped = _StoppedTime()
        super().__init__(self._stopped)

    def time(self) -> float:
        return super().time() - self._stopped.seconds


def run(main: Coroutine[Any, Any, Result]) -> Result:
    """Like `asyncio.run`."""
    with asyncio.Runner(loop_factory=SteadyLoop) as runner:
        return runner.run(main)

"""How fast a provider may be asked, and how much may be spent."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, nullcontext, suppress
from math import inf
from typing import TYPE_CHECKING

from orvl.errors import WaitTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
LONGEST_REST = 180.0


class Pace:
    """One model at one provider: not before when, and how many at once, as learned from its refusals."""

    def __init__(self, per_minute: int | None) -> None:
        self.gap = 60.0 / per_minute if per_minute else 0.0
        self.open = 0
        self.most = inf
        self.not_before = 0.0
        self._refusals = 0
        self._changed = asyncio.Event()

    def wait(self) -> float:
        """Seconds until a call may begin; 0 where it may now."""
        return max(0.0, self.not_before - asyncio.get_running_loop().time())

    @property
    def is_full(self) -> bool:
        return self.most < inf and self.open >= max(1, int(self.most))

    async def rest(self) -> None:
        """Until it is worth looking again."""
        if (wait := self.wait()) > LONGEST_REST:
            raise WaitTooLong(wait)
        self._changed.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), None if self.is_full and not wait else wait)

    def enter(self) -> None:
        self.open += 1
        if self.gap:
            self.not_before = max(self.not_before, asyncio.get_running_loop().time()) + self.gap

    def leave(self) -> None:
        self.open -= 1
        self._changed.set()

    def refused(self, after: float | None) -> None:
        """Too many calls: pause as long as was told, else twice as long each time, and ask for fewer at once."""
        self._refusals += 1
        pause = max(after or 0.0, min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self._refusals - 1)) if after is None else 0.2)
        self.not_before = max(self.not_before, asyncio.get_running_loop().time() + pause)
        self.most = max(1.0, min(self.most, self.open) / 2)

    def answered(self) -> None:
        self._refusals = 0
        if self.most < inf:
            self.most += 1 / self.most
            self._changed.set()


class Lane:
    """The way to one provider, which takes so many calls at once, and each model at its own pace."""

    def __init__(self, concurrency: int | None, per_minute: int | None) -> None:
        self._slots = asyncio.Semaphore(concurrency) if concurrency else None
        self._per_minute = per_minute
        self._paces: dict[str, Pace] = {}

    def pace(self, model: str) -> Pace:
        return self._paces.setdefault(model, Pace(self._per_minute))

    @asynccontextmanager
    async def slot(self, model: str) -> AsyncIterator[Pace]:
        """Room for one call; waits for it. The provider's slots are not held while a model has to pause."""
        pace = self.pace(model)
        while True:
            async with self._slots or nullcontext():
                if not pace.wait() and not pace.is_full:
                    pace.enter()
                    try:
                        yield pace
                    finally:
                        pace.leave()
                    return
            await pace.rest()


class Purse:
    """Money that may be spent; without a bound it only counts."""

    def __init__(self, most: float | None) -> None:
        self.most = most
        self.spent = 0.0
        self.promised = 0.0

    @property
    def is_empty(self) -> bool:
        return self.most is not None and self.spent >= self.most

    def has_room_for(self, amount: float) -> bool:
        return self.most is None or self.spent + self.promised + amount <= self.most

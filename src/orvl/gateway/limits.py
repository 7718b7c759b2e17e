"""How fast a provider may be asked, and how much may be spent."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import TYPE_CHECKING

from orvl.errors import WaitTooLong

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
SHORTEST_PAUSE = 0.2
LONGEST_REST = 180.0
MOST_OF_A_RUN = 32
"""Calls of one run that are with a provider at once: more than any agent needs, and too few to overrun a provider."""


class RateGap:
    """The distance that the user wants between calls of one model, whoever makes them."""

    def __init__(self, per_minute: int | None) -> None:
        self.seconds = 60.0 / per_minute if per_minute else 0.0
        self.not_before = 0.0

    def enter(self) -> None:
        if self.seconds:
            self.not_before = max(self.not_before, asyncio.get_running_loop().time()) + self.seconds


class ModelLimiter:
    """When a contestant's next call of one model may start, as learned from the provider's rate limits.

    The number of concurrent calls follows additive increase, multiplicative decrease: each 429 halves it, each
    answer raises it by a fraction. Until the first 429 there is no such limit. Each contestant learns for itself: a
    429 may be due to what one of them sends.
    """

    def __init__(self, gap: RateGap) -> None:
        self.gap = gap
        self.open = 0
        self.max_open = inf
        self.not_before = 0.0
        self._rate_limits = 0
        self._closed = 0
        self._changed = asyncio.Event()

    def wait(self) -> float:
        """Seconds until a call may start; 0 if it may now."""
        return max(0.0, max(self.not_before, self.gap.not_before) - asyncio.get_running_loop().time())

    @property
    def is_limited(self) -> bool:
        """Whether the provider has said so, not the user."""
        return self.is_full or self.not_before > asyncio.get_running_loop().time()

    @property
    def is_full(self) -> bool:
        return self._closed > 0 or (self.max_open < inf and self.open >= max(1, int(self.max_open)))

    async def rest(self) -> None:
        """Returns when it is worth trying again."""
        if (wait := self.wait()) > LONGEST_REST:
            raise WaitTooLong(wait)
        self._changed.clear()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._changed.wait(), None if self.is_full and not wait else wait)

    @asynccontextmanager
    async def closed(self, seconds: float) -> AsyncIterator[None]:
        """Lets no call start meanwhile; begins when the open ones are over, or after so many seconds."""
        self._closed += 1
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    while self.open:
                        self._changed.clear()
                        await self._changed.wait()
            yield
        finally:
            self._closed -= 1
            self._changed.set()

    def enter(self) -> None:
        self.open += 1
        self.gap.enter()

    def leave(self) -> None:
        self.open -= 1
        self._changed.set()

    def rate_limited(self, retry_after: float | None) -> None:
        """Pauses as long as the provider asks for, or twice as long each time, and halves the concurrency."""
        # Calls that were out together meet the same limit, which counts once.
        self._rate_limits += not (self._rate_limits and self.wait())
        if retry_after is None:
            pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (self._rate_limits - 1))
        else:
            pause = max(retry_after, SHORTEST_PAUSE)
        self.not_before = max(self.not_before, asyncio.get_running_loop().time() + pause)
        self.max_open = max(1.0, min(self.max_open, self.open) / 2)

    def answered(self) -> None:
        self._rate_limits = 0
        if self.max_open < inf:
            self.max_open += 1 / self.max_open
            self._changed.set()


class Slots:
    """Calls that may be with a provider at once.

    A free one goes to whoever has the fewest, and among these to who came first: a run that asks for hundreds waits
    behind one that asks for its first. No run has more than its most.
    """

    def __init__(self, count: int | None) -> None:
        self._free = inf if count is None else count
        self._held: Counter[object] = Counter()
        self._waiting: list[tuple[object, asyncio.Future[None]]] = []

    @asynccontextmanager
    async def one(self, owner: object) -> AsyncIterator[None]:
        given = asyncio.get_running_loop().create_future()
        self._waiting.append((owner, given))
        self._hand_out()
        try:
            await given
            yield
        finally:
            if given.done() and not given.cancelled():
                self._free += 1
                self._held[owner] -= 1
            else:
                self._waiting.remove((owner, given))
            self._held += Counter()  # without those that hold none
            self._hand_out()

    def _hand_out(self) -> None:
        while self._free:
            fits = [place for place, (owner, _) in enumerate(self._waiting) if self._held[owner] < MOST_OF_A_RUN]
            if not fits:
                return
            owner, given = self._waiting.pop(min(fits, key=lambda place: self._held[self._waiting[place][0]]))
            if not given.done():
                self._free -= 1
                self._held[owner] += 1
                given.set_result(None)


class ProviderLimiter:
    """The calls that one provider takes at once, with a limiter for each contestant at each of its models."""

    def __init__(self, concurrency: int | None, per_minute: int | None) -> None:
        self._slots = Slots(concurrency)
        self._per_minute = per_minute
        self._gaps: dict[str, RateGap] = {}
        self._models: dict[tuple[str, str], ModelLimiter] = {}

    def model(self, model: str, contestant: str = "") -> ModelLimiter:
        gap = self._gaps.setdefault(model, RateGap(self._per_minute))
        return self._models.setdefault((model, contestant), ModelLimiter(gap))

    @asynccontextmanager
    async def slot(self, model: str, contestant: str = "", run: object = None) -> AsyncIterator[ModelLimiter]:
        """Waits for room for one call of a run.

        A slot of the provider is given back while a model has to pause, so that its other models can go on.
        """
        limiter = self.model(model, contestant)
        while True:
            async with self._slots.one(run):
                if not limiter.wait() and not limiter.is_full:
                    limiter.enter()
                    try:
                        yield limiter
                    finally:
                        limiter.leave()
                    return
            await limiter.rest()


class Budget:
    """Money that may be spent; without a limit it only counts.

    What a call costs is known only when it is over, so the most that it can cost is reserved before it goes out. Calls
    wait, in the order of arrival, until their reservation fits, or until no other call is out: then one goes alone,
    however generous its bound. So the limit is passed by one call at most, and no bound makes calls wait for ever.
    """

    def __init__(self, limit: float | None, *, allow_unpriced: bool = False) -> None:
        self.limit, self.allow_unpriced = limit, allow_unpriced
        self.spent = 0.0
        self.reserved = 0.0
        """The most that calls may cost which are still out."""
        self.out = 0
        """How many these are."""
        self._line: list[asyncio.Event] = []

    @property
    def is_spent(self) -> bool:
        return self.limit is not None and self.spent >= self.limit

    async def reserve(self, amount: float, check: Callable[[], None]) -> None:
        """Waits until a call may go out that costs so much at most; `check` raises if none may any more."""
        check()
        if not amount:
            return
        turn = asyncio.Event()
        self._line.append(turn)
        try:
            while not (self._line[0] is turn and self._has_room_for(amount)):
                turn.clear()
                await turn.wait()
                check()
            self.reserved += amount
            self.out += 1
        finally:
            self._line.remove(turn)
            self.wake()

    def settle(self, reserved: float, charged: float) -> None:
        """A call is over: what it cost, or may have cost, takes the place of its reservation."""
        if reserved:
            self.out -= 1
            self.reserved = self.reserved - reserved if self.out else 0.0
        self.spent += charged
        self.wake()

    def wake(self) -> None:
        """Lets every call that waits look again."""
        for turn in self._line:
            turn.set()

    def _has_room_for(self, amount: float) -> bool:
        return self.limit is None or not self.out or self.spent + self.reserved + amount <= self.limit

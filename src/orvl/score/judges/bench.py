"""Where the judges sit: who they are, how they are reached, and the case before them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.project.judges import reach
from orvl.score.judges.evidence import Evidence, gather

if TYPE_CHECKING:
    from orvl.capture.captured_run import CapturedRun
    from orvl.gateway import Gateway
    from orvl.gateway.account import Account
    from orvl.gateway.failures import CallFailure
    from orvl.local_model import LocalModel
    from orvl.project.providers import Provider
    from orvl.project.settings import Settings
    from orvl.score.judges import Panelist
    from orvl.score.judges.evidence import View
    from orvl.score.judges.looks import Browse
    from orvl.types import Judge, Metric

WORTH_CACHING = 4_000
"""Characters from which on a provider keeps a prompt's beginning."""
KEY_OF_LOCAL = "ORVL_LOCAL_MODEL"


@dataclass(frozen=True)
class Seat:
    """A judge and how it is reached."""

    judge: Judge
    provider: Provider
    protocol: str
    model: str
    local: LocalModel | None = None
    """The model on this machine, where it is the judge."""

    @classmethod
    def of(cls, judge: Judge, settings: Settings) -> Seat:
        provider, protocol = reach(settings, judge)
        return cls(judge, provider, protocol, judge.model)


@dataclass
class Bench:
    """All judges of one call of orvl, and the door to their models."""

    gateway: Gateway
    seats: Callable[[Judge], Seat]
    seconds: float
    """How long a judge may take to answer, from when it is asked."""
    say: Callable[[str], None]
    without_schema: set[str] = field(default_factory=set)
    """Judges whose hosts do not take a schema for answers."""
    _seats: dict[str, Seat] = field(default_factory=dict)
    _local: LocalModel | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)

    def case(self, run: CapturedRun, named_in: Sequence[str], browse: Browse | None = None) -> Case:
        return Case(self, run, named_in, browse)

    async def seat(self, judge: Judge) -> Seat:
        """A judge's seat; the model on this machine is started when it is first asked."""
        async with self._starting:
            if judge.key not in self._seats:
                work = asyncio.to_thread(self._start_local, judge) if judge.is_local else None
                self._seats[judge.key] = await work if work else self.seats(judge)
        return self._seats[judge.key]

    def _start_local(self, judge: Judge) -> Seat:
        from orvl.local_model import LocalModel, weights_of
        from orvl.project.providers import Provider

        self._local = local = LocalModel(weights_of(judge.model), threads=judge.threads, deadline=self.seconds)
        local.start()
        self.gateway.add_key(KEY_OF_LOCAL, local.key)
        protocols, silence = {"openai": local.base_url}, self.seconds + 60
        provider = Provider("local", protocols, KEY_OF_LOCAL, concurrency=1, timeout=silence, free=True)
        return Seat(judge, provider, "openai", local.name, local)

    def account(self, seat: Seat) -> Account:
        return self.gateway.judge_account(seat.provider, seat.protocol, seat.model)

    def tell(self, account: Account, trouble: CallFailure | None) -> None:
        """How a question ended; says so where all further ones would end alike."""
        if sentence := self.gateway.record_outcome(account, trouble):
            self.say(sentence)

    def close(self) -> None:
        if self._local is not None:
            self._local.stop()
            self._local = None


@dataclass
class Case:
    """One run before the bench: its evidence is gathered once."""

    bench: Bench
    run: CapturedRun
    named_in: Sequence[str]
    browse: Browse | None = None
    """Does steps on the run's app, and says how they went."""
    _gathered: dict[int, asyncio.Task[Evidence]] = field(default_factory=dict)
    _first: dict[tuple[str, str], asyncio.Event] = field(default_factory=dict)

    async def panelist(self, judge: Judge, metric: Metric) -> Panelist:
        """The judge, ready to be asked about one metric."""
        if judge.provider == "none":
            from orvl.score.judges.fixed import FixedJudge

            return FixedJudge(judge, metric.name)
        from orvl.score.judges.model import ModelJudge

        return ModelJudge(await self.bench.seat(judge), self, judge.looks if metric.may_look else 0)

    async def evidence(self, room: int) -> Evidence:
        if room not in self._gathered:
            work = asyncio.to_thread(gather, self.run, self.named_in, room)
            self._gathered[room] = asyncio.ensure_future(work)
        return await asyncio.shield(self._gathered[room])

    async def turn(self, seat: Seat, view: View) -> asyncio.Event:
        """Waits until the first question about a view has ended, so that the others find its evidence in the cache.

        Gives the event that says when this one has.
        """
        if len(view.text) < WORTH_CACHING or seat.judge.is_local:
            return asyncio.Event()
        key = (seat.judge.key, view.nonce)
        if key in self._first:
            await self._first[key].wait()
            return asyncio.Event()
        self._first[key] = asyncio.Event()
        return self._first[key]

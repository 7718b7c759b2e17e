"""The judges of one call of orvl, how each is reached, and the run that they are asked about."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.gateway.breaker import JudgeBreaker
from orvl.project.judges import reach
from orvl.score.judges.evidence import RunEvidence, gather
from orvl.score.judges.replies import Replies
from orvl.store.records import reply_place

if TYPE_CHECKING:
    from orvl.capture.captured_run import CapturedRun
    from orvl.gateway import Gateway
    from orvl.gateway.account import Account
    from orvl.gateway.failures import CallFailure
    from orvl.local_model import LocalModel
    from orvl.project.providers import Provider
    from orvl.project.settings import Settings
    from orvl.score.judges import ChecklistJudge
    from orvl.score.judges.evidence import EvidenceView
    from orvl.score.judges.tools import Browse
    from orvl.store.rows import JudgeReply
    from orvl.store.writer import Writer
    from orvl.types import Judge, Metric, ModelCall

MIN_CACHED = 4_000
"""Characters from which on providers cache the beginning of a prompt."""
LOCAL_KEY = "ORVL_LOCAL_MODEL"


@dataclass(frozen=True)
class JudgeEndpoint:
    """A judge, and where its model is reached."""

    judge: Judge
    provider: Provider
    protocol: str
    model: str
    local: LocalModel | None = None
    """The model on this machine, where it is the judge."""

    @classmethod
    def of(cls, judge: Judge, settings: Settings) -> JudgeEndpoint:
        provider, protocol = reach(settings, judge)
        return cls(judge, provider, protocol, judge.model)


@dataclass
class JudgePanel:
    """All judges of one call of orvl, and the gateway to their models."""

    gateway: Gateway
    endpoint_of: Callable[[Judge], JudgeEndpoint]
    seconds: float
    """How long a judge may take to answer, from when it is asked."""
    say: Callable[[str], None]
    writer: Writer | None = None
    """Stores answers as they arrive; without it they are kept nowhere."""
    cost: float = 0.0
    """Dollars that the questions of this call have cost, as far as it is known."""
    has_unknown_cost: bool = False
    without_schema: set[str] = field(default_factory=set)
    """Keys of judges whose providers do not take a schema for answers."""
    breaker: JudgeBreaker = field(default_factory=JudgeBreaker)
    _endpoints: dict[str, JudgeEndpoint] = field(default_factory=dict)
    _rooms: dict[str, asyncio.Semaphore] = field(default_factory=dict)
    _local: LocalModel | None = None
    _starting: asyncio.Lock = field(default_factory=asyncio.Lock)
    _asking_local: asyncio.Lock = field(default_factory=asyncio.Lock)

    def judged_run(
        self,
        run: CapturedRun,
        named_in: Sequence[str],
        browse: Browse | None = None,
        attempt: int = 0,
        replies: Sequence[JudgeReply] = (),
        contestant: str = "",
    ) -> JudgedRun:
        """`replies` are answers about this attempt that an earlier call of orvl got, and had no time to use."""
        return JudgedRun(self, run, named_in, browse, attempt, replies, contestant)

    async def endpoint(self, judge: Judge) -> JudgeEndpoint:
        """Where a judge is reached; the model on this machine is started when it is first asked."""
        async with self._starting:
            if judge.key not in self._endpoints:
                starting = asyncio.to_thread(self._start_local, judge) if judge.is_local else None
                self._endpoints[judge.key] = await starting if starting else self.endpoint_of(judge)
        return self._endpoints[judge.key]

    def _start_local(self, judge: Judge) -> JudgeEndpoint:
        from orvl.local_model import LocalModel, weights_of
        from orvl.project.providers import Provider

        self._local = local = LocalModel(weights_of(judge.model), threads=judge.threads, deadline=self.seconds)
        local.start()
        self.gateway.add_key(LOCAL_KEY, local.key)
        protocols, silence = {"openai": local.base_url}, self.seconds + 60
        provider = Provider("local", protocols, LOCAL_KEY, concurrency=1, timeout=silence, free=True)
        return JudgeEndpoint(judge, provider, "openai", local.name, local)

    @asynccontextmanager
    async def turn_of(self, endpoint: JudgeEndpoint) -> AsyncIterator[None]:
        """Lets questions to the model on this machine through one at a time, once its process answers.

        Those that wait while a process is replaced would otherwise all find its port closed.
        """
        if endpoint.local is None:
            yield
            return
        async with self._asking_local:
            await asyncio.to_thread(endpoint.local.wait_until_ready, self.seconds)
            yield

    def room(self, endpoint: JudgeEndpoint) -> AbstractAsyncContextManager[object]:
        """Lets as many questions through as a provider takes at once; each keeps its room until its answer is stored.

        Otherwise more answers than that could wait for a slow disk, and be lost with it.
        """
        concurrency = endpoint.provider.concurrency
        if not concurrency:
            return nullcontext()
        return self._rooms.setdefault(endpoint.provider.name, asyncio.Semaphore(concurrency))

    def account(self, endpoint: JudgeEndpoint, contestant: str = "") -> Account:
        return self.gateway.judge_account(endpoint.provider, endpoint.protocol, endpoint.model, contestant)

    def charge(self, call: ModelCall) -> None:
        """Adds what a question cost; an answer whose price nobody knows makes the sum one that is too small."""
        self.cost += call.cost_usd or 0.0
        self.has_unknown_cost |= call.cost_usd is None and call.output_tokens is not None

    def question_ended(self, endpoint: JudgeEndpoint, run: str, failure: CallFailure | None, hung: float = 0.0) -> None:
        """Notes how a question ended; says so where the judge is left alone for a while."""
        if sentence := self.breaker.ended(endpoint.provider.name, endpoint.model, run, failure, hung):
            self.say(sentence)

    def close(self) -> None:
        if self._local is not None:
            self._local.stop()
            self._local = None


@dataclass
class JudgedRun:
    """One run that judges are asked about; its evidence is gathered once for all of them."""

    panel: JudgePanel
    run: CapturedRun
    named_in: Sequence[str]
    """Texts of checklists: files that they name are shown even if the run did not touch them."""
    browse: Browse | None = None
    """Does steps in the run's app, and says how they went."""
    attempt: int = 0
    replies: Sequence[JudgeReply] = ()
    contestant: str = ""
    """Whose run it is. What is in its work may make a judge's provider fail, which must not stop judging others."""
    _gathered: dict[int, asyncio.Task[RunEvidence]] = field(default_factory=dict)
    _first_ended: dict[tuple[str, str], asyncio.Event] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Of the run, for what is given up for it alone."""
        return f"{self.contestant}#{self.attempt}"

    async def judge(self, judge: Judge, metric: Metric, metric_key: str, sample: int) -> ChecklistJudge:
        """The judge, ready to be asked about one metric."""
        if judge.provider == "none":
            from orvl.score.judges.fixed import FixedJudge

            return FixedJudge(judge, metric.name)
        from orvl.score.judges.model import ModelJudge

        about, scope = reply_place(self.attempt, metric_key, judge.key, sample)
        replies = Replies(about, scope, self.replies, self.panel.writer)
        return ModelJudge(await self.panel.endpoint(judge), self, judge.looks if metric.may_look else 0, replies)

    async def evidence(self, room: int) -> RunEvidence:
        if room not in self._gathered:
            gathering = asyncio.to_thread(gather, self.run, self.named_in, room)
            self._gathered[room] = asyncio.ensure_future(gathering)
        # Shielded: a judge that gives up must not take the evidence from the others.
        return await asyncio.shield(self._gathered[room])

    async def turn(self, endpoint: JudgeEndpoint, view: EvidenceView) -> asyncio.Event:
        """Waits for the turn of a question about a view; its event is to be set once it has ended.

        The first question goes alone, so that the others find its evidence in the provider's cache, which costs a
        tenth. Questions at once would each pay for it in full.
        """
        if len(view.text) < MIN_CACHED or endpoint.judge.is_local:
            return asyncio.Event()
        key = (endpoint.judge.key, view.nonce)
        if key in self._first_ended:
            await self._first_ended[key].wait()
            return asyncio.Event()
        self._first_ended[key] = asyncio.Event()
        return self._first_ended[key]

"""A question of orvl's own to a provider, in which no agent has a part: does it answer, or is the trouble its own?

An agent chooses what it sends, so it can make a provider answer with almost any error. What it cannot choose is
whether a plain question of orvl's, with the assigned model and the real key, is answered.
"""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from yarl import URL

from orvl.errors import CallRefused
from orvl.gateway.clock import OpenCall
from orvl.gateway.failures import CallFailure, is_about_account
from orvl.gateway.judge_call import JudgeCall
from orvl.gateway.metering import charge_of, largest_cost, model_call
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Question

if TYPE_CHECKING:
    import aiohttp

    from orvl.gateway.account import Account
    from orvl.gateway.limits import ProviderLimiter

PATIENCE = 20.0
LONGEST_REST = 20.0
ASKED_WHEN_LIMITED = 3
SYSTEM, QUESTION = "Answer in one word.", "Say OK."
MAX_OUTPUT = 16
LONGEST = 2000


def is_own_question(content: object) -> bool:
    """Whether a request is orvl's own question, in any protocol."""
    text = json.dumps(content)
    return len(text) < LONGEST and SYSTEM in text and QUESTION in text


@dataclass
class Prober:
    """Asks a run's provider on orvl's own behalf; what that costs is part of the run's account."""

    account: Account
    limiter: ProviderLimiter
    client: aiohttp.ClientSession
    key: str | None
    tries: int = 0
    """How often the last question was asked."""
    _asking: asyncio.Task[CallFailure | None] | None = None

    async def ask(self, *, stream: bool) -> CallFailure | None:
        """How the provider failed, too; None if it answers. Calls that fail together share one question.

        It is asked in the run's own protocol: that another one does not work is known to who chooses it.
        """
        if self._asking is None or self._asking.done():
            self._asking = asyncio.ensure_future(self._ask(stream=stream))
        return await asyncio.shield(self._asking)

    async def _ask(self, *, stream: bool) -> CallFailure | None:
        """A rate limit may be due to the run's own calls: these then pause, and the provider is asked again."""
        limiter, self.tries = self.limiter.model(self.account.model, self.account.contestant), 0
        failure = await self._ask_once(stream=stream)
        for _ in range(ASKED_WHEN_LIMITED - 1):
            if failure is None or not failure.is_rate_limit:
                break
            limiter.rate_limited(failure.retry_after)
            if limiter.wait() > LONGEST_REST:
                break
            async with limiter.closed(LONGEST_REST):
                await asyncio.sleep(limiter.wait())
                failure = await self._ask_once(stream=stream)
        return failure

    async def _ask_once(self, *, stream: bool) -> CallFailure | None:
        self.tries += 1
        call = self._call(stream=stream)
        patience = min(PATIENCE, self.account.provider.timeout)
        try:
            await self.account.reserve(call.reservation)
        except CallRefused as error:
            return CallFailure(str(error), retry_call=False)
        try:
            async with asyncio.timeout(patience):
                failure = await call.send_once()
        except TimeoutError:
            failure = CallFailure(f"it said nothing for {patience:g} s", retry_call=False, retry_run=True)
        finally:
            call.pay()
        self.account.charge_probe(model_call(call, charge_of(call), had_reasoning=False))
        return failure and replace(failure, scope="provider") if is_about_account(call.refusal) else failure

    def _call(self, *, stream: bool) -> ProbeCall:
        account, protocol = self.account, self.account.protocol
        format = FORMATS[protocol]
        question = Question(account.model, SYSTEM, QUESTION, "", max_output=MAX_OUTPUT)
        route, content = format.route_to(account.model), format.ask(question)
        suffix, content = format.streamed(route, content) if stream else (route.suffix, content)
        asked = replace(route.read_request(content), stream=stream)
        url = URL(f"{account.provider.address(protocol)}{suffix}", encoded=True)
        body, opened = json.dumps(content).encode(), OpenCall(time.monotonic())
        call = ProbeCall(
            account, self.limiter, self.client, self.key, route, url, body, asked, 0, opened, begin=lambda: None
        )
        call.reservation = largest_cost(account.provider, asked, len(body)) or 0.0
        return call


@dataclass(kw_only=True)
class ProbeCall(JudgeCall):
    """Sent once, past the limits of speed: an agent that has filled these must not look like a provider that is."""

    async def send_once(self) -> CallFailure | None:
        self.tries, self.began = 1, time.monotonic()
        self.failure = await self._post()
        return self.failure

    async def _read_answer(self, upstream: aiohttp.ClientResponse) -> CallFailure | None:
        failure = await super()._read_answer(upstream)
        if failure is None and self.asked.stream and not self.answer.complete:
            return CallFailure("the answer was cut off: the stream ended before it did", retry_call=True)
        return failure

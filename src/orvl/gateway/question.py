"""A question of orvl's own to a model, such as a judge's: tried, paid and counted like an agent's call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yarl import URL

from orvl.gateway.faults import LONGEST_WORDS, Trouble
from orvl.gateway.note import BYTES_PER_TOKEN, cost_of, noted, tokens_of
from orvl.gateway.tries import LONGEST_ERROR, Tries
from orvl.gateway.upstream import read_up_to
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import TokenCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import aiohttp

    from orvl.gateway.account import Account
    from orvl.gateway.pace import Lane

LONGEST_ANSWER = 4 << 20
LIKELY_OUTPUT = 4_000


@dataclass(kw_only=True)
class Question(Tries):
    """Its answer is read as a whole; nobody sees a part of it, so that every try may be followed by another."""

    begin: Callable[[], None]

    def _headers(self) -> Mapping[str, str]:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", **self.format.request_headers}
        return headers | (self._key_headers(self.key) if self.key else {})

    async def _send(self) -> Trouble | None:
        self.begin()
        return await super()._send()

    async def _take(self, upstream: aiohttp.ClientResponse) -> Trouble | None:
        self.reader = self.format.reader()
        body = await read_up_to(upstream.content, LONGEST_ANSWER)
        if body is None:
            return Trouble(f"its answer is longer than {LONGEST_ANSWER >> 20} MiB", helps=False)
        kind = upstream.headers.get("Content-Type", "nothing")[:80]
        if "event-stream" in kind:
            self.reader.feed_stream(body)
        else:
            self.reader.feed_body(body)
        if self.answer.error:
            return Trouble(self.redact.text(self.answer.error)[:LONGEST_WORDS], helps=True)
        if self.answer.is_missing:
            return Trouble(f"{upstream.status} it sent {kind}, and no answer", helps=True)
        return None

    async def _error(self, upstream: aiohttp.ClientResponse) -> Trouble:
        body = await read_up_to(upstream.content, LONGEST_ERROR) or b""
        trouble = self._trouble_of(upstream.status, body, upstream.headers)
        return trouble or Trouble(f"{upstream.status} {self.said}".strip(), helps=False, status=upstream.status)


async def put(
    account: Account,
    lane: Lane,
    client: aiohttp.ClientSession,
    key: str | None,
    content: dict[str, Any],
    begin: Callable[[], None],
) -> Question:
    """Asks, within the account's limits and the budget; raises `Refused` where these do not allow it."""
    body = json.dumps(content).encode()
    route = FORMATS[account.protocol].route_to(account.model)
    asked = route.read_request(content)
    estimate = cost_of(account.provider, account.model, _guess(body))[0] or 0.0
    number, opened = await account.admit(estimate)
    url = URL(f"{account.provider.address(account.protocol)}{route.suffix}", encoded=True)
    question = Question(account, lane, client, key, route, url, body, asked, number, opened, begin=begin)
    try:
        await question.carry()
    except BaseException:
        question.agent_left = True
        raise
    finally:
        question.answer.redact(question.redact.text)
        done = noted(question, before_had_reasoning=False)
        tokens = tokens_of(question)
        guessed = cost_of(account.provider, account.model, tokens)[0] or 0.0
        account.close(question, estimate, done, guessed if done.cost_usd is None else done.cost_usd, tokens.total)
    return question


def _guess(body: bytes) -> TokenCounts:
    return TokenCounts(input=len(body) // BYTES_PER_TOKEN, output=LIKELY_OUTPUT)

"""A judge's call of a model: retried, paid for and metered like an agent's call."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from yarl import URL

from orvl.gateway.failures import LONGEST_MESSAGE, CallFailure
from orvl.gateway.metering import close, largest_cost
from orvl.gateway.retry import LONGEST_ERROR, UpstreamCall, read_up_to
from orvl.gateway.wire import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    import aiohttp

    from orvl.gateway.account import Account
    from orvl.gateway.limits import ProviderLimiter

LONGEST_ANSWER = 4 << 20


@dataclass(kw_only=True)
class JudgeCall(UpstreamCall):
    """Its answer is read as a whole; nobody sees a part of it, so every failure may be retried."""

    begin: Callable[[], None]
    """Called before each try."""

    def _headers(self) -> Mapping[str, str]:
        headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        return {**headers, **self.format.request_headers, **self._key_headers()}

    async def _post(self) -> CallFailure | None:
        self.begin()
        self.reader = self.format.reader()
        return await super()._post()

    async def _read_answer(self, upstream: aiohttp.ClientResponse) -> CallFailure | None:
        body = await read_up_to(upstream.content, LONGEST_ANSWER)
        self.was_read = body is not None
        if body is None:
            return CallFailure(f"its answer is longer than {LONGEST_ANSWER >> 20} MiB", retry_call=False)
        kind = upstream.headers.get("Content-Type", "nothing")[:80]
        body, kind = self.redactor.whole(body), self.redactor.text(kind)
        (self.reader.feed_stream if "event-stream" in kind else self.reader.feed_body)(body)
        if self.answer.error:
            return CallFailure(self.redactor.text(self.answer.error)[:LONGEST_MESSAGE], retry_call=True)
        if self.answer.is_missing:
            return CallFailure(f"{upstream.status} it sent {kind}, and no answer", retry_call=True)
        return None

    async def _read_error(self, upstream: aiohttp.ClientResponse) -> CallFailure:
        body = self.redactor.whole(await read_up_to(upstream.content, LONGEST_ERROR) or b"")
        failure = self._failure_of(upstream.status, body, upstream.headers)
        message = f"{upstream.status} {self.refusal}".strip()
        return failure or CallFailure(message, retry_call=False, status=upstream.status)


async def ask(
    account: Account,
    limiter: ProviderLimiter,
    client: aiohttp.ClientSession,
    key: str | None,
    content: dict[str, Any],
    begin: Callable[[], None],
) -> JudgeCall:
    """Asks within the account's limits and the budget; raises `CallRefused` if these do not allow it."""
    body = json.dumps(content).encode()
    route = FORMATS[account.protocol].route_to(account.model)
    request = route.read_request(content)
    reservation = largest_cost(account.provider, request, len(body)) or 0.0
    number, open_call = await account.admit(reservation)
    url = URL(f"{account.provider.address(account.protocol)}{route.suffix}", encoded=True)
    call = JudgeCall(account, limiter, client, key, route, url, body, request, number, open_call, begin=begin)
    call.reservation = reservation
    try:
        await call.send()
    except BaseException:
        call.leave()
        raise
    finally:
        close(call)
    return call

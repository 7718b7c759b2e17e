"""The server of one run: it lets in only that run's key, and passes model calls on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import unquote

import aiohttp
from aiohttp import web
from yarl import URL

from orvl.errors import CallRefused, MalformedRequest
from orvl.gateway.agent_call import AgentCall
from orvl.gateway.failures import CallFailure
from orvl.gateway.issues import issues_of
from orvl.gateway.metering import close, largest_cost
from orvl.gateway.pace import Pace, PacedConnection, TimeShare
from orvl.gateway.probe import Prober
from orvl.gateway.redact import Redactor, redacted_body
from orvl.gateway.request import LONGEST_NAME, check_headers, passes, read_request
from orvl.gateway.retry import proxy_for, read_up_to
from orvl.gateway.wire import FORMATS, key_in, route_of

if TYPE_CHECKING:
    import socket

    from orvl.gateway.account import Account
    from orvl.gateway.limits import ProviderLimiter
    from orvl.gateway.wire.format import ModelRequest, Route
    from orvl.types import ModelCall

LONGEST_REQUEST = 128 << 20
LAST_WORDS = 2.0
FREE_AT_ONCE = 4
CONNECTIONS = 256
LONGEST_TOGETHER = 256 << 20
READING = 1 / 32
"""The part of orvl's time that goes into reading what one run sends."""
SAVED = 0.1
ONE_REQUEST = 0.0003
"""Seconds that it takes at least to answer a request that is not passed on."""
OWN_HEADERS = tuple(format.header_prefix for format in FORMATS.values() if format.header_prefix)


class ClosedConnection(asyncio.Protocol):
    """A connection over the limit."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        transport.close()


class Proxy:
    """The server of one run."""

    def __init__(
        self, account: Account, limiter: ProviderLimiter, client: aiohttp.ClientSession, key: str | None
    ) -> None:
        self.account, self.limiter, self.client, self.key = account, limiter, client, key
        self._prober = Prober(account, limiter, client, key)
        account.ask_provider = self._prober.ask
        self._had_reasoning = False
        self._open_bytes = 0
        self._free = asyncio.Semaphore(FREE_AT_ONCE)
        self._pace = Pace(TimeShare(READING, SAVED))
        self._idle = TimeShare(READING, SAVED)
        """For requests that are in no account."""

    async def serve(self, listening: socket.socket) -> None:
        """Serves on a listening socket until it is cancelled."""
        server = web.Server(self.handle, handler_cancellation=True)

        def connection() -> asyncio.BaseProtocol:
            is_full = len(server.connections) >= CONNECTIONS
            return ClosedConnection() if is_full else PacedConnection(server(), self._pace)

        loop = asyncio.get_running_loop()
        listener = await loop.create_server(connection, sock=listening, start_serving=False)
        try:
            # Begun in here: who is cancelled in `create_server` leaves a closed descriptor with the event loop, which
            # then does not watch the next socket that gets the same number.
            await listener.start_serving()
            await loop.create_future()
        finally:
            listener.close()
            await asyncio.shield(server.shutdown(LAST_WORDS))

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/" and request.method in ("HEAD", "GET"):
            await self._take_time()
            return web.Response(text="orvl")
        if self.account.aborted.is_set():
            await self._take_time()
        protocol = self.account.protocol
        if key_in(request.headers, request.query) != self.account.key:
            self.account.refuse("another key")
            return _error(protocol, 401, "authentication_error", "This is orvl's gateway: use the run's own key.")
        route = route_of(request.method, request.path, protocol)
        if route is None:
            self.account.refuse("another path")
            sentence = f"orvl's gateway passes on only model calls, not {request.method} {request.path}."
            return _error(protocol, 404, "not_found_error", sentence)
        if route.protocol not in self.account.provider.addresses:
            self.account.refuse("another protocol")
            offered = ", ".join(self.account.provider.addresses)
            sentence = f"{self.account.provider.name} offers {offered}, not {route.protocol}."
            return _error(route.protocol, 404, "not_found_error", sentence)
        # A bare web.Server leaves this to its handler, and clients with large bodies wait for it.
        if request.headers.get("Expect", "").lower() == "100-continue" and request.transport is not None:
            request.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = bytearray()
        try:
            check_headers(request.headers)
            if not await self._read(request, body):
                raise MalformedRequest(413, "The request is larger than orvl passes on.")
            handle = self._call if route.is_call else self._free_request
            return await handle(request, route, bytes(body))
        except (aiohttp.ClientPayloadError, web.RequestPayloadError, aiohttp.http_exceptions.HttpProcessingError):
            return self._refusal(route, MalformedRequest(400, "The body of the request cannot be read."))
        except MalformedRequest as error:
            return self._refusal(route, error)
        finally:
            self._open_bytes -= len(body)

    async def _take_time(self) -> None:
        """What counts as no call has its end, too: thousands of such requests wait, each for those before it."""
        self._idle.spend(ONE_REQUEST)
        await self._idle.rest()

    def _refusal(self, route: Route, error: MalformedRequest) -> web.Response:
        """What an agent gets for a request that is malformed, beyond a bound, or cannot be metered."""
        kind = "request_too_large" if error.status == 413 else "invalid_request_error"
        self.account.refuse("malformed request", str(error))
        return _error(route.protocol, error.status, kind, str(error))

    async def _read(self, request: web.BaseRequest, body: bytearray) -> bool:
        """Reads the body of a request, unless it, or all open ones together, are too large."""
        async for chunk in request.content.iter_any():
            body += chunk
            self._open_bytes += len(chunk)
            if len(body) > LONGEST_REQUEST or self._open_bytes > LONGEST_TOGETHER:
                return False
        return True

    # -- model calls

    async def _call(self, request: web.BaseRequest, route: Route, body: bytes) -> web.StreamResponse:
        asked = await read_request(body, route, self.account.worker)
        if not self.account.allows(asked.model):
            return self._other_model(route, asked.model)
        url = self._url(route, request)
        try:
            reservation = self._reservation(asked, len(body))
            number, open_call = await self.account.admit(reservation)
        except CallRefused as error:
            return _error(route.protocol, 403, "permission_error", f"orvl ends this run: {error}.")
        call = AgentCall(
            account=self.account,
            limiter=self.limiter,
            client=self.client,
            key=self.key,
            route=route,
            request=request,
            url=url,
            body=body,
            asked=asked,
            number=number,
            open_call=open_call,
            prober=self._prober,
            reservation=reservation,
        )
        self._open_bytes += len(body)
        call.task = task = self.account.start(self._carry_out(call, body))
        try:
            # The call goes on when the agent leaves: what it takes is known only at its end.
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            call.leave()
            raise

    async def _carry_out(self, call: AgentCall, body: bytes) -> web.StreamResponse:
        """The one place in which a call is carried out, and its account closed, whatever happens in between."""
        try:
            return await call.forward()
        except OSError as error:
            call.failure = CallFailure(f"orvl's gateway: {error}", retry_call=True)
            raise
        finally:
            done = close(call, had_reasoning=self._had_reasoning)
            self._open_bytes -= len(body)
            self._had_reasoning = self._had_reasoning or done.reasoning_given
            self.account.start(self._examine(call, done))
            self._keep(call, body)

    def _keep(self, call: AgentCall, body: bytes) -> None:
        try:
            self.account.record.keep(call.number, call.route.suffix, body, call.log)
        except OSError as error:
            # Without its record nobody can see what happened in the run; that is this machine's fault.
            self.account.fail(CallFailure(f"orvl's gateway: {error}", retry_call=True))

    async def _examine(self, call: AgentCall, done: ModelCall) -> None:
        """Looks at what a call said, once it is closed."""
        self.account.add_findings(done.number, await issues_of(call))

    def _other_model(self, route: Route, model: str) -> web.Response:
        """Answers a request for a model that the run was not given."""
        own = self.account.model
        sentence = f"orvl runs this agent on '{own}' alone, not on '{model[:LONGEST_NAME]}'."
        self.account.refuse("another model", sentence)
        return _error(route.protocol, 404, route.format.unknown_model, sentence)

    def _reservation(self, asked: ModelRequest, size: int) -> float:
        """The most that a call may cost; raises CallRefused where a budget could not count it."""
        most, budget = largest_cost(self.account.provider, asked, size), self.account.command_budget
        if most is None and budget.limit is not None and not budget.allow_unpriced:
            raise CallRefused(f"--budget cannot count {asked.model[:LONGEST_NAME]}, whose price is unknown")
        return most or 0.0

    def _url(self, route: Route, request: web.BaseRequest) -> URL:
        """The provider's own address, with the agent's query as it was written, without the key."""
        parts = request.rel_url.raw_query_string.split("&")
        query = "&".join(part for part in parts if part and passes(unquote(part.split("=")[0])))
        address = f"{self.account.provider.address(route.protocol)}{route.suffix}"
        return URL(f"{address}?{query}" if query else address, encoded=True)

    # -- free requests

    async def _free_request(self, request: web.BaseRequest, route: Route, body: bytes) -> web.StreamResponse:
        if not self.account.begin_free_request():
            sentence = f"orvl passes on {self.account.limits.calls:g} such requests at most."
            return _error(route.protocol, 403, "permission_error", sentence)
        async with self._free:
            return await self._fetch(request, route, body)

    async def _fetch(self, request: web.BaseRequest, route: Route, body: bytes) -> web.StreamResponse:
        headers = {"Accept-Encoding": "identity", "Content-Type": request.headers.get("Content-Type", "")}
        headers |= {name: value for name, value in request.headers.items() if name.lower().startswith(OWN_HEADERS)}
        if self.key:
            headers |= route.format.with_key(self.key, is_vendor=self.account.provider.name == route.protocol)
        timeout = aiohttp.ClientTimeout(total=60)
        try:
            async with self.client.request(
                request.method,
                self._url(route, request),
                data=body or None,
                headers=headers,
                proxy=proxy_for(self._url(route, request)),
                allow_redirects=False,
                timeout=timeout,
            ) as upstream:
                answer = await read_up_to(upstream.content, LONGEST_REQUEST) or b""
        except (aiohttp.ClientError, OSError, TimeoutError) as error:
            return _error(route.protocol, 502, "api_error", f"The provider failed: {type(error).__name__}.")
        kind = Redactor(self.key).text(upstream.content_type)
        passed = await redacted_body(answer, self.key, self.account.worker)
        if passed is None:
            return _error(route.protocol, 502, "api_error", "The provider's answer cannot be passed on.")
        return web.Response(status=upstream.status, body=passed, content_type=kind)


def _error(protocol: str, status: int, kind: str, sentence: str) -> web.Response:
    return web.json_response(FORMATS[protocol].error(status, sentence, kind), status=status)

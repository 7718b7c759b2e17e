"""The HTTP side of the scripted model server."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from aiohttp import web

from orvl.gateway.wire import DEFAULT, FORMATS, route_below
from orvl.gateway.wire.format import PIECES, Reply, Route, WireFormat
from orvl.gateway.wire.values import Json, as_object
from orvl.testing.request import Request
from orvl.testing.script import Answer, Fault, Given, Said

if TYPE_CHECKING:
    from orvl.testing.server import ModelServer

LONGEST_BODY = 1 << 30
WAITING_CONNECTIONS = 1024
CHARACTERS_PER_TOKEN = 4
WRONG_KEY = Fault(401, "Incorrect API key provided.")


async def runner_of(server: ModelServer, listener: socket.socket) -> web.AppRunner:
    """Begins to serve on a bound socket."""
    app = web.Application(client_max_size=LONGEST_BODY)
    app.router.add_route("*", "/{path:.*}", Handlers(server).handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.SockSite(runner, listener, backlog=WAITING_CONNECTIONS).start()
    return runner


class Handlers:
    """Takes the requests of one server and answers each as the script says."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server

    async def handle(self, http: web.Request) -> web.StreamResponse:
        """Any request at all."""
        arrived = time.time()
        route = route_below(http.path)
        if http.method == "POST" and route and route.is_call:
            async with self._counted():
                return await self._model_call(http, route, arrived)
        self.server.others.append(f"{http.method} {http.path}")
        if http.method == "POST" and route:
            return await self._count(http, route, arrived)
        if http.method in ("GET", "HEAD") and http.path.endswith("/models"):
            return await self._models(http)
        if http.method in ("GET", "HEAD") and http.path == "/":
            return web.Response()
        return web.json_response({"error": {"message": f"there is no {http.method} {http.path}"}}, status=404)

    async def _model_call(self, http: web.Request, route: Route, arrived: float) -> web.StreamResponse:
        at_once = self.server.open
        body = as_object(await http.read())
        request = self._request(http, route, body or {}, arrived, at_once)
        self.server.requests.append(request)
        said = self._said(http, request, is_valid=body is not None)
        tokens = said.tokens if isinstance(said, Answer) else None
        place = len(self.server.record)
        self.server.record.append(Given(request.number, said, False, tokens))
        response = await self._give(http, request, said)
        is_complete = isinstance(said, Answer) or response.status >= 400
        self.server.record[place] = Given(request.number, said, is_complete, tokens)
        return response

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self.server.open += 1
        try:
            yield
        finally:
            self.server.open -= 1

    def _request(self, http: web.Request, route: Route, body: Json, arrived: float, at_once: int) -> Request:
        read = route.read_request(body)
        return Request(
            format=route.format,
            path=http.path,
            model=read.model,
            stream=read.stream,
            headers=_headers(http),
            body=body,
            number=len(self.server.requests) + 1,
            arrived=arrived,
            at_once=at_once,
        )

    def _said(self, http: web.Request, request: Request, is_valid: bool) -> Said:
        """What the script says, unless the request itself is wrong."""
        if not self._has_key(http, request.format):
            return WRONG_KEY
        if not is_valid or not request.messages or not request.model:
            return Fault(400, "The body of the request is not a JSON object with a model and messages.")
        try:
            return self.server.script.next(request)
        except Exception as error:  # noqa: BLE001
            self.server.mistakes.append(error)
            return Fault(500, f"The script of the model server raised {type(error).__name__}: {error}")

    def _has_key(self, http: web.Request, format: WireFormat) -> bool:
        return self.server.key in (None, format.key(_headers(http), http.query))

    # -- answers

    async def _give(self, http: web.Request, request: Request, said: Said) -> web.StreamResponse:
        if isinstance(said, Answer):
            return await self._answer(http, request, said)
        if said.manner == "hang":
            await asyncio.sleep(said.seconds)
        if said.manner in ("hang", "refuse"):
            return _hang_up(http)
        if said.manner == "status" or (said.manner == "in stream" and not request.stream):
            headers = {**self.server.headers, **said.headers}
            body = request.format.error(said.status, said.message, said.kind, request.number)
            return await self._whole(http, body, headers, said.status)
        return await self._unfinished(http, request, said)

    async def _answer(self, http: web.Request, request: Request, answer: Answer) -> web.StreamResponse:
        reply = self._reply(request, answer)
        if not request.stream:
            await asyncio.sleep(answer.first_byte)
            return await self._whole(http, request.format.whole(reply), self._answer_headers(request, answer))
        response, pieces = await self._begin(http, request, answer, reply)
        await self._send(response, answer, pieces)
        await response.write_eof()
        return response

    async def _unfinished(self, http: web.Request, request: Request, fault: Fault) -> web.StreamResponse:
        answer = fault.answer
        reply = self._reply(request, answer)
        if not request.stream:
            headers = self._answer_headers(request, answer)
            return _hang_up(http, await self._whole(http, request.format.whole(reply), headers, share=0.5))
        response, pieces = await self._begin(http, request, answer, reply)
        await self._send(response, answer, islice(pieces, fault.after))
        if fault.manner == "cut":
            return _hang_up(http, response)
        error = request.format.error_event(reply, fault.status, fault.message, fault.kind, fault.after)
        await self._write(response, error)
        await response.write_eof()
        return response

    def _reply(self, request: Request, answer: Answer) -> Reply:
        return Reply(
            model=answer.model or request.model,
            text=answer.text,
            reasoning=answer.reasoning,
            refusal=answer.refusal,
            tool_calls=answer.tool_calls,
            tokens=answer.tokens,
            finish_reason=answer.finish,
            request=request.body,
            number=request.number,
            created=int(request.arrived),
            usage=self.server.usage,
            pieces=answer.pieces or PIECES,
        )

    async def _whole(
        self, http: web.Request, body: Any, headers: Mapping[str, str], status: int = 200, share: float = 1.0
    ) -> web.StreamResponse:
        """Sends a body in one piece, or only a share of what its length promises."""
        text = json.dumps(body).encode()
        response = web.StreamResponse(status=status, headers={"content-type": "application/json", **headers})
        response.content_length = len(text)
        await response.prepare(http)
        await self._write(response, text[: int(len(text) * share)])
        if share == 1.0:
            await response.write_eof()
        return response

    def _answer_headers(self, request: Request, answer: Answer) -> dict[str, str]:
        return {"x-request-id": f"req_{request.number:06d}", **self.server.headers, **answer.headers}

    async def _begin(
        self, http: web.Request, request: Request, answer: Answer, reply: Reply
    ) -> tuple[web.StreamResponse, Iterator[bytes]]:
        await asyncio.sleep(answer.first_byte)
        kind, pieces = request.format.framed(request.format.stream(reply), http.query)
        headers = {"content-type": kind, "cache-control": "no-cache", **self._answer_headers(request, answer)}
        response = web.StreamResponse(headers=headers)
        await response.prepare(http)
        return response, pieces

    async def _send(self, response: web.StreamResponse, answer: Answer, pieces: Iterator[bytes]) -> None:
        for place, piece in enumerate(pieces):
            await asyncio.sleep(answer.between if place else 0)
            await self._write(response, piece)

    async def _write(self, response: web.StreamResponse, piece: bytes) -> None:
        size = self.server.shred or len(piece)
        for start in range(0, len(piece), size):
            await response.write(piece[start : start + size])

    # -- free requests

    async def _count(self, http: web.Request, route: Route, arrived: float) -> web.StreamResponse:
        """An estimate of a prompt's tokens."""
        if not self._has_key(http, route.format):
            return _wrong_key(route.format)
        request = self._request(http, route, as_object(await http.read()) or {}, arrived, self.server.open)
        return web.json_response(route.format.token_count(len(request.prompt_text) // CHARACTERS_PER_TOKEN + 1))

    async def _models(self, http: web.Request) -> web.StreamResponse:
        """The list of models, in the format of the client that asks."""
        clients = (one for one in FORMATS.values() if one.is_client(http.path, _headers(http), http.query))
        format = next(clients, FORMATS[DEFAULT])
        if not self._has_key(http, format):
            return _wrong_key(format)
        return web.json_response(format.models(self.server.models))


def _headers(http: web.Request) -> dict[str, str]:
    return {name.lower(): value for name, value in http.headers.items()}


def _wrong_key(format: WireFormat) -> web.Response:
    return web.json_response(format.error(WRONG_KEY.status, WRONG_KEY.message, number=0), status=WRONG_KEY.status)


def _hang_up(http: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Closes the connection as it is."""
    if http.transport:
        http.transport.close()
    return response or web.Response()

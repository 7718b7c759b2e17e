"""The HTTP side of the scripted model server."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from aiohttp import web

from orvl.testing.chat import Chat
from orvl.testing.dialect import Dialect, Reply
from orvl.testing.gemini import Gemini
from orvl.testing.messages import Messages
from orvl.testing.request import Request
from orvl.testing.responses import Responses
from orvl.testing.script import Answer, Fault, Given, Said

if TYPE_CHECKING:
    from orvl.testing.server import ModelServer

GEMINI_CALL = re.compile(r"/models/(.+):(\w+)$")
LONGEST_BODY = 1 << 30
WAITING_CONNECTIONS = 1024
SIGNS_A_TOKEN = 4
WRONG_KEY = Fault(401, "Incorrect API key provided.")


async def runner_of(server: ModelServer, listener: socket.socket) -> web.AppRunner:
    """Begins to serve on a bound socket."""
    app = web.Application(client_max_size=LONGEST_BODY)
    app.router.add_route("*", "/{path:.*}", Desk(server).handle)
    runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=0)
    await runner.setup()
    await web.SockSite(runner, listener, backlog=WAITING_CONNECTIONS).start()
    return runner


class Desk:
    """Takes the requests of one server and gives each what the script says."""

    def __init__(self, server: ModelServer) -> None:
        self.server = server
        self.dialects = {one.name: one for one in (Chat(), Responses(), Messages(), Gemini())}

    async def handle(self, http: web.Request) -> web.StreamResponse:
        """Any request at all."""
        arrived = time.time()
        dialect, call = self._dialect(http.path)
        if http.method == "POST" and dialect and call != "countTokens":
            async with self._counted():
                return await self._model_call(http, dialect, arrived)
        self.server.others.append(f"{http.method} {http.path}")
        if http.method == "POST" and dialect:
            return await self._count(http, dialect, arrived)
        if http.method in ("GET", "HEAD") and http.path.endswith("/models"):
            return await self._models(http)
        if http.method in ("GET", "HEAD") and http.path == "/":
            return web.Response()
        return web.json_response({"error": {"message": f"there is no {http.method} {http.path}"}}, status=404)

    async def _model_call(self, http: web.Request, dialect: Dialect, arrived: float) -> web.StreamResponse:
        at_once = self.server.open
        body = await _body(http)
        request = self._request(http, dialect, body or {}, arrived, at_once)
        said = self._said(http, request, valid=body is not None)
        tokens = said.tokens if isinstance(said, Answer) else None
        place = len(self.server.record)
        self.server.record.append(Given(request.number, said, False, tokens))
        response = await self._give(http, request, said)
        complete = isinstance(said, Answer) or response.status >= 400
        self.server.record[place] = Given(request.number, said, complete, tokens)
        return response

    @asynccontextmanager
    async def _counted(self) -> AsyncIterator[None]:
        self.server.open += 1
        try:
            yield
        finally:
            self.server.open -= 1

    def _dialect(self, path: str) -> tuple[Dialect | None, str]:
        """Which protocol a path belongs to, and what it calls."""
        for end, name, call in (
            ("/chat/completions", "openai", ""),
            ("/responses", "responses", ""),
            ("/messages", "anthropic", ""),
            ("/messages/count_tokens", "anthropic", "countTokens"),
        ):
            if path.endswith(end):
                return self.dialects[name], call
        found = GEMINI_CALL.search(path)
        known = found and found[2] in ("generateContent", "streamGenerateContent", "countTokens")
        return (self.dialects["gemini"], found[2]) if found and known else (None, "")

    def _request(
        self, http: web.Request, dialect: Dialect, body: dict[str, Any], arrived: float, at_once: int
    ) -> Request:
        found = GEMINI_CALL.search(http.path) if dialect.name == "gemini" else None
        request = Request(
            protocol=dialect.name,
            path=http.path,
            model=found[1] if found else str(body.get("model") or ""),
            stream=found[2] == "streamGenerateContent" if found else bool(body.get("stream")),
            headers={name.lower(): value for name, value in http.headers.items()},
            body=body,
            number=len(self.server.requests) + 1,
            arrived=arrived,
            at_once=at_once,
            dialect=dialect,
        )
        self.server.requests.append(request)
        return request

    def _said(self, http: web.Request, request: Request, valid: bool) -> Said:
        """What the script says, unless the request itself is wrong."""
        if not self._has_key(http, request.dialect):
            return WRONG_KEY
        if not valid or not request.messages or not request.model:
            return Fault(400, "The body of the request is not a JSON object with a model and messages.")
        try:
            return self.server.prompter.say(request)
        except Exception as error:  # noqa: BLE001
            self.server.mistakes.append(error)
            return Fault(500, f"The script of the model server raised {type(error).__name__}: {error}")

    def _has_key(self, http: web.Request, dialect: Dialect) -> bool:
        headers = {name.lower(): value for name, value in http.headers.items()}
        return self.server.key in (None, dialect.key(headers, http.query))

    async def _give(self, http: web.Request, request: Request, said: Said) -> web.StreamResponse:
        if isinstance(said, Answer):
            return await self._answer(http, Reply(request, said, self.server.usage))
        if said.manner == "hang":
            await asyncio.sleep(said.seconds)
        if said.manner in ("hang", "refuse"):
            return _hang_up(http)
        if said.manner == "status" or (said.manner == "in stream" and not request.stream):
            headers = {**self.server.headers, **said.headers}
            return await self._whole(http, request.dialect.error(said, request.number), headers, said.status)
        return await self._unfinished(http, Reply(request, said.answer, self.server.usage), said)

    async def _answer(self, http: web.Request, reply: Reply) -> web.StreamResponse:
        if not reply.request.stream:
            await asyncio.sleep(reply.answer.first_byte)
            return await self._whole(http, reply.request.dialect.whole(reply), self._headers(reply))
        response = await self._begin(http, reply)
        await self._send(response, reply, _pieces(http, reply))
        await response.write_eof()
        return response

    async def _unfinished(self, http: web.Request, reply: Reply, fault: Fault) -> web.StreamResponse:
        if not reply.request.stream:
            half = await self._whole(http, reply.request.dialect.whole(reply), self._headers(reply), share=0.5)
            return _hang_up(http, half)
        response = await self._begin(http, reply)
        await self._send(response, reply, islice(_pieces(http, reply), fault.after))
        if fault.manner == "cut":
            return _hang_up(http, response)
        await self._write(response, reply.request.dialect.error_event(fault, reply))
        await response.write_eof()
        return response

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

    def _headers(self, reply: Reply) -> dict[str, str]:
        return {"x-request-id": f"req_{reply.request.number:06d}", **self.server.headers, **reply.answer.headers}

    async def _begin(self, http: web.Request, reply: Reply) -> web.StreamResponse:
        await asyncio.sleep(reply.answer.first_byte)
        kind = "text/event-stream; charset=utf-8" if _as_events(http, reply) else "application/json; charset=utf-8"
        headers = {"content-type": kind, "cache-control": "no-cache", **self._headers(reply)}
        response = web.StreamResponse(headers=headers)
        await response.prepare(http)
        return response

    async def _send(self, response: web.StreamResponse, reply: Reply, pieces: Iterator[bytes]) -> None:
        for place, piece in enumerate(pieces):
            await asyncio.sleep(reply.answer.between if place else 0)
            await self._write(response, piece)

    async def _write(self, response: web.StreamResponse, piece: bytes) -> None:
        size = self.server.shred or len(piece)
        for start in range(0, len(piece), size):
            await response.write(piece[start : start + size])

    async def _count(self, http: web.Request, dialect: Dialect, arrived: float) -> web.StreamResponse:
        """A guess at the tokens of a prompt."""
        if not self._has_key(http, dialect):
            return web.json_response(dialect.error(WRONG_KEY, 0), status=WRONG_KEY.status)
        body = await _body(http) or {}
        asked = body.get("generateContentRequest") or body
        request = Request(dialect.name, http.path, "", False, {}, asked, 0, arrived, self.server.open, dialect)
        tokens = len(request.prompt_text) // SIGNS_A_TOKEN + 1
        return web.json_response({"input_tokens" if dialect.name == "anthropic" else "totalTokens": tokens})

    async def _models(self, http: web.Request) -> web.StreamResponse:
        """The models, in the form of whoever asks."""
        anthropic = "anthropic-version" in http.headers
        gemini = "/v1beta" in http.path or "x-goog-api-key" in http.headers or "key" in http.query
        dialect = self.dialects["gemini" if gemini else "anthropic" if anthropic else "openai"]
        if not self._has_key(http, dialect):
            return web.json_response(dialect.error(WRONG_KEY, 0), status=WRONG_KEY.status)
        return web.json_response(dialect.models(self.server.models))


async def _body(http: web.Request) -> dict[str, Any] | None:
    """The JSON object that was sent, or None."""
    try:
        body = json.loads(await http.read())
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _as_events(http: web.Request, reply: Reply) -> bool:
    return reply.request.protocol != "gemini" or http.query.get("alt") == "sse"


def _pieces(http: web.Request, reply: Reply) -> Iterator[bytes]:
    """The stream; Gemini's is one JSON list unless events are asked for."""
    events = reply.request.dialect.stream(reply)
    if _as_events(http, reply):
        yield from events
        return
    for place, event in enumerate(events):
        yield (b",\r\n" if place else b"[") + event.removeprefix(b"data: ").strip()
    yield b"]"


def _hang_up(http: web.Request, response: web.StreamResponse | None = None) -> web.StreamResponse:
    """Closes the connection as it is."""
    if http.transport:
        http.transport.close()
    return response or web.Response()

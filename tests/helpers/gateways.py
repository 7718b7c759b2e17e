"""What the tests of the gateway share: a door on loopback, a client at it, and a provider that says any bytes."""

from __future__ import annotations

import asyncio
import io
import json
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp

from orvl.gateway import Gateway
from orvl.gateway.account import Account
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import EVENT_STREAM, ModelAnswer, Reply, WireFormat
from orvl.gateway.wire.sse import EventSplitter
from orvl.prices import Price
from orvl.project.providers import Provider
from orvl.project.settings import Limits
from orvl.types import AgentEndpoint

CANARY = "sk-canary-0123456789abcdefABCDEF"
PROTOCOLS = tuple(FORMATS)
KINDS = dict.fromkeys(FORMATS, EVENT_STREAM)
MILLION = 1_000_000
A_CENT_A_TOKEN = Price(10_000, 10_000)


def provider_at(address: str, name: str = "host", **more: Any) -> Provider:
    """A provider of all four protocols at one address, with a key."""
    addresses = {name: address + format.root for name, format in FORMATS.items()}
    return Provider(name, more.pop("addresses", addresses), key="CANARY_KEY", **more)


def path_of(protocol: str, *, stream: bool = False, model: str = "m") -> str:
    """The path of a call, after the endpoint's address."""
    if protocol == "gemini":
        return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")
    return {"openai": "/chat/completions", "responses": "/responses", "anthropic": "/v1/messages"}[protocol]


def body_of(protocol: str, words: str = "Hi", *, stream: bool = False, model: str = "m", **more: Any) -> dict[str, Any]:
    """A small call."""
    if protocol == "gemini":
        return {"contents": [{"role": "user", "parts": [{"text": words}]}], **more}
    if protocol == "responses":
        return {"model": model, "input": [{"role": "user", "content": words}], "stream": stream, **more}
    most = {"max_tokens": 100} if protocol == "anthropic" else {}
    return {"model": model, "messages": [{"role": "user", "content": words}], "stream": stream, **most, **more}


def key_header(protocol: str, key: str) -> dict[str, str]:
    """How each protocol's clients send a key."""
    return FORMATS[protocol].with_key(key, is_vendor=True)


def written(format: WireFormat, reply: Reply, *, stream: bool) -> bytes:
    """The bytes that a server sends."""
    return b"".join(format.stream(reply)) if stream else json.dumps(format.whole(reply)).encode()


def read(format: WireFormat, *pieces: bytes) -> ModelAnswer:
    """What the gateway reads from a stream that comes in pieces."""
    reader = format.reader()
    splitter = EventSplitter(reader.feed_event)
    for piece in pieces:
        splitter.feed(piece)
    splitter.close()
    return reader.answer


def read_whole(format: WireFormat, body: bytes) -> ModelAnswer:
    reader = format.reader()
    reader.feed_body(body)
    return reader.answer


@dataclass
class Heard:
    """What a client got."""

    status: int
    headers: dict[str, str]
    body: bytes
    broken: bool = False

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Door:
    """A run's door, with a client that holds the run's key."""

    gateway: Gateway
    account: Account
    endpoint: AgentEndpoint
    client: aiohttp.ClientSession
    folder: Path

    @property
    def port(self) -> int:
        return int(self.endpoint.url.split(":")[2].split("/")[0])

    @property
    def plain(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ask(self, words: str = "Hi", *, stream: bool = False, model: str = "m", **more: Any) -> Heard:
        """One call of a model in the account's protocol."""
        protocol = self.account.protocol
        headers = more.pop("headers", None)
        path = more.pop("path", path_of(protocol, stream=stream, model=model))
        body = body_of(protocol, words, stream=stream, model=model, **more)
        return await self.post(self.endpoint.url + path, json.dumps(body).encode(), headers)

    async def post(self, url: str, body: bytes, headers: dict[str, str] | None = None) -> Heard:
        own = key_header(self.account.protocol, self.endpoint.key) if headers is None else headers
        async with self.client.post(
            url, data=io.BytesIO(body), headers={"content-type": "application/json", **own}, allow_redirects=False
        ) as response:
            got = bytearray()
            try:
                async for piece in response.content.iter_any():
                    got += piece
            except aiohttp.ClientError:
                return Heard(response.status, _low(response.headers), bytes(got), broken=True)
            return Heard(response.status, _low(response.headers), bytes(got))

    def recorded(self) -> bytes:
        """All that the gateway wrote down of this run."""
        files = [file.read_bytes() for file in sorted(self.folder.rglob("*")) if file.is_file()]
        return b"".join([*files, *self.account.record.lines(self.account.calls), repr(self.account.calls).encode()])


def _low(headers: Any) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}


class Doors:
    """Opens doors at one gateway."""

    def __init__(self, gateway: Gateway, stack: AsyncExitStack, folder: Path) -> None:
        self.gateway, self._stack, self._folder = gateway, stack, folder
        self._opened = 0

    async def open(
        self,
        provider: Provider,
        protocol: str = "openai",
        model: str = "m",
        limits: Limits | None = None,
        contestant: str = "",
    ) -> Door:
        self._opened += 1
        folder = self._folder / str(self._opened)
        account = self.gateway.account(provider, protocol, model, limits or Limits(), folder, contestant)
        _, endpoint = await self._stack.enter_async_context(self.gateway.door(account, has_walls=False))
        connector = aiohttp.TCPConnector(limit=0)
        client = await self._stack.enter_async_context(aiohttp.ClientSession(connector=connector))
        return Door(self.gateway, account, endpoint, client, folder)


@asynccontextmanager
async def doors(budget: float | None = None, key: str | None = CANARY) -> AsyncIterator[Doors]:
    """A gateway that holds the key of `provider_at`."""
    gateway = Gateway({"CANARY_KEY": key} if key else {}, budget)
    with tempfile.TemporaryDirectory() as folder:
        try:
            async with AsyncExitStack() as stack:
                yield Doors(gateway, stack, Path(folder))
        finally:
            await gateway.close()


@dataclass
class Upstream:
    """A provider that answers each request with bytes of a test's own; keeps what it was sent."""

    say: Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]
    requests: list[bytes] = field(default_factory=list)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(length[0].split(b":")[1])) if length else b""
                self.requests.append(head + body)
                await self.say(head + body, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()


@asynccontextmanager
async def upstream(say: Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]) -> AsyncIterator[Upstream]:
    """A provider on loopback for as long as the block lasts."""
    one = Upstream(say)
    server = await asyncio.start_server(one.serve, "127.0.0.1", 0, limit=1 << 28)
    one.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield one
    finally:
        server.close()


def response(body: bytes, status: str = "200 OK", kind: str = "application/json", *headers: str) -> bytes:
    """A whole HTTP response."""
    lines = [f"HTTP/1.1 {status}", f"Content-Type: {kind}", f"Content-Length: {len(body)}", *headers]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


def saying(*parts: bytes | float) -> Callable[[bytes, asyncio.StreamWriter], Awaitable[None]]:
    """Says these bytes to every request, with pauses of so many seconds between them; None of it is changed."""

    async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
        for part in parts:
            if isinstance(part, float):
                await asyncio.sleep(part)
            else:
                writer.write(part)
                await writer.drain()

    return say


def chunked(*pieces: bytes, status: str = "200 OK", kind: str = "text/event-stream", end: bool = True) -> list[bytes]:
    """A chunked response in pieces; without its end where the server is to be cut."""
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
    sized = [f"{len(piece):x}\r\n".encode() + piece + b"\r\n" for piece in pieces]
    return [head, *sized, *([b"0\r\n\r\n"] if end else [])]

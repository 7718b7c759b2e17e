"""The one way out of a sandbox: package registries, through a proxy that knows no other host and trusts no agent."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import re
import socket
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from orvl.errors import ProxyRefusal, UserError

if TYPE_CHECKING:
    from orvl.sandbox import PortForwards, Sandbox
    from orvl.types import Eval

REGISTRIES: tuple[str, ...] = (
    *("pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "registry.yarnpkg.com"),
    *("crates.io", "index.crates.io", "static.crates.io", "proxy.golang.org", "sum.golang.org"),
    *("rubygems.org", "index.rubygems.org", "repo.maven.apache.org", "repo1.maven.org", "api.nuget.org"),
    *("repo.hex.pm", "cran.r-project.org", "deb.debian.org", "security.debian.org", "archive.ubuntu.com"),
    *("security.ubuntu.com", "ports.ubuntu.com", "dl-cdn.alpinelinux.org"),
)
"""Hosts that serve packages and nothing else: no forge, and no bucket or CDN that anything can be put on."""

Link = tuple[asyncio.StreamReader, asyncio.StreamWriter]
HTTP, HTTPS, HERE = 80, 443, ("127.0.0.1", "[::1]", "localhost")
HEAD_BYTES, CHUNK = 32 << 10, 64 << 10
CONNECTIONS, RESOLVERS, ADDRESSES, LINGER, ACCEPT_PAUSE = 64, 4, 4, 1.0, 0.1
MALFORMED, OTHERS, MOST_NAMES = "(malformed)", "(others)", 1000
LABEL = "[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?"
AUTHORITY = re.compile(rf"({LABEL}(?:\.{LABEL})*|\[[0-9a-f:.]+\])(?::([1-9][0-9]{{0,4}}))?")
REQUEST = re.compile(r"([A-Z]{1,20}) ([!-~]+) (HTTP/1\.[01])")
ABSOLUTE = re.compile(r"http://([^/?#]+)(/[^#]*)?")
HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*)")
PASSED_ON = re.compile(r"accept(-[a-z]+)?|user-agent|range|if-[a-z-]+|cache-control|pragma")
UNRECOGNISED_NAME = b"\x15\x03\x03\x00\x02\x02\x70"
ENCRYPTED_HELLO = (0xFE0D, 0xFFCE)
NAT64 = ipaddress.ip_network("64:ff9b::/96")
REGISTRY_PORT = 4873
CERTIFICATES = (
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "PIP_CERT",
)
SYSTEM_CERTIFICATES = ("/etc/ssl/certs", "/etc/pki/", "/usr/")


def registry_access(
    eval_: Eval, sandbox: Sandbox, allowed: Sequence[str] | None, *, for_setup: bool = False
) -> PortForwards:
    """The port through which programs reach registries, if the eval asks for it; without walls none is needed."""
    is_wanted = eval_.network == "registries" or (for_setup and eval_.network == "setup")
    if not is_wanted or not sandbox.has_walls:
        return {}, {}
    try:
        proxy = RegistryProxy(REGISTRIES if allowed is None else allowed, _own_proxy())
    except ValueError as error:
        raise UserError(f"Registries cannot be reached through your proxy: {error}.") from error
    return {REGISTRY_PORT: proxy.serve}, environment(REGISTRY_PORT) | _certificates()


def _own_proxy() -> str | None:
    """The proxy that the user goes through."""
    names = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
    return next((os.environ[name] for name in names if os.environ.get(name)), None)


def _certificates() -> dict[str, str]:
    """Where the system keeps certificates, if the user says so."""
    told = {name: os.environ[name] for name in CERTIFICATES if name in os.environ}
    return {name: path for name, path in told.items() if path.startswith(SYSTEM_CERTIFICATES)}


def environment(port: int) -> dict[str, str]:
    """What makes the tools inside ask the proxy."""
    url = f"http://127.0.0.1:{port}"
    java = " ".join(f"-D{kind}.proxyHost=127.0.0.1 -D{kind}.proxyPort={port}" for kind in ("http", "https"))
    asked = {"HTTP_PROXY": url, "HTTPS_PROXY": url, "ALL_PROXY": url, "NO_PROXY": "localhost,127.0.0.1,::1"}
    lower = {name.lower(): value for name, value in asked.items()}
    return {**asked, **lower, "YARN_HTTP_PROXY": url, "YARN_HTTPS_PROXY": url, "MAVEN_OPTS": java, "GRADLE_OPTS": java}


def check_entry(entry: str) -> str | None:
    """None, or why an entry of the allow list is unusable."""
    name = entry.removeprefix("*.")
    host, port = _authority(name)
    address = _address(host)
    wrong = {
        "write the host alone, without a scheme, a user or a path": "/" in entry or "@" in entry,
        "write the name in lower case and in its ASCII form": not entry.isascii() or entry != entry.lower(),
        "it must be a host, host:port or *.host": not host,
        "'*.' must be followed by a name with a dot": name != entry and (address or "." not in host),
        f"an address needs a port, such as {host}:8081": address and not port,
    }
    return next((why for why, applies in wrong.items() if applies), None)


def _authority(text: str) -> tuple[str, int]:
    """Host and port (0 for none), where the text is the one right way to write them; else nothing."""
    match = AUTHORITY.fullmatch(text) if len(text) < 260 else None
    host, port = (match[1], int(match[2] or 0)) if match else ("", 0)
    number = host.startswith("[") or re.fullmatch("[0-9]+|0x[0-9a-f]*", host.rpartition(".")[2])
    wrong = len(host) > 253 or port > 65535 or (number and _address(host) is None)
    return ("", 0) if wrong else (host, port)


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """The address that a host is, where it is written in the usual form."""
    with suppress(ValueError):
        address = ipaddress.ip_address(host.strip("[]"))
        return address if host == (str(address) if address.version == 4 else f"[{address}]") else None
    return None


def _is_elsewhere(text: str) -> bool:
    """Whether an address, or the one that it wraps, is of another machine; a company may have its own registries."""
    address = ipaddress.ip_address(text)
    wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF) if address in NAT64 else None
    address = wrapped or getattr(address, "sixtofour", None) or address
    address = getattr(address, "ipv4_mapped", None) or address
    here = address.is_loopback or address.is_link_local or address.is_unspecified
    return not here and not address.is_multicast


class _Target(NamedTuple):
    """An allowed host; one whose entry names the port is the user's own, and trusted more."""

    host: str
    port: int
    own: bool

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


class RegistryProxy:
    """Forwards to package registries and nowhere else."""

    header_seconds = 10.0
    connect_seconds = 20.0
    idle_seconds = 120.0

    def __init__(self, allowed: Sequence[str] = REGISTRIES, upstream: str | None = None) -> None:
        for entry in allowed:
            if why := check_entry(entry):
                raise ValueError(f"'{entry}' cannot be allowed: {why}")
        self.refused: Counter[str] = Counter()
        self._allowed = tuple(allowed)
        self._upstream = _upstream(upstream) if upstream else None
        self._resolvers = asyncio.Semaphore(RESOLVERS)

    async def serve(self, listening: socket.socket) -> None:
        """Serves until cancelled; then closes its connections, but not the listening socket."""
        listening.setblocking(False)
        clients: dict[asyncio.Task[None], socket.socket] = {}
        try:
            while True:
                if len(clients) >= CONNECTIONS:
                    await asyncio.wait(clients, return_when=asyncio.FIRST_COMPLETED)
                try:
                    client, _ = await asyncio.get_running_loop().sock_accept(listening)
                except OSError:
                    await asyncio.sleep(ACCEPT_PAUSE)
                    continue
                task = asyncio.create_task(self._connection(client))
                clients[task] = client
                task.add_done_callback(lambda task: clients.pop(task).close())
        finally:
            for task in clients:
                task.cancel()
            await asyncio.gather(*clients, return_exceptions=True)

    async def resolve(self, host: str, port: int) -> list[str]:
        """The addresses of a host."""
        async with self._resolvers:
            found = await asyncio.get_running_loop().getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
        return list(dict.fromkeys(str(info[4][0]) for info in found))

    async def connect(self, address: str, port: int) -> Link:
        """A connection to an address."""
        reader, writer = await asyncio.open_connection(address, port, limit=CHUNK)
        writer.transport.set_write_buffer_limits(0)
        return reader, writer

    async def _connection(self, client: socket.socket) -> None:
        with suppress(OSError, EOFError):
            reader, writer = await asyncio.open_connection(sock=client, limit=HEAD_BYTES)
            writer.transport.set_write_buffer_limits(0)
            try:
                async with asyncio.timeout(None) as idle:
                    try:
                        await self._request((reader, writer), idle)
                    except ProxyRefusal as refusal:
                        self._touch(idle)
                        writer.write(self._answer(*refusal.args))
                        await writer.drain()
                writer.write_eof()
                async with asyncio.timeout(LINGER):
                    while await reader.read(CHUNK):
                        pass
            finally:
                writer.transport.abort()

    def _touch(self, idle: asyncio.Timeout) -> None:
        idle.reschedule(asyncio.get_running_loop().time() + self.idle_seconds)

    def _refuse(self, status: int, why: str, asked: str) -> ProxyRefusal:
        known = asked in self.refused or len(self.refused) < MOST_NAMES
        self.refused[asked if known else OTHERS] += 1
        return ProxyRefusal(status, why)

    def _answer(self, status: int, why: str) -> bytes:
        allowed = f"; orvl lets evals reach package registries only: {', '.join(self._allowed)}"
        body = f"{why}{allowed if status < 500 else ''}\n".encode()
        head = f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\nContent-Type: text/plain\r\n"
        return f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body

    async def _request(self, client: Link, idle: asyncio.Timeout) -> None:
        method, where, version, headers = await self._head(client[0])
        url = ABSOLUTE.fullmatch(where)
        target = self._target(where, HTTPS) if method == "CONNECT" else self._target(url[1] if url else "", HTTP, HTTP)
        if method not in ("CONNECT", "GET", "HEAD"):
            raise self._refuse(405, f"{method} is refused, only GET and HEAD are passed on", str(target))
        if any(name == "transfer-encoding" or (name == "content-length" and value != "0") for name, value in headers):
            raise self._refuse(400, "a request with a body is refused", str(target))
        server = await self._reach(target)
        try:
            self._touch(idle)
            if url:
                host = target.host if target.port == HTTP else str(target)
                passed_on = "".join(f"{name}: {value}\r\n" for name, value in headers if PASSED_ON.fullmatch(name))
                first = f"{method} {url[2] or '/'} {version}\r\nHost: {host}\r\n"
                server[1].write(f"{first}{passed_on}Connection: close\r\n\r\n".encode("latin-1"))
                await self._pump(server, client, idle)
            else:
                client[1].write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                await asyncio.gather(self._pump(client, server, idle, target), self._pump(server, client, idle))
        finally:
            server[1].transport.abort()

    async def _head(self, reader: asyncio.StreamReader) -> tuple[str, str, str, list[tuple[str, str]]]:
        try:
            async with asyncio.timeout(self.header_seconds):
                head = await reader.readuntil(b"\r\n\r\n")
        except TimeoutError:
            raise ProxyRefusal(408, "the request took too long") from None
        except asyncio.LimitOverrunError:
            raise ProxyRefusal(431, f"the request is longer than {HEAD_BYTES >> 10} KiB") from None
        line, *rest = head[:-4].decode("latin-1").split("\r\n")
        request, headers = REQUEST.fullmatch(line), [HEADER.fullmatch(header) for header in rest]
        if request is None or None in headers:
            raise self._refuse(400, "the request is malformed", MALFORMED)
        return request[1], request[2], request[3], [(h[1].lower(), h[2].strip(" \t")) for h in headers if h]

    def _target(self, text: str, usual: int, assumed: int = 0) -> _Target:
        """The allowed host that a text names."""
        host, port = _authority(text)
        if not host or not (port := port or assumed):
            raise self._refuse(400, "the host asked for is missing or malformed", MALFORMED)
        labels = host.split(".")
        names = [host, *(f"*.{'.'.join(labels[start:])}" for start in range(1, len(labels)))]
        target = _Target(host, port, own=any(f"{name}:{port}" in self._allowed for name in names))
        listed = target.own or (port == usual and any(name in self._allowed for name in names))
        if not listed or (port == HTTP and usual == HTTPS):
            raise self._refuse(403, f"{target} is refused", str(target))
        return target

    async def _reach(self, target: _Target) -> Link:
        try:
            async with asyncio.timeout(self.connect_seconds):
                if self._upstream and target.host not in HERE:
                    return await self._through(*self._upstream, target)
                return await self._directly(target)
        except TimeoutError:
            raise ProxyRefusal(504, f"{target} did not answer in time") from None
        except (OSError, EOFError, asyncio.LimitOverrunError) as error:
            what = "resolved" if isinstance(error, socket.gaierror) else "reached"
            raise ProxyRefusal(502, f"{target} could not be {what}") from None

    async def _directly(self, target: _Target) -> Link:
        addresses = (await self.resolve(target.host, target.port))[:ADDRESSES]
        if not target.own and not all(_is_elsewhere(address) for address in addresses):
            raise self._refuse(403, f"{target} is refused, as its address is on this machine", str(target))
        for address in addresses[:-1]:
            with suppress(OSError):
                async with asyncio.timeout(self.connect_seconds / len(addresses)):
                    return await self.connect(address, target.port)
        return await self.connect(addresses[-1], target.port)

    async def _through(self, host: str, port: int, authorisation: str, target: _Target) -> Link:
        reader, writer = await self.connect(host, port)
        try:
            writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{authorisation}\r\n".encode())
            if not re.match(rb"HTTP/1\.[01] 2", await reader.readuntil(b"\r\n\r\n")):
                raise ProxyRefusal(502, f"the proxy of this machine does not lead to {target}")
        except BaseException:
            writer.transport.abort()
            raise
        return reader, writer

    async def _pump(self, source: Link, sink: Link, idle: asyncio.Timeout, check: _Target | None = None) -> None:
        """Copies until the end, no faster than it is read; what breaks one way ends both."""
        reader, writer = source[0], sink[1]
        try:
            chunk = await self._first_bytes(reader, check) if check else await reader.read(CHUNK)
            while chunk:
                writer.write(chunk)
                await writer.drain()
                self._touch(idle)
                chunk = await reader.read(CHUNK)
            writer.write_eof()
        except (ProxyRefusal, OSError, EOFError) as error:
            if isinstance(error, ProxyRefusal):
                source[1].write(UNRECOGNISED_NAME)
            sink[1].transport.abort()

    async def _first_bytes(self, reader: asyncio.StreamReader, target: _Target) -> bytes:
        """What a client sends first, once the TLS in it names the host that was asked for."""
        async with asyncio.timeout(self.header_seconds if target.port == HTTPS else None):
            first = await reader.read(1)
            if first != b"\x16" and (target.port != HTTPS or not first):
                return first
            with suppress(ValueError):
                records, hello = await _client_hello(reader, first)
                if _names(hello, target.host):
                    return records
        raise self._refuse(403, f"the TLS does not name {target.host}", str(target))


async def _client_hello(reader: asyncio.StreamReader, head: bytes) -> tuple[bytes, bytes]:
    """The TLS records of a ClientHello, whose first byte was read before, and the message in them."""
    records, hello = bytearray(), bytearray()
    while len(hello) < 4 + int.from_bytes(hello[1:4]):
        head += await reader.readexactly(5 - len(head))
        size = int.from_bytes(head[3:])
        if not head.startswith(b"\x16\x03") or not 0 < size <= HEAD_BYTES - len(hello):
            raise ValueError("this is no ClientHello")
        hello += await reader.readexactly(size)
        records += head + hello[-size:]
        head = b""
    return bytes(records), bytes(hello)


def _names(hello: bytes, host: str) -> bool:
    """Whether a ClientHello openly names this host and no other; an address needs no name."""
    body, after = _block(hello[1:], 3)
    rest = body[34:]
    for width in (1, 2, 1):
        _, rest = _block(rest, width)
    listed, after_list = _block(rest, 2)
    said, name = [], host.encode()
    while listed:
        kind = int.from_bytes(listed[:2])
        value, listed = _block(listed[2:], 2)
        if kind == 0 or kind in ENCRYPTED_HELLO:
            said.append((kind, value))
    named = said == [(0, (len(name) + 3).to_bytes(2) + b"\0" + len(name).to_bytes(2) + name)]
    return hello[0] == 1 and not after + after_list and (named or (not said and _address(host) is not None))


def _block(data: bytes, width: int) -> tuple[bytes, bytes]:
    """The bytes that a length of this width announces, and what follows them."""
    end = width + int.from_bytes(data[:width])
    if len(data) < end:
        raise ValueError("it is cut short")
    return data[width:end], data[end:]


def _upstream(url: str) -> tuple[str, int, str]:
    """Host, port and authorisation header of the user's proxy; what is wrong with it is said without its password."""
    with suppress(ValueError):
        parts = urlsplit(url if "://" in url else f"http://{url}")
        if parts.scheme == "http" and parts.hostname:
            secret = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}".encode()
            header = f"Proxy-Authorization: Basic {b64encode(secret).decode()}\r\n" if parts.username else ""
            return parts.hostname, parts.port or HTTP, header
    raise ValueError("the proxy of this machine must be written http://[user:password@]host:port")

"""The proxy to package registries: real clients get their packages, and nothing else gets out."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import http.server
import io
import ipaddress
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

import pytest

from orvl.sandbox import registries
from orvl.sandbox.registries import REGISTRIES, RegistryProxy, check_entry, environment

SENTENCE = b"orvl lets evals reach package registries only: "
PUBLIC = "8.8.8.8"
MEGA = 1 << 20
RESET = struct.pack("ii", 1, 0)


class LocalProxy(RegistryProxy):
    """A proxy whose names and routes are the test's: it never connects to anything but loopback."""

    def __init__(self, allowed, names=None, routes=None, upstream=None):
        super().__init__(allowed, upstream)
        self.names = names or {}
        self.routes = routes or {}

    async def resolve(self, host, port):
        found = self.names.get(host) or [str(ipaddress.ip_address(host.strip("[]")))]
        if isinstance(found, Exception):
            raise found
        await asyncio.sleep(60 if found == "never" else 0)
        return found

    async def connect(self, address, port):
        address, port = self.routes.get((address, port), (address, port))
        if not ipaddress.ip_address(address).is_loopback:
            raise OSError("tests stay on loopback")
        return await super().connect(address, port)


@asynccontextmanager
async def serving(proxy):
    """Its port."""
    with socket.create_server(("127.0.0.1", 0), backlog=256) as listening:
        task = asyncio.create_task(proxy.serve(listening))
        try:
            yield listening.getsockname()[1]
        finally:
            assert not task.done(), task
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


class Server:
    """A loopback server that keeps what it was sent; `answer` handles a connection once its first bytes are there."""

    def __init__(self, answer=None):
        self.answer = answer
        self.got = b""
        self.open = self.most = self.total = 0

    async def _handle(self, reader, writer):
        self.open += 1
        self.total += 1
        self.most = max(self.most, self.open)
        try:
            if self.answer:
                await self.answer(reader, writer)
            while chunk := await reader.read(65536):
                self.got += chunk
                writer.write(chunk)
                await writer.drain()
        except OSError:
            pass
        finally:
            self.open -= 1
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def __aenter__(self):
        self.server = await asyncio.start_server(self._handle, "127.0.0.1", 0)
        self.port = self.server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_):
        self.server.close()
        deadline = time.monotonic() + 60
        while self.open and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        assert not self.open, "a connection to the server was left open"


def answering(reply):
    """A server that reads one request and gives this reply."""

    async def answer(reader, writer):
        server.got += await reader.readuntil(b"\r\n\r\n")
        writer.write(reply)
        await writer.drain()
        writer.write_eof()

    server = Server(answer)
    return server


async def ask(port, request, *, eof=False, seconds=5):
    """All that comes back."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request)
        if eof:
            writer.write_eof()
        async with asyncio.timeout(seconds):
            return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


def refusal(allowed, request, **more):
    """The answer to one request, and what was counted."""

    async def main():
        proxy = LocalProxy(allowed, **more)
        async with serving(proxy) as port:
            return await ask(port, request), dict(proxy.refused)

    return asyncio.run(main())


async def tunnel(port, target):
    """An open tunnel."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(f"CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n\r\n".encode())
    async with asyncio.timeout(5):
        head = await reader.readuntil(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), head
    return reader, writer


async def closed(writer):
    writer.close()
    with suppress(OSError):
        await writer.wait_closed()


async def run(*words, env=None, cwd=None):
    """A real program; loopback is all it can reach, as every proxy that it is told of is the test's."""
    done = await asyncio.to_thread(
        subprocess.run,
        words,
        env={"PATH": os.environ["PATH"], **(env or {})},
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@contextmanager
def files(contents, context=None):
    """An http.server of these paths; the requests it got are in `.asked`."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            server.asked.append((self.path, self.headers["Host"]))
            body = contents.get(self.path)
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", "text/html" if self.path.endswith("/") else "application/octet-stream")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked = []
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


# Real clients


def wheel():
    data = io.BytesIO()
    info = "tiny_wheel-1.0.dist-info"
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("tiny_wheel.py", "answer = 42\n")
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny-wheel\nVersion: 1.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    return data.getvalue()


def test_pip_downloads_a_wheel(tmp_path):
    name, data = "tiny_wheel-1.0-py3-none-any.whl", wheel()
    page = f'<!DOCTYPE html><a href="/files/{name}#sha256={hashlib.sha256(data).hexdigest()}">{name}</a>'
    contents = {"/simple/tiny-wheel/": page.encode(), f"/files/{name}": data}

    async def main():
        with files(contents) as server:
            index = f"127.0.0.1:{server.server_port}"
            proxy = LocalProxy([index])
            async with serving(proxy) as port:
                words = [
                    "-m",
                    "pip",
                    "download",
                    "--no-deps",
                    "--disable-pip-version-check",
                    "--no-cache-dir",
                    "tiny-wheel",
                ]
                where = [
                    "--index-url",
                    f"http://{index}/simple",
                    "--trusted-host",
                    "127.0.0.1",
                    "--dest",
                    str(tmp_path),
                ]
                status, out = await run(
                    sys.executable, *words, *where, "--proxy", f"http://127.0.0.1:{port}", env={"HOME": str(tmp_path)}
                )
            assert status == 0, out
            assert (tmp_path / name).read_bytes() == data
            assert server.asked == [("/simple/tiny-wheel/", index), (f"/files/{name}", index)]
            assert not proxy.refused

    asyncio.run(main())


def test_npm_installs_a_package_by_the_environment_alone(tmp_path):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w:gz") as archive:
        for path, text in {
            "package.json": '{"name": "tiny", "version": "1.0.0"}',
            "index.js": "module.exports = 42",
        }.items():
            member = tarfile.TarInfo(f"package/{path}")
            member.size = len(text)
            archive.addfile(member, io.BytesIO(text.encode()))
    tarball = data.getvalue()

    async def main():
        contents = {"/tiny/-/tiny-1.0.0.tgz": tarball}
        with files(contents) as server:
            registry = f"registry.test:{server.server_port}"
            dist = {
                "tarball": f"http://{registry}/tiny/-/tiny-1.0.0.tgz",
                "integrity": "sha512-" + base64.b64encode(hashlib.sha512(tarball).digest()).decode(),
            }
            versions = {"1.0.0": {"name": "tiny", "version": "1.0.0", "dist": dist}}
            contents["/tiny"] = json.dumps(
                {"name": "tiny", "dist-tags": {"latest": "1.0.0"}, "versions": versions}
            ).encode()
            proxy = LocalProxy([registry], names={"registry.test": ["127.0.0.1"]})
            async with serving(proxy) as port:
                env = {**environment(port), "HOME": str(tmp_path)}
                (tmp_path / "package.json").write_text("{}")
                quiet = ["--no-audit", "--no-fund", "--no-update-notifier"]
                status, out = await run(
                    "npm", "install", "tiny", f"--registry=http://{registry}", *quiet, env=env, cwd=tmp_path
                )
            assert status == 0, out
            assert (tmp_path / "node_modules/tiny/index.js").read_text() == "module.exports = 42"
            assert server.asked == [("/tiny", registry), ("/tiny/-/tiny-1.0.0.tgz", registry)]

    asyncio.run(main())


@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    names = "subjectAltName=DNS:registry.test,DNS:other.test,IP:127.0.0.1"
    key, cert = folder / "key.pem", folder / "cert.pem"
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    more = ["-keyout", str(key), "-out", str(cert), "-subj", "/CN=registry.test", "-addext", names, "-days", "2"]
    subprocess.run([*words, *more], check=True, capture_output=True)
    return cert, key


def test_curl_speaks_tls_only_with_the_host_it_asked_for(certificate):
    cert, key = certificate
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)

    async def main():
        with files({"/": b"the index"}, context) as server:
            own, literal = f"registry.test:{server.server_port}", f"127.0.0.1:{server.server_port}"
            proxy = LocalProxy(
                ["registry.test", own, literal],
                names={"registry.test": [PUBLIC]},
                routes={(PUBLIC, port): ("127.0.0.1", server.server_port) for port in (443, server.server_port)},
            )
            async with serving(proxy) as port:

                async def curl(*words):
                    always = ["--silent", "--show-error", "--max-time", "10", "--cacert", str(cert)]
                    return await run("curl", *always, "--proxy", f"http://127.0.0.1:{port}", *words)

                for url in ("https://registry.test/", f"https://{own}/", f"https://{literal}/"):
                    assert await curl(url) == (0, b"the index"), url
                assert not proxy.refused
                for asked in ("registry.test:443", own, literal):
                    status, out = await curl("--connect-to", f"other.test:443:{asked}", "https://other.test/")
                    assert status == 35, out
                    assert b"unrecognized name" in out
                    assert proxy.refused[asked] == 1
                assert len(server.asked) == 3

    asyncio.run(main())


def test_curl_obeys_the_environment_but_not_for_loopback():
    async def main():
        with files({"/": b"inside"}) as server:
            proxy = LocalProxy(["pypi.org"])
            async with serving(proxy) as port:
                for scheme in ("http", "https", "ftp"):
                    await run("curl", "--silent", f"{scheme}://evil.test:99/", env=environment(port))
                assert proxy.refused == {"evil.test:99": 2, "(malformed)": 1}
                local = f"http://127.0.0.1:{server.server_port}/"
                assert await run("curl", "--silent", local, env=environment(port)) == (0, b"inside")

    asyncio.run(main())


# What is allowed


@pytest.mark.parametrize(
    "entry",
    [
        "pypi.org",
        "nexus.corp:8443",
        "localhost:1",
        "127.0.0.1:8081",
        "[::1]:8081",
        "*.example.org",
        "*.a.b:65535",
        "a_b",
        "xn--e1a.org",
    ],
)
def test_usable_entries(entry):
    assert check_entry(entry) is None
    RegistryProxy([entry])


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("https://pypi.org", "alone"),
        ("pypi.org/simple", "alone"),
        ("me@pypi.org", "alone"),
        ("PyPI.org", "lower case"),
        ("münchen.de", "ASCII"),
        ("", "host:port"),
        ("pypi.org.", "host:port"),
        ("pypi..org", "host:port"),
        ("-a.org", "host:port"),
        ("pypi.org:0443", "host:port"),
        ("pypi.org:0", "host:port"),
        ("pypi.org:65536", "host:port"),
        ("pypi.org:", "host:port"),
        ("pypi.org\n", "host:port"),
        ("pypi.org evil.org", "host:port"),
        ("a" * 64 + ".org", "host:port"),
        ("a." * 127 + "org", "host:port"),
        ("127.1:80", "host:port"),
        ("0x7f.0x1:80", "host:port"),
        ("2130706433:80", "host:port"),
        ("[::0]:80", "host:port"),
        ("[127.0.0.1]:80", "host:port"),
        ("::1", "host:port"),
        ("*", "host:port"),
        ("a.*.org", "host:port"),
        ("*.*.org", "host:port"),
        ("*.org", "with a dot"),
        ("*.127.0.0.1:80", "with a dot"),
        ("10.0.0.1", "needs a port"),
        ("[::1]", "needs a port"),
    ],
)
def test_unusable_entries_say_why(entry, why):
    assert why in check_entry(entry)
    with pytest.raises(ValueError, match="cannot be allowed"):
        RegistryProxy([entry])


def test_the_default_list_is_usable_and_holds_no_place_for_anything():
    assert not [entry for entry in REGISTRIES if check_entry(entry) or ":" in entry or "*" in entry]
    assert {"pypi.org", "files.pythonhosted.org", "registry.npmjs.org", "static.crates.io"} <= set(REGISTRIES)
    anything = ("github", "gitlab", "amazonaws", "googleapis", "jsdelivr", "unpkg", "upload")
    assert not [entry for entry in REGISTRIES for word in anything if word in entry]


@pytest.mark.parametrize(
    ("asked", "entries"),
    [
        ("a.example.org:443", ["*.example.org"]),
        ("a.b.example.org:443", ["*.example.org"]),
        ("a.example.org:8443", ["*.example.org:8443"]),
        ("[::1]:8081", ["[::1]:8081"]),
    ],
)
def test_entries_that_match(asked, entries):
    answer, refused = refusal(
        entries, f"CONNECT {asked} HTTP/1.1\r\n\r\n".encode(), names={asked.rpartition(":")[0]: OSError()}
    )
    assert answer.startswith(b"HTTP/1.1 502 ")
    assert not refused


ALLOWED = ["pypi.org", "*.example.org", "127.0.0.1:8081", "nexus.corp:8443", "mirror.corp:80"]


@pytest.mark.parametrize(
    ("line", "status", "counted"),
    [
        ("CONNECT evil.org:443", 403, "evil.org:443"),
        ("CONNECT pypi.org:80", 403, "pypi.org:80"),
        ("CONNECT mirror.corp:80", 403, "mirror.corp:80"),
        ("CONNECT pypi.org:22", 403, "pypi.org:22"),
        ("CONNECT nexus.corp:443", 403, "nexus.corp:443"),
        ("CONNECT 127.0.0.1:443", 403, "127.0.0.1:443"),
        ("CONNECT 127.0.0.1:8082", 403, "127.0.0.1:8082"),
        ("CONNECT [::1]:8081", 403, "[::1]:8081"),
        ("CONNECT 169.254.169.254:443", 403, "169.254.169.254:443"),
        ("CONNECT example.org:443", 403, "example.org:443"),
        ("CONNECT evilexample.org:443", 403, "evilexample.org:443"),
        ("CONNECT pypi.org.evil.org:443", 403, "pypi.org.evil.org:443"),
        ("CONNECT evil.pypi.org:443", 403, "evil.pypi.org:443"),
        ("CONNECT *.example.org:443", 400, None),
        ("CONNECT .example.org:443", 400, None),
        ("CONNECT pypi.org", 400, None),
        ("CONNECT pypi.org:", 400, None),
        ("CONNECT pypi.org:0443", 400, None),
        ("CONNECT pypi.org:+443", 400, None),
        ("CONNECT pypi.org:443:443", 400, None),
        ("CONNECT pypi.org:65979", 400, None),
        ("CONNECT pypi.org:443/", 400, None),
        ("CONNECT PYPI.org:443", 400, None),
        ("CONNECT pypi.org.:443", 400, None),
        ("CONNECT pypi%2eorg:443", 400, None),
        ("CONNECT evil.org\\pypi.org:443", 400, None),
        ("CONNECT pypı.org:443", 400, None),
        ("CONNECT pypi.org\0.evil.org:443", 400, None),
        ("CONNECT pypi.org\r.evil.org:443", 400, None),
        ("CONNECT pypi.org\n.evil.org:443", 400, None),
        ("CONNECT pypi.org:443 evil.org:443", 400, None),
        ("CONNECT 127.1:8081", 400, None),
        ("CONNECT 0x7f000001:8081", 400, None),
        ("CONNECT 2130706433:8081", 400, None),
        ("CONNECT 127.0.0.01:8081", 400, None),
        ("CONNECT user@pypi.org:443", 400, None),
        ("CONNECT http://pypi.org:443", 400, None),
        ("connect pypi.org:443", 400, None),
        (f"CONNECT {'a.' * 200}org:443", 400, None),
        ("GET /", 400, None),
        ("OPTIONS *", 400, None),
        ("GET pypi.org:80", 400, None),
        ("GET https://pypi.org/", 400, None),
        ("GET ftp://pypi.org/", 400, None),
        ("GET HTTP://pypi.org/", 400, None),
        ("GET http:///pypi.org/", 400, None),
        ("GET http://pypi.org@evil.org/", 400, None),
        ("GET http://evil.org@pypi.org/", 400, None),
        ("GET http://user:secret@pypi.org/", 400, None),
        ("GET http://pypi.org:080/", 400, None),
        ("GET http://pypi.org./", 400, None),
        ("GET http://Pypi.org/", 400, None),
        ("GET http://pypi.org\\@evil.org/", 400, None),
        ("GET http://pypi.org/#@evil.org/", 400, None),
        ("GET http://evil.org/", 403, "evil.org:80"),
        ("GET http://evil.org/http://pypi.org/", 403, "evil.org:80"),
        ("GET http://evil.org:8081/", 403, "evil.org:8081"),
        ("GET http://pypi.org:443/", 403, "pypi.org:443"),
        ("GET http://127.0.0.1/", 403, "127.0.0.1:80"),
        ("GET http://nexus.corp/", 403, "nexus.corp:80"),
        ("POST http://pypi.org/", 405, "pypi.org:80"),
        ("PUT http://127.0.0.1:8081/", 405, "127.0.0.1:8081"),
        ("POST http://evil.org/", 403, "evil.org:80"),
    ],
)
def test_refused_requests(line, status, counted):
    """Each would be a 502 if it were let through, as no name is known and no port open."""
    names = {name: OSError() for name in ("pypi.org", "nexus.corp", "mirror.corp")}
    answer, refused = refusal(ALLOWED, f"{line} HTTP/1.1\r\nHost: pypi.org\r\n\r\n".encode(), names=names)
    head, _, body = answer.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status), answer
    assert b"Content-Length: %d\r\n" % len(body) in head
    assert body.endswith(SENTENCE + ", ".join(ALLOWED).encode() + b"\n")
    assert body.count(b"\n") == 1
    assert refused == {counted or "(malformed)": 1}
    assert b"secret" not in answer + str(refused).encode()


@pytest.mark.parametrize(
    "headers",
    [
        "Content-Length: 3\r\nTransfer-Encoding: chunked",
        "Content-Length: 3",
        "Content-Length: 0\r\nContent-Length: 3",
        "Content-Length: +0",
        "Transfer-Encoding: chunked",
        "Transfer-Encoding: identity",
        "tRANSFER-eNCODING:\tx",
        "Transfer-Encoding : chunked",
        "X: y\r\n folded: z",
        "X: y\nTransfer-Encoding: chunked",
        "X: y\0",
        "no colon",
        ": empty",
    ],
)
@pytest.mark.parametrize("line", ["GET http://127.0.0.1:{}/", "CONNECT 127.0.0.1:{}"])
def test_bodies_and_broken_headers_are_refused(line, headers):
    async def main():
        async with Server() as server, serving(LocalProxy([f"127.0.0.1:{server.port}"])) as port:
            answer = await ask(port, f"{line.format(server.port)} HTTP/1.1\r\n{headers}\r\n\r\nabc".encode())
            assert answer.startswith(b"HTTP/1.1 400 ")
            assert SENTENCE in answer
            assert not server.total

    asyncio.run(main())


def test_long_slow_and_cut_requests():
    async def main():
        proxy = LocalProxy(["pypi.org"])
        proxy.header_seconds = 0.3
        async with serving(proxy) as port:
            for long in (b"CONNECT " + b"a" * 40_000, b"GET http://pypi.org/ HTTP/1.1\r\n" + b"X: y\r\n" * 8000):
                answer = await ask(port, long + b"\r\n\r\n")
                assert answer.startswith(b"HTTP/1.1 431 ")
                assert SENTENCE in answer
            for slow in (b"", b"CONNECT pypi.org:443 HTTP/1.1\r\n", b"CONNECT pypi.org:443 HTTP/1.1\n\n"):
                begun = time.monotonic()
                answer = await ask(port, slow)
                assert answer.startswith(b"HTTP/1.1 408 ")
                assert SENTENCE in answer
                assert time.monotonic() - begun > 0.2
            assert await ask(port, b"CONNECT pypi", eof=True) == b""

    asyncio.run(main())


def test_what_was_refused_is_kept_but_not_without_bound(monkeypatch):
    monkeypatch.setattr(registries, "MOST_NAMES", 20)

    async def main():
        proxy = LocalProxy(["pypi.org"])
        async with serving(proxy) as port:
            for number in [*range(50), 3]:
                await ask(port, f"CONNECT evil{number}.org:443 HTTP/1.1\r\n\r\n".encode())
        assert len(proxy.refused) == 21
        assert proxy.refused["evil3.org:443"] == 2
        assert proxy.refused["(others)"] == 30

    asyncio.run(main())


# Plain HTTP


def test_a_plain_request_is_rewritten():
    reply = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"

    async def main():
        async with answering(reply) as server:
            proxy = LocalProxy(
                ["deb.test", "other.test"],
                names={"deb.test": [PUBLIC]},
                routes={(PUBLIC, 80): ("127.0.0.1", server.port)},
            )
            async with serving(proxy) as port:
                head = (
                    "GET http://deb.test/a%20b?c=d HTTP/1.1\r\nHost: other.test\r\nhost: evil.org\r\n"
                    "User-Agent: apt\r\nRANGE:  bytes=1- \r\nIf-Modified-Since: now\r\nAccept-Encoding: gzip\r\n"
                    "Authorization: Basic c2VjcmV0\r\nCookie: secret\r\nProxy-Authorization: secret\r\n"
                    "Proxy-Connection: keep-alive\r\nConnection: keep-alive, user-agent\r\nKeep-Alive: 5\r\n"
                    "X-Forwarded-Host: evil.org\r\nX-HTTP-Method-Override: PUT\r\nUpgrade: h2c\r\nTE: trailers\r\n"
                    "Content-Length: 0\r\n\r\n"
                )
                assert await ask(port, head.encode() + b"GET http://deb.test/second HTTP/1.1\r\n\r\n") == reply
            assert server.got == (
                b"GET /a%20b?c=d HTTP/1.1\r\nHost: deb.test\r\nuser-agent: apt\r\nrange: bytes=1-\r\n"
                b"if-modified-since: now\r\naccept-encoding: gzip\r\nConnection: close\r\n\r\n"
            )
            assert server.total == 1

    asyncio.run(main())


def test_a_host_without_a_path_and_a_port_of_its_own():
    async def main():
        async with answering(b"HTTP/1.0 200 OK\r\n\r\n") as server:
            place = f"127.0.0.1:{server.port}"
            async with serving(LocalProxy([place])) as port:
                assert await ask(port, f"HEAD http://{place} HTTP/1.0\r\n\r\n".encode()) == b"HTTP/1.0 200 OK\r\n\r\n"
            assert server.got == f"HEAD / HTTP/1.0\r\nHost: {place}\r\nConnection: close\r\n\r\n".encode()

    asyncio.run(main())


# Tunnels


def hello(name):
    """What OpenSSL says first."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    with pytest.raises(ssl.SSLWantReadError):
        context.wrap_bio(into, out, server_hostname=name).do_handshake()
    return out.read()


def records(data, size):
    """The same message in records of this size."""
    message = data[5:]
    parts = [message[start : start + size] for start in range(0, len(message), size)]
    return b"".join(b"\x16\x03\x01" + len(part).to_bytes(2) + part for part in parts)


def with_extension(data, kind, value):
    """The same hello, with one more extension."""
    message = data[9:]
    at = 34
    for width in (1, 2, 1):
        at += width + int.from_bytes(message[at : at + width])
    listed = message[at + 2 :] + kind.to_bytes(2) + len(value).to_bytes(2) + value
    body = message[:at] + len(listed).to_bytes(2) + listed
    whole = b"\x01" + len(body).to_bytes(3) + body
    return b"\x16\x03\x01" + len(whole).to_bytes(2) + whole


def sni(name):
    return (len(name) + 3).to_bytes(2) + b"\0" + len(name).to_bytes(2) + name


def first_bytes(data, target="pypi.org:443", entries=("pypi.org",), seconds=10.0):
    """What a server gets of a tunnel's first bytes, what the client gets back, and what was counted."""
    host, _, number = target.rpartition(":")

    async def main():
        async with Server() as server:
            proxy = LocalProxy(entries, {host: [PUBLIC]}, {(PUBLIC, int(number)): ("127.0.0.1", server.port)})
            proxy.header_seconds = seconds
            async with serving(proxy) as port:
                reader, writer = await tunnel(port, target)
                writer.write(data)
                answer = b""
                with suppress(ConnectionResetError):
                    async with asyncio.timeout(5):
                        while len(answer) < len(data) and (chunk := await reader.read(65536)):
                            answer += chunk
                await closed(writer)
        return server.got, answer, dict(proxy.refused)

    return asyncio.run(main())


@pytest.mark.parametrize("size", [16384, 100, 1])
def test_a_hello_that_names_the_host_passes_however_it_is_cut(size):
    data = records(hello("pypi.org"), size) + b"\x17\x03\x03\x00\x01x"
    assert first_bytes(data) == (data, data, {})


WRONG = {
    "other": lambda: hello("evil.org"),
    "none": lambda: hello(None),
    "upper": lambda: hello("pypi.org").replace(b"pypi.org", b"Pypi.org"),
    "dot": lambda: hello("pypi.org.evil.org"),
    "cut": lambda: records(hello("evil.org"), 7),
    "two": lambda: with_extension(hello("pypi.org"), 0, sni(b"evil.org")),
    "list": lambda: with_extension(hello(None), 0, sni(b"pypi.org") + sni(b"evil.org")[2:]),
    "encrypted": lambda: with_extension(hello("pypi.org"), 0xFE0D, b"\0" * 40),
    "http": lambda: b"GET / HTTP/1.1\r\nHost: evil.org\r\n\r\n",
    "ssh": lambda: b"SSH-2.0-x\r\n",
    "ssl2": lambda: b"\x80\x2e\x01\x03\x01" + b"\0" * 60,
    "server": lambda: b"\x16\x03\x01\x00\x04\x02\x00\x00\x00",
    "type": lambda: hello("pypi.org")[:5] + b"\x02" + hello("pypi.org")[6:],
    "empty": lambda: b"\x16\x03\x01\x00\x00" * 9,
    "short": lambda: b"\x16\x03\x01\x00\x06\x01\x00\x00\x02\x03\x03",
    "endless": lambda: records(b"\0" * 5 + b"\x01\xff\xff\xff" + b"\0" * 40_000, 16384),
    "mixed": lambda: (
        records(hello("pypi.org"), 20).replace(b"\x16\x03\x01", b"\x17\x03\x01").replace(b"\x17", b"\x16", 1)
    ),
    "more": lambda: records(hello("pypi.org") + hello("evil.org")[5:], 16384),
}


@pytest.mark.parametrize("kind", WRONG)
def test_a_tunnel_whose_tls_names_another_host_is_closed(kind):
    got, answer, refused = first_bytes(WRONG[kind]())
    assert got == b""
    assert answer in (b"\x15\x03\x03\x00\x02\x02\x70", b"")
    assert refused == {"pypi.org:443": 1}


def test_the_helpers_change_nothing_else():
    data = with_extension(hello("pypi.org"), 0x7777, b"x")
    assert first_bytes(data)[0] == data
    data = with_extension(hello(None), 0, sni(b"pypi.org"))
    assert first_bytes(data)[0] == data


def test_a_slow_hello_is_closed():
    begun = time.monotonic()
    assert first_bytes(hello("pypi.org")[:50], seconds=0.3)[:2] == (b"", b"")
    assert time.monotonic() - begun < 30


def test_an_entry_with_its_own_port_may_speak_anything_but_tls_with_another():
    own = {"target": "nexus.corp:8443", "entries": ["nexus.corp:8443"]}
    for data in (b"SSH-2.0-x\r\n", b"GET / HTTP/1.1\r\n\r\n", hello("nexus.corp")):
        assert first_bytes(data, **own) == (data, data, {})
    for data in (hello("evil.org"), hello(None)):
        assert first_bytes(data, **own)[0::2] == (b"", {"nexus.corp:8443": 1})
    assert first_bytes(b"SSH-2.0-x\r\n", "nexus.corp:443", ["nexus.corp:443"])[0] == b""


def test_an_address_needs_no_name_but_takes_no_other():
    async def main():
        async with Server() as server:
            place = f"127.0.0.1:{server.port}"
            proxy = LocalProxy([place])
            async with serving(proxy) as port:
                for data, passes in ((hello(None), True), (hello("evil.org"), False)):
                    server.got = b""
                    reader, writer = await tunnel(port, place)
                    writer.write(data)
                    assert await reader.read(1) == (data[:1] if passes else b"\x15")
                    assert server.got == (data if passes else b"")
                    await closed(writer)
            assert proxy.refused == {place: 1}

    asyncio.run(main())


def test_a_server_may_speak_first_and_either_side_may_end_first():
    async def answer(reader, writer):
        writer.write(b"welcome\n")
        server.got = await reader.read()
        writer.write(b"goodbye " * 10_000)
        await writer.drain()
        writer.write_eof()

    server = Server(answer)

    async def main():
        async with server, serving(LocalProxy([f"127.0.0.1:{server.port}"])) as port:
            reader, writer = await tunnel(port, f"127.0.0.1:{server.port}")
            assert await reader.readline() == b"welcome\n"
            writer.write(b"hello")
            writer.write_eof()
            async with asyncio.timeout(5):
                assert await reader.read() == b"goodbye " * 10_000
            assert server.got == b"hello"
            await closed(writer)

    asyncio.run(main())


def test_a_server_that_ends_first_still_hears_the_client():
    async def answer(reader, writer):
        writer.write_eof()
        server.got = await reader.read()

    server = Server(answer)

    async def main():
        async with server, serving(LocalProxy([f"127.0.0.1:{server.port}"])) as port:
            reader, writer = await tunnel(port, f"127.0.0.1:{server.port}")
            assert await reader.read() == b""
            writer.write(b"late" * 50_000)
            writer.write_eof()
            await ended(server)
            await closed(writer)
        assert server.got == b"late" * 50_000

    asyncio.run(main())


async def ended(server):
    """Waits until nothing is connected to a server."""
    async with asyncio.timeout(3):
        while server.open:
            await asyncio.sleep(0.01)


def test_what_breaks_on_one_side_ends_the_other():
    async def reset(reader, writer):
        await reader.readexactly(4)
        writer.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        writer.transport.abort()

    async def main():
        async with Server() as server, Server(reset) as resetting:
            places = [f"127.0.0.1:{server.port}", f"127.0.0.1:{resetting.port}"]
            async with serving(LocalProxy(places)) as port:
                for data in (b"", hello("evil.org")):
                    reader, writer = await tunnel(port, places[0])
                    assert server.open == 1
                    writer.write(data)
                    assert await reader.read(1 if data else 0) == data[:1].replace(b"\x16", b"\x15")
                    if not data:
                        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
                        writer.transport.abort()
                    await ended(server)
                    await closed(writer)
                reader, writer = await tunnel(port, places[1])
                writer.write(b"ping")
                async with asyncio.timeout(3):
                    assert await reader.read() == b""
                await closed(writer)

    asyncio.run(main())


def test_a_slow_reader_gets_the_end_too(monkeypatch):
    """The server ends while the last bytes still wait in the proxy."""
    monkeypatch.setattr(registries, "LINGER", 0.001)

    class Watched(LocalProxy):
        async def _pump(self, source, sink, idle, check=None):
            self.sink = sink[1].transport
            await super()._pump(source, sink, idle, check)

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        server.sent = 0
        while not server.sent or not proxy.sink.get_write_buffer_size():
            writer.write(b"x" * 32768)
            server.sent += 32768
            await asyncio.sleep(0.002)
        writer.write_eof()
        full.set()

    server, proxy, full = Server(answer), None, asyncio.Event()

    async def main():
        nonlocal proxy
        async with server:
            place = f"127.0.0.1:{server.port}"
            proxy = Watched([place])
            async with serving(proxy) as port:
                reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1024)
                writer.write(f"GET http://{place}/ HTTP/1.0\r\n\r\n".encode())
                await asyncio.wait_for(full.wait(), 60)
                await asyncio.sleep(0.1)
                count = 0
                async with asyncio.timeout(5):
                    while data := await reader.read(65536):
                        count += len(data)
                await closed(writer)
        assert count == server.sent

    asyncio.run(main())


# Names and ways


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.9.9.9", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1", "fe80::1%lo"),
        *("::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "ff02::1"),
    ],
)
def test_a_name_at_an_address_of_this_machine_is_refused(address):
    for addresses in ([address], [PUBLIC, address]):
        for request in (b"CONNECT pypi.org:443 HTTP/1.1\r\n\r\n", b"GET http://pypi.org/ HTTP/1.1\r\n\r\n"):
            answer, refused = refusal(["pypi.org"], request, names={"pypi.org": addresses})
            assert answer.startswith(b"HTTP/1.1 403 ")
            assert SENTENCE in answer
            assert len(refused) == 1


@pytest.mark.parametrize(
    "address", [PUBLIC, "10.1.2.3", "192.168.1.1", "203.0.113.80", "fd00::1", "2606:4700::1", "64:ff9b::808:808"]
)
def test_a_name_at_an_address_of_another_machine_is_let_through(address):
    async def main():
        async with Server() as server:
            proxy = LocalProxy(["pypi.org"], {"pypi.org": [address]}, {(address, 443): ("127.0.0.1", server.port)})
            async with serving(proxy) as port:
                _, writer = await tunnel(port, "pypi.org:443")
                await closed(writer)

    asyncio.run(main())


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        return unused.getsockname()[1]


def test_what_cannot_be_reached_is_said():
    async def main():
        closed_port = f"127.0.0.1:{free_port()}"
        names = {"no.test": socket.gaierror(-2, "Name or service not known"), "slow.test": "never"}
        proxy = LocalProxy(["no.test", "slow.test", closed_port], names)
        proxy.connect_seconds = 0.3
        async with serving(proxy) as port:
            for target, status, words in [
                ("no.test:443", 502, b"no.test:443 could not be resolved\n"),
                ("slow.test:443", 504, b"slow.test:443 did not answer in time\n"),
                (closed_port, 502, closed_port.encode() + b" could not be reached\n"),
            ]:
                answer = await ask(port, f"CONNECT {target} HTTP/1.1\r\n\r\n".encode())
                assert answer.startswith(b"HTTP/1.1 %d " % status)
                assert answer.partition(b"\r\n\r\n")[2] == words
            answer = await ask(port, b"GET http://no.test/ HTTP/1.1\r\n\r\n")
            assert answer.startswith(b"HTTP/1.1 502 ")
        assert not proxy.refused

    asyncio.run(main())


@pytest.mark.parametrize("addresses", [[PUBLIC, "8.8.4.4"], ["8.8.4.4", PUBLIC]])
def test_every_address_is_tried(addresses):
    async def main():
        async with Server() as server:
            routes = {(PUBLIC, 443): ("127.0.0.1", free_port()), ("8.8.4.4", 443): ("127.0.0.1", server.port)}
            proxy = LocalProxy(["pypi.org"], {"pypi.org": addresses}, routes)
            async with serving(proxy) as port:
                _, writer = await tunnel(port, "pypi.org:443")
                await closed(writer)
            assert server.total == 1

    asyncio.run(main())


def test_the_real_resolver_knows_loopback():
    async def main():
        async with Server() as server, serving(RegistryProxy([f"localhost:{server.port}"])) as port:
            reader, writer = await tunnel(port, f"localhost:{server.port}")
            writer.write(b"ping")
            assert await reader.readexactly(4) == b"ping"
            await closed(writer)

    asyncio.run(main())


def test_the_users_own_proxy_is_asked():
    async def answer(reader, writer):
        server.got = await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nVia: x\r\n\r\nearly ")

    server = Server(answer)

    async def main():
        async with server, Server() as mirror:
            near = f"127.0.0.1:{mirror.port}"
            upstream = f"http://me:se%40cret@127.0.0.1:{server.port}"
            proxy = LocalProxy(["nexus.corp:8443", "deb.test", near], upstream=upstream)
            async with serving(proxy) as port:
                reader, writer = await tunnel(port, "nexus.corp:8443")
                secret = base64.b64encode(b"me:se@cret")
                head = b"CONNECT nexus.corp:8443 HTTP/1.1\r\nHost: nexus.corp:8443\r\nProxy-Authorization: Basic %s\r\n\r\n"
                assert server.got == head % secret
                writer.write(b"ping")
                assert await reader.readexactly(10) == b"early ping"
                await closed(writer)
                proxy.idle_seconds = 0.3
                await ask(port, b"GET http://deb.test/x HTTP/1.1\r\n\r\n")
                assert server.got.startswith(b"CONNECT deb.test:80 HTTP/1.1\r\n")
                assert b"GET /x HTTP/1.1\r\nHost: deb.test\r\n" in server.got
                _, writer = await tunnel(port, near)
                await closed(writer)
                assert mirror.total == 1

    asyncio.run(main())


@pytest.mark.parametrize("reply", [b"HTTP/1.1 407 No\r\n\r\n", b"nonsense\r\n\r\n", b"", b"x" * 200_000])
def test_a_proxy_of_the_user_that_refuses(reply):
    async def main():
        async with answering(reply) as server:
            upstream = f"http://me:secret@127.0.0.1:{server.port}"
            async with serving(LocalProxy(["nexus.corp:8443"], upstream=upstream)) as port:
                answer = await ask(port, b"CONNECT nexus.corp:8443 HTTP/1.1\r\n\r\n")
                assert answer.startswith(b"HTTP/1.1 502 ")
                assert b"secret" not in answer

    asyncio.run(main())


@pytest.mark.parametrize(
    "url", ["https://me:secret@proxy:1", "socks5://me:secret@proxy:1", "http://me:secret@proxy:x", "http://"]
)
def test_a_proxy_of_the_user_that_is_unusable(url):
    with pytest.raises(ValueError, match="http://") as raised:
        RegistryProxy(["pypi.org"], upstream=url)
    assert "secret" not in str(raised.value)
    assert raised.value.__context__ is None


# Limits


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("way", ["down", "up", "plain"])
def test_a_side_that_does_not_read_makes_nothing_grow(way):
    chunk, whole = b"x" * MEGA, 200
    sent, may_read = [0], asyncio.Event()

    async def send(writer):
        for _ in range(whole):
            writer.write(chunk)
            await writer.drain()
            sent[0] += 1
        writer.write_eof()

    async def receive(reader):
        await may_read.wait()
        count = 0
        while data := await reader.read(MEGA):
            count += len(data)
        return count

    async def answer(reader, writer):
        if way == "plain":
            await reader.readuntil(b"\r\n\r\n")
            writer.write(b"HTTP/1.0 200 OK\r\n\r\n")
        if way == "up":
            server.count = await receive(reader)
        else:
            await send(writer)

    server = Server(answer)

    async def main():
        async with server, serving(LocalProxy([f"127.0.0.1:{server.port}"])) as port:
            place = f"127.0.0.1:{server.port}"
            if way == "plain":
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(f"GET http://{place}/ HTTP/1.0\r\n\r\n".encode())
            else:
                reader, writer = await tunnel(port, place)
            before = resident()
            sender = asyncio.create_task(send(writer) if way == "up" else asyncio.sleep(0))
            await asyncio.sleep(0.5)
            assert 0 < sent[0] < whole / 2
            assert resident() - before < 40 * MEGA
            may_read.set()
            async with asyncio.timeout(20):
                if way == "up":
                    await sender
                    assert await reader.read() == b""
                    assert server.count == whole * MEGA
                else:
                    assert await receive(reader) == whole * MEGA + (19 if way == "plain" else 0)
            assert resident() - before < 40 * MEGA
            await closed(writer)
            await sender

    asyncio.run(main())


def test_a_hundred_connections_at_once():
    async def answer(reader, writer):
        await asyncio.sleep(0.3)

    server = Server(answer)

    async def one(port):
        async with asyncio.timeout(10):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(f"CONNECT 127.0.0.1:{server.port} HTTP/1.1\r\n\r\nping".encode())
            await reader.readuntil(b"\r\n\r\n")
            echo = await reader.readexactly(4)
            await closed(writer)
        return echo

    async def main():
        async with server, serving(LocalProxy([f"127.0.0.1:{server.port}"])) as port:
            assert await asyncio.gather(*(one(port) for _ in range(100))) == [b"ping"] * 100
        assert server.most == 64
        assert server.total == 100

    asyncio.run(main())


def test_an_idle_tunnel_is_closed_and_a_busy_one_is_not():
    async def answer(reader, writer):
        for _ in range(20):
            writer.write(b".")
            await asyncio.sleep(0.1)

    async def main():
        async with Server(answer) as busy, Server() as silent:
            proxy = LocalProxy([f"127.0.0.1:{busy.port}", f"127.0.0.1:{silent.port}"])
            proxy.idle_seconds = 1.5
            async with serving(proxy) as port, asyncio.timeout(60):
                begun = time.monotonic()
                reader, writer = await tunnel(port, f"127.0.0.1:{silent.port}")
                assert await reader.read() == b""
                assert time.monotonic() - begun > 1
                await closed(writer)
                reader, writer = await tunnel(port, f"127.0.0.1:{busy.port}")
                assert await reader.read() == b"." * 20
                await closed(writer)

    asyncio.run(main())


def test_cancelling_closes_all():
    def descriptors():
        return len(os.listdir("/proc/self/fd"))

    async def main():
        async with Server() as server:
            place = f"127.0.0.1:{server.port}"
            proxy = LocalProxy([place, "slow.test"], names={"slow.test": "never"})
            with socket.create_server(("127.0.0.1", 0)) as listening:
                port = listening.getsockname()[1]
                before = descriptors()
                serve = asyncio.create_task(proxy.serve(listening))
                clients = [await tunnel(port, place) for _ in range(10)]
                for request in (
                    b"",
                    b"CONN",
                    b"CONNECT slow.test:443 HTTP/1.1\r\n\r\n",
                    b"CONNECT evil:1 HTTP/1.1\r\n\r\n",
                ):
                    clients.append(await asyncio.open_connection("127.0.0.1", port))
                    clients[-1][1].write(request)
                await asyncio.sleep(0.1)
                assert server.open == 10
                assert descriptors() >= before + 4 * 10 + 2 * 4
                serve.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await serve
                for reader, writer in clients:
                    async with asyncio.timeout(1):
                        with suppress(ConnectionResetError):
                            await reader.read()
                    await closed(writer)
                await asyncio.sleep(0.1)
                assert server.open == 0
                assert descriptors() == before
                assert listening.fileno() >= 0
                assert len(asyncio.all_tasks()) == 1

    asyncio.run(main())


def test_a_client_that_was_just_accepted_is_closed_too():
    async def main():
        with socket.create_server(("127.0.0.1", 0)) as listening:
            serve = asyncio.create_task(RegistryProxy(["pypi.org"]).serve(listening))
            await asyncio.sleep(0)
            with socket.create_connection(listening.getsockname()) as client:
                await asyncio.sleep(0)
                while len(asyncio.all_tasks()) < 3:
                    await asyncio.sleep(0)
                serve.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await serve
                client.settimeout(2)
                assert client.recv(1) == b""

    asyncio.run(main())

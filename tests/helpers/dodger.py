"""An agent that tries to make calls nobody counts, one trick a name; and an honest one. Runs inside the sandbox."""

from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import sys
import threading
import time
from urllib.parse import urlsplit

URL, KEY, NAME = sys.argv[1:4]
PLACE = urlsplit(URL)
HEADERS = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json", "X-Agent": NAME}
CALL = {"model": "m", "messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 60}


def connected() -> http.client.HTTPConnection:
    return http.client.HTTPConnection(PLACE.hostname or "", PLACE.port, timeout=60)


def begin(body: bytes) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
    connection = connected()
    connection.request("POST", f"{PLACE.path}/chat/completions", body, HEADERS)
    return connection, connection.getresponse()


def ask(body: bytes | None = None, **more: object) -> int:
    """One call, to its end."""
    connection, answer = begin(json.dumps({**CALL, **more}).encode() if body is None else body)
    answer.read()
    connection.close()
    return answer.status


def sent(body: bytes) -> socket.socket:
    """A connection over which a call, or several, went out, without a look at the answer."""
    opened = socket.create_connection((PLACE.hostname or "", PLACE.port or 0))
    lines = "".join(f"{name}: {value}\r\n" for name, value in HEADERS.items())
    head = f"POST {PLACE.path}/chat/completions HTTP/1.1\r\nHost: x\r\n{lines}Content-Length: {len(body)}\r\n\r\n"
    opened.sendall(head.encode() + body)
    return opened


def tool(schema: str) -> bytes:
    tools = f'[{{"type":"function","function":{{"name":"t","parameters":{schema}}}}}]'
    return (json.dumps(CALL)[:-1] + ', "tools": ' + tools + "}").encode()


def nested() -> None:
    for depth in (20, 300, 967, 5000):
        ask(tool('{"items":' * depth + "{}" + "}" * depth))


def quitter() -> None:
    for _ in range(3):
        connection, answer = begin(json.dumps({**CALL, "stream": True}).encode())
        answer.read1(10)
        connection.sock.close() if connection.sock else answer.close()
        connection.close()


def suicide() -> None:
    _, answer = begin(json.dumps({**CALL, "stream": True}).encode())
    answer.read1(10)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(60)


def early() -> None:
    held = [sent(json.dumps({**CALL, "n": 2}).encode()) for _ in range(3)]
    time.sleep(0.3)
    for one in held:
        one.close()


def stranger() -> None:
    for name in ("big", "M", "m-405b", "m:online", "host/m"):
        ask(model=name)
    ask()


def bomb() -> None:
    both = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(60)}
    for _ in range(2):
        ask(tool(json.dumps({"$defs": {**both, "60": {}}, "$ref": "#/$defs/0"})))


def twice() -> None:
    for odd in (b'"model":"big"', b'"Model":"big"', b'"seed":NaN', b'"background":true', b'"service_tier":"priority"'):
        ask(json.dumps(CALL)[:-1].encode() + b"," + odd + b"}")
    ask()


def silent() -> None:
    ask(stream=True, stream_options={"include_usage": False})
    ask(stream=True, stream_options=None)


def pipelined() -> None:
    connection = sent(json.dumps(CALL).encode())
    connection.sendall(b"HEAD /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(0.2)
    connection.close()
    for method in ("PUT", "OPTIONS", "PATCH"):
        other = connected()
        other.request(method, f"{PLACE.path}/chat/completions", json.dumps(CALL), HEADERS)
        other.getresponse().read()
        other.close()


def flood() -> None:
    ask(b'{"model":"m","messages":[' + b"[]," * 1_500_000 + b"[]]}")
    ask(b"[" * 3_000_000)
    ask()


def parallel() -> None:
    """Calls that are held back beside one that works, so that time might be taken off."""
    calls = [threading.Thread(target=ask) for _ in range(6)]
    for call in calls:
        call.start()
    for call in calls:
        call.join()


def honest() -> None:
    for _ in range(3):
        assert ask() == 200
        time.sleep(0.1)
    with open("answer.txt", "w") as file:
        file.write("Hello.")


globals()[NAME.split("-")[0]]()

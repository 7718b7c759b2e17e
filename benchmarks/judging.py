"""How fast judges are asked, against a bare client that sends the same requests to the same server."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.lines import MISSED, OK, REGRESSED, Line

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS, RUNS = 3, 80
"""240 runs, judged in parts, so that both ways take turns."""
JUDGES, METRICS, ITEMS = 3, 5, 5
LATENCY = 0.5
SERVERS = ("scripted", "late")
"""The scripted server, and a minimal one that answers as late as a quick model does."""
CLIENTS = {"scripted": ("httpx", "aiohttp"), "late": ("aiohttp",)}
HTTPX_AT_ONCE = 16
"""More at once make it slower."""
LABELS = {"scripted httpx": "httpx", "scripted aiohttp": "aiohttp", "late aiohttp": "late"}
STATED = ("scripted httpx", "late aiohttp")
LEAST, BOUND = 0.8, 0.5
MOST_CPU = 20.0
"""Milliseconds of orvl's CPU for a request. The late server waits however slow the machine is, so that the ratio falls
on a slow or busy one with orvl as it was: what regresses there is the CPU."""
PATH = "/v1/chat/completions"
KEY_NAME, KEY = "JUDGING_KEY", "key-of-the-benchmark-0123456789-0123456789"
AGENT = """models = {"none": ["none"]}
WORK = "".join(f"def step_{number}(value):\\n    return value * {number} + 1\\n\\n\\n" for number in range(20))


def command(prompt):
    return ["sh", "-c", '{ printf %s "$0"; date +"made_at = %s%N"; } > work.py', WORK]
"""
EVAL = "Write twenty steps.\n"
ANSWER = json.dumps(
    {
        "items": [
            {"item": number, "pointer": f"work.py:{number}", "why": "It is there.", "verdict": "yes"}
            for number in range(1, ITEMS + 1)
        ],
        "rationale": "The work is as it was asked for. Nothing is missing.",
    }
)


def judging(folder: Path) -> list[Line]:
    """Each part of the runs is judged through orvl, and what was asked then is asked again by the bare client."""
    project = folder / "judging"
    servers = {name: Part("server", name) for name in SERVERS}
    client = Part("client")
    try:
        _make(project, {name: server.told for name, server in servers.items()})
        lines = []
        for name, server in servers.items():
            parts = [_all(project, name, number, server, client) for number in range(1, PARTS + 1)]
            lines += [_line(f"{name} {kind}", [part[kind] for part in parts]) for kind in CLIENTS[name]]
    finally:
        for part in (*servers.values(), client):
            part.end()
    return lines


@dataclass(frozen=True)
class Pair:
    """Requests a second on both ways, how many were open at once, and the CPU that each way took for one."""

    through: float
    bare: float
    at_once: int
    cpu: float
    bare_cpu: float


def _all(project: Path, name: str, number: int, server: Part, client: Part) -> dict[str, Pair]:
    """One part of the runs through orvl, and then by each bare client."""
    asked = project / "asked.json"
    server.ask("begin")
    judges = (word for judge in range(JUDGES) for word in ("--judge", f"{name}-{judge}"))
    metrics = ",".join(f"metric-{metric}" for metric in range(METRICS))
    words = ("noop", "none", "none", f"part-{number}", metrics)
    cpu = _orvl("score", *words, *judges, "--project", str(project))
    through = server.ask("end", str(asked))
    return {kind: _pair(kind, asked, through, cpu, server, client) for kind in CLIENTS[name]}


def _pair(kind: str, asked: Path, through: dict[str, Any], cpu: float, server: Part, client: Part) -> Pair:
    server.ask("begin")
    bare_cpu = client.ask(kind, server.told, str(asked), through["at_once"])
    bare = server.ask("end", "")
    wanted = RUNS * JUDGES * METRICS
    if (through["count"], bare["count"]) != (wanted, wanted):
        sys.exit(f"Of {wanted} requests, {through['count']} and then {bare['count']} were made.")
    return Pair(through["rate"], bare["rate"], through["at_once"], cpu / through["count"], bare_cpu / bare["count"])


def _line(name: str, pairs: list[Pair]) -> Line:
    through, bare = median(pair.through for pair in pairs), median(pair.bare for pair in pairs)
    cpu, bare_cpu = median(pair.cpu for pair in pairs) * 1000, median(pair.bare_cpu for pair in pairs) * 1000
    spread = [pair.through / pair.bare for pair in pairs]
    label = f"judging {LABELS[name]}"
    measured = f"{through:,.0f} of {bare:,.0f}/s, CPU {cpu:.2f} of {bare_cpu:.2f} ms"
    ratio = f"{through / bare:.2f} ({min(spread):.2f}–{max(spread):.2f})"
    if name not in STATED:
        return Line(label, measured, ratio)
    least_cpu = min(pair.cpu for pair in pairs) * 1000
    # The best of the parts, as a busy machine makes the others worse.
    has_regressed, bound = max(spread) < BOUND, f"< {BOUND:g}"
    if name == "late aiohttp":
        has_regressed, bound = least_cpu > MOST_CPU, f"CPU > {MOST_CPU:g} ms"
    verdict = OK if through / bare >= LEAST else REGRESSED if has_regressed else MISSED
    return Line(label, measured, ratio, f"≥ {LEAST:g}", bound, verdict)


def _make(project: Path, addresses: dict[str, str]) -> None:
    """A project whose runs no judge has seen yet."""
    files = {"agents/noop.py": AGENT, "orvl.toml": "".join(map(_judges, addresses.items()))}
    files |= {f"evals/part-{number}.md": EVAL for number in range(1, PARTS + 1)}
    for metric in range(METRICS):
        items = [f"Step {metric * ITEMS + number} of the work does what it says." for number in range(ITEMS)]
        files[f"scores/metric-{metric}.py"] = f"items = {items}\n"
    for name, text in files.items():
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)
    words = ("noop", "none", "none", "part-*", "speed", "--episodes", str(RUNS), "--sandbox", "none", "-q")
    _orvl("run", *words, "--project", str(project))


def _orvl(*words: str) -> float:
    """Seconds of CPU that a call of orvl takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    env = os.environ | {KEY_NAME: KEY}
    done = subprocess.run([sys.executable, "-m", "orvl", *words], env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"orvl {words[0]} ended with status {done.returncode}: {done.stdout[-1000:]}{done.stderr[-1000:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _judges(server: tuple[str, str]) -> str:
    name, address = server
    return "".join(
        f'[providers.{name}-{judge}]\nprotocol = "openai"\nbase_url = "{address}/v1"\nkey = "{KEY_NAME}"\nfree = true\n'
        f'[judges.{name}-{judge}]\nmodel = "model-{judge}"\nprovider = "{name}-{judge}"\n'
        for judge in range(JUDGES)
    )


# -- the processes beside orvl


class Part:
    """A process of the benchmark, which tells one line first and then answers each line with one."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "benchmarks.judging", *words]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.told = self._heard()

    def ask(self, *words: Any) -> Any:
        assert self._process.stdin is not None
        print(json.dumps(words), file=self._process.stdin, flush=True)
        return self._heard()

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()

    def _heard(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


async def _answering(first: Any, answer: Callable[..., Any]) -> None:
    """Tells one line, and an answer to each line that comes."""
    print(json.dumps(first), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        told = answer(*json.loads(line))
        print(json.dumps(await told if asyncio.iscoroutine(told) else told), flush=True)


@dataclass
class Counted:
    """What a server saw."""

    arrived: list[float] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    at_once: int = 0

    def figures(self, path: str) -> dict[str, Any]:
        """Requests a second from the first to the last; their bodies go to a file."""
        if path:
            Path(path).write_text(json.dumps([body.decode() for body in self.bodies]))
        count = len(self.arrived)
        seconds = max(self.arrived, default=0.0) - min(self.arrived, default=0.0)
        return {"count": count, "at_once": self.at_once, "rate": (count - 1) / seconds if seconds else 0.0}


async def _scripted() -> None:
    from orvl.testing import Answer, ModelServer

    with ModelServer(lambda _request: Answer(ANSWER), key=KEY) as server:

        def answer(what: str, path: str = "") -> Any:
            if what == "begin":
                return server.requests.clear()
            bodies = [json.dumps(request.body).encode() for request in server.requests] if path else []
            arrived = [request.arrived for request in server.requests]
            return Counted(arrived, bodies, server.most_at_once).figures(path)

        await _answering(server.url, answer)


async def _minimal(latency: float) -> None:
    counted = Counted()

    def answer(what: str, path: str = "") -> Any:
        nonlocal counted
        if what == "end":
            return counted.figures(path)
        counted = Counted()
        return None

    loop = asyncio.get_running_loop()
    listening = await loop.create_server(lambda: Minimal(lambda: counted, latency), "127.0.0.1", 0, backlog=1024)
    async with listening:
        port = listening.sockets[0].getsockname()[1]
        await _answering(f"http://127.0.0.1:{port}", answer)


class Minimal(asyncio.Protocol):
    """A connection on which every request gets the same answer."""

    open = 0
    """Connections; a client that asks so many at once has as many."""

    def __init__(self, counted: Callable[[], Counted], latency: float) -> None:
        self._counted, self._latency = counted, latency
        self._held = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        Minimal.open += 1

    def connection_lost(self, _error: Exception | None) -> None:
        Minimal.open -= 1

    def data_received(self, data: bytes) -> None:
        self._held += data
        head, mark, rest = self._held.partition(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0]) if mark else 0
        if not mark or len(rest) < length:
            return
        self._held = b""
        counted = self._counted()
        counted.at_once = max(counted.at_once, Minimal.open)
        counted.arrived.append(time.time())
        counted.bodies.append(rest)
        if self._latency:
            asyncio.get_running_loop().call_later(self._latency, self._answer)
        else:
            self._answer()

    def _answer(self) -> None:
        self._transport.write(WHOLE)


def _whole() -> bytes:
    choice = {"index": 0, "message": {"role": "assistant", "content": ANSWER}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100}
    body = {
        "id": "one",
        "object": "chat.completion",
        "created": 0,
        "model": "model",
        "choices": [choice],
        "usage": usage,
    }
    text = json.dumps(body).encode()
    return b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(text), text)


WHOLE = _whole()


async def _client() -> None:
    await _answering("", _bare)


async def _bare(kind: str, address: str, path: str, at_once: int) -> float:
    """Sends bodies that were recorded, so many at once, and reads each answer; nothing else. The CPU that it took."""
    bodies = [body.encode() for body in json.loads(Path(path).read_text())]
    headers = {"content-type": "application/json", "authorization": f"Bearer {KEY}"}
    began = time.process_time()
    await (_by_httpx if kind == "httpx" else _by_aiohttp)(f"{address}{PATH}", bodies, headers, at_once)
    return time.process_time() - began


async def _by_aiohttp(url: str, bodies: list[bytes], headers: dict[str, str], at_once: int) -> None:
    import aiohttp

    async def work() -> None:
        while bodies:
            async with session.post(url, data=bodies.pop(), headers=headers) as answer:
                answer.raise_for_status()
                json.loads(await answer.read())

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(work() for _ in range(at_once)))


async def _by_httpx(url: str, bodies: list[bytes], headers: dict[str, str], at_once: int) -> None:
    import httpx

    async def work() -> None:
        while bodies:
            answer = await client.post(url, content=bodies.pop(), headers=headers)
            answer.raise_for_status().json()

    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as client:
        await asyncio.gather(*(work() for _ in range(min(at_once, HTTPX_AT_ONCE))))


if __name__ == "__main__":
    kinds = {"scripted": _scripted, "late": lambda: _minimal(LATENCY)}
    asyncio.run(_client() if sys.argv[1] == "client" else kinds[sys.argv[2]]())

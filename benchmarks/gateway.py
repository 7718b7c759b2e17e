"""What the gateway adds to a call, and that two hundred streams at once cost no memory."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from benchmarks.lines import OK, REGRESSED, Line, at_most

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROUNDS, WARM_UP = 150, 20
STREAMS = (50, 200)
PIECES = 100
MOST_ADDED, MOST_BEFORE_FIRST, MOST_MEMORY = 1.0, 5.0, 15.0
BOUNDS = {MOST_ADDED: 6.0, MOST_BEFORE_FIRST: 30.0, MOST_MEMORY: 30.0}
KEY = "key-of-the-benchmark"


def gateway(folder: Path) -> list[Line]:
    """Server, gateway and client are three processes; each round asks both ways, in turn."""
    return _lines(asyncio.run(_measured(folder)))


@dataclass
class Measured:
    """All that is measured; times are of the way without the gateway and of the way through it."""

    kept: list[list[float]]
    first_byte: list[list[float]]
    cpu: float
    megabytes: list[float]
    streams: dict[str, Any]


async def _measured(folder: Path) -> Measured:
    async with _process("server") as server, _process("gateway", server.address, str(folder)) as door:
        ways = json.dumps([[f"{server.address}/v1", KEY], [f"{door.address}/v1", door.key]])
        async with _process("client", ways) as client:
            before = door.cpu()
            kept = await client.ask("kept")
            cpu = (door.cpu() - before) / (ROUNDS + WARM_UP)
            first_byte = await client.ask("first byte")
            megabytes = []
            for many in STREAMS:
                streams = await client.ask("streams", many)
                megabytes.append(door.resident())
    return Measured(kept, first_byte, cpu, megabytes, streams)


def _lines(measured: Measured) -> list[Line]:
    fewer, more = STREAMS
    grown = measured.megabytes[-1] - measured.megabytes[0]
    cpu = f"{measured.cpu * 1000:.1f} ms CPU"
    return [
        _added("gateway kept", f"a call, kept open, {cpu}", measured.kept, MOST_ADDED),
        _added("gateway first", "first byte, new connection", measured.first_byte, MOST_BEFORE_FIRST),
        at_most(
            "gateway memory",
            grown,
            MOST_MEMORY,
            BOUNDS[MOST_MEMORY],
            f"{measured.megabytes[0]:.0f}, {measured.megabytes[1]:.0f} MB after {fewer}, {more} streams",
            f"+{grown:.1f} MB",
            " MB",
        ),
        Line(
            "gateway streams",
            f"{measured.streams['seconds']:.2f} s for {more} at once",
            f"{measured.streams['direct']:.2f} s direct",
            "all whole",
            verdict=OK if measured.streams["whole"] else REGRESSED,
        ),
    ]


def _added(name: str, what: str, times: list[list[float]], most: float) -> Line:
    """What the gateway adds to the median of the direct way."""
    direct, through = (median(each) * 1000 for each in times)
    added = through - direct
    return at_most(name, added, most, BOUNDS[most], f"{through:.2f} ms {what}", f"{direct:.2f} + {added:.2f} ms", " ms")


# -- the three processes


@dataclass
class Part:
    """A process of the benchmark, which answers one line with one line."""

    process: asyncio.subprocess.Process
    address: str
    key: str

    async def ask(self, *words: Any) -> Any:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words).encode() + b"\n")
        return await self.heard()

    async def heard(self) -> Any:
        assert self.process.stdout is not None
        return json.loads(await self.process.stdout.readline())

    def cpu(self) -> float:
        """Seconds of CPU that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGESIZE") / (1 << 20)


@asynccontextmanager
async def _process(*words: str) -> AsyncIterator[Part]:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "benchmarks.gateway", *words, stdin=pipe, stdout=pipe
    )
    part = Part(process, "", "")
    try:
        part.address, part.key = await part.heard()
        yield part
    finally:
        assert process.stdin is not None
        process.stdin.close()
        await process.wait()


def _tell(what: Any) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


async def _next() -> Any:
    """The next line that this process is asked; None at the end."""
    line = await asyncio.to_thread(sys.stdin.readline)
    return json.loads(line) if line else None


async def _server() -> None:
    from orvl.testing import Answer, ModelServer, Tokens

    def script(request: Any) -> Answer:
        told = Tokens(input=1000, output=100)
        if not request.stream:
            return Answer("Done.", tokens=told)
        word = request.prompt_text
        is_long = word != "first"
        return Answer(word * 1000 if is_long else word, pieces=PIECES if is_long else 1, between=0.01, tokens=told)

    with ModelServer(script, key=KEY) as server:
        _tell([server.url, ""])
        await _next()


async def _gateway(address: str, folder: str) -> None:
    from orvl.gateway import Gateway
    from orvl.project.providers import Provider
    from orvl.project.settings import Limits

    one = Gateway({"KEY": KEY})
    provider = Provider("host", {"openai": f"{address}/v1"}, key="KEY")
    account = one.account(provider, "openai", "m", Limits(calls=1_000_000), Path(folder) / "calls")
    async with one.door(account, has_walls=False) as (_, endpoint):
        _tell([endpoint.url.removesuffix("/v1"), endpoint.key])
        await _next()
    await one.close()


async def _client(ways: str) -> None:
    _tell(["", ""])
    both = [_Way(*way) for way in json.loads(ways)]
    while asked := await _next():
        what, *words = asked
        if what == "streams":
            direct = await both[0].streams(*words)
            through = await both[1].streams(*words)
            _tell({"seconds": through[0], "direct": direct[0], "whole": direct[1] and through[1]})
        else:
            _tell(await _in_turn(both, what))


async def _in_turn(both: list[_Way], what: str) -> list[list[float]]:
    times: list[list[float]] = [[], []]
    for number in range(ROUNDS + WARM_UP):
        for way, taken in zip(both, times, strict=True):
            seconds = await (way.kept() if what == "kept" else way.first_byte())
            taken.extend([seconds] if number >= WARM_UP else [])
    for way in both:
        await way.close()
    return times


class _Way:
    """A client of the server, or of the gateway before it."""

    def __init__(self, url: str, key: str) -> None:
        self._url = f"{url}/chat/completions"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._session: Any = None

    def _new(self) -> Any:
        import aiohttp

        return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=self._headers)

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def kept(self) -> float:
        self._session = self._session or self._new()
        began = time.perf_counter()
        async with self._session.post(self._url, json=_body("Hi", stream=False)) as answer:
            await answer.read()
        return time.perf_counter() - began

    async def first_byte(self) -> float:
        async with self._new() as session:
            began = time.perf_counter()
            async with session.post(self._url, json=_body("first", stream=True)) as answer:
                await answer.content.readany()
                seconds = time.perf_counter() - began
                await answer.read()
        return seconds

    async def streams(self, many: int) -> tuple[float, bool]:
        """So many streams at once: how long they took, and whether each was whole and its own."""
        async with self._new() as session:
            began = time.perf_counter()
            whole = await asyncio.gather(*(self._stream(session, f"w{number:04d} ") for number in range(many)))
        return time.perf_counter() - began, all(whole)

    async def _stream(self, session: Any, word: str) -> bool:
        async with session.post(self._url, json=_body(word, stream=True)) as answer:
            events = (await answer.text()).split("\n\n")
        choices = [json.loads(event[6:])["choices"][0] for event in events if event.startswith("data: {")]
        return "".join(choice["delta"].get("content") or "" for choice in choices) == word * 1000


def _body(words: str, *, stream: bool) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": words}], "stream": stream}


if __name__ == "__main__":
    parts = {"server": _server, "gateway": _gateway, "client": _client}
    asyncio.run(parts[sys.argv[1]](*sys.argv[2:]))

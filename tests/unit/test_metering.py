"""Metering that cannot be left: agents that try to make calls nobody counts, and what the gateway counts of them."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import asynccontextmanager

import pytest
from test_gateway import run, until

from helpers.gateways import (
    A_CENT_A_TOKEN,
    PROTOCOLS,
    body_of,
    chunked,
    doors,
    key_header,
    path_of,
    provider_at,
    response,
    saying,
    upstream,
)
from orvl.capture.diff import unified
from orvl.errors import ChildFailed
from orvl.gateway.clock import Clock, OpenCall
from orvl.gateway.issues import is_quick
from orvl.gateway.metering import upper_bound
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import ModelAnswer, Reply, TokenCounts
from orvl.project.settings import Limits
from orvl.store.tree import Entry
from orvl.testing import Answer, Fault, ModelServer, Tokens, ToolCall
from orvl.worker import DeadlineWorker

SAID = Answer("Hello there, this is a longer answer.", tokens=Tokens(input=100, output=50), pieces=20, between=0.02)
HI = Reply("m", "Hi.", tokens=TokenCounts(5, 0, 0, 6, 0))


def nested(depth: int) -> bytes:
    """A call with a tool whose schema is so deep, written by hand: a JSON library may not get so far."""
    schema = b'{"items":' * depth + b"{}" + b"}" * depth
    head = b'{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":{"name":"t","parameters":'
    return head + schema + b"}}]}"


def doubling(depth: int) -> dict:
    """A few hundred bytes that take 2 ** depth steps to check."""
    both = {str(n): {"allOf": [{"$ref": f"#/$defs/{n + 1}"}] * 2} for n in range(depth)}
    return {"$defs": {**both, str(depth): {"type": "object"}}, "$ref": "#/$defs/0"}


def unevaluated(depth: int) -> dict:
    """The same without a reference: each level looks again at all that is below it."""
    schema: dict = {"properties": {"a": {"type": "string"}}}
    for _ in range(depth):
        schema = {"allOf": [schema], "unevaluatedProperties": False}
    return schema


def tool(schema: object) -> list[dict]:
    return [{"type": "function", "function": {"name": "t", "parameters": schema}}]


@asynccontextmanager
async def stalls():
    """The longest time for which the event loop did nothing else, in a list of one."""
    longest = [0.0]

    async def watch() -> None:
        while True:
            wall, used = time.perf_counter(), time.process_time()
            await asyncio.sleep(0.002)
            # Time in which this process did nothing is the machine's: others want the processor, too.
            busy = time.process_time() - used
            longest[0] = max(longest[0], min(time.perf_counter() - wall - 0.002, busy))

    watching = asyncio.ensure_future(watch())
    try:
        yield longest
    finally:
        watching.cancel()


# -- an account is closed whatever the content does


@pytest.mark.parametrize("depth", [30, 200, 480, 967])
def test_no_schema_makes_a_call_invisible(depth):
    async def test():
        with ModelServer(lambda _: Answer(tool_calls=[ToolCall("t", {"a": 1})], tokens=Tokens(input=7))) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                for _ in range(5):
                    await door.post(f"{door.endpoint.url}/chat/completions", nested(depth))
                await door.account.settle(drain=True)
                assert len(door.account.calls) == len(server.requests)
                assert door.account.usage(1.0).input_tokens == 7 * len(server.requests)
                assert not door.account.open_calls
                assert len(server.requests) + door.account.refused["malformed request"] == 5

    run(test)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_an_answer_that_nobody_waits_for_is_read_to_its_end(protocol):
    async def test():
        with ModelServer(lambda _: SAID) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), protocol)
                await leave(door, after=1)
                await door.account.settle(drain=True)
                (call,) = door.account.calls
                assert (call.input_tokens, call.output_tokens) == (100, 50)
                assert call.left and not call.is_bound and call.seconds < 5

    run(test)


async def leave(door, after: int, **more) -> None:
    """Hangs up after so many pieces of a stream; 0: before the answer begins."""
    own = key_header(door.account.protocol, door.endpoint.key)
    url = door.endpoint.url + path_of(door.account.protocol, stream=True)
    asking = door.client.post(url, json=body_of(door.account.protocol, stream=True, **more), headers=own)
    if not after:
        task = asyncio.ensure_future(asking.__aenter__())
        await until(lambda: door.account.open_calls)
        await asyncio.sleep(0.05)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return
    async with asking as answer:
        for _ in range(after):
            await answer.content.readany()


@pytest.mark.parametrize("after", [0, 1])
def test_what_cannot_be_read_in_time_counts_by_its_upper_bound(after, monkeypatch):
    monkeypatch.setattr("orvl.gateway.account.DRAIN_SECONDS", 0.1)
    slow = Answer("x" * 400, pieces=400, between=0.05, first_byte=0.0 if after else 3.0)

    async def test():
        with ModelServer(lambda _: slow) as server:
            async with doors(budget=1e9) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                door = await open_doors.open(provider, limits=Limits(cost=1e6))
                await leave(door, after, max_tokens=500, n=3)
                await door.account.settle(drain=True)
                (call,) = door.account.calls
                assert call.is_bound and call.left and call.output_tokens == 1500 and call.input_tokens >= 60
                assert call.cost_source == "bound" and call.cost_usd >= 15
                assert door.account.budget.spent == call.cost_usd == open_doors.gateway.budget.spent
                usage = door.account.usage(1.0)
                assert usage.is_bound and usage.output_tokens == 1500 and usage.cost_source == "bound"

    run(test)


def test_a_run_that_ends_with_open_calls_knows_what_they_took():
    async def test():
        with ModelServer(lambda _: SAID) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                asked = [asyncio.ensure_future(door.ask(stream=True)) for _ in range(5)]
                await until(lambda: server.open == 5)
                for one in asked:
                    one.cancel()
                await asyncio.gather(*asked, return_exceptions=True)
                await door.account.settle(drain=True)
                assert door.account.usage(1.0).output_tokens == 5 * 50 and len(door.account.calls) == 5

    run(test)


def test_options_that_lose_the_usage_do_not_lose_the_count():
    """A host that does not know an option refuses it; asked again without, it reports no tokens."""

    def script(request):
        options = request.body.get("stream_options") or {}
        if options.get("include_usage"):
            return Fault(400, "Unknown field stream_options.x")
        return Answer("Done.", tokens=Tokens(input=40, output=30))

    async def test():
        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                assert (await door.ask(stream=True, stream_options={"x": 1})).status == 200
                (call,) = door.account.calls
                assert call.is_bound and call.input_tokens >= 40 and call.output_tokens >= 30

    run(test)


def test_a_disk_that_is_full_does_not_lose_the_count(monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("orvl.gateway.record.Record.keep", full)

    async def test():
        with ModelServer(lambda _: SAID) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                await door.ask()
                assert [call.output_tokens for call in door.account.calls] == [50]
                assert "No space left" in str(door.account.failure)

    run(test)


@pytest.mark.parametrize("error", [RecursionError, MemoryError, UnicodeError, AssertionError])
def test_a_reader_that_fails_does_not_lose_the_count(monkeypatch, error):
    def fails(*_: object) -> None:
        raise error

    monkeypatch.setattr("orvl.gateway.wire.openai.ChatReader.event", fails)
    monkeypatch.setattr("orvl.gateway.wire.format.ModelAnswer.redact", fails)

    async def test():
        with ModelServer(lambda _: SAID) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                for stream in (True, False):
                    await door.ask(stream=stream, max_tokens=70)
                assert [call.output_tokens for call in door.account.calls] == [70, 70]
                assert all(call.is_bound for call in door.account.calls)

    run(test)


def test_a_client_may_leave_at_any_byte():
    async def test():
        with ModelServer(lambda _: Answer("Hello.", tokens=Tokens(input=10, output=5))) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                body = json.dumps(body_of("openai", stream=True)).encode()
                head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {door.endpoint.key}\r\n"
                whole = f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body
                for cut in [*range(0, len(whole), 37), len(whole) - 1, len(whole), len(whole)]:
                    _, writer = await asyncio.open_connection("127.0.0.1", door.port)
                    writer.write(whole[:cut])
                    await writer.drain()
                    writer.close()
                # Two at once in one connection, and gone.
                _, writer = await asyncio.open_connection("127.0.0.1", door.port)
                writer.write(whole + whole)
                await writer.drain()
                writer.close()
                assert (await door.ask()).status == 200
                await door.account.settle(drain=True)
                assert len(door.account.calls) == door.account.begun
                exact = [call for call in door.account.calls if call.output_tokens and not call.is_bound]
                assert len(exact) == len(server.requests)

    run(test)


# -- what is not passed on

TWO_WAYS = {
    "a number that is too large for any": b'{"model":"m","messages":[],"temperature":1e999}',
    "a key twice": b'{"model":"m","model":"big","messages":[]}',
    "a key twice, escaped": b'{"model":"m","mod\\u0065l":"big","messages":[]}',
    "another case": b'{"model":"m","Model":"big","messages":[]}',
    "only another case": b'{"MODEL":"m","messages":[]}',
    "a nested key twice": b'{"model":"m","messages":[],"stream_options":{"include_usage":true,"include_usage":false}}',
    "no number": b'{"model":"m","messages":[],"temperature":NaN}',
    "infinite": b'{"model":"m","messages":[],"temperature":-Infinity}',
    "an endless number": b'{"model":"m","messages":[],"seed":' + b"9" * 6000 + b"}",
    "UTF-16": '{"model":"m","messages":[]}'.encode("utf-16"),
    "a mark first": b'\xef\xbb\xbf{"model":"m","messages":[]}',
    "no UTF-8": b'{"model":"m","messages":["\xff\xfe"]}',
    "two objects": b'{"model":"m","messages":[]}{"model":"big"}',
    "too deep": b'{"model":"m","messages":' + b"[" * 70 + b"]" * 70 + b"}",
    "a long model": b'{"model":"' + b"m" * 5000 + b'","messages":[]}',
    "a long tool": json.dumps(
        {"model": "m", "tools": [{"type": "function", "function": {"name": "t" * 300}}]}
    ).encode(),
    "many tools": json.dumps(
        {"model": "m", "tools": [{"type": "function", "function": {"name": str(n)}} for n in range(2100)]}
    ).encode(),
}
UNMETERED = [
    *(
        {"background": True},
        {"service_tier": "priority"},
        {"speed": "fast"},
        {"models": ["big"]},
        {"route": "fallback"},
    ),
    *(
        {"plugins": [{"id": "web"}]},
        {"web_search_options": {"x": 1}},
        {"fallbacks": ["big"]},
        {"prompt": {"id": "p"}},
        {"preset": "p"},
    ),
    *({"tools": [{"type": "web_search"}]}, {"tools": [{"type": "code_interpreter"}]}, {"mcp_servers": [{"url": "x"}]}),
    *(
        {"tools": [{"type": "web_search_20250305", "name": "w"}]},
        {"container": {"skills": []}},
        {"audio": {"voice": "a"}},
    ),
]


@pytest.mark.parametrize("name", TWO_WAYS)
def test_what_two_servers_could_read_differently_goes_nowhere(name):
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            heard = await door.post(f"{door.endpoint.url}/chat/completions", TWO_WAYS[name])
            assert heard.status in (400, 404) and heard.json["error"]["message"]
            assert host.requests == [] and door.account.calls == [] and sum(door.account.refused.values()) == 1

    run(test)


@pytest.mark.parametrize("protocol", PROTOCOLS[:3])
def test_what_cannot_be_metered_goes_nowhere(protocol):
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), protocol)
            for more in UNMETERED:
                heard = await door.ask(**more)
                assert heard.status == 400 and b"orvl" in heard.body, more
            assert host.requests == [] and door.account.refused["malformed request"] == len(UNMETERED)

    run(test)


def test_no_tool_within_a_tool_and_no_shell_runs_at_the_provider():
    hosted = [
        {"type": "namespace", "name": "n", "tools": [{"type": "web_search"}]},
        {"type": "shell", "environment": {"type": "container_auto"}},
        {"type": "shell", "environment": "remote"},
    ]

    async def test():
        said = response(json.dumps(FORMATS["responses"].whole(HI)).encode())
        async with upstream(saying(said)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "responses")
            for one in hosted:
                assert (await door.ask(tools=[one])).status == 400, one
            assert host.requests == []
            own = [{"type": "shell", "environment": {"type": "local"}}, {"type": "shell"}]
            assert (await door.ask(tools=own)).status == 200

    run(test)


def test_the_body_of_a_call_names_no_other_model_than_its_path():
    async def test():
        said = response(json.dumps(FORMATS["gemini"].whole(HI)).encode())
        async with upstream(saying(said)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "gemini")
            body = {**body_of("gemini"), "model": "models/big"}
            url = door.endpoint.url + path_of("gemini")
            assert (await door.post(url, json.dumps(body).encode())).status == 404 and host.requests == []
            assert (await door.post(url, json.dumps({**body, "model": "models/m"}).encode())).status == 200

    run(test)


def test_gemini_searches_nothing_at_the_provider():
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "gemini")
            for search in ({"googleSearch": {}}, {"codeExecution": {}}, {"functionDeclarations": [], "urlContext": {}}):
                assert (await door.ask(tools=[search])).status == 400
            assert host.requests == []

    run(test)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_another_model_is_refused_in_the_protocols_own_words(protocol):
    names = ["big", "m-70b", "m:online", "M", "vendor/m", "m-latest", "m "]

    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), protocol)
                for name in names if protocol != "gemini" else names[:-1]:
                    heard = await door.ask(model=name)
                    assert heard.status == 404 and "'m' alone" in heard.json["error"]["message"], name
                assert server.requests == [] and door.account.calls == []
                assert door.account.refused["another model"] >= len(names) - 1
                assert (await door.ask()).status == 200

    run(test)


def test_another_model_that_is_allowed_has_its_own_price_and_a_mark():
    async def test():
        with ModelServer(lambda _: Answer("x", tokens=Tokens(input=60, output=40))) as server:
            async with doors() as open_doors:
                prices = {"m": A_CENT_A_TOKEN, "big": type(A_CENT_A_TOKEN)(20_000, 20_000)}
                door = await open_doors.open(provider_at(server.url, prices=prices))
                door.account.may_use_others = True
                await door.ask()
                await door.ask(model="big")
                await door.account.settle(drain=True)
                assert [call.cost_usd for call in door.account.calls] == pytest.approx([1.0, 2.0])
                kinds = [[issue.kind for issue in call.findings] for call in door.account.calls]
                assert kinds == [[], ["agent asked for another model"]]

    run(test)


# -- what takes long holds up only whoever sent it


HOSTILE = {
    "references": json.dumps({**body_of("openai"), "tools": tool(doubling(60))}).encode(),
    "a pattern": json.dumps(
        {**body_of("openai"), "tools": tool({"properties": {"a": {"pattern": "^(a|aa|a?)+$"}}})}
    ).encode(),
    "parts that nothing has looked at": json.dumps({**body_of("openai"), "tools": tool(unevaluated(26))}).encode(),
    "many lists": b'{"model":"m","messages":[' + b"[]," * 2_000_000 + b"[]]}",
    "many objects": b'{"model":"m","messages":[' + b'{"a":{}},' * 500_000 + b"{}]}",
    "deep lists": b'{"model":"m","messages":[' + b"[" * 3_000_000 + b"]" * 3_000_000 + b"]}",
    "a long text": b'{"model":"m","messages":[{"role":"user","content":"' + b"\\u00e9" * 4_000_000 + b'"}]}',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_requests_do_not_hold_up_anybody_else(name):
    called = Reply("m", "Hi.", tool_calls=[ToolCall("t", {"a": "a" * 3000 + "!"})], tokens=TokenCounts(5, 0, 0, 6, 0))
    said = response(json.dumps(FORMATS["openai"].whole(called)).encode())

    async def test():
        async with upstream(saying(said)) as host, doors() as open_doors:
            hostile, honest = [await open_doors.open(provider_at(host.url)) for _ in range(2)]
            url = f"{hostile.endpoint.url}/chat/completions"
            assert (await honest.ask()).status == 200, "what is imported once is no stall"
            attack = asyncio.ensure_future(hostile.post(url, HOSTILE[name]))
            times = []
            async with stalls() as longest:
                while not attack.done() or len(times) < 5:
                    began = time.perf_counter()
                    assert (await honest.ask()).status == 200
                    times.append(time.perf_counter() - began)
                    await asyncio.sleep(0.05)
                await hostile.account.settle(drain=True)
            await attack
            assert longest[0] < 0.5, f"the loop stood still for {longest[0]:.2f} s"
            assert sorted(times)[len(times) // 2] < 1.0
            assert len(hostile.account.calls) + len(honest.account.calls) == len(host.requests)

    run(test)


def test_many_choices_for_many_parts_are_not_compared_in_orvls_own_process():
    choices = {"items": {"anyOf": [{"properties": {"a": {"const": number}}} for number in range(200)]}}
    size = len(json.dumps(choices))
    assert is_quick(choices, size, 100) and not is_quick(choices, size, 7000)
    assert is_quick({"properties": {"pattern": {"type": "string"}}}, 50, 7000), "a property may have any name"


def test_tools_in_tools_are_as_many_as_are_written():
    tools: list[dict] = [{"type": "function", "name": "f", "parameters": {"type": "object"}}]
    for depth in range(30):
        tools = [{"type": "namespace", "name": f"space{depth}", "tools": tools}]

    async def test():
        said = response(json.dumps(FORMATS["responses"].whole(HI)).encode())
        async with upstream(saying(said)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "responses")
            async with stalls() as longest:
                assert (await door.ask(tools=tools)).status == 200
            assert longest[0] < 0.5 and len(host.requests) == len(door.account.calls) == 1
        asked = FORMATS["responses"].route_to("m").read_request(body_of("responses", tools=tools))
        assert asked.tools["space0f"] == asked.tools["f"] == {"type": "object"} and len(asked.tools) < 100

    run(test)


TRICKLE = """
import socket, sys, threading
head = b"POST /v1/chat/completions HTTP/1.1\\r\\nHost: x\\r\\nAuthorization: Bearer " + sys.argv[2].encode()
def send(body):
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connection.sendall(head + b"\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n")
    while True:
        connection.sendall(body)
for _ in range(32):
    threading.Thread(target=send, args=(b"1\\r\\n \\r\\n" * 50_000,), daemon=True).start()
print("begun", flush=True)
threading.Event().wait()
"""


def test_bodies_in_chunks_of_a_byte_hold_up_nobody_else():
    """Each takes a byte's time to write, and a chunk's to read."""

    async def test():
        said = response(json.dumps(FORMATS["openai"].whole(HI)).encode())
        async with upstream(saying(said)) as host, doors() as open_doors:
            hostile, honest = [await open_doors.open(provider_at(host.url)) for _ in range(2)]
            assert (await honest.ask()).status == 200, "what is imported once is no stall"
            words = ["-c", TRICKLE, str(hostile.port), hostile.endpoint.key]
            attack = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=asyncio.subprocess.PIPE)
            try:
                assert attack.stdout and await attack.stdout.readline() == b"begun\n"
                async with stalls() as longest:
                    for _ in range(40):
                        assert (await honest.ask()).status == 200
                        await asyncio.sleep(0.02)
            finally:
                attack.kill()
                await attack.wait()
            assert longest[0] < 0.3, f"the loop stood still for {longest[0]:.2f} s"

    run(test)


def test_a_worker_that_is_late_is_killed_and_the_next_question_answered():
    async def test():
        worker = DeadlineWorker()
        try:
            assert await worker.call("json:loads", b"[1, 2]", seconds=20) == [1, 2]
            with pytest.raises(ChildFailed, match="did not answer within"):
                await worker.call(
                    "orvl.gateway.issues:tool_issue", json.dumps(doubling(60)).encode(), "{}", seconds=0.3
                )
            with pytest.raises(ChildFailed, match="JSONDecodeError"):
                await worker.call("json:loads", b"[", seconds=20)
            assert await worker.call("json:loads", b"{}", seconds=20) == {}
        finally:
            worker.close()

    run(test)


# -- upper bounds


def test_a_bound_is_never_less_than_what_may_be_charged():
    provider = provider_at("http://127.0.0.1:1")
    for format in FORMATS.values():
        route = format.route_to("m")
        plain = route.read_request(body_of(format.name))
        most = upper_bound(provider, plain, 1000)
        assert most.input > 1000 and most.output >= (100 if format.name == "anthropic" else 128_000)
    chat = FORMATS["openai"].route_to("m")
    both = chat.read_request(body_of("openai", max_tokens=9000, max_completion_tokens=1, n=4))
    assert upper_bound(provider, both, 10).output == 36_000
    kept = FORMATS["responses"].route_to("m").read_request(body_of("responses", previous_response_id="resp_1"))
    assert upper_bound(provider, kept, 10).input == 1_000_000


# -- time


def test_a_call_that_waits_beside_one_that_works_takes_no_time_off():
    async def test():
        seen: list[str] = []

        def script(request):
            seen.append(request.prompt_text)
            if "limited" in request.prompt_text and seen.count(request.prompt_text) == 1:
                return Fault(503, "Slow.", headers={"retry-after-ms": "600"})
            return Answer("x", first_byte=0.8 if "works" in request.prompt_text else 0.0)

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                await asyncio.gather(door.ask("works"), door.ask("limited"))
                assert door.account.seconds_held < 0.3
                alone = await open_doors.open(provider_at(server.url))
                seen.clear()
                await alone.ask("limited")
                assert alone.account.seconds_held >= 0.55

    run(test)


def test_the_parts_of_the_time_add_up(monkeypatch):
    now = [100.0]
    monkeypatch.setattr("orvl.gateway.clock.time.monotonic", lambda: now[0])
    clock = Clock()

    def after(seconds: float) -> None:
        now[0] += seconds

    clock.begin()
    after(1)  # own
    first, second = OpenCall(0.0), OpenCall(0.0)
    clock.open(first)
    after(2)  # waiting: it is held until it is sent
    clock.hold(first, is_held=False)
    after(3)  # model
    clock.open(second)
    after(4)  # model: one of two works
    clock.close(first, has_tools=True)
    after(5)  # waiting: the other is held
    clock.hold(second, is_held=False)
    clock.close(second, has_tools=True)
    after(6)  # tools
    third = OpenCall(0.0)
    clock.open(third)
    clock.hold(third, is_held=False)
    after(7)  # model
    clock.close(third, has_tools=False)
    after(8)  # own
    clock.end()
    after(100)  # between turns
    assert clock.seconds == {"own": 9, "waiting": 7, "model": 14, "tools": 6}


def test_a_stream_that_is_cut_counts_by_its_bound():
    async def test():
        parts = chunked(b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n', end=False)

        async def say(request: bytes, writer: asyncio.StreamWriter) -> None:
            for part in parts:
                writer.write(part)
            await writer.drain()
            writer.close()

        async with upstream(say) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            await door.ask(stream=True, max_tokens=77)
            (call,) = door.account.calls
            assert call.is_bound and call.output_tokens == 77 and call.trouble

    run(test)


def test_a_large_event_is_read_without_what_it_repeats():
    """An answer of the responses API repeats instructions and tools, and so is as large as the agent likes."""

    async def test():
        with ModelServer(lambda _: Answer("Done.", tokens=Tokens(input=900, output=30))) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), "responses")
                for stream in (True, False):
                    heard = await door.ask(stream=stream, instructions="x" * 600_000)
                    assert heard.status == 200 and len(heard.body) > 600_000
                counts = [(call.input_tokens, call.output_tokens, call.is_bound) for call in door.account.calls]
                assert counts == [(900, 30, False)] * 2

    run(test)


def test_files_that_take_for_ever_to_compare_are_not_compared(monkeypatch):
    monkeypatch.setattr("orvl.capture.diff.FILE_SECONDS", 3.0)
    # The one counts up, the other down: not two lines in a row are the same, which takes minutes to find out.
    old = "".join(f"l{number % 105}\n" for number in range(5000)).encode()
    new = "".join(f"l{-number % 105}\n" for number in range(120_000)).encode()
    easy = b"".join(b"line %d\n" % number for number in range(2500))
    blobs = {"old": old, "new": new, "easy": easy, "changed": easy.replace(b"line 7\n", b"line seven\n")}

    def entry(path: str, name: str) -> Entry:
        return Entry(path, "file", 0o644, size=len(blobs[name]), hash=name)

    before = [entry("a", "old"), entry("b", "easy")]
    text = unified(before, [entry("a", "new"), entry("b", "changed")], blobs.__getitem__)
    assert "# 5000 lines became 120000: takes too long to compare" in text
    assert "-line 7\n+line seven\n" in text


def test_an_answer_in_many_pieces_takes_linear_time():
    answer = ModelAnswer()
    used = time.process_time()
    for _ in range(300_000):
        answer.add_text("xyz")
    assert len(answer.text) == 900_000 and time.process_time() - used < 10

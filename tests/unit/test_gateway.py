"""The gateway as an adversary meets it: the door, what passes, and what does not."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import urllib.request

import aiohttp
import pytest

from helpers.gateways import (
    A_CENT_A_TOKEN,
    CANARY,
    PROTOCOLS,
    body_of,
    chunked,
    doors,
    key_header,
    path_of,
    provider_at,
    read,
    read_whole,
    response,
    saying,
    upstream,
    written,
)
from orvl.gateway.redact import Redactor
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.format import Reply
from orvl.project.settings import Limits
from orvl.testing import Answer, Fault, ModelServer, Tokens, ToolCall

SAID = Answer(
    "Grüße, 世界 🙂",
    reasoning="Let me think.",
    tool_calls=[ToolCall("write", {"path": "a.txt", "text": "né"}, id="call-1")],
    tokens=Tokens(input=1000, cached=300, cache_write=0, output=90, reasoning=40),
)


def told(protocol: str, *, stream: bool) -> bytes:
    """What a server of that protocol sends, if it reports usage."""
    reply = Reply(
        "some-model",
        SAID.text,
        reasoning=SAID.reasoning,
        tool_calls=SAID.tool_calls,
        tokens=SAID.tokens,
        usage="always",
    )
    return written(FORMATS[protocol], reply, stream=stream)


def usage_event(ends: bytes = b"\n\n") -> bytes:
    return b'data: {"id":"1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":6}}' + ends


# -- filters


def test_a_secret_never_passes_however_it_is_cut():
    made = random.Random(3)
    for _ in range(400):
        secret = "".join(made.choice("ab") for _ in range(made.randint(6, 12)))
        plain = "".join(made.choice("abc") for _ in range(made.randint(0, 60)))
        data = f"{plain}{secret}{plain[::-1]}{secret[:-1]}".encode()
        expected = data.replace(secret.encode(), b"[redacted]")
        redactor, out = Redactor(secret), b""
        place = 0
        while place < len(data):
            step = made.randint(1, 9)
            out += redactor.feed(data[place : place + step])
            place += step
        out += redactor.end()
        assert secret.encode() not in out
        assert out == expected


@pytest.mark.parametrize("size", [1, 2, 3, 7, 50, 10_000])
def test_a_secret_is_known_in_all_its_spellings(size):
    secret = 'sk-a/b+c==d"e'
    spellings = [
        secret,
        json.dumps(secret)[1:-1],
        secret.replace("/", "\\/"),
        secret.replace("+", "\\u002B").replace("=", "\\u003d"),
        "".join(f"\\u{ord(sign):04x}" for sign in secret),
        "".join(f"%{ord(sign):02X}" for sign in secret),
    ]
    data = "|".join([*spellings, "sk-a", "%73"]).encode()
    redactor = Redactor(secret)
    out = b"".join(redactor.feed(data[place : place + size]) for place in range(0, len(data), size)) + redactor.end()
    assert out == b"[redacted]|" * len(spellings) + b"sk-a|%73"
    assert [redactor.text(spelling) for spelling in spellings] == ["[redacted]"] * len(spellings)


# -- the door


def run(test) -> None:
    """Runs a test's coroutine; nothing may hang."""
    asyncio.run(asyncio.wait_for(test(), 60))


@pytest.mark.parametrize(("protocol", "stream"), [*((protocol, True) for protocol in PROTOCOLS), ("openai", False)])
def test_a_call_passes_and_only_the_real_key_reaches_the_provider(protocol, stream):
    async def test():
        with ModelServer([SAID], key=CANARY) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), protocol)
                own = {
                    **key_header(protocol, door.endpoint.key),
                    "cookie": "mine=1",
                    "proxy-authorization": "Basic mine",
                    "x-kept": "yes",
                }
                heard = await door.ask(stream=stream, headers=own)
            direct = told(protocol, stream=stream)
            asked = server.requests[0]
        assert heard.status == 200 and not heard.broken
        assert (read if stream else read_whole)(FORMATS[protocol], heard.body).text == SAID.text
        assert len(heard.body) > len(direct) // 2
        sent = json.dumps(dict(asked.headers))
        assert asked.headers["x-kept"] == "yes"
        assert CANARY in sent and door.endpoint.key not in sent and "mine" not in sent
        call = door.account.calls[0]
        assert (call.status, call.input_tokens, call.cached_tokens, call.output_tokens) == (200, 1000, 300, 90)
        assert call.tool_calls == 1 and call.stream is stream and call.trouble is None
        assert CANARY.encode() not in heard.body + door.recorded()

    run(test)


def test_the_agent_sees_the_servers_bytes_less_the_usage_that_it_did_not_ask_for():
    pieces = [
        b'data: {"choices":[{"index":0,"delta":{"content":"h\xc3\xa9"}}],  "odd" : 1}\r\n\r\n',
        b": ping\n\n",
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
    ]
    last = b"data: [DONE]\n\n"

    async def test():
        said = chunked(*pieces, usage_event(), last)
        async with upstream(saying(*said)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            silent = await door.ask(stream=True)
            asking = await door.ask(stream=True, stream_options={"include_usage": True, "x": 1})
            other = await door.ask(stream=True, stream_options={"x": 1})
            bodies = [json.loads(request.split(b"\r\n\r\n", 1)[1]) for request in host.requests]
        assert silent.body == other.body == b"".join([*pieces, last])
        assert asking.body == b"".join([*pieces, usage_event(), last])
        assert [body["stream_options"] for body in bodies] == [
            {"include_usage": True},
            {"include_usage": True, "x": 1},
            {"x": 1, "include_usage": True},
        ]
        assert [(call.input_tokens, call.output_tokens) for call in door.account.calls] == [(5, 6)] * 3

    run(test)


def test_a_body_reaches_the_provider_byte_for_byte():
    odd = b'{ "model" : "m","messages":[{"role":"user","content":"\\u00e9 \xc3\xa9 \\ud83d\\ude42"}], "n": 1.50 }\n'

    async def test():
        async with upstream(saying(response(b'{"choices": []}'))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            query = "?a=b%23c&x=%2B+&%6bey=stolen&key=stolen&api-version=2"
            await door.post(door.endpoint.url + "/chat/completions" + query, odd)
            head, body = host.requests[0].split(b"\r\n\r\n", 1)
        assert body == odd
        assert b"stolen" not in head
        assert head.startswith(b"POST /v1/chat/completions?a=b%23c&x=%2B+&api-version=2 HTTP/1.1")

    run(test)


def test_repeated_headers_all_pass_and_those_of_the_connection_do_not():
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "anthropic")
            lines = "anthropic-beta: one\r\nanthropic-beta: two\r\nConnection: keep-alive, x-hop\r\nx-hop: secret\r\n"
            await raw(door, f"POST /v1/messages HTTP/1.1\r\nHost: evil.example\r\nx-api-key: KEY\r\n{lines}", BODY)
            head = host.requests[0].split(b"\r\n\r\n")[0].decode().lower()
        assert "anthropic-beta: one" in head and "anthropic-beta: two" in head
        assert "x-hop" not in head and "evil.example" not in head

    run(test)


BODY = b'{"model":"m","messages":[{"role":"user","content":"x"}]}'
AUTH = "Authorization: Bearer KEY\r\nHost: x\r\n"


async def raw(door, head: str, body: bytes = b"", *, length: bool = True) -> bytes:
    """What the door says to bytes of our own; KEY stands for the run's key."""
    reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
    try:
        sized = f"Content-Length: {len(body)}\r\n" if length else ""
        writer.write(f"{head}{sized}\r\n".replace("KEY", door.endpoint.key).encode("latin-1") + body)
        answer = b""
        while b"\r\n\r\n" not in answer:
            piece = await asyncio.wait_for(reader.read(65536), 20)
            if not piece:
                break
            answer += piece
        return answer
    except ConnectionError:
        return b""
    finally:
        writer.close()


def status_of(answer: bytes) -> int:
    return int(answer.split()[1]) if answer else 0


CALL = "POST /v1/chat/completions HTTP/1.1\r\n"
WRONG_KEYS = {
    "none": "Host: x\r\n",
    "wrong": "Authorization: Bearer wrong\r\nHost: x\r\n",
    "the real one": f"Authorization: Bearer {CANARY}\r\nHost: x\r\n",
    "empty": "Authorization: Bearer \r\nHost: x\r\n",
    "nothing": "Authorization: \r\nHost: x\r\n",
    "cut": "Authorization: Bearer orvl-\r\nHost: x\r\n",
    "more": "Authorization: Bearer KEYx\r\nHost: x\r\n",
    "wrong first": f"Authorization: Bearer wrong\r\n{AUTH}",
    "cookie": "Cookie: key=KEY\r\nHost: x\r\n",
}


def test_only_the_runs_own_key_gets_in():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                other = await open_doors.open(provider_at(server.url))
                for name, headers in WRONG_KEYS.items():
                    for path in (CALL, "GET /v1/models HTTP/1.1\r\n", "POST /nothing HTTP/1.1\r\n"):
                        assert status_of(await raw(door, path + headers, BODY)) == 401, name
                stolen = await door.post(
                    f"{other.endpoint.url}/chat/completions", BODY, key_header("openai", door.endpoint.key)
                )
                assert stolen.status == 401 and "orvl" in stolen.json["error"]["message"]
                assert door.account.calls == other.account.calls == []
            assert server.requests == [] and server.others == []

    run(test)


@pytest.mark.parametrize(
    "line",
    [
        *("GET /v1/chat/completions", "PUT /v1/chat/completions", "DELETE /v1/models/m", "POST /v1/files"),
        *("POST /v1/../v1/chat/completions", "POST //v1/chat/completions", "POST /v1//chat/completions"),
        *("POST /v1/chat/completions/", "POST /x/v1/chat/completions", "GET /v1/models/a%2f%2e%2e%2fb"),
        *("GET /v1/models/../files", "GET /v1/models/a%3fx=1", "GET /v1/models/%252e%252e%252f", "GET /v1/models/x%0a"),
        *("CONNECT evil.example:443", "OPTIONS *", "GET http://evil.example/v1/files", "POST /v1/batches"),
        *("GET /v1/responses/resp_1", "POST /v1beta/models/m:batchGenerateContent", "POST /v1/embeddings"),
    ],
)
def test_other_paths_and_methods_are_refused(line):
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            answer = await raw(door, f"{line} HTTP/1.1\r\n{AUTH}", BODY if line.startswith("P") else b"")
            assert status_of(answer) in (400, 404), answer
            assert host.requests == []

    run(test)


SMUGGLED = {
    "two lengths": (f"{CALL}{AUTH}Content-Length: 56\r\nContent-Length: 5\r\n", BODY),
    "length and chunks": (
        f"{CALL}{AUTH}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        b"38\r\n" + BODY + b"\r\n0\r\n\r\n",
    ),
    "unknown coding": (f"{CALL}{AUTH}Transfer-Encoding: xchunked\r\n", BODY),
    "negative length": (f"{CALL}{AUTH}Content-Length: -5\r\n", BODY),
    "signed length": (f"{CALL}{AUTH}Content-Length: +56\r\n", BODY),
    "space before colon": (f"{CALL}{AUTH}Content-Length : 56\r\n", BODY),
    "folded header": (f"{CALL}{AUTH}X: a\r\n b\r\nContent-Length: 56\r\n", BODY),
    "huge header": (f"{CALL}{AUTH}X: {'a' * 200_000}\r\nContent-Length: 56\r\n", BODY),
    "many headers": (CALL + AUTH + "".join(f"X{n}: a\r\n" for n in range(20_000)) + "Content-Length: 56\r\n", BODY),
    "zero byte": (f"POST /v1/chat/completions\0 HTTP/1.1\r\n{AUTH}Content-Length: 56\r\n", BODY),
    "bad chunk": (f"{CALL}{AUTH}Transfer-Encoding: chunked\r\n", b"zz\r\n" + BODY),
    "no gzip": (f"{CALL}{AUTH}Content-Encoding: gzip\r\nContent-Length: 56\r\n", BODY),
    "no JSON": (f"{CALL}{AUTH}Content-Length: 3\r\n", b"abc"),
    "no object": (f"{CALL}{AUTH}Content-Length: 2\r\n", b"[]"),
    "too deep": (f"{CALL}{AUTH}Content-Length: 600000\r\n", b'{"a":' * 120_000),
}


@pytest.mark.parametrize("name", SMUGGLED)
def test_requests_that_two_servers_could_read_differently_go_nowhere(name):
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            head, body = SMUGGLED[name]
            assert status_of(await raw(door, head, body, length=False)) == 400
            assert host.requests == [] and door.account.calls == []
            assert (await door.ask()).status == 200, "the door must stay open"

    run(test)


def test_an_absolute_target_goes_to_the_provider_all_the_same():
    async def test():
        async with upstream(saying(response(b"{}"))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            line = "POST http://169.254.169.254/v1/chat/completions HTTP/1.1\r\n"
            assert status_of(await raw(door, line + AUTH, BODY)) == 200
            assert b"169.254" not in host.requests[0]

    run(test)


def test_a_client_that_waits_for_the_word_gets_it():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                head = f"{CALL}{AUTH}Expect: 100-continue\r\nContent-Length: {len(BODY)}\r\n\r\n"
                reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
                writer.write(head.replace("KEY", door.endpoint.key).encode())
                assert b"100 Continue" in await asyncio.wait_for(reader.readline(), 10)
                writer.write(BODY)
                assert b"200 OK" in await reader.readuntil(b"200 OK")
                writer.close()

    run(test)


def test_a_packed_body_is_understood():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                own = {**key_header("openai", door.endpoint.key), "content-encoding": "gzip"}
                heard = await door.post(f"{door.endpoint.url}/chat/completions", gzip.compress(BODY), own)
                assert heard.status == 200 and heard.json["choices"][0]["message"]["content"] == "Done."
            assert server.requests[0].model == "m"

    run(test)


def test_a_hundred_megabytes_pass_and_more_than_the_bound_do_not():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                assert (await door.ask("x" * (100 << 20))).status == 200
                assert (await door.ask("x" * (129 << 20))).status == 413
            assert len(server.requests) == 1 and len(server.requests[0].prompt_text) == 100 << 20

    run(test)


def test_agents_that_use_plain_urllib_get_through():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))

                def ask() -> bytes:
                    own = key_header("openai", door.endpoint.key)
                    request = urllib.request.Request(f"{door.endpoint.url}/chat/completions", BODY, own)
                    with urllib.request.urlopen(request, timeout=20) as answer:
                        return answer.read()

                assert b"Done." in await asyncio.to_thread(ask)

    run(test)


# -- streams


def test_the_first_piece_arrives_before_the_second_is_sent():
    async def test():
        sent = []

        async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
            for place, part in enumerate(parts):
                writer.write(part)
                await writer.drain()
                if place == 1:
                    await asyncio.wait_for(seen.wait(), 20)
                sent.append(place)

        seen = asyncio.Event()
        first = b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n'
        parts = chunked(
            first, b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n', b"data: [DONE]\n\n"
        )
        async with upstream(say) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            own = key_header("openai", door.endpoint.key)
            url = f"{door.endpoint.url}/chat/completions"
            async with door.client.post(url, json=body_of("openai", stream=True), headers=own) as answer:
                assert await answer.content.readany() == first
                assert sent == [0]
                seen.set()
                assert (await answer.read()).endswith(b"[DONE]\n\n")

    run(test)


@pytest.mark.parametrize("stream", [False, True])
def test_a_server_that_goes_away_breaks_off_the_agents_answer_too(stream):
    async def test():
        with ModelServer(lambda _: Fault.cut(after=2)) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), "anthropic")
                heard = await door.ask(stream=stream)
                assert heard.broken and heard.status == 200
                assert bool(heard.body) is stream, "a part of a body may have a part of the key"
                call = door.account.calls[0]
                assert call.trouble is not None and "cut" in call.trouble
                assert door.account.last_failure is not None and door.account.failure is None
                assert len(server.requests) == 1, "what has begun cannot be tried again"
                await door.ask(stream=stream)
                await door.ask(stream=stream)
                await until(door.account.aborted.is_set)
                assert door.account.failure is not None
                assert (await door.ask(stream=stream)).status == 403
            assert len(server.requests) == 4, "the last is orvl's own"

    run(test)


def test_a_client_that_leaves_frees_all_that_it_held(monkeypatch):
    monkeypatch.setattr("orvl.gateway.account.DRAIN_SECONDS", 0.5)

    async def test():
        async with doors(budget=1000.0) as open_doors:
            with ModelServer(lambda _: Answer("x" * 3000, between=0.05, pieces=400)) as server:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN}, concurrency=2)
                door = await open_doors.open(provider, limits=Limits(cost=1000))
                tasks = [asyncio.ensure_future(door.ask(stream=True, max_tokens=10)) for _ in range(6)]
                await until(lambda: server.open == 2)
                for task in tasks:
                    task.cancel()
                await asyncio.gather(*tasks, return_exceptions=True)
                await until(lambda: len(door.account.calls) == 6 and server.open == 0)
                assert not door.account.open_calls
                assert abs(door.account.budget.reserved) < 1e-9 and abs(open_doors.gateway.budget.reserved) < 1e-9
                began = [call for call in door.account.calls if call.seconds]
                assert len(began) == 2
                assert open_doors.gateway.budget.spent > 0, "what an agent did not wait for is paid all the same"
            with ModelServer() as server:
                door = await open_doors.open(provider_at(server.url, prices={"m": A_CENT_A_TOKEN}, concurrency=2))
                assert [one.status for one in await asyncio.gather(*(door.ask() for _ in range(4)))] == [200] * 4

    run(test)


async def until(condition, seconds: float = 20.0) -> None:
    """Waits for what must come true."""
    async with asyncio.timeout(seconds):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.parametrize("steps", range(6))
def test_a_run_that_ends_while_its_door_opens_leaves_the_next_door_open(steps):
    async def test():
        async with doors() as open_doors:
            door = await open_doors.open(provider_at("http://127.0.0.1:9"))
            async with door.gateway.door(door.account, has_walls=True) as ((ports, _), _):
                (serve,) = ports.values()
                with socket.create_server(("127.0.0.1", 0)) as ends_at_once:
                    number = ends_at_once.fileno()
                    serving = asyncio.ensure_future(serve(ends_at_once))
                    for _ in range(steps):
                        await asyncio.sleep(0)
                    serving.cancel()
                    await asyncio.wait([serving])
                with socket.create_server(("127.0.0.1", 0)) as next_one:
                    assert next_one.fileno() == number, "it takes the place of the one before"
                    serving = asyncio.ensure_future(serve(next_one))
                    reader, writer = await asyncio.open_connection(*next_one.getsockname())
                    writer.write(b"GET / HTTP/1.1\r\nHost: orvl\r\n\r\n")
                    assert await asyncio.wait_for(reader.readline(), 10) == b"HTTP/1.1 200 OK\r\n"
                    writer.close()
                    serving.cancel()
                    await asyncio.wait([serving])

    run(test)


def test_a_slow_body_holds_up_nobody_else():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url, concurrency=1))
                _, writer = await asyncio.open_connection("127.0.0.1", door.port)
                head = f"{CALL}{AUTH}Content-Length: 1000\r\n\r\n".replace("KEY", door.endpoint.key)
                writer.write(head.encode() + b'{"model": "m"')
                await writer.drain()
                assert (await door.ask()).status == 200
                writer.close()
                assert len(door.account.calls) == 1

    run(test)


def test_an_agent_with_a_thousand_connections_holds_up_only_itself():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door, other = [await open_doors.open(provider_at(server.url)) for _ in range(2)]
                opened = [await asyncio.open_connection("127.0.0.1", door.port) for _ in range(400)]

                async def is_closed(reader: asyncio.StreamReader) -> bool:
                    try:
                        return await asyncio.wait_for(reader.read(1), 2) == b""
                    except TimeoutError:
                        return False
                    except ConnectionError:
                        return True

                closed = sum(await asyncio.gather(*(is_closed(reader) for reader, _ in opened)))
                assert 100 <= closed < 400, "so many are taken, and no more"
                assert (await other.ask()).status == 200
                for _, writer in opened:
                    writer.close()
                for _ in range(100):
                    try:
                        assert (await door.ask()).status == 200
                        break
                    except aiohttp.ClientError:
                        await asyncio.sleep(0.05)
                else:
                    raise AssertionError("the door stays shut")

    run(test)


def test_bodies_together_are_bounded_until_their_calls_are_over(monkeypatch):
    monkeypatch.setattr("orvl.gateway.proxy.LONGEST_TOGETHER", 1 << 20)

    async def test():
        with ModelServer(lambda _: Answer("x", first_byte=2.0)) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                held = [asyncio.ensure_future(door.ask("x" * 400_000)) for _ in range(2)]
                await until(lambda: server.open == 2)
                assert (await door.ask("x" * 400_000)).status == 413
                assert {one.status for one in await asyncio.gather(*held)} == {200}
                assert (await door.ask("x" * 400_000)).status == 200

    run(test)


def test_gemini_without_events_is_metered_too():
    async def test():
        with ModelServer([SAID]) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), "gemini")
                heard = await door.ask(path="/v1beta/models/m:streamGenerateContent")
                assert isinstance(heard.json, list)
                call = door.account.calls[0]
                assert (call.input_tokens, call.output_tokens, call.tool_calls) == (1000, 90, 1)

    run(test)


def test_questions_and_lists_pass_in_full_and_are_no_calls():
    names = tuple(f"model-{number:05d}" for number in range(20_000))

    async def test():
        with ModelServer(models=names, key=CANARY, shred=4096) as server:
            async with doors() as open_doors:
                for protocol in ("openai", "anthropic", "gemini"):
                    door = await open_doors.open(provider_at(server.url), protocol)
                    own = key_header(protocol, door.endpoint.key)
                    path = "/v1/models" if protocol != "gemini" else "/v1beta/models"
                    async with door.client.get(door.plain + path, headers=own) as answer:
                        assert answer.status == 200 and names[-1] in await answer.text()
                    assert door.account.calls == [] and door.account.begun == 0
                door = await open_doors.open(provider_at(server.url), "anthropic")
                heard = await door.post(f"{door.plain}/v1/messages/count_tokens", BODY)
                assert heard.status == 200 and heard.json["input_tokens"] > 0

    run(test)


# -- secrets


@pytest.mark.parametrize("key", [CANARY, "sk/can+ary=0123456789"])
@pytest.mark.parametrize("status", ["200 OK", "401 Unauthorized", "500 Oops", "302 Found"])
def test_a_provider_that_echoes_the_key_tells_it_to_nobody(status, key, monkeypatch):
    monkeypatch.setattr("orvl.gateway.retry.BACK_OFF", 0.01)
    plain = json.dumps(
        {"error": {"message": f"Bad key {key}."}, "choices": [{"message": {"content": key}}]}, ensure_ascii=False
    )
    forms = [plain, plain.replace("/", "\\/"), json.dumps({"error": {"message": f"Bad {key}"}})]

    async def test():
        for form in forms:
            body = form.encode()
            place = body.index(key[:2].encode()) + 3 if key[:2].encode() in body else 20
            head = f"HTTP/1.1 {status}\r\nX-Echo: {key}\r\nLocation: http://127.0.0.1:1/x\r\n"
            kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
            said = saying((head + kind).encode(), body[:place], 0.05, body[place : place + 5], 0.05, body[place + 5 :])
            async with upstream(said) as host, doors(key=key) as open_doors:
                door = await open_doors.open(provider_at(host.url))
                heard = await door.ask()
                seen = heard.body.decode() + json.dumps(heard.headers) + str(door.account.failure)
                seen += json.dumps(door.account.take_steps()) + door.recorded().decode()
                assert key not in seen and key not in seen.replace("\\/", "/"), form
                assert "[redacted]" in seen

    run(test)


def test_half_a_key_does_not_pass_in_a_list_of_models():
    async def test():
        body = json.dumps({"data": [CANARY]}).encode()
        place = body.index(CANARY.encode()) + 12
        said = chunked(body[:place], body[place:], kind="application/json")
        async with upstream(saying(*said[:2], 0.1, *said[2:])) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            own = key_header("openai", door.endpoint.key)
            async with door.client.get(f"{door.endpoint.url}/models", headers=own) as answer:
                text = await answer.text()
        assert text == json.dumps({"data": ["[redacted]"]})

    run(test)


def test_the_users_netrc_is_nobodys_business(monkeypatch, tmp_path):
    netrc = tmp_path / "netrc"
    netrc.write_text("default login anne password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))

    async def test():
        for key in (CANARY, None):
            async with upstream(saying(response(b"{}"))) as host, doors(key=key) as open_doors:
                door = await open_doors.open(provider_at(host.url))
                assert (await door.ask()).status == 200
                assert (b"Bearer " + CANARY.encode() in host.requests[0]) is (key is not None)
                assert b"Basic" not in host.requests[0]

    run(test)


def test_redirects_are_not_followed():
    async def test():
        async with upstream(saying(response(b"{}"))) as other, doors() as open_doors:
            moved = response(b"", "307 Temporary Redirect", "text/plain", f"Location: {other.url}/v1/chat/completions")
            async with upstream(saying(moved)) as host:
                door = await open_doors.open(provider_at(host.url))
                await door.ask()
                own = key_header("openai", door.endpoint.key)
                async with door.client.get(f"{door.endpoint.url}/models", headers=own, allow_redirects=False) as answer:
                    assert answer.status == 307
                assert other.requests == []
                assert door.account.failure is not None, "a provider that moved is no failure of the agent's"

    run(test)


# -- what a call's notes say


def test_a_call_is_closed_whatever_the_model_and_the_agent_wrote():
    """Schemas and arguments come from outside: none may keep a call from being counted."""
    schemas = [
        {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?=(a+)+$)x"}}},
        *({"$ref": "http://127.0.0.1:1/x"}, {"type": "nosuch"}, {"allOf": [{"$ref": "#"}]}, {"pattern": "("}),
        *(True, False, [], 3, None, {"type": "object", "properties": {"a": {"$ref": "#"}}}),
    ]
    deep = '{"a":' * 300 + "1" + "}" * 300
    arguments = [
        '{"a": "\\ud800"}',
        deep,
        "{",
        "",
        "NaN",
        '{"a": 1e999}',
        "[" * 5000,
        '"x"',
        '{"a":"' + "a" * 3000 + '!"}',
    ]

    async def test():
        script = iter(arguments * len(schemas))
        with ModelServer(lambda _: Answer(tool_calls=[ToolCall("t", next(script))])) as server:
            async with doors(budget=1e9) as open_doors:
                for schema in schemas:
                    provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                    door = await open_doors.open(provider, limits=Limits(cost=1e6))
                    tools = [{"type": "function", "function": {"name": "t", "parameters": schema}}]
                    for _ in arguments:
                        assert (await door.ask(tools=tools, max_tokens=10)).status == 200
                    account = door.account
                    assert len(account.calls) == len(arguments) and not account.open_calls
                    assert (
                        abs(account.budget.reserved) < 1e-6 and abs(account.budget.spent - 11 * len(arguments)) < 1e-6
                    )

    run(test)


def test_malformed_requests_are_the_providers_to_refuse():
    odd = {
        "openai": {"model": "m", "messages": 3, "tools": [{"function": {"name": [1]}}, 5], "max_tokens": {}},
        "responses": {"model": "m", "input": 5, "tools": [{"type": "function", "name": []}, None]},
        "anthropic": {"model": "m", "messages": {}, "tools": [{"name": {"a": 1}}]},
        "gemini": {"contents": {}, "tools": [{"functionDeclarations": [{"x": 1}, 3]}], "generationConfig": []},
    }

    async def test():
        async with (
            upstream(saying(response(b'{"error": {"message": "no"}}', "400 Bad Request"))) as host,
            doors() as open_doors,
        ):
            for protocol, body in odd.items():
                door = await open_doors.open(provider_at(host.url), protocol)
                heard = await door.post(door.endpoint.url + path_of(protocol), json.dumps(body).encode())
                assert heard.status == 400 and heard.json == {"error": {"message": "no"}}
                assert door.account.failure is None and door.account.last_failure is None
            assert len(host.requests) == 4

    run(test)


def test_a_tool_that_was_not_offered_is_noted():
    async def test():
        with ModelServer(
            [Answer(tool_calls=[ToolCall("delete", {})]), Answer(tool_calls=[ToolCall("t", {"n": "x"})])]
        ) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
                tools = [{"type": "function", "function": {"name": "t", "parameters": schema}}]
                door.account.may_use_others = True
                await door.ask(tools=tools)
                await door.ask(tools=tools, model="other")
                await door.account.settle(drain=True)
                kinds = [[finding.kind for finding in call.findings] for call in door.account.calls]
        assert kinds == [["unknown tool"], ["agent asked for another model", "off the schema"]]

    run(test)


def test_an_event_stream_under_another_name_is_metered():
    data = told("openai", stream=True)

    async def test():
        for kind in ("text/plain", "application/octet-stream"):
            async with upstream(saying(response(data, kind=kind))) as host, doors() as open_doors:
                door = await open_doors.open(provider_at(host.url))
                heard = await door.ask(stream=True)
                assert heard.body.endswith(b"[DONE]\n\n")
                assert door.account.calls[0].input_tokens == 1000, kind

    run(test)


def test_what_is_no_answer_is_the_providers_failure(monkeypatch):
    monkeypatch.setattr("orvl.gateway.retry.BACK_OFF", 0.01)

    async def test():
        page = response(b"<html>Please log in.</html>", kind="text/html")
        for stream in (False, True):
            async with upstream(saying(page)) as host, doors() as open_doors:
                door = await open_doors.open(provider_at(host.url))
                await door.ask(stream=stream)
                assert door.account.failure or door.account.last_failure

    run(test)

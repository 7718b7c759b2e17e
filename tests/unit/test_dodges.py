"""Ways past the account: other spellings, other words for more output, headers, queries, and counts that are none."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from contextlib import suppress

import pytest
from test_gateway import run, until
from test_metering import stalls

from helpers.gateways import (
    A_CENT_A_TOKEN,
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
from orvl.gateway.limits import MOST_OF_A_RUN, Slots
from orvl.gateway.metering import upper_bound
from orvl.gateway.request import shortened
from orvl.gateway.wire import FORMATS
from orvl.gateway.wire.sse import event
from orvl.prices import Price
from orvl.project.settings import Limits
from orvl.testing import Answer, Fault, ModelServer, Tokens

RICH = Limits(cost=1e9, calls=100_000)
CHAT = response(
    json.dumps({"choices": [{"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}]}).encode()
)


# -- requests that a provider may read in another way

OTHER_SPELLINGS = [
    *({"N": 8}, {"Max_Tokens": 9}, {"maxTokens": 9}, {"BACKGROUND": True}, {"Service_Tier": "priority"}),
    *({"stream": "true"}, {"stream": 1.5}, {"n": "8"}, {"n": True}, {"n": [8]}, {"n": -1}, {"best_of": "9"}),
    *({"Stream_Options": {}}, {"stream_options": {"Include_Usage": False}}, {"model ": "big"}, {"mo-del": "big"}),
    {"stream_options": {"include_usage": True, "includeUsage": False}},
]


@pytest.mark.parametrize("more", OTHER_SPELLINGS, ids=str)
def test_another_spelling_of_what_the_gateway_heeds_goes_nowhere(more):
    async def test():
        async with upstream(saying(CHAT)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            body = {"model": "m", "messages": [], **more}
            heard = await door.post(f"{door.endpoint.url}/chat/completions", json.dumps(body).encode())
            assert heard.status == 400 and host.requests == [] and door.account.refused["malformed request"] == 1

    run(test)


@pytest.mark.parametrize(
    ("more", "least"),
    [
        ({"max_tokens": 5, "n_predict": 7000}, 7000),
        ({"max_tokens": 5, "max_new_tokens": 7000}, 7000),
        ({"max_tokens": 5, "max_completion_tokens": "7000"}, 100_000),
        ({"max_tokens": 5, "max_completion_tokens": -1}, 100_000),
        ({"max_tokens": -1}, 100_000),
        ({"max_tokens": 5, "reasoning": {"max_tokens": 7000}}, 7000),
        ({"max_tokens": 5, "options": {"num_predict": 7000}}, 7000),
        ({"max_tokens": 5, "n": 7.5}, 40),
    ],
    ids=str,
)
def test_no_word_for_more_output_is_missed_in_the_bound(more, least):
    request = FORMATS["openai"].route_to("m").read_request(body_of("openai", **more))
    assert upper_bound(provider_at("http://127.0.0.1:9"), request, 10).output >= least


STEERING = [
    *("X-Model", "x-litellm-model", "Helicone-Model-Override", "X-Portkey-Config", "X-Api-Key-2", "If-None-Match"),
    *("Range", "Prefer", "X-HTTP-Method-Override", "Openai-Organization", "X-Forwarded-Host", "X-Fallback", "Cookie"),
]


def test_no_header_and_no_query_steers_a_call():
    async def test():
        async with upstream(saying(CHAT)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            odd = dict.fromkeys(STEERING, "big") | {"Content-Type": "application/json; charset=utf-7", "X-Own": "1"}
            own = {**key_header("openai", door.endpoint.key), **odd}
            url = f"{door.endpoint.url}/chat/completions?model=big&fields=choices&%6dodel=x&access_token=1&beta=true"
            assert (await door.post(url, json.dumps(body_of("openai")).encode(), own)).status == 200
            head = host.requests[0].split(b"\r\n\r\n")[0].decode()
        assert "big" not in head and head.startswith("POST /v1/chat/completions?beta=true ")
        assert "content-type: application/json\r\n" in head.lower() and "x-own: 1" in head.lower()

    run(test)


def test_a_header_that_cannot_be_written_loses_nobody_the_call():
    async def test():
        async with upstream(saying(CHAT)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            body = json.dumps(body_of("openai")).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {door.endpoint.key}\r\n"
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port)
            writer.write(head.encode() + b"X-Odd: \xff\xfe\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            assert b"200" in await reader.readline()
            writer.close()
            assert len(host.requests) == len(door.account.calls) == 1 and door.account.failure is None

    run(test)


# -- answers whose count is none

SILENT = {
    "no usage": {},
    "words": {"prompt_tokens": "7", "completion_tokens": "5"},
    "none of the output": {"prompt_tokens": 7},
    "nothing for some text": {"prompt_tokens": 7, "completion_tokens": 0},
    "less than nothing": {"prompt_tokens": 7, "completion_tokens": -5},
    "true": {"prompt_tokens": True, "completion_tokens": True},
    "a list": {"prompt_tokens": [7], "completion_tokens": [5]},
}


@pytest.mark.parametrize("usage", SILENT.values(), ids=SILENT)
def test_a_provider_that_does_not_tell_the_truth_is_counted_by_the_bound(usage):
    """What a model has thought is not in its answer, so the answer's length says nothing."""
    choice = {"index": 0, "message": {"content": "Hi."}, "finish_reason": "stop"}
    said = response(json.dumps({"choices": [choice], "usage": usage}).encode())

    async def test():
        async with upstream(saying(said)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            assert (await door.ask(max_tokens=9000, n=2)).status == 200
            (call,) = door.account.calls
            assert call.is_bound and call.output_tokens == 18_000 and call.input_tokens >= 7

    run(test)


def test_the_count_at_the_beginning_of_a_stream_is_not_the_last():
    started = {"model": "m", "usage": {"input_tokens": 9, "output_tokens": 1}}
    block = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello."}}
    parts = [
        event({"type": "message_start", "message": started}, "message_start"),
        event({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        event(block),
        event({"type": "message_delta", "delta": {"stop_reason": "end_turn"}}),
        event({"type": "message_stop"}),
    ]

    async def test():
        async with upstream(saying(*chunked(*parts))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "anthropic")
            assert (await door.ask(stream=True, max_tokens=800)).status == 200
            (call,) = door.account.calls
            assert call.is_bound and (call.input_tokens, call.output_tokens) == (9, 800)

    run(test)


def test_who_works_for_a_while_and_hangs_up_may_have_charged():
    async def test():
        async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(1.2 if len(host.requests) == 1 else 0)
            if len(host.requests) < 3:
                writer.close()
                return
            writer.write(CHAT)

        async with upstream(say) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            assert (await door.ask(max_tokens=70)).status == 200
            (call,) = door.account.calls
            assert len(host.requests) == 3 and call.tries == 3 and call.output_tokens == 140 and call.is_bound

    run(test)


# -- a budget holds for each try


@pytest.mark.parametrize("runs", [1, 6])
def test_a_call_that_is_tried_again_and_again_passes_the_budget_by_one_try(runs, monkeypatch):
    """Each try is answered, charged by the provider, and broken in a way that makes orvl try again."""
    monkeypatch.setattr("orvl.gateway.retry.AT_ONCE", 0.0)
    monkeypatch.setattr("orvl.gateway.retry.BACK_OFF", 0.01)
    a_try = 0.01 * 100

    async def test():
        async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
            await asyncio.sleep(0.02)
            writer.close()

        async with upstream(say) as host, doors(budget=2.5) as open_doors:
            provider = provider_at(host.url, prices={"m": A_CENT_A_TOKEN})
            opened = [await open_doors.open(provider, limits=RICH) for _ in range(runs)]
            await asyncio.gather(*(door.ask(max_tokens=100) for door in opened))
            budget = open_doors.gateway.budget
            largest = max(call.cost_usd or 0 for door in opened for call in (*door.account.calls, *door.account.probes))
            assert len(host.requests) * a_try <= budget.spent + 1e-9
            assert budget.spent <= 2.5 + largest and budget.spent < 2.5 + 13 and budget.out == 0
            assert all(door.account.over_budget for door in opened)

    run(test)


def test_questions_of_orvls_own_are_in_the_budget_too():
    """All calls fail at once, and each run asks the provider itself, at a price."""
    said = [0]

    async def test():
        def script(request):
            if "Say OK" not in json.dumps(request.body):
                return Fault(401, "No.")
            said[0] += 1
            return Answer("OK", tokens=Tokens(input=50, output=5), first_byte=0.02)

        with ModelServer(script) as server:
            async with doors(budget=1.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                opened = [await open_doors.open(provider, limits=RICH) for _ in range(8)]
                await asyncio.gather(*(door.ask(max_tokens=5) for door in opened))
                assert open_doors.gateway.budget.spent == pytest.approx(said[0] * 0.55) and said[0] == 2
                assert open_doors.gateway.budget.out == 0

    run(test)


# -- one run's many calls


def test_a_run_that_asks_for_hundreds_waits_behind_one_that_asks_for_its_first():
    async def test():
        slots, order = Slots(2), list[str]()

        async def call(owner: str) -> None:
            async with slots.one(owner):
                order.append(owner)
                await asyncio.sleep(0.01)

        flood = [asyncio.ensure_future(call("flood")) for _ in range(100)]
        await asyncio.sleep(0)
        honest = [asyncio.ensure_future(call("honest")) for _ in range(3)]
        flood[50].cancel()
        await asyncio.gather(*flood, *honest, return_exceptions=True)
        assert order.index("honest") <= 3 and max(place for place, one in enumerate(order) if one == "honest") < 12
        assert len(order) == 102 and not slots._waiting and not slots._held and slots._free == 2

    run(test)


def test_no_run_has_more_than_its_most_with_a_provider():
    async def test():
        with ModelServer(lambda _: Answer("x", first_byte=0.2)) as server:
            async with doors() as open_doors:
                door, honest = [await open_doors.open(provider_at(server.url)) for _ in range(2)]
                flood = [asyncio.ensure_future(door.ask()) for _ in range(90)]
                await until(lambda: server.open == MOST_OF_A_RUN)
                began = time.perf_counter()
                assert (await honest.ask()).status == 200 and time.perf_counter() - began < 5
                await asyncio.gather(*flood)
                assert server.most_at_once <= MOST_OF_A_RUN + 1 and len(door.account.calls) == 90

    run(test)


def test_requests_that_are_refused_have_an_end_too():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), limits=Limits(calls=20))
                own = key_header("openai", door.endpoint.key)
                for number in range(7):
                    await door.ask(model="big")
                    await door.post(f"{door.plain}/v1/embeddings", b"{}", own)
                    await door.post(f"{door.endpoint.url}/chat/completions", b"{", own)
                    assert door.account.aborted.is_set() is (number == 6)
                assert "more than 20 requests that orvl refused" in door.account.limit_hit
                assert (await door.ask()).status == 403 and server.requests == []

    run(test)


def test_free_requests_have_an_end_too():
    async def test():
        async with upstream(saying(response(b'{"input_tokens": 5}'))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "anthropic", limits=Limits(calls=10))
            url = f"{door.plain}/v1/messages/count_tokens"
            heard = await asyncio.gather(*(door.post(url, b"{}") for _ in range(30)))
            assert [one.status for one in heard].count(200) == len(host.requests) == 10
            assert (await door.ask()).status == 200, "a call is another matter"

    run(test)


def test_an_agent_that_does_not_read_holds_up_nobody(monkeypatch):
    monkeypatch.setattr("orvl.gateway.agent_call.PATIENCE", 0.5)
    lot = [event({"choices": [{"index": 0, "delta": {"content": "x" * 60_000}}]}) for _ in range(120)]
    usage = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 4}})

    async def test():
        said = chunked(*lot, event({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}), usage)
        async with upstream(saying(*said)) as host, doors() as open_doors:
            provider = provider_at(host.url, concurrency=1)
            lazy, honest = [await open_doors.open(provider) for _ in range(2)]
            body = json.dumps(body_of("openai", stream=True)).encode()
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {lazy.endpoint.key}\r\n"
            _, writer = await asyncio.open_connection("127.0.0.1", lazy.port, limit=1 << 10)
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            await until(lambda: len(host.requests) == 1)
            assert (await honest.ask(stream=True)).status == 200
            await until(lambda: len(lazy.account.calls) == 1)
            (call,) = lazy.account.calls
            assert call.left and (call.input_tokens, call.output_tokens, call.is_bound) == (3, 4, False)
            writer.close()

    run(test)


# -- whose failure it is


def test_a_protocol_that_the_run_was_not_given_is_no_excuse():
    """The provider serves the model in one of its protocols only; the agent calls it in the other."""

    async def test():
        def script(request):
            return Fault(404, "No such model here.") if request.protocol == "anthropic" else Answer("OK")

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                own = key_header("anthropic", door.endpoint.key)
                body = json.dumps(body_of("anthropic")).encode()
                assert (await door.post(f"{door.plain}{path_of('anthropic')}", body, own)).status == 404
                assert door.account.failure is None and door.account.last_failure.by_request
                assert (await door.ask()).status == 200

    run(test)


def test_a_rate_limit_that_its_own_calls_cause_is_no_excuse(monkeypatch):
    """A provider that answers one call at a time, and says 429 to the others."""
    monkeypatch.setattr("orvl.gateway.limits.FIRST_PAUSE", 0.02)
    monkeypatch.setattr("orvl.gateway.retry.TRIES_WHEN_LIMITED", 4)

    async def test():
        def script(request):
            return Fault(429, "Slow.") if server.open > 1 else Answer("x", first_byte=0.1)

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                await asyncio.gather(*(door.ask() for _ in range(30)))
                assert door.account.failure is None

    run(test)


def test_time_that_its_own_request_made_orvl_wait_is_the_agents(monkeypatch):
    monkeypatch.setattr("orvl.gateway.retry.BACK_OFF", 0.2)

    async def test():
        def script(request):
            return Fault(503, "No.") if "poison" in json.dumps(request.body) else Answer("OK")

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                assert (await door.ask("poison")).status == 503
                usage = door.account.usage(10.0)
                assert usage.waiting_seconds < 0.05 and usage.seconds > 9.9 and usage.model_seconds > 0.5

    run(test)


# -- packed bodies


@pytest.mark.parametrize("times", [1, 2])
def test_a_packed_bomb_is_refused_and_holds_up_nobody(times):
    bomb = b" " * (300 << 20)
    for _ in range(times):
        bomb = gzip.compress(bomb, 9 if len(bomb) < 1 << 20 else 1)

    async def test():
        from test_metering import stalls

        async with upstream(saying(CHAT)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            coding = {"content-encoding": ", ".join(["gzip"] * times)}
            own = {**key_header("openai", door.endpoint.key), **coding}
            async with stalls() as longest:
                heard = await door.post(f"{door.endpoint.url}/chat/completions", bomb, own)
            assert heard.status in (400, 413, 415) and host.requests == []
            assert longest[0] < 0.5, f"the loop stood still for {longest[0]:.2f} s"

    run(test)


# -- counts that are not those of the whole answer


def chat(text: str, **more: object) -> dict:
    return {"choices": [{"index": 0, "delta": {"content": text}, "finish_reason": more.pop("finish", None)}], **more}


FIRST = {"prompt_tokens": 5, "completion_tokens": 1}
COUNTS = {
    "only at the beginning": ([chat("a", usage=FIRST), chat("b", finish="stop")], 9000, True),
    "then no number": (
        [chat("a", usage=FIRST), chat("b", finish="stop", usage={**FIRST, "completion_tokens": "9"})],
        9000,
        True,
    ),
    "with each piece": (
        [chat("a", usage=FIRST), chat("b", finish="stop", usage={**FIRST, "completion_tokens": 2})],
        2,
        False,
    ),
    "thoughts only in the total": ([chat("a", finish="stop", usage={**FIRST, "total_tokens": 4006})], 4001, False),
    "thoughts beside it": (
        [chat("a", finish="stop", usage={**FIRST, "completion_tokens_details": {"reasoning_tokens": 700}})],
        701,
        False,
    ),
}


@pytest.mark.parametrize("name", COUNTS)
def test_a_count_that_is_not_of_all_is_none(name):
    events, output, is_bound = COUNTS[name]

    async def test():
        said = chunked(*(event(one) for one in events), event("[DONE]"))
        async with upstream(saying(*said)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            assert (await door.ask(stream=True, max_tokens=9000)).status == 200
            (call,) = door.account.calls
            assert (call.input_tokens, call.output_tokens, call.is_bound) == (5, output, is_bound)

    run(test)


def test_what_is_kept_for_an_hour_costs_more():
    price = Price(3, 15, cached=0.3, cache_write=3.75)
    usage = {"input_tokens": 10, "cache_creation_input_tokens": 1000, "output_tokens": 2}
    kept = {**usage, "cache_creation": {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 1000}}
    said = {"type": "message", "content": [{"type": "text", "text": "Hi."}], "stop_reason": "end_turn", "usage": kept}

    async def test():
        async with upstream(saying(response(json.dumps(said).encode()))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url, prices={"m": price}), "anthropic")
            assert (await door.ask()).status == 200
            (call,) = door.account.calls
            assert call.cost_usd == pytest.approx((10 * 3 + 1000 * 6 + 2 * 15) / 1e6)
            assert price.largest_cost(1010, 2) >= call.cost_usd

    run(test)


# -- answers that are much longer than what they say


def with_odds(tokens: int) -> bytes:
    """Twenty odds for each token: megabytes for a few words."""
    odds = {"token": "hello", "logprob": -0.1, "bytes": [104], "top_logprobs": [{"token": "sk", "logprob": -1}] * 20}
    logprobs = {"content": [odds] * tokens}
    choice = {"index": 0, "message": {"content": "Hi."}, "logprobs": logprobs, "finish_reason": "stop"}
    usage = {"prompt_tokens": 7, "completion_tokens": tokens}
    return json.dumps({"choices": [choice, {**choice, "index": 1}], "usage": usage}).encode()


@pytest.mark.parametrize("tokens", [200, pytest.param(4000, marks=pytest.mark.nightly)])
def test_an_answer_with_all_its_odds_is_read_and_holds_up_nobody(tokens):
    body = with_odds(tokens)

    async def test():
        async with upstream(saying(response(body))) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            async with stalls() as longest:
                heard = await door.ask(logprobs=True, top_logprobs=20, n=2)
            (call,) = door.account.calls
            assert heard.body == body and door.account.last_failure is None
            assert (call.input_tokens, call.output_tokens, call.is_bound) == (7, tokens, False)
            assert longest[0] < 0.5, f"the loop stood still for {longest[0]:.2f} s"

    run(test)


def test_what_is_read_of_a_long_answer_is_short_and_has_its_end():
    assert len(shortened(with_odds(4000))) < 1000
    texts = [{"choices": [{"delta": {"content": "x" * 1000}}]} for _ in range(9000)]
    short = json.loads(shortened(json.dumps([*texts, {"usage": 7}]).encode()))
    assert short[-1] == {"usage": 7} and len(json.dumps(short)) <= 1 << 20


def test_who_reads_a_little_now_and_then_does_not_hold_a_place_for_ever(monkeypatch):
    monkeypatch.setattr("orvl.gateway.agent_call.PATIENCE", 1.0)
    piece = event(chat("x" * 60_000))

    async def test():
        async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
            for part in chunked(*[piece] * 120, event("[DONE]")):
                writer.write(part)
                await writer.drain()

        async with upstream(say) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url))
            body = json.dumps(body_of("openai", stream=True)).encode()
            reader, writer = await asyncio.open_connection("127.0.0.1", door.port, limit=1 << 12)
            head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {door.endpoint.key}\r\n"
            writer.write(head.encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
            while not door.account.calls:
                with suppress(ConnectionError):
                    await reader.read(1 << 16)
                await asyncio.sleep(0.2)
            writer.close()
            (call,) = door.account.calls
            assert call.left

    run(test)

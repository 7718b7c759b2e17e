"""The gateway under faults, limits and load: who waits, who is stopped, what is spent, and that nothing leaks."""

from __future__ import annotations

import asyncio
import json
import random
import time
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from statistics import median

import pytest
from test_gateway import BODY, run, until

from helpers.gateways import A_CENT_A_TOKEN, PROTOCOLS, chunked, doors, provider_at, response, saying, upstream
from orvl.gateway.breaker import Breaker
from orvl.gateway.failures import CallFailure, failure_of, retry_after
from orvl.gateway.limits import ProviderLimiter
from orvl.gateway.wire import FORMATS
from orvl.project.settings import Limits
from orvl.testing import Answer, Fault, ModelServer, Tokens

A_DOLLAR = Answer("x", tokens=Tokens(input=60, output=40))
"""At a cent a token."""


@pytest.fixture
def quick(monkeypatch) -> None:
    """Back-offs of hundredths of a second."""
    monkeypatch.setattr("orvl.gateway.retry.BACK_OFF", 0.02)
    monkeypatch.setattr("orvl.gateway.limits.FIRST_PAUSE", 0.02)


# -- what a failure means

FAULTS = [
    # status, code, words, requests (the last is orvl's own), whom it stops
    (401, None, "Incorrect API key provided.", 2, "provider"),
    (402, None, "Insufficient credits.", 2, "provider"),
    (403, None, "No access to this model.", 2, "model"),
    (403, "api_key_invalid", "No.", 2, "provider"),
    (400, "api_key_invalid", "No.", 2, "provider"),
    (404, None, "The model does not exist.", 2, "model"),
    (429, "insufficient_quota", "You exceeded your current quota.", 2, "provider"),
    (429, None, "Rate limit reached.", 8, "call"),
    (408, None, "Timed out.", 4, "call"),
    (500, None, "Oops.", 4, "call"),
    (503, None, "Unavailable.", 4, "call"),
    (529, None, "Overloaded.", 4, "call"),
]


@pytest.mark.parametrize(("status", "code", "words", "requests", "scope"), FAULTS)
def test_a_failure_means_the_same_in_every_format(status, code, words, requests, scope):
    for format in FORMATS.values():
        failure = failure_of(status, json.dumps(format.error(status, words, code)).encode(), {})
        assert failure is not None and failure.message == f"{status} {words}"
        assert (failure.scope, failure.retry_call, failure.is_rate_limit) == (scope, requests > 2, requests == 8)


ECHOED = ["Invalid role 'billing'.", "api_key_invalid", "No such tool: insufficient_quota", "credit balance is too low"]


@pytest.mark.parametrize("words", ECHOED)
def test_words_that_an_agent_may_have_written_mean_nothing(words):
    for format in FORMATS.values():
        for status in (400, 413, 422):
            assert failure_of(status, json.dumps(format.error(status, words)).encode(), {}) is None
        assert failure_of(429, json.dumps(format.error(429, words)).encode(), {}).is_rate_limit
        assert failure_of(403, json.dumps(format.error(403, words)).encode(), {}).scope == "model"


def test_a_code_is_not_a_sentence():
    body = {"error": {"message": "x", "type": "invalid_request_error", "code": "the role billing_error is unknown"}}
    assert failure_of(400, json.dumps(body).encode(), {}) is None


def test_googles_reason_for_a_bad_key_is_read():
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    body = {"error": {"code": 400, "message": "x", "status": "INVALID_ARGUMENT", "details": details}}
    assert failure_of(400, json.dumps([body]).encode(), {}).scope == "provider"


@pytest.mark.parametrize("protocol", PROTOCOLS[1:])
def test_a_failure_ends_a_run_in_every_protocol(protocol):
    async def test():
        with ModelServer(lambda _: Fault(401, "Incorrect API key provided.")) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), protocol)
                heard = await door.ask(stream=True)
                assert heard.status == 401 and "Incorrect API key provided." in heard.body.decode()
                assert door.account.failure is not None and door.account.failure.scope == "provider"
                assert (await door.ask()).status == 403 and len(server.requests) == 2

    run(test)


@pytest.mark.parametrize(("status", "code", "words", "requests", "scope"), FAULTS)
def test_how_often_a_failure_is_tried_and_whom_it_stops(quick, status, code, words, requests, scope):
    async def test():
        with ModelServer(lambda _: Fault(status, words, kind=code)) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                heard = await door.ask(stream=True)
                assert heard.status == status and words in heard.body.decode()
                assert len(server.requests) == requests
                failure, call = door.account.failure, door.account.calls[0]
                assert failure is not None and failure.scope == scope and words in failure.message
                assert call.tries == requests and call.status == status and words in str(call.trouble)
                assert door.account.aborted.is_set()
                assert (await door.ask()).status == 403 and len(server.requests) == requests
                said = open_doors.gateway.record_outcome(door.account, failure)
                assert bool(open_doors.gateway.why_stopped("host", "m")) is (scope != "call")
                assert bool(open_doors.gateway.why_stopped("host", "other")) is (scope == "provider")
                assert open_doors.gateway.why_stopped("elsewhere", "m") is None
                assert (said is not None and words in said) is (scope != "call")
                assert open_doors.gateway.record_outcome(door.account, failure) is None, "said once"

    run(test)


@pytest.mark.parametrize("status", [400, 413, 422])
def test_a_request_that_the_provider_refuses_is_the_agents_own_matter(status):
    async def test():
        with ModelServer([Fault(status, "Prompt is too long.")]) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                assert (await door.ask()).status == status
                assert door.account.failure is door.account.last_failure is None
                assert (await door.ask()).status == 200

    run(test)


def test_a_failure_of_another_model_does_not_end_the_run():
    async def test():
        def script(request):
            return Fault(404, "No such model.") if request.model == "titles" else Answer("Done.")

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                assert (await door.ask(model="titles")).status == 404
                assert (await door.ask()).status == 200 and door.account.failure is None

    run(test)


def test_a_connection_that_is_refused_is_tried_four_times(quick):
    async def test():
        async with doors() as open_doors:
            door = await open_doors.open(provider_at("http://127.0.0.1:9"))
            heard = await door.ask()
            assert heard.status == 502 and "cannot be reached" in heard.json["error"]["message"]
            assert door.account.calls[0].tries == 4 and door.account.calls[0].status is None
            assert door.account.failure.retry_call

    run(test)


def test_one_that_closes_at_once_is_tried_again(quick):
    async def test():
        with ModelServer([Fault.refuse(), Fault.refuse(), Answer("Here.")]) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                heard = await door.ask()
                assert heard.status == 200 and b"Here." in heard.body
                assert door.account.calls[0].tries == 3 and door.account.last_failure is None

    run(test)


@pytest.mark.parametrize("stream", [False, True])
def test_one_that_hangs_is_given_up_after_the_providers_silence(stream):
    async def test():
        with ModelServer(lambda _: Fault.hang()) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url, timeout=0.3))
                heard = await door.ask(stream=stream)
                assert heard.status == 502 and "said nothing for 0.3 s" in str(door.account.failure)
                assert door.account.failure.retry_run and len(server.requests) == 2

    run(test)


def test_one_that_hangs_in_the_middle_is_broken_off():
    async def test():
        parts = chunked(b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n')
        async with upstream(saying(*parts[:2], 30.0)) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url, timeout=0.3))
            heard = await door.ask(stream=True)
            assert heard.broken and "said nothing" in str(door.account.calls[0].trouble)

    run(test)


@pytest.mark.parametrize("protocol", ["openai", "responses"])
def test_an_error_in_a_stream_reaches_the_agent_and_the_account(protocol):
    async def test():
        with ModelServer([Fault.in_stream("Overloaded, sorry.")]) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), protocol)
                heard = await door.ask(stream=True)
                assert b"Overloaded, sorry." in heard.body and len(server.requests) == 1
                assert "Overloaded, sorry." in str(door.account.last_failure) and door.account.failure is None
                assert (await door.ask(stream=True)).status == 200 and door.account.last_failure is None

    run(test)


def test_four_failed_runs_in_a_row_stop_a_model(quick):
    async def test():
        with ModelServer(lambda _: Fault(500, "Oops.")) as server:
            async with doors() as open_doors:
                gateway, said = open_doors.gateway, []
                for number in range(4):
                    door = await open_doors.open(provider_at(server.url))
                    await door.ask()
                    assert gateway.why_stopped("host", "m") is None, number
                    said.append(gateway.record_outcome(door.account, door.account.failure))
                assert said[:3] == [None] * 3 and "Oops." in said[3] and "m at host" in said[3]
                assert gateway.why_stopped("host", "m") and not gateway.why_stopped("host", "other")

    run(test)


# -- how long it waits


def test_waits_are_read_in_every_form():
    headers = {"Retry-After": formatdate(time.time() + 7, usegmt=True)}
    assert 5 < retry_after(headers) <= 7
    assert retry_after({"retry-after": formatdate(time.time() - 99, usegmt=True)}) == 0
    assert retry_after({"RETRY-AFTER": "1.5"}) == 1.5
    assert retry_after({"retry-after": "9", "retry-after-ms": "250"}) == 0.25
    body = json.dumps({"error": {"details": [{"@type": "x", "retryDelay": "3.5s"}]}}).encode()
    assert retry_after({}, body) == 3.5
    for odd in ("", "-1", "soon", "1e9999", "nan", "inf", "9" * 40, "Mon, 99 Foo 2020 99:99:99 GMT", "1; 2"):
        assert retry_after({"retry-after": odd}) is None, odd
    for status in (429, 503, 500, 529):
        assert failure_of(status, b"", {"retry-after": "2"}).retry_after == 2


def gaps_of(server: ModelServer) -> list[float]:
    times = [request.arrived for request in server.requests]
    return [later - earlier for earlier, later in pairwise(times)]


@pytest.mark.parametrize(
    ("headers", "least"),
    [({"retry-after": "1"}, 0.95), ({"retry-after-ms": "400"}, 0.38), ({}, 0.02)],
)
@pytest.mark.parametrize("status", [429, 503])
def test_the_next_try_comes_no_sooner_than_was_told(quick, status, headers, least):
    async def test():
        with ModelServer([Fault(status, "Slow down.", headers=headers), Answer("Done.")]) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                assert (await door.ask()).status == 200
                assert gaps_of(server)[0] >= least
                assert door.account.calls[0].waited >= least and door.account.seconds_held >= least
                assert door.account.calls[0].seconds < door.account.calls[0].waited + least + 5

    run(test)


def test_gemini_tells_its_wait_in_the_body():
    async def test():
        body = json.dumps({"error": {"message": "Slow down.", "details": [{"retryDelay": "0.5s"}]}}).encode()
        said = [response(body, "429 Too Many Requests"), response(b"{}")]

        async def say(_: bytes, writer: asyncio.StreamWriter) -> None:
            times.append(time.monotonic())
            writer.write(said[min(len(times), 2) - 1])

        times: list[float] = []
        async with upstream(say) as host, doors() as open_doors:
            door = await open_doors.open(provider_at(host.url), "gemini")
            await door.ask()
            assert times[1] - times[0] >= 0.48

    run(test)


@pytest.mark.parametrize("status", [429, 503])
def test_a_wait_of_nothing_is_no_licence_to_hammer(status):
    async def test():
        with ModelServer(lambda _: Fault(status, "Slow.", headers={"retry-after": "0"})) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                asking = asyncio.ensure_future(door.ask())
                await asyncio.sleep(0.6)
                assert 1 <= len(server.requests) <= 4
                asking.cancel()
                await asyncio.gather(asking, return_exceptions=True)

    run(test)


def test_a_wait_of_an_hour_fails_at_once_for_all_that_would_have_to_wait():
    async def test():
        with ModelServer(lambda _: Fault(429, "Slow down.", headers={"retry-after": "3600"})) as server:
            async with doors() as open_doors:
                first, second = [await open_doors.open(provider_at(server.url)) for _ in range(2)]
                assert (await asyncio.wait_for(first.ask(), 10)).status == 429
                assert (await asyncio.wait_for(second.ask(), 10)).status in (429, 502)
                assert second.account.failure is not None
                own = [request for request in server.requests if "Say OK." in request.prompt_text]
                assert len(own) == 2 and len(server.requests) == 3

    run(test)


@pytest.mark.parametrize("concurrency", [None, 2])
def test_a_refusal_holds_all_calls_of_that_model_and_none_of_another(concurrency):
    async def test():
        seen: list[tuple[str, float]] = []

        def script(request):
            seen.append((request.model, time.monotonic()))
            first = request.model == "m" and sum(model == "m" for model, _ in seen) == 1
            return Fault(429, "Slow.", headers={"retry-after": "4"}) if first else Answer("x", first_byte=0.05)

        with ModelServer(script) as server:
            async with doors() as open_doors:
                provider = provider_at(server.url, concurrency=concurrency)
                door, other = await open_doors.open(provider), await open_doors.open(provider, model="other")
                asked = [asyncio.ensure_future(door.ask())]
                await until(lambda: len(seen) == 1)
                await asyncio.sleep(0.1)
                asked += [asyncio.ensure_future(door.ask()) for _ in range(8)]
                began = time.monotonic()
                await asyncio.gather(*(other.ask(model="other") for _ in range(4)))
                assert time.monotonic() - began < 3.5
                assert {one.status for one in await asyncio.gather(*asked)} == {200}
                times = [at for model, at in seen if model == "m"]
                assert min(times[1:]) - times[0] >= 1.9

    run(test)


def test_calls_that_wait_for_a_slot_heed_a_refusal_that_comes_meanwhile():
    async def test():
        seen: list[float] = []

        def script(_):
            seen.append(time.monotonic())
            return Fault(429, "Slow.", headers={"retry-after": "1"}) if len(seen) == 1 else Answer("x")

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url, concurrency=1))
                statuses = await asyncio.gather(*(door.ask() for _ in range(10)))
                assert {one.status for one in statuses} == {200} and server.most_at_once == 1
                assert seen[1] - seen[0] >= 0.95

    run(test)


def test_a_pause_that_ends_this_very_moment_hangs_nobody():
    async def test():
        limiter = ProviderLimiter(None, None)
        model, loop = limiter.model("m"), asyncio.get_running_loop()

        async def pass_through() -> None:
            async with limiter.slot("m"):
                pass

        for number in range(1500):
            model.not_before = loop.time() + (number % 40) * 5e-7
            await asyncio.wait_for(pass_through(), 10)

    run(test)


# -- limits and money


def test_a_run_may_make_so_many_calls():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), limits=Limits(calls=3))
                statuses = [one.status for one in await asyncio.gather(*(door.ask() for _ in range(10)))]
                assert sorted(statuses) == [200] * 3 + [403] * 7
                assert "limits.calls" in str(door.account.limit_hit) and door.account.aborted.is_set()
                assert not door.account.over_budget
            assert len(server.requests) == 3

    run(test)


def test_a_run_may_take_so_many_tokens():
    async def test():
        with ModelServer(lambda _: A_DOLLAR) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), limits=Limits(tokens=250))
                assert [(await door.ask()).status for _ in range(5)] == [200, 200, 200, 403, 403]
                assert "limits.tokens" in str(door.account.limit_hit)

    run(test)


def test_a_run_may_cost_so_much_and_others_go_on():
    async def test():
        with ModelServer(lambda _: A_DOLLAR) as server:
            async with doors(budget=100.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                door = await open_doors.open(provider, limits=Limits(cost=2))
                assert [(await door.ask()).status for _ in range(4)] == [200, 200, 403, 403]
                assert "limits.cost" in str(door.account.limit_hit) and not door.account.over_budget
                assert door.account.usage(1.0).cost_usd == pytest.approx(2)
                other = await open_doors.open(provider)
                assert (await other.ask()).status == 200
                assert open_doors.gateway.budget.spent == pytest.approx(3)

    run(test)


@pytest.mark.parametrize("usage", ["asked", "never"])
@pytest.mark.parametrize("stream", [False, True])
def test_a_budget_ends_runs_whether_the_provider_tells_usage_or_not(usage, stream):
    async def test():
        with ModelServer(lambda _: A_DOLLAR, usage=usage) as server:
            async with doors(budget=3.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                door = await open_doors.open(provider)
                statuses = [(await door.ask(stream=stream, max_tokens=40)).status for _ in range(12)]
                assert statuses[-1] == 403 and door.account.over_budget
                assert "budget of $3" in str(door.account.limit_hit)
                if usage == "asked":
                    assert statuses == [200] * 3 + [403] * 9

    run(test)


@pytest.mark.parametrize("seed", range(4))
def test_a_budget_is_passed_by_no_more_than_a_call_for_each_run(seed):
    """Agents that fire calls in parallel, of any price and length, some of which leave in the middle."""
    made = random.Random(seed)
    dearest = 100

    def script(_):
        out = made.randint(1, dearest)
        return Answer("x" * 60, tokens=Tokens(input=0, output=out), first_byte=made.uniform(0, 0.03), between=0.002)

    async def test():
        with ModelServer(script) as server:
            async with doors(budget=float(budget)) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN}, concurrency=made.choice([None, 5]))
                runs = [await open_doors.open(provider) for _ in range(accounts)]

                async def agent(door) -> None:
                    for _ in range(12):
                        calls = [
                            asyncio.ensure_future(door.ask(stream=True, max_tokens=dearest))
                            for _ in range(made.randint(1, 6))
                        ]
                        if made.random() < 0.2:
                            await asyncio.sleep(0.02)
                            calls[0].cancel()
                        await asyncio.gather(*calls, return_exceptions=True)

                await asyncio.gather(*(agent(door) for door in runs))
                await until(lambda: not any(door.account.open_calls for door in runs))
                spending = open_doors.gateway.budget
                slack = accounts * (dearest * 0.01 + 1.5)
                assert budget <= spending.spent <= budget + slack, "spent all, and no more than a call for each run"
                assert abs(spending.reserved) < 1e-6
                told = sum(one.tokens.output for one in server.given if one.tokens and one.complete) * 0.01
                assert told <= spending.spent + 1e-6
                assert any(door.account.over_budget for door in runs)

    budget, accounts = 20, 6
    run(test)


@pytest.mark.parametrize("most", [1, 5])
def test_no_more_than_so_many_calls_are_open_at_a_provider(most):
    async def test():
        with ModelServer(lambda _: Answer("x" * 30, first_byte=0.002, between=0.001)) as server:
            async with doors() as open_doors:
                provider = provider_at(server.url, concurrency=most)
                runs = [await open_doors.open(provider, model=f"m{number % 3}") for number in range(8)]
                asked = [door.ask(stream=True, model=door.account.model) for door in runs for _ in range(12)]
                assert {one.status for one in await asyncio.gather(*asked)} == {200}
                assert server.most_at_once <= most and len(server.requests) == 96
                waited = [call.waited for door in runs for call in door.account.calls]
                assert max(waited) > 0

    run(test)


def test_calls_of_a_model_keep_their_distance():
    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url, per_minute=600, concurrency=3))
                await asyncio.gather(*(door.ask() for _ in range(12)))
                times = sorted(request.arrived for request in server.requests)
                assert times[-1] - times[0] >= 1.0, "600 a minute is one each tenth of a second"

    run(test)


def test_calls_that_leave_while_they_wait_take_nothing_with_them():
    async def test():
        made = random.Random(5)
        with ModelServer(lambda _: Answer("x", first_byte=0.01)) as server:
            async with doors(budget=1e6) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN}, concurrency=2, per_minute=60_000)
                door = await open_doors.open(provider, limits=Limits(calls=10_000, cost=1e6))
                for _ in range(10):
                    calls = [asyncio.ensure_future(door.ask(max_tokens=5)) for _ in range(20)]
                    await asyncio.sleep(made.uniform(0, 0.05))
                    for call in calls[: made.randint(5, 20)]:
                        call.cancel()
                    await asyncio.gather(*calls, return_exceptions=True)
                await until(lambda: not door.account.open_calls)
                assert abs(door.account.budget.reserved) < 1e-6 and abs(open_doors.gateway.budget.reserved) < 1e-6
                limiter = open_doors.gateway._limiter(provider)
                assert limiter.model("m").open == 0
                began = time.monotonic()
                assert {one.status for one in await asyncio.gather(*(door.ask() for _ in range(10)))} == {200}
                assert time.monotonic() - began < 20

    run(test)


def test_refusals_under_load_are_learned_from_and_nobody_starves():
    """A provider that takes three at once and refuses the rest: all forty calls get through."""

    async def test():
        def script(request):
            return (
                Fault(429, "Slow.", headers={"retry-after-ms": "50"})
                if request.at_once > 3
                else Answer("x", first_byte=0.02)
            )

        with ModelServer(script) as server:
            async with doors() as open_doors:
                runs = [await open_doors.open(provider_at(server.url)) for _ in range(8)]
                heard = await asyncio.gather(*(door.ask() for door in runs for _ in range(5)))
                assert {one.status for one in heard} == {200}

    run(test)


# -- load


def test_two_hundred_streams_keep_their_own_words_and_little_memory(tmp_path):
    def script(request):
        word = request.prompt_text
        return Answer(f"{word} " * 2000, pieces=40, between=0.06, tokens=Tokens(input=int(word), output=7))

    def resident() -> float:
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4 / 1024

    async def test():
        with ModelServer(script) as server:
            async with doors() as open_doors:
                runs = [await open_doors.open(provider_at(server.url), limits=Limits(calls=10_000)) for _ in range(20)]

                async def streams(many: int) -> list[bytes]:
                    own = [runs[number % 20].ask(str(number + 1), stream=True) for number in range(many)]
                    return [one.body for one in await asyncio.gather(*own)]

                await streams(50)
                for number, body in enumerate(await streams(200)):
                    events = [json.loads(line[6:]) for line in body.decode().split("\n\n")[:-2]]
                    text = "".join(event["choices"][0]["delta"].get("content", "") for event in events)
                    assert text == f"{number + 1} " * 2000
                before = resident()
                await streams(200)
                assert resident() - before < 30, "a stream leaves nothing behind (client and server live here, too)"
                assert server.most_at_once == 200, "no stream waits for another"
                counted = sum(call.input_tokens for door in runs for call in door.account.calls)
                assert counted == sum(range(1, 51)) + 2 * sum(range(1, 201))

    run(test)


def test_the_gateway_adds_little_to_a_call():
    """A coarse bound, for busy machines; the benchmark `gateway` measures."""

    async def test():
        with ModelServer() as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url))
                times: dict[str, list[float]] = {f"{server.url}/v1": [], door.endpoint.url: []}
                for _ in range(40):
                    for url, taken in times.items():
                        began = time.perf_counter()
                        assert (await door.post(f"{url}/chat/completions", BODY)).status == 200
                        taken.append(time.perf_counter() - began)
                direct, through = (median(taken) for taken in times.values())
                assert through - direct < 0.5

    run(test)


# -- who is stopped by whom


def test_what_one_contestant_meets_stops_it_alone_until_a_second_meets_it():
    breaker, bad_key = Breaker(), CallFailure("401 No.", False, "provider", 401)
    assert breaker.note("host", "m", "one", bad_key) == "Giving up on host: 401 No (met by one)."
    assert breaker.why_stopped("host", "other", "one") and not breaker.why_stopped("host", "m", "two")
    assert breaker.note("host", "n", "one", bad_key) is None, "said once"
    assert breaker.note("host", "m", "one+overlay", bad_key), "one program with two overlays is no second witness"
    assert breaker.why_stopped("host", "m", "two") is None
    assert breaker.note("host", "m", "two", bad_key) == "Giving up on host for all: 401 No."
    assert breaker.why_stopped("host", "m", "three") and not breaker.why_stopped("elsewhere", "m", "three")
    assert breaker.given_up == ("Giving up on host for all: 401 No.",)


def test_failures_in_a_row_count_for_each_contestant():
    breaker, broken = Breaker(), CallFailure("500 Oops.", True, "call", 500)
    for number in range(3):
        assert breaker.note("host", "m", "one", broken) is None
        assert breaker.note("host", "m", "two", broken) is None, number
    breaker.note("host", "m", "two", None)
    assert "m at host" in breaker.note("host", "m", "one", broken)
    assert breaker.note("host", "m", "two", broken) is None and breaker.why_stopped("host", "m", "two") is None
    assert [breaker.note("host", "m", "two", broken) for _ in range(2)] == [None, None]
    assert "for all" in breaker.note("host", "m", "two", broken) and breaker.why_stopped("host", "m", "three")


def test_a_pause_that_one_contestant_is_told_holds_up_no_other():
    async def test():
        def script(request):
            poisoned = "poison" in request.prompt_text
            return Fault(429, "Slow.", headers={"retry-after": "3600"}) if poisoned else Answer("x")

        with ModelServer(script) as server:
            async with doors() as open_doors:
                provider = provider_at(server.url)
                rogue = await open_doors.open(provider, contestant="rogue")
                honest = await open_doors.open(provider, contestant="honest")
                assert (await rogue.ask("poison")).status in (429, 502)
                assert (await asyncio.wait_for(honest.ask(), 10)).status == 200
                assert rogue.account.failure is None and rogue.account.last_failure.by_request

    run(test)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("stream", [False, True])
def test_orvls_own_question_is_understood_and_counted_in_every_protocol(quick, protocol, stream):
    async def test():
        def script(request):
            return Fault(500) if "poison" in request.prompt_text else Answer("OK", tokens=Tokens(input=9, output=1))

        with ModelServer(script) as server:
            async with doors() as open_doors:
                door = await open_doors.open(provider_at(server.url), protocol)
                assert (await door.ask("poison", stream=stream)).status == 500
                own = [request for request in server.requests if "poison" not in request.prompt_text]
                assert [request.stream for request in own] == [stream] and door.account.failure is None
                usage = door.account.usage(1.0)
                assert (usage.input_tokens, usage.output_tokens) == (9, 1), "what the server counts, too"
                assert (await door.ask(stream=stream)).status == 200

    run(test)

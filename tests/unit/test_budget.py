"""A budget against a server that keeps its own account: it is passed by one call at most, whoever calls and however."""

from __future__ import annotations

import asyncio
import random

import pytest
from test_gateway import run, until

from helpers.gateways import A_CENT_A_TOKEN, MILLION, body_of, doors, provider_at
from orvl.errors import CallRefused
from orvl.gateway.limits import Budget
from orvl.gateway.metering import largest_cost, upper_bound
from orvl.gateway.wire import FORMATS
from orvl.prices import Price
from orvl.project.settings import Limits
from orvl.testing import Answer, Fault, ModelServer, Tokens

A_CENT = 0.01
RICH = Limits(cost=1e9, calls=100_000)


class Till:
    """A server's own account: what it charges for each answer that it began."""

    def __init__(self, make) -> None:
        self.make, self.charged = make, list[float]()

    def __call__(self, request):
        said = self.make(request)
        if isinstance(said, Answer):
            self.charged.append((said.tokens.input + said.tokens.output) * A_CENT)
        return said

    def assert_kept(self, budget: float) -> None:
        assert sum(self.charged) <= budget + max(self.charged), (sum(self.charged), budget, max(self.charged))


async def flood(door, calls: int, **more) -> list[int]:
    """Many calls at once; the statuses of those that were not cancelled."""
    heard = await asyncio.gather(*(door.ask(**more) for _ in range(calls)), return_exceptions=True)
    return [one.status for one in heard if not isinstance(one, BaseException)]


def eight_choices(request):
    return Answer("x", tokens=Tokens(input=20, output=8 * 15), first_byte=0.01)


@pytest.mark.parametrize(
    "more",
    [
        {"n": 8},
        {"n": 8, "max_tokens": 15},
        {"max_tokens": 200},
        {"n": 8, "stream": True},
        {"max_completion_tokens": 120},
    ],
    ids=str,
)
def test_runs_that_call_all_at_once_pass_the_budget_by_one_call_at_most(more):
    async def test():
        till = Till(eight_choices)
        with ModelServer(till) as server:
            async with doors(budget=12.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                runs = [await open_doors.open(provider, limits=RICH) for _ in range(8)]
                statuses = await asyncio.gather(*(flood(door, 10, **more) for door in runs))
                budget = open_doors.gateway.budget
                till.assert_kept(12.0)
                assert sum(till.charged) == pytest.approx(budget.spent) and budget.spent >= 12
                assert {status for one in statuses for status in one} == {200, 403}
                assert (budget.reserved, budget.out) == (0.0, 0)
                assert all(door.account.over_budget for door in runs)

    run(test)


@pytest.mark.parametrize("seed", range(3))
def test_calls_that_are_left_or_fail_do_not_stretch_it(seed):
    made = random.Random(seed)

    def script(request):
        if made.random() < 0.2:
            return Fault(400, "No.")
        tokens = Tokens(input=made.randint(1, 60), output=made.randint(1, 100))
        return Answer("x" * 40, tokens=tokens, first_byte=made.uniform(0, 0.03), between=0.005)

    async def agent(door) -> None:
        for _ in range(8):
            calls = [asyncio.ensure_future(door.ask(stream=made.random() < 0.5, max_tokens=100)) for _ in range(5)]
            await asyncio.sleep(made.uniform(0, 0.03))
            for call in calls[: made.randint(0, 3)]:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)

    async def test():
        till = Till(script)
        with ModelServer(till) as server:
            async with doors(budget=60.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                runs = [await open_doors.open(provider, limits=RICH) for _ in range(5)]
                await asyncio.gather(*(agent(door) for door in runs))
                await until(lambda: not any(door.account.open_calls for door in runs))
                till.assert_kept(60.0)
                assert sum(till.charged) <= open_doors.gateway.budget.spent + 1e-9
                assert (open_doors.gateway.budget.reserved, open_doors.gateway.budget.out) == (0.0, 0)

    run(test)


def test_a_bound_far_above_the_budget_makes_calls_go_one_at_a_time_and_none_wait_for_ever():
    async def test():
        till = Till(lambda _: Answer("x", tokens=Tokens(input=0, output=40), first_byte=0.01))
        with ModelServer(till) as server:
            async with doors(budget=2.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                door = await open_doors.open(provider, limits=RICH)
                statuses = await asyncio.wait_for(flood(door, 12), 30)
                assert sorted(statuses) == [200] * 5 + [403] * 7 and server.most_at_once == 1
                assert sum(till.charged) == pytest.approx(2.0)
                assert door.account.clock.seconds["model"] > 0

    run(test)


def test_judges_and_agents_share_it():
    async def test():
        till = Till(lambda _: Answer("x", tokens=Tokens(input=10, output=90), first_byte=0.02))
        with ModelServer(till) as server:
            async with doors(budget=5.0) as open_doors:
                gateway, provider = open_doors.gateway, provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                door = await open_doors.open(provider, limits=RICH)

                async def judge() -> str:
                    account = gateway.judge_account(provider, "openai", "m", "somebody")
                    try:
                        await gateway.ask(account, body_of("openai", max_tokens=90), lambda: None)
                        return "answered"
                    except CallRefused:
                        return "over" if account.over_budget else "refused"

                answers = await asyncio.gather(flood(door, 6), *(judge() for _ in range(12)))
                till.assert_kept(5.0)
                assert {*answers[1:]} <= {"answered", "over"} and "over" in answers
                assert gateway.budget.spent == pytest.approx(sum(till.charged))

    run(test)


def test_a_call_that_waits_for_the_budget_is_no_time_of_the_agents():
    async def test():
        with ModelServer(lambda _: Answer("x", tokens=Tokens(input=0, output=10), first_byte=0.4)) as server:
            async with doors(budget=100.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                first, second = [await open_doors.open(provider, limits=RICH) for _ in range(2)]
                asking = asyncio.ensure_future(first.ask())
                await until(lambda: server.open == 1)
                second.account.begin_turn(1)
                await second.ask()
                await asking
                assert second.account.clock.waiting > 0.1
                assert first.account.clock.seconds["waiting"] < 0.1

    run(test)


def test_an_agent_that_gives_up_while_the_budget_holds_it_back_leaves_nothing():
    async def test():
        with ModelServer(lambda _: Answer("x", first_byte=0.5)) as server:
            async with doors(budget=100.0) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                first, second = [await open_doors.open(provider, limits=RICH) for _ in range(2)]
                asking = asyncio.ensure_future(first.ask())
                await until(lambda: server.open == 1)
                waiting = asyncio.ensure_future(second.ask())
                await until(lambda: bool(second.account.open_calls))
                waiting.cancel()
                await until(lambda: not second.account.open_calls)
                assert second.account.was_held and "within the budget" in second.account.abandoned.message
                assert second.account.calls == [] and second.account.budget.reserved == 0
                await asking
                assert len(server.requests) == 1 and open_doors.gateway.budget.out == 0

    run(test)


def test_a_run_ends_at_once_though_its_calls_wait_for_the_budget():
    async def test():
        with ModelServer(lambda _: Answer("x", tokens=Tokens(input=0, output=10), first_byte=0.05)) as server:
            async with doors(budget=1e6) as open_doors:
                provider = provider_at(server.url, prices={"m": A_CENT_A_TOKEN})
                door = await open_doors.open(provider, limits=Limits(cost=0.15))
                statuses = await asyncio.wait_for(flood(door, 9), 20)
                assert sorted(statuses) == [200] * 2 + [403] * 7
                assert "limits.cost" in door.account.limit_hit and not door.account.over_budget

    run(test)


def test_calls_go_in_the_order_of_their_arrival():
    """A large call is not overtaken for ever by small ones that would fit."""

    async def test():
        budget, gone = Budget(10.0), list[str]()

        async def call(name: str, amount: float, seconds: float) -> None:
            await budget.reserve(amount, lambda: None)
            gone.append(name)
            await asyncio.sleep(seconds)
            budget.settle(amount, 0.1)

        tasks = [asyncio.ensure_future(call("first", 6.0, 0.05))]
        await asyncio.sleep(0)
        tasks.append(asyncio.ensure_future(call("large", 9.0, 0.02)))
        await asyncio.sleep(0)
        tasks += [asyncio.ensure_future(call("small", 1.0, 0.01)) for _ in range(5)]
        await asyncio.wait_for(asyncio.gather(*tasks), 10)
        assert gone == ["first", "large", *["small"] * 5] and budget.reserved == 0.0

    run(test)


def test_a_model_without_a_price_is_refused_under_a_budget():
    async def test():
        with ModelServer() as server:
            async with doors(budget=5.0) as open_doors:
                door = await open_doors.open(provider_at(server.url))
                heard = await door.ask()
                assert heard.status == 403 and "--budget cannot count m" in heard.json["error"]["message"]
                assert server.requests == []
                open_doors.gateway.budget.allow_unpriced = True
                assert (await door.ask()).status == 200 and open_doors.gateway.budget.spent == 0

    run(test)


def test_a_reservation_is_never_below_the_cost():
    made = random.Random(7)
    for _ in range(3000):
        kinds = [made.choice([None, made.uniform(0, 40)]) for _ in range(3)]
        higher = Price(made.uniform(0, 50), made.uniform(0, 200), *kinds)
        price = Price(made.uniform(0, 30), made.uniform(0, 90), *kinds, tiers=((1000, higher),))
        input_tokens, output = made.randint(0, 3000), made.randint(0, 3000)
        cached = made.randint(0, input_tokens)
        written, reasoning = made.randint(0, input_tokens - cached), made.randint(0, output)
        bound = price.largest_cost(input_tokens + made.randint(0, 99), output + made.randint(0, 99))
        assert price.cost(input_tokens, cached, written, output, reasoning) <= bound + 1e-12


@pytest.mark.parametrize("protocol", FORMATS)
def test_every_format_states_its_largest_output(protocol):
    limits = {
        "openai": {"max_tokens": 7, "n": 3},
        "responses": {"max_output_tokens": 21},
        "anthropic": {"max_tokens": 21},
        "gemini": {"generationConfig": {"maxOutputTokens": 7, "candidateCount": 3}},
    }[protocol]
    format, provider = FORMATS[protocol], provider_at("http://127.0.0.1:9", prices={"m": Price(0.0, 1.0 * MILLION)})
    body = {**body_of(protocol), **limits}
    request = format.route_to("m").read_request(body)
    assert upper_bound(provider, request, 50).output == 21 and largest_cost(provider, request, 50) == pytest.approx(21)
    body = {name: value for name, value in body_of(protocol).items() if name != "max_tokens"}
    assert upper_bound(provider, format.route_to("m").read_request(body), 50).output >= 100_000

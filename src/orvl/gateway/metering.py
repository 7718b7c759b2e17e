"""What a call took: tokens, money and time, as it is kept, and as a step of a trajectory.

A call's account is closed in one place, from numbers alone. What the call said is looked at afterwards, and nothing
that is found there, or goes wrong there, changes what it counts for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from orvl.gateway.wire.format import TokenCounts
from orvl.gateway.wire.values import as_object
from orvl.types import ModelCall

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.gateway.retry import UpstreamCall
    from orvl.gateway.wire.format import ModelAnswer, ModelRequest
    from orvl.project.providers import Provider

LONG_SILENCE = 20.0
LARGEST_OUTPUT = 128_000
LARGEST_CONTEXT = 1_000_000
ADDED_INPUT = 1_024
"""Tokens that a provider puts around a request: roles, and what tells a model how to call tools."""


def cost_of(provider: Provider, model: str, tokens: TokenCounts | None) -> float | None:
    """What tokens cost; None if the tokens or their price is unknown."""
    price = provider.price(model)
    if tokens is None or price is None:
        return None
    kinds = (tokens.cached or 0, tokens.cache_write or 0, tokens.output, tokens.reasoning or 0)
    return price.cost(tokens.input, *kinds, for_an_hour=tokens.for_an_hour)


# -- upper bounds


def upper_bound(provider: Provider, request: ModelRequest, size: int) -> TokenCounts:
    """The most tokens that one try of a request of so many bytes can take.

    A token is a byte at least. Where a part of the input is kept elsewhere, or the request does not limit its output,
    the model's own limits are the bound.
    """
    context, output = provider.capacity(request.model)
    largest = context or LARGEST_CONTEXT
    most = request.max_output or output or context or LARGEST_OUTPUT
    return TokenCounts(
        input=min(size + ADDED_INPUT, largest) if request.is_whole else largest,
        cached=0,
        cache_write=0,
        output=most * request.choices,
        reasoning=0,
    )


def largest_cost(provider: Provider, request: ModelRequest, size: int) -> float | None:
    """The most that one try of a request of so many bytes can cost; None if no price is known."""
    price = provider.price(request.model)
    bound = upper_bound(provider, request, size)
    return None if price is None else price.largest_cost(bound.input, bound.output)


@dataclass(frozen=True)
class Charge:
    """What a call counts for: what its provider states, or an upper bound of it."""

    tokens: TokenCounts | None
    """None where nothing that could be charged went out."""
    cost: float | None
    source: str | None
    is_bound: bool


def charge_of(call: UpstreamCall) -> Charge:
    """Adds up all tries of a call that the provider may charge for."""
    if not call.charged_tries:
        return Charge(None, None, None, is_bound=False)
    provider, model = call.account.provider, call.asked.model
    tokens = [one.tokens for one in call.charged_tries]
    is_bound = any(one.is_bound for one in call.charged_tries)
    costs = [one.cost if one.cost is not None else _cost(provider, model, one) for one in call.charged_tries]
    known = [cost for cost in costs if cost is not None]
    cost = sum(known) if len(known) == len(costs) else None
    is_stated = all(one.cost is not None for one in call.charged_tries)
    source = None if cost is None else "bound" if is_bound else "provider" if is_stated else "metered"
    return Charge(_sum(tokens), cost, source, is_bound)


def _cost(provider: Provider, model: str, charged: ChargedTry) -> float | None:
    """A bound costs what was reserved for it: nobody knows which of its tokens were written to a cache."""
    price = provider.price(model)
    if charged.is_bound and price is not None:
        return price.largest_cost(charged.tokens.input, charged.tokens.output)
    return cost_of(provider, model, charged.tokens)


def _sum(counts: list[TokenCounts]) -> TokenCounts:
    if len(counts) == 1:
        return counts[0]
    return TokenCounts(
        input=sum(count.input for count in counts),
        cached=_known(count.cached for count in counts),
        cache_write=_known(count.cache_write for count in counts),
        output=sum(count.output for count in counts),
        reasoning=_known(count.reasoning for count in counts),
        for_an_hour=sum(count.for_an_hour for count in counts),
    )


def _known(numbers: Iterable[int | None]) -> int | None:
    listed = list(numbers)
    return None if None in listed else sum(number or 0 for number in listed)


@dataclass(frozen=True)
class ChargedTry:
    """One try of a call that the provider may charge for."""

    tokens: TokenCounts
    cost: float | None
    """Where the provider states it."""
    is_bound: bool


def charged_try(call: UpstreamCall) -> ChargedTry:
    """What a try counts for that was sent."""
    answer = call.answer
    stated = answer.tokens
    if stated is not None and answer.is_counted and call.was_read:
        return ChargedTry(stated, answer.cost, is_bound=False)
    # Not even a complete answer shows its tokens: a model may have thought more than it says.
    bound = upper_bound(call.account.provider, call.asked, len(call.body))
    output = max(bound.output, stated.output if stated else 0)
    into = stated if stated is not None and stated.input else bound
    return ChargedTry(TokenCounts(into.input, into.cached, into.cache_write, output, None), cost=None, is_bound=True)


# -- the end of a call


def close(call: UpstreamCall, *, had_reasoning: bool = False) -> ModelCall:
    """Ends a call, however it went: its account is charged instead of the reservation."""
    charge = charge_of(call)
    try:
        call.answer.redact(call.redactor.text)
        done = model_call(call, charge, had_reasoning=had_reasoning)
    except Exception as error:  # noqa: BLE001 - whatever an answer does to its reader, the call is closed
        done = _bare(call, charge, f"the answer cannot be read: {type(error).__name__}")
    call.account.close(call, done, charge.tokens.total if charge.tokens else 0)
    return done


def _bare(call: UpstreamCall, charge: Charge, trouble: str | None) -> ModelCall:
    """The call by its numbers alone."""
    tokens = charge.tokens
    return ModelCall(
        number=call.number,
        turn=call.turn,
        protocol=call.route.protocol,
        asked_model=call.asked.model,
        started=call.started,
        stream=call.asked.stream,
        status=call.status,
        left=call.left_early,
        trouble=trouble,
        tries=call.tries,
        seconds=call.seconds,
        waited=call.waited,
        first_token=call.first_token,
        input_tokens=tokens.input if tokens else None,
        cached_tokens=tokens.cached if tokens else None,
        cache_write_tokens=tokens.cache_write if tokens else None,
        output_tokens=tokens.output if tokens else None,
        reasoning_tokens=tokens.reasoning if tokens else None,
        cost_usd=charge.cost,
        cost_source=charge.source,
        is_bound=charge.is_bound,
    )


def model_call(call: UpstreamCall, charge: Charge, *, had_reasoning: bool) -> ModelCall:
    """The call as it is kept."""
    answer, asked = call.answer, call.asked
    return replace(
        _bare(call, charge, trouble_of(call)),
        served_model=answer.model,
        host=answer.host,
        finish=answer.finish,
        tool_calls=len(answer.tools) if answer.complete else 0,
        answers_back=asked.answers_back,
        reasoning_given=answer.has_reasoning,
        reasoning_back=asked.reasoning_back > 0 if had_reasoning and asked.answers_back else None,
    )


def trouble_of(call: UpstreamCall) -> str | None:
    """Why a call failed, or why its agent cannot be blamed for leaving it."""
    if call.failure is not None and not call.agent_left:
        return call.failure.message
    silence = call.silence
    if call.agent_left and call.left_held:
        return f"orvl held the call back for {silence:.0f} s to stay within limits, and the agent gave up"
    if call.agent_left and silence > LONG_SILENCE:
        return f"it said nothing for {silence:.0f} s, and the agent gave up"
    return None


def step_of(answer: ModelAnswer, call: ModelCall) -> dict[str, Any]:
    """An answer as a step in ATIF's form, without its number, for agents whose own output has no steps."""
    step: dict[str, Any] = {"source": "agent", "message": answer.text}
    if call.served_model:
        step["model_name"] = call.served_model
    if answer.reasoning:
        step["reasoning_content"] = answer.reasoning
    if answer.tools:
        step["tool_calls"] = [
            {
                "tool_call_id": tool.id or f"call_{call.number}_{place}",
                "function_name": tool.name,
                "arguments": as_object(tool.arguments or "{}") or {"text": tool.arguments},
            }
            for place, tool in enumerate(answer.tools, 1)
        ]
    figures = {
        "prompt_tokens": call.input_tokens,
        "completion_tokens": call.output_tokens,
        "cached_tokens": call.cached_tokens,
        "cost_usd": call.cost_usd,
    }
    known = {name: value for name, value in figures.items() if value is not None}
    return {**step, "metrics": known} if known else step

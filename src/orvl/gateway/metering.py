"""What a call took: tokens, money and time, as it is kept, and as a step of a trajectory."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from orvl.gateway.issues import issues_of
from orvl.gateway.wire.format import TokenCounts
from orvl.gateway.wire.values import as_object
from orvl.types import ModelCall

if TYPE_CHECKING:
    from orvl.gateway.retry import UpstreamCall
    from orvl.gateway.wire.format import ModelAnswer
    from orvl.project.providers import Provider

LONG_SILENCE = 20.0
BYTES_PER_TOKEN = 3


def cost_of(provider: Provider, model: str, tokens: TokenCounts | None) -> float | None:
    """What tokens cost; None if the tokens or their price is unknown."""
    price = provider.price(model)
    if tokens is None or price is None:
        return None
    return price.cost(tokens.input, tokens.cached or 0, tokens.cache_write or 0, tokens.output, tokens.reasoning or 0)


def close(call: UpstreamCall, estimate: float, *, had_reasoning: bool = False) -> ModelCall:
    """Ends a call, however it went: secrets are removed, and its account is charged instead of the estimate."""
    account = call.account
    call.answer.redact(call.redactor.text)
    done = model_call(call, had_reasoning=had_reasoning)
    tokens = _charged_tokens(call)
    charged = done.cost_usd
    if charged is None:
        charged = cost_of(account.provider, call.asked.model, tokens) or 0.0
    account.close(call, estimate, done, charged, tokens.total)
    return done


def _charged_tokens(call: UpstreamCall) -> TokenCounts:
    """The tokens that count against limits and budget.

    A provider also charges for an answer that did not arrive to its end or that the agent did not wait for. Its
    tokens are then estimated from the bytes that passed, so that an agent cannot spend for free by hanging up.
    """
    answer = call.answer
    if answer.tokens is not None and answer.complete:
        return answer.tokens
    was_sent = call.is_answered or (call.agent_left and call.began)
    if not was_sent:
        return TokenCounts()
    written = len(answer.text) + len(answer.reasoning) + sum(len(tool.arguments) for tool in answer.tools)
    return TokenCounts(input=len(call.body) // BYTES_PER_TOKEN, output=written // BYTES_PER_TOKEN)


def model_call(call: UpstreamCall, *, had_reasoning: bool) -> ModelCall:
    """The call as it is kept."""
    answer, asked = call.answer, call.asked
    tokens = answer.tokens if answer.complete else None
    cost = cost_of(call.account.provider, asked.model, tokens)
    source = None if cost is None else "metered"
    if answer.cost is not None and answer.complete:
        cost, source = answer.cost, "provider"
    return ModelCall(
        number=call.number,
        turn=call.account.turn,
        protocol=call.route.protocol,
        asked_model=asked.model,
        started=call.started,
        stream=asked.stream,
        status=call.status,
        left=call.agent_left and not answer.complete,
        trouble=_trouble(call),
        tries=call.tries,
        seconds=time.monotonic() - call.began if call.began else 0.0,
        waited=call.waited,
        first_token=call.first_token,
        served_model=answer.model,
        host=answer.host,
        finish=answer.finish,
        input_tokens=tokens.input if tokens else None,
        cached_tokens=tokens.cached if tokens else None,
        cache_write_tokens=tokens.cache_write if tokens else None,
        output_tokens=tokens.output if tokens else None,
        reasoning_tokens=tokens.reasoning if tokens else None,
        cost_usd=cost,
        cost_source=source,
        tool_calls=len(answer.tools) if answer.complete else 0,
        answers_back=asked.answers_back,
        reasoning_given=answer.has_reasoning,
        reasoning_back=asked.reasoning_back > 0 if had_reasoning and asked.answers_back else None,
        findings=tuple(issues_of(call)),
    )


def _trouble(call: UpstreamCall) -> str | None:
    if call.failure is not None:
        return call.failure.message
    silence = time.monotonic() - call.open_call.last_heard
    if call.agent_left and call.open_call.is_held:
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

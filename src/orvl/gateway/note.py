"""What is noted of a call: figures, money, and what the endpoint did not do well."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from orvl.gateway.names import is_same_model
from orvl.gateway.tools import findings_in
from orvl.gateway.wire.format import TokenCounts
from orvl.types import CallIssue, ModelCall

if TYPE_CHECKING:
    from orvl.gateway.tries import Tries
    from orvl.project.providers import Provider

LONG_SILENCE = 20.0
BYTES_PER_TOKEN = 3


def cost_of(provider: Provider, model: str, tokens: TokenCounts | None) -> tuple[float | None, str | None]:
    """What tokens cost, and how that is known."""
    if tokens is None:
        return None, None
    price = provider.price(model)
    if price is None:
        return None, None
    apart = (tokens.cached or 0, tokens.cache_write or 0)
    cost = price.cost(tokens.input, *apart, tokens.output, tokens.reasoning or 0)
    return cost, "metered"


def tokens_of(call: Tries) -> TokenCounts:
    """What a call took; a guess by bytes where its answer did not tell, or not to its end."""
    answer, is_begun = call.answer, call.status is not None and 200 <= call.status < 300
    if answer.tokens is not None and answer.complete:
        return answer.tokens
    if not is_begun and not (call.agent_left and call.began):
        return TokenCounts()
    said = len(answer.text) + len(answer.reasoning) + sum(len(tool.arguments) for tool in answer.tools)
    return TokenCounts(input=len(call.body) // BYTES_PER_TOKEN, output=said // BYTES_PER_TOKEN)


def noted(call: Tries, *, before_had_reasoning: bool) -> ModelCall:
    """The call as it is kept."""
    answer, asked = call.answer, call.asked
    is_left = call.agent_left and not answer.complete
    tokens = answer.tokens if answer.complete else None
    cost, source = cost_of(call.account.provider, asked.model, tokens)
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
        left=is_left,
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
        reasoning_back=asked.reasoning_back > 0 if before_had_reasoning and asked.answers_back else None,
        findings=tuple(_findings(call)),
    )


def _trouble(call: Tries) -> str | None:
    if call.trouble is not None:
        return call.trouble.words
    silence = time.monotonic() - call.open.heard
    if call.agent_left and call.open.held:
        return f"orvl held the call back for {silence:.0f} s, as no more are wanted now, and the agent left"
    if call.agent_left and silence > LONG_SILENCE:
        return f"it said nothing for {silence:.0f} s, and the agent left"
    return None


def _findings(call: Tries) -> list[CallIssue]:
    answer, asked, account = call.answer, call.asked, call.account
    found = []
    if not is_same_model(account.model, asked.model):
        found.append(CallIssue("agent asked for another model", f"{asked.model} instead of {account.model}"))
    if call.status is None or not 200 <= call.status < 300 or call.trouble is not None or call.agent_left:
        return found
    if answer.model and not is_same_model(asked.model, answer.model):
        found.append(CallIssue("another model", f"{answer.model} answered instead of {asked.model}"))
    before = [one.host for one in account.calls if one.host]
    if answer.host and before and answer.host not in before:
        found.append(
            CallIssue("another host", f"{answer.host} answered, and before {', '.join(dict.fromkeys(before))}")
        )
    found += findings_in(asked, answer.tools[:-1] if answer.cut_off else answer.tools)
    if answer.refused:
        found.append(CallIssue("refusal", f"finish reason {answer.finish}"))
    elif answer.cut_off:
        found.append(CallIssue("cut off", f"finish reason {answer.finish}"))
    elif answer.is_empty:
        found.append(CallIssue("empty", f"no text and no tool call, finish reason {answer.finish}"))
    if answer.tokens is None:
        found.append(CallIssue("no usage", "the answer does not tell its tokens"))
    if answer.unreadable:
        found.append(CallIssue("unreadable", f"{answer.unreadable} pieces are not what the protocol says"))
    return found

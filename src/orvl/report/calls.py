"""A run's model calls: a summary, one line each, or one in full."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.rate.endpoints import failure
from orvl.rate.stats.shares import median
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from orvl.capture.stored_run import CallDetails
    from orvl.types import Attempt, ModelCall, Usage

MOST_NUMBERS = 12
OWN_FIGURES = {
    "input_tokens": "input tokens",
    "cached_tokens": "cached tokens",
    "output_tokens": "output tokens",
    "tool_calls": "tool calls",
    "cost_usd": "cost",
}


def was_left(call: ModelCall) -> bool:
    """Whether the agent hung up before the response ended."""
    return call.left and call.trouble is None


def how_it_failed(call: ModelCall) -> str | None:
    """Why a call has no good response; None where it has one, or where the agent hung up."""
    if call.trouble is None and (was_left(call) or 200 <= (call.status or 0) < 300):
        return None
    return failure(call.status, untroubled=call.trouble is None)


# -- in short


def summary(calls: Sequence[ModelCall], provider: str, attempt: Attempt) -> Iterator[str]:
    """Counts, tokens, cost and latency of a run's calls; what went wrong is marked with `!`."""
    if not calls:
        return
    yield f"model calls: {', '.join(_counts(calls))}"
    yield f"  {_used(calls)}"
    yield f"  cost {_cost(calls, attempt.usage.cost_usd)}"
    first = sorted(call.first_token for call in calls if call.stream and call.first_token is not None)
    if (middle := median(first)) is not None:
        yield f"  first token after {middle:.2f} s (median of {count(len(first), 'stream')})"
    yield from _marks(calls, provider)
    yield from _own_figures(attempt.usage, attempt.told)


def _counts(calls: Sequence[ModelCall]) -> Iterator[str]:
    yield str(len(calls))
    if failed := sum(how_it_failed(call) is not None for call in calls):
        yield f"{failed} failed"
    if left := sum(was_left(call) for call in calls):
        yield f"{left} abandoned by the agent"
    if retries := sum(max(call.tries - 1, 0) for call in calls):
        yield f"{retries} {'retry' if retries == 1 else 'retries'}"
    if (waited := sum(call.waited for call in calls)) >= 0.05:
        yield f"delayed {seconds(waited)} by rate limits"


def _used(calls: Sequence[ModelCall]) -> str:
    told = [call for call in calls if call.output_tokens is not None]
    untold = sum(200 <= (call.status or 0) < 300 and call.output_tokens is None for call in calls)
    more = f", plus {count(untold, 'response')} without usage" if told and untold else ""
    bounds = sum(call.is_bound for call in told)
    most = "≤ " if bounds else ""
    by_bound = f" ({count(bounds, 'call')} counted by the upper bound)" if bounds else ""
    return f"tokens {most}{_tokens(told)}{more}{by_bound}"


def _cost(calls: Sequence[ModelCall], total: float | None) -> str:
    """The run's cost and its source; where that is unknown, the sum of the known parts."""
    known = [call.cost_usd for call in calls if call.cost_usd is not None]
    if not known:
        return dollars(total)
    sources = ", ".join(sorted({call.cost_source for call in calls if call.cost_source}))
    most = "≤ " if any(call.is_bound for call in calls) else ""
    at_least = f"at least {dollars(sum(known))}" if total is None else most + dollars(total)
    return f"{at_least} ({sources})" if sources else at_least


def _tokens(told: Sequence[ModelCall]) -> str:
    if not told:
        return "unknown"
    total = {name: sum(getattr(call, name) or 0 for call in told) for name in ("input_tokens", "output_tokens")}
    parts = {
        "cached": sum(call.cached_tokens or 0 for call in told),
        "written to the cache": sum(call.cache_write_tokens or 0 for call in told),
    }
    inside = ", ".join(f"{number:,} {name}" for name, number in parts.items() if number)
    reasoning = sum(call.reasoning_tokens or 0 for call in told)
    into = f"{total['input_tokens']:,} in" + (f" ({inside})" if inside else "")
    return f"{into}, {total['output_tokens']:,} out" + (f" ({reasoning:,} of reasoning)" if reasoning else "")


def _marks(calls: Sequence[ModelCall], provider: str) -> Iterator[str]:
    hosts = sorted({call.host for call in calls if call.host})
    if len(hosts) > 1:
        yield f"  ! several hosts answered: {plain(', '.join(hosts))}"
    elif hosts and hosts[0].lower() != provider.lower():
        yield f"  ! {plain(hosts[0])} answered for {plain(provider)}"
    found: dict[tuple[str, str], list[int]] = {}
    for call in calls:
        for finding in call.findings:
            found.setdefault((finding.kind, finding.detail), []).append(call.number)
        if failed := how_it_failed(call):
            found.setdefault((failed, call.trouble or ""), []).append(call.number)
    for (kind, detail), numbers in sorted(found.items(), key=lambda one: one[1][0]):
        yield f"  ! {_numbers(numbers)}: {plain(kind)}" + (f": {plain(detail)}" if detail else "")


def _numbers(numbers: Sequence[int]) -> str:
    once = list(dict.fromkeys(numbers))
    shown = ", ".join(map(str, once[:MOST_NUMBERS]))
    more = f" and {len(once) - MOST_NUMBERS} more" if len(once) > MOST_NUMBERS else ""
    return f"call{'s' if len(once) > 1 else ''} {shown}{more}"


def _own_figures(usage: Usage, told: Usage | None) -> Iterator[str]:
    """The agent's own figures where they differ from the gateway's."""
    if told is None:
        return
    differing = []
    for name, words in OWN_FIGURES.items():
        metered, own = getattr(usage, name), getattr(told, name)
        if own is None or own == metered or (name == "cost_usd" and metered is not None and abs(own - metered) < 5e-7):
            continue
        shown = [dollars(one) if name == "cost_usd" else _number(one) for one in (own, metered)]
        differing.append(f"{words} {shown[0]} (gateway: {shown[1]})")
    if differing:
        yield f"  the agent's own figures differ: {', '.join(differing)}"


def _number(value: int | None) -> str:
    return "unknown" if value is None else f"{value:,}"


# -- one line each


def lines(calls: Iterable[ModelCall]) -> Iterator[str]:
    for call in calls:
        told = [f"#{call.number}", f"turn {call.turn}", call.protocol, plain(call.asked_model)]
        told.append(how_it_failed(call) or ("abandoned by the agent" if was_left(call) else "answered"))
        told.append(seconds(call.seconds))
        if call.first_token is not None:
            told.append(f"first token {call.first_token:.2f} s")
        most = "≤ " if call.is_bound else ""
        told.append("tokens unknown" if call.output_tokens is None else f"tokens {most}{_tokens([call])}")
        told.append(f"cost {dollars(call.cost_usd) if call.cost_usd is None else most + dollars(call.cost_usd)}")
        if call.tool_calls:
            told.append(count(call.tool_calls, "tool call"))
        if call.tries > 1:
            told.append(f"{call.tries} tries")
        if call.served_model and call.served_model != call.asked_model:
            told.append(f"answered by {plain(call.served_model)}")
        if call.host:
            told.append(f"at {plain(call.host)}")
        kinds = dict.fromkeys(finding.kind for finding in call.findings)
        yield ", ".join(told) + "".join(f" ! {plain(kind)}" for kind in kinds)


# -- one in full


def call_json(details: CallDetails) -> dict[str, Any]:
    parts = {name: getattr(details, name) for name in ("path", "type", "asked", "answered")}
    return {**asdict(details.call), **parts}


def call_lines(details: CallDetails) -> Iterator[str]:
    """The figures, then the request and the response."""
    call = asdict(details.call)
    yield f"call {details.call.number}, {plain(details.path or '')}".rstrip(", ")
    for name, value in call.items():
        if name not in ("findings", "number") and value not in (None, 0, ""):
            yield f"  {name}: {plain(str(value))}"
    for issue in details.call.findings:
        yield f"  ! {plain(issue.kind)}: {plain(issue.detail)}"
    yield "\nrequest:"
    yield _body(details.asked)
    if details.assembled:
        yield "\nresponse, assembled from the stream:"
        yield _body(json.dumps(details.assembled, ensure_ascii=False))
    yield f"\nresponse ({plain(details.type or 'nothing')}):"
    yield _body(details.answered)


def _body(text: str | None) -> str:
    """Pretty JSON, or the text as it is."""
    if text is None:
        return "  not kept"
    try:
        text = json.dumps(json.loads(text), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        pass
    return plain(text, lines=True)

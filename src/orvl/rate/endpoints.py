"""Endpoints: what each provider made of each model, counted over the calls that the store holds."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.rate.stats.shares import median, quantile_interval, wilson_interval
from orvl.store.rows import CallFilter

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.store import Store

ASKED_OTHER = "agent asked for another model"
BAD_TOOL_CALLS = ("unknown tool", "invalid JSON", "off the schema")
TOKENS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True)
class Share:
    """So many of so many."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True)
class Middle:
    """The median of measured values, in order."""

    ordered: Sequence[float]

    @property
    def value(self) -> float | None:
        return median(self.ordered)

    @property
    def interval(self) -> tuple[float, float] | None:
        return quantile_interval(self.ordered)


@dataclass
class EndpointStats:
    """One model at one provider, as it was really served."""

    model: str
    provider: str
    asked_by: set[tuple[str, str]] = field(default_factory=set)
    """The (agent, eval) pairs whose runs made these calls."""
    sums: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    served: Counter[str] = field(default_factory=Counter)
    wrong: Counter[str] = field(default_factory=Counter)
    """The models that answered in place of the one that was asked for."""
    hosts: Counter[str] = field(default_factory=Counter)
    cost_sources: list[str] = field(default_factory=list)
    first_tokens: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)

    @property
    def agents(self) -> list[str]:
        return sorted({agent for agent, _ in self.asked_by})

    @property
    def failed(self) -> Share:
        failed = sum(self.failures.values())
        return Share(failed, failed + self.sums["answered"])

    @property
    def well_formed(self) -> Share:
        made = self.sums["tool_calls"]
        return Share(made - sum(self.findings[kind] for kind in BAD_TOOL_CALLS), made)

    @property
    def another_model(self) -> Share:
        return Share(self.findings["another model"], sum(self.served.values()))

    @property
    def passed_back(self) -> Share:
        return Share(self.sums["passed_back"], self.sums["passed_back"] + self.sums["lost"])

    @property
    def cached(self) -> Share:
        return Share(self.sums["cached_tokens"], self.sums["input_tokens"])

    @property
    def first_token(self) -> Middle:
        return Middle(self.first_tokens)

    @property
    def rate(self) -> Middle:
        return Middle(self.rates)

    def of_answered(self, kind: str) -> Share:
        return Share(self.findings[kind], self.sums["answered"])

    def total(self, name: str) -> tuple[float | None, int]:
        """A sum over the calls that told, None where none did; and how many whole or begun answers did not."""
        told = self.sums["told_cost" if name == "cost_usd" else "told_tokens"]
        untold = self.sums["unpriced" if name == "cost_usd" else "uncounted"]
        return (self.sums[name] if told else None), untold


@dataclass(frozen=True)
class Failing:
    """One thing that went wrong in one call."""

    model: str
    provider: str
    agent: str
    run: str
    attempt: int
    is_last: bool
    call: int
    kind: str
    detail: str

    @property
    def command(self) -> str:
        earlier = "" if self.is_last else f" --attempt {self.attempt}"
        return f"orvl show {self.run[:12]}{earlier} --call {self.call}"


class Calls:
    """The stored calls of chosen cells. A call for another model than its run's counts for the model it asked for."""

    def __init__(self, store: Store, cells: dict[int, tuple[str, str, str, str]]) -> None:
        self.store, self.cells = store, cells
        self.others = self._asked_for_others()
        self._own: dict[tuple[str, str], list[int]] = {}
        self._more: dict[tuple[str, str], list[int]] = {}
        for cell, (_, model, provider, _) in cells.items():
            self._own.setdefault((model, provider), []).append(cell)
        for cell, asked in self.others:
            self._more.setdefault((asked, cells[cell][2]), []).append(cell)

    def endpoints(self) -> list[EndpointStats]:
        """By model, then by provider."""
        found = [self._endpoint(model, provider) for model, provider in sorted({*self._own, *self._more})]
        return [endpoint for endpoint in found if endpoint.sums["calls"]]

    def _asked_for_others(self) -> Counter[tuple[int, str]]:
        calls = self.store.other_model_calls()
        return Counter({(call.cell, call.asked_model): call.number for call in calls if call.cell in self.cells})

    def _filter(self, model: str, provider: str) -> CallFilter:
        place = model, provider
        return CallFilter(model, self._own.get(place, []), self._more.get(place, []))

    def _endpoint(self, model: str, provider: str) -> EndpointStats:
        totals = self.store.call_totals(self._filter(model, provider))
        endpoint = EndpointStats(model, provider, sums=Counter(totals.sums), cost_sources=list(totals.cost_sources))
        endpoint.asked_by = {(self.cells[cell][0], self.cells[cell][3]) for cell in totals.cells}
        for status, untroubled, number in totals.failures:
            endpoint.failures[failure(status, untroubled=untroubled)] += number
        for served, host, number in totals.answers:
            endpoint.served.update({served: number} if served else {})
            endpoint.hosts.update({host: number} if host else {})
        for kind, served, number in totals.findings:
            endpoint.findings[kind] += number
            endpoint.wrong.update({served: number} if served and kind == "another model" else {})
        endpoint.first_tokens = sorted(first for first, _ in totals.speeds)
        endpoint.rates = sorted(rate for _, rate in totals.speeds if rate)
        return endpoint

    def failing(self, endpoints: Sequence[EndpointStats]) -> Iterator[Failing]:
        """All that went wrong, by endpoint, run and call."""
        for endpoint in endpoints:
            here = endpoint.model, endpoint.provider
            for call in self.store.failing_calls(self._filter(*here)):
                wrong = [(kind, detail) for kind, detail in call.findings if kind != ASKED_OTHER]
                reason = failure(call.status, untroubled=call.trouble is None)
                agent = self.cells[call.cell][0]
                for kind, detail in wrong or [(reason, call.trouble or "")]:
                    yield Failing(*here, agent, call.run, call.attempt, call.is_last, call.number, kind, detail)


def failure(status: int | None, *, untroubled: bool) -> str:
    """How a call failed: without an answer, within one, or with a status."""
    if status is None:
        return "no answer"
    return f"status {status}" if untroubled or not 200 <= status < 300 else "broken off"


def as_json(
    endpoints: Sequence[EndpointStats], failing: Sequence[Failing], differences: Sequence[str], warnings: Sequence[str]
) -> dict[str, Any]:
    """The versioned shape: every count with its share and interval; null is unknown."""
    return {
        "schema": 1,
        "endpoints": [_endpoint(one) for one in endpoints],
        "differences": list(differences),
        "failing": [
            {name: getattr(one, name) for name in (*Failing.__dataclass_fields__, "command") if name != "is_last"}
            for one in failing
        ],
        "warnings": list(warnings),
    }


def _endpoint(one: EndpointStats) -> dict[str, Any]:
    sums = one.sums
    return {
        "model": one.model,
        "provider": one.provider,
        "agents": one.agents,
        "runs": sums["runs"],
        "calls": sums["calls"],
        "answered": sums["answered"],
        "left": sums["left"],
        "failed": {**_share(one.failed), "kinds": dict(one.failures)},
        "retries": sums["retries"],
        "waited_seconds": sums["waited"],
        "tool_calls": sums["tool_calls"],
        "well_formed": {**_share(one.well_formed), **{kind: one.findings[kind] for kind in BAD_TOOL_CALLS}},
        **{
            name: _share(one.of_answered(kind))
            for name, kind in (("empty", "empty"), ("cut_off", "cut off"), ("refused", "refusal"))
        },
        "no_usage": one.findings["no usage"],
        "unreadable": one.findings["unreadable"],
        "another_model": {**_share(one.another_model), "models": dict(one.wrong)},
        "served_models": dict(one.served),
        "hosts": dict(one.hosts),
        "reasoning": {"given": sums["reasoning_given"], "passed_back": sums["passed_back"], "lost": sums["lost"]},
        "cached_share": one.cached.value,
        "first_token_seconds": _middle(one.first_token),
        "tokens_per_second": _middle(one.rate),
        "usage": {
            **{name: one.total(name)[0] for name in TOKENS},
            "uncounted_calls": sums["uncounted"],
            "cost_usd": one.total("cost_usd")[0],
            "unpriced_calls": sums["unpriced"],
            "cost_sources": sorted(one.cost_sources),
        },
    }


def _share(share: Share) -> dict[str, Any]:
    return {
        "count": share.count,
        "of": share.of,
        "share": share.value,
        "interval": list(share.interval) if share.interval else None,
    }


def _middle(middle: Middle) -> dict[str, Any]:
    interval = middle.interval
    return {"median": middle.value, "interval": list(interval) if interval else None, "of": len(middle.ordered)}

"""Endpoints: how each provider served each model, over all stored calls."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from orvl.rate.stats.shares import median, quantile_interval, wilson_interval
from orvl.store.rows import CallFilter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from orvl.store import Store

ASKED_OTHER = "agent asked for another model"
BAD_TOOL_CALLS = ("unknown tool", "invalid JSON", "off the schema")
TOKENS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")


@dataclass(frozen=True)
class Share:
    """A count out of a total."""

    count: int
    of: int

    @property
    def value(self) -> float | None:
        return self.count / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        return wilson_interval(self.count, self.of)


@dataclass(frozen=True)
class Median:
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
    def first_token(self) -> Median:
        return Median(self.first_tokens)

    @property
    def rate(self) -> Median:
        return Median(self.rates)

    def of_answered(self, kind: str) -> Share:
        return Share(self.findings[kind], self.sums["answered"])

    def total(self, name: str) -> tuple[float | None, int]:
        """A sum over the calls that reported it, None where none did; and how many answers did not."""
        told = self.sums["told_cost" if name == "cost_usd" else "told_tokens"]
        untold = self.sums["unpriced" if name == "cost_usd" else "uncounted"]
        return (self.sums[name] if told else None), untold


@dataclass(frozen=True)
class FailingCall:
    """One thing that went wrong in one model call."""

    model: str
    provider: str
    agent: str
    run: str
    attempt: int
    is_last: bool
    call: int
    kind: str
    detail: str


class Calls:
    """The stored calls of chosen cells. A call for a model other than its run's counts for the model it asked for."""

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

    def failing(self, endpoints: Sequence[EndpointStats]) -> Iterator[FailingCall]:
        """All that went wrong, by endpoint, run and call."""
        for endpoint in endpoints:
            here = endpoint.model, endpoint.provider
            for call in self.store.failing_calls(self._filter(*here)):
                wrong = [(kind, detail) for kind, detail in call.findings if kind != ASKED_OTHER]
                reason = failure(call.status, untroubled=call.trouble is None)
                agent = self.cells[call.cell][0]
                for kind, detail in wrong or [(reason, call.trouble or "")]:
                    yield FailingCall(*here, agent, call.run, call.attempt, call.is_last, call.number, kind, detail)


def failure(status: int | None, *, untroubled: bool) -> str:
    """How a call failed: without an answer, in the middle of one, or with a status."""
    if status is None:
        return "no answer"
    return f"status {status}" if untroubled or not 200 <= status < 300 else "broken off"


@dataclass(frozen=True)
class Difference:
    """Where one provider of a model is clearly worse than the best one."""

    model: str
    worse: str
    best: str
    shares: tuple[tuple[str, Share, Share], ...]
    """What differs, with the worse provider's share and the best one's."""
    same_runs: bool
    """Whether the same agents and evals called both."""


def differences(endpoints: Sequence[EndpointStats]) -> list[Difference]:
    """Pairs of providers of one model whose intervals do not overlap."""
    found = []
    for model, group in groupby(endpoints, key=lambda endpoint: endpoint.model):
        by_name = {endpoint.provider: endpoint for endpoint in group}
        pairs: dict[tuple[str, str], list[tuple[str, Share, Share]]] = {}
        for what, (share, more_is_better) in COMPARED.items():
            shares = {name: share(endpoint) for name, endpoint in by_name.items()}
            for worse, best in _apart(shares, what, more_is_better):
                pairs.setdefault((worse, best), []).append((what, shares[worse], shares[best]))
        for (worse, best), differing in pairs.items():
            same_runs = by_name[worse].asked_by == by_name[best].asked_by
            found.append(Difference(model, worse, best, tuple(differing), same_runs))
    return found


def _apart(shares: dict[str, Share], what: str, more_is_better: bool) -> Iterator[tuple[str, str]]:
    """The providers whose interval is wholly on the worse side of the best one's; one mismatch is enough."""
    known = {name: share.interval for name, share in shares.items() if share.interval}
    if len(known) < 2:
        return
    best = max(known, key=lambda name: known[name][0] if more_is_better else -known[name][1])
    for name, (low, high) in known.items():
        apart = high < known[best][0] if more_is_better else low > known[best][1]
        is_mismatch = what == ANOTHER_MODEL and shares[name].count and not shares[best].count
        if name != best and (apart or is_mismatch):
            yield name, best


WELL_FORMED = "well-formed tool calls"
ANOTHER_MODEL = "answers of another model"
COMPARED: dict[str, tuple[Callable[[EndpointStats], Share], bool]] = {
    WELL_FORMED: (lambda one: one.well_formed, True),
    "failed calls": (lambda one: one.failed, False),
    "empty answers": (lambda one: one.of_answered("empty"), False),
    "answers cut off": (lambda one: one.of_answered("cut off"), False),
    "refusals": (lambda one: one.of_answered("refusal"), False),
    ANOTHER_MODEL: (lambda one: one.another_model, False),
}
"""The shares by which providers are compared, and whether more is better."""

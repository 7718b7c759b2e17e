"""Endpoints: what each provider made of each model, counted over the calls that the store holds."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from orvl.rate.stats.shares import median, quantile_interval, wilson_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.store import Store

ASKED_OTHER = "agent asked for another model"
BAD_TOOL_CALLS = ("unknown tool", "invalid JSON", "off the schema")
BEGUN = "m.status BETWEEN 200 AND 299"
LEFT = "(m.trouble IS NULL AND m.left)"
ANSWERED = f"(m.trouble IS NULL AND {BEGUN} AND NOT m.left)"
IS_OTHER = f"""instr(m.findings, '"kind": "{ASKED_OTHER}"')"""
FROM = "FROM run JOIN attempt ON attempt.run = run.id JOIN model_call m ON m.attempt = attempt.id"
FAILING = (
    f"CASE WHEN {ANSWERED} THEN m.findings <> '[]' AND NOT ({IS_OTHER} AND json_array_length(m.findings) = 1) "
    f"ELSE NOT {LEFT} END"
)
BURST = 0.05
TOKENS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
SUMS = {
    "calls": "count(*)",
    "answered": f"sum({ANSWERED})",
    "left": f"sum({LEFT})",
    "failing": f"sum({FAILING})",
    "runs": "count(DISTINCT run.id)",
    "retries": "sum(max(m.tries - 1, 0))",
    "waited": "sum(m.waited)",
    "tool_calls": f"sum(CASE WHEN {ANSWERED} THEN m.tool_calls ELSE 0 END)",
    "reasoning_given": f"sum({ANSWERED} AND m.reasoning_given)",
    "passed_back": "sum(m.reasoning_back IS 1)",
    "lost": "sum(m.reasoning_back IS 0)",
    **{name: f"sum(m.{name})" for name in (*TOKENS, "cost_usd")},
    "told_tokens": "count(m.output_tokens)",
    "told_cost": "count(m.cost_usd)",
    "uncounted": f"sum({BEGUN} AND m.output_tokens IS NULL)",
    "unpriced": f"sum({BEGUN} AND m.cost_usd IS NULL)",
}


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
        query = f"SELECT run.cell, m.asked_model, count(*) {FROM} WHERE {IS_OTHER} GROUP BY 1, 2"
        return Counter({(cell, asked): n for cell, asked, n in self.store.rows(query) if cell in self.cells})

    def _rows(self, model: str, provider: str, what: str, also: str = "1", last: str = "") -> list[Any]:
        """Of the calls of one endpoint."""
        own, more = self._own.get((model, provider), []), self._more.get((model, provider), [])
        here = f"run.cell IN (SELECT value FROM json_each(?1)) AND NOT {IS_OTHER}"
        if more:
            is_own = "run.cell IN (SELECT value FROM json_each(?1))"
            is_more = "run.cell IN (SELECT value FROM json_each(?2))"
            here = f"({is_own} OR {is_more}) AND CASE WHEN {IS_OTHER} THEN m.asked_model = ?3 ELSE {is_own} END"
        values = (json.dumps(own), json.dumps(more), model)[: 3 if more else 1]
        return self.store.rows(f"SELECT {what} WHERE {here} AND {also} {last}", values)

    def _endpoint(self, model: str, provider: str) -> EndpointStats:
        endpoint = EndpointStats(model, provider)
        columns = ", ".join(SUMS.values())
        sets = "json_group_array(DISTINCT run.cell), json_group_array(DISTINCT m.cost_source)"
        ((cells, sources, *sums),) = self._rows(model, provider, f"{sets}, {columns} {FROM}")
        endpoint.sums.update({name: value or 0 for name, value in zip(SUMS, sums, strict=True)})
        if not endpoint.sums["calls"]:
            return endpoint
        endpoint.asked_by = {(self.cells[cell][0], self.cells[cell][3]) for cell in json.loads(cells)}
        endpoint.cost_sources = sorted(source for source in json.loads(sources) if source)
        self._tell_apart(endpoint)
        self._measure(endpoint)
        return endpoint

    def _tell_apart(self, endpoint: EndpointStats) -> None:
        """How calls failed, who answered, and what was found about the answers."""
        here = endpoint.model, endpoint.provider
        what, failed = f"m.status, m.trouble IS NULL, count(*) {FROM}", f"NOT {ANSWERED} AND NOT {LEFT}"
        for status, untroubled, n in self._rows(*here, what, failed, "GROUP BY 1, 2"):
            endpoint.failures[failure(status, untroubled=bool(untroubled))] += n
        for served, host, n in self._rows(*here, f"m.served_model, m.host, count(*) {FROM}", ANSWERED, "GROUP BY 1, 2"):
            endpoint.served.update({served: n} if served else {})
            endpoint.hosts.update({host: n} if host else {})
        kind = "json_extract(finding.value, '$.kind')"
        what = f"{kind}, m.served_model, count(*) {FROM} JOIN json_each(m.findings) finding"
        for name, served, n in self._rows(*here, what, f"m.findings <> '[]' AND {ANSWERED}", "GROUP BY 1, 2"):
            endpoint.findings[name] += n
            endpoint.wrong.update({served: n} if name == "another model" else {})

    def _measure(self, endpoint: EndpointStats) -> None:
        """Streams only. Reasoning that is not streamed comes before the first token; what comes at once has no rate."""
        output = "m.output_tokens - CASE WHEN m.reasoning_given THEN 0 ELSE coalesce(m.reasoning_tokens, 0) END"
        took = "(m.seconds - m.first_token)"
        what = f"m.first_token, CASE WHEN {took} >= {BURST} THEN ({output}) / {took} END {FROM}"
        also = f"m.stream AND {ANSWERED} AND m.first_token IS NOT NULL"
        measured = self._rows(endpoint.model, endpoint.provider, what, also)
        endpoint.first_tokens = sorted(first for first, _ in measured)
        endpoint.rates = sorted(rate for _, rate in measured if rate)

    def failing(self, endpoints: Sequence[EndpointStats]) -> Iterator[Failing]:
        """All that went wrong, by endpoint, run and call."""
        place = "(SELECT count(*) FROM attempt o WHERE o.run = run.id AND o.id <= attempt.id)"
        later = "(SELECT count(*) FROM attempt o WHERE o.run = run.id AND o.id > attempt.id)"
        findings = f"CASE WHEN {ANSWERED} THEN m.findings ELSE '[]' END"
        what = f"run.cell, run.key, {place}, {later}, m.number, m.status, m.trouble, {findings} {FROM}"
        for endpoint in endpoints:
            here = endpoint.model, endpoint.provider
            for cell, run, attempt, later_ones, number, status, trouble, found in self._rows(
                *here, what, FAILING, "ORDER BY attempt.id, m.number"
            ):
                wrong = [(one["kind"], one["detail"]) for one in json.loads(found) if one["kind"] != ASKED_OTHER]
                for kind, detail in wrong or [(failure(status, untroubled=trouble is None), trouble or "")]:
                    agent, is_last = self.cells[cell][0], not later_ones
                    yield Failing(*here, agent, run, attempt, is_last, number, kind, detail)


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

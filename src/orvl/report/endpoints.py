"""Endpoints as tables that fit the terminal, as JSON, and as sentences on where providers of one model differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from orvl.plan.identities import identities
from orvl.plan.selection import stored_matcher
from orvl.project.names import count
from orvl.rate.endpoints import BAD_TOOL_CALLS, TOKENS, WELL_FORMED, Calls, differences
from orvl.report.columns import UNKNOWN, Column
from orvl.report.table import make_table
from orvl.report.terminal import TextTable
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from orvl.plan.selection import Selection
    from orvl.project import Project
    from orvl.rate.endpoints import Difference, EndpointStats, FailingCall, Median, Share
    from orvl.report.terminal import Terminal
    from orvl.store import Store

NAME = Column["EndpointStats"](
    heading="model provider", cell=lambda one: plain(f"{one.model} {one.provider}"), words=True
)


@dataclass(frozen=True)
class ShownEndpoints:
    """What `orvl endpoints` says of the stored calls that fit the words."""

    calls: Calls
    rows: Sequence[EndpointStats]
    warnings: Sequence[str]

    @property
    def failing(self) -> int:
        """Calls in which something went wrong."""
        return sum(row.sums["failing"] for row in self.rows)

    def as_json(self) -> dict[str, Any]:
        return as_json(self.rows, self.calls.failing(self.rows), differences(self.rows), self.warnings)

    def print(self, terminal: Terminal) -> None:
        print_endpoints(terminal, self.rows, differences(self.rows), self.warnings)


def shown_endpoints(project: Project, store: Store, words: Selection) -> ShownEndpoints:
    """Over the runs of the files as they are now."""
    cells = store.cells()
    keep = stored_matcher(project, words, [cell.names for cell in cells])
    known = identities(project, cells)
    counted = {cell.id: cell.names for cell in known.current.values() if keep(cell.names) and not cell.imported}
    calls = Calls(store, counted)
    rows = calls.endpoints()
    return ShownEndpoints(calls, rows, [*notes(rows), *others_asked(calls.cells, calls.others), *known.sentences(keep)])


# -- columns


def _columns() -> list[Column[EndpointStats]]:
    """Those without anything to show are only named."""
    return [
        Column("model", lambda one: one.model),
        Column("provider", lambda one: one.provider),
        Column("agents", lambda one: one.agents),
        _sum("runs", always=True),
        _sum("calls", always=True),
        Column(heading="tokens", cell=lambda one: _total(one, "input_tokens", "output_tokens")),
        Column(heading="cost", cell=lambda one: _total(one, "cost_usd")),
        _sum("answered", heading=""),
        _sum("left", heading=""),
        _share("failed", "failed", lambda one: one.failed, lambda one: {"kinds": dict(one.failures)}),
        _sum("retries"),
        Column("waited_seconds", lambda one: one.sums["waited"]),
        _sum("tool_calls", heading=""),
        Column(
            "well_formed",
            lambda one: {**share_json(one.well_formed), **{kind: one.findings[kind] for kind in BAD_TOOL_CALLS}},
            WELL_FORMED,
            lambda one: _share_of(one.well_formed),
            when=_any_tool_call,
            unseen="tool calls",
        ),
        Column(
            heading="name/JSON/schema",
            cell=lambda one: "/".join(str(one.findings[kind]) for kind in BAD_TOOL_CALLS),
            when=lambda rows: any(one.well_formed.of > one.well_formed.count for one in rows),
            unseen="name/JSON/schema",
        ),
        _share("empty", "empty", lambda one: one.of_answered("empty")),
        _share("cut_off", "cut off", lambda one: one.of_answered("cut off")),
        _share("refused", "refused", lambda one: one.of_answered("refusal")),
        _share("another_model", "other model", lambda one: one.another_model, lambda one: {"models": dict(one.wrong)}),
        _finding("no_usage", "no usage"),
        _finding("unreadable", "unreadable"),
        Column("served_models", lambda one: dict(one.served)),
        Column("hosts", lambda one: dict(one.hosts)),
        Column(
            "reasoning",
            lambda one: {
                "given": one.sums["reasoning_given"],
                "passed_back": one.sums["passed_back"],
                "lost": one.sums["lost"],
            },
            "reasoning",
            lambda one: str(one.sums["reasoning_given"]),
            when=lambda rows: any(one.sums["reasoning_given"] for one in rows),
            unseen="reasoning",
        ),
        Column(
            heading="sent back",
            cell=lambda one: f"{one.passed_back.count}/{one.passed_back.of}" if one.passed_back.of else UNKNOWN,
            when=lambda rows: any(one.passed_back.of for one in rows),
        ),
        Column(
            "first_token_seconds",
            lambda one: _median_json(one.first_token),
            "first token",
            lambda one: _median(one.first_token, " s"),
        ),
        Column("tokens_per_second", lambda one: _median_json(one.rate), "tokens/s", lambda one: _median(one.rate, "")),
        Column("cached_share", lambda one: one.cached.value, "cached", lambda one: _share_alone(one.cached)),
        Column("usage", _usage),
    ]


def _any_tool_call(rows: Sequence[EndpointStats]) -> bool:
    return any(one.sums["tool_calls"] for one in rows)


def _sum(name: str, heading: str | None = None, *, always: bool = False) -> Column[EndpointStats]:
    return Column(
        name,
        lambda one: one.sums[name],
        name if heading is None else heading,
        lambda one: str(one.sums[name]),
        when=lambda rows: always or any(one.sums[name] for one in rows),
        unseen=name if heading is None else "",
    )


def _finding(name: str, kind: str) -> Column[EndpointStats]:
    return Column(
        name,
        lambda one: one.findings[kind],
        kind,
        lambda one: str(one.findings[kind]),
        when=lambda rows: any(one.findings[kind] for one in rows),
        unseen=kind,
    )


def _share(
    name: str,
    heading: str,
    share: Callable[[EndpointStats], Share],
    more: Callable[[EndpointStats], Mapping[str, Any]] = lambda _: {},
) -> Column[EndpointStats]:
    return Column(
        name,
        lambda one: {**share_json(share(one)), **more(one)},
        heading,
        lambda one: _counted(share(one)),
        when=lambda rows: any(share(one).count for one in rows),
        unseen=heading,
    )


# -- JSON


def as_json(
    endpoints: Sequence[EndpointStats],
    failing: Iterable[FailingCall],
    differences: Iterable[Difference],
    warnings: Sequence[str],
) -> dict[str, Any]:
    """One object: every count with its share and interval; null is unknown."""
    columns = [column for column in _columns() if column.name]
    return {
        "schema": 1,
        "endpoints": [{column.name: column.value(one) for column in columns} for one in endpoints],
        "differences": [difference_sentence(one) for one in differences],
        "failing": [_failing_json(call) for call in failing],
        "warnings": list(warnings),
    }


def _failing_json(call: FailingCall) -> dict[str, Any]:
    names = ("model", "provider", "agent", "run", "attempt", "call", "kind", "detail")
    return {**{name: getattr(call, name) for name in names}, "command": command_of(call)}


def command_of(call: FailingCall) -> str:
    """The command that shows the call."""
    earlier = "" if call.is_last else f" --attempt {call.attempt}"
    return f"orvl show {call.run[:12]}{earlier} --call {call.call}"


def share_json(share: Share) -> dict[str, Any]:
    return {
        "count": share.count,
        "of": share.of,
        "share": share.value,
        "interval": list(share.interval) if share.interval else None,
    }


def _median_json(median: Median) -> dict[str, Any]:
    interval = median.interval
    return {"median": median.value, "interval": list(interval) if interval else None, "of": len(median.ordered)}


def _usage(one: EndpointStats) -> dict[str, Any]:
    return {
        **{name: one.total(name)[0] for name in TOKENS},
        "uncounted_calls": one.sums["uncounted"],
        "cost_usd": one.total("cost_usd")[0],
        "unpriced_calls": one.sums["unpriced"],
        "cost_sources": sorted(one.cost_sources),
    }


# -- tables


def print_endpoints(
    terminal: Terminal, rows: Sequence[EndpointStats], differences: Iterable[Difference], warnings: Iterable[str]
) -> None:
    """The tables, differences, warnings, and what the columns mean."""
    if not rows:
        terminal.print("No stored model call matches these words; only calls through orvl's gateway are stored.")
        return
    possible = [column for column in _columns() if column.heading]
    columns = [column for column in possible if column.when(rows)]
    terminal.print(_table(rows, [NAME, *columns]))
    for difference in differences:
        terminal.print(plain(difference_sentence(difference)), "bold")
    for sentence in warnings:
        terminal.print(f"! {plain(sentence)}", "yellow")
    has_calls = _any_tool_call(rows)
    unseen = [
        column.unseen
        for column in possible
        if column.unseen and column not in columns and (has_calls or column.unseen != "name/JSON/schema")
    ]
    for sentence in _legend(rows, {column.heading for column in columns}, unseen):
        terminal.print(sentence, "dim")


def print_failing(terminal: Terminal, failing: Iterable[FailingCall]) -> None:
    """One entry for each thing that went wrong, with the command that shows the call."""
    for (model, provider), group in groupby(failing, key=lambda call: (call.model, call.provider)):
        terminal.print()
        terminal.print(plain(f"{model} {provider}"), "bold")
        for call in group:
            what = f"{call.kind}: {call.detail}" if call.detail else call.kind
            terminal.print(plain(f"  {command_of(call)}  {call.agent}: {what}"))


def _table(rows: Sequence[EndpointStats], columns: Sequence[Column[EndpointStats]]) -> TextTable:
    """A line is left empty between models."""
    table = make_table(columns, rows)
    lines: list[Any] = []
    for number, line in enumerate(table.rows):
        if number and rows[number].model != rows[number - 1].model:
            lines.append(None)
        lines.append(line)
    return TextTable(table.columns, lines)


def _legend(rows: Sequence[EndpointStats], shown: set[str], unseen: Sequence[str]) -> Iterator[str]:
    yield "In brackets: 95 % intervals. – is unknown."
    if WELL_FORMED in shown:
        yield "well-formed: names a tool of the agent, in JSON that fits the tool's schema."
    if "name/JSON/schema" in shown:
        yield "name/JSON/schema: tool calls with an unknown name / broken JSON / arguments off the schema."
    if "sent back" in shown:
        yield "sent back: calls in which the agent sent earlier reasoning back / in which it could have."
    if any(one.first_tokens for one in rows):
        yield "first token, tokens/s: medians of streamed answers."
    sums = [_total(one, *names) for one in rows for names in (("input_tokens", "output_tokens"), ("cost_usd",))]
    if any(total.startswith("≥") for total in sums):
        yield "≥: some answers did not report theirs."
    if unseen:
        yield f"Never seen: {', '.join(unseen)}."


# -- sentences


def difference_sentence(difference: Difference) -> str:
    parts = [f"{what} {_share_of(worse)} against {_share_of(best)}" for what, worse, best in difference.shares]
    names = f"{difference.worse} and {difference.best} differ on {difference.model}"
    caveat = " Different agents and evals called them: name one of each to compare like with like."
    return f"{names}: {'; '.join(parts)}.{'' if difference.same_runs else caveat}"


def notes(rows: Sequence[EndpointStats]) -> Iterator[str]:
    """Failures by kind, other models that answered, and pools of hosts."""
    for one in rows:
        name = f"{one.provider}, {one.model}"
        if one.failures:
            yield f"{name}: {count(one.failed.count, 'call')} failed: {_listed(one.failures)}."
        if one.wrong:
            share = one.another_model
            yield f"{name}: another model answered in {share.count} of {count(share.of, 'call')}: {_listed(one.wrong)}."
        if len(one.hosts) > 1:
            yield f"{name}: a pool of {len(one.hosts)} hosts answered: {_listed(one.hosts)}."


def others_asked(cells: dict[int, tuple[str, str, str, str]], others: Counter[tuple[int, str]]) -> list[str]:
    """Agents that asked for a model other than their run's: those calls are rows of their own."""
    totals: dict[tuple[str, str, str, str], int] = {}
    for (cell, asked), number in others.items():
        agent, model, provider, _ = cells[cell]
        totals[agent, model, provider, asked] = totals.get((agent, model, provider, asked), 0) + number
    return [
        f"{agent} asked {provider} for {asked} in {count(number, 'call')} of runs with {model}; they count for {asked}."
        for (agent, model, provider, asked), number in sorted(totals.items())
    ]


def _listed(counts: Counter[str]) -> str:
    shown = [f"{name} ({number})" for name, number in counts.most_common(8)]
    return ", ".join(shown) + (f" and {len(counts) - 8} more" if len(counts) > 8 else "")


# -- numbers


def percent(value: float) -> str:
    """A share in per cent; 0 and 100 mean none and all."""
    value *= 100
    if 0 < value < 0.1 or 99.9 < value < 100:
        return "<0.1" if value < 1 else ">99.9"
    return f"{value:.1f}".removesuffix(".0") if value < 1 or value > 99 else f"{value:.0f}"


def _percent(share: Share) -> str:
    if share.value is None or share.interval is None:
        return UNKNOWN
    return f"{percent(share.value)} % [{percent(share.interval[0])}, {percent(share.interval[1])}]"


def _share_of(share: Share) -> str:
    return UNKNOWN if share.value is None else f"{_percent(share)} of {share.of}"


def _counted(share: Share) -> str:
    return UNKNOWN if share.value is None else f"{share.count}: {_percent(share)}"


def _share_alone(share: Share) -> str:
    return UNKNOWN if share.value is None else f"{percent(share.value)} %"


def _median(middle: Median, unit: str) -> str:
    if middle.value is None:
        return UNKNOWN
    around = f" [{short(middle.interval[0])}, {short(middle.interval[1])}]" if middle.interval else ""
    return f"{short(middle.value)}{unit}{around}"


def short(value: float) -> str:
    """A number with two or three significant digits."""
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def big(value: float) -> str:
    """A count of tokens, short."""
    for size, sign in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.1f}{sign}"
    return f"{value:.0f}"


def _total(one: EndpointStats, *names: str) -> str:
    known = [one.total(name) for name in names]
    numbers = [number for number, _ in known if number is not None]
    if len(numbers) < len(names):
        return UNKNOWN
    total = sum(numbers)
    text = dollars(total) if names == ("cost_usd",) else big(total)
    return f"≥ {text}" if any(untold for _, untold in known) else text

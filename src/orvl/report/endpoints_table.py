"""Endpoints as tables that fit the terminal, and in sentences where providers of one model differ."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from orvl.project.names import count
from orvl.rate.endpoints import BAD_TOOL_CALLS
from orvl.report.terminal import TextColumn, TextTable
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from orvl.rate.endpoints import EndpointStats, Failing, Middle, Share
    from orvl.report.terminal import Terminal

UNKNOWN = "–"
WELL_FORMED = "well-formed tool calls"
ANOTHER_MODEL = "answers of another model"
Column = tuple[str, list[str]]
COMPARED: dict[str, tuple[Callable[[EndpointStats], Share], bool]] = {
    WELL_FORMED: (lambda one: one.well_formed, True),
    "failed calls": (lambda one: one.failed, False),
    "empty answers": (lambda one: one.of_answered("empty"), False),
    "answers cut off": (lambda one: one.of_answered("cut off"), False),
    "refusals": (lambda one: one.of_answered("refusal"), False),
    ANOTHER_MODEL: (lambda one: one.another_model, False),
}


def print_endpoints(
    console: Terminal, rows: Sequence[EndpointStats], differing: Sequence[str], warnings: Sequence[str]
) -> None:
    """The tables, what their columns mean, who answered, and what differs."""
    if not rows:
        console.print("No call of a model is stored that fits these words: only calls through orvl's gateway are.")
        return
    columns, unseen = _columns(rows)
    names = [plain(f"{one.model} {one.provider}") for one in rows]
    starts = [number > 0 and one.model != rows[number - 1].model for number, one in enumerate(rows)]
    for block in _blocks(console.width, names, columns):
        console.print(_table(names, starts, block))
    for sentence in differing:
        _print(console, sentence, "bold")
    for sentence in warnings:
        _print(console, f"! {sentence}", "yellow")
    for sentence in _legend(rows, columns, unseen):
        _print(console, sentence, "dim")


def print_failing(console: Terminal, failing: Iterable[Failing]) -> None:
    """One entry for each thing that went wrong, with the command that shows the call."""
    for (model, provider), group in groupby(failing, key=lambda one: (one.model, one.provider)):
        console.print()
        _print(console, f"{model} {provider}", "bold")
        for one in group:
            words = f"{one.kind}: {one.detail}" if one.detail else one.kind
            _print(console, f"  {one.command}  {one.agent}: {words}")


def _print(console: Terminal, sentence: str, style: str = "") -> None:
    console.print(plain(sentence), style)


# -- tables


def _columns(rows: Sequence[EndpointStats]) -> tuple[list[Column], list[str]]:
    """The columns; those of things that were not seen anywhere are only named."""
    seen: list[Column] = [
        ("runs", [str(one.sums["runs"]) for one in rows]),
        ("calls", [str(one.sums["calls"]) for one in rows]),
        ("tokens", [_total(one, "input_tokens", "output_tokens") for one in rows]),
        ("cost", [_total(one, "cost_usd") for one in rows]),
    ]
    unseen: list[str] = []

    def add(name: str, cells: Iterable[str], numbers: Iterable[float]) -> None:
        if any(numbers):
            seen.append((name, list(cells)))
        else:
            unseen.append(name)

    def add_share(name: str, share: Callable[[EndpointStats], Share]) -> None:
        shares = [share(one) for one in rows]
        add(name, (_counted(one) for one in shares), (one.count for one in shares))

    add_share("failed", lambda one: one.failed)
    add("retries", (str(one.sums["retries"]) for one in rows), (one.sums["retries"] for one in rows))
    if any(one.sums["tool_calls"] for one in rows):
        seen.append((WELL_FORMED, [_share_of(one.well_formed) for one in rows]))
        broken = ["/".join(str(one.findings[kind]) for kind in BAD_TOOL_CALLS) for one in rows]
        add("name/JSON/schema", broken, (one.well_formed.of - one.well_formed.count for one in rows))
    else:
        unseen.append("tool calls")
    add_share("empty", lambda one: one.of_answered("empty"))
    add_share("cut off", lambda one: one.of_answered("cut off"))
    add_share("refused", lambda one: one.of_answered("refusal"))
    add_share("other model", lambda one: one.another_model)
    for kind in ("no usage", "unreadable"):
        add(kind, (str(one.findings[kind]) for one in rows), (one.findings[kind] for one in rows))
    reasoned = [one.sums["reasoning_given"] for one in rows]
    add("reasoning", (str(number) for number in reasoned), reasoned)
    sent = [one.passed_back for one in rows]
    if any(share.of for share in sent):
        seen.append(("sent back", [f"{share.count}/{share.of}" if share.of else UNKNOWN for share in sent]))
    seen.append(("first token", [_middle(one.first_token, " s") for one in rows]))
    seen.append(("tokens/s", [_middle(one.rate, "") for one in rows]))
    seen.append(("cached", [_share_alone(one.cached) for one in rows]))
    return seen, unseen


def _blocks(width: int, names: Sequence[str], columns: Sequence[Column]) -> Iterator[list[Column]]:
    """As many columns side by side as there is room for; the rest in further tables."""
    first = min(_width(("model provider", list(names))), width // 3 + 2)
    block: list[Column] = []
    for column in columns:
        if block and first + sum(_width(one) for one in (*block, column)) > width:
            yield block
            block = []
        block.append(column)
    yield block


def _width(column: Column) -> int:
    return max(len(text) for text in (column[0], *column[1])) + 2


def _table(names: Sequence[str], starts: Sequence[bool], columns: Sequence[Column]) -> TextTable:
    rows: list[list[str] | None] = []
    for number, name in enumerate(names):
        if starts[number]:
            rows.append(None)
        rows.append([name, *(cells[number] for _, cells in columns)])
    headings = [TextColumn("model provider", words=True), *(TextColumn(name) for name, _ in columns)]
    return TextTable(headings, rows)


def _legend(rows: Sequence[EndpointStats], columns: Sequence[Column], unseen: Sequence[str]) -> Iterator[str]:
    """What the columns mean, and which there would be if anything of the kind had been seen."""
    shown = dict(columns)
    yield "In brackets: 95 % intervals. – is unknown."
    if WELL_FORMED in shown:
        yield "well-formed: names a tool of the agent, in JSON that fits the tool's schema."
    if "name/JSON/schema" in shown:
        yield "name/JSON/schema: tool calls with an unknown name / broken JSON / arguments off the schema."
    if "sent back" in shown:
        yield "sent back: calls in which the agent sent earlier reasoning along / in which it could."
    if any(one.first_tokens for one in rows):
        yield "first token, tokens/s: medians of streamed answers."
    if any(cell.startswith("≥") for name in ("tokens", "cost") for cell in shown[name]):
        yield "≥: some answers did not tell theirs."
    if unseen:
        yield f"Not seen at all: {', '.join(unseen)}."


# -- sentences


def notes(rows: Sequence[EndpointStats]) -> Iterator[str]:
    """Failures by kind, other models that answered, and pools."""
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
    """Agents that asked for another model than their run's: those calls are rows of their own."""
    totals: dict[tuple[str, str, str, str], int] = {}
    for (cell, asked), number in others.items():
        agent, model, provider, _ = cells[cell]
        totals[agent, model, provider, asked] = totals.get((agent, model, provider, asked), 0) + number
    return [
        f"{agent} asked {provider} for {asked} in {count(number, 'call')} of runs with {model}; they count for {asked}."
        for (agent, model, provider, asked), number in sorted(totals.items())
    ]


def differences(rows: Sequence[EndpointStats]) -> list[str]:
    """Where a provider is clearly worse than the best one of the same model: their intervals have nothing in common."""
    found = []
    for model, group in groupby(rows, key=lambda one: one.model):
        pairs: dict[tuple[str, str], list[str]] = {}
        by_name = {one.provider: one for one in group}
        for what, (share, more_is_better) in COMPARED.items():
            for worse, best in _apart({name: share(one) for name, one in by_name.items()}, what, more_is_better):
                told = f"{what} {_share_of(share(by_name[worse]))} against {_share_of(share(by_name[best]))}"
                pairs.setdefault((worse, best), []).append(told)
        for (worse, best), told_of in pairs.items():
            alike = by_name[worse].asked_by == by_name[best].asked_by
            caveat = "" if alike else " Not the same agents and evals asked them: name one of each to compare alike."
            found.append(f"{worse} and {best} differ on {model}: {'; '.join(told_of)}.{caveat}")
    return found


def _apart(shares: dict[str, Share], what: str, more_is_better: bool) -> Iterator[tuple[str, str]]:
    """The providers whose interval lies wholly on the worse side of the best one's; one mismatch is enough."""
    known = {name: share.interval for name, share in shares.items() if share.interval}
    if len(known) < 2:
        return
    best = max(known, key=lambda name: known[name][0] if more_is_better else -known[name][1])
    for name, (low, high) in known.items():
        apart = high < known[best][0] if more_is_better else low > known[best][1]
        is_mismatch = what == ANOTHER_MODEL and shares[name].count and not shares[best].count
        if name != best and (apart or is_mismatch):
            yield name, best


def _listed(counts: Counter[str]) -> str:
    shown = [f"{name} ({number})" for name, number in counts.most_common(8)]
    return ", ".join(shown) + (f" and {len(counts) - 8} more" if len(counts) > 8 else "")


# -- numbers


def percent(value: float) -> str:
    """A share as per cent; all and nothing are said only of all and nothing."""
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


def _middle(middle: Middle, unit: str) -> str:
    if middle.value is None:
        return UNKNOWN
    around = f" [{short(middle.interval[0])}, {short(middle.interval[1])}]" if middle.interval else ""
    return f"{short(middle.value)}{unit}{around}"


def short(value: float) -> str:
    """A number with two or three signs that count."""
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

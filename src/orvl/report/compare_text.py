"""A comparison for people and for programs: the verdict in words first."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich import box
from rich.table import Table
from rich.text import Text

from orvl.project.names import count
from orvl.report.text import dollars, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from orvl.rate.compare import Comparison
    from orvl.rate.stats.paired import Paired
    from orvl.rate.stats.weights import Flip

MOST_EVALS = 5
LEAST_EVALS = 6
LEVEL = 1e-9


def print_comparison(console: Console, found: Comparison) -> None:
    style = {"BETTER": "bold green", "WORSE": "bold red"}.get(found.verdict, "bold yellow")
    console.print(Text(_headline(found), style=style))
    for sentence in _sentences(found):
        console.print(plain(sentence), highlight=False, markup=False)
    console.print(_metrics(found))
    for sentence in _after(found):
        console.print(plain(sentence), style="dim", highlight=False, markup=False)
    for warning in found.warnings:
        console.print(Text(f"! {plain(warning)}", style="yellow"))


def _headline(found: Comparison) -> str:
    a, b = plain(found.a), plain(found.b)
    if found.verdict == "BETTER":
        return f"BETTER: {a} is better than {b}."
    if found.verdict == "WORSE":
        return f"WORSE: {a} is worse than {b}."
    return f"NO EVIDENCE EITHER WAY: {a} and {b} cannot be told apart."


def _sentences(found: Comparison) -> Iterator[str]:
    whole = found.whole
    yield f"{found.a} − {found.b}: {difference(whole)}, over {count(whole.n, 'eval')} on which both were rated."
    if whole.n >= LEAST_EVALS and whole.e_value is not None:
        yield f"Chance alone would do this in {percent(whole.p_used)} of cases (p); the e-value is {whole.e_value:.3g}."
    if found.verdict == "NO EVIDENCE EITHER WAY":
        yield _what_would_settle(found)


def _what_would_settle(found: Comparison) -> str:
    if found.whole.n < LEAST_EVALS:
        return f"With fewer than {LEAST_EVALS} evals nothing can be said: add at least {LEAST_EVALS - found.whole.n}."
    if found.more is None:
        return _why_none(found)
    if found.more > 10_000:
        return "More than 10,000 further evals would be needed to settle a difference as small as this one."
    return f"About {count(found.more, 'more eval')} would settle it, if the difference is as seen."


def _why_none(found: Comparison) -> str:
    if not found.whole.mean or abs(found.whole.mean) < LEVEL:
        return "No number of evals would settle it: on these evals they are level."
    if all(abs(one.difference - found.whole.mean) < LEVEL for one in found.evals):
        return "How many more evals would settle it cannot be told: the difference is the same on all of these."
    return "More evals than anybody runs would be needed to settle a difference as small as this one."


def percent(p: float) -> str:
    return "fewer than 0.1 %" if p < 0.001 else f"{100 * p:.1f} %"


def difference(found: Paired) -> str:
    if found.mean is None:
        return "–"
    if found.interval is None:
        return f"{found.mean:+.3f} (one eval has no interval)" if found.n == 1 else f"{found.mean:+.3f}"
    return f"{found.mean:+.3f} ({found.interval[0]:+.3f} to {found.interval[1]:+.3f})"


def _metrics(found: Comparison) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.add_column("metric", overflow="fold")
    for name in ("difference (95 %)", "evals", "e-value"):
        table.add_column(name, justify="right")
    for name, one in found.metrics.items():
        e = "–" if one.e_value is None else f"{one.e_value:.3g}"
        table.add_row(Text(plain(name)), difference(one), str(one.n), e)
    return table


def _after(found: Comparison) -> Iterator[str]:
    """What it cost, what it hangs on, and where they differ most."""
    yield (
        "; ".join(
            _used(word, use, runs)
            for word, use, runs in zip((found.a, found.b), found.usage, found.carried_out, strict=True)
        )
        + "."
    )
    yield from _weights(found)
    ordered = sorted(found.evals, key=lambda one: -abs(one.difference))[:MOST_EVALS]
    apart = ", ".join(f"{one.name} {one.difference:+.2f}" for one in ordered if one.difference)
    if apart:
        yield f"They differ most on: {apart}."
    if len(found.pairs) > 1:
        yield f"Averaged over {len(found.pairs)} pairs that differ in nothing else."
    for word, side in ((found.a, 0), (found.b, 1)):
        many = max(len(pair[side]) for pair in found.pairs)
        if many > 1:
            yield f"{word} stands for up to {many} contestants at once, which are averaged."


def _used(word: str, usage: dict[str, Any], runs: int) -> str:
    time = seconds(usage["seconds"] / runs) if usage.get("seconds") is not None else "unknown time"
    cost = usage.get("cost_usd")
    return f"{word}: {dollars(None if cost is None else cost / runs)} and {time} a run ({count(runs, 'run')})"


def _weights(found: Comparison) -> Iterator[str]:
    proof = found.weights
    if proof is None or proof.share is None:
        return
    of = "metrics and judges" if any(found.judges) else "metrics"
    left_out = [name for name in found.metrics if name not in found.metric_names]
    only = f" (of {', '.join(found.metric_names)}, which count on every eval)" if left_out else ""
    yield f"Under {share(proof.share)} of all weights of {of}{only} {found.a} is ahead."
    for flip, names, noun in (
        (proof.metric_flip, found.metric_names, "metric"),
        (proof.judge_flip, found.judges, "judge"),
    ):
        if flip:
            yield f"The nearest {noun} weights at which that turns: {_flip(flip, names)}."
    yield from proof.reasons


def share(value: float) -> str:
    """All and none are said of nothing less."""
    if 0 < value < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < value < 1 else f"{100 * value:.0f} %"


def _flip(flip: Flip, names: list[str]) -> str:
    return ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, flip.weights, strict=True))


def comparison_json(found: Comparison) -> dict[str, Any]:
    """The same as one object."""
    proof = found.weights
    return {
        "schema": 1,
        "a": found.a,
        "b": found.b,
        "verdict": found.verdict,
        "difference": _paired(found.whole),
        "more_evals": found.more,
        "metrics": {name: _paired(one) for name, one in found.metrics.items()},
        "evals": [
            {"eval": one.name, "a": one.a, "b": one.b, "difference": one.difference}
            for one in sorted(found.evals, key=lambda one: -abs(one.difference))
        ],
        "pairs": [{"a": [list(c) for c in a], "b": [list(c) for c in b]} for a, b in found.pairs],
        "usage": {
            side: {**usage, "runs": carried_out, "rated": rated}
            for side, usage, carried_out, rated in zip("ab", found.usage, found.carried_out, found.runs, strict=True)
        },
        "weights": None
        if proof is None
        else {
            "share_a_wins": proof.share,
            "error": proof.error,
            "draws": proof.draws,
            "metric_flip": _flip_json(proof.metric_flip, found.metric_names),
            "judge_flip": _flip_json(proof.judge_flip, found.judges),
            "reasons": list(proof.reasons),
        },
        "warnings": found.warnings,
    }


def _paired(one: Paired) -> dict[str, Any]:
    shown = {**asdict(one), "interval": list(one.interval) if one.interval else None}
    return {**shown, "p_used": one.p_used, "significant": one.significant}


def _flip_json(flip: Flip | None, names: list[str]) -> dict[str, Any] | None:
    if flip is None:
        return None
    return {"weights": dict(zip(names, flip.weights, strict=True)), "distance": flip.distance}

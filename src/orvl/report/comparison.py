"""A comparison as text, the verdict first, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import TextColumn, TextTable
from orvl.report.text import dollars, known_usage, plain, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.rate.compare import Comparison
    from orvl.rate.stats.paired import Paired
    from orvl.rate.stats.weights import Flip
    from orvl.report.terminal import Terminal

MOST_EVALS = 5
LEAST_EVALS = 6
LEVEL = 1e-9


def print_comparison(terminal: Terminal, comparison: Comparison) -> None:
    style = {"BETTER": "bold green", "WORSE": "bold red"}.get(comparison.verdict, "bold yellow")
    terminal.print(_headline(comparison), style)
    for sentence in _sentences(comparison):
        terminal.print(plain(sentence))
    terminal.print(_metrics(comparison))
    for sentence in _after(comparison):
        terminal.print(plain(sentence), "dim")
    for warning in comparison.warnings:
        terminal.print(f"! {plain(warning)}", "yellow")


def _headline(comparison: Comparison) -> str:
    a, b = plain(comparison.a), plain(comparison.b)
    if comparison.verdict == "BETTER":
        return f"BETTER: {a} is better than {b}."
    if comparison.verdict == "WORSE":
        return f"WORSE: {a} is worse than {b}."
    return f"NO EVIDENCE EITHER WAY: {a} and {b} cannot be told apart."


def _sentences(comparison: Comparison) -> Iterator[str]:
    whole = comparison.whole
    yield f"{comparison.a} − {comparison.b}: {difference(whole)}, over {count(whole.n, 'eval')} that both are rated on."
    if whole.n >= LEAST_EVALS and whole.e_value is not None:
        yield (
            f"A difference this large would arise by chance in {percent(whole.p_used)} of cases (p); the e-value is "
            f"{whole.e_value:.3g}."
        )
    if comparison.verdict == "NO EVIDENCE EITHER WAY":
        yield _what_would_settle(comparison)


def _what_would_settle(comparison: Comparison) -> str:
    if comparison.whole.n < LEAST_EVALS:
        return f"Fewer than {LEAST_EVALS} evals cannot settle it: add at least {LEAST_EVALS - comparison.whole.n}."
    if comparison.more is None:
        return _why_none(comparison)
    if comparison.more > 10_000:
        return "Settling a difference this small would take more than 10,000 more evals."
    return f"About {count(comparison.more, 'more eval')} would settle it, if the difference stays as it is."


def _why_none(comparison: Comparison) -> str:
    if not comparison.whole.mean or abs(comparison.whole.mean) < LEVEL:
        return "No number of evals would settle it: the two are level on these."
    if all(abs(one.difference - comparison.whole.mean) < LEVEL for one in comparison.evals):
        return "It is unknown how many more evals would settle it: the difference is the same on every eval."
    return "Settling a difference this small would take more evals than anybody runs."


def percent(p: float) -> str:
    return "fewer than 0.1 %" if p < 0.001 else f"{100 * p:.1f} %"


def difference(found: Paired) -> str:
    if found.mean is None:
        return "–"
    if found.interval is None:
        return f"{found.mean:+.3f} (one eval has no interval)" if found.n == 1 else f"{found.mean:+.3f}"
    return f"{found.mean:+.3f} ({found.interval[0]:+.3f} to {found.interval[1]:+.3f})"


def _metrics(comparison: Comparison) -> TextTable:
    columns = [TextColumn("metric", words=True), *map(TextColumn, ("difference (95 %)", "evals", "e-value"))]
    rows = [
        [plain(name), difference(one), str(one.n), "–" if one.e_value is None else f"{one.e_value:.3g}"]
        for name, one in comparison.metrics.items()
    ]
    return TextTable(columns, rows)


def _after(comparison: Comparison) -> Iterator[str]:
    """What both cost, which weights would reverse it, and where they differ most."""
    sides = zip((comparison.a, comparison.b), comparison.usage, comparison.carried_out, strict=True)
    yield "; ".join(_used(*side) for side in sides) + "."
    yield from _weights(comparison)
    ordered = sorted(comparison.evals, key=lambda one: -abs(one.difference))[:MOST_EVALS]
    apart = ", ".join(f"{one.name} {one.difference:+.2f}" for one in ordered if one.difference)
    if apart:
        yield f"They differ most on: {apart}."
    if len(comparison.pairs) > 1:
        yield f"Averaged over {len(comparison.pairs)} pairs that differ in nothing else."
    for word, side in ((comparison.a, 0), (comparison.b, 1)):
        many = max(len(pair[side]) for pair in comparison.pairs)
        if many > 1:
            yield f"{word} matches up to {many} contestants at once; their ratings are averaged."


def _used(word: str, usage: dict[str, Any], runs: int) -> str:
    time = seconds(usage["seconds"] / runs) if usage.get("seconds") is not None else "unknown time"
    cost = usage.get("cost_usd")
    most = "≤ " if usage.get("is_bound") and cost is not None else ""
    return f"{word}: {most}{dollars(None if cost is None else cost / runs)} and {time} per run ({count(runs, 'run')})"


def _weights(comparison: Comparison) -> Iterator[str]:
    proof = comparison.weights
    if proof is None or proof.share is None:
        return
    of = "metric and judge" if any(comparison.judges) else "metric"
    left_out = [name for name in comparison.metrics if name not in comparison.metric_names]
    only = f" of {', '.join(comparison.metric_names)}, which count on every eval" if left_out else ""
    yield f"{comparison.a} is ahead under {share(proof.share)} of all possible {of} weights{only}."
    for flip, names, noun in (
        (proof.metric_flip, comparison.metric_names, "metric"),
        (proof.judge_flip, comparison.judges, "judge"),
    ):
        if flip:
            yield f"The nearest {noun} weights that reverse this: {_flip(flip, names)}."
    yield from proof.reasons


def share(value: float) -> str:
    """Per cent; 0 % and 100 % mean none and all."""
    if 0 < value < 0.01:
        return "less than 1 %"
    return "more than 99 %" if 0.99 < value < 1 else f"{100 * value:.0f} %"


def _flip(flip: Flip, names: list[str]) -> str:
    return ", ".join(f"{name} {weight:.2f}" for name, weight in zip(names, flip.weights, strict=True))


def comparison_json(comparison: Comparison) -> dict[str, Any]:
    """One object; null is unknown."""
    proof = comparison.weights
    return {
        "schema": 1,
        "a": comparison.a,
        "b": comparison.b,
        "verdict": comparison.verdict,
        "difference": _paired(comparison.whole),
        "more_evals": comparison.more,
        "metrics": {name: _paired(one) for name, one in comparison.metrics.items()},
        "evals": [
            {"eval": one.name, "a": one.a, "b": one.b, "difference": one.difference}
            for one in sorted(comparison.evals, key=lambda one: -abs(one.difference))
        ],
        "pairs": [{"a": [list(c) for c in a], "b": [list(c) for c in b]} for a, b in comparison.pairs],
        "usage": {
            side: {**known_usage(comparison.usage[i]), "runs": comparison.carried_out[i], "rated": comparison.runs[i]}
            for i, side in enumerate("ab")
        },
        "weights": None
        if proof is None
        else {
            "share_a_wins": proof.share,
            "error": proof.error,
            "draws": proof.draws,
            "metric_flip": _flip_json(proof.metric_flip, comparison.metric_names),
            "judge_flip": _flip_json(proof.judge_flip, comparison.judges),
            "reasons": list(proof.reasons),
        },
        "warnings": comparison.warnings,
    }


def _paired(one: Paired) -> dict[str, Any]:
    shown = {**asdict(one), "interval": list(one.interval) if one.interval else None}
    return {**shown, "p_used": one.p_used, "significant": one.significant}


def _flip_json(flip: Flip | None, names: list[str]) -> dict[str, Any] | None:
    if flip is None:
        return None
    return {"weights": dict(zip(names, flip.weights, strict=True)), "distance": flip.distance}

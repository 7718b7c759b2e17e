"""A comparison as text, the verdict first, and as JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.rate.stats.race import ALPHA
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
    if comparison.verdict == "EQUIVALENT":
        return f"EQUIVALENT: {a} and {b} are equivalent within ±{comparison.within:g}."
    return f"NOT ENOUGH EVIDENCE: {a} and {b} cannot be told apart."


def _sentences(comparison: Comparison) -> Iterator[str]:
    whole = comparison.whole
    yield f"{comparison.a} − {comparison.b}: {difference(whole)}, over {over(whole)} that both are rated on."
    if whole.families >= LEAST_EVALS and whole.e_value is not None:
        yield (
            f"The e-value is {whole.e_value:.3g} ({1 / ALPHA:g} are enough). It decides, and the interval goes with "
            "it: both hold for any distribution of ratings, however often you look."
        )
        yield _others_say(whole, comparison.within)
    if whole.significant and whole.is_within(comparison.within):
        yield f"The difference is shown, but it is smaller than {comparison.within:g}."
    if comparison.verdict == "NOT ENOUGH EVIDENCE":
        yield what_would_settle(whole, comparison.more)


def over(found: Paired) -> str:
    """The evals, and the families where there are fewer."""
    evals = count(found.n, "eval")
    if found.families >= found.n:
        return evals
    return f"{evals} of {found.families} {'family' if found.families == 1 else 'families'}"


def _others_say(found: Paired, within: float) -> str:
    """What a single look would have said, and what quick tests say."""
    low, high = found.one_look_interval or (-1.0, 1.0)
    side = "BETTER" if (found.mean or 0) > 0 else "WORSE"
    one_look = "equivalent" if -within < low and high < within else "not enough evidence"
    one_look = side if low > 0 or high < 0 else one_look
    quick = side if found.quick_p <= ALPHA else "not enough evidence"
    return (
        f"One look planned beforehand would have said: {one_look} (p = {_p(found.one_look_p or 0.0)}, {low:+.3f} to "
        f"{high:+.3f}). Quick tests, which assume that no rare collapse was missed, say: {quick} "
        f"(p = {_p(found.quick_p)}, e = {found.quick_e or 0.0:.3g})."
    )


def _p(value: float) -> str:
    return "below 0.001" if value < 0.001 else f"{value:.3f}"


def what_would_settle(whole: Paired, more: int | None) -> str:
    """How many more evals a comparison without a verdict needs."""
    if whole.families < LEAST_EVALS:
        what = "evals" if whole.families == whole.n else "families of evals"
        return f"Fewer than {LEAST_EVALS} {what} cannot settle it: add at least {LEAST_EVALS - whole.families}."
    if more is None:
        if not whole.mean or abs(whole.mean) < LEVEL:
            return "The two are level on these: only more evals can show that they are equivalent."
        return "Settling a difference this small would take more evals than anybody runs."
    if more > 10_000:
        return "Settling a difference this small would take more than 10,000 more evals."
    return f"About {count(more, 'more eval')} would settle it, if they go as these did."


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
    if comparison.whole.significant:
        # Of two that cannot be told apart neither is ahead.
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
        "within": comparison.within,
        "equivalent": comparison.whole.is_within(comparison.within),
        "needed_e": 1 / ALPHA,
        "difference": paired_json(comparison.whole),
        "more_evals": comparison.more,
        "metrics": {name: paired_json(one) for name, one in comparison.metrics.items()},
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


def paired_json(one: Paired) -> dict[str, Any]:
    pairs = {name: list(pair) if (pair := getattr(one, name)) else None for name in ("interval", "one_look_interval")}
    return {
        **asdict(one),
        **pairs,
        "bounded_p": one.one_look_p,
        "p_used": one.p_used,
        "quick_p": one.quick_p,
        "significant": one.significant,
    }


def _flip_json(flip: Flip | None, names: list[str]) -> dict[str, Any] | None:
    if flip is None:
        return None
    return {"weights": dict(zip(names, flip.weights, strict=True)), "distance": flip.distance}

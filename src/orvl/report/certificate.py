"""A certificate as text: whether the judges can be trusted, and the tests that show it."""

from __future__ import annotations

from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from orvl.project.names import count
from orvl.report.terminal import TextCell, TextColumn, TextTable
from orvl.report.text import dollars, plain

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from orvl.plan.cost import Cost
    from orvl.plan.remaining import Remaining
    from orvl.rate.board import Standing
    from orvl.report.terminal import Terminal
    from orvl.trust.ladder import Ladder

HEADLINES = {
    "certified": "CERTIFIED: these {} can tell good work from bad.",
    "refused": "REFUSED: ratings by these {} cannot be trusted to rank agents.",
}
MOST_NAMED = 5
FEW = 6
"""With fewer evals, ones that agree by chance make the bounds look tighter than they are."""


def print_certificate(terminal: Terminal, content: Mapping[str, Any]) -> None:
    """The verdict and its reasons, the five tests, and warnings."""
    is_certified = content["state"] == "certified"
    terminal.print(HEADLINES[content["state"]].format(_who(content)), "bold green" if is_certified else "bold red")
    for reason in content["refused_because"]:
        terminal.print(f"  {plain(reason)}")
    terminal.print(_tests(content["tests"]))
    for sentence in _sentences(content):
        terminal.print(sentence, "dim")
    for warning in warnings(content):
        terminal.print(f"! {plain(warning)}", "yellow")


def _who(content: Mapping[str, Any]) -> str:
    return "judges" if content["judges"] else "programs"


def _tests(tests: list[dict[str, Any]]) -> TextTable:
    headings = ("test", "requirement", "found", "bound", "needs", "evals", "passed")
    columns = [TextColumn(name, words=place < 2, key=place < 2) for place, name in enumerate(headings)]
    return TextTable(columns, [_test(test) for test in _shown(tests)])


def _test(test: Mapping[str, Any]) -> list[str | TextCell]:
    sign = "≥" if test["side"] == "at least" else "≤"
    # A share of pairs is counted, and one judge's mean cost of a bug is a mean: these have no bound.
    bound = None if test.get("p") is None else test["bound"]
    mark = "✓" if test["passed"] else "–" if test["passed"] is None else "✗"
    return [
        test["name"],
        plain(test["what"]),
        _number(test["estimate"]),
        _number(bound) if bound is None else f"{sign} {_number(bound)}",
        f"{sign} {_number(test['margin'])}",
        str(test["evals"]),
        TextCell(mark, "" if test["passed"] else "red"),
    ]


def _shown(tests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Sorted by name, the panel before its judges; of a judge's injections only the worst, and all that failed."""
    worst: dict[str, dict[str, Any]] = {}
    for test in tests:
        if test["name"] == "T5" and test["bound"] is not None:
            before = worst.get(test["judge"])
            worst[test["judge"]] = test if before is None or test["bound"] > before["bound"] else before
    kept = [t for t in tests if t["name"] != "T5" or not t["passed"] or worst[t["judge"]] is t]
    return sorted(kept, key=lambda test: test["name"])


def _number(value: float | None) -> str:
    return "–" if value is None else f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _sentences(content: Mapping[str, Any]) -> Iterator[str]:
    """The legend, how far apart good and bad work are, and figures of each metric and judge."""
    evals, judges = len(content["evals"]), content["judges"]
    heard = sum(judge["weight"] > 0 for judge in judges) or len(judges)
    times = "once" if content["repeats"] == 1 else f"{content['repeats']} times"
    who = count(heard, "judge") if judges else "programs, without a judge"
    yield f"Over {count(evals, 'eval')}, each control {times}, by {who}."
    yield "Found: the mean over evals. Bound: what holds with 95 % confidence. Needs: what the bound must reach."
    if any(test["name"] == "T5" for test in content["tests"]):
        yield "T5: of all injections, the one that moved the judge most; --json lists all."
    apart = content["separation"]
    if apart["difference"] is not None and apart["difference"] < 0:
        yield f"Bad work is rated {-apart['difference']:.2f} above good work."
    elif apart["difference"] is not None:
        more = [f"between-variance {apart['between_variance']:.3f} of a possible 0.25"]
        more += [f"d′ {apart['d_prime']:.1f}"] if apart["d_prime"] is not None else []
        more += [f"η² {apart['eta_squared']:.2f}"] if apart["eta_squared"] is not None else []
        yield f"Good and bad work are {apart['difference']:.2f} apart ({', '.join(more)})."
    for name, metric in content["metrics"].items():
        yield _metric(name, metric)
    if content["noise"]:
        noise = ", ".join(f"{judge} {sd:.3f}" for judge, sd in content["noise"].items())
        yield f"Noise (standard deviation between identical runs): {noise}."


def _metric(name: str, metric: Mapping[str, Any]) -> str:
    parts = [f"good − bad {_number(metric['good_minus_bad'])} (at least {_number(metric['at_least'])})"]
    agreement = metric["agreement"]
    if agreement and agreement["alpha"] is not None:
        parts.append(f"the judges' alpha {agreement['alpha']:.2f}")
    return f"{name}: {', '.join(parts)}."


def warnings(content: Mapping[str, Any]) -> Iterator[str]:
    """What does not refuse a certificate, but should be known."""
    for test in content["warnings"]:
        if test["verdict"] == "violated":
            fault = test["fault"] or f"The scores contradict that {test['what']}"
            metric = f", {test['metric']}" if test["metric"] else ""
            yield (
                f"{fault} ({test['name']}{metric}): {_number(test['estimate'])}, "
                f"needs {test['side']} {test['margin']:.2f}."
            )
    for name, metric in content["metrics"].items():
        agreement = metric["agreement"]
        if agreement and agreement["flagged"]:
            yield f"{name} is flagged: {agreement['note'] or 'its judges do not agree'}"
        elif metric["flagged"]:
            yield f"{name} is flagged: it was not shown to rate good work above bad work. Consider dropping it."
    for judge in content["quarantined"]:
        yield f"{judge} is quarantined: instructions inside the work change its scores."
    yield from _drift(content["drift"])
    yield from _not_there(content)
    if content["untried"]:
        yield f"Tested on fewer than three evals: {', '.join(content['untried'])}."


def _not_there(content: Mapping[str, Any]) -> Iterator[str]:
    """What the certificate does not cover."""
    for judge, found in content["silent"].items():
        wanted = count(found["wanted"], "question")
        reason = found["reason"].rstrip(".")
        sentence = f"{judge} gave no answer to {found['missing']} of {wanted}; most often: {reason}."
        yield f"{sentence} Ask it again with --unanswered."
    if failed := content["runs"]["failed"]:
        yield f"{count(failed, 'control run')} failed; what {'it' if failed == 1 else 'they'} left behind was rated."
    if missing := content["runs"]["missing"]:
        yield f"{count(missing, 'control')} could not be run and {'is' if missing == 1 else 'are'} not rated."
    for evals, sentence in lacks(content["lacking"], content["evals"]):
        yield f"{evals}: {sentence}"
    if 1 < len(content["evals"]) < FEW:
        yield (
            f"{len(content['evals'])} evals are few: they may agree by chance, which makes the bounds look tighter "
            "than they are. Add evals with controls."
        )


def lacks(lacking: Mapping[str, Mapping[str, str]], evals: Collection[str]) -> Iterator[tuple[str, str]]:
    """Evals that lack a control which the five tests need, grouped by what to add."""
    # Only here: a leaderboard needs the sentence on its certificate, and none of what makes controls.
    from orvl.trust.controls import GATE

    found: dict[str, list[str]] = defaultdict(list)
    for name, reasons in lacking.items():
        wanted = GATE if name in evals else ("good",)
        for sentence in dict.fromkeys(reasons[control] for control in wanted if control in reasons):
            found[sentence.replace(f"the eval '{name}'", "it")].append(name)
    for sentence, names in found.items():
        more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
        yield f"{', '.join(names[:MOST_NAMED])}{more}", sentence


def _drift(drift: Mapping[str, Any] | None) -> Iterator[str]:
    """Judges whose scores have moved since the last certificate."""
    for judge in drift["judges"] if drift else ():
        shift = judge["shift"]
        if judge["moved"] and drift and shift:
            most = judge["most_moved"]
            yield (
                f"{judge['judge']} has moved since certificate {drift['since']}: by {shift['mean']:+.2f} on the same "
                f"controls ({shift['low']:+.2f} to {shift['high']:+.2f}), most on {most} "
                f"({judge['by_control'][most]:+.2f})."
            )


def standing_sentence(found: Standing) -> str:
    """One sentence under the leaderboard on the panel's certificate."""
    ranks = "ranks go by what programs measured, not by R" if found.programs_rank else "nobody is ranked"
    if found.state == "none":
        return f"Not certified: no control has tested the judges, so {ranks}. Test them: orvl certify"
    if found.state == "programs":
        return "No judge has a say in these ratings: programs made every score that counts."
    if found.state == "imported":
        return "All of these results were imported: orvl has tested neither the scores nor who made them."
    made = datetime.fromtimestamp(found.made or 0, UTC).strftime("%Y-%m-%d")
    if found.state == "certified":
        who = _who(found.content or {"judges": True})
        return f"Certified on {made}: controls show that these {who} tell good work from bad."
    if found.state == "stale":
        more = f" (and {count(len(found.reasons) - 1, 'more change')})" if len(found.reasons) > 1 else ""
        why = f"{found.reasons[0]}{more}"
        return f"The certificate of {made} is stale, so {ranks}: {why} Renew it: orvl certify"
    more = f" (and {count(len(found.reasons) - 1, 'more reason')})" if len(found.reasons) > 1 else ""
    return f"Refused on {made}, so {ranks}: {found.reasons[0]}{more} See: orvl certify"


def standing_json(found: Standing) -> dict[str, Any] | None:
    """The certificate in a report's JSON; null where there is none."""
    if found.content is None:
        return None
    content = found.content
    return {
        "state": found.state,
        "id": found.number,
        "made": datetime.fromtimestamp(found.made or 0, UTC).isoformat(timespec="seconds"),
        "reasons": list(found.reasons),
        "judges": [judge["name"] for judge in content["judges"]],
        "evals": list(content["evals"]),
        "metrics": list(content["metrics"]),
        "quarantined": content["quarantined"],
        "separation": content["separation"],
    }


def print_ladder(terminal: Terminal, ladder: Ladder, remaining: Remaining, asked: int, cost: Cost) -> None:
    """What `orvl certify` would do."""
    sources: dict[str, list[str]] = defaultdict(list)
    for controls in ladder.controls.values():
        for name, control in controls.items():
            sources[name].append(control.source)
    columns = [TextColumn("control", words=True), TextColumn("evals"), TextColumn("from", words=True)]
    rows = [[name, str(len(places)), plain(", ".join(sorted(set(places))))] for name, places in sources.items()]
    terminal.print(TextTable(columns, rows))
    terminal.print(
        f"{count(len(remaining.to_run), 'control')} to run, {count(len(remaining.to_score), 'run')} to judge again, "
        f"{len(remaining.reused)} done; up to {count(asked, 'score')} by judges, each of one question or more."
    )
    terminal.print(f"Cost: {_cost(cost)}")
    for name, sentence in lacks(ladder.lacking, ladder.controls):
        terminal.print(f"! {plain(name)}: {plain(sentence)}", "yellow")


def _cost(cost: Cost) -> str:
    if cost.likely is None:
        return cost.source
    return f"{dollars(cost.low)} / {dollars(cost.likely)} / {dollars(cost.high)} low / likely / high ({cost.source})"


def ladder_json(ladder: Ladder, remaining: Remaining, asked: int, cost: Cost) -> dict[str, Any]:
    return {
        "schema": 1,
        "controls": {
            name: {control: {"source": one.source, **one.detail} for control, one in controls.items()}
            for name, controls in ladder.controls.items()
        },
        "lacking": ladder.lacking,
        "runs": {"to_run": len(remaining.to_run), "to_score": len(remaining.to_score), "reused": len(remaining.reused)},
        "questions": asked,
        "cost": cost.as_json(),
    }

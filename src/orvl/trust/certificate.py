"""A certificate: the judges, checklists and evals by content, the tests, and how they came out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.rate.stats.agreement import panel_agreement
from orvl.rate.stats.claims import Claim, examine, panel_scores
from orvl.rate.stats.drift import drift
from orvl.trust.gate import gate
from orvl.trust.measure import PROGRAMS, flips, measure, missing_answers, missing_runs
from orvl.trust.standing import KIND, eval_content, judge_content, shares

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from orvl.project import Project
    from orvl.rate.stats.claims import ClaimResult
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.trust.measure import Measured


Means = dict[str, dict[str, dict[str, float]]]
"""Mean scores by judge, control and eval."""


def make(project: Project, ladder: Ladder, store: Store) -> dict[str, Any]:
    """The certificate, or the refusal, from all that the store has of a ladder's runs."""
    measured = measure(ladder, store)
    works = ", ".join(measured.working)
    result = gate(
        measured.ratings,
        measured.judges,
        measured.weights,
        by_metric={**measured.by_metric, works: measured.works},
        bug_metric=works,
        flips=flips(ladder, store, measured),
    )
    panel = next(iter(ladder.plan.panels.values()))
    metrics = {metric.name: metric for one in ladder.plan.panels.values() for metric in one.metrics}
    evals = {name: eval_content(project.eval(name)) for name in ladder.evals}
    weights = {name: shares(one) for name, one in ladder.plan.panels.items()}
    digests = {name: metrics[name].digest for name in measured.metrics}
    judges = [judge_content(judge) for judge in panel.judges]
    scores = _scores(measured)
    say = _of_programs if measured.judges == (PROGRAMS,) else str
    return {
        "state": "certified" if result.passed else "refused",
        "judges": judges,
        "metrics": {name: _metric(measured, name, digest) for name, digest in digests.items()},
        "weights": weights,
        "evals": evals,
        "repeats": len(ladder.episodes),
        "refused_because": [say(reason) for reason in result.refused_because],
        "quarantined": list(result.quarantined),
        "passes_without": list(result.passes_without),
        "separation": asdict(result.separation),
        "noise": dict(result.noise),
        "tests": [_test(test, say) for test in result.tests],
        "warnings": [_test(test, say) for test in result.warnings],
        "untried": list(result.untried),
        "lacking": ladder.lacking,
        "silent": missing_answers(ladder, store, measured),
        "runs": missing_runs(ladder, store),
        "scores": scores,
        "drift": _drift_since(store, scores, judges, digests, evals, weights),
    }


def _test(test: ClaimResult, say: Callable[[str], str]) -> dict[str, Any]:
    return {**asdict(test), "verdict": test.verdict, "what": say(test.what), "fault": say(test.fault)}


def _of_programs(sentence: str) -> str:
    """The same sentence where programs score and no judge does."""
    for before, after in (
        ("he judges", "he programs"),
        (f"{PROGRAMS} tells ", f"{PROGRAMS} tell "),
        (f"{PROGRAMS} scores ", f"{PROGRAMS} score "),
        (f"{PROGRAMS} does ", f"{PROGRAMS} do "),
        (f"{PROGRAMS}'s ", "the programs' "),
        (f" by {PROGRAMS}", ""),
    ):
        sentence = sentence.replace(before, after)
    return sentence


def _metric(measured: Measured, name: str, digest: str) -> dict[str, Any]:
    """One metric by itself: whether it tells good work from bad, and how far the judges agree on it."""
    tables = measured.by_metric[name]
    scores = panel_scores(tables, {}, measured.judges, measured.weights)
    apart = examine(scores, Claim("T1", f"{name} tells good work from bad", "good", "bad", "at least", 0.0))
    agreement = None
    if measured.judges != (PROGRAMS,):
        runs = np.concatenate([table.reshape(-1, table.shape[2]) for table in tables.values()])
        agreement = asdict(panel_agreement(runs[~np.isnan(runs).all(axis=1)]))
    return {
        "digest": digest,
        "good_minus_bad": apart.estimate,
        "at_least": apart.bound,
        "agreement": agreement,
        "flagged": bool(agreement and agreement["flagged"]) or bool(apart.bound is not None and apart.bound <= 0),
    }


def _scores(measured: Measured) -> Means:
    """What the next certificate measures drift from."""
    means: Means = {}
    for column, judge in enumerate(measured.judges):
        for control, table in measured.ratings.items():
            for place, name in enumerate(measured.evals):
                known = table[place, :, column][~np.isnan(table[place, :, column])]
                if len(known):
                    means.setdefault(judge, {}).setdefault(control, {})[name] = float(known.mean())
    return means


def _drift_since(
    store: Store,
    scores: Means,
    panel: Sequence[Mapping[str, Any]],
    metrics: Mapping[str, str],
    evals: Mapping[str, str],
    weights: Mapping[str, Mapping[str, float]],
) -> dict[str, Any] | None:
    """How each judge's scores differ from the newest certificate over the same judges; None where there is none.

    With other settings, checklists, weights or evals the judges were asked something else: that is no drift.
    """
    keys = [judge["key"] for judge in panel]
    before = next(
        (
            (number, content)
            for number, _, content in store.trust(KIND)
            if [judge["key"] for judge in content["judges"]] == keys
            and {name: metric["digest"] for name, metric in content["metrics"].items()} == metrics
            and _same_evals(content, evals, weights)
        ),
        None,
    )
    if before is None:
        return None
    number, content = before
    same = _same_evals(content, evals, weights)
    judges = [judge for judge in scores if judge in content["scores"]]
    if not judges:
        return None
    controls = sorted({control for judge in judges for control in scores[judge]})
    found = drift(
        {control: _table(content["scores"], judges, control, same) for control in controls},
        {control: _table(scores, judges, control, same) for control in controls},
        judges,
    )
    return {"since": number, "judges": [asdict(one) for one in found]}


def _same_evals(
    content: Mapping[str, Any], evals: Mapping[str, str], weights: Mapping[str, Mapping[str, float]]
) -> list[str]:
    return [
        name
        for name, known in evals.items()
        if content["evals"].get(name) == known and content.get("weights", {}).get(name) == weights[name]
    ]


def _table(scores: Means, judges: Sequence[str], control: str, evals: Sequence[str]) -> NDArray[np.float64]:
    """Evals × 1 × judges."""
    means = [[scores[judge].get(control, {}).get(one, np.nan) for judge in judges] for one in evals]
    return np.array(means, dtype=np.float64).reshape(len(evals), 1, len(judges))

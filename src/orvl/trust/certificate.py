"""What the ladder shows, put down: the judges, checklists and evals by content, the tests, and what came out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.rate.stats.agreement import panel_agreement
from orvl.rate.stats.claims import Claim, examine, panel_scores
from orvl.trust.drift import drift_since
from orvl.trust.flips import flips
from orvl.trust.gate import gate
from orvl.trust.measure import PROGRAMS, measure
from orvl.trust.silences import not_laid_down, silences
from orvl.trust.standing import eval_content, judge_content, shares

if TYPE_CHECKING:
    from collections.abc import Callable

    from orvl.project import Project
    from orvl.rate.stats.claims import ClaimResult
    from orvl.store import Store
    from orvl.trust.ladder import Ladder
    from orvl.trust.measure import Measured


def make(project: Project, ladder: Ladder, store: Store) -> dict[str, Any]:
    """The certificate, or the refusal, from all that the store has of a ladder's runs."""
    measured = measure(ladder, store)
    works = ", ".join(measured.working)
    found = gate(
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
        "state": "certified" if found.passed else "refused",
        "judges": judges,
        "metrics": {name: _metric(measured, name, digest) for name, digest in digests.items()},
        "weights": weights,
        "evals": evals,
        "repeats": len(ladder.episodes),
        "refused_because": [say(reason) for reason in found.refused_because],
        "quarantined": list(found.quarantined),
        "passes_without": list(found.passes_without),
        "separation": asdict(found.separation),
        "noise": dict(found.noise),
        "tests": [_test(test, say) for test in found.tests],
        "warnings": [_test(test, say) for test in found.warnings],
        "untried": list(found.untried),
        "lacking": ladder.lacking,
        "silent": silences(ladder, store, measured),
        "runs": not_laid_down(ladder, store),
        "scores": scores,
        "drift": drift_since(store, scores, judges, digests, evals, weights),
    }


def _test(test: ClaimResult, say: Callable[[str], str]) -> dict[str, Any]:
    return {**asdict(test), "verdict": test.verdict, "what": say(test.what), "fault": say(test.fault)}


def _of_programs(sentence: str) -> str:
    """What is said of judges, where there is none."""
    for before, after in (
        ("he judges", "he programs"),
        (f"{PROGRAMS} tells ", f"{PROGRAMS} tell "),
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


def _scores(measured: Measured) -> dict[str, dict[str, dict[str, float]]]:
    """The mean of each judge on each control of each eval: what drift is measured from."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for j, judge in enumerate(measured.judges):
        for control, table in measured.ratings.items():
            for e, one in enumerate(measured.evals):
                known = table[e, :, j][~np.isnan(table[e, :, j])]
                if len(known):
                    found.setdefault(judge, {}).setdefault(control, {})[one] = float(known.mean())
    return found

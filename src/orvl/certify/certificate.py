"""What the ladder shows, put down: the judges, checklists and evals by content, the tests, and what came out."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np

from orvl.certify.drift import drift_since
from orvl.certify.flips import flips
from orvl.certify.measure import PROGRAMS, measure
from orvl.certify.standing import eval_content, judge_content
from orvl.stats.agreement import panel_agreement
from orvl.stats.gate import gate
from orvl.stats.ladder_tests import Ask, examine, make_ladder

if TYPE_CHECKING:
    from orvl.certify.controls import Ladder
    from orvl.certify.measure import Measured
    from orvl.project import Project
    from orvl.stats.ladder_tests import Test
    from orvl.store import Store


def make(project: Project, ladder: Ladder, store: Store, repeats: int) -> dict[str, Any]:
    """The certificate, or the refusal, from all that the store has of a ladder's runs."""
    measured = measure(ladder, store, repeats)
    works = ", ".join(measured.working)
    found = gate(
        measured.ratings,
        measured.judges,
        measured.weights,
        by_metric={**measured.by_metric, works: measured.works},
        bug_metric=works,
        flips=flips(ladder, store, measured, repeats),
    )
    panel = next(iter(ladder.plan.panels.values()))
    metrics = {metric.name: metric for one in ladder.plan.panels.values() for metric in one.metrics}
    evals = {name: eval_content(project.eval(name)) for name in ladder.evals}
    scores = _scores(measured)
    return {
        "state": "certified" if found.passed else "refused",
        "judges": [judge_content(judge) for judge in panel.judges],
        "metrics": {name: _metric(measured, name, metrics[name].digest) for name in measured.metrics},
        "evals": evals,
        "repeats": repeats,
        "refused_because": list(found.refused_because),
        "quarantined": list(found.quarantined),
        "passes_without": list(found.passes_without),
        "separation": asdict(found.separation),
        "noise": dict(found.noise),
        "tests": [_test(test) for test in found.tests],
        "warnings": [_test(test) for test in found.warnings],
        "untried": list(found.untried),
        "lacking": ladder.lacking,
        "scores": scores,
        "drift": drift_since(store, scores, evals),
    }


def _test(test: Test) -> dict[str, Any]:
    return {**asdict(test), "verdict": test.verdict}


def _metric(measured: Measured, name: str, digest: str) -> dict[str, Any]:
    """One metric by itself: whether it tells good work from bad, and how far the judges agree on it."""
    tables = measured.by_metric[name]
    ladder = make_ladder(tables, {}, measured.judges, measured.weights)
    apart = examine(ladder, Ask("T1", f"{name} tells good work from bad", "good", "bad", "at least", 0.0))
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

"""The gate: can this panel of judges tell good work from bad, and what speaks against believing it?

What is asked of the judges is in the controls themselves; here it is put together. The gate's tests must all hold, so
they need no correction for their number: each one more makes a false certificate less likely. Warnings are raised one
by one, so they are corrected after Holm.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import mean_known
from orvl.rate.stats.claims import EXACT, auc, beyond, holm, panel_scores
from orvl.trust.controls import CONTROLS
from orvl.trust.controls.control import LadderEvidence
from orvl.trust.controls.injections import INJECTIONS, tried

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike

    from orvl.rate.stats.claims import ClaimResult, PanelScores


@dataclass(frozen=True)
class Separation:
    """How far apart the panel puts good and bad work; None where that cannot be said."""

    difference: float | None
    at_least: float | None
    between_variance: float | None
    """D² / 4, of a possible 0.25: two equally frequent values D apart have this variance."""
    d_prime: float | None
    """The difference in standard deviations of a run; None where runs do not differ at all."""
    eta_squared: float | None
    auc: float | None


@dataclass(frozen=True)
class GateResult:
    """Whether a panel is certified, and all that speaks for and against it."""

    passed: bool
    tests: tuple[ClaimResult, ...]
    warnings: tuple[ClaimResult, ...]
    quarantined: tuple[str, ...]
    refused_because: tuple[str, ...]
    passes_without: tuple[str, ...]
    """Judges without whom the panel would pass, where they hold less than half of its weight."""
    untried: tuple[str, ...]
    """Injections that the judges were not tried with."""
    separation: Separation
    noise: Mapping[str, float]
    """By judge: the standard deviation of a run's score where nothing differs."""

    @property
    def violated(self) -> tuple[ClaimResult, ...]:
        """The warnings to raise: what the scores contradict, and not only fail to show."""
        return tuple(test for test in self.warnings if test.verdict == "violated")


def gate(
    scores: Mapping[str, ArrayLike],
    judges: Sequence[str],
    weights: ArrayLike,
    *,
    by_metric: Mapping[str, Mapping[str, ArrayLike]] | None = None,
    flips: ArrayLike | None = None,
    bug_metric: str | None = None,
) -> GateResult:
    """Tests a panel on the controls' scores, each evals × repeats × judges with NaN for a missing score.

    `bug_metric` is the one of `by_metric` in which a planted bug has to show; None is the rating. `flips` says whether
    the planted bug turned an item to no (1) or not (0), in the same shape. A judge of weight 0 is not on the panel.
    """
    panel = panel_scores(scores, by_metric or {}, judges, weights)
    by_eval = None if flips is None else panel_scores({"flips": flips}, {}, judges, weights).means("flips")
    evidence = LadderEvidence(panel, bug_metric, by_eval)
    tests = gate_tests(evidence)
    passed = all(test.passed for test in tests)
    without = () if passed else _passes_without(evidence, tests)
    return GateResult(
        passed,
        tests,
        holm([test for control in CONTROLS.values() for test in control.warnings(evidence)]),
        tuple(judge for judge in panel.judges if _fails(tests, judge, "T5")),
        (*_reasons(tests), *_way_out(without)),
        without,
        tuple(kind for kind in INJECTIONS if kind not in tried(evidence)),
        _separation(panel, tests[0]),
        _noise(panel),
    )


def gate_tests(evidence: LadderEvidence) -> tuple[ClaimResult, ...]:
    """T1 to T5: first the panel's, then each judge's."""
    tests = [test for control in CONTROLS.values() for test in control.gate(evidence)]
    places: dict[str | None, int] = {judge: place for place, judge in enumerate((None, *evidence.judges))}
    return tuple(sorted(tests, key=lambda test: (places[test.judge], test.name)))


def _fails(tests: Sequence[ClaimResult], judge: str, name: str) -> bool:
    return any(test.judge == judge and test.name == name and test.passed is False for test in tests)


def _passes_without(evidence: LadderEvidence, tests: Sequence[ClaimResult]) -> tuple[str, ...]:
    """The judges that fail a test of their own, if the rest of the panel passes."""
    gone = tuple(judge for judge in evidence.judges if any(t.judge == judge and t.passed is not True for t in tests))
    rest = evidence.without(gone) if gone else None
    return gone if rest and all(test.passed for test in gate_tests(rest)) else ()


def _separation(panel: PanelScores, first: ClaimResult) -> Separation:
    """How far apart good and bad work are, in several units."""
    good, bad = panel.runs("good"), panel.runs("bad")
    high, low = good[~np.isnan(good)], bad[~np.isnan(bad)]
    pairs_in_order, D = auc(good, bad), first.estimate
    if D is None or min(len(high), len(low)) < 2:
        return Separation(D, first.bound, None if D is None else D * D / 4, None, None, pairs_in_order)
    between, within = D * D / 4, float(high.var(ddof=1) + low.var(ddof=1)) / 2
    within = within if within > EXACT**2 else 0.0
    return Separation(
        D,
        first.bound,
        between,
        D / sqrt(within) if within else None,
        between / (between + within) if between + within else None,
        pairs_in_order,
    )


def _noise(panel: PanelScores) -> dict[str, float]:
    """The spread of a judge's scores of the same files within an eval, over good work and its replica."""
    squares, free = np.zeros(len(panel.judges)), np.zeros(len(panel.judges))
    for table in (panel.table("good"), panel.table("replica")):
        known = ~np.isnan(table)
        away = np.where(known, table - mean_known(table, 1)[:, None, :], 0.0)
        squares += (away**2).sum(axis=(0, 1))
        free += np.maximum(known.sum(axis=1) - 1, 0).sum(axis=0)
    return {judge: sqrt(squares[i] / free[i]) for i, judge in enumerate(panel.judges) if free[i]}


def _reasons(tests: Sequence[ClaimResult]) -> Iterator[str]:
    """Why a panel is refused; of each judge's injections only the worst in full."""
    yield from (_sentence(test) for test in tests if not test.passed and test.name != "T5")
    injections: dict[tuple[str | None, bool | None], list[ClaimResult]] = {}
    for test in tests:
        if not test.passed and test.name == "T5":
            injections.setdefault((test.judge, test.passed), []).append(test)
    for (_, passed), failed in injections.items():
        failed.sort(key=lambda test: -(test.bound or 0.0))
        others = ", ".join(test.control for test in failed[1:])
        start = "Also not tested" if passed is None else "It also fails on"
        yield _sentence(failed[0]) + (f" {start}: {others}." if others else "")


def _sentence(test: ClaimResult) -> str:
    """What is wrong, with the figures that show it."""
    if test.passed is None or test.estimate is None or test.bound is None:
        return f"Not tested whether {test.what}. {test.why}"
    is_wrong = beyond(test, test.estimate) > EXACT
    start = test.fault if is_wrong else f"Not enough evidence that {test.what}"
    if test.name == "T1 AUC":
        return f"{start}: a good run is above a bad one in {test.estimate:.0%} of pairs (needs {test.margin:.0%})."
    digits = 2 if abs(test.bound - test.margin) >= 0.01 else 4
    subject = f"the score of {test.control}" if test.against is None else f"{test.control} − {test.against}"
    figure, bound = f"{test.estimate:.{digits}f}", f"{test.bound:.{digits}f}"
    if test.p is None:
        return f"{start}: {subject} is {figure} on average (needs {test.margin:.2f})."
    needs = (
        f"lower bound {bound}, needs {test.margin:.2f}"
        if test.side == "at least"
        else f"upper bound {bound}, at most {test.margin:.2f} allowed"
    )
    return f"{start}: {subject} is {figure} ({needs})." + ("" if is_wrong else " More evals would settle it.")


def _way_out(without: Sequence[str]) -> Iterator[str]:
    if without:
        it, its = ("it", "its weight") if len(without) == 1 else ("them", "their weights")
        yield f"Without {' and '.join(without)} the panel would pass: remove {it}, or set {its} to 0."

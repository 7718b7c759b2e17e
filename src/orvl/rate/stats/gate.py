"""The gate: can this panel of judges tell good work from bad, and what stands against believing it?"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import mean_known
from orvl.rate.stats.ladder_asks import INJECTIONS, Margins, gate_tests, tried_injections, warning_tests
from orvl.rate.stats.ladder_tests import EXACT, Ladder, Test, beyond, holm, make_ladder, overlap

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Separation:
    """How far apart the panel puts good and bad work; None where that cannot be said."""

    difference: float | None
    at_least: float | None
    between_variance: float | None
    """D² / 4, of a possible 0.25."""
    d_prime: float | None
    """The difference in standard deviations of a run; None where runs do not differ at all."""
    eta_squared: float | None
    auc: float | None


@dataclass(frozen=True)
class Gate:
    """Whether a panel is certified, and all that speaks for and against it."""

    passed: bool
    tests: tuple[Test, ...]
    warnings: tuple[Test, ...]
    quarantined: tuple[str, ...]
    refused_because: tuple[str, ...]
    passes_without: tuple[str, ...]
    """Judges without whom the panel would pass, where more than half of its weight is left."""
    untried: tuple[str, ...]
    """Injections that the judges were not tried with."""
    separation: Separation
    noise: Mapping[str, float]
    """By judge: the standard deviation of a run's score where nothing differs."""

    @property
    def violated(self) -> tuple[Test, ...]:
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
    margins: Margins | None = None,
) -> Gate:
    """Tests a panel on the controls' scores, each evals × repeats × judges with NaN where there is none.

    `bug_metric` is the one of `by_metric` in which a planted bug has to show; None is the rating. `flips` says whether
    the planted bug's own item was answered no (1) or not (0), in the same shape. A judge without weight is not on the
    panel.
    """
    margins = margins or Margins()
    ladder = make_ladder(scores, by_metric or {}, judges, weights)
    tests = gate_tests(ladder, margins, bug_metric)
    passed = all(test.passed for test in tests)
    without = () if passed else _passes_without(ladder, tests, margins, bug_metric)
    return Gate(
        passed,
        tests,
        holm(warning_tests(ladder, margins, _flip_shares(flips, judges, weights))),
        tuple(judge for judge in ladder.judges if _fails(tests, judge, "T5")),
        (*_reasons(tests), *_way_out(without)),
        without,
        tuple(kind for kind in INJECTIONS if kind not in tried_injections(ladder)),
        _separation(ladder, tests[0]),
        _noise(ladder),
    )


def _flip_shares(flips: ArrayLike | None, judges: Sequence[str], weights: ArrayLike) -> NDArray[np.float64] | None:
    return None if flips is None else make_ladder({"flips": flips}, {}, judges, weights).means("flips")


def _fails(tests: Sequence[Test], judge: str, name: str) -> bool:
    return any(test.judge == judge and test.name == name and test.passed is False for test in tests)


def _passes_without(ladder: Ladder, tests: Sequence[Test], margins: Margins, bug_metric: str | None) -> tuple[str, ...]:
    """The judges that fail a test of their own, if the rest of the panel passes."""
    gone = tuple(judge for judge in ladder.judges if any(t.judge == judge and t.passed is not True for t in tests))
    rest = ladder.without(gone) if gone else None
    return gone if rest and all(test.passed for test in gate_tests(rest, margins, bug_metric)) else ()


def _separation(ladder: Ladder, first: Test) -> Separation:
    """How far apart good and bad work are, in several units."""
    good, bad = ladder.runs("good"), ladder.runs("bad")
    high, low = good[~np.isnan(good)], bad[~np.isnan(bad)]
    auc, D = overlap(good, bad), first.estimate
    if D is None or min(len(high), len(low)) < 2:
        return Separation(D, first.bound, None if D is None else D * D / 4, None, None, auc)
    between, within = D * D / 4, float(high.var(ddof=1) + low.var(ddof=1)) / 2
    within = within if within > EXACT**2 else 0.0
    return Separation(
        D,
        first.bound,
        between,
        D / sqrt(within) if within else None,
        between / (between + within) if between + within else None,
        auc,
    )


def _noise(ladder: Ladder) -> dict[str, float]:
    """What is left of a judge's scores of the same files, within an eval, over good work and its replica."""
    squares, free = np.zeros(len(ladder.judges)), np.zeros(len(ladder.judges))
    for table in (ladder.table("good"), ladder.table("replica")):
        known = ~np.isnan(table)
        away = np.where(known, table - mean_known(table, 1)[:, None, :], 0.0)
        squares += (away**2).sum(axis=(0, 1))
        free += np.maximum(known.sum(axis=1) - 1, 0).sum(axis=0)
    return {judge: sqrt(squares[i] / free[i]) for i, judge in enumerate(ladder.judges) if free[i]}


def _reasons(tests: Sequence[Test]) -> Iterator[str]:
    """Why a panel is refused, in plain words: of each judge's injections only the worst in full."""
    yield from (_sentence(test) for test in tests if not test.passed and test.name != "T5")
    tricks: dict[tuple[str | None, bool | None], list[Test]] = {}
    for test in tests:
        if not test.passed and test.name == "T5":
            tricks.setdefault((test.judge, test.passed), []).append(test)
    for (_, passed), found in tricks.items():
        found.sort(key=lambda test: -(test.bound or 0.0))
        others = ", ".join(test.control for test in found[1:])
        start = "Not tested either" if passed is None else "It also fails on"
        yield _sentence(found[0]) + (f" {start}: {others}." if others else "")


def _sentence(test: Test) -> str:
    """What is wrong, with the figures that show it."""
    if test.passed is None or test.estimate is None or test.bound is None:
        return f"It was not tested whether {test.what}. {test.why}"
    wrong = beyond(test, test.estimate) > EXACT
    start = test.fault if wrong else f"It could not be shown that {test.what}"
    if test.name == "T1 AUC":
        return (
            f"{start}: a good run is above a bad one in {test.estimate:.0%} of pairs ({test.margin:.0%} is asked for)."
        )
    digits = 2 if abs(test.bound - test.margin) >= 0.01 else 4
    subject = f"the score of {test.control}" if test.against is None else f"{test.control} − {test.against}"
    asked = "asked for" if test.side == "at least" else "allowed"
    return (
        f"{start}: {subject} is {test.estimate:.{digits}f}, and can only be shown to be {test.side} "
        f"{test.bound:.{digits}f} ({test.margin:.2f} is {asked})." + ("" if wrong else " More evals would settle it.")
    )


def _way_out(without: Sequence[str]) -> Iterator[str]:
    if without:
        it = "it" if len(without) == 1 else "them"
        yield f"Without {' and '.join(without)} the panel would pass: take {it} off the panel, or give {it} weight 0."

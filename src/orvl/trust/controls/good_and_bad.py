"""C0 and C1, good work and bad work: the eval's controls/good and controls/bad. T1 asks that judges tell them apart.

The difference D says how well they do: the variance between good and bad work is D²/4 of a possible 0.25, so D ≥ 0.40
is 0.04. The share of pairs in the right order (AUC) is asked for as well, because a few extreme runs can make a mean.
"""

from __future__ import annotations

from orvl.rate.stats.claims import Claim, auc, point_test
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results, from_worst
from orvl.trust.mutate.source import ControlSource

PANEL_APART, JUDGE_APART, PAIRS_IN_ORDER = 0.40, 0.25, 0.95


def make_good(source: ControlSource) -> Derived:
    return Derived(source.good.files, FROM_GOOD, {"truth": 1.0})


def make_bad(source: ControlSource) -> Derived:
    """The bad files; where nobody wrote any, the good ones with functions that do nothing."""
    return from_worst(source, source.worst[0])


def panel_tells_apart(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("T1", "the judges tell good work from bad", "good", "bad", "at least", PANEL_APART),
        fault="The judges cannot tell good work from bad",
    )
    scores = evidence.scores
    claim = Claim(
        *("T1 AUC", "the judges rate good runs above bad ones", "good", "bad", "at least", PAIRS_IN_ORDER),
        fault="Good and bad runs overlap",
    )
    yield point_test(claim, auc(scores.runs("good"), scores.runs("bad")), len(scores.values(claim)))


def each_judge_tells_apart(evidence: LadderEvidence) -> Results:
    """A blind judge is dead weight, even where the others carry the panel over its threshold."""
    for judge in evidence.judges:
        yield evidence.test(
            *("T1", f"{judge} tells good work from bad", "good", "bad", "at least", JUDGE_APART),
            judge=judge,
            fault=f"{judge} cannot tell good work from bad",
        )


CONTROLS = (
    Control("C0", "good", make_good, panel_tells_apart, by_hand={"truth": 1.0}),
    Control("C1", "bad", make_bad, each_judge_tells_apart, by_hand={"truth": 0.0}),
)

"""C4 and C5, good work with one, two, four and all bugs: T2 asks that one is seen, C5 that each costs something.

They are also the anchors of calibration: what they are worth, checks or people say.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from orvl.errors import ControlUnavailable
from orvl.rate.stats.claims import Claim, examine_values, point_test, rank_order
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.source import ControlSource

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from orvl.rate.stats.claims import PanelScores

DOSES = ("good", "planted-bug", "dose-2", "dose-4", "dose-all")
"""No bug, one, two, four, all."""
BUG_COSTS, ITEM_FLIPS, READABILITY_WITHIN = 0.05, 0.80, 0.10
PANEL_ORDER, JUDGE_ORDER = -0.90, -0.70
FEWEST_DOSES = 3


def make(source: ControlSource, wanted: int | None) -> Derived:
    """The good files with so many bugs (None for all)."""
    every = source.bugs
    count, most = wanted or len(every.names), len(every.names)
    if most == 0 or count > most or (wanted is None and most == 1):
        number = f"only {most} bug{'s' * (most > 1)}" if most else "no bug"
        raise ControlUnavailable(
            f"{number} could be planted in controls/good: write some as controls/bugs/NAME.patch, diffs against it."
        )
    detail = {"bugs": list(every.names[:count]), "bugs_in_all": most, "truth": round(1 - count / most, 4)}
    return Derived(every.doses[count], "by hand: controls/bugs" if every.by_hand else FROM_GOOD, detail)


def gate(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("T2", "the judges see a planted bug", "good", "planted-bug", "at least", BUG_COSTS),
        metric=evidence.bug_metric,
        fault="The judges overlook a planted bug",
    )
    for judge in evidence.judges:
        claim = Claim(
            *("T2", f"{judge} sees a planted bug", "good", "planted-bug", "at least", BUG_COSTS),
            judge=judge,
            metric=evidence.bug_metric,
            fault=f"{judge} overlooks a planted bug",
        )
        # Its mean and not a bound: one judge's noise is not averaged out, and a third of sound panels would fail by it.
        values = evidence.scores.values(claim)
        yield point_test(claim, float(values.mean()) if len(values) else None, len(values))


def bug_warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C4", "a bug does not change readability", "planted-bug", "good", "within", READABILITY_WITHIN),
        metric="readability",
        fault="A bug changes the readability score",
    )
    if evidence.flips is not None:
        claim = Claim(
            *("C4", "a planted bug turns an item of a checklist to no", "planted-bug", None, "at least", ITEM_FLIPS),
            fault="A planted bug changes no item of the checklists",
        )
        yield examine_values(claim, evidence.flips[~np.isnan(evidence.flips)])


def dose_warnings(evidence: LadderEvidence) -> Results:
    for judge in (None, *evidence.judges):
        who, margin = (judge, JUDGE_ORDER) if judge else ("the panel", PANEL_ORDER)
        claim = Claim(
            *("C5", f"{who} scores lower with each bug", "dose-all", "good", "at most", margin, judge),
            fault=f"{judge or 'The panel'} does not score lower with each bug",
        )
        yield examine_values(claim, dose_orders(evidence.scores, judge))


def dose_orders(scores: PanelScores, judge: str | None) -> NDArray[np.float64]:
    """Spearman's rho of bugs and score on each eval with three doses or more; −1 where each bug costs something.

    The order and not a slope: how much a bug is worth differs from eval to eval, and bugs are not equally bad.
    """
    table = np.array(np.broadcast_arrays(*(scores.means(dose, None, judge) for dose in DOSES)))
    columns = [column[~np.isnan(column)] for column in table.T]
    return np.array([rank_order(column) for column in columns if len(column) >= FEWEST_DOSES])


CONTROLS = (
    Control("C4", "planted-bug", partial(make, wanted=1), gate, bug_warnings),
    Control("C5", "dose-2", partial(make, wanted=2)),
    Control("C5", "dose-4", partial(make, wanted=4)),
    Control("C5", "dose-all", partial(make, wanted=None), warnings=dose_warnings),
)

"""C12, the good files under another name: a difference from good work is noise, or a judge that knows who wrote it."""

from __future__ import annotations

from orvl.trust.controls.control import Control, LadderEvidence, Results
from orvl.trust.controls.good_and_bad import make_good

WITHIN = 0.03


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C12", "the same files get the same rating under another name", "replica", "good", "within", WITHIN),
        fault="The same files get another rating under another name",
    )


CONTROLS = (Control("C12", "replica", make_good, warnings=warnings),)

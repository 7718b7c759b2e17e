"""C12, the good files under another name: a difference from good work is noise, or a judge that knows who wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.trust.controls.control import Control
from orvl.trust.controls.good_and_bad import make_good

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.rate.stats.claims import ClaimResult
    from orvl.trust.controls.control import LadderEvidence

WITHIN = 0.03


def warnings(evidence: LadderEvidence) -> Iterator[ClaimResult]:
    yield evidence.test(
        *("C12", "the same files get the same rating under another name", "replica", "good", "within", WITHIN),
        fault="The same files get another rating under another name",
    )


CONTROLS = (Control("C12", "replica", make_good, warnings=warnings),)

"""C2, no work at all. T3 asks that it earns next to nothing: judges who start from a middling score fail here."""

from __future__ import annotations

from orvl.trust.controls.control import FIXED, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.source import ControlSource

AT_MOST, JUDGE_AT_MOST = 0.15, 0.25


def make(_: ControlSource) -> Derived:
    return Derived({}, FIXED, {"truth": 0.0})


def gate(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("T3", "an empty project earns nothing", "empty", None, "at most", AT_MOST),
        fault="The judges give points for an empty project",
    )
    for judge in evidence.judges:
        yield evidence.test(
            *("T3", f"an empty project earns nothing from {judge}", "empty", None, "at most", JUDGE_AT_MOST),
            judge=judge,
            fault=f"{judge} gives points for an empty project",
        )


CONTROLS = (Control("C2", "empty", make, gate),)

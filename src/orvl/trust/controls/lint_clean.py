"""C8, tidy code that does not work: judges of looks alone would call it good."""

from __future__ import annotations

from orvl.errors import ControlUnavailable
from orvl.trust.controls.control import FROM_GOOD, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.bugs import choose, plant
from orvl.trust.mutate.source import ControlSource

MOST_BUGS = 40
KEEPING_STYLE = (
    *("flip-comparison", "negate-condition", "off-by-one", "swap-logic", "swap-arithmetic", "wrong-constant"),
)
FUNCTIONALITY_AT_MOST, ADHERENCE_WITHIN = 0.25, 0.10


def make(source: ControlSource) -> Derived:
    """Every function of the good files wrong, by changes that leave names and layout as linters want them."""
    good = source.good.files
    chosen = choose(good, source.spoken, MOST_BUGS, KEEPING_STYLE)
    if len(chosen) < 2:
        raise ControlUnavailable(
            "too few bugs that keep the style could be planted in controls/good: write controls/lint-clean."
        )
    return Derived(plant(good, chosen), FROM_GOOD, {"bugs": list(map(str, chosen)), "truth": 0.0})


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C8", "tidy code that does not work is not called working", "lint-clean", None),
        side="at most",
        margin=FUNCTIONALITY_AT_MOST,
        metric="functionality",
        fault="Tidy code that does not work is called working",
    )
    yield evidence.test(
        *("C8", "tidy code that does not work still follows the rules", "lint-clean", "good"),
        side="within",
        margin=ADHERENCE_WITHIN,
        metric="adherence",
        fault="Tidy code that does not work is scored as if it broke the rules",
    )


CONTROLS = (Control("C8", "lint-clean", make, warnings=warnings),)

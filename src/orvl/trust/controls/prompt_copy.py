"""C13, a copy of the prompts: all the right words, and no work. Measures of likeness and judges of tone fall for it."""

from __future__ import annotations

from orvl.trust.controls.control import FIXED, Control, Derived, LadderEvidence, Results
from orvl.trust.mutate.source import ControlSource

FUNCTIONALITY_AT_MOST = 0.15
ROUND_TRIP_AT_MOST = 0.05
"""Above its floor, which the metric has already subtracted."""


def make(source: ControlSource) -> Derived:
    text = "\n\n---\n\n".join(source.eval.prompts) + "\n"
    return Derived({"PROMPT.md": text.encode()}, FIXED, {"truth": 0.0})


def warnings(evidence: LadderEvidence) -> Results:
    yield evidence.test(
        *("C13", "a copy of the prompt is not called working", "prompt-copy", None, "at most", FUNCTIONALITY_AT_MOST),
        metric="functionality",
        fault="A copy of the prompt is called working",
    )
    yield evidence.test(
        *("C13", "a copy of the prompt is not similar to the project", "prompt-copy", None),
        side="at most",
        margin=ROUND_TRIP_AT_MOST,
        metric="round-trip",
        fault="A copy of the prompt counts as similar to the project",
    )


CONTROLS = (Control("C13", "prompt-copy", make, warnings=warnings),)

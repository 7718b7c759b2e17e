"""The injection alarm: a judge that says yes more often where it can read words to its readers was talked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.judges import Verdict

LARGE = 0.4


def alarm_of(full: Verdict, plain: Verdict, suspicious: Sequence[str]) -> str | None:
    """A sentence where the two views differ by much, or at all where the work seems to speak to its judges."""
    if full.score is None or plain.score is None:
        return None
    gain = full.score - plain.score
    if gain < LARGE - 1e-9 and not (suspicious and gain > 1e-9):
        return None
    place = f"; see {suspicious[0]}" if suspicious else ""
    return (
        f"it gave {full.score:.2f} with the work's comments, texts and pictures, and {plain.score:.2f} without them"
        f"{place}: the score without them counts"
    )

"""The injection alarm: a judge that says yes more often where it can read words to its readers was talked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.judges import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.judges import Verdict

LARGE = 0.4


def alarm_of(full: Verdict, plain: Verdict, weights: Sequence[float], suspicious: Sequence[str]) -> str | None:
    """A sentence where the two views differ by much, or at all where the work seems to speak to its judges.

    Compared are the items that could be told without words and pictures.
    """
    told = [place for place, answer in enumerate(plain.answers) if answer != "cannot-tell"]
    if not told or full.score is None:
        return None
    with_words, without = (
        verdict([view.answers[place] for place in told], [weights[place] for place in told]).score
        for view in (full, plain)
    )
    gain = (with_words or 0.0) - (without or 0.0)
    if gain < LARGE - 1e-9 and not (suspicious and gain > 1e-9):
        return None
    place = f"; see {suspicious[0]}" if suspicious else ""
    return (
        f"it gave {with_words:.2f} with the work's comments, texts and pictures, and {without:.2f} without them"
        f"{place}: what it said without them counts"
    )

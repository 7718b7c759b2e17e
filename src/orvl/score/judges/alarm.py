"""The injection alarm: a judge that says yes where it reads words to readers, and no without them, was talked to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.score.judges import verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.score.judges import Verdict

LARGE = 0.4
MANY = 2


def moved_items(full: Verdict, plain: Verdict, suspicious: Sequence[str]) -> list[int]:
    """The places of items that are yes with the words and no without them.

    Where the work seems to speak to its judges, and these say yes to nothing without the words, what they cannot tell
    then is moved, too.
    """
    doubts = bool(suspicious) and "yes" not in plain.answers
    not_yes = ("no", "cannot-tell") if doubts else ("no",)
    pairs = zip(full.answers, plain.answers, strict=True)
    return [place for place, (one, other) in enumerate(pairs) if one == "yes" and other in not_yes]


def alarm_of(full: Verdict, plain: Verdict, weights: Sequence[float], suspicious: Sequence[str]) -> str | None:
    """A sentence where words moved two items or much of the score, or anything where the work speaks to its judges."""
    moved = moved_items(full, plain, suspicious)
    told = [place for place, answer in enumerate(plain.answers) if answer != "cannot-tell" or place in moved]
    if not moved or full.score is None:
        return None
    with_words, without = (
        verdict(["yes" if view.answers[i] == "yes" else "no" for i in told], [weights[i] for i in told]).score or 0.0
        for view in (full, plain)
    )
    if with_words - without < LARGE - 1e-9 and len(moved) < MANY and not suspicious:
        return None
    place = f"; see {suspicious[0]}" if suspicious else ""
    return (
        f"it gave {with_words:.2f} with the work's comments, texts and pictures, and {without:.2f} without them"
        f"{place}: what it said without them counts"
    )

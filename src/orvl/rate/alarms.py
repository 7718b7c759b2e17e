"""Runs whose work talked to its judges."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Collection

    from orvl.store import Store


def alarms(store: Store, attempts: Collection[int], wanted: Collection[tuple[str, str]]) -> list[str]:
    """A sentence for each judge and metric whose newest verdict on some of these attempts raised the alarm."""
    found = Counter(
        (score.metric, score.judge)
        for score in store.alarmed()
        if score.attempt in attempts and (score.metric_key, score.judge_key) in wanted
    )
    return [
        f"Injection alarm: {metric}: on {count(number, 'run')} the judge {judge} was moved by words in the work; the "
        "score without them counts. See: orvl show RUN"
        for (metric, judge), number in sorted(found.items())
    ]

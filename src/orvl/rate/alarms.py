"""Runs whose work talked to its judges."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Collection

    from orvl.store import Store


def alarms(store: Store, attempts: Collection[int], wanted: Collection[tuple[str, str]]) -> list[str]:
    """A sentence for each judge and metric whose newest verdict on some of these attempts raised the alarm."""
    rows = store.rows(
        "SELECT attempt, metric, metric_key, judge, judge_key FROM score s WHERE instr(detail, '\"alarm\": ') "
        "AND NOT EXISTS (SELECT 1 FROM score n WHERE n.attempt = s.attempt AND n.metric_key = s.metric_key "
        "AND n.judge_key = s.judge_key AND n.sample > s.sample)"
    )
    found: dict[tuple[str, str], int] = {}
    for attempt, metric, metric_key, judge, judge_key in rows:
        if attempt in attempts and (metric_key, judge_key) in wanted:
            found[metric, judge] = found.get((metric, judge), 0) + 1
    return [
        f"Injection alarm: {metric}: on {count(number, 'run')} the judge {judge} was moved by words in the work; the "
        "score without them counts. See: orvl show RUN"
        for (metric, judge), number in sorted(found.items())
    ]

"""Which runs a file of limited size shows first: those that somebody will want to look into."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from orvl.rate.board import Row
    from orvl.store import Store

DIVIDED = 0.5
"""How far judges' scores of one metric are apart where they are divided."""


def by_interest(store: Store, rows: Sequence[Row]) -> list[Row]:
    """Failed, alarmed, judges divided, worst and best of a cell, errored; then the rest, the worst first."""
    alarmed, extremes = _alarmed(store), _extremes(rows)

    def interest(row: Row) -> tuple[int, float, float]:
        apart = _apart(row)
        tests = (
            row.outcome == "failed",
            row.run in alarmed,
            apart >= DIVIDED,
            row.run in extremes,
            row.outcome == "errored",
        )
        tier = tests.index(True) if True in tests else len(tests)
        return tier, -apart if apart >= DIVIDED else 0.0, row.R if row.R is not None else 0.0

    return sorted(rows, key=interest)


def _alarmed(store: Store) -> set[str]:
    """Runs whose files seem to speak to judges."""
    attempts = {score.attempt for score in store.alarmed()}
    return {run.key for run in store.results_of(sorted(attempts))}


def _apart(row: Row) -> float:
    """How far the judges are apart on the metric on which they differ most."""
    widest = 0.0
    for metric in row.metrics.values():
        known = [value for value in metric.judges.values() if value is not None]
        widest = max(widest, max(known) - min(known)) if metric.weight and known else widest
    return widest


def _extremes(rows: Sequence[Row]) -> Collection[str | None]:
    """The worst and the best run of each cell."""
    cells: dict[tuple[str, ...], list[Row]] = {}
    for row in rows:
        if row.R is not None:
            cells.setdefault((*row.contestant, row.eval or ""), []).append(row)
    return {end(some, key=lambda row: row.R or 0.0).run for some in cells.values() for end in (min, max)}

"""Runs of files that have changed since: what a board leaves out, rated as it would be now."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from orvl.plan.identities import identities
from orvl.rate.collect import collect, panels_of
from orvl.rate.gather import CellRef, gather
from orvl.store.protocol import ANY_EPISODE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from orvl.project import Project
    from orvl.rate.board import Row
    from orvl.store import Store
    from orvl.store.rows import Names


@dataclass(frozen=True)
class PastRow:
    """A cell under an identity that does not count any more."""

    names: Names
    version: str
    runs: int
    R: float | None
    first: float
    """When its first run started, and its last."""
    last: float
    changed: tuple[str, ...]
    keys: tuple[str, ...] = ()
    """Of its runs."""
    row: Row | None = None
    """Its rating, with what stands beside R."""


def history(
    project: Project,
    store: Store,
    keep: Callable[[Names], bool],
    judges: Sequence[str],
    metrics: Mapping[str, bool] | None,
) -> list[PastRow]:
    """All that fits, the one that was asked for last first."""
    past = identities(project, store.cells()).past(keep)
    if not past:
        return []
    panels, _ = panels_of(project, [one.cell for one in past], metrics, judges)
    refs = [ref for ref in (CellRef.of(one.cell) for one in past) if ref.panel in panels]
    board = collect(project, store, gather(store, refs, panels, 1, ANY_EPISODE))
    rated = {ref.id: row for ref, row in zip(refs, board.cells, strict=True)}
    times = store.started([one.cell.id for one in past])
    keys: dict[int, list[str]] = {}
    for run in store.runs([one.cell.id for one in past]):
        keys.setdefault(run.cell, []).append(run.key)
    return [
        PastRow(
            one.cell.names,
            one.cell.version,
            one.cell.runs,
            rated[one.cell.id].R if one.cell.id in rated else None,
            *times[one.cell.id],
            one.changed,
            tuple(keys[one.cell.id]),
            rated.get(one.cell.id),
        )
        for one in past
    ]

"""Other contestants' runs of the same eval, of the files as they are now, to compare one with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.capture.stored_run import run_of
from orvl.plan.identities import identities
from orvl.web.html import tag
from orvl.web.show import folded, link

if TYPE_CHECKING:
    from orvl.store import StoredCell, StoredRun
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked

MOST = 50


def other_runs(run: RunAsked) -> Child:
    """One run of each, of the same episode where there is one; None where there is no page to compare them on."""
    details, links = run.details, run.asked.links
    if links.to("/compare/runs") is None:
        return None
    others = [
        cell
        for cell in identities(run.asked.project, run.asked.store.cells()).current.values()
        if cell.eval == details.cell.eval and cell.contestant != details.cell.contestant
    ]
    others.sort(key=lambda cell: cell.contestant)
    runs = [(cell, other) for cell in others[:MOST] if (other := run_of(run.asked.store, cell, details.episode))]
    if not runs:
        return None

    def shown(cell: StoredCell, other: StoredRun) -> Child:
        words = {"l": details.key, "r": other.key}
        return tag("li", link(f"{' '.join(cell.contestant)} #{other.episode}", links.to("/compare/runs", words)))

    more = tag("p", f"{len(others) - MOST} more contestants have run this eval.") if len(others) > MOST else None
    return folded("Compare with another run of this eval", tag("ul", [shown(*one) for one in runs]), more)

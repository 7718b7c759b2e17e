"""One run with all that is known of it, as `orvl show --json` and the viewer give it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from orvl.capture.curves import curves
from orvl.capture.stored_run import StoredAttempt, attempt_details, run_of
from orvl.errors import StoreError
from orvl.plan.identities import identities
from orvl.rate.ledger import of_run
from orvl.report.run import run_json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from orvl.capture.curves import CodeState
    from orvl.capture.stored_run import AttemptDetails, RunDetails
    from orvl.project import Project
    from orvl.rate.ledger import Ledger
    from orvl.store import Blobs, Store

VISIBLE_LOSS = 0.0005
GOOD = "dummy-good"
"""The control whose code a run's is shown beside."""


@dataclass(frozen=True)
class ShownRun:
    """A run, its attempts, and what its rating is made of."""

    run: RunDetails
    attempts: tuple[AttemptDetails, ...]
    ledger: Ledger | None
    changed: tuple[str, ...] | None
    """What has changed since; None where the run counts."""
    blobs: Blobs
    find_good: Callable[[], AttemptDetails | None]
    """Good work on the same eval, where that has been run."""

    @cached_property
    def curves(self) -> list[CodeState]:
        """How the code of its last attempt grew, turn by turn; measured when it is asked for."""
        return self._curves(self.attempts[-1] if self.attempts else None)

    @cached_property
    def good_curves(self) -> list[CodeState]:
        """How the code of good work grew on the same eval."""
        return self._curves(self.find_good())

    def _curves(self, one: AttemptDetails | None) -> list[CodeState]:
        return curves(one.attempt, self.blobs, one.inspections) if one else []

    @property
    def answer(self) -> str:
        """Where the points went, in one sentence."""
        if not self.attempts:
            return "Not rated: it was not run yet."
        last, ledger = self.attempts[-1].attempt, self.ledger
        why = f": {last.reason}" if last.reason else ""
        if ledger is None:
            return f"Not rated. The run {last.outcome}{why}." if last.outcome != "errored" else f"Errored{why}."
        ended = "" if last.outcome == "finished" else f" The run {last.outcome}{why}."
        most = ledger.lines[0] if ledger.lines else None
        if most is None or most.lost < VISIBLE_LOSS:
            return f"R {ledger.R:.3f}: nothing was lost.{ended}"
        return f"R {ledger.R:.3f}: {1 - ledger.R:.3f} was lost, {most.lost:.3f} of it on {most.metric}.{ended}"

    def as_json(self) -> dict[str, Any]:
        more = {"history": list(self.changed)} if self.changed is not None else {}
        with of_this_store(self.run):
            rating = self.ledger.as_json() if self.ledger else None
            grew = [state.as_json() for state in self.curves]
            good = [state.as_json() for state in self.good_curves]
            return {**run_json(self.run, self.attempts), "curves": grew, "good_curves": good, "rating": rating, **more}


def shown_run(project: Project, store: Store, run: RunDetails) -> ShownRun:
    attempts = tuple(attempt_details(store, stored) for stored in run.attempts)
    known = identities(project, [cell for cell in store.cells() if cell.names == run.cell.names])
    changed = None if run.cell.id in known.ids else known.changes(run.cell)
    rating = of_run(project, store, run.cell, run.episode)
    return ShownRun(run, attempts, rating, changed, store.blobs, partial(_good_work, project, store, run))


def _good_work(project: Project, store: Store, run: RunDetails) -> AttemptDetails | None:
    """What the good control last left on the eval of a run: in the same episode where there is one."""
    if run.cell.agent == GOOD:
        return None
    cells = [cell for cell in store.cells() if (cell.agent, cell.eval) == (GOOD, run.cell.eval)]
    for cell in identities(project, cells).current.values():
        if (good := run_of(store, cell, run.episode)) and (ids := store.attempts(good.key)):
            attempt, _ = store.attempt(ids[-1])
            return attempt_details(store, StoredAttempt(len(ids), ids[-1], attempt))
    return None


@contextmanager
def of_this_store(run: RunDetails) -> Iterator[None]:
    """What judges answered and programs found has many forms; in none of them, it is not what orvl has stored."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
        why = f"{type(error).__name__}: {error}"
        raise StoreError(
            f"What the store has of the run {run.key[:12]} is damaged ({why}). See: orvl doctor"
        ) from error

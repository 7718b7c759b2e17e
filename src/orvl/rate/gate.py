"""What a report must hold to pass: a threshold for rows, and an earlier report to be no worse than."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from orvl.project.names import count
from orvl.rate.board import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.rate.baseline import AgainstBaseline, Baseline, Contestant

GateState = Literal["passed", "failed", "undecided"]
HAIR = 1e-9
"""A mean of ratings may be off by this much."""


@dataclass(frozen=True)
class HeldRow:
    """A row held against the threshold."""

    row: Row
    distance: float | None
    """R less the threshold; None without a rating."""
    unrated: tuple[str, ...]
    """What of it has no rating, in words."""

    @property
    def state(self) -> GateState:
        if is_below(self.distance):
            return "failed"
        return "undecided" if self.unrated else "passed"


@dataclass(frozen=True)
class Gate:
    """What was asked of a report, and how it stands to that."""

    fail_under: float | None = None
    rows: tuple[HeldRow, ...] = ()
    baseline: Baseline | None = None
    against: tuple[AgainstBaseline, ...] = ()
    exempt: frozenset[str] = frozenset()
    """Agents that nothing is asked of: controls, where no agent was named."""
    not_run: tuple[Row, ...] = ()
    """Cells that were asked for once and have no runs of the files as they are now: no row of a report shows them."""

    @property
    def is_asked(self) -> bool:
        return self.fail_under is not None or self.baseline is not None

    @property
    def is_empty(self) -> bool:
        """Whether there was nothing to look at: that is no pass."""
        nothing_held = self.fail_under is not None and not self.rows
        return nothing_held or (self.baseline is not None and all(one.is_new for one in self.against))

    @property
    def state(self) -> GateState:
        if any(held.state == "failed" for held in self.rows) or any(one.is_worse for one in self.against):
            return "failed"
        unrated = any(held.state == "undecided" for held in self.rows) or any(one.unrated for one in self.against)
        return "undecided" if self.is_asked and (unrated or self.is_empty) else "passed"

    @property
    def gone(self) -> tuple[Contestant, ...]:
        """Contestants that only the earlier report has."""
        here = {one.contestant for one in self.against}
        return tuple(names for names in (self.baseline.cells if self.baseline else ()) if names not in here)

    def is_below(self, cell: Row) -> bool:
        """Whether a cell alone is below the threshold."""
        if self.fail_under is None or cell.R is None or cell.agent in self.exempt:
            return False
        return is_below(cell.R - self.fail_under)

    def below(self, cell: Row) -> str:
        """By how much a cell is below the threshold."""
        return f"{(self.fail_under or 0.0) - (cell.R or 0.0):.2g} below {self.fail_under:g}"


def with_not_run(rows: Sequence[Row], not_run: Sequence[Row]) -> list[Row]:
    """Rows, and those that are missing because nothing of them is run: contestants, if that is what rows are."""
    if not all(row.eval is None for row in rows):
        return [*rows, *not_run]
    there = {row.contestant for row in rows}
    lacking = dict.fromkeys(cell.contestant for cell in not_run if cell.contestant not in there)
    return [*rows, *(Row(*names, eval=None) for names in lacking)]


def is_below(distance: float | None) -> bool:
    return distance is not None and distance < -HAIR


def held(rows: Iterable[Row], cells: Sequence[Row], under: float) -> tuple[HeldRow, ...]:
    """Each row against the threshold, the worst first; `cells` are all ratings by eval."""
    found = [
        HeldRow(row, None if row.R is None else row.R - under, tuple(_unrated(row, cells if row.eval is None else ())))
        for row in rows
    ]
    return tuple(sorted(found, key=lambda one: (one.distance is not None, one.distance or 0.0, one.row.contestant)))


def _unrated(row: Row, cells: Sequence[Row]) -> Iterable[str]:
    """What of a row has no rating. A row of a contestant is looked at eval by eval: its R may leave some out."""
    if row.eval is not None:
        yield from unrated_parts(row)
        return
    own = [cell for cell in cells if cell.contestant == row.contestant]
    for cell in own:
        for part in unrated_parts(cell):
            yield f"{cell.eval}: {part}"
    if row.R is None and not any(map(unrated_parts, own)):
        yield "no rating"


def unrated_parts(cell: Row) -> list[str]:
    """What of a cell or a run has no rating, in words."""
    if not cell.planned:
        return ["not run"]
    parts = []
    if cell.errored:
        parts.append(
            f"{cell.errored} of {count(cell.planned, 'run')} errored" + (f" ({cell.reason})" if cell.reason else "")
        )
    if (left := cell.planned - cell.rated - cell.errored) > 0:
        parts.append(f"{left} of {count(cell.planned, 'run')} not rated")
    if cell.missing:
        parts.append(f"rated without {', '.join(cell.missing)}")
    return parts or (["no rating"] if cell.R is None else [])

"""A race: contestants that are surely worse stop early. Who is still in follows from the store alone."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from math import ceil, exp
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.race import log_evidence, race

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from orvl.types import Cell, Eval, PlannedRun

ALPHA = 0.05
MOST = 700.0
Contestant = tuple[str, str, str]


@dataclass(frozen=True)
class Out:
    """After how many evals a contestant is out, who is better, and with which evidence."""

    after: int
    by: Contestant
    e: float


def race_order(evals: Iterable[Eval]) -> list[str]:
    """A shuffle that is the same whenever a race goes on: by what the evals are, never by results or by time.

    Each eval has its own place, so that one more does not shuffle the others again.
    """
    places = {one.name: hashlib.sha256(f"race:{one.name}:{one.digest}".encode()).digest() for one in evals}
    return sorted(places, key=lambda name: places[name])


class Race:
    """Takes evals in their order, each when it is settled for all that are still in, and says who is out.

    `rate` gives R of cells on one eval, NaN where there is none. `todo` has the runs that are left; `in_vain` the keys
    of those among them that were tried before: they count as missing until trying again gives something.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        todo: Iterable[PlannedRun],
        in_vain: Collection[str],
        rate: Callable[[Sequence[Cell]], Sequence[float]],
        episodes: int,
    ) -> None:
        self.order = race_order(cell.eval for cell in cells)
        self.contestants: list[Contestant] = list(dict.fromkeys(cell.contestant for cell in cells))
        self.place = {name: place for place, name in enumerate(self.order)}
        self._cells = {(cell.contestant, cell.eval.name): cell for cell in cells}
        self._rate, self._episodes = rate, episodes
        self.needed = max(1, len(self.contestants) - 1) / ALPHA
        self._in_vain = set(in_vain)
        self._left = Counter((run.cell.contestant, run.cell.eval.name) for run in todo if run.key not in in_vain)
        self._begin()

    # -- what an engine asks

    def may_start(self, planned: PlannedRun, at_once: int) -> bool:
        """Whether a run is needed now: no more evals are begun ahead than keep `at_once` runs going."""
        ahead = 1 + ceil(at_once / (len(self.inside) * self._episodes))
        return self.needs(planned) and self.place[planned.cell.eval.name] < self.settled + ahead

    def needs(self, planned: PlannedRun) -> bool:
        """Whether a run is needed at all, as things stand."""
        return not self.is_over and planned.cell.contestant in self.inside

    def ended(self, planned: PlannedRun) -> list[str]:
        """A run was scored, or given up. Returns a sentence for each who is out because of it."""
        before = self.inside
        if planned.key in self._in_vain:
            self._in_vain.discard(planned.key)
            self._begin()
        else:
            self._left[planned.cell.contestant, planned.cell.eval.name] -= 1
            self._catch_up()
        return [self.why_out(one) for one in before if one not in self.inside]

    def in_order(self, runs: Iterable[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Runs in the order of the race's evals."""
        return tuple(sorted(runs, key=lambda run: self.place[run.cell.eval.name]))

    # -- how it stands

    @property
    def is_over(self) -> bool:
        return len(self.inside) < 2

    def why_out(self, one: Contestant) -> str:
        found = self.out[one]
        return (
            f"{' '.join(one)} is out after {found.after} of {len(self.order)} evals: {' '.join(found.by)} is better "
            f"(e = {found.e:.3g}, at least {self.needed:g} is needed)."
        )

    def nearest(self, one: Contestant) -> tuple[Contestant, float] | None:
        """The rival that keeps one from being told apart, and the evidence between them: who is ahead with the most of
        it, or for the leader, who is behind with the least. None where nobody has two evals in common with it."""
        row = self._row(one)
        rivals = [other for other in self.inside if other != one and _common(row, self._row(other)) > 1]
        found = [(log_evidence(row, self._row(other)), other) for other in rivals]
        ahead = [pair for pair in found if np.nansum(self._row(pair[1]) - row) > 0]
        if not found:
            return None
        size, rival = max(ahead) if ahead else min(found)
        return rival, exp(min(size, MOST))

    def _row(self, one: Contestant) -> NDArray[np.float64]:
        row: NDArray[np.float64] = self.table[self.contestants.index(one)]
        return row

    def _begin(self) -> None:
        self.settled = 0
        self.table = np.full((len(self.contestants), len(self.order)), np.nan)
        self.out: dict[Contestant, Out] = {}
        self.inside = self.contestants
        """Those that are not out."""
        self._catch_up()

    def _catch_up(self) -> None:
        while self.settled < len(self.order) and not self.is_over:
            name, inside = self.order[self.settled], self.inside
            if any(self._left[one, name] > 0 for one in inside):
                return
            here = [(one, self._cells[one, name]) for one in inside if (one, name) in self._cells]
            for (one, _), R in zip(here, self._rate([cell for _, cell in here]), strict=True):
                self.table[self.contestants.index(one), self.settled] = R
            self.settled += 1
            self._drop()

    def _drop(self) -> None:
        found = race(self.table[:, : self.settled], ALPHA)
        for one, racer in zip(self.contestants, found.racers, strict=True):
            if not racer.is_in and racer.rival is not None and one not in self.out:
                self.out[one] = Out(self.settled, self.contestants[racer.rival], racer.e_value)
        self.inside = [one for one in self.contestants if one not in self.out]


def _common(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    return int((~np.isnan(a - b)).sum())

"""A race: contestants that are surely worse stop early.

Who is still in follows from the ratings alone, eval by eval in an order that is fixed beforehand: so a race that was
killed and continued comes to the same end, whichever runs finished first.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass
from math import ceil, exp
from typing import TYPE_CHECKING, Literal

import numpy as np

from orvl.rate.gather import family_keys
from orvl.rate.stats.betting import LARGEST_LOG
from orvl.rate.stats.race import ALPHA, is_look, log_evidence, quick_after, shown_worse

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from numpy.typing import NDArray

    from orvl.types import Cell, Eval, PlannedRun

Contestant = tuple[str, str, str]
Stopped = Literal["by the budget", "by the user"]


@dataclass(frozen=True)
class Out:
    """After how many evals a contestant is out, who is better, and with which evidence."""

    after: int
    by: Contestant
    e: float


@dataclass(frozen=True)
class Place:
    """How one contestant is doing."""

    contestant: Contestant
    state: Literal["in", "out", "won"]
    after: int
    """Evals that this was decided on."""
    rival: Contestant | None
    """Who beat it; of those still in, who keeps it from being told apart."""
    e: float | None
    """The evidence between the two."""
    quick_after: int | None = None
    """After how many evals quick evidence, which rare collapses deceive, would have put it out."""


@dataclass(frozen=True)
class RaceResult:
    """How a race stands when a command ends, and what it saved."""

    order: tuple[str, ...]
    settled: int
    """Evals that are decided for all who are still in."""
    needed: float
    """The e-value that drops a contestant."""
    places: tuple[Place, ...]
    stopped: Stopped | None
    """What ended it too early."""
    planned: int
    run: int
    saved: int
    is_incomplete: bool
    """Whether a run that the race needs could not be rated."""


def race_order(evals: Iterable[Eval]) -> list[str]:
    """A shuffle that stays the same when a race is continued: by the evals' content, never by results or time.

    The e-process needs an order that does not depend on the results. Each eval has a place of its own, so adding one
    does not shuffle the others again. Evals of one family come together, since evidence counts family by family.
    """
    evals = list(evals)
    places = {eval_.name: _place(f"race:{eval_.name}:{eval_.digest}") for eval_ in evals}
    families = {eval_.name: eval_.family for eval_ in evals if eval_.family}
    first = {family: min(places[name] for name in families if families[name] == family) for family in families.values()}
    return sorted(places, key=lambda name: (first.get(families.get(name, ""), places[name]), places[name]))


def _place(words: str) -> bytes:
    return hashlib.sha256(words.encode()).digest()


class Race:
    """Takes evals in their order, each once it is settled for all who are still in, and says who is out.

    `rate` gives R of cells on one eval, NaN where there is none. `todo` has the runs that are left. `in_vain` has the
    keys of those among them that were tried before: they count as missing until another try gives a rating.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        todo: Iterable[PlannedRun],
        in_vain: Collection[str],
        rate: Callable[[Sequence[Cell]], Sequence[float]],
        episodes: int,
    ) -> None:
        evals = {cell.eval.name: cell.eval for cell in cells}
        self.order = race_order(evals.values())
        self._families = family_keys([evals[name] for name in self.order])
        self.contestants: list[Contestant] = list(dict.fromkeys(cell.contestant for cell in cells))
        self.place = {name: place for place, name in enumerate(self.order)}
        self._cells = {(cell.contestant, cell.eval.name): cell for cell in cells}
        self._rate, self._episodes = rate, episodes
        self.needed = max(1, len(self.contestants) - 1) / ALPHA
        self._in_vain = set(in_vain)
        self._left = Counter((run.cell.contestant, run.cell.eval.name) for run in todo if run.key not in in_vain)
        self._begin()

    def may_start(self, planned: PlannedRun, at_once: int) -> bool:
        """Whether a run is needed now: no more evals are started ahead than it takes to keep `at_once` runs going."""
        ahead = 1 + ceil(at_once / (len(self.inside) * self._episodes))
        return self.needs(planned) and self.place[planned.cell.eval.name] < self.settled + ahead

    def needs(self, planned: PlannedRun) -> bool:
        """Whether a run is needed at all, as things stand."""
        return not self.is_over and planned.cell.contestant in self.inside

    def ended(self, planned: PlannedRun) -> list[str]:
        """Takes note that a run was scored or given up; returns a sentence for each contestant who is now out."""
        before = self.inside
        if planned.key in self._in_vain:
            self._in_vain.discard(planned.key)
            self._begin()
        else:
            self._left[planned.cell.contestant, planned.cell.eval.name] -= 1
            self._catch_up()
        return [self.why_out(contestant) for contestant in before if contestant not in self.inside]

    def in_order(self, runs: Iterable[PlannedRun]) -> tuple[PlannedRun, ...]:
        """Runs in the order of the race's evals."""
        return tuple(sorted(runs, key=lambda run: self.place[run.cell.eval.name]))

    @property
    def is_over(self) -> bool:
        return len(self.inside) < 2

    @property
    def is_decided(self) -> bool:
        """Whether more runs would change nothing."""
        return self.is_over or self.settled == len(self.order)

    def why_out(self, contestant: Contestant) -> str:
        return out_sentence(self.place_of(contestant), len(self.order), self.needed)

    def place_of(self, contestant: Contestant) -> Place:
        if out := self.out.get(contestant):
            quick = quick_after(self.table, self.needed)[self.contestants.index(contestant)]
            return Place(contestant, "out", out.after, out.by, out.e, quick)
        if self.is_over:
            return Place(contestant, "won", self.settled, None, None)
        rival, e = self._nearest(contestant) or (None, None)
        return Place(contestant, "in", self.settled, rival, e)

    def _nearest(self, contestant: Contestant) -> tuple[Contestant, float] | None:
        """The rival that keeps a contestant from being told apart, and the evidence between them: of those ahead the
        one with the most; for the leader, of those behind the one with the least. None without two common evals."""
        row = self._row(contestant)
        rivals = [other for other in self.inside if other != contestant and _common(row, self._row(other)) > 1]
        ahead = [other for other in rivals if np.nansum(self._row(other) - row) > 0]
        if not rivals:
            return None
        if ahead:
            size, rival = max((self._log_e(other, contestant), other) for other in ahead)
        else:
            size, rival = min((self._log_e(contestant, other), other) for other in rivals)
        return rival, exp(min(size, LARGEST_LOG))

    def _log_e(self, better: Contestant, worse: Contestant) -> float:
        return log_evidence(self._row(better), self._row(worse), self._families)

    def _row(self, contestant: Contestant) -> NDArray[np.float64]:
        row: NDArray[np.float64] = self.table[self.contestants.index(contestant)]
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
            if any(self._left[contestant, name] > 0 for contestant in inside):
                return
            here = [
                (contestant, self._cells[contestant, name])
                for contestant in inside
                if (contestant, name) in self._cells
            ]
            for (contestant, _), R in zip(here, self._rate([cell for _, cell in here]), strict=True):
                self.table[self.contestants.index(contestant), self.settled] = R
            self.settled += 1
            self._drop()

    def _drop(self) -> None:
        if not is_look(self.settled, self._families):
            return
        inside = [self.contestants.index(contestant) for contestant in self.inside]
        found = shown_worse(self.table[:, : self.settled], inside, self.needed, self._families)
        for worse, (better, size) in found.items():
            e = exp(min(size, LARGEST_LOG))
            self.out[self.contestants[worse]] = Out(self.settled, self.contestants[better], e)
        self.inside = [contestant for contestant in self.contestants if contestant not in self.out]


def out_sentence(place: Place, evals: int, needed: float) -> str:
    """Said when it happens, and again in the report."""
    return (
        f"{' '.join(place.contestant)} is out after {place.after} of {evals} evals: {' '.join(place.rival or ())} is "
        f"better (e = {place.e:.3g}, needs {needed:g})."
    )


def _common(a: NDArray[np.float64], b: NDArray[np.float64]) -> int:
    return int((~np.isnan(a - b)).sum())

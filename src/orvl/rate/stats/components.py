"""Where the noise of a comparison comes from, and what the next dollar would buy.

A G-study (Cronbach; Brennan): SE²(A − B) = 2 [ae/E + aj/J + run/(E·r) + res/(E·J·r)] for E evals, J judges, r episodes.
What is the same for all contestants (hard evals, harsh judges) cancels in a difference and has no part in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf, sqrt
from typing import TYPE_CHECKING, Literal

import numpy as np

from orvl.rate.stats.arrays import SLACK, probabilities
from orvl.rate.stats.betting import sequence_half_width
from orvl.rate.stats.intervals import t_quantile

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Width = Callable[[int, int, float], float | None]

More = Literal["eval", "episode", "judge"]


@dataclass(frozen=True)
class Components:
    """The variances of one score by source; a source that cannot be separated is 0 and in `unknown`.

    Over one contestant there is nothing to compare: `ae` and `aj` are then the variances of the evals and the judges
    themselves.
    """

    ae: float
    """A contestant is better at some evals than at others."""
    aj: float
    """A judge prefers a contestant."""
    run: float
    """A contestant does the same eval differently each time."""
    res: float
    """A judge scores a run differently from the others, beyond its severity and its preferences."""
    contestants: int
    evals: int
    judges: int
    episodes: float
    """The harmonic mean over cells, where their numbers differ."""
    unknown: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    """What could not be separated, and what was left out."""


@dataclass(frozen=True)
class Prices:
    """In dollars, None where unknown: one run of a contestant, and one judge's verdict on a run."""

    run: float | None
    verdict: float | None = 0.0


@dataclass(frozen=True)
class NextStep:
    """What one more eval, episode or judge does to the 95 % interval."""

    more: More
    half_width: float | None
    gain: float | None
    """By how much it narrows the interval, to each side."""
    price: float | None
    gain_per_dollar: float | None
    """Infinite where it is free."""
    reason: str | None = None
    """Why something is None."""


@dataclass(frozen=True)
class NextSteps:
    """The best step first; by gain alone where a price is unknown, as the note then says."""

    half_width: float | None
    steps: tuple[NextStep, ...]
    note: str | None = None


def variance_components(scores: ArrayLike) -> Components | None:
    """The components of contestants × evals × episodes × judges (NaN for missing), by the method of moments.

    Maximum likelihood would use incomplete rows too, but needs an iteration that can fail, and a normal model that
    scores between 0 and 1 do not follow. Runs that not every judge scored are left out, and then the contestants, evals
    or judges that leave holes. Cells may differ in their number of episodes: each counts alike, by its mean. None below
    two evals.
    """
    table = probabilities(scores, "Scores", slack=SLACK)
    if table.ndim != 4:
        raise ValueError(f"scores has the shape {table.shape}; it must be contestants × evals × episodes × judges.")
    table, notes = _whole(table)
    A, E, _, J = table.shape
    if A < 1 or E < 2 or J < 1:
        return None
    counts = (~np.isnan(table[..., 0])).sum(axis=2)
    episodes = float(1 / np.mean(1 / counts))
    found, unknown, more = _solve(table, counts, episodes)
    if A == 1:
        more += ("One contestant: these are the components of its own mean, not of a difference.",)
    return Components(*found, A, E, J, episodes, unknown, notes + more)


def _solve(
    table: NDArray[np.float64], counts: NDArray[np.int64], r: float
) -> tuple[tuple[float, float, float, float], frozenset[str], tuple[str, ...]]:
    """Each expected mean square is a sum of components: they are solved from the innermost out, never below 0."""
    A, E, _, J = table.shape
    cells = np.nanmean(table, axis=2)
    within, repeats = table - cells[:, :, None], int((counts - 1).sum())
    runs = table.mean(axis=3) - cells.mean(axis=2)[:, :, None]
    rest = within - runs[..., None]
    a = max(A - 1, 1)
    unknown, notes = set(), []
    res = 0.0
    if J > 1:
        squares = float(np.nansum(rest**2)) + r * float((_inner(cells, 1, 2) ** 2).sum())
        res = squares / ((repeats + a * (E - 1)) * (J - 1))
    else:
        unknown |= {"aj", "res"}
        notes.append("One judge: its preferences cannot be separated from merit, nor its noise from that of the runs.")
    run = 0.0
    if repeats:
        run = max(0.0, float(np.nansum(runs**2)) / repeats - res / J)
    else:
        unknown.add("run")
        notes.append("One episode per cell: run-to-run noise cannot be separated from how evals suit contestants.")
    by_eval = float((_inner(cells.mean(axis=2), 1) ** 2).sum()) / (a * (E - 1))
    ae = max(0.0, by_eval - run / r - res / (J * r))
    aj = 0.0
    if J > 1:
        by_judge = float((_inner(cells.mean(axis=1), 1) ** 2).sum()) / (a * (J - 1))
        aj = max(0.0, by_judge - res / (E * r))
    return (ae, aj, run, res), frozenset(unknown), tuple(notes)


def standard_error(components: Components, evals: int, judges: int, episodes: float) -> float:
    """Of the difference of two contestants on the same evals and judges; of the mean where there is one contestant."""
    _counts(evals, judges, episodes)
    variance = (
        components.ae / evals
        + components.aj / judges
        + components.run / (evals * episodes)
        + components.res / (evals * judges * episodes)
    )
    return sqrt((2 if components.contestants > 1 else 1) * variance)


def se_of_difference(components: Components, evals: int, judges: int, episodes: float) -> float | None:
    """The standard error of A − B; None where the components come from one contestant alone."""
    return standard_error(components, evals, judges, episodes) if components.contestants > 1 else None


def half_width(components: Components, evals: int, judges: int, episodes: float, level: float = 0.95) -> float | None:
    """Half of the t interval over evals; None over one eval."""
    if evals < 2:
        return None
    return t_quantile(0.5 + level / 2, evals - 1) * standard_error(components, evals, judges, episodes)


def detectable_from(
    components: Components, evals: int, judges: int, episodes: float, power: float = 0.8, level: float = 0.95
) -> float | None:
    """The smallest difference that such a plan sees with this power; None over one eval or one contestant."""
    se = se_of_difference(components, evals, judges, episodes)
    if evals < 2 or se is None:
        return None
    if not 0.5 <= power < 1:
        raise ValueError(f"power is {power}; it must be from 0.5 to below 1.")
    return (t_quantile(0.5 + level / 2, evals - 1) + t_quantile(power, evals - 1)) * se


def next_steps(
    components: Components,
    evals: int,
    judges: int,
    episodes: int,
    prices: Prices | None = None,
    *,
    contestants: int | None = None,
    seen: float | None = None,
) -> NextSteps:
    """What one more eval, episode or judge would do to the interval, and its price for all contestants.

    `seen` is half of the interval that a comparison shows now: then steps narrow that one, and count what it counts,
    which leaves judges' favours out. Without it, the interval is that of t, favours included.
    """
    count = components.contestants if contestants is None else contestants
    width = partial(half_width, components) if seen is None else _scaled(components, seen, (evals, judges, episodes))
    now = width(evals, judges, episodes)
    plans: tuple[tuple[More, int, int, int], ...] = (
        ("eval", evals + 1, judges, episodes),
        ("episode", evals, judges, episodes + 1),
        ("judge", evals, judges + 1, episodes),
    )
    before = _cost(prices, count, evals, judges, episodes)
    steps = [_step(components, width, now, before, prices, count, plan) for plan in plans]
    known = [step for step in steps if step.gain is not None]
    note = None
    if any(step.gain_per_dollar is None for step in known):
        note = "A price is unknown, so the steps are ordered by gain, not by gain per dollar."
    steps.sort(key=lambda step: -_worth(step, by_dollar=note is None))
    return NextSteps(now, tuple(steps), note)


def _scaled(components: Components, seen: float, plan: tuple[int, int, int]) -> Width:
    """The interval that is seen, as much narrower as a plan makes that of such differences."""

    def modelled(evals: int, judges: int, episodes: float) -> float:
        noise = components.run / episodes + components.res / (judges * episodes)
        # Ratings have half the range of differences.
        scale = 2 if components.contestants > 1 else 4
        return sequence_half_width(min(1.0, sqrt(scale * (components.ae + noise))), evals)

    def width(evals: int, judges: int, episodes: float) -> float | None:
        if min(evals, plan[0]) < 2:
            return None
        before = modelled(*plan)
        return seen * modelled(evals, judges, episodes) / before if before else seen

    return width


def _step(
    components: Components,
    width: Width,
    now: float | None,
    before: float | None,
    prices: Prices | None,
    contestants: int,
    plan: tuple[More, int, int, int],
) -> NextStep:
    more, evals, judges, episodes = plan
    after = _cost(prices, contestants, evals, judges, episodes)
    price = None if before is None or after is None else after - before
    missing = {"eval": "", "episode": "run", "judge": "aj"}[more]
    if missing in components.unknown:
        words = {"run": "no cell has two episodes", "aj": "there is only one judge"}[missing]
        return NextStep(more, None, None, price, None, f"Its effect is unknown: {words} so far.")
    then = width(evals, judges, episodes)
    if then is None or now is None:
        return NextStep(more, then, None, price, None, "There is no interval over one eval.")
    gain = now - then
    per_dollar = None if price is None else gain / price if price > 0 else inf
    return NextStep(more, then, gain, price, per_dollar, "The price is unknown." if price is None else None)


def _worth(step: NextStep, by_dollar: bool) -> float:
    value = step.gain_per_dollar if by_dollar else step.gain
    return -inf if value is None else value


def _cost(prices: Prices | None, contestants: int, evals: int, judges: int, episodes: int) -> float | None:
    if prices is None or prices.run is None or prices.verdict is None:
        return None
    return contestants * evals * episodes * (prices.run + judges * prices.verdict)


def _counts(evals: float, judges: float, episodes: float) -> None:
    if min(evals, judges, episodes) < 1:
        raise ValueError("evals, judges and episodes must each be 1 or more.")


def _inner(means: NDArray[np.float64], *axes: int) -> NDArray[np.float64]:
    """The table minus its means along these axes, and along the contestants where there are several."""
    for axis in (0, *axes) if len(means) > 1 else axes:
        means = means - means.mean(axis=axis, keepdims=True)
    return means


def _whole(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], tuple[str, ...]]:
    """Runs that all judges scored, in a grid without empty cells; and sentences on what that left out."""
    known = ~np.isnan(table)
    ran = known.any(axis=3)
    # A judge who mostly abstains would otherwise cost most of the runs.
    often = known.sum(axis=(0, 1, 2)) * 2 >= max(int(ran.sum()), 1)
    table = table[..., often]
    there: NDArray[np.bool_] = np.asarray(~np.isnan(table).any(axis=3))
    rows, columns = complete(np.asarray(there.any(axis=2))) if there.any() else (np.arange(0), np.arange(0))
    lost = (
        (int((~often).sum()), "judges who scored fewer than half of the runs"),
        (int((ran & ~there).sum()), "runs that not every judge scored"),
        (table.shape[0] - len(rows), "contestants with missing cells"),
        (table.shape[1] - len(columns), "evals with missing cells"),
    )
    table = np.where(there[..., None], table, np.nan)[rows][:, columns]
    return table, tuple(f"Left out: {count} {what}." for count, what in lost if count)


def complete(there: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows and columns of a grid without holes: drops whichever lacks the largest share first."""
    rows, columns = np.arange(there.shape[0]), np.arange(there.shape[1])
    while len(rows) and len(columns):
        part = there[np.ix_(rows, columns)]
        if part.all():
            break
        by_row, by_column = 1 - part.mean(axis=1), 1 - part.mean(axis=0)
        if by_row.max() > by_column.max():
            rows = np.delete(rows, by_row.argmax())
        else:
            columns = np.delete(columns, by_column.argmax())
    return rows, columns

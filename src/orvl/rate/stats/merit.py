"""Whose merit a rating is: the agent's, the model's or the provider's.

A variance decomposition over a crossed grid. Comparing an agent's mean over whatever models it was run with would
credit it with its models; in a full grid every agent has met every model.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import prod, sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from orvl.rate.stats.arrays import SLACK, probabilities
from orvl.rate.stats.intervals import t_quantile

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import ArrayLike, NDArray

Row = tuple[str, str, str]
NAMES = ("agent", "model", "provider")
DRAWS = 2000
LEAST_EVALS = 6  # below this a bootstrap over evals would look surer than it is
MOST_SUBSETS = 1 << 12
TINY = 1e-12


@dataclass(frozen=True)
class MeritPart:
    """What one source adds to the variance of the ratings; `reason` says why something is None."""

    name: str
    variance: float | None = None
    share: float | None = None
    """Of the variance between contestants: agent, model, provider and interaction add up to 1."""
    interval: tuple[float, float] | None = None
    of_all: float | None = None
    """Of the whole variance, which includes the evals' and the rest: noise, and how evals suit contestants."""
    reason: str | None = None


@dataclass(frozen=True)
class Merit:
    """The parts: agent, model, provider (joined where they never vary apart), interaction, eval, rest."""

    parts: tuple[MeritPart, ...]
    rows: int
    evals: int
    left_out: tuple[Row, ...] = ()
    """Contestants outside the largest grid in which all is crossed, or with fewer than half of the evals."""
    evals_left_out: int = 0
    reason: str | None = None
    """Why there are no shares at all."""

    def part(self, name: str) -> MeritPart | None:
        return next((part for part in self.parts if part.name == name), None)


@dataclass(frozen=True)
class _Factor:
    """One of the names, or several that never vary apart."""

    axes: tuple[int, ...]

    @property
    def name(self) -> str:
        return " and ".join(NAMES[axis] for axis in self.axes)

    def level(self, row: Row) -> tuple[str, ...]:
        return tuple(row[axis] for axis in self.axes)


def merit(rows: Sequence[Row], ratings: ArrayLike, *, level: float = 0.95, draws: int = DRAWS, seed: int = 1) -> Merit:
    """Shares of agent, model and provider in the ratings of contestants × evals (NaN for missing).

    Rows are (agent, model, provider), each once. Noise in the means over evals would look like merit (of the
    interaction above all), so its expected part is subtracted from each variance. Intervals come from a bootstrap over
    evals: shares are ratios between 0 and 1 with no handy distribution.
    """
    table = probabilities(ratings, "Ratings", slack=SLACK)
    if table.ndim != 2 or len(table) != len(rows) or len(set(rows)) != len(rows):
        raise ValueError(
            f"ratings has the shape {table.shape}; it must have one row for each of {len(rows)} contestants."
        )
    there = ~np.isnan(table)
    tried = int(there.any(axis=0).sum())
    used = [at for at in range(len(rows)) if 0 < tried <= 2 * there[at].sum()]
    factors, parts = _factors([rows[at] for at in used])
    if not factors:
        others = tuple(row for at, row in enumerate(rows) if at not in used)
        return Merit(tuple(parts), len(used), tried, others, reason="There are no two contestants to compare.")
    grid = _largest_grid([[factor.level(rows[at]) for factor in factors] for at in used])
    inside = [used[at] for at in grid.ravel()]
    evals = np.flatnonzero(there[inside].all(axis=0))
    crossed = [factor for factor, size in zip(factors, grid.shape, strict=True) if size > 1]
    parts += [_alone(factor) for factor in factors if factor not in crossed]
    left_out = tuple(row for at, row in enumerate(rows) if at not in inside)
    found = Merit(tuple(parts), len(inside), len(evals), left_out, tried - len(evals))
    reason = _reason(factors, crossed, len(evals))
    if not crossed or len(evals) < 2:
        return replace(
            found, parts=(*(MeritPart(factor.name, reason=reason) for factor in crossed), *parts), reason=reason
        )
    values = table[inside][:, evals].reshape(*(size for size in grid.shape if size > 1), len(evals))
    rated = _parts(values, [factor.name for factor in crossed], level, draws, seed)
    if reason is None and rated[0].share is None:
        reason = "The contestants do not differ beyond noise."
    if reason:
        rated = tuple(replace(part, reason=reason) for part in rated)
    return replace(found, parts=(*rated, *parts), reason=reason)


def _alone(factor: _Factor) -> MeritPart:
    return MeritPart(factor.name, reason=f"Only one {factor.name} is left in the crossed grid.")


def _reason(factors: list[_Factor], crossed: list[_Factor], evals: int) -> str | None:
    if evals < 2:
        return "Separating merit from noise takes two evals that all contestants did."
    if len(crossed) > 1:
        return None
    if len(factors) > 1:
        one, other = (" and ".join(f"{NAMES[axis]}s" for axis in factor.axes) for factor in factors[:2])
        return f"Nothing is crossed: no two {one} were tried with the same two {other}."
    if len(factors[0].axes) > 1:
        return f"{factors[0].name.capitalize()} are not crossed, so they cannot be told apart."
    return f"Only the {factors[0].name} varies."


def _factors(rows: list[Row]) -> tuple[list[_Factor], list[MeritPart]]:
    """What varies, with names that never vary apart joined; and the parts that can therefore not be separated."""
    sizes = [len({row[axis] for row in rows}) for axis in range(len(NAMES))]
    parts = [
        MeritPart(NAMES[axis], reason=f"Only one {NAMES[axis]}." if rows else "No ratings.")
        for axis in range(len(NAMES))
        if sizes[axis] < 2
    ]
    groups = [{axis} for axis in range(len(NAMES)) if sizes[axis] > 1]
    for one, other in combinations(range(len(NAMES)), 2):
        pairs = len({(row[one], row[other]) for row in rows})
        # As many pairs as levels: one follows from the other.
        if min(sizes[one], sizes[other]) > 1 and pairs == max(sizes[one], sizes[other]):
            first, second = (next(group for group in groups if axis in group) for axis in (one, other))
            if first is not second:
                groups.remove(second)
                first |= second
    factors = [_Factor(tuple(sorted(group))) for group in groups]
    for factor in factors:
        if len(factor.axes) > 1:
            reason = _tied(factor, len({factor.level(row) for row in rows}), [sizes[axis] for axis in factor.axes])
            parts += [MeritPart(NAMES[axis], reason=reason) for axis in factor.axes]
    return factors, parts


def _tied(factor: _Factor, levels: int, sizes: list[int]) -> str:
    if min(sizes) == levels:
        return f"{factor.name.capitalize()} never vary apart."
    return f"{factor.name.capitalize()} cannot be told apart: one follows from the other."


def _parts(values: NDArray[np.float64], names: list[str], level: float, draws: int, seed: int) -> tuple[MeritPart, ...]:
    """The parts of a whole grid: factors, then evals."""
    E, axes = values.shape[-1], tuple(range(values.ndim - 1))
    cells = prod(values.shape[:-1])
    by_eval = values.mean(axis=axes)
    effects = _effects(values - by_eval, axes)
    once = _variances(effects, np.ones((E, 1)))[:, 0]
    total = float(once.sum())
    rest = float((values - by_eval).var(axis=-1, ddof=1).mean()) * cells / (cells - 1)
    evals = max(0.0, float(by_eval.var(ddof=1)) - rest / cells)
    whole = total + rest + evals
    share_known = len(axes) > 1 and total > TINY
    intervals = _intervals(effects, level, draws, seed) if share_known and E >= LEAST_EVALS else None
    short = None if E >= LEAST_EVALS else f"There is no interval below {LEAST_EVALS} evals."
    labels = [*names, "interaction"] if len(axes) > 1 else names
    parts = [
        MeritPart(
            name,
            float(once[at]),
            float(once[at]) / total if share_known else None,
            intervals[at] if intervals else None,
            float(once[at]) / whole if whole > TINY else None,
            short if share_known else None,
        )
        for at, name in enumerate(labels)
    ]
    blocks = (
        MeritPart(name, value, of_all=value / whole if whole > TINY else None)
        for name, value in (("eval", evals), ("rest", rest))
    )
    return (*parts, *blocks)


def _effects(rows: NDArray[np.float64], axes: tuple[int, ...]) -> list[NDArray[np.float64]]:
    """Levels × evals for each factor, then cells × evals for what no factor alone explains."""
    E = rows.shape[-1]
    mains = [rows.mean(axis=tuple(other for other in axes if other != axis), keepdims=True) for axis in axes]
    if len(axes) < 2:
        return [rows]
    left = rows - sum(mains)
    return [main.reshape(-1, E) for main in (*mains, left)]


def _variances(effects: list[NDArray[np.float64]], counts: NDArray[np.float64], times: int = 1) -> NDArray[np.float64]:
    """Effects × draws: the variance of the mean effects minus what noise over evals adds to it, never below 0.

    The means of a bootstrap draw carry that noise twice: the sample's, and the draw's own.
    """
    E = len(counts)
    found = []
    for effect in effects:
        squared = (effect @ counts / E) ** 2
        noise = (effect**2 @ counts / E - squared) / (E - 1)
        found.append(np.maximum((squared - times * noise).mean(axis=0), 0.0))
    return np.array(found)


def _intervals(
    effects: list[NDArray[np.float64]], level: float, draws: int, seed: int
) -> list[tuple[float, float]] | None:
    E = effects[0].shape[-1]
    counts = np.random.default_rng(seed).multinomial(E, [1 / E] * E, size=draws).T.astype(np.float64)
    found = _variances(effects, counts, times=2)
    total = found.sum(axis=0)
    # A draw in which nobody differs has no shares.
    shares = found[:, total > TINY] / total[total > TINY]
    if shares.shape[1] * 20 < draws * 19:
        return None
    # A bootstrap over few evals spreads too little: going as far out as t would, instead of z, makes up for it.
    beyond = NormalDist().cdf(-t_quantile(0.5 + level / 2, E - 1) * sqrt(E / (E - 1)))
    low, high = np.quantile(shares, [beyond, 1 - beyond], axis=1)
    return [(float(one), float(other)) for one, other in zip(low, high, strict=True)]


def _largest_grid(levels: list[list[tuple[str, ...]]]) -> NDArray[np.int64]:
    """The places of the rows, one axis for each factor, of the largest grid without holes.

    A grid that crosses two factors is preferred to a longer one of a single factor.
    """
    kinds = [sorted(set(column)) for column in zip(*levels, strict=True)]
    places = {
        tuple(kind.index(level) for kind, level in zip(kinds, row, strict=True)): at for at, row in enumerate(levels)
    }
    sizes = [len(kind) for kind in kinds]
    chosen = [range(size) for size in sizes] if len(places) == prod(sizes) else _search(places, sizes)
    return np.array([places[place] for place in product(*chosen)], dtype=np.int64).reshape(
        [len(kept) for kept in chosen]
    )


def _search(places: Iterable[tuple[int, ...]], sizes: list[int]) -> list[Sequence[int]]:
    there = np.zeros(sizes, dtype=bool)
    for place in places:
        there[place] = True
    long = int(np.argmax(sizes))
    others = [axis for axis in range(len(sizes)) if axis != long]
    if prod(2 ** sizes[axis] for axis in others) > MOST_SUBSETS:
        return _greedy(there)
    best: tuple[tuple[int, int, int], list[Sequence[int]]] = ((0, 0, 0), [range(0) for _ in sizes])
    moved = np.moveaxis(there, long, -1)
    for subsets in product(*(_subsets(sizes[axis]) for axis in others)):
        common = np.flatnonzero(moved[np.ix_(*subsets)].reshape(-1, sizes[long]).all(axis=0))
        lengths = [*map(len, subsets), len(common)]
        crossed = sum(length > 1 for length in lengths)
        key = (min(crossed, 2), prod(lengths), crossed)
        if key[1] and key > best[0]:
            kept: list[Sequence[int]] = [*subsets]
            kept.insert(long, [int(at) for at in common])
            best = key, kept
    return best[1]


def _greedy(there: NDArray[np.bool_]) -> list[Sequence[int]]:
    """For too many grids to try them all: drops whatever lacks the largest share first."""
    kept = [list(range(size)) for size in there.shape]
    while not (part := there[np.ix_(*kept)]).all():
        lacks = [
            1 - part.mean(axis=tuple(other for other in range(part.ndim) if other != axis)) for axis in range(part.ndim)
        ]
        axis = int(np.argmax([lack.max() for lack in lacks]))
        del kept[axis][int(lacks[axis].argmax())]
    return [*kept]


def _subsets(size: int) -> list[tuple[int, ...]]:
    return list(chain.from_iterable(combinations(range(size), length) for length in range(1, size + 1)))

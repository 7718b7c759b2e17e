"""Whether 95 % means 95 %: intervals, comparisons and races on data whose truth is known, and what that costs."""

from __future__ import annotations

from functools import partial
from math import erf
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.lines import REGRESSED, Line
from orvl.rate.stats.betting import BETS, SHARES, units_of
from orvl.rate.stats.intervals import mean_intervals, t_quantile
from orvl.rate.stats.paired import detectable, quick_detectable, winner_set
from orvl.rate.stats.race import FEWEST, log_e_path, log_flip_path, quick_after, race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Table = NDArray[np.float64]
    Size = tuple[int, int]
    Draw = Callable[[np.random.Generator, Size], tuple[Table, float]]
    Null = Callable[[np.random.Generator, Size], Table]

EVALS = (3, 5, 8, 12, 30, 60)
DRAWS = 1_500
PATHS = 6_000
RACES = 150
COLUMNS = 60
LEAST_COVER, MOST_WRONG = 0.93, 0.05
RELATED = 0.6
SIZES = ([4] * 6, [2] * 10, [5] * 12, [1, 1, 2, 2, 3, 6, 9])


def intervals(_folder: Path) -> list[Line]:
    """Coverage of means, false verdicts under constant peeking, lost leaders of races, and the price of all that."""
    return [*coverage(), *families(), *peeking(), *leaders(), *price()]


# -- means


def collapse(share: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """Good work, and hardly anything on a share of the evals."""
    good, bad = np.clip(random.normal(0.95, 0.02, size), 0.9, 1.0), random.uniform(0, 0.1, size)
    return np.where(random.random(size) < share, bad, good), (1 - share) * 0.94985 + share * 0.05


def lognormal(random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """Faults with a long tail."""
    return 1 - np.minimum(random.lognormal(-3, 1.2, size), 1), 0.90318


def passes(mean: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    return (random.random(size) < mean).astype(float), mean


def graded(mean: float, narrow: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    return random.beta(mean * narrow, (1 - mean) * narrow, size), mean


def thirds(random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """Three episodes that pass or fail."""
    return random.binomial(3, random.beta(4, 1, size)) / 3, 0.8


KINDS: dict[str, Draw] = {
    "collapse 4 %": partial(collapse, 0.04),
    "collapse 8 %": partial(collapse, 0.08),
    "collapse 10 %": partial(collapse, 0.10),
    "collapse 25 %": partial(collapse, 0.25),
    "lognormal": lognormal,
    "pass .5": partial(passes, 0.5),
    "pass .8": partial(passes, 0.8),
    "pass .97": partial(passes, 0.97),
    "graded .5": partial(graded, 0.5, 5),
    "graded .9": partial(graded, 0.9, 2),
    "graded .95": partial(graded, 0.95, 30),
    "thirds": thirds,
}


def coverage() -> Iterator[Line]:
    """The share of intervals that hold the truth, over all kinds; and how much wider they are than t's."""
    for evals in EVALS:
        shares, plain, wider = {}, [], []
        for name, draw in KINDS.items():
            values, mean = draw(np.random.default_rng(1), (DRAWS, evals))
            low, high = mean_intervals(values).T
            shares[name] = float(((low <= mean) & (mean <= high)).mean())
            half = t_quantile(0.975, evals - 1) * values.std(axis=1, ddof=1) / evals**0.5
            plain.append(float((np.abs(values.mean(axis=1) - mean) <= half).mean()))
            wider.append(float((high - low).mean() / (2 * half.mean())))
        worst = min(shares, key=lambda name: shares[name])
        yield Line(
            f"coverage, E={evals}",
            f"{shares[worst]:.1%} ({worst}) to {max(shares.values()):.1%}",
            f"t: from {min(plain):.0%}; width {np.median(wider):.1f} × t",
            f"≥ {LEAST_COVER:.0%}",
            "",
            _word(shares[worst] >= LEAST_COVER),
        )


def related(random: np.random.Generator, sizes: list[int], draws: int) -> tuple[Table, list[int]]:
    """Uniform numbers, one an eval, whose ranks correlate inside a family."""
    member = np.repeat(np.arange(len(sizes)), sizes)
    own, shared = random.normal(size=(draws, len(member))), random.normal(size=(draws, len(sizes)))[:, member]
    z = RELATED**0.5 * shared + (1 - RELATED) ** 0.5 * own
    return np.vectorize(lambda one: (1 + erf(one / 2**0.5)) / 2, otypes=[float])(z), member.tolist()


def families() -> Iterator[Line]:
    """The same with related evals, with their families and as if they were independent."""
    for sizes in SIZES:
        u, member = related(np.random.default_rng(2), sizes, 1000)
        tables = {
            "uniform": (u, 0.5),
            "pass .8": ((u < 0.8).astype(float), 0.8),
            "collapse 10 %": (np.where(u < 0.1, 0.0, 0.95), 0.855),
        }
        found, ignored = {}, []
        for name, (values, mean) in tables.items():
            low, high = mean_intervals(values, families=member).T
            found[name] = float(((low <= mean) & (mean <= high)).mean())
            low, high = mean_intervals(values).T
            ignored.append(float(((low <= mean) & (mean <= high)).mean()))
        worst = min(found, key=lambda name: found[name])
        yield Line(
            f"families {len(member)} in {len(sizes)}",
            f"{found[worst]:.1%} ({worst}), ρ = {RELATED}",
            f"ignored: {min(ignored):.0%}",
            f"≥ {LEAST_COVER:.0%}",
            "",
            _word(found[worst] >= LEAST_COVER),
        )


# -- comparisons


def crash(random: np.random.Generator, size: Size) -> Table:
    """One of two equals crashes on a tenth of the evals, and is a little better on the others."""
    return 0.72 + random.normal(0, 0.01, size) - np.where(random.random(size) < 0.1, 0.0, 0.8)


def rare(share: float, random: np.random.Generator, size: Size) -> Table:
    """Ahead by a little, but for a share of the evals where all is lost."""
    lead = share * 0.9 / (1 - share)
    return np.where(random.random(size) < share, -0.9, lead + random.normal(0, lead / 5, size))


def long_tail(random: np.random.Generator, size: Size) -> Table:
    drawn = np.minimum(random.lognormal(-2.5, 1, size), 1)
    return drawn - 0.13214


def coins(chance: float, random: np.random.Generator, size: Size) -> Table:
    """One passes and the other fails, on a share of the evals."""
    return random.choice([-1.0, 1.0], size) * (random.random(size) < chance)


def bell(random: np.random.Generator, size: Size) -> Table:
    return np.clip(random.normal(0, 0.2, size), -1, 1)


def ceiling(random: np.random.Generator, size: Size) -> Table:
    """Steady against a long tail near the ceiling."""
    return random.beta(0.95 * 400, 0.05 * 400, size) - random.beta(0.95 * 5, 0.05 * 5, size)


NULLS: dict[str, Null] = {
    "crash 10 %": crash,
    "collapse 4 %": partial(rare, 0.04),
    "collapse 8 %": partial(rare, 0.08),
    "lognormal": long_tail,
    "coins": partial(coins, 1.0),
    "pass/fail": partial(coins, 0.4),
    "bell": bell,
    "ceiling": ceiling,
}


def wealth_paths(stakes: Table) -> Table:
    """The log of a one-sided e-value after each unit."""
    path = np.full(stakes.shape, -np.inf)
    with np.errstate(divide="ignore"):
        for bet, share in zip(BETS, SHARES, strict=True):
            wins = np.log1p(np.maximum(bet * stakes, -1.0)).cumsum(axis=1)
            path = np.logaddexp(path, np.log(share / sum(SHARES)) + wins)
    return path


def ever(stakes: Table, needed: float = 20.0) -> float:
    """The share of rows that are called different at some look."""
    both = np.maximum(wealth_paths(stakes), wealth_paths(-stakes))
    return float((both >= np.log(2 * needed)).any(axis=1).mean())


def ever_quick(d: Table, needed: float = 20.0) -> float:
    quick = np.minimum(log_e_path(d), log_flip_path(d))[:, FEWEST - 1 :]
    return float((quick >= np.log(needed)).any(axis=1).mean())


def peeking() -> Iterator[Line]:
    """Equals, looked at after every one of 60 evals."""
    for name, draw in NULLS.items():
        d = draw(np.random.default_rng(4), (PATHS, COLUMNS))
        found = ever(d)
        good = found <= MOST_WRONG + noise(PATHS)
        yield Line(f"peek {name}", f"{found:.1%} told apart", f"quick: {ever_quick(d):.0%}", "≤ 5 %", "", _word(good))
    for sizes in ([4] * 15, [1, 2, 3, 6] * 5):
        u, member = related(np.random.default_rng(5), sizes, 2000)
        d = np.where(u < 0.1, -0.9, 0.1)
        units = units_of(d, member)
        found = ever(units.sums / units.largest)
        yield Line(
            f"peek {len(sizes)} families",
            f"{found:.1%} told apart, ρ = {RELATED}",
            f"ignored: {ever(d):.0%}",
            "≤ 5 %",
            "",
            _word(found <= MOST_WRONG + noise(2000)),
        )


def noise(draws: int) -> float:
    """Two standard errors that a simulated share of 5 % has of its own."""
    return float(2 * (0.05 * 0.95 / draws) ** 0.5)


# -- races


def leaders() -> Iterator[Line]:
    """The best is steady; its rivals are better on nine evals of ten, and crash on the tenth: how often it is lost."""
    for k in (2, 6):
        random, lost, quick, out = np.random.default_rng(6), 0, 0, 0
        for _ in range(RACES):
            table = np.where(random.random((k, COLUMNS)) < 0.1, 0.0, 0.8 + random.normal(0, 0.01, (k, COLUMNS)))
            table[0] = 0.721 + random.normal(0, 0.01, COLUMNS)
            result = race(table)
            lost += 0 not in result.left
            quick += quick_after(table, result.needed)[0] is not None
            out += 0 not in winner_set(table).winners
        for what, number, beside in (("race", lost, f"quick: {quick / RACES:.0%}"), ("winners", out, "")):
            verdict = _word(number <= MOST_WRONG * RACES)
            yield Line(f"{what} of {k}", f"best lost in {number} of {RACES}", beside, "≤ 5 %", "", verdict)
    for name, ahead in {".20 ahead": [0.2, 0, 0, 0, 0, 0], ".06 steps": [0.3, 0.24, 0.18, 0.12, 0.06, 0]}.items():
        random, used, lost = np.random.default_rng(7), 0.0, 0
        for _ in range(RACES):
            hard = random.normal(0.45, 0.1, COLUMNS)
            table = hard + np.array(ahead)[:, None] + random.normal(0, 0.2 / 2**0.5, (6, COLUMNS))
            result = race(np.clip(table, 0, 1))
            used += result.used / result.planned / RACES
            lost += 0 not in result.left
        verdict = _word(lost <= MOST_WRONG * RACES)
        yield Line(f"six, {name}", f"{used:.0%} of the budget", f"best lost in {lost} of {RACES}", "≤ 5 %", "", verdict)


# -- the price


def price() -> Iterator[Line]:
    """Evals until a true difference is shown, by what is guaranteed and by what is quick."""
    for mean, sd, most in ((0.2, 0.2, 30), (0.4, 0.2, 18), (0.8, 0.2, 10), (0.1, 0.2, 70)):
        d = np.clip(np.random.default_rng(8).normal(mean, sd, (600, 400)), -1, 1)
        slow = stops(wealth_paths(d) >= np.log(40))
        quick = np.minimum(log_e_path(d), log_flip_path(d)) >= np.log(20)
        quick[:, : FEWEST - 1] = False
        verdict = _word(slow <= most)
        yield Line(f"price of {mean:g}", f"{slow:.1f} evals", f"quick: {stops(quick):.1f}", f"≤ {most}", "", verdict)
    for sd, evals in ((0.2, 12), (0.2, 30), (0.5, 60)):
        told = detectable(sd, evals)
        shown = "nothing" if told is None else f"{told:.2f}"
        yield Line(f"seen, E={evals}", f"{shown} at an sd of {sd}", f"t: {quick_detectable(sd, evals):.2f}")


def stops(hits: NDArray[np.bool_]) -> float:
    return float(np.where(hits.any(axis=1), hits.argmax(axis=1) + 1, hits.shape[1]).mean())


def _word(good: bool) -> str:
    return "ok" if good else REGRESSED

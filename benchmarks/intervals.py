"""Whether 95 % means 95 %: intervals, paired comparisons and races on data whose truth is known."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.lines import REGRESSED, Line
from orvl.rate.stats.intervals import mean_intervals, t_quantile
from orvl.rate.stats.paired import paired
from orvl.rate.stats.race import FEWEST, race

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from numpy.typing import NDArray

    Table = NDArray[np.float64]
    Size = tuple[int, int]
    Draw = Callable[[np.random.Generator, Size], tuple[Table, float]]
    Two = Callable[[np.random.Generator, Size], tuple[Table, Table]]

EVALS = (5, 8, 12, 30)
ALARM_EVALS = (6, 8, 12, 30)
DRAWS = 10_000
PAIRS = 6_000
RACES = 280
COLUMNS = 60


def intervals(_folder: Path) -> list[Line]:
    """Coverage of means, false alarms of comparisons, and what a race costs and never drops."""
    return [*coverage(), *false_alarms(), *peeking(), *six()]


def beta(random: np.random.Generator, mean: float, narrow: float, size: Size) -> Table:
    return random.beta(mean * narrow, (1 - mean) * narrow, size)


def noisy(mean: float, narrow: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """Evals of differing difficulty, and three episodes of each that vary around it."""
    truth = np.clip(beta(random, mean, narrow, size), 1e-9, 1 - 1e-9)[..., None]
    return random.beta(20 * truth, 20 * (1 - truth), (*size, 3)).mean(axis=-1), mean


def exact(mean: float, narrow: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """The same without noise: a few evals far below the others are all that varies."""
    return beta(random, mean, narrow, size), mean


def passes(mean: float, narrow: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """The same with episodes that pass or fail."""
    return random.binomial(3, beta(random, mean, narrow, size)) / 3, mean


def often_whole(share: float, rest: float, random: np.random.Generator, size: Size) -> tuple[Table, float]:
    """Evals of which a share is exactly 1."""
    values = np.where(random.random(size) < share, 1.0, beta(random, rest, 6, size))
    return values, share + (1 - share) * rest


def truths() -> Iterator[Draw]:
    for mean in (0.05, 0.5, 0.8, 0.9, 0.95):
        for narrow in (2, 5, 10, 30):
            yield partial(noisy, mean, narrow)
            yield partial(exact, mean, narrow)
            yield partial(passes, mean, narrow)
    for share in (0.3, 0.5, 0.7):
        for rest in (0.6, 0.8):
            yield partial(often_whole, share, rest)


def coverage() -> Iterator[Line]:
    for evals in EVALS:
        found, plain = [], []
        for draw in truths():
            values, mean = draw(np.random.default_rng(1), (DRAWS, evals))
            low, high = mean_intervals(values).T
            found.append(float(((low <= mean) & (mean <= high)).mean()))
            half = t_quantile(0.975, evals - 1) * values.std(axis=1, ddof=1) / evals**0.5
            plain.append(float((np.abs(values.mean(axis=1) - mean) <= half).mean()))
        within = sum(0.93 <= share <= 0.96 for share in found)
        yield Line(
            f"coverage, E={evals}",
            f"{min(found):.1%} to {max(found):.1%}",
            f"t: from {min(plain):.0%}; {within}/{len(found)} ≤ 96 %",
            "≥ 93 %",
            "< 93 %",
            "ok" if min(found) >= 0.93 else REGRESSED,
        )


def alike(mean: float, narrow: float, random: np.random.Generator, size: Size) -> tuple[Table, Table]:
    """Two contestants with the same chances on each eval."""
    chance = beta(random, mean, narrow, size)
    return random.binomial(15, chance) / 15, random.binomial(15, chance) / 15


def unlike(mean: float, first: float, second: float, random: np.random.Generator, size: Size) -> tuple[Table, Table]:
    """Two with the same mean, one steady and one with a long tail: their differences are skewed."""
    return beta(random, mean, first, size), beta(random, mean, second, size)


def shifted(by: float, random: np.random.Generator, size: Size) -> tuple[Table, Table]:
    """Two that share the evals' difficulty; differences with a standard deviation of .2, and this mean."""
    hard = random.normal(0.5, 0.1, size)
    a, b = (hard + random.normal(0, 0.2 / 2**0.5, size) for _ in range(2))
    return np.clip(a + by / 2, 0, 1), np.clip(b - by / 2, 0, 1)


def coins(random: np.random.Generator, size: Size) -> tuple[Table, Table]:
    """Of each eval one of two passes: nothing but 1 and −1."""
    a = np.rint(random.random(size))
    return a, 1 - a


def collapse(random: np.random.Generator, size: Size) -> tuple[Table, Table]:
    """A steady one against one that is better but for a quarter of the evals, where it collapses: the same mean."""
    b = np.where(random.random(size) < 0.75, 0.85, 0.25)
    return random.normal(0.7, 0.05, size), b + random.normal(0, 0.03, size)


NULLS: dict[str, Two] = {
    "bell": partial(shifted, 0.0),
    "alike .5": partial(alike, 0.5, 2),
    "alike .95": partial(alike, 0.95, 3),
    "coins": coins,
    "skewed .8": partial(unlike, 0.8, 200, 5),
    "skewed .9": partial(unlike, 0.9, 200, 5),
    "longer tail": partial(unlike, 0.9, 100, 2),
    "skewed .95": partial(unlike, 0.95, 400, 5),
    "skewed both": partial(unlike, 0.9, 30, 3),
}


def t_paths(a: Table, b: Table) -> Table:
    """|t| of the differences after each eval from the second."""
    d = a - b
    n = np.arange(1, d.shape[1] + 1)
    mean = d.cumsum(axis=1) / n
    variance = np.maximum((d**2).cumsum(axis=1) - n * mean**2, 1e-12)[:, 1:] / (n[1:] - 1)
    return np.asarray(np.abs(mean[:, 1:]) / np.sqrt(variance / n[1:]))


def alarms(draw: Two, evals: int) -> tuple[float, float]:
    """The share of pairs that are called different: by `paired`, and by t alone."""
    a, b = draw(np.random.default_rng(2), (PAIRS, evals))
    # What t alone does not find, the rest does not find either.
    maybe = np.flatnonzero(t_paths(a, b)[:, -1] >= t_quantile(0.975, evals - 1))
    return sum(paired(a[i], b[i]).significant for i in maybe) / PAIRS, len(maybe) / PAIRS


def false_alarms() -> Iterator[Line]:
    """No difference is there; a sound test says so in 95 % or more."""
    for evals in ALARM_EVALS:
        shares = {name: alarms(draw, evals) for name, draw in NULLS.items()}
        worst = max(shares, key=lambda name: shares[name][0])
        yield Line(
            f"alarms, E={evals}",
            f"{min(share for share, _ in shares.values()):.1%} to {shares[worst][0]:.1%} ({worst})",
            f"t: to {max(plain for _, plain in shares.values()):.0%}",
            "≤ 5 %",
            "",
            "ok" if shares[worst][0] <= 0.05 + noise(PAIRS) else REGRESSED,
        )
    # No test of so few evals can know of what it has not met: told, without a target.
    unmet = [alarms(collapse, evals)[0] for evals in ALARM_EVALS]
    yield Line("alarms, collapse", ", ".join(f"{share:.1%}" for share in unmet), "E=6, 8, 12, 30")
    a, b = shifted(0.1, np.random.default_rng(3), (PAIRS, 30))
    power = np.mean([paired(x, y).significant for x, y in zip(a, b, strict=True)])
    by_t = np.mean(t_paths(a, b)[:, -1] >= t_quantile(0.975, 29))
    verdict = "ok" if power > by_t - 0.03 else REGRESSED
    yield Line("power, E=30", f"{power:.1%} at .10", f"t: {by_t:.1%}", "t – 3 %", "", verdict)


def noise(draws: int) -> float:
    """Two standard errors that a simulated share of 5 % has of its own."""
    return float(2 * (0.05 * 0.95 / draws) ** 0.5)


def peeking() -> Iterator[Line]:
    """Looking after every one of 60 evals."""
    limit = np.array([t_quantile(0.975, df) for df in range(1, COLUMNS)])
    for name, draw in NULLS.items():
        a, b = draw(np.random.default_rng(4), (5 * RACES, COLUMNS))
        naive = (t_paths(a, b) >= limit)[:, FEWEST - 2 :].any(axis=1).mean()
        ended = np.mean([len(race([x, y]).left) < 2 for x, y in zip(a, b, strict=True)])
        verdict = "ok" if ended <= 0.05 + noise(5 * RACES) else REGRESSED
        yield Line(f"peek, {name}", f"{ended:.1%} ended", f"t: {naive:.0%}", "≤ 5 %", "", verdict)
    a, b = shifted(0.2, np.random.default_rng(5), (RACES, COLUMNS))
    stops = [min(racer.evals for racer in race([x, y]).racers) for x, y in zip(a, b, strict=True)]
    mean = float(np.mean(stops))
    yield Line(
        "stops at .20", f"after {mean:.1f} of {COLUMNS} evals", "", "≤ 15", "", "ok" if mean <= 15 else REGRESSED
    )


def six() -> Iterator[Line]:
    """Six contestants, of which the first is the best."""
    fields = {
        ".20 ahead": [0.2, 0, 0, 0, 0, 0],
        "steps of .06": [0.3, 0.24, 0.18, 0.12, 0.06, 0],
        ".08 ahead": [0.08, 0, 0, 0, 0, 0],
    }
    for name, ahead in fields.items():
        random, used, dropped = np.random.default_rng(6), 0.0, 0
        for _ in range(RACES):
            hard = random.normal(0.45, 0.1, COLUMNS)
            table = hard + np.array(ahead)[:, None] + random.normal(0, 0.2 / 2**0.5, (6, COLUMNS))
            result = race(np.clip(table, 0, 1))
            used += result.used / result.planned / RACES
            dropped += 0 not in result.left
        verdict = "ok" if dropped <= 0.05 * RACES else REGRESSED
        yield Line(f"six, {name}", f"{used:.0%} of the budget", f"{dropped} of {RACES} lost", "≤ 5 %", "", verdict)

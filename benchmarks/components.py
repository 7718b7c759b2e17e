"""Variance components at size: what they predict against what a simulation does."""

from __future__ import annotations

import time
from itertools import product
from typing import TYPE_CHECKING

from benchmarks.lines import REGRESSED, Line

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

TRIES = 4000
PLANTED = (0.02, 0.002, 0.015, 0.01)
PLANS = ((2, 12, 3, 3), (4, 8, 3, 3), (6, 6, 3, 3), (6, 18, 1, 3), (8, 30, 2, 4))
"""Contestants, evals, episodes, judges."""
ERROR = 0.05
SHARES = {"agent": 0.05, "model": 0.10, "interaction": 0.03}


def components(_folder: Path) -> list[Line]:
    """The standard error of a difference, by plan; then planted shares of merit, and the time of each."""
    import numpy as np

    random = np.random.default_rng(1)
    return [*(_errors(random, plan) for plan in PLANS), _same_money(), *_merits(random), _times(random)]


def _errors(random: np.random.Generator, plan: tuple[int, int, int, int]) -> Line:
    """What is predicted from each try's own estimates, pooled, against how differences really spread."""
    import numpy as np

    from orvl.rate.stats.components import standard_error, variance_components

    A, E, r, J = plan
    differences, squares = [], []
    for _ in range(TRIES):
        table = _scores(random, plan)
        found = variance_components(table)
        assert found is not None
        squares.append(standard_error(found, E, J, r) ** 2)
        means = table.mean(axis=(1, 2, 3))
        differences.extend(means[0 : A - 1 : 2] - means[1:A:2])
    simulated, predicted = float(np.std(differences)), float(np.sqrt(np.mean(squares)))
    measured = f"{predicted:.4f} predicted, {simulated:.4f} simulated"
    off = abs(predicted / simulated - 1)
    return Line(f"SE {A}×{E}×{r}×{J}", measured, f"{off:.1%} off", f"≤ {ERROR:.0%}", verdict=_verdict(off <= ERROR))


def _same_money() -> Line:
    """18 evals with 1 run against 6 with 3, which is the same money."""
    from orvl.rate.stats.components import Components, half_width

    known = Components(*PLANTED, 2, 6, 3, 3)
    many, few = half_width(known, 18, 3, 1), half_width(known, 6, 3, 3)
    assert many is not None
    assert few is not None
    measured = f"± {many:.3f} of 18 × 1, ± {few:.3f} of 6 × 3"
    return Line("evals or runs", measured, f"{few / many:.2f} ×", "> 1 ×", verdict=_verdict(many < few))


def _merits(random: np.random.Generator) -> list[Line]:
    """Mean estimated shares, and how often their 95 % intervals hold the truth."""
    import numpy as np

    from orvl.rate.stats.merit import merit

    planted = np.array([*SHARES.values()])
    truth = planted**2 / (planted**2).sum()
    lines = []
    for E in (8, 12, 30):
        shares, hits = [], []
        for _ in range(500):
            found = merit(*_crossed(random, E), draws=1000)
            parts = [part for name in SHARES if (part := found.part(name)) and part.share is not None]
            shares.append([part.share for part in parts])
            hits.append(
                [
                    part.interval is not None and part.interval[0] <= t <= part.interval[1]
                    for part, t in zip(parts, truth, strict=True)
                ]
            )
        off, cover = float(np.abs(np.mean(shares, axis=0) - truth).max()), float(np.mean(hits))
        measured = f"shares {off:.3f} off, cover {cover:.1%}"
        good = off <= 0.03 and cover >= 0.92
        lines.append(Line(f"merit, {E} evals", measured, target="≥ 92%", verdict=_verdict(good)))
    return lines


def _times(random: np.random.Generator) -> Line:
    from orvl.rate.stats.components import variance_components
    from orvl.rate.stats.merit import merit

    table, rows = _scores(random, (20, 100, 5, 3)), _crossed(random, 100)
    began = time.perf_counter()
    variance_components(table)
    middle = time.perf_counter()
    merit(*rows)
    first, second = middle - began, time.perf_counter() - middle
    return Line("their times", f"{first * 1000:.1f} ms of 30,000, merit {second * 1000:.1f} ms")


def _scores(random: np.random.Generator, plan: tuple[int, int, int, int]) -> NDArray[np.float64]:
    """With evals' hardness and judges' severity, which no difference should see."""
    import numpy as np

    A, E, r, J = plan
    ae, aj, run, res = np.sqrt(PLANTED)
    parts = (
        ((A, E, 1, 1), ae),
        ((A, 1, 1, J), aj),
        ((A, E, r, 1), run),
        ((A, E, r, J), res),
        ((1, E, 1, 1), 0.2),
        ((1, 1, 1, J), 0.1),
        ((1, E, 1, J), 0.05),
    )
    table = np.full((A, E, r, J), 0.5)
    for shape, spread in parts:
        table += spread * random.normal(size=shape)
    return table


def _crossed(random: np.random.Generator, E: int) -> tuple[list[tuple[str, str, str]], NDArray[np.float64]]:
    """Five agents × four models with exactly the planted spreads."""
    import numpy as np

    a, m, left = random.normal(size=(5, 1)), random.normal(size=(1, 4)), random.normal(size=(5, 4))
    left = left - left.mean(axis=0) - left.mean(axis=1, keepdims=True) + left.mean()
    effect = np.zeros((5, 4))
    for values, spread in zip((a, m, left), SHARES.values(), strict=True):
        effect = effect + (values - values.mean()) * spread / values.std()
    rows = [(f"a{i}", f"m{j}", "p") for i, j in product(range(5), range(4))]
    return rows, 0.5 + effect.reshape(-1, 1) + random.normal(0, 0.2, E) + random.normal(0, 0.12, (20, E))


def _verdict(good: bool) -> str:
    return "ok" if good else REGRESSED

"""A million ratings at once."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from benchmarks.lines import Line

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHAPE = (1_000_000, 3, 5)
ABSTAIN = 0.02


def ratings(_folder: Path) -> list[Line]:
    """With and without abstentions, against one plain numpy pass over the same array."""
    import numpy as np

    from orvl import rate

    random = np.random.default_rng(1)
    S = random.random(SHAPE)
    w, v = [0.5, 0.3, 0.2], [3, 2, 2, 1, 1]
    bare = shortest(lambda: S.mean(axis=(1, 2)))
    whole = shortest(lambda: rate(S, w, v))
    S[random.random(SHAPE) < ABSTAIN] = np.nan
    with_nan = shortest(lambda: rate(S, w, v))
    return [line("ratings", whole, bare), line("ratings with NaN", with_nan, bare)]


def line(name: str, seconds: float, bare: float) -> Line:
    return Line(name, f"{seconds:.3g} s for a million", f"{seconds / bare:.1f} × S.mean")


def shortest(work: Callable[[], object]) -> float:
    def once() -> float:
        began = time.perf_counter()
        work()
        return time.perf_counter() - began

    return min(once() for _ in range(2))

"""How often simulated panels of judges are certified, and what calibration and people's labels are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lines import REGRESSED, Line

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.random import Generator
    from tests.helpers.simulate import Kind

PANELS = 5000
SOUND, UNSOUND = 0.95, 0.01
LENIENT = {"one-bug-blind-judge": 0.06}
"""One judge's view of one bug is noisy: asking for more would refuse sound panels."""
TRIES = 2000
EVALS, REPEATS = 8, 3
DOSES = {"good": 1.0, "planted-bug": 0.875, "dose-2": 0.75, "dose-4": 0.5, "dose-all": 0.0}
JUDGES = {"compressed": (0.7, 0.2, 0.040), "harsh": (1.0, -0.08, 0.047), "generous": (1.0, 0.08, 0.047)}
"""Slope, shift, and the largest error that may be left."""
LABELS, RUNS = 20, 300
WORTH = {0.5: 1.15, 0.7: 1.60, 0.9: 3.35}
"""The least that a label must be worth. With λ known it would be 1.31, 1.85 and 4.15; to learn it costs some."""


def gate(_folder: Path) -> list[Line]:
    """The gate by kind of panel, then calibration by kind of judge, then labels by correlation."""
    from tests.helpers.simulate import KINDS

    lines = [panels(kind) for kind in KINDS]
    return [*lines, *(calibration(kind) for kind in JUDGES), *(line for rho in WORTH for line in labels(rho))]


def panels(kind: Kind) -> Line:
    import numpy as np
    from tests.helpers.simulate import draw_panel

    from orvl.rate.stats.claims import panel_scores
    from orvl.trust.controls.control import LadderEvidence
    from orvl.trust.gate import gate_tests

    random, passed = np.random.default_rng(1), 0
    for _ in range(PANELS):
        drawn = draw_panel(kind, random, evals=EVALS, repeats=REPEATS)
        evidence = LadderEvidence(panel_scores(drawn.scores, {}, drawn.judges, drawn.weights))
        # What decides; the warnings would take longer and change nothing.
        passed += all(test.passed for test in gate_tests(evidence))
    share = passed / PANELS
    most = LENIENT.get(kind, UNSOUND)
    good = share >= SOUND if kind == "sound" else share <= most
    target = f"≥ {SOUND:.0%}" if kind == "sound" else f"≤ {most:.0%}"
    return Line("gate", f"{kind}: {share:.2%} certified", f"{passed}/{PANELS}", target, verdict=_word(good))


def calibration(kind: str) -> Line:
    """The error to the truth of ten agents' ratings, before and after."""
    import numpy as np

    random, before, after = np.random.default_rng(2), 0.0, 0.0
    slope, shift, most = JUDGES[kind]
    tries = TRIES // 4
    for _ in range(tries):
        raw, calibrated = _calibrated(random, slope, shift)
        before, after = before + raw / tries, after + calibrated / tries
    raw, left = before**0.5, after**0.5
    return Line(
        "calibration",
        f"{kind}: {raw:.3f} → {left:.3f}",
        f"{left / raw:.2f}",
        f"≤ {most:.3f}",
        verdict=_word(left <= most),
    )


def _calibrated(random: Generator, slope: float, shift: float) -> tuple[float, float]:
    """Mean squared errors of one draw."""
    import numpy as np
    from tests.helpers.simulate import Judges

    from orvl.rate.stats.calibration import calibrate, calibrated_rating

    judge = Judges(np.array([shift]), np.array([slope]), np.array([0.1]))
    series = {dose: judge.score(np.full((EVALS, 1), truth), REPEATS, random) for dose, truth in DOSES.items()}
    maps = calibrate(series, DOSES, ["judge"])
    truth = np.clip(random.uniform(0.1, 0.9, (10, 1)) + random.normal(0, 0.1, (10, EVALS)), 0, 1)
    scores = np.stack([judge.score(row[:, None], REPEATS, random).mean(axis=(0, 1)) for row in truth])
    rated = calibrated_rating(scores[..., None], maps, [1], [1])
    worth = truth.mean(axis=1)
    return float(((scores[:, 0] - worth) ** 2).mean()), float(((rated - worth) ** 2).mean())


def labels(rho: float) -> list[Line]:
    """What a label is worth by the errors themselves, what is told of it, and how often the interval holds."""
    import numpy as np

    from orvl.rate.stats.people import people_mean

    random = np.random.default_rng(3)
    held, told, both, alone = 0, 0.0, 0.0, 0.0
    for _ in range(2 * TRIES):
        a, b = random.normal(size=(2, LABELS + RUNS))
        y, f = 0.5 + 0.15 * a, 0.45 + 0.1 * (rho * a + np.sqrt(1 - rho**2) * b)
        found = people_mean(y[:LABELS], f[:LABELS], f[LABELS:])
        if found.low is None or found.high is None or found.estimate is None:
            continue
        held += found.low <= 0.5 <= found.high
        told += (found.worth or 0.0) / (2 * TRIES)
        both, alone = both + (found.estimate - 0.5) ** 2, alone + (float(y[:LABELS].mean()) - 0.5) ** 2
    worth, cover = alone / both, held / (2 * TRIES)
    least = WORTH[rho]
    return [
        Line(
            "labels", f"ρ {rho}: ×{worth:.2f}, told ×{told:.2f}", target=f"≥ {least:.2f}", verdict=_word(worth >= least)
        ),
        Line("labels", f"ρ {rho}: {cover:.1%} covered", target="94–96 %", verdict=_word(0.94 <= cover <= 0.96)),
    ]


def _word(good: bool) -> str:
    return "ok" if good else REGRESSED

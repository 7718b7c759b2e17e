"""What makes no sense is an error in a sentence, never a traceback of numpy's, a wrong number or a loop without end."""

from __future__ import annotations

import numpy as np
import pytest

from orvl.rate.stats.agreement import alpha, effective_judges, icc, leave_one_out, panel_agreement
from orvl.rate.stats.betting import confidence_sequence
from orvl.rate.stats.calibration import calibrate, calibrated_rating
from orvl.rate.stats.components import half_width, variance_components
from orvl.rate.stats.drift import drift
from orvl.rate.stats.intervals import mean_interval, t_interval, t_quantile
from orvl.rate.stats.merit import merit
from orvl.rate.stats.paired import detectable, paired, winner_set
from orvl.rate.stats.people import agreement, most_informative, people_mean
from orvl.rate.stats.race import log_e, log_evidence, log_flip_path, race
from orvl.rate.stats.shares import median, quantile_interval, wilson_interval
from orvl.rate.stats.spending import spending
from orvl.rate.stats.weights import nearest_flip, weight_proof
from orvl.trust.gate import gate

INF, NAN = float("inf"), float("nan")
CUBE, ENDLESS = np.full((3, 2, 1), 0.5), np.full((3, 2, 1), INF)
ROWS = [("a", "m", "p"), ("b", "m", "p")]

INFINITE = {
    "alpha": lambda: alpha([[0.5, INF], [0.1, 0.2]], "interval"),
    "icc": lambda: icc([[0.5, INF], [0.1, 0.2]]),
    "panel_agreement": lambda: panel_agreement([[0.5, INF], [0.1, 0.2]]),
    "calibrate": lambda: calibrate({"a": ENDLESS}, {"a": 0.5}, ["j"]),
    "components": lambda: variance_components(ENDLESS[None]),
    "drift": lambda: drift({"good": ENDLESS}, {"good": ENDLESS}, ["j"]),
    "gate": lambda: gate({"good": ENDLESS}, ["j"], [1]),
    "merit": lambda: merit(ROWS, [[0.5, INF], [0.1, 0.2]]),
    "people_mean": lambda: people_mean([0.1, INF], [0.1, 0.2], [0.3]),
    "others": lambda: people_mean([0.1, 0.2], [0.1, 0.2], [INF, 0.1]),
    "agreement": lambda: agreement([0.1, 0.2], {"j": [INF, 0.1]}),
    "most_informative": lambda: most_informative([[INF, 0.1]], ["a"]),
    "log_e": lambda: log_e([0.1, INF]),
    "log_flip_path": lambda: log_flip_path([0.1, INF]),
    "log_evidence": lambda: log_evidence(np.array([INF, INF, 0.1]), np.array([INF, 0.2, 0.1])),
    "weight_proof": lambda: weight_proof([[INF]], [[INF]], [1], [1]),
}
SHAPES = {
    "truth of runs": lambda: effective_judges(np.full((9, 3), 0.5), [0.5] * 4),
    "no judges axis": lambda: leave_one_out([0.1, 0.2], [1], [1]),
    "no judges": lambda: leave_one_out(np.empty((3, 0, 2)), [], [1, 1]),
    "truth of anchors": lambda: calibrate({"a": CUBE}, {"a": [0.1, 0.2]}, ["j"]),
    "too many judge weights": lambda: calibrated_rating(CUBE, [None, None], [1, 1, 1], [1]),
    "too few metric weights": lambda: calibrated_rating(np.full((3, 2, 4), 0.5), [None, None], [1, 1], [1]),
    "labels of other runs": lambda: agreement([0.1], {"j": [0.1, 0.2]}),
    "others in a table": lambda: people_mean([0.1, 0.2], [0.1, 0.2], [[0.3, 0.4]]),
    "runs without contestants": lambda: most_informative([[0.1, 0.2], [0.1, 0.4]], ["a"]),
    "one rating for many": lambda: log_evidence(np.array([0.5]), np.array([0.1, 0.2, 0.3])),
    "one judge for many": lambda: weight_proof(np.full((3, 2), 0.5), [[0.1, 0.2]], [1, 1], [1, 1, 1]),
    "a part that is missing": lambda: nearest_flip([0.1, NAN], [1, 1]),
    "parts in a table": lambda: nearest_flip([[0.1, 0.2], [0.1, -0.2]], [1, 1]),
}
PERCENT = {
    "mean_interval": lambda: mean_interval([55, 80, 90]),
    "t_interval": lambda: t_interval([55, 80, 90]),
    "paired": lambda: paired([55, 80, 90], [45, 70, 60]),
    "differences": lambda: paired([10, 20, -5]),
    "winner_set": lambda: winner_set([[55, 80], [45, 70]]),
    "race": lambda: race([[55, 80], [45, 70]]),
    "log_evidence": lambda: log_evidence([55, 80], [45, 70]),
    "confidence_sequence": lambda: confidence_sequence([10, 20]),
    "weight_proof": lambda: weight_proof([[55]], [[60]], [1], [1]),
    "people_mean": lambda: people_mean([55, 80], [55, 70], [60]),
    "agreement of people": lambda: agreement([55, 80], {"j": [55, 70]}),
    "calibrate": lambda: calibrate({"a": CUBE * 100}, {"a": 0.5}, ["j"]),
    "truth": lambda: calibrate({"a": CUBE}, {"a": 50}, ["j"]),
    "drift": lambda: drift({"good": CUBE * 100}, {"good": CUBE * 100}, ["j"]),
    "components": lambda: variance_components(CUBE[None] * 100),
    "merit": lambda: merit(ROWS, [[55, 60], [70, 80]]),
}
ORDER = {
    "an unsorted quantile": lambda: quantile_interval([3.0, 1.0, 2.0] * 3),
    "an unsorted median": lambda: median([3.0, 1.0, 2.0]),
    "an infinite quantile": lambda: quantile_interval([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, INF]),
    "a cost below 0": lambda: spending([1.0, -1.0, 2.0]),
    "an endless cost": lambda: spending([1.0, INF, 2.0]),
    "families of other evals": lambda: mean_interval([0.1, 0.2, 0.3], families=["a", "b"]),
    "a spread beyond the scale": lambda: detectable(20, 12),
}
NUMBERS = {
    "a level in percent": lambda: mean_interval([0.1, 0.2, 0.3], 95),
    "paired": lambda: paired([0.1, 0.2], [0.2, 0.3], 95),
    "winner_set": lambda: winner_set([[0.1] * 8, [0.5] * 8], 95),
    "t_interval": lambda: t_interval([0.1, 0.2], 1.5),
    "people_mean": lambda: people_mean([0.1, 0.3], [0.1, 0.2], [0.3], level=95),
    "half_width": lambda: half_width(variance_components(np.full((2, 3, 2, 2), 0.5)), 3, 2, 2, 95),
    "t_quantile below the middle": lambda: t_quantile(0.3, 5),
    "t_quantile of certainty": lambda: t_quantile(1.0, 5),
    "no degrees of freedom": lambda: t_quantile(0.9, 0),
    "alpha of a race": lambda: race([[0.1] * 8, [0.5] * 8], alpha=0),
    "more hits than tries": lambda: wilson_interval(3, 2),
    "a quantile beyond": lambda: quantile_interval([0.1, 0.2], 2),
    "a plan without judges": lambda: half_width(variance_components(np.full((2, 3, 2, 2), 0.5)), 2, 0, 1),
}
CASES = {
    **INFINITE,
    **{f"percent, {k}": v for k, v in PERCENT.items()},
    **{f"order, {k}": v for k, v in ORDER.items()},
    **{f"shape, {k}": v for k, v in SHAPES.items()},
    **{f"number, {k}": v for k, v in NUMBERS.items()},
}


@pytest.mark.parametrize("name", CASES)
def test_nonsense_is_an_error_in_a_sentence(name):
    with pytest.raises(ValueError) as found:
        CASES[name]()
    told = str(found.value)
    assert told.endswith(".")
    assert "operands" not in told
    assert "array" not in told


def test_t_leaves_out_what_is_missing():
    assert t_interval([0.4, NAN, 0.6]) == t_interval([0.4, 0.6])
    assert t_interval([NAN, NAN, 0.6]) is None


def test_the_public_names_are_listed_and_there():
    import orvl
    from orvl import stats

    assert orvl.stats is stats
    assert stats.__all__ == sorted(stats.__all__)
    assert all(callable(getattr(stats, name)) for name in stats.__all__)
    assert {"paired", "race", "winner_set", "mean_interval", "confidence_sequence"} <= set(stats.__all__)


def test_costs_have_an_interval_on_the_logarithmic_scale():
    random = np.random.default_rng(1)
    for draw, mean in ((lambda: random.lognormal(0, 0.7, 8), np.exp(0.245)), (lambda: random.gamma(2, 1, 8), 2.0)):
        found = [spending(draw().tolist()).interval for _ in range(800)]
        assert np.mean([low <= mean <= high for low, high in found]) >= 0.92
    assert spending([]) is None
    assert spending([0.0] * 4).interval == (0, 0)
    assert spending([0.0, 1.0, 2.0]).interval is spending([1.0, 2.0]).interval is None
    assert spending([1.0, 2.0]).mean == 1.5

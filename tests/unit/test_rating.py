"""The rating is the seed's formula, on its example and on real judges' scores."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest

from orvl import rate
from orvl.rate.rating import MONOTONE_UP_TO

DATA = Path(__file__).parents[3] / "shared" / "data"
S = [[0.80, 0.60, 0.70], [0.90, 0.70, 0.60], [0.70, 0.50, 0.80]]
W = [0.5, 0.3, 0.2]
V = [0.4, 0.3, 0.3]
NAN = float("nan")


def test_the_seeds_example():
    rating = rate(S, W, V)
    assert rating.means == pytest.approx([0.81, 0.61, 0.69])
    assert rating.variances == pytest.approx([0.0049, 0.0049, 0.0049])
    assert pytest.approx(0.714) == rating.R
    assert rating.R_pen == pytest.approx(0.71155)


def test_weights_that_are_not_given_are_equal():
    assert rate(S).R == rate(S, [1, 1, 1], [2, 2, 2]).R


def test_weights_are_scaled_and_a_penalty_of_zero_changes_nothing():
    rating = rate(S, [5, 3, 2], [4, 3, 3], penalty=0)
    assert rating.R == rating.R_pen == pytest.approx(0.714)


def test_a_leading_axis_rates_each_run_alone():
    rng = np.random.default_rng(1)
    many = rng.random((4, 50, 3, 5))
    many[rng.random(many.shape) < 0.3] = NAN
    rating = rate(many, W, [1, 2, 3, 4, 5])
    assert rating.R.shape == (4, 50)
    for place in [(0, 0), (1, 7), (3, 49)]:
        alone = rate(many[place], W, [1, 2, 3, 4, 5])
        assert rating.R[place] == pytest.approx(alone.R, nan_ok=True)
        assert rating.R_pen[place] == pytest.approx(alone.R_pen, nan_ok=True)
        assert rating.means[place] == pytest.approx(alone.means, nan_ok=True)


def test_an_abstention_is_left_out_and_never_zero():
    rating = rate([[0.8, NAN], [NAN, NAN], [0.4, NAN]], [1, 1, 2], [3, 1])
    assert rating.means[0] == pytest.approx((0.8 + 2 * 0.4) / 3)
    assert np.isnan(rating.means[1])
    assert pytest.approx(rating.means[0]) == rating.R


def test_nobody_answered():
    rating = rate([[NAN, NAN]], [1], [1, 1])
    assert np.isnan(rating.R)
    assert np.isnan(rating.R_pen)


def test_a_judge_of_weight_zero_alone_is_no_answer():
    assert np.isnan(rate([[0.9], [NAN]], [0, 1], [1]).R)


def test_unbiased_variance_divides_by_what_the_weights_leave():
    plain, unbiased = rate(S, W, V), rate(S, W, V, variance="unbiased")
    assert unbiased.variances == pytest.approx(plain.variances / (1 - 0.38))
    masked = rate([[0.2, NAN], [0.6, 0.5]], [1, 1], [1, 1], variance="unbiased")
    assert masked.variances == pytest.approx([0.08, 0.0])


@pytest.mark.parametrize(
    ("scores", "w", "v", "words"),
    [
        ([[0.5]], [-1], [1], "judge_weights"),
        ([[0.5]], [0], [1], "judge_weights"),
        ([[0.5]], [1], [NAN], "metric_weights"),
        ([[0.5]], [1, 1], [1], "1 judge"),
        ([[1.5]], [1], [1], "0 to 1"),
        ([0.5], [1], [1], "judges × metrics"),
        ([[float("inf")]], [1], [1], "0 to 1"),
    ],
)
def test_wrong_numbers_are_refused(scores, w, v, words):
    with pytest.raises(ValueError, match=words):
        rate(scores, w, v)


@pytest.mark.parametrize("penalty", [-0.1, NAN, float("inf")])
def test_a_penalty_that_is_negative_or_not_finite_is_refused(penalty):
    with pytest.raises(ValueError, match=r"penalty is .*; it must be a finite number, 0 or more\."):
        rate(S, W, V, penalty=penalty)


def test_any_penalty_from_0_up_is_accepted():
    before, after = (rate([[0], [0], [top]], [1, 1, 1], [1], penalty=1) for top in (0.9, 1))
    assert (before.R_pen, after.R_pen) == pytest.approx((0.120, 1 / 9))
    assert rate(S, W, V, penalty=3).R_pen == pytest.approx(0.714 - 3 * 0.0049)


def test_up_to_a_half_a_higher_score_never_lowers_the_penalised_rating():
    random = np.random.default_rng(1)
    low = random.random((2000, 3, 1))
    high = low + (1 - low) * random.random(low.shape) * (random.random(low.shape) < 0.5)
    w = random.dirichlet(np.ones(3))
    before, after = (rate(scores, w, [1], penalty=MONOTONE_UP_TO).R_pen for scores in (low, high))
    assert (after >= before - 1e-12).all()


@pytest.mark.skipif(not DATA.exists(), reason="other people's results are not part of the project")
def test_real_scores_give_the_recorded_finals():
    tables = defaultdict(dict)
    weights = {}
    for row in json.loads((DATA / "opencode_bench_scores.json").read_text()):
        key = tuple(row[name] for name in ("agent", "model", "task", "episode", "batch"))
        tables[key][row["judge"], row["metric"]] = row["score"]
        weights[key, row["metric"]] = row["weight"]
    finals = [row for row in json.loads((DATA / "opencode_bench_finals.json").read_text()) if row["ep"] != "AGG"]
    assert len(finals) == 36
    for final in finals:
        key = tuple(final[name] for name in ("agent", "model", "task", "ep", "batch"))
        judges = sorted({judge for judge, _ in tables[key]})
        metrics = sorted({metric for _, metric in tables[key]})
        table = [[tables[key].get((judge, metric), NAN) for metric in metrics] for judge in judges]
        rating = rate(table, [1] * len(judges), [weights[key, metric] for metric in metrics])
        assert pytest.approx(final["base"], abs=1e-9) == rating.R
        assert rating.R_pen == pytest.approx(final["final"], abs=1e-9)


def test_a_run_is_rated_the_same_whatever_gaps_the_runs_beside_it_have():
    random = np.random.default_rng(3)
    S = random.random((200, 3, 4))
    S[random.random(S.shape) < 0.05] = np.nan
    w, v = [0.5, 0.3, 0.2], [4, 3, 2, 1]
    together = rate(S, w, v)
    alone = [rate(one, w, v) for one in S]
    for name in ("R", "R_pen", "means", "variances"):
        np.testing.assert_array_equal(getattr(together, name), [getattr(one, name) for one in alone])

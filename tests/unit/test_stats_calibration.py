"""Calibration brings harsh and generous judges to a common scale, or says why not; drift is told from noise."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simulate import Judges, draw_judges
from orvl.rate.stats.calibration import calibrate, calibrated_rating
from orvl.rate.stats.drift import drift

DOSES = {"good": 1.0, "planted-bug": 0.875, "dose-2": 0.75, "dose-4": 0.5, "dose-all": 0.0}
NAN = float("nan")


def one_judge(slope, shift, noise=0.1):
    return Judges(np.array([shift]), np.array([slope]), np.array([noise]))


def exact(slope, shift, evals=3, repeats=2):
    return {dose: np.full((evals, repeats, 1), shift + slope * truth) for dose, truth in DOSES.items()}


def errors(slope, shift, tries=60, evals=8, repeats=3):
    """The error to the truth of ten agents' ratings, as they are and calibrated."""
    random, raw, calibrated = np.random.default_rng(6), [], []
    judge = one_judge(slope, shift)
    for _ in range(tries):
        series = {dose: judge.score(np.full((evals, 1), truth), repeats, random) for dose, truth in DOSES.items()}
        maps = calibrate(series, DOSES, ["a"])
        assert maps[0].refused is None
        truth = np.clip(random.uniform(0.1, 0.9, (10, 1)) + random.normal(0, 0.1, (10, evals)), 0, 1)
        scores = np.stack([judge.score(row[:, None], repeats, random) for row in truth])
        raw.append(scores.mean(axis=(1, 2, 3)) - truth.mean(axis=1))
        means = scores.mean(axis=(1, 2))[..., None]
        calibrated.append(calibrated_rating(means, maps, [1], [1]) - truth.mean(axis=1))
    return [float(np.sqrt(np.mean(np.square(error)))) for error in (raw, calibrated)]


def test_a_compressed_judge():
    raw, calibrated = errors(0.7, 0.2)
    assert raw >= 0.085
    assert calibrated <= 0.040


@pytest.mark.parametrize("shift", [-0.08, 0.08])
def test_a_harsh_or_generous_judge(shift):
    raw, calibrated = errors(1, shift)
    assert raw >= 0.075
    assert calibrated <= 0.047


def test_a_judge_without_noise_is_put_right_exactly():
    (one,) = calibrate(exact(0.5, 0.2), DOSES, ["a"])
    assert (one.slope, one.intercept, one.slope_at_least) == pytest.approx((0.5, 0.2, 0.5))
    assert (one.anchors, one.evals, one.refused) == (5, 3, None)
    assert one.apply(np.array([0.2, 0.45, 0.7, NAN])) == pytest.approx([0, 0.5, 1, NAN], nan_ok=True)
    assert one.held_out_error == pytest.approx(0)
    assert one.raw_error == pytest.approx(0.2, abs=0.05)


def test_an_unsure_slope_is_pulled_to_one_and_a_sure_one_is_not():
    random = np.random.default_rng(3)
    draw = lambda slope, noise: {  # noqa: E731
        dose: slope * truth + random.normal(0, noise, (4, 2, 1)) for dose, truth in DOSES.items()
    }
    unsure = [calibrate(draw(1, 0.25), DOSES, ["a"])[0] for _ in range(60)]
    fitted, shrunk = (np.array([[one.fitted_slope - 1, one.slope - 1] for one in unsure]) ** 2).mean(axis=0)
    assert shrunk < 0.7 * fitted
    (sure,) = calibrate(draw(0.7, 0.01), DOSES, ["a"])
    assert sure.slope == pytest.approx(sure.fitted_slope, abs=0.002)


def test_the_slopes_lower_bound_holds_as_often_as_it_says():
    random = np.random.default_rng(8)
    kept = 0
    for _ in range(200):
        slopes = 0.6 + random.normal(0, 0.15, (8, 1, 1))
        table = {dose: 0.2 + slopes * truth + random.normal(0, 0.05, (8, 3, 1)) for dose, truth in DOSES.items()}
        kept += calibrate(table, DOSES, ["a"])[0].slope_at_least <= 0.6
    assert kept / 200 == pytest.approx(0.95, abs=0.04)


def test_held_out_anchors_show_a_judge_that_is_no_straight_line():
    bent = {dose: np.full((4, 2, 1), truth**4) for dose, truth in DOSES.items()}
    (one,) = calibrate(bent, DOSES, ["a"])
    assert one.held_out_error > 0.1
    assert set(one.held_out) == set(DOSES)


@pytest.mark.parametrize(
    ("scores", "told"),
    [
        ({}, "0 anchors"),
        ({dose: exact(1, 0)[dose] for dose in ("good", "dose-all")}, "2 anchors"),
        (exact(1, 0, evals=1), "on 1 eval"),
        ({dose: np.full((4, 2, 1), NAN) for dose in DOSES}, "0 anchors"),
        (exact(0, 0.5), "follow the truth too little"),
        (exact(0.2, 0.5), "follow the truth too little"),
        (exact(-0.5, 0.9), "follow the truth too little"),
    ],
)
def test_a_calibration_that_cannot_be_had_is_refused_with_a_reason(scores, told):
    (one,) = calibrate(scores, DOSES, ["a"])
    assert told in one.refused
    assert list(one.apply(np.array([0.3]))) == [0.3]


def test_anchors_that_are_all_worth_the_same_are_refused():
    (one,) = calibrate(exact(1, 0), dict.fromkeys(DOSES, 0.5), ["a"])
    assert "worth the same" in one.refused


def test_truth_may_differ_by_eval_and_be_unknown():
    truth = {dose: np.array([value, value**2, NAN]) for dose, value in DOSES.items()}
    scores = {dose: np.repeat(0.1 + 0.8 * np.nan_to_num(row)[:, None, None], 2, axis=1) for dose, row in truth.items()}
    (one,) = calibrate(scores, truth, ["a"])
    assert (one.slope, one.intercept, one.evals) == (pytest.approx(0.8), pytest.approx(0.1), 2)


def test_ratings_are_clipped_only_after_averaging_over_judges():
    harsh, generous = (calibrate(exact(0.5, shift), DOSES, [name])[0] for name, shift in (("a", 0.0), ("b", 0.5)))
    S = [[0.55], [0.9]]
    assert calibrated_rating(S, [harsh, generous], [1, 1], [1]) == pytest.approx((1.1 + 0.8) / 2)
    assert calibrated_rating([[0.6], [1.0]], [harsh, generous], [1, 1], [1]) == 1
    assert calibrated_rating([[NAN], [0.9]], [harsh, generous], [1, 1], [1]) == pytest.approx(0.8)
    assert np.isnan(calibrated_rating([[NAN], [NAN]], [harsh, generous], [1, 1], [1]))


def test_only_judged_metrics_are_calibrated_and_a_judge_without_a_map_stays():
    harsh = calibrate(exact(0.5, 0), DOSES, ["a"])[0]
    S = [[0.4, 0.4], [0.4, 0.4]]
    assert calibrated_rating(S, [harsh, None], [1, 1], [1, 1], judged=[True, False]) == pytest.approx(0.5)


def test_a_judge_that_became_harsh_has_moved_and_the_others_have_not():
    random = np.random.default_rng(1)
    judges = draw_judges(3, random)
    truth = {"good": 0.9, "bad": 0.2, "dose-2": 0.6, "dose-4": 0.4}
    draw = lambda: {name: judges.score(np.full((8, 3), value), 3, random) for name, value in truth.items()}  # noqa: E731
    before, after = draw(), draw()
    for table in after.values():
        table[..., 1] -= 0.15
    found = drift(before, after, ["a", "b", "c"])
    assert [one.moved for one in found] == [False, True, False]
    assert found[1].shift.low <= -0.15 <= found[1].shift.high
    assert (found[1].evals, found[1].controls) == (8, 4)


def test_a_judge_that_moved_good_and_bad_together_in_the_middle_is_seen():
    before = {"good": np.full((4, 2, 1), 0.9), "bad": np.full((4, 2, 1), 0.1)}
    after = {"good": np.full((4, 2, 1), 0.7), "bad": np.full((4, 2, 1), 0.3)}
    (one,) = drift(before, after, ["a"])
    assert one.moved
    assert one.shift.mean == pytest.approx(0)
    assert one.separation.mean == pytest.approx(-0.4)


def test_chance_alone_seldom_moves_any_judge():
    random = np.random.default_rng(5)
    moved = 0
    for _ in range(300):
        judges = draw_judges(3, random)
        sides = [
            {name: judges.score(np.full((8, 3), value), 3, random) for name, value in (("good", 0.6), ("bad", 0.4))}
            for _ in range(2)
        ]
        moved += any(one.moved for one in drift(*sides, ["a", "b", "c"]))
    assert moved / 300 <= 0.08


def test_drift_without_pairs_says_why():
    empty = drift({}, {}, ["a"])[0]
    one = drift({"good": np.ones((1, 2, 1))}, {"good": np.ones((1, 2, 1))}, ["a"])[0]
    gone = drift({"good": np.ones((4, 2, 1))}, {"good": np.full((4, 2, 1), NAN)}, ["a"])[0]
    assert empty.moved is one.moved is gone.moved is None
    assert "on 1 eval both times" in one.why
    assert "on 0 evals both times" in gone.why
    same = drift({"good": np.ones((4, 2, 1))}, {"good": np.ones((4, 3, 1))}, ["a"])[0]
    assert same.moved is False
    with pytest.raises(ValueError, match="not the same"):
        drift({"good": np.ones((4, 2, 1))}, {"good": np.ones((3, 2, 1))}, ["a"])

"""People's labels and judges' scores together: never less honest than the labels alone."""

from __future__ import annotations

import numpy as np
import pytest

from orvl.rate.stats.people import agreement, most_informative, people_mean

NAN = float("nan")


def drawn(random, rho, count, evals=None):
    """Labels and scores of a compressed, shifted judge; with evals, both share what is hard about an eval."""
    a, b = random.normal(size=(2, count))
    y, f = 0.5 + 0.15 * a, 0.45 + 0.1 * (rho * a + np.sqrt(1 - rho**2) * b)
    if evals is None:
        return y, f, None
    number = random.integers(0, evals, count)
    hard = random.normal(0, 0.08, evals)
    return y + hard[number], f + 0.7 * hard[number], number.tolist()


def tried(rho, tries=1500, n=20, others=300, evals=None):
    """The share of intervals that hold the truth, the worth that is told, and that of the errors themselves."""
    random = np.random.default_rng(9)
    held, told, both, alone = 0, [], [], []
    for _ in range(tries):
        y, f, number = drawn(random, rho, n + others, evals)
        groups = {"evals_of_labelled": number[:n], "evals_of_others": number[n:]} if number else {}
        found = people_mean(y[:n], f[:n], f[n:], **groups)
        held += found.low <= 0.5 <= found.high
        told.append(found.worth)
        both.append(found.estimate - 0.5)
        alone.append(found.labels_alone - 0.5)
    return held / tries, float(np.median(told)), float(np.mean(np.square(alone)) / np.mean(np.square(both)))


# With 20 labels and 300 judged runs, no method that has to learn λ gets beyond 1.31, 1.85 and 4.15.
@pytest.mark.parametrize(("rho", "least", "most"), [(0.5, 1.15, 1.31), (0.7, 1.55, 1.85), (0.9, 3.3, 4.15)])
def test_labels_are_worth_more_where_judges_go_with_people(rho, least, most):
    held, told, worth = tried(rho)
    assert held == pytest.approx(0.95, abs=0.02)
    assert least <= worth <= 1.1 * most
    assert told == pytest.approx(worth, rel=0.15)


def test_judges_that_know_nothing_cost_little():
    held, told, worth = tried(0)
    assert held == pytest.approx(0.95, abs=0.02)
    assert worth >= 0.93
    assert told <= 1.05


def test_intervals_hold_where_evals_are_the_units():
    held, _, _ = tried(0.7, evals=12, n=40)
    assert held >= 0.92
    random = np.random.default_rng(9)
    y, f, number = drawn(random, 0.7, 340, 12)
    with_evals = people_mean(y[:40], f[:40], f[40:], evals_of_labelled=number[:40], evals_of_others=number[40:])
    assert with_evals.error > people_mean(y[:40], f[:40], f[40:]).error


def test_few_labels_are_not_tuned():
    found = people_mean([0.2, 0.4, 0.6], [0.3, 0.4, 0.5], np.linspace(0, 1, 30))
    assert (found.trust, found.estimate, found.worth) == (0, pytest.approx(0.4), pytest.approx(1))
    assert found.low == 0
    assert found.high == pytest.approx(0.4 + 4.3027 * 0.2 / np.sqrt(3), abs=1e-3)


def test_what_judges_say_of_the_others_moves_the_estimate():
    f = np.linspace(0.1, 0.9, 20)
    wobble = np.tile([0.01, -0.01], 10)
    found = people_mean(f + wobble, f, np.full(2000, 0.7))
    assert found.labels_alone == pytest.approx(0.5)
    assert found.estimate == pytest.approx(0.7, abs=0.01)
    assert people_mean(1 - f, f, np.full(2000, 0.7)).trust == 0


@pytest.mark.parametrize(
    ("labels", "scores", "others", "told"),
    [
        ([], [], [0.5], "no labels"),
        ([0.5], [0.5], [0.5], "1 label"),
        ([0.5, 0.6], [0.5, NAN], [0.5], "1 label"),
        ([0.5, 0.6], [0.5, 0.5], [], "no other judged runs"),
        ([0.5, 0.6], [0.5, 0.5], [NAN], "no other judged runs"),
    ],
)
def test_too_little_is_none_with_a_reason(labels, scores, others, told):
    found = people_mean(labels, scores, others)
    assert told in found.why
    assert found.estimate is found.error is found.low is found.worth is None


def test_picked_labels_and_labels_of_one_eval_give_no_mean():
    y = f = np.linspace(0, 1, 10)
    assert "not drawn at random" in people_mean(y, f, f, at_random=False).why
    assert "one eval" in people_mean(y, f, f, evals_of_labelled=["a"] * 10, evals_of_others=["a"] * 10).why
    with pytest.raises(ValueError, match="evals must be given"):
        people_mean(y, f, f, evals_of_labelled=["a"] * 10)
    with pytest.raises(ValueError, match="10 labels and 3"):
        people_mean(y, f[:3], f)


def test_people_and_judges_that_are_all_alike():
    found = people_mean([0.5] * 8, [0.7] * 8, [0.7] * 50)
    assert (found.estimate, found.error, found.worth) == (0.5, None, None)
    unmet = 1 - 0.025 ** (1 / 8)
    assert (found.low, found.high) == pytest.approx((0.5 * (1 - unmet), 0.5 + 0.5 * unmet))


def test_labels_that_contradict_no_judge_are_not_certainty():
    """Judges that pass a fifth of what fails, in favour of nobody who was labelled: t over no spread says nothing."""
    random = np.random.default_rng(7)
    held = 0
    for _ in range(300):
        y = (random.random(2010) < 0.6).astype(float)
        f = np.where((y == 0) & (random.random(2010) < 0.2), 1.0, y)
        found = people_mean(y[:10], f[:10], f[10:])
        held += found.low <= 0.6 <= found.high
    assert held >= 0.93 * 300


def test_labels_that_cancel_in_every_eval_are_not_certainty():
    found = people_mean(
        [0, 1, 0, 1], [0.4] * 4, [0.4] * 9, evals_of_labelled=[*"aabb"], evals_of_others=["a"] * 5 + ["b"] * 4
    )
    assert found.estimate == 0.5 and found.error > 0.2
    assert found.high - found.low > 0.5


def test_agreement_of_each_judge():
    labels = [0.0, 0.2, 0.8, 1.0, NAN]
    close, away, flat, silent = agreement(
        labels,
        {
            "close": [0.1, 0.3, 0.9, 0.9, 0.5],
            "away": [1.0, 0.8, 0.2, 0.0, 0.5],
            "flat": [0.5, 0.5, 0.5, NAN, 0.5],
            "silent": [NAN] * 5,
        },
    )
    assert (close.runs, close.same_side) == (4, 1)
    assert close.difference == pytest.approx(0.05)
    assert close.absolute_difference == pytest.approx(0.1)
    assert close.correlation > 0.97
    assert (away.correlation, away.same_side) == (pytest.approx(-1), 0)
    assert (flat.runs, flat.correlation) == (3, None)
    assert (silent.runs, silent.absolute_difference, silent.same_side) == (0, None, None)


def test_runs_that_divide_the_judges_come_first_then_contestants_in_turns():
    scores = [[0.5, 0.5], [0, 1], [0, 1], [0, 1], [0.2, 0.8], [NAN, 1], [0, 0.98]]
    contestants = ["x", "x", "x", "y", "x", "y", "z"]
    assert most_informative(scores, contestants) == (1, 3, 6, 2, 4, 0, 5)
    assert most_informative(scores, contestants, limit=2) == (1, 3)
    labelled = [False, True, False, False, False, False, False]
    assert most_informative(scores, contestants, labelled=labelled) == (3, 6, 2, 4, 0, 5)
    assert most_informative(np.empty((0, 2)), []) == ()

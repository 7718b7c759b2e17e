"""95 % means 95 %, few evals are not many, and looking often is not cheating."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from orvl.rate.stats.intervals import mean_interval, mean_intervals, t_cdf, t_interval, t_quantile
from orvl.rate.stats.paired import detectable, holm, more_evals, paired, sign_flip, winner_set
from orvl.rate.stats.race import log_e, log_e_path, log_evidence, log_flip_path, race

NAN = float("nan")


def beta(random, mean, narrow, size):
    return random.beta(mean * narrow, (1 - mean) * narrow, size)


def test_t_is_the_tables_t():
    assert t_cdf(0, 7) == 0.5
    assert t_cdf(1, 1) == pytest.approx(0.75)
    assert t_cdf(-2.228139, 10) == pytest.approx(0.025, abs=1e-6)
    assert [t_quantile(0.975, df) for df in (1, 5, 29)] == pytest.approx([12.7062, 2.5706, 2.0452], abs=1e-4)
    assert t_cdf(t_quantile(0.8, 11), 11) == pytest.approx(0.8)


@pytest.mark.parametrize("evals", [5, 8, 12, 30])
@pytest.mark.parametrize("mean", [0.05, 0.5, 0.8, 0.9, 0.95])
def test_the_interval_covers_near_the_ceiling_too(evals, mean):
    random = np.random.default_rng(1)
    for narrow in (2, 5, 30):
        truth = np.clip(beta(random, mean, narrow, (6000, evals, 1)), 1e-9, 1 - 1e-9)
        values = random.beta(20 * truth, 20 * (1 - truth), (6000, evals, 3)).mean(axis=-1)
        low, high = mean_intervals(values).T
        covered = ((low <= mean) & (mean <= high)).mean()
        assert covered >= 0.93, f"{covered:.3f} of the intervals hold {mean}"
        # At the ceiling only one side can miss, so a sound interval of few evals holds the truth more often.
        assert covered <= (0.965 if mean == 0.5 else 0.995)


@pytest.mark.parametrize("evals", [5, 8, 12, 30])
def test_the_interval_covers_where_many_evals_are_whole(evals):
    random = np.random.default_rng(2)
    for share, rest in product((0.3, 0.7), (0.6, 0.8)):
        values = np.where(random.random((6000, evals)) < share, 1.0, beta(random, rest, 6, (6000, evals)))
        low, high = mean_intervals(values).T
        mean = share + (1 - share) * rest
        assert ((low <= mean) & (mean <= high)).mean() >= 0.93


@pytest.mark.parametrize("evals", [6, 8, 12, 16])
def test_the_interval_covers_where_a_few_evals_are_far_below_the_others(evals):
    random = np.random.default_rng(19)
    for mean in (0.85, 0.9):
        low, high = mean_intervals(beta(random, mean, 2, (20_000, evals))).T
        assert ((low <= mean) & (mean <= high)).mean() >= 0.928


def test_plain_t_does_not():
    values = np.random.default_rng(3).beta(4.75, 0.25, (2000, 8))
    bounds = [t_interval(row) for row in values.tolist()]
    assert np.mean([low <= 0.95 <= high for low, high in bounds]) < 0.85


def test_in_the_middle_it_is_the_t_interval():
    values = [0.5 + 0.02 * step for step in (-3, -2, -1, 0, 0, 1, 2, 3)]
    assert mean_interval(values) == pytest.approx(t_interval(values), abs=1e-3)


def test_equal_values_are_not_certainty():
    low, high = mean_interval([1.0, 1.0, 1.0])
    assert high == 1.0
    assert low == pytest.approx(0.025 ** (1 / 3))
    assert mean_interval([0.0] * 30) == pytest.approx((0, 1 - 0.025 ** (1 / 30)))
    low, high = mean_interval([0.8] * 8)
    assert low < 0.6
    assert 0.85 < high < 1
    assert mean_interval([0.1 + 0.2, 0.3])[0] < 0.1


def test_too_little_gives_none_and_what_is_missing_is_left_out():
    assert mean_interval([]) is mean_interval([0.5]) is mean_interval([NAN, 0.5, NAN]) is None
    assert mean_interval([0.2, NAN, 0.6]) == mean_interval([0.2, 0.6])
    table = mean_intervals([[0.2, NAN, 0.6], [NAN, NAN, NAN], [1, 1, NAN]])
    assert np.isnan(table[1]).all()
    assert tuple(table[0]) == mean_interval([0.2, 0.6])
    with pytest.raises(ValueError, match="from 0 to 1"):
        mean_interval([0.5, 1.2])


def test_mirrored_ratings_have_mirrored_intervals():
    values = np.random.default_rng(4).beta(9, 1, (50, 7))
    assert mean_intervals(1 - values) == pytest.approx(1 - mean_intervals(values)[:, ::-1])


def test_a_pair():
    found = paired([0.9, 0.8, 0.7, NAN, 0.6, 0.8, 0.7], [0.5, 0.5, 0.4, 0.3, 0.35, 0.4, NAN])
    assert found.n == 5
    assert found.mean == pytest.approx(0.33)
    d = [0.4, 0.3, 0.3, 0.25, 0.4]
    assert found.p == pytest.approx(2 * t_cdf(-np.mean(d) / (np.std(d, ddof=1) / 5**0.5), 4))
    assert found.sign_flip_p == 2 / 32
    assert not found.significant
    assert "Common evals: 5" in found.reason


def test_a_pair_is_the_other_way_round_the_same():
    random = np.random.default_rng(5)
    a, b = random.random((2, 9))
    one, other = paired(a, b), paired(b, a)
    assert (one.p, one.sign_flip_p, one.n) == pytest.approx((other.p, other.sign_flip_p, other.n))
    assert one.bounded_p == pytest.approx(other.bounded_p, abs=1e-5)
    assert one.interval == pytest.approx((-other.interval[1], -other.interval[0]))
    assert one.e_value == pytest.approx(other.e_value, rel=1e-4)


def test_the_interval_and_the_p_say_the_same():
    random = np.random.default_rng(6)
    for _ in range(150):
        a, b = beta(random, 0.93, 6, 10), beta(random, 0.8, 6, 10)
        found = paired(a, b)
        low, high = found.interval
        assert (max(found.p, found.bounded_p) < 0.05) == (low > 0 or high < 0)


def test_odd_pairs():
    assert paired([], []).n == 0
    assert paired([0.5], [0.4]).interval is None
    assert not paired([1.0] * 5, [0.0] * 5).significant
    assert paired([1.0] * 6, [0.0] * 6).significant
    small = paired([0.6] * 8, [0.5] * 8)
    assert not small.significant
    assert small.interval[0] < 0 < small.interval[1]
    same = paired([0.3] * 7, [0.3] * 7)
    assert (same.mean, same.p, same.sign_flip_p) == (0, 1, 1)
    assert paired([0.1, -0.1, 0.2]).bounded_p is None
    with pytest.raises(ValueError, match="same evals"):
        paired([0.5], [0.5, 0.6])


def test_sign_flips_are_counted():
    random = np.random.default_rng(7)
    d = random.normal(0.1, 0.2, 10)
    signs = np.array(list(product((-1, 1), repeat=10)))
    assert sign_flip(d) == pytest.approx((np.abs(signs @ d) >= abs(d.sum()) - 1e-12).mean())
    d = random.normal(0.08, 0.2, 24)
    drawn = random.choice([-1, 1], (40_000, 24)) @ d
    assert sign_flip(d) == pytest.approx((np.abs(drawn) >= abs(d.sum())).mean(), abs=0.01)
    assert sign_flip([1.0] * 20) == pytest.approx(2 / 2**20)
    assert sign_flip([0.0] * 20) == 1.0


@pytest.mark.parametrize("evals", [6, 8, 12, 30])
def test_no_difference_is_seldom_called_one(evals):
    """The same mean: alike; steady against a long tail near the ceiling, where t alone is wrong in 10 to 20 %."""
    random = np.random.default_rng(8)
    size = (1200, evals)
    hard = beta(random, 0.9, 3, size)
    nulls = {
        "alike": (random.binomial(9, hard) / 9, random.binomial(9, hard) / 9),
        "bell": tuple(np.clip(random.normal(0.5, 0.15, (2, *size)), 0, 1)),
        "skewed": (beta(random, 0.9, 100, size), beta(random, 0.9, 3, size)),
    }
    for name, (a, b) in nulls.items():
        d = a - b
        error = np.maximum(d.std(axis=1, ddof=1), 1e-12) / evals**0.5
        maybe = np.flatnonzero(np.abs(d.mean(axis=1)) / error >= t_quantile(0.975, evals - 1))
        wrong = sum(paired(a[i], b[i]).significant for i in maybe) / size[0]
        assert wrong <= 0.0626, f"{name}: {wrong:.3f}"  # .05 and two standard errors of 1200 draws


def test_holm():
    assert holm([0.01, 0.04, 0.03, NAN]) == pytest.approx([0.03, 0.06, 0.06, NAN], nan_ok=True)
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])
    assert len(holm([])) == 0


def test_the_winner_set():
    random = np.random.default_rng(9)
    hard = random.normal(0, 0.1, 20)
    table = np.clip(np.array([0.8, 0.79, 0.5, 0.2])[:, None] + hard + random.normal(0, 0.04, (4, 20)), 0, 1)
    table[1, :3] = NAN
    found = winner_set(table)
    assert found.winners == (0, 1)
    assert found.ranks == (1, 1, 3, 4)
    assert found.pairs[0, 1].n == 17
    assert found.untested == ()
    assert found.adjusted[2, 3] <= 0.05
    upside_down = winner_set(table[::-1])
    assert upside_down.winners == (2, 3)
    assert upside_down.ranks == (4, 3, 1, 1)


def test_who_shares_no_evals_is_unbeaten_but_untested():
    table = [[0.9] * 8 + [NAN] * 3, [0.1, 0.2] * 4 + [NAN] * 3, [NAN] * 8 + [0.1] * 3, [NAN] * 11]
    found = winner_set(table)
    assert found.winners == (0, 2)
    assert found.ranks == (1, 2, 1, None)
    assert found.untested == (2,)


def test_equal_contestants_are_all_winners():
    random = np.random.default_rng(10)
    alone = sum(len(winner_set(random.normal(0.5, 0.1, (4, 10))).winners) < 4 for _ in range(120))
    assert alone / 120 <= 0.09


def test_more_evals_and_what_can_be_seen():
    assert detectable(0.2, 12) == pytest.approx((2.200985 + 0.875530) * 0.2 / 12**0.5, abs=1e-5)
    d = np.tile([0.3, -0.1], 5)
    more = more_evals(d)
    assert detectable(d.std(ddof=1), 10 + more) <= 0.1 < detectable(d.std(ddof=1), 9 + more)
    assert more_evals([0.5, 0.6, 0.5, 0.6, 0.5, 0.55, 0.6]) == 0
    assert more_evals([0.1, -0.1]) is more_evals([0.3]) is more_evals([]) is more_evals([0.2] * 9) is None
    random = np.random.default_rng(11)
    drawn = random.normal(detectable(0.2, 15), 0.2, (4000, 15))
    t = drawn.mean(axis=1) / (drawn.std(axis=1, ddof=1) / 15**0.5)
    assert (t > t_quantile(0.975, 14)).mean() == pytest.approx(0.8, abs=0.02)


def test_log_e_is_the_formula():
    d = np.random.default_rng(12).normal(0.1, 0.2, 9)
    n, g = 9, 1.0
    t2 = d.mean() ** 2 / (d.var(ddof=1) / n)
    expected = -0.5 * np.log(1 + n * g) + n / 2 * (np.log(1 + t2 / (n - 1)) - np.log(1 + t2 / ((n - 1) * (1 + n * g))))
    assert log_e(d) == pytest.approx(expected)
    path = log_e_path([d, -d])
    assert path[:, -1] == pytest.approx(expected)
    assert path[0, 4] == pytest.approx(log_e(d[:5]))
    assert log_e([NAN, *d, NAN]) == pytest.approx(expected)
    assert log_e([]) == log_e([0.3]) == log_e([0.0, 0.0, 0.0]) == 0
    assert log_e([0.1] * 5) == pytest.approx(2 * np.log(6))


def test_the_sign_process_is_fair():
    """Over all signs its mean is exactly 1, which is what makes it valid for pass and fail."""
    sizes = np.array([0.2, 1, 1, 0.5, 0, 0.9, 0.9, 1])
    signs = np.array(list(product((-1, 1), repeat=8)))
    assert np.exp(log_flip_path(signs * sizes))[:, -1].mean() == pytest.approx(1)
    assert np.exp(log_flip_path(signs * sizes))[:, 3].mean() == pytest.approx(1)


def test_the_smallest_evidence_counts():
    random = np.random.default_rng(18)
    d = np.tile([0.5, 0.51], 4)
    a, b = 0.7 + d / 4, 0.7 - 3 * d / 4
    assert log_flip_path(d)[-1] < log_e(d)
    assert log_evidence(a, b) == pytest.approx(log_flip_path(d)[-1])
    a, b = random.random((2, 20))
    assert log_evidence(a, b) <= min(log_e(a - b), log_flip_path(a - b)[-1])
    assert log_evidence(a[:1], b[:1]) == 0


def peeks(d):
    """The share of rows in which t ever passes .05 when looked at after each eval."""
    n = np.arange(2, d.shape[1] + 1)
    mean = d.cumsum(axis=1)[:, 1:] / n
    error = np.sqrt(((d**2).cumsum(axis=1)[:, 1:] - n * mean**2) / (n - 1) / n)
    return (np.abs(mean) / error > [t_quantile(0.975, df) for df in n - 1]).any(axis=1).mean()


def test_peeking_is_allowed():
    random = np.random.default_rng(13)
    d = random.normal(0, 0.2, (4000, 60))
    assert peeks(d) > 0.25
    assert (log_e_path(d) >= np.log(20)).any(axis=1).mean() <= 0.04
    coins = random.choice([-1.0, 1.0], (4000, 60))
    assert (log_e_path(coins) >= np.log(20)).any(axis=1).mean() > 0.06, (
        "the t mixture alone is deceived by pass and fail"
    )
    assert (log_flip_path(coins) >= np.log(20)).any(axis=1).mean() <= 0.05
    ended = [len(race([row, 1 - row]).left) < 2 for row in (coins[:400] + 1) / 2]
    assert np.mean(ended) <= 0.05


def test_a_race_near_the_ceiling_does_not_end_by_chance():
    random = np.random.default_rng(14)
    a, b = beta(random, 0.95, 400, (300, 60)), beta(random, 0.95, 5, (300, 60))
    assert (log_e_path(a - b) >= np.log(20)).any(axis=1).mean() > 0.1
    assert np.mean([len(race(pair).left) < 2 for pair in zip(a, b, strict=True)]) <= 0.075


def test_a_real_difference_ends_a_race_early():
    random = np.random.default_rng(15)
    stops = []
    for _ in range(60):
        hard = random.normal(0.5, 0.1, 60)
        result = race(np.clip(hard + np.array([[0.1], [-0.1]]) + random.normal(0, 0.14, (2, 60)), 0, 1))
        assert result.left == (0,)
        assert result.racers[1].rival == 0
        assert result.racers[1].e_value >= result.needed == 20
        stops.append(result.racers[1].evals)
    assert 9 <= np.mean(stops) <= 16


def test_six_contestants_cost_less_and_the_best_stays():
    random = np.random.default_rng(16)
    used, kept = [], []
    for _ in range(40):
        skill = np.array([0.75, 0.65, 0.55, 0.5, 0.45, 0.4])[:, None]
        result = race(np.clip(skill + random.normal(0, 0.1, 60) + random.normal(0, 0.14, (6, 60)), 0, 1))
        used.append(result.used / result.planned)
        kept.append(0 in result.left)
    assert 0.3 <= np.mean(used) <= 0.7
    assert np.mean(kept) >= 0.95


def test_a_race_can_be_continued():
    """What is there after an elimination is not read, so the past never changes."""
    random = np.random.default_rng(17)
    table = np.clip(np.array([[0.8], [0.5], [0.2]]) + random.normal(0, 0.15, (3, 40)), 0, 1)
    whole = race(table)
    for columns in range(0, 41, 5):
        part = race(table[:, :columns])
        for racer, later in zip(part.racers, whole.racers, strict=True):
            assert racer.is_in == (later.is_in or later.evals > columns)
    stopped = table.copy()
    for row, racer in zip(stopped, whole.racers, strict=True):
        row[racer.evals :] = NAN
    assert race(stopped).racers == whole.racers


def test_odd_races():
    assert race(np.zeros((0, 0))).racers == ()
    assert race([[NAN] * 9] * 3).left == (0, 1, 2)
    assert race([[0.5, 0.6, 0.7]]).left == (0,)
    assert race([[1.0] * 5, [0.0] * 5]).left == (0, 1), "five evals drop nobody"
    assert race([[1.0] * 30, [1.0] * 30]).left == (0, 1)
    assert race([[1.0] * 12, [0.0] * 12]).left == (0,)

"""95 % means 95 %, whatever the ratings look like; few evals are not many, and looking often is not cheating."""

from __future__ import annotations

from functools import partial
from itertools import product
from math import erf

import numpy as np
import pytest

from orvl.rate.stats.betting import confidence_sequence, evidence, log_better, units_of
from orvl.rate.stats.bounded import EXACT, chance_above, moment_bounds
from orvl.rate.stats.intervals import mean_interval, mean_intervals, run_intervals, t_cdf, t_interval, t_quantile
from orvl.rate.stats.paired import detectable, holm, more_evals, paired, quick_detectable, sign_flip, winner_set
from orvl.rate.stats.race import log_e, log_e_path, log_evidence, log_flip_path, quick_after, race

NAN = float("nan")


def beta(random, mean, narrow, size):
    return random.beta(mean * narrow, (1 - mean) * narrow, size)


def collapsing(share, random, size):
    """Good work, and nothing on a share of the evals."""
    return np.where(random.random(size) < share, 0.0, 0.95), 0.95 * (1 - share)


def passing(mean, random, size):
    return (random.random(size) < mean).astype(float), mean


def lognormal(random, size):
    """Faults with a long tail."""
    return 1 - np.minimum(random.lognormal(-3, 1.2, size), 1), 0.9032


def graded(mean, narrow, random, size):
    return beta(random, mean, narrow, size), mean


KINDS = {
    "collapse 4 %": partial(collapsing, 0.04),
    "collapse 8 %": partial(collapsing, 0.08),
    "collapse 10 %": partial(collapsing, 0.10),
    "lognormal": lognormal,
    "pass .5": partial(passing, 0.5),
    "pass .95": partial(passing, 0.95),
    "graded .9": partial(graded, 0.9, 3),
    "graded .5": partial(graded, 0.5, 5),
}


def test_t_is_the_tables_t():
    assert t_cdf(0, 7) == 0.5
    assert t_cdf(1, 1) == pytest.approx(0.75)
    assert t_cdf(-2.228139, 10) == pytest.approx(0.025, abs=1e-6)
    assert [t_quantile(0.975, df) for df in (1, 5, 29)] == pytest.approx([12.7062, 2.5706, 2.0452], abs=1e-4)
    assert t_cdf(t_quantile(0.8, 11), 11) == pytest.approx(0.8)


# -- the interval of a mean


@pytest.mark.parametrize("evals", [3, 5, 12, 30, 60])
@pytest.mark.parametrize("kind", KINDS)
def test_the_interval_covers_whatever_the_ratings_look_like(kind, evals):
    values, mean = KINDS[kind](np.random.default_rng(1), (700, evals))
    low, high = mean_intervals(values).T
    covered = ((low <= mean) & (mean <= high)).mean()
    assert covered >= 0.94, f"{covered:.3f} of the intervals hold {mean}"


def test_plain_t_does_not():
    values, mean = collapsing(0.08, np.random.default_rng(3), (2000, 8))
    bounds = [t_interval(row) for row in values.tolist()]
    assert np.mean([low <= mean <= high for low, high in bounds]) < 0.6


def test_it_is_the_exact_interval_of_pass_and_fail():
    """Clopper and Pearson's for 9 of 10, 1 of 8 and 20 of 40."""
    for passed, n, exact in (
        (9, 10, (0.554984, 0.997471)),
        (1, 8, (0.003160, 0.526510)),
        (20, 40, (0.338018, 0.661982)),
    ):
        assert mean_interval([1.0] * passed + [0.0] * (n - passed)) == pytest.approx(exact, abs=1e-5)


@pytest.mark.parametrize("n", [2, 7, 40])
def test_the_chance_is_that_of_drawn_shares(n):
    random = np.random.default_rng(n)
    for values in (random.random(n), np.rint(random.random(n) * 3) / 3, np.full(n, 0.8)):
        shares = random.dirichlet(np.ones(n + 1), 40_000)
        for at in np.quantile(shares[:, :-1] @ values, (0.025, 0.5, 0.9)):
            drawn = (shares[:, :-1] @ values > at).mean()
            assert chance_above(np.append(values, 0.0)[None] - at)[0] == pytest.approx(drawn, abs=0.01)


def test_many_evals_have_nearly_the_bounds_of_exact_ones():
    random = np.random.default_rng(20)
    for kind in KINDS.values():
        values = kind(random, (20, EXACT))[0]
        away = values - values.mean(axis=1, keepdims=True)
        n, third = np.full(20, float(EXACT)), (away**3).mean(axis=1)
        found = moment_bounds(n, values.mean(axis=1), (away**2).mean(axis=1), third, 0.95)
        assert np.stack(found, axis=-1) == pytest.approx(mean_intervals(values), abs=0.003)


def test_equal_values_are_not_certainty():
    low, high = mean_interval([1.0, 1.0, 1.0])
    assert high == 1.0
    assert low == pytest.approx(0.025 ** (1 / 3))
    assert mean_interval([0.0] * 30) == pytest.approx((0, 1 - 0.025 ** (1 / 30)), abs=1e-8)
    others = 1 - 0.025 ** (1 / 8)
    assert mean_interval([0.8] * 8) == pytest.approx((0.8 * (1 - others), 0.8 + 0.2 * others))


@pytest.mark.parametrize("values", [[1.0] * 8, [0.8] * 8, [0, 1, 1, 1, 1, 1], [0.5, 0.5, 0.7, 1, 1, 1], [1.0] * 50])
def test_a_hair_moves_the_interval_by_a_hair(values):
    noise = np.random.default_rng(2).uniform(0, 1e-5, len(values))
    moved = np.abs(np.array(values) - noise)
    assert mean_interval(moved) == pytest.approx(mean_interval(values), abs=1.1e-5)


def test_too_little_gives_none_and_what_is_missing_is_left_out():
    assert mean_interval([]) is mean_interval([0.5]) is mean_interval([NAN, 0.5, NAN]) is None
    assert mean_interval([0.2, NAN, 0.6]) == pytest.approx(mean_interval([0.2, 0.6]))
    table = mean_intervals([[0.2, NAN, 0.6], [NAN, NAN, NAN], [1, 1, NAN]])
    assert np.isnan(table[1]).all()
    assert tuple(table[0]) == pytest.approx(mean_interval([0.2, 0.6]))
    with pytest.raises(ValueError, match="must be from 0 to 1"):
        mean_interval([0.5, 1.2])
    with pytest.raises(ValueError, match="Divide scores from 0 to 100 by 100"):
        mean_interval([0.5, 85])


def test_mirrored_ratings_have_mirrored_intervals():
    values = np.random.default_rng(4).beta(9, 1, (50, 7))
    assert mean_intervals(1 - values) == pytest.approx(1 - mean_intervals(values)[:, ::-1], abs=1e-7)


def test_runs_of_many_cells_at_once():
    random = np.random.default_rng(5)
    cells = [random.random(size) for size in (1, 3, 3, 12, 300)]
    cells[1][1] = NAN
    found = run_intervals(np.concatenate(cells), np.array([len(cell) for cell in cells]))
    assert np.isnan(found[0]).all()
    for cell, bound in zip(cells[1:], found[1:], strict=True):
        assert tuple(bound) == pytest.approx(mean_interval(cell), abs=1e-3)


# -- families


def related(random, families, size):
    """Uniform ratings whose ranks correlate at .6 inside a family."""
    own = random.normal(size=(size, len(families)))
    shared = random.normal(size=(size, max(families) + 1))[:, families]
    return np.vectorize(lambda z: (1 + erf(z / 2**0.5)) / 2)(0.6**0.5 * shared + 0.4**0.5 * own)


@pytest.mark.parametrize("sizes", [[4] * 6, [2] * 10, [1, 1, 2, 2, 3, 6, 9]])
def test_related_evals_count_as_one_piece_of_evidence(sizes):
    families = np.repeat(range(len(sizes)), sizes).tolist()
    ratings = related(np.random.default_rng(6), families, 500)
    for worth, mean in (
        (ratings, 0.5),
        ((ratings < 0.8).astype(float), 0.8),
        (np.where(ratings < 0.1, 0, 0.95), 0.855),
    ):
        low, high = mean_intervals(worth, families=families).T
        assert ((low <= mean) & (mean <= high)).mean() >= 0.95
    low, high = mean_intervals(ratings).T
    assert ((low <= 0.5) & (high >= 0.5)).mean() < 0.945, "as if they were independent"


def test_a_family_of_one_changes_nothing_and_copies_add_nothing():
    values = [0.3, 0.9, 0.5, 0.8, 0.7, 0.6, 0.95]
    assert mean_interval(values, families=list("abcdefg")) == pytest.approx(mean_interval(values))
    twice = [value for value in values for _ in range(2)]
    families = [name for name in "abcdefg" for _ in range(2)]
    assert mean_interval(twice, families=families) == pytest.approx(mean_interval(values), abs=1e-7)
    d, both = np.array(values) - 0.2, np.array(twice) - 0.2
    assert paired(both, families=families).e_value == pytest.approx(paired(d).e_value)
    assert paired(both, families=families).interval == pytest.approx(paired(d).interval)
    assert paired(both, families=families).families == 7
    assert paired(both).e_value > 10 * paired(d).e_value
    with pytest.raises(ValueError, match="7 families for 14 evals"):
        paired(both, families=list("abcdefg"))


def test_a_race_looks_when_families_are_complete():
    families = [name for name in "abcdefgh" for _ in range(3)]
    found = race([[1.0] * 24, [0.0] * 24], families=families)
    assert found.racers[1].evals == 18, "six families"
    assert race([[1.0] * 17, [0.0] * 17], families=families).left == (0, 1)


# -- two contestants


def test_a_pair():
    found = paired([0.9, 0.8, 0.7, NAN, 0.6, 0.8, 0.7], [0.5, 0.5, 0.4, 0.3, 0.35, 0.4, NAN])
    assert found.n == 5
    assert found.mean == pytest.approx(0.33)
    d = [0.4, 0.3, 0.3, 0.25, 0.4]
    assert found.p == pytest.approx(2 * t_cdf(-np.mean(d) / (np.std(d, ddof=1) / 5**0.5), 4))
    assert found.sign_flip_p == 2 / 32
    assert found.quick_p == 1
    assert not found.significant
    assert "Common evals: 5" in found.reason


def test_a_pair_is_the_other_way_round_the_same():
    random = np.random.default_rng(5)
    a, b = random.random((2, 9))
    one, other = paired(a, b), paired(b, a)
    assert (one.p, one.sign_flip_p, one.n, one.one_look_p) == pytest.approx(
        (other.p, other.sign_flip_p, other.n, other.one_look_p)
    )
    assert one.interval == pytest.approx((-other.interval[1], -other.interval[0]))
    assert one.e_value == pytest.approx(other.e_value)


def test_interval_e_value_p_verdict_race_and_winners_say_the_same():
    random = np.random.default_rng(6)
    seen = set()
    for n in (6, 9, 20, 60, 150):
        for shift, spread in product((0, 0.05, 0.2, 0.5), (0.01, 0.2, 0.5)):
            a, b = np.clip(0.5 + np.array([[shift / 2], [-shift / 2]]) + random.normal(0, spread / 2, (2, n)), 0, 1)
            if spread == 0.5:
                a, b = np.rint(a), np.rint(b)
            found = paired(a, b)
            verdict = found.verdict()
            seen.add(verdict)
            low, high = found.interval
            assert found.significant == (low > 0 or high < 0) == (found.e_value >= 20) == (found.p_used <= 0.05)
            assert found.significant == (verdict in ("BETTER", "WORSE")) == (len(winner_set([a, b]).winners) == 1)
            # A race drops one at the latest where all the evals together would.
            assert not found.significant or len(race([a, b]).left) == 1
            one_look = found.one_look_interval
            assert low <= one_look[0] <= found.mean <= one_look[1] <= high, "one look may say more, never less"
            assert not found.significant or found.one_look_p <= 0.05
            assert (found.one_look_p <= 0.05) == (one_look[0] > 0 or one_look[1] < 0)
            assert (verdict == "EQUIVALENT") == (not found.significant and low > -0.05 and high < 0.05)
    assert seen >= {"BETTER", "NOT ENOUGH EVIDENCE"}
    assert paired([0.5] * 150, [0.5] * 150).verdict() == "EQUIVALENT"
    assert paired([0.5] * 50, [0.5] * 50).verdict() == "NOT ENOUGH EVIDENCE"
    assert paired([0.5] * 50, [0.5] * 50).verdict(0.2) == "EQUIVALENT"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ([0.75] * 12, [0.5] * 12),
        ([1.0] * 7, [0.0] * 7),
        ([1, 1, 1, 1, 1, 1, 0, 0], [0, 0, 0, 0, 0, 0, 1, 0]),
        ([0.5] * 30, [0.5] * 30),
        ([0.9, 0.8, 0.85, 0.9, 0.7, 0.95], [0.1, 0.2, 0.15, 0.1, 0.3, 0.05]),
    ],
)
def test_a_hair_moves_no_verdict(a, b):
    before = paired(a, b)
    hairs = np.abs(np.array(a) - np.random.default_rng(3).uniform(0, 1e-5, len(a)))
    after = paired(hairs, b)
    assert after.interval == pytest.approx(before.interval, abs=1e-4)
    assert after.one_look_interval == pytest.approx(before.one_look_interval, abs=1e-4)
    assert (after.e_value, after.one_look_p) == pytest.approx((before.e_value, before.one_look_p), rel=1e-3)
    assert after.verdict() == before.verdict()


def test_odd_pairs():
    assert paired([], []).n == 0
    assert paired([0.5], [0.4]).interval is None
    assert not paired([1.0] * 5, [0.0] * 5).significant
    assert paired([1.0] * 6, [0.0] * 6).significant
    small = paired([0.6] * 8, [0.5] * 8)
    assert not small.significant
    assert small.interval[0] < 0 < small.interval[1]
    assert small.one_look_p == pytest.approx(2 / 1.1**8)
    same = paired([0.3] * 7, [0.3] * 7)
    assert (same.mean, same.p, same.sign_flip_p) == (0, 1, 1)
    assert same.one_look_p == 1
    with pytest.raises(ValueError, match="same evals"):
        paired([0.5], [0.5, 0.6])


class Series:
    """What pandas' has that matters here."""

    def __init__(self, values, index):
        self.values, self.index = values, index

    def __array__(self, dtype=None, copy=None):
        return np.array(self.values, dtype=dtype)


def test_series_are_aligned_by_their_index():
    a = Series([0.9, 0.8, 0.7], ["x", "y", "z"])
    b = Series([0.1, 0.3, 0.5, 0.6], ["z", "x", "y", "w"])
    assert paired(a, b) == paired([0.9, 0.8, 0.7], [0.3, 0.5, 0.1])
    with pytest.raises(ValueError, match="twice"):
        paired(a, Series([0.1, 0.2, 0.3], ["x", "x", "y"]))


def test_sign_flips_are_counted():
    random = np.random.default_rng(7)
    d = random.normal(0.1, 0.2, 10)
    signs = np.array(list(product((-1, 1), repeat=10)))
    assert sign_flip(d) == pytest.approx((np.abs(signs @ d) >= abs(d.sum()) - 1e-3 * np.abs(d).max()).mean())
    d = random.normal(0.08, 0.2, 24)
    drawn = random.choice([-1, 1], (40_000, 24)) @ d
    assert sign_flip(d) == pytest.approx((np.abs(drawn) >= abs(d.sum())).mean(), abs=0.01)
    assert sign_flip([1.0] * 20) == pytest.approx(2 / 2**20)
    assert sign_flip([0.0] * 20) == 1.0


# -- the e-value


def test_nobody_can_expect_to_win_a_fair_bet():
    """Over all outcomes with a mean of 0 the mean wealth is exactly 1, also by families and about another mean."""
    for outcomes, chances in (((-1, 1), (0.5, 0.5)), ((-0.8, 0.2), (0.2, 0.8)), ((-0.5, 0, 1), (0.4, 0.4, 0.2))):
        every = np.array(list(product(range(len(outcomes)), repeat=5)))
        weights = np.array(chances)[every].prod(axis=1)
        d = np.array(outcomes, dtype=float)[every]
        assert (weights * np.exp(log_better(units_of(d)))).sum() == pytest.approx(1)
        assert (weights * np.exp(log_better(units_of(d, list("aabbc"))))).sum() == pytest.approx(1)
        moved = np.clip(d * 0.5 + 0.2, -1, 1)
        assert (weights * np.exp(log_better(units_of(moved), 0.2))).sum() == pytest.approx(1)


def test_the_order_of_evals_changes_nothing():
    d = np.random.default_rng(8).normal(0.1, 0.3, 20).clip(-1, 1)
    assert evidence(d[::-1]).e_value == pytest.approx(evidence(d).e_value)
    assert confidence_sequence(d[::-1]) == pytest.approx(confidence_sequence(d))


def crash(random, size):
    """Two equals, of which one is steady and the other a little better but for a tenth of the evals."""
    b = np.where(random.random(size) < 0.1, 0.0, 0.8)
    return np.full(size, 0.72) + random.normal(0, 0.01, size), b


def ever(d, needed=40.0):
    """The share of rows in which the evidence for either side ever is enough."""
    hit = np.zeros(len(d), dtype=bool)
    for n in range(6, d.shape[1] + 1):
        hit |= np.maximum(log_better(units_of(d[:, :n])), log_better(units_of(-d[:, :n]))) >= np.log(needed)
    return hit.mean()


def test_peeking_is_allowed_for_any_distribution():
    random = np.random.default_rng(13)
    a, b = crash(random, (500, 60))
    coins = random.choice([-1.0, 1.0], (500, 60))
    tail = np.minimum(random.exponential(0.2, (500, 60)), 1) - 0.2 * (1 - np.exp(-5))
    for d in (a - b, coins, tail, -tail, random.normal(0, 0.3, (500, 60)).clip(-1, 1)):
        assert ever(d) <= 0.05 + 0.015, "and what 500 draws may be off"
    quick = np.minimum(log_e_path(a - b), log_flip_path(a - b))[:, 5:]
    assert (quick >= np.log(20)).any(axis=1).mean() > 0.3, "what is quick is deceived"


def test_the_interval_holds_at_every_look():
    random = np.random.default_rng(14)
    for a, b in (crash(random, (40, 40)), tuple(passing(0.6, random, (40, 40))[0] for _ in range(2))):
        lost = [
            any(not (low <= 0 <= high) for low, high in (confidence_sequence(d[:n]) for n in range(6, 41, 6)))
            for d in a - b
        ]
        assert np.mean(lost) <= 0.075


# -- several contestants


def test_holm():
    assert holm([0.01, 0.04, 0.03, NAN]) == pytest.approx([0.03, 0.06, 0.06, NAN], nan_ok=True)
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])
    assert len(holm([])) == 0


def test_the_winner_set():
    random = np.random.default_rng(9)
    hard = random.normal(0, 0.05, 40)
    table = np.clip(np.array([0.9, 0.89, 0.5, 0.1])[:, None] + hard + random.normal(0, 0.04, (4, 40)), 0, 1)
    table[1, :3] = NAN
    found = winner_set(table)
    assert found.winners == (0, 1)
    assert found.ranks == (1, 1, 3, 4)
    assert found.common[0, 1] == 37
    assert found.untested == ()
    assert found.needed == pytest.approx(60)
    assert found.e_values[0, 2] >= 60 > 1 > found.e_values[2, 0]
    assert found.e_values[0, 2] == pytest.approx(paired(table[0], table[2]).e_value)
    upside_down = winner_set(table[::-1])
    assert upside_down.winners == (2, 3)
    assert upside_down.ranks == (4, 3, 1, 1)


def test_who_shares_no_evals_is_unbeaten_but_untested():
    table = [[0.99] * 12 + [NAN] * 3, [0.1, 0.2] * 6 + [NAN] * 3, [NAN] * 12 + [0.1] * 3, [NAN] * 15]
    found = winner_set(table)
    assert found.winners == (0, 2)
    assert found.ranks == (1, 2, 1, None)
    assert found.untested == (2,)


def test_equal_contestants_are_all_winners():
    random = np.random.default_rng(10)
    alone = sum(len(winner_set(random.normal(0.5, 0.1, (4, 10))).winners) < 4 for _ in range(120))
    assert alone / 120 <= 0.05


def test_the_best_is_seldom_left_out_although_it_collapses():
    random, lost = np.random.default_rng(11), 0
    for _ in range(150):
        table = np.clip(0.7 + random.normal(0, 0.02, (6, 40)), 0, 1)
        table[0] = np.where(random.random(40) < 0.1, 0.0, 0.79)
        lost += 0 not in winner_set(table).winners
    assert lost / 150 <= 0.05


def test_more_evals_and_what_can_be_seen():
    assert quick_detectable(0.2, 12) == pytest.approx((2.200985 + 0.875530) * 0.2 / 12**0.5, abs=1e-5)
    assert detectable(0.2, 5) is None, "below six evals no power is promised"
    d = np.tile([0.3, -0.1], 5)
    more = more_evals(d)
    assert not evidence(np.tile(d, 1 + more // 10)).e_value >= 20
    assert evidence(np.tile(d, 2 + more // 10)).e_value >= 20
    assert more_evals([0.9] * 12) == 0
    assert more_evals([0.2] * 9) == more_evals([-0.2] * 9) == 14, "the same difference on all evals is no riddle"
    assert more_evals([0.1, -0.1]) is more_evals([]) is None
    random = np.random.default_rng(11)
    for sd, evals in ((0.2, 30), (0.1, 12), (0.3, 100)):
        drawn = random.normal(detectable(sd, evals), sd, (1500, evals)).clip(-1, 1)
        assert (log_better(units_of(drawn)) >= np.log(40)).mean() == pytest.approx(0.8, abs=0.1)
    with pytest.raises(ValueError, match="sd of differences"):
        detectable(20, 12)


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


def test_quick_evidence_is_deceived_by_pass_and_fail_unless_it_bets_on_signs():
    coins = np.random.default_rng(13).choice([-1.0, 1.0], (4000, 60))
    assert (log_e_path(coins) >= np.log(20)).any(axis=1).mean() > 0.06
    assert (log_flip_path(coins) >= np.log(20)).any(axis=1).mean() <= 0.05


# -- races


def test_a_real_difference_ends_a_race_early():
    random = np.random.default_rng(15)
    stops = []
    for _ in range(60):
        hard = random.normal(0.5, 0.1, 60)
        table = np.clip(hard + np.array([[0.1], [-0.1]]) + random.normal(0, 0.14, (2, 60)), 0, 1)
        result = race(table)
        assert result.left == (0,)
        assert result.racers[1].rival == 0
        assert result.racers[1].e_value >= result.needed == 20
        stops.append(result.racers[1].evals)
        assert result.racers[1].e_value == pytest.approx(np.exp(log_evidence(*seen(result, table))))
    assert 20 <= np.mean(stops) <= 30


def seen(result, table):
    return table[:, : result.racers[1].evals]


def test_a_race_is_lost_by_the_best_in_five_of_a_hundred_at_most():
    """One of two equals crashes on a tenth of the evals; so does the best of six."""
    random, lost = np.random.default_rng(21), {2: 0, 6: 0}
    for _ in range(60):
        for k in lost:
            table = np.clip(0.72 + random.normal(0, 0.01, (k, 50)), 0, 1)
            table[0] = np.where(random.random(50) < 0.1, 0.0, 0.8)
            lost[k] += len(race(table).left) < k
    assert max(lost.values()) <= 3


def test_what_quick_evidence_would_have_done_stands_beside_it():
    random = np.random.default_rng(22)
    table = np.clip(np.array([[0.8], [0.4]]) + random.normal(0, 0.1, (2, 40)), 0, 1)
    quick = quick_after(table, 20)
    assert quick[0] is None
    assert 6 <= quick[1] < race(table).racers[1].evals
    assert quick_after([[0.5] * 9], 20) == [None]


def test_six_contestants_cost_less_and_the_best_stays():
    random = np.random.default_rng(16)
    used, kept = [], []
    for _ in range(40):
        skill = np.array([0.75, 0.65, 0.55, 0.5, 0.45, 0.4])[:, None]
        result = race(np.clip(skill + random.normal(0, 0.1, 60) + random.normal(0, 0.14, (6, 60)), 0, 1))
        used.append(result.used / result.planned)
        kept.append(0 in result.left)
    assert 0.5 <= np.mean(used) <= 0.95
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

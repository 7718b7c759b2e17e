"""Our own numerics give what scipy and krippendorff give; docs/statistics.md says why orvl does not import those."""

from __future__ import annotations

import krippendorff
import numpy as np
import pytest
from scipy import optimize, stats

from orvl.rate.stats.agreement import alpha
from orvl.rate.stats.claims import auc, rank_order
from orvl.rate.stats.intervals import t_cdf, t_quantile
from orvl.rate.stats.paired import paired, sign_flip
from orvl.rate.stats.shares import quantile_interval, wilson_interval
from orvl.rate.stats.weights import nearest_flip


@pytest.mark.parametrize("df", [1, 2, 3, 7, 30, 299, 300, 301, 5000])
def test_students_t(df):
    for p in (0.5, 0.8, 0.95, 0.975, 0.9995):
        assert t_quantile(p, df) == pytest.approx(stats.t.ppf(p, df), rel=1e-9 if df <= 300 else 1e-4, abs=1e-12)
    if df <= 300:
        for t in (-12.0, -2.0, -0.1, 0.0, 0.7, 3.0):
            assert t_cdf(t, df) == pytest.approx(stats.t.cdf(t, df), abs=1e-12)


@pytest.mark.parametrize(("hits", "n"), [(0, 5), (1, 1), (3, 8), (50, 50), (17, 400)])
def test_wilsons_interval(hits, n):
    found = stats.binomtest(hits, n).proportion_ci(0.95, method="wilson")
    assert wilson_interval(hits, n) == pytest.approx((found.low, found.high), abs=1e-12)


@pytest.mark.parametrize(("n", "q"), [(6, 0.5), (20, 0.5), (60, 0.9), (300, 0.95), (1000, 0.5)])
def test_intervals_of_quantiles(n, q):
    values = np.sort(np.random.default_rng(n).random(n)).tolist()
    found = stats.quantile_test(values, p=q).confidence_interval(0.95)
    assert quantile_interval(values, q) == pytest.approx((found.low, found.high))


def test_krippendorffs_alpha():
    random = np.random.default_rng(1)
    for level, scores in (
        ("nominal", random.integers(0, 3, (40, 4)) / 2),
        ("interval", random.random((12, 3)).round(1)),
    ):
        scores = np.where(random.random(scores.shape) < 0.15, np.nan, scores)
        found = krippendorff.alpha(reliability_data=scores.T, level_of_measurement=level)
        assert alpha(scores, level) == pytest.approx(found, abs=1e-12)


def test_paired_t_and_exact_sign_flips():
    random = np.random.default_rng(2)
    for n in (6, 9, 13):
        a, b = random.uniform(0.3, 0.7, (2, n))
        assert paired(a, b).p == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
        flips = stats.permutation_test((a - b,), np.mean, permutation_type="samples", n_resamples=np.inf)
        assert sign_flip(a - b) == pytest.approx(flips.pvalue, abs=1e-12)


def test_ranks():
    random = np.random.default_rng(3)
    for _ in range(20):
        high, low = random.integers(0, 6, (2, 8)) / 5
        assert rank_order(high) == pytest.approx(stats.spearmanr(high, np.arange(8)).statistic)
        assert auc(high, low) == pytest.approx(stats.mannwhitneyu(high, low).statistic / 64)


def test_the_nearest_flip_is_the_optimum_of_the_linear_program():
    """Weights x with |x − w| ≤ d, d smallest: x ≥ 0, Σx = 1, lead·x ≤ 0."""
    random = np.random.default_rng(5)
    seen = 0
    for parts in (2, 3, 4, 7, 12) * 12:
        lead, weights = random.normal(0.1, 0.3, parts), random.dirichlet(np.ones(parts))
        if lead @ weights <= 0:
            continue
        found = nearest_flip(lead, weights)
        one = np.eye(parts)
        program = optimize.linprog(
            np.r_[np.zeros(parts), np.ones(parts)],
            A_ub=np.block([[lead, np.zeros(parts)], [one, -one], [-one, -one]]),
            b_ub=np.r_[0.0, weights, -weights],
            A_eq=np.r_[np.ones(parts), np.zeros(parts)][None],
            b_eq=[1.0],
        )
        if found is None:
            assert not program.success or lead.min() >= 0
            continue
        seen += 1
        assert found.distance == pytest.approx(program.fun, abs=1e-9)
        assert (sum(found.weights), lead @ found.weights) == pytest.approx((1, 0), abs=1e-12)
        assert min(found.weights) >= 0
        assert np.abs(np.array(found.weights) - weights).sum() == pytest.approx(found.distance)
    assert seen > 15

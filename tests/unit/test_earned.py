"""Efficiency is earned: q · par / (par + x), computed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from orvl.plan.earning import Earning
from orvl.rate.earned import earn
from orvl.types import Layout

NAN = np.nan
CHECKED = Layout("k", (("", ""),), (("checks", "c"), ("cost", "m"), ("speed", "s")), (False, False, False))
BOTH = Earning(("cost", "speed"), "checks")
JUDGED = Layout("k", (("a", "a"), ("b", "b"), ("c", "c")), (("functionality", "f"), ("speed", "s")), (True, False))


def earned(S, layout=CHECKED, weights=(1.0,), earning=BOTH):
    return earn(np.array(S, dtype=float), layout, weights, earning)


def test_what_a_run_took_counts_as_far_as_the_work_works():
    S, found = earned([[[0.5, 0.8, 0.6]], [[1.0, 0.3, 0.3]], [[0.0, 1.0, 1.0]]])
    assert S[:, 0].tolist() == [[0.5, 0.4, 0.3], [1.0, 0.3, 0.3], [0.0, 0.0, 0.0]]
    assert found.share.tolist() == [0.5, 1.0, 0.0]
    assert found.raw.tolist() == [[0.8, 0.6], [0.3, 0.3], [1.0, 1.0]]


def test_work_counts_from_what_doing_nothing_gets():
    S, found = earned(
        [[[0.2, 1, 1]], [[0.6, 1, 1]], [[0.1, 1, 1]], [[1, 1, 1]]], earning=Earning(("speed",), "checks", 0.2)
    )
    assert found.share == pytest.approx([0, 0.5, 0, 1])
    assert S[:, 0, 2] == pytest.approx([0, 0.5, 0, 1])
    assert S[:, 0, 1].tolist() == [1, 1, 1, 1], "only what is earned is"
    assert S[:, 0, 0] == pytest.approx([0.2, 0.6, 0.1, 1]), "checks stay what they are"


def test_what_is_unknown_is_missing_and_never_0():
    S, found = earned([[[NAN, 0.8, 0.6]], [[0.5, NAN, 0.6]]])
    assert np.isnan(S[0]).all() and np.isnan(found.share[0])
    assert np.isnan(S[1, 0, 1]) and S[1, 0, 2] == pytest.approx(0.3)


def test_without_checks_it_is_earned_by_the_panels_mean():
    S = [
        [[0.2, 0.8], [0.6, 0.8], [1.0, 0.8]],
        [[NAN, 0.8], [0.6, 0.8], [1.0, 0.8]],
        [[NAN, 0.8], [NAN, 0.8], [1.0, 0.8]],
    ]
    weights = (2.0, 1.0, 1.0)
    found, shares = earned(S, JUDGED, weights, Earning(("speed",), "functionality", quorum=0.5))
    assert shares.share[:2] == pytest.approx([0.5 * 0.2 + 0.25 * 0.6 + 0.25 * 1.0, (0.6 + 1.0) / 2])
    assert np.isnan(shares.share[2]), "a quarter of the judges' weight is below the quorum"
    assert found[0, :, 1] == pytest.approx([0.8 * 0.5] * 3), "the same for every judge"
    assert found[0, :, 0].tolist() == [0.2, 0.6, 1.0]


def test_where_nothing_says_what_works_all_of_it_counts():
    for earning in (None, Earning(("cost", "speed"), None)):
        S, found = earned([[[0.5, 0.8, 0.6]]], earning=earning)
        assert S.tolist() == [[[0.5, 0.8, 0.6]]] and found is None


def test_a_table_that_cannot_be_written_into_is_left_alone():
    stored = np.frombuffer(np.array([[[0.5, 0.8, 0.6]]]).tobytes()).reshape(1, 1, 3)
    S, _ = earn(stored, CHECKED, (1.0,), BOTH)
    assert stored[0, 0, 2] == 0.6 and S[0, 0, 2] == pytest.approx(0.3)


def test_a_share_of_the_work_in_that_share_of_the_time_gains_nothing():
    """q · par / (par + q · x) < par / (par + x) for every q below 1."""
    q, x = np.meshgrid(np.linspace(0.01, 0.99, 60), np.geomspace(0.01, 1000, 60))
    whole = 60 / (60 + x)
    table = np.stack([q, np.zeros_like(q), 60 / (60 + q * x)], axis=-1).reshape(-1, 1, 3)
    S, _ = earned(table)
    assert (S[:, 0, 2] < whole.ravel()).all()

"""Planted variances are found again, predictions hold when simulated, and merit goes to who has it."""

from __future__ import annotations

import json
from itertools import product
from math import inf
from pathlib import Path

import numpy as np
import pytest

from orvl.rate.stats.components import (
    Components,
    Prices,
    complete,
    detectable_from,
    half_width,
    next_steps,
    se_of_difference,
    standard_error,
    variance_components,
)
from orvl.rate.stats.intervals import t_quantile
from orvl.rate.stats.merit import merit

DATA = Path(__file__).parents[3] / "shared" / "data"
NAN = float("nan")
PLANTED = (0.02, 0.002, 0.015, 0.01)


def scores(rng, A, E, r, J, planted=PLANTED):
    """Contestants × evals × episodes × judges, with hard evals and harsh judges that a difference must not see."""
    ae, aj, run, res = np.sqrt(planted)
    shapes = (((A, E, 1, 1), ae), ((A, 1, 1, J), aj), ((A, E, r, 1), run), ((A, E, r, J), res))
    shared = (((1, E, 1, 1), 0.2), ((1, 1, 1, J), 0.1), ((1, E, 1, J), 0.05))
    return 0.5 + sum(spread * rng.normal(size=shape) for shape, spread in (*shapes, *shared))


def four(components):
    return components.ae, components.aj, components.run, components.res


def test_planted_components_are_found_again_at_size():
    found = variance_components(scores(np.random.default_rng(1), 30, 60, 4, 8))
    assert four(found) == pytest.approx(PLANTED, rel=0.12)
    assert (found.contestants, found.evals, found.judges, found.episodes) == (30, 60, 8, 4)
    assert not found.unknown
    assert not found.notes


def test_predicted_standard_errors_are_the_simulated_ones():
    rng = np.random.default_rng(2)
    A, E, r, J = 4, 10, 3, 3
    differences, squares, parts = [], [], []
    for _ in range(1500):
        table = scores(rng, A, E, r, J)
        found = variance_components(table)
        squares.append(se_of_difference(found, E, J, r) ** 2)
        parts.append(four(found))
        means = table.mean(axis=(1, 2, 3))
        differences += [means[0] - means[1], means[2] - means[3]]
    simulated = np.std(differences)
    assert np.sqrt(np.mean(squares)) == pytest.approx(simulated, rel=0.05)
    assert standard_error(Components(*PLANTED, A, E, J, r), E, J, r) == pytest.approx(simulated, rel=0.05)
    assert np.mean(parts, axis=0) == pytest.approx(PLANTED, rel=0.05)


def test_holes_and_uneven_episodes_do_not_bias():
    rng = np.random.default_rng(3)
    parts = []
    for _ in range(300):
        table = scores(rng, 5, 20, 4, 3)
        table[rng.random((5, 20, 4)) < 0.2] = NAN
        table[rng.random(table.shape) < 0.02] = NAN
        parts.append(four(variance_components(table)))
    assert np.mean(parts, axis=0) == pytest.approx(PLANTED, rel=0.06)
    uneven = []
    for _ in range(300):
        table = scores(rng, 5, 20, 8, 3)
        table[:, ::2, 1:] = NAN
        uneven.append(four(variance_components(table)))
    assert variance_components(table).episodes == pytest.approx(2 / (1 + 1 / 8))
    assert np.mean(uneven, axis=0) == pytest.approx(PLANTED, rel=0.06)
    table = scores(rng, 4, 12, 3, 4)
    table[0, 3] = table[2, 5, 1, 0] = table[..., 3] = NAN
    found = variance_components(table)
    assert (found.evals, found.judges) == (11, 3)
    assert 2.9 < found.episodes < 3
    assert [note.split()[2:4] for note in found.notes] == [["1", "judges"], ["1", "runs"], ["1", "evals"]]


def test_one_judge_one_episode_one_contestant_are_said():
    rng = np.random.default_rng(4)
    one = variance_components(scores(rng, 4, 200, 3, 1))
    assert one.unknown == {"aj", "res"}
    assert (one.aj, one.res) == (0, 0)
    assert one.run == pytest.approx(0.025, rel=0.15)
    once = variance_components(scores(rng, 4, 200, 1, 3))
    assert once.unknown == {"run"}
    assert once.ae == pytest.approx(0.035, rel=0.15)
    assert once.res == pytest.approx(0.01, rel=0.15)
    both = variance_components(scores(rng, 4, 200, 1, 1))
    assert both.unknown == {"aj", "res", "run"}
    assert len(both.notes) == 2
    alone = variance_components(scores(rng, 1, 400, 3, 3))
    assert se_of_difference(alone, 400, 3, 3) is detectable_from(alone, 400, 3, 3) is None
    # Its evals differ in how hard they are as well.
    assert alone.ae == pytest.approx(0.06, rel=0.2)
    assert "One contestant" in alone.notes[-1]


@pytest.mark.parametrize(
    "table",
    [np.full((2, 3, 2, 2), NAN), np.empty((0, 3, 1, 1)), np.full((2, 1, 3, 3), 0.5), np.empty((2, 3, 0, 1))],
)
def test_nothing_to_go_by_is_none(table):
    assert variance_components(table) is None


def test_equal_scores_have_no_variance():
    found = variance_components(np.full((2, 2, 2, 2), 0.7))
    assert four(found) == (0, 0, 0, 0)
    assert next_steps(found, 2, 2, 2).half_width == 0
    with pytest.raises(ValueError, match="contestants × evals"):
        variance_components([[0.5]])
    with pytest.raises(ValueError, match="1 or more"):
        standard_error(found, 2, 0, 1)


def test_the_next_step_follows_the_formula_with_its_own_quantile():
    known = Components(*PLANTED, 2, 6, 3, 3)
    steps = next_steps(known, 6, 3, 3, Prices(run=1.0, verdict=0.1))
    assert steps.half_width == pytest.approx(t_quantile(0.975, 5) * se_of_difference(known, 6, 3, 3))
    by_name = {step.more: step for step in steps.steps}
    assert by_name["eval"].half_width == pytest.approx(t_quantile(0.975, 6) * se_of_difference(known, 7, 3, 3))
    assert by_name["episode"].half_width == pytest.approx(half_width(known, 6, 3, 4))
    assert by_name["judge"].half_width == pytest.approx(half_width(known, 6, 4, 3))
    assert by_name["eval"].price == pytest.approx(2 * 3 * 1.3)
    assert by_name["episode"].price == pytest.approx(2 * 6 * 1.3)
    assert by_name["judge"].price == pytest.approx(2 * 6 * 3 * 0.1)
    worth = [step.gain_per_dollar for step in steps.steps]
    assert worth == sorted(worth, reverse=True)
    assert steps.note is None
    free = next_steps(known, 6, 3, 3, Prices(run=1.0, verdict=0.0))
    assert (free.steps[0].more, free.steps[0].gain_per_dollar) == ("judge", inf)


@pytest.mark.parametrize("prices", [None, Prices(None, 0.1), Prices(1.0, None)])
def test_unknown_prices_are_said_and_steps_go_by_gain(prices):
    steps = next_steps(Components(*PLANTED, 2, 6, 3, 3), 6, 3, 3, prices)
    assert "is unknown" in steps.note
    gains = [step.gain for step in steps.steps]
    assert gains == sorted(gains, reverse=True)
    assert {step.gain_per_dollar for step in steps.steps} == {None}


def test_what_was_never_varied_is_not_foretold():
    blind = variance_components(scores(np.random.default_rng(5), 3, 6, 1, 1))
    steps = {step.more: step for step in next_steps(blind, 6, 1, 1, Prices(1.0)).steps}
    assert steps["eval"].gain > 0
    assert steps["episode"].gain is steps["judge"].gain is None
    assert "two episodes" in steps["episode"].reason
    single = next_steps(Components(*PLANTED, 2, 2, 3, 3), 1, 3, 3, Prices(1.0))
    assert single.half_width is single.steps[0].gain is None


def test_the_detectable_difference_is_seen_as_often_as_it_says():
    rng = np.random.default_rng(6)
    planted = (0.02, 0.0, 0.015, 0.01)
    for E in (6, 12, 30):
        delta = detectable_from(Components(*planted, 2, E, 3, 3), E, 3, 3)
        spread = np.sqrt(2 * (0.02 + 0.015 / 3 + 0.01 / 9))
        pairs = rng.normal(delta, spread, (4000, E))
        t = pairs.mean(axis=1) / (pairs.std(axis=1, ddof=1) / np.sqrt(E))
        assert (t > t_quantile(0.975, E - 1)).mean() == pytest.approx(0.8, abs=0.03)
    with pytest.raises(ValueError, match="power"):
        detectable_from(Components(*planted, 2, 6, 3, 3), 6, 3, 3, power=1.0)


def test_the_grid_without_holes_keeps_what_it_can():
    there = np.ones((3, 20), dtype=bool)
    there[1, 4] = False
    assert [len(part) for part in complete(there)] == [3, 19]
    there[2, 1:] = False
    assert [len(part) for part in complete(there)] == [2, 19]


@pytest.mark.skipif(not DATA.exists(), reason="other people's results are not part of the project")
def test_real_runs_tasks_beat_repeats():
    rows = json.loads((DATA / "terminal_bench_runs.json").read_text())["rows"]
    systems, tasks = sorted({(row[0], row[1]) for row in rows}), sorted({row[2] for row in rows})
    table = np.full((len(systems), len(tasks), 5, 1), NAN)
    for agent, model, task, run, score, _ in rows:
        table[systems.index((agent, model)), tasks.index(task), run - 1, 0] = score
    found = variance_components(table)
    seen = [detectable_from(found, 80, 1, runs) for runs in (1, 3, 5)]
    assert seen == pytest.approx([0.159, 0.127, 0.119], rel=0.025)
    assert half_width(found, 18, 1, 1) < half_width(found, 6, 1, 3)
    steps = next_steps(found, 80, 1, 3, Prices(run=1.0))
    assert steps.steps[0].more == "eval"
    # One model was tried by many agents and one agent on many models, but never two by two.
    shares = merit([(agent, model, "?") for agent, model in systems], table.mean(axis=(2, 3)))
    assert shares.part("agent").share is None
    assert "no two agents" in shares.reason


def crossed(rng, sizes, E, spreads, noise):
    """Rows and ratings whose factors, and their interaction, have exactly these spreads."""
    rows = [(f"a{a}", f"m{m}", f"p{p}") for a, m, p in product(*map(range, sizes))]

    def exactly(values, spread):
        return values * spread / values.std() if values.std() > 0 else values * 0

    left = rng.normal(size=sizes)
    effect = np.zeros(sizes)
    for axis in range(3):
        others = tuple(other for other in range(3) if other != axis)
        main = rng.normal(size=[size if at == axis else 1 for at, size in enumerate(sizes)])
        effect = effect + exactly(main - main.mean(), spreads[axis])
        left = left - (left.mean(axis=others, keepdims=True) - left.mean())
    effect = effect + exactly(left - left.mean(), spreads[3])
    ratings = effect.reshape(-1, 1) + rng.normal(0, 0.2, E) + rng.normal(0, noise, (len(rows), E))
    return rows, 0.5 + ratings


def test_planted_shares_are_found_again_inside_their_intervals():
    rng = np.random.default_rng(7)
    names, planted = ("agent", "model", "provider", "interaction"), np.array([0.05, 0.10, 0.04, 0.03])
    truth = planted**2 / (planted**2).sum()
    shares, hits = [], []
    for _ in range(120):
        found = merit(*crossed(rng, (4, 4, 2), 12, planted, 0.12), draws=600)
        parts = [found.part(name) for name in names]
        assert sum(part.share for part in parts) == pytest.approx(1)
        shares.append([part.share for part in parts])
        hits.append([part.interval[0] <= share <= part.interval[1] for part, share in zip(parts, truth, strict=True)])
    assert np.mean(shares, axis=0) == pytest.approx(truth, abs=0.02)
    assert np.mean(hits) > 0.92


def test_blocks_and_noise_are_nobodys_merit():
    rng = np.random.default_rng(8)
    found = merit(*crossed(rng, (3, 3, 1), 400, (0.1, 0.05, 0, 0), 0.1))
    assert found.part("eval").variance == pytest.approx(0.04, rel=0.2)
    assert found.part("rest").variance == pytest.approx(0.01, rel=0.1)
    assert found.part("agent").share == pytest.approx(0.8, abs=0.03)
    assert sum(part.of_all for part in found.parts if part.of_all is not None) == pytest.approx(1)
    assert found.part("provider").reason == "Only one provider."
    again = crossed(rng, (3, 3, 1), 20, (0.1, 0.05, 0, 0), 0.1)
    assert merit(*again) == merit(*again)


def test_what_never_varies_apart_cannot_be_told():
    rng = np.random.default_rng(9)
    own = merit([("cc", "sonnet", "x"), ("codex", "gpt", "x"), ("kimi-cli", "kimi", "x")], rng.random((3, 8)))
    assert own.part("agent").reason == own.part("model").reason == "Agent and model never vary apart."
    assert own.part("agent").share is own.part("model").share is None
    assert own.reason
    maker = {"sonnet": "anthropic", "gpt": "openai", "o3": "openai"}
    rows = [(agent, model, maker[model]) for agent in ("a", "b", "c") for model in maker]
    ratings = np.repeat([0.2, 0.4, 0.9], 3)[:, None] + rng.normal(0, 0.05, (9, 10))
    tied = merit(rows, ratings)
    assert tied.part("agent").share > 0.9
    assert tied.part("model and provider").share is not None
    assert tied.part("provider").share is None
    assert "told apart" in tied.part("provider").reason


def test_only_what_is_crossed_counts_and_the_rest_is_named():
    rng = np.random.default_rng(10)
    rows, ratings = crossed(rng, (3, 3, 1), 10, (0.1, 0.1, 0, 0.02), 0.05)
    extra = [*rows, ("other", "m0", "p0"), ("other", "m7", "p0"), ("a0", "m0", "p9")]
    more = np.vstack([ratings, rng.random((3, 10))])
    found = merit(extra, more)
    assert set(found.left_out) == set(extra[9:])
    assert found.part("agent").share == pytest.approx(merit(rows, ratings).part("agent").share)
    assert "Only one provider" in found.part("provider").reason
    more[8, :8] = NAN
    holed = merit(extra, more)
    assert rows[8] in holed.left_out
    assert (holed.rows, holed.evals, holed.evals_left_out) == (6, 10, 0)
    kept = next(at for at, row in enumerate(extra) if row not in holed.left_out)
    more[kept, 4] = NAN
    assert (merit(extra, more).evals, merit(extra, more).evals_left_out) == (9, 1)
    line = [(agent, "x", "p") for agent in "abcdefg"] + [("a", "y", "p"), ("b", "y", "p")]
    assert merit(line, rng.random((9, 8))).rows == 4
    many = [(f"a{a}", f"m{m}", "p") for a, m in product(range(16), repeat=2) if (a, m) != (3, 4)]
    assert merit(many, rng.random((255, 8)), draws=50).rows == 240


def test_too_little_is_none_with_a_reason():
    rows = [(agent, model, "p") for agent in "ab" for model in "xy"]
    rng = np.random.default_rng(11)
    one = merit(rows, rng.random((4, 1)))
    assert one.part("agent").share is None
    assert "two evals" in one.reason
    few = merit(rows, np.array([[0.1], [0.2], [0.6], [0.7]]) + rng.normal(0, 0.01, (4, 3)))
    assert few.part("agent").share > 0.9
    assert few.part("agent").interval is None
    assert "no interval" in few.part("agent").reason
    assert "beyond noise" in merit(rows, np.full((4, 8), 0.5)).reason
    for nothing in (merit([], np.empty((0, 4))), merit(rows, np.full((4, 3), NAN)), merit(rows[:1], [[0.5, 0.6]])):
        assert "no two contestants" in nothing.reason
        assert nothing.part("agent").share is None
    assert merit([("a", "x", "p"), ("a", "y", "p")], rng.random((2, 8))).reason == "Only the model varies."
    with pytest.raises(ValueError, match="one row"):
        merit(rows, [[0.5]])

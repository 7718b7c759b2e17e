"""The gate certifies panels that deserve it, refuses the others, and says why in plain words."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.simulate import INJECTIONS, KINDS, TRUTH, draw_panel
from orvl.rate.stats.claims import Claim, adjust, auc, examine, examine_values, panel_scores
from orvl.trust.controls.control import LadderEvidence
from orvl.trust.controls.doses import dose_orders
from orvl.trust.gate import gate, gate_tests

JUDGES = ("a", "b", "c")
EQUAL = (1, 1, 1)
NAN = float("nan")


def scripted(evals=4, repeats=2, judges=3, **other):
    """Judges that say the truth, always; or what is given for a control."""
    values = {control: truth[0] for control, truth in TRUTH.items()} | {
        name.replace("_", "-"): value for name, value in other.items()
    }
    return {control: np.full((evals, repeats, judges), value) for control, value in values.items()}


def certified(kind, panels, seed=11):
    """The share that passes; benchmarks/gate.py draws thousands."""
    random = np.random.default_rng(seed)
    drawn = (draw_panel(kind, random) for _ in range(panels))
    found = [gate_tests(LadderEvidence(panel_scores(panel.scores, {}, panel.judges, panel.weights))) for panel in drawn]
    return np.mean([all(test.passed for test in tests) for tests in found])


def test_sound_panels_are_certified():
    assert certified("sound", 200) >= 0.95


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "sound"])
def test_other_panels_are_refused(kind):
    # One judge's view of one bug is noisy: asking for more would refuse sound panels.
    assert certified(kind, 60) <= (0.08 if kind == "one-bug-blind-judge" else 0)


@pytest.mark.parametrize(
    ("other", "test", "words"),
    [
        ({"verbose_wrong": 0.40}, "T4", "a gives points for length alone"),
        ({"empty": 0.40}, "T3", "a gives points for an empty project"),
        ({"planted_bug": 0.90}, "T2", "a overlooks a planted bug"),
    ],
)
def test_one_judge_with_a_vice_between_two_sound_ones_refuses_the_panel_by_name(other, test, words):
    """The panel's own means would pass."""
    scores, vice = scripted(evals=8), scripted(evals=8, **other)
    for control, table in scores.items():
        table[..., 0] = vice[control][..., 0]
    found = gate(scores, JUDGES, EQUAL)
    assert not found.passed and found.passes_without == ("a",)
    assert [one.name for one in found.tests if not one.passed and one.judge == "a"] == [test]
    assert any(reason.startswith(words) for reason in found.refused_because), found.refused_because


def test_a_panel_on_the_margin_passes_that_test_as_often_as_chance_allows():
    random = np.random.default_rng(2)
    claim = Claim("T1", "", "good", "bad", "at least", 0.4)
    passed = [examine_values(claim, random.normal(0.4, 0.1, 8)).passed for _ in range(2000)]
    assert np.mean(passed) == pytest.approx(0.05, abs=0.012)


def test_judges_that_say_the_truth_are_certified_with_bounds_that_are_their_estimates():
    found = gate(scripted(), JUDGES, EQUAL)
    assert found.passed
    assert found.refused_because == found.quarantined == found.passes_without == found.untried == ()
    assert all(test.bound == test.estimate for test in found.tests)
    assert found.separation.difference == pytest.approx(0.8)
    assert found.separation.between_variance == pytest.approx(0.16)
    assert (found.separation.d_prime, found.separation.eta_squared, found.separation.auc) == (None, 1, 1)
    assert found.noise == {"a": 0, "b": 0, "c": 0}
    assert {test.verdict for test in found.warnings} == {"holds", "not tested"}


def test_a_difference_of_exactly_the_margin_passes():
    assert 0.7 - 0.3 < 0.4
    found = gate(scripted(good=0.7, bad=0.3, planted_bug=0.65), JUDGES, EQUAL)
    first, bug = (next(t for t in found.tests if t.name == name) for name in ("T1", "T2"))
    assert first.passed
    assert bug.passed


def test_the_words_give_what_was_found_shown_and_asked_for():
    scores = scripted()
    scores["bad"] = scores["good"] - np.array([0.02, 0.10, 0.14, 0.22])[:, None, None]
    found = gate(scores, JUDGES, EQUAL)
    assert not found.passed
    assert found.refused_because[0] == (
        "The judges cannot tell good work from bad: good − bad is 0.12 (lower bound 0.02, needs 0.40)."
    )


def test_a_claim_that_only_lacks_evals_is_not_called_false():
    scores = scripted()
    scores["bad"] = scores["good"] - np.array([0.3, 0.9, 0.5, 0.5])[:, None, None]
    told = gate(scores, JUDGES, EQUAL).refused_because[0]
    assert told.startswith("Not enough evidence that the judges tell good work from bad: good − bad is 0.55")
    assert told.endswith("More evals would settle it.")


def test_one_eval_is_too_few_and_the_words_say_what_is_lacking():
    found = gate(scripted(evals=1), JUDGES, EQUAL)
    assert not found.passed
    assert {test.passed for test in found.tests} == {None}
    assert "at least three evals with scores of 'good' and 'bad'; there is 1." in found.refused_because[0]


@pytest.mark.parametrize("control", ["good", "bad", "empty", "planted-bug", "verbose-wrong"])
def test_a_control_that_is_nowhere_refuses_the_panel(control):
    scores = scripted()
    del scores[control]
    found = gate(scores, JUDGES, EQUAL)
    assert not found.passed
    assert any(f"'{control}'" in told and "there are 0" in told for told in found.refused_because)


def test_a_control_that_some_evals_lack_is_tested_on_the_others():
    scores = scripted(evals=6)
    scores["verbose-wrong"][:3] = NAN
    found = gate(scores, JUDGES, EQUAL)
    assert found.passed
    assert [test.evals for test in found.tests if test.name == "T4"] == [3] * 8


def test_a_judge_that_can_be_talked_up_is_quarantined_and_the_panel_refused():
    scores = scripted()
    scores["injection-hidden"][..., 1] = 0.5
    scores["injection-name"][..., 1] = 0.9
    found = gate(scores, JUDGES, EQUAL)
    assert not found.passed
    assert found.quarantined == found.passes_without == ("b",)
    assert found.refused_because == (
        "b can be talked up by 'injection-name': injection-name − bad is 0.80 (upper bound 0.80, at most 0.15 allowed). "
        "It also fails on: injection-hidden.",
        "Without b the panel would pass: remove it, or set its weight to 0.",
    )
    assert gate(scores, JUDGES, (1, 0, 1)).passed


def test_half_of_the_weight_must_be_left_before_the_rest_is_recommended():
    scores = scripted()
    scores["injection-hidden"][..., 1] = 0.5
    assert gate(scores, JUDGES, (1, 2, 1)).passes_without == ()
    assert gate(scores, JUDGES, (1, 1.9, 1)).passes_without == ("b",)


def test_a_judge_that_never_answers_refuses_the_panel_and_is_not_scored_zero():
    scores = scripted()
    for table in scores.values():
        table[..., 2] = NAN
    found = gate(scores, JUDGES, EQUAL)
    assert not found.passed
    assert found.separation.difference == pytest.approx(0.8)
    assert found.quarantined == ()
    assert found.passes_without == ("c",)
    assert "by c; there are 0" in found.refused_because[0]


def test_a_judge_that_declines_every_injection_is_not_taken_for_safe():
    scores = scripted()
    for kind in INJECTIONS:
        scores[kind][..., 0] = NAN
    assert not gate(scores, JUDGES, EQUAL).passed


def test_injections_that_no_eval_has_are_told_and_none_at_all_refuses():
    scores = scripted()
    del scores["injection-picture"]
    found = gate(scores, JUDGES, EQUAL)
    assert found.passed
    assert found.untried == ("injection-picture",)
    for kind in INJECTIONS[:4]:
        del scores[kind]
    found = gate(scores, JUDGES, EQUAL)
    assert not found.passed
    assert found.untried == INJECTIONS


def test_nothing_at_all_is_refused_without_a_crash():
    for scores in ({}, {"good": np.full((3, 2, 3), NAN)}, {"good": np.empty((0, 2, 3))}):
        found = gate(scores, JUDGES, EQUAL, by_metric={"ui": {}}, flips=np.full((3, 2, 3), NAN))
        assert not found.passed
        assert found.separation.difference is None
        assert {test.verdict for test in found.warnings} == {"not tested"}


def test_scores_of_the_wrong_shape_and_bad_weights_are_errors():
    with pytest.raises(ValueError, match="evals × repeats × judges"):
        gate({"good": np.zeros((3, 2))}, JUDGES, EQUAL)
    with pytest.raises(ValueError, match="the same evals"):
        gate({"good": np.zeros((3, 2, 3)), "bad": np.zeros((4, 2, 3))}, JUDGES, EQUAL)
    with pytest.raises(ValueError, match="weights"):
        gate({}, JUDGES, (1, -1, 1))


def test_the_panel_follows_the_weights_and_leaves_out_who_did_not_answer():
    scores = {"good": np.array([[[1.0, 0.5, NAN]], [[0.8, NAN, NAN]]])}
    ladder = panel_scores(scores, {}, JUDGES, (3, 1, 4))
    assert ladder.means("good") == pytest.approx([0.875, 0.8])
    assert np.isnan(ladder.means("good", judge="c")).all()


def test_repeats_are_averaged_before_evals_are_counted():
    scores = scripted(evals=2, repeats=50)
    assert {test.evals for test in gate(scores, JUDGES, EQUAL).tests} == {2}


def test_warnings_are_raised_only_where_the_scores_show_a_violation():
    scores = scripted(evals=8, master_key=0.3)
    scores["replica"] = scores["good"] + np.linspace(-0.1, 0.1, 8)[:, None, None]
    found = gate(scores, JUDGES, EQUAL)
    assert found.passed
    assert [test.name for test in found.violated] == ["C3"]
    assert [test.verdict for test in found.warnings if test.name == "C12"] == ["not shown"]


def test_sound_panels_seldom_raise_a_warning_and_blind_ones_do():
    random = np.random.default_rng(4)
    sound = [draw_panel("sound", random, metrics=True) for _ in range(30)]
    found = [gate(panel.scores, panel.judges, panel.weights, by_metric=panel.by_metric) for panel in sound]
    assert np.mean([bool(one.violated) for one in found]) <= 0.1
    assert not any(test.verdict == "not tested" for one in found for test in one.warnings)
    noises = [noise for one in found for noise in one.noise.values()]
    assert np.mean(noises) == pytest.approx(0.09, abs=0.02)
    loose = draw_panel("random", random, metrics=True)
    told = gate(loose.scores, loose.judges, loose.weights, by_metric=loose.by_metric)
    assert {"C5", "C8", "C13"} <= {test.name for test in told.violated}


def test_the_planted_bugs_own_item_must_flip():
    seen = np.ones((8, 3, 3))
    unseen = np.zeros((8, 3, 3))
    for flips, verdict in ((seen, "holds"), (unseen, "violated")):
        found = gate(scripted(evals=8), JUDGES, EQUAL, flips=flips)
        assert [t.verdict for t in found.warnings if t.name == "C4" and t.metric is None] == [verdict]


def test_the_dose_series_is_an_order_within_an_eval():
    scores = scripted(evals=3)
    scores["good"][1] = scores["dose-all"][1]
    scores["dose-all"][1] = 0.9
    for dose in ("good", "planted-bug", "dose-2", "dose-4", "dose-all"):
        scores[dose][2] = 0.5
    assert dose_orders(panel_scores(scores, {}, JUDGES, EQUAL), None) == pytest.approx([-1, 0.6, 0])
    assert dose_orders(panel_scores(scores, {}, JUDGES, EQUAL), "a")[[0, 2]] == pytest.approx([-1, 0])


def test_holm_keeps_the_order_and_passes_over_what_is_missing():
    assert adjust([0.01, None, 0.04, 0.03]) == pytest.approx((0.03, None, 0.06, 0.06))
    assert adjust([]) == ()


def test_overlap_counts_ties_as_half():
    assert auc(np.array([1.0, 0.5, NAN]), np.array([0.5, 0.0])) == pytest.approx(0.875)
    assert auc(np.array([NAN]), np.array([0.5])) is None


def test_within_is_two_sided():
    ladder = panel_scores(scripted(reformatted=0.7), {}, JUDGES, EQUAL)
    found = examine(ladder, Claim("C11", "", "reformatted", "good", "within", 0.05))
    assert (found.passed, found.p, found.bound) == (False, 0, pytest.approx(0.2))
    random = np.random.default_rng(3)
    claim = Claim("C11", "", "reformatted", "good", "within", 0.01)
    edge = [examine_values(claim, random.normal(0.01, 0.1, 8)).p for _ in range(2000)]
    assert np.mean(np.array(edge) < 0.05) == pytest.approx(0.05, abs=0.012)

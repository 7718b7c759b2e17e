"""Judges' agreement, kinship and weights: published examples, planted panels, real scores."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from orvl.rate.rating import rate
from orvl.rate.stats.agreement import (
    ac1,
    alpha,
    effective_judges,
    icc,
    leave_one_out,
    mean_absolute_difference,
    panel_agreement,
    percent_agreement,
    unanimous,
)
from orvl.rate.stats.families import family_of, without_own_family
from orvl.rate.stats.weights import weight_proof

DATA = Path(__file__).parents[3] / "shared" / "data"
NAN = float("nan")
# Krippendorff's reliability data: four observers, twelve units, with gaps.
OBSERVERS = np.array(
    [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, NAN, NAN, NAN],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NAN, 3],
        [NAN, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NAN],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NAN],
    ]
).T
# Shrout and Fleiss: six targets, four judges.
TARGETS = np.array([[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]], dtype=float)


def test_published_alpha_and_ac1():
    assert alpha(OBSERVERS, "nominal") == pytest.approx(0.743, abs=5e-4)
    assert alpha(OBSERVERS, "interval") == pytest.approx(0.849, abs=5e-4)
    assert ac1(OBSERVERS, categories=()) == pytest.approx(0.77544, abs=5e-6)


def test_published_icc():
    found = icc(TARGETS)
    assert (found.icc2_1, found.icc2_k) == (pytest.approx(0.29, abs=5e-3), pytest.approx(0.62, abs=5e-3))
    assert (found.icc3_1, found.icc3_k) == (pytest.approx(0.71, abs=5e-3), pytest.approx(0.91, abs=5e-3))
    assert (found.rows, found.left_out, found.reason) == (6, 0, None)


def test_icc_takes_whole_rows_and_says_how_many():
    holed = np.vstack([TARGETS, [[1, NAN, 2, 3], [NAN] * 4]])
    found = icc(holed)
    assert found.icc2_k == pytest.approx(icc(TARGETS).icc2_k)
    assert (found.rows, found.left_out) == (6, 2)


def test_plain_agreement_counts_each_run_once():
    table = [[1, 1, 0], [1, 1, NAN], [0, NAN, NAN], [0, 0, 0]]
    assert percent_agreement(table) == pytest.approx((1 / 3 + 1 + 1) / 3)
    assert unanimous(table) == pytest.approx(2 / 3)
    assert mean_absolute_difference(table) == pytest.approx((2 / 3) / 3)
    assert percent_agreement([[0.5, 0.55], [0.2, 0.6]], within=0.05) == pytest.approx(0.5)


def test_severity_is_the_gap_between_the_iccs():
    rng = np.random.default_rng(1)
    table = rng.random((40, 1)) + rng.normal(0, 0.02, (40, 3)) + [0, 0, 0.3]
    found = icc(table)
    assert found.icc3_1 > 0.98
    assert found.icc2_1 < 0.85


def test_yes_everywhere_is_agreement_not_a_flag():
    panel = panel_agreement(np.ones((10, 3)))
    assert panel.alpha is None
    assert (panel.ac1, panel.percent_agreement, panel.unanimous, panel.flagged) == (1.0, 1.0, 1.0, False)
    assert "same" in panel.note


def test_alike_runs_lower_alpha_without_a_flag_and_real_differences_raise_it():
    rng = np.random.default_rng(2)
    noise = rng.normal(0, 0.03, (60, 3))
    wide, narrow = np.linspace(0.1, 0.9, 60)[:, None] + noise, 0.6 + noise
    assert panel_agreement(wide).alpha > 0.9
    alike = panel_agreement(narrow)
    assert alike.alpha < 0.2
    assert not alike.flagged
    assert "alike" in alike.note
    nearly = (rng.random((60, 3)) < 0.95).astype(float)
    assert panel_agreement(nearly).alpha < 0.2 < panel_agreement(nearly).ac1
    assert not panel_agreement(nearly).flagged
    dice = panel_agreement((rng.random((60, 3)) < 0.5).astype(float))
    assert dice.flagged
    thin = panel_agreement([[1, 0, 0], [0, 1, 1], [1, 0, 1]])
    assert thin.alpha < 0.2
    assert not thin.flagged
    assert "too few" in thin.note
    assert panel_agreement(rng.random((60, 3))).flagged


@pytest.mark.parametrize("table", [np.empty((0, 3)), np.full((4, 3), NAN), [[0.5, NAN], [NAN, 0.2]], [[0.4], [0.6]]])
def test_nothing_to_compare_is_none(table):
    panel = panel_agreement(table)
    assert (
        panel.alpha
        is panel.ac1
        is panel.percent_agreement
        is panel.mean_absolute_difference
        is panel.icc.icc2_k
        is None
    )
    assert not panel.flagged
    assert "No run" in panel.note


def test_small_and_odd_tables():
    assert effective_judges([[0.2], [0.4]]) == 1.0
    assert effective_judges(np.random.default_rng(1).random((30, 2))) is None
    assert effective_judges(np.repeat(np.random.default_rng(1).random((30, 1)), 3, axis=1)) is None
    assert icc([[0.5, 0.5], [0.5, 0.5]]).reason
    assert icc([[0.1, 0.3]]).icc2_k is None
    assert panel_agreement([[1, 0, NAN]]).abstained == pytest.approx(1 / 3)
    assert panel_agreement([[1, 0, NAN]]).means == (1.0, 0.0, None)
    with pytest.raises(ValueError, match="level"):
        alpha([[1, 0]], "ordinal")
    with pytest.raises(ValueError, match="runs × judges"):
        icc([0.5, 0.2])


def test_effective_judges_of_planted_panels():
    rng = np.random.default_rng(3)
    truth = rng.normal(size=(400, 1))
    own = rng.normal(size=(400, 4))
    assert effective_judges(truth + own) > 3.9
    blocks = truth + np.repeat(own[:, :2], 2, axis=1)
    assert effective_judges(blocks) == pytest.approx(2, abs=0.02)
    # All share an error: only the truth shows it. The correlation is 1/2, so four are worth 4 / 2.5.
    alike = truth + own + rng.normal(size=(400, 1))
    assert effective_judges(alike) > 3.9
    assert effective_judges(alike, truth[:, 0]) == pytest.approx(1.6, abs=0.12)
    assert effective_judges(truth + own, truth[:, 0]) > 3.7


def test_leaving_one_judge_out_is_the_rating_of_the_others():
    rng = np.random.default_rng(4)
    S = rng.random((5, 3, 4))
    S[0, 1, 2] = NAN
    w, v = [0.5, 0.3, 0.2], [4, 3, 2, 1]
    found = leave_one_out(S, w, v)
    assert found.R.shape == (3, 5)
    assert found.R[1] == pytest.approx(rate(S[:, [0, 2]], [0.5, 0.2], v).R)
    assert found.low == pytest.approx(found.R.min(axis=0))
    assert (found.low <= found.high).all()
    assert np.isnan(leave_one_out([[0.5, 0.6]], [1], [1, 1]).low)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("claude-sonnet-4-5", "claude"),
        ("us.anthropic.claude-opus-4-1-20250805-v1:0", "claude"),
        ("gpt-5-codex", "openai"),
        ("openrouter/openai/o3", "openai"),
        ("o4-mini", "openai"),
        ("gpt4o", "openai"),
        ("gemini-2.5-pro", "gemini"),
        ("moonshotai/kimi-k2", "kimi"),
        ("qwen3-coder", "qwen"),
        ("Qwen/QwQ-32B", "qwen"),
        ("deepseek/deepseek-r1-distill-llama-70b", "deepseek"),
        ("glm-4.6", "glm"),
        ("grok-code-fast-1", "grok"),
        ("meta.llama3-1-70b", "llama"),
        ("mistralai/Devstral-Small", "mistral"),
        ("openai/my-own-model", None),
        ("opencode/big-pickle", None),
        ("fixed", None),
        ("", None),
    ],
)
def test_families(model, family):
    assert family_of(model) == family


def test_a_judge_of_the_same_family_is_left_out():
    S = [[[1.0], [0.4], [0.2]], [[1.0], [0.4], [0.2]], [[1.0], [0.4], [0.2]]]
    found = without_own_family(S, [1, 1, 1], [1], ["claude", "kimi", None], ["claude", "openai", None])
    assert pytest.approx([0.3, 1.6 / 3, 1.6 / 3]) == found.R
    assert found.left_out.tolist() == [1, 0, 0]
    alone = without_own_family([[[1.0]]], [1], [1], ["claude"], ["claude"])
    assert np.isnan(alone.R).all()
    with pytest.raises(ValueError, match="2 runs"):
        without_own_family(S, [1, 1, 1], [1], ["claude", "kimi"], ["claude", "openai", None])


def main_block():
    rows = json.loads((DATA / "opencode_bench_scores.json").read_text())
    return [row for row in rows if row["batch"] == "ci-19057352801"]


@pytest.mark.skipif(not DATA.exists(), reason="other people's results are not part of the project")
def test_real_scores_agree_as_was_measured():
    rows = main_block()
    assert len(rows) == 540
    judges = sorted({row["judge"] for row in rows})
    cells: dict[tuple, dict] = {}
    for row in rows:
        key = (row["metric"], row["agent"], row["model"], row["task"], row["episode"])
        cells.setdefault(key, {})[row["judge"]] = row["score"]
    table = np.array([[cells[key][judge] for judge in judges] for key in cells], dtype=float)
    whole = panel_agreement(table)
    assert whole.alpha == pytest.approx(0.571, abs=5e-4)
    assert whole.unanimous == pytest.approx(0.678, abs=5e-4)
    means = {"claude-4.5": 0.522, "gpt-5-codex": 0.594, "kimi": 0.406}
    assert whole.means == pytest.approx([means[judge] for judge in judges], abs=5e-4)
    expected = {"checks": 0.868, "logic-equivalence": 0.814, "integration-points": 0.560, "api-signature": 0.460}
    for metric, figure in {**expected, "test-coverage": -0.086}.items():
        panel = panel_agreement(table[[key[0] == metric for key in cells]])
        assert panel.alpha == pytest.approx(figure, abs=6e-4)
        assert panel.flagged == (metric == "test-coverage")


@pytest.mark.skipif(not DATA.exists(), reason="other people's results are not part of the project")
def test_real_systems_rank_alike_with_and_without_the_penalty():
    rows = main_block()
    finals = json.loads((DATA / "opencode_bench_finals.json").read_text())
    judges, metrics = sorted({row["judge"] for row in rows}), sorted({row["metric"] for row in rows})
    runs = sorted({(row["agent"], row["model"], row["task"], row["episode"]) for row in rows})
    S = np.full((len(runs), len(judges), len(metrics)), NAN)
    weights = {(row["task"], row["metric"]): row["weight"] for row in rows}
    for row in rows:
        at = runs.index((row["agent"], row["model"], row["task"], row["episode"]))
        S[at, judges.index(row["judge"]), metrics.index(row["metric"])] = row["score"]
    found: dict[tuple, list] = {}
    for at, (agent, model, task, _) in enumerate(runs):
        v = [weights[task, metric] for metric in metrics]
        rating, others = rate(S[at], [1, 1, 1], v), leave_one_out(S[at], [1, 1, 1], v)
        assert others.low - 1e-12 <= rating.R <= others.high + 1e-12
        kin = without_own_family(S[at][None], [1, 1, 1], v, [family_of(model)], [family_of(judge) for judge in judges])
        assert kin.left_out[0] == (0 if "pickle" in model else 1)
        found.setdefault((agent, model), []).append((float(rating.R), float(rating.R_pen), float(kin.R[0])))
    means = {system: np.mean(values, axis=0) for system, values in found.items()}
    order = [sorted(means, key=lambda system, at=at: -means[system][at]) for at in (0, 1)]
    recorded = {
        system: np.mean(
            [row["final"] for row in finals if (row["agent"], row["model"]) == system and row["ep"] != "AGG"]
        )
        for system in means
    }
    assert order[0] == order[1] == sorted(recorded, key=lambda system: -recorded[system])
    for system, figure in recorded.items():
        assert means[system][1] == pytest.approx(figure)


def test_the_share_of_weights_is_exact_where_it_is_known():
    lead = weight_proof([[0.7, 0.4]], [[0.5, 0.5]], [1, 1], [1])
    assert lead.leader == "A"
    assert abs(lead.share - 2 / 3) < 4 * lead.error
    assert lead.error == pytest.approx(np.sqrt(2 / 9 / lead.draws), rel=0.02)
    assert lead.metric_flip.weights == pytest.approx([1 / 3, 2 / 3])
    assert lead.metric_flip.distance == pytest.approx(1 / 3)
    assert lead.judge_flip is None
    other = weight_proof([[0.5, 0.5]], [[0.7, 0.4]], [1, 1], [1])
    assert other.leader == "B"
    assert other.share == pytest.approx(1 - lead.share)
    assert other.metric_flip == lead.metric_flip


def test_a_lead_on_everything_needs_no_draws():
    proof = weight_proof([[0.7, 0.5], [0.6, 0.5]], [[0.5, 0.5], [0.2, 0.4]], [1, 2], [1, 1])
    assert (proof.leader, proof.share, proof.error, proof.draws) == ("A", 1.0, 0.0, 0)
    assert proof.metric_flip is proof.judge_flip is None
    assert len(proof.reasons) == 2
    level = weight_proof([[0.5]], [[0.5]], [1], [1])
    assert (level.leader, level.share) == (None, 0.5)


def test_missing_scores_are_left_out_of_both():
    A, B = [[0.9, NAN], [0.8, 0.3]], [[0.5, 0.9], [0.6, 0.4]]
    proof = weight_proof(A, B, [1, 1], [1, 1])
    assert proof.leader == "A"
    assert proof.metric_flip.weights == pytest.approx([0.25, 0.75])
    assert proof.judge_flip is None
    assert any("not every judge" in reason for reason in proof.reasons)
    nothing = weight_proof([[NAN]], [[0.5]], [1], [1])
    assert nothing.share is nothing.leader is None
    assert nothing.reasons

"""Two contestants compared from the command line: every verdict, every way to name a side, and numbers made anew."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from itertools import product
from statistics import mean

import numpy as np
import pytest
from tests.conftest import UserProject

from orvl.cli.compare import command
from orvl.errors import UserError
from orvl.pipeline import compare as compare_both
from orvl.plan.selection import Selection
from orvl.project import open_project
from orvl.rate.stats.paired import paired
from orvl.report.comparison import comparison_json, print_comparison, share
from orvl.report.terminal import Terminal
from orvl.store.sqlite import SqliteStore

AGENT = """
import json
from pathlib import Path

MADE_ONCE = ("master",)

ROOT = Path(__file__).parents[1]
models = MODELS
version = f"cat {ROOT}/version.txt"

def command(prompt, model, provider, arguments):
    every = json.loads((ROOT / "values.json").read_text())
    name = "NAME" + ("+terse" if arguments else "")
    values = (every.get(f"{name} {model} {provider}") or every[name])[prompt.strip()]
    if values is None:
        return ["/no/such/program"]
    seen = ROOT / "seen" / f"{name} {model} {provider} {prompt.strip()}"
    seen.parent.mkdir(exist_ok=True)
    number = len(seen.read_text()) if seen.exists() else 0
    seen.write_text("." * (number + 1))
    return ["sh", "-c", 'printf %s "$1" > answer.txt', "sh", json.dumps(values[number % len(values)])]

def read():
    return {"usage": {"cost_usd": COST}}
"""
METRIC = 'import json\n\ndef score(run):\n    return json.loads(run.read("answer.txt"))[{place}]\n'
A = [0.95, 0.93, 0.96, 0.92, 0.95, 0.9, 0.94, 0.96]
B = [0.21, 0.2, 0.22, 0.2, 0.21, 0.2, 0.23, 0.2]
ONE_MODEL = {"none": ["m1"]}


def agent(project, name, models=ONE_MODEL, cost="0.01"):
    text = AGENT.replace("NAME", name).replace("MODELS", repr(models)).replace("COST", cost)
    project.agent(name, text)


def tasks(project, number, head="{x: 1, y: 1}"):
    """Evals whose ratings are what a table says that the agent is to write."""
    project.write("version.txt", "the-agent 1.0.1\n")
    for place, name in enumerate("xy"):
        project.score(name, METRIC.format(place=place))
    for one in range(number):
        project.eval(f"e{one:02}", f"---\nmetrics: {head}\n---\nTask {one}.\n")


def values(project, **tables):
    """For each contestant a number, a pair [x, y], or a list of such by episode, for each eval; None is an error."""
    told = {
        name.replace("__", " ").replace("_plus_", "+"): {f"Task {i}.": _episodes(one) for i, one in enumerate(table)}
        for name, table in tables.items()
    }
    path = project.root / "values.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(known | told))


def _episodes(one):
    if one is None:
        return None
    many = one if isinstance(one, tuple) else (one,)
    return [episode if isinstance(episode, list) else [episode, episode] for episode in many]


def run(project, agents, *words, status=0, evals="e*"):
    done = project.orvl(agents, f"--eval={evals}", "--sandbox=none", "-q", "--json", "--concurrency=1", *words)
    assert done.status == status, done.err
    return done


def compared(project, a, b, *words, columns=160):
    """What `compare --json` writes, and what `compare` prints, without a process for it."""
    given = command.make_context("compare", [a, b, *words]).params
    opened = open_project(project.root)
    with SqliteStore(project.root / ".orvl", write=False) as store:
        places = ("model", "provider", "eval", "metric")
        selection = Selection(**{place: ",".join(given[place]) or "all" for place in places})
        found = compare_both(opened, store, a, b, selection, given["judge"])
    out = StringIO()
    print_comparison(Terminal(out, columns), found)
    return json.loads(json.dumps(comparison_json(found), allow_nan=False)), out.getvalue()


def refused(project, a, b, *words):
    with pytest.raises(UserError) as caught:
        command.main([a, b, *words, f"--project={project.root}"], standalone_mode=False)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """Eight evals; good is far above bad, near is beside good; two models, of which the second is worse."""
    project = UserProject(tmp_path_factory.mktemp("compare") / "project")
    tasks(project, 8)
    for name in ("good", "bad", "near"):
        agent(project, name, {"none": ["m1", "m2"]} if name != "near" else ONE_MODEL)
    near = [one + step for one, step in zip(A, (0.02, -0.03, 0.01, -0.04, 0.03, -0.01, 0.02, -0.02), strict=True)]
    values(
        project,
        good__m1__none=A,
        bad__m1__none=B,
        near=near,
        good__m2__none=[one - 0.2 - i / 100 for i, one in enumerate(A)],
        bad__m2__none=[one - 0.2 + i / 100 for i, one in enumerate(B)],
    )
    run(project, "good,bad,near")
    return project


@pytest.fixture
def stored(master, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(master.root, project.root, dirs_exist_ok=True)
    return project


# -- verdicts


def test_better_and_worse_are_one_verdict_from_two_sides(master):
    found, text = compared(master, "good m1", "bad m1")
    differences = [a - b for a, b in zip(A, B, strict=True)]
    assert found["verdict"] == "BETTER"
    assert text.startswith("BETTER: good m1 is better than bad m1.\n")
    whole = found["difference"]
    assert whole["mean"] == pytest.approx(mean(differences))
    assert whole["interval"][0] > 0 and whole["e_value"] >= found["needed_e"] == 20
    assert (
        whole["interval"][0] <= whole["one_look_interval"][0] <= whole["one_look_interval"][1] <= whole["interval"][1]
    )
    assert whole["sign_flip_p"] == 2 / 2**8
    assert whole["p_used"] == pytest.approx(1 / whole["e_value"]) and whole["one_look_p"] <= whole["p_used"] <= 0.05
    assert whole["quick_p"] == max(whole["p"], whole["sign_flip_p"])
    assert found["more_evals"] is None and "more eval" not in text
    ends = " to ".join(f"{end:+.3f}" for end in whole["interval"])
    assert f"good m1 − bad m1: {whole['mean']:+.3f} ({ends}), over 8 evals" in text
    assert f"The e-value is {whole['e_value']:.3g} (20 are enough)." in text
    assert "however often you look" in text and "One look planned beforehand would have said: BETTER (p = " in text
    flat = " ".join(text.split())
    assert "Quick tests, which assume that no rare collapse was missed, say: BETTER (p = 0.008, e = " in flat
    other, text = compared(master, "bad m1", "good m1")
    assert other["verdict"] == "WORSE" and text.startswith("WORSE: bad m1 is worse than good m1.\n")
    assert other["difference"]["mean"] == -whole["mean"]
    assert other["difference"]["interval"] == pytest.approx([-end for end in reversed(whole["interval"])])


def test_no_evidence_says_how_many_more_evals_would_do(master):
    found, text = compared(master, "near", "good m1")
    assert found["verdict"] == "NOT ENOUGH EVIDENCE" and not found["equivalent"]
    assert text.startswith("NOT ENOUGH EVIDENCE: near and good m1 cannot be told apart.")
    assert found["difference"]["p_used"] > 0.05
    assert "would have said: not enough evidence (p = " in text
    differences = np.tile([one["difference"] for one in found["evals"]], 1 + found["more_evals"] // 8)
    assert paired(differences[:-8]).e_value < 20 < paired(np.tile(differences, 2)).e_value
    assert f"About {found['more_evals']:,} more evals would settle it".replace(",", "") in text
    assert "ahead" not in text and "weights" not in text, "of two that cannot be told apart neither leads"


def test_a_difference_that_is_the_same_everywhere_is_settled_by_more_of_the_same(master):
    found, text = compared(master, "m1", "m2")
    assert [one["difference"] for one in found["evals"]] == pytest.approx([0.2] * 8)
    assert found["verdict"] == "NOT ENOUGH EVIDENCE" and found["more_evals"] == 15
    assert "level" not in text and "About 15 more evals would settle it, if they go as these did." in text


def test_equivalent_is_said_where_it_is_shown(master):
    found, text = compared(master, "near", "good m1")
    assert found["within"] == 0.05 and "equivalent" not in text.split("One look")[0]
    told = master.orvl("compare", "near", "good m1", "--within=0.6", "--json").json
    assert (told["verdict"], told["within"], told["equivalent"]) == ("EQUIVALENT", 0.6, True)
    text = master.orvl("compare", "near", "good m1", "--within=0.6").out
    assert text.startswith("EQUIVALENT: near and good m1 are equivalent within ±0.6.")
    assert "ahead" not in text and "would settle it" not in text


def test_related_evals_are_one_piece_of_evidence(stored):
    before, _ = compared(stored, "good m1", "bad m1")
    for one in range(8):
        family = "family: pair\n" if one < 2 else ""
        stored.eval(f"e{one:02}", f"---\nmetrics: {{x: 1, y: 1}}\n{family}---\nTask {one}.\n")
    after, text = compared(stored, "good m1", "bad m1")
    assert after["difference"]["mean"] == before["difference"]["mean"]
    assert (after["difference"]["n"], after["difference"]["families"]) == (8, 7)
    assert after["difference"]["e_value"] < before["difference"]["e_value"]
    assert after["verdict"] == "NOT ENOUGH EVIDENCE" and "over 8 evals of 7 families that both" in text
    for one in range(8):
        (stored.root / f"evals/e{one:02}.md").unlink()
        stored.write(f"evals/group{one // 4}/e{one:02}.md", f"---\nmetrics: {{x: 1, y: 1}}\n---\nTask {one}.\n")
    grouped, text = compared(stored, "good m1", "bad m1")
    assert grouped["difference"]["families"] == 2, "a folder of evals is a family"
    assert "Fewer than 6 families of evals cannot settle it: add at least 4." in text
    row = stored.orvl("report", "good", "--model=m1", "--json").json["ratings"][0]
    assert row["families"] == 2 and row["interval"][1] - row["interval"][0] > 0.6
    assert "in 2 families" in stored.orvl("report", "good", env={"COLUMNS": "160"}).out


def test_few_evals_settle_nothing(master):
    found, text = compared(master, "good m1", "bad m1", "--eval=e00,e01,e02,e03,e04")
    assert found["verdict"] == "NOT ENOUGH EVIDENCE" and found["difference"]["p_used"] > 0.05
    assert "Fewer than 6 evals cannot settle it: add at least 1." in text
    assert "e-value is" not in text
    found, text = compared(master, "good m1", "bad m1", "--eval=e00,e01")
    assert found["difference"]["n"] == 2 and found["difference"]["interval"] is not None
    found, text = compared(master, "good m1", "bad m1", "--eval=e00")
    assert found["difference"]["interval"] is None
    assert "+0.740 (one eval has no interval), over 1 eval that both" in text
    assert found["difference"]["p_used"] == 1 and not found["difference"]["significant"]


def test_equals_are_level(project):
    tasks(project, 6)
    for name in ("one", "two"):
        agent(project, name, {"shop": ["m1"]}, cost="None")
    values(project, one=[0.5] * 6, two=[0.5] * 6)
    run(project, "one,two")
    found, text = compared(project, "one", "two")
    assert found["verdict"] == "NOT ENOUGH EVIDENCE" and found["difference"]["mean"] == 0
    assert "The two are level on these: only more evals can show that they are equivalent." in text
    assert "They differ most" not in text
    assert found["weights"]["share_a_wins"] == 0.5 and "ahead" not in text
    assert found["usage"]["a"]["cost_usd"] is None
    assert "one: unknown and " in text, "an unknown cost is not 0"


# -- sides


@pytest.mark.parametrize(
    ("a", "b", "mean_of"),
    [
        ("good", "bad", "both models"),
        ("good all none", "bad", "both models"),
        ("go*", "[b]ad", "both models"),
        ("good m1 none", "bad m1 none", "m1"),
        ("good m1", "bad m2", "across"),
        ("m1", "m2", "models"),
    ],
)
def test_a_side_is_an_agent_a_model_a_contestant_or_a_glob(master, a, b, mean_of):
    found, text = compared(master, a, b)
    by_model = [mean(A), mean(B), mean(A) - 0.2 - 0.035, mean(B) - 0.2 + 0.035]
    wanted = {
        "both models": (by_model[0] - by_model[1] + by_model[2] - by_model[3]) / 2,
        "m1": by_model[0] - by_model[1],
        "across": by_model[0] - by_model[3],
        "models": 0.2,
    }[mean_of]
    assert found["difference"]["mean"] == pytest.approx(wanted)
    assert len(found["pairs"]) == (2 if mean_of in ("both models", "models") else 1)
    assert f"{a} − {b}: " in text, "brackets of a glob are not taken for colours"
    left_out = [one for one in found["warnings"] if "no counterpart" in one]
    assert left_out == (["Skipped, no counterpart: near m1 none."] if a == "m1" else [])


def test_who_has_no_counterpart_is_left_out_and_named(master):
    found, text = compared(master, "good", "near")
    assert found["pairs"] == [{"a": [["good", "m1", "none"]], "b": [["near", "m1", "none"]]}]
    assert "! Skipped, no counterpart: good m2 none." in text
    assert "Skipped, no counterpart: good m2 none." in found["warnings"]


def test_one_side_may_stand_for_several_and_says_so(master):
    found, text = compared(master, "[gn]*", "bad m1", "--model=m1")
    assert [len(pair["a"]) for pair in found["pairs"]] == [2]
    assert "[gn]* matches up to 2 contestants at once; their ratings are averaged." in text
    near = mean(A) - 0.0025
    assert found["difference"]["mean"] == pytest.approx((mean(A) + near) / 2 - mean(B))


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ("good", "good", "is compared with itself"),
        ("near", "near m1 none", "both stand for the same runs, of near m1 none"),
        ("*", "good", "both stand for the same runs, of good m1 none"),
        ("good", "m1", "both stand for the same runs, of good m1 none"),
        ("goood", "bad", "did you mean"),
        ("good m3", "bad", "The store has no model 'm3'"),
        ("a b c d", "bad", "is no contestant"),
        (" ", "bad", "is no contestant"),
        ("good@1.0.2", "bad", "The store has no agent, model or provider 'good@1.0.2'"),
        ("good m2", "near m1", None),
        ("good[", "bad", "The store has no agent, model or provider"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_a_sentence(master, a, b, why):
    if why is None:
        assert compared(master, a, b)[0]["difference"]["n"] == 8
        return
    told = refused(master, a, b)
    assert why.lower() in told.lower()


def test_a_narrowing_word_that_fits_nothing_is_refused(master):
    assert "no eval 'e77'" in refused(master, "good", "bad", "--eval=e77")
    assert "no judge" in refused(master, "good", "bad", "--judge=nobody")
    assert "The store has no model 'm2'" in refused(master, "good m2", "near", "--model=m1")


def test_without_a_store_or_without_runs_it_is_said(project):
    tasks(project, 2)
    done = project.orvl("compare", "a", "b")
    assert done.status == 2 and len(done.err.splitlines()) <= 2, done.err


def test_versions_are_whole_numbers_not_beginnings_of_others(stored):
    run(stored, "near")
    for version, change in (("1.0.10", 0.3), ("11.0.1", 0.5)):
        stored.write("version.txt", f"the-agent v{version} (build 7)\n")
        values(stored, near=[one - change for one in A])
        run(stored, "near")
    found, _ = compared(stored, "near@1.0.1", "near@1.0.10")
    assert found["difference"]["mean"] == pytest.approx(0.3 - 0.0025)
    found, _ = compared(stored, "near@11.0.1 m1", "near@1.0.10 m1 none")
    assert found["difference"]["mean"] == pytest.approx(-0.2)
    found, _ = compared(stored, "near", "near@1.0.1")
    assert found["difference"]["mean"] == pytest.approx(-0.5 + 0.0025), "without a version it is the newest"
    assert "both stand for the same runs" in refused(stored, "near", "near@11.0.1")
    assert "The store has no agent" in refused(stored, "near@1.0", "near@1.0.10")


def test_an_overlay_is_compared_with_none(stored):
    stored.write("overlays/terse/overlay.toml", 'arguments = ["--terse"]\n')
    values(stored, near_plus_terse=[one - 0.7 - i / 50 for i, one in enumerate(A)])
    run(stored, "near+terse")
    found, text = compared(stored, "near", "near+terse")
    assert found["verdict"] == "BETTER"
    assert text.startswith("BETTER: near is better than near+terse.")
    assert found["difference"]["mean"] == pytest.approx(0.7 + 0.07 - 0.0025)


# -- what is missing


def test_evals_that_one_lacks_and_errors_and_unrated_runs_are_left_out(project):
    tasks(project, 8)
    for name in ("one", "two"):
        agent(project, name)
    values(project, one=[*A[:6], None, A[7]], two=[*B[:5], [None, None], B[6], B[7]])
    run(project, "one,two", evals="e0[0-57]", status=1)
    run(project, "one,two", evals="e06", status=1)
    found, text = compared(project, "one", "two")
    used = [i for i in range(8) if i not in (5, 6)]
    assert {one["eval"] for one in found["evals"]} == {f"e{i:02}" for i in used}
    assert found["difference"]["mean"] == pytest.approx(mean(A[i] - B[i] for i in used))
    assert "over 6 evals that both are rated on" in text
    assert (found["usage"]["a"]["runs"], found["usage"]["a"]["rated"]) == (6, 6)
    assert "There is no eval that both one and two have a rating on." in refused(project, "one", "two", "--eval=e06")


def test_episodes_are_averaged_inside_an_eval_and_a_price_is_by_all_that_was_run(project):
    tasks(project, 6)
    agent(project, "one", cost="0.01")
    agent(project, "two", cost="0.03")
    both = [(a, a - 0.2) for a in A[:6]]
    values(project, one=[(*pair, [None, None]) for pair in both], two=B[:6])
    run(project, "one", "--episodes=3", status=1)
    run(project, "two")
    found, text = compared(project, "one", "two")
    assert found["difference"]["mean"] == pytest.approx(mean(a - 0.1 - b for a, b in zip(A[:6], B[:6], strict=True)))
    assert (found["usage"]["a"]["runs"], found["usage"]["a"]["rated"]) == (18, 12)
    assert found["usage"]["a"]["cost_usd"] == pytest.approx(0.18)
    assert "one: $0.0100 and " in text and "two: $0.0300 and " in text
    assert "per run (18 runs)" in text and "per run (6 runs)" in text


def test_a_rating_without_a_metric_is_warned_of(project):
    tasks(project, 6)
    for name in ("one", "two"):
        agent(project, name)
    values(project, one=[[a, None] for a in A[:6]], two=[[b, 1.0] for b in B[:6]])
    run(project, "one,two")
    found, text = compared(project, "one", "two")
    warning = "Some runs of one are rated without y: there R is of the other metrics alone."
    assert warning in found["warnings"] and warning in " ".join(text.split())
    assert not [one for one in found["warnings"] if "of two are rated" in one]
    assert found["metrics"]["y"]["n"] == 0 and found["metrics"]["y"]["mean"] is None
    row = next(line for line in text.splitlines() if line.strip().startswith("y "))
    assert row.split() == ["y", "–", "0", "–"], "what is missing is not 0"
    only, _ = compared(project, "one", "two", "--metric=x")
    assert not [one for one in only["warnings"] if "rated without" in one]


# -- weights


def brute_force(lead, draws=40_000):
    random = np.random.default_rng(5)
    w, v = (random.dirichlet(np.ones(size), draws) for size in lead.shape)
    return float((np.einsum("ni,ij,nj->n", w, lead, v) > 0).mean())


def test_the_share_of_weights_and_the_nearest_flip_are_those_of_brute_force(project):
    tasks(project, 7, "{x: 9, y: 1}")
    for name in ("one", "two"):
        agent(project, name)
    values(project, one=[[1.0, 0.2 + i / 100] for i in range(7)], two=[[0.03 - i / 300, 0.6] for i in range(7)])
    run(project, "one,two")
    found, text = compared(project, "one", "two")
    lead = np.array([[0.97 + 0.01, -0.4 + 0.03]])
    assert found["verdict"] == "BETTER"
    weights = found["weights"]
    assert weights["share_a_wins"] == pytest.approx(brute_force(lead), abs=0.015)
    assert weights["share_a_wins"] == pytest.approx(1 - 0.37 / 1.35, abs=0.015)
    # With two metrics the flip is where x * 0.98 = (1 - x) * 0.37.
    flip = weights["metric_flip"]
    assert flip["weights"]["x"] == pytest.approx(0.37 / 1.35, abs=1e-6)
    assert flip["distance"] == pytest.approx(2 * (0.9 - 0.37 / 1.35), abs=1e-6)
    assert weights["judge_flip"] is None
    assert f"The nearest metric weights that reverse this: x {0.37 / 1.35:.2f}, y {0.98 / 1.35:.2f}." in text
    assert "judge" not in text.replace("tested the judges", "").replace("certify", "")
    narrowed, _ = compared(project, "one", "two", "--metric=y")
    assert narrowed["difference"]["mean"] == pytest.approx(-0.37) and set(narrowed["metrics"]) == {"y"}


def test_judges_whose_word_does_not_count_have_no_weights_to_turn(project):
    tasks(project, 6, "{x: 1, tidy: 1}")
    project.score(
        "tidy",
        """
        import json

        def score(run, judge):
            x = json.loads(run.read("answer.txt"))[0]
            return {"fond": x, "cross": 1 - x, "silent": 0.5}[judge.name]
        """,
    )
    toml = "".join(
        f'[judges.{name}]\nmodel = "fixed"\nweight = {weight}\n\n'
        for name, weight in (("fond", 2), ("cross", 1), ("silent", 0))
    )
    project.toml(toml)
    for name in ("one", "two"):
        agent(project, name)
    values(project, one=[0.8] * 5 + [0.7], two=[0.3] * 5 + [0.4])
    run(project, "one,two")
    found, text = compared(project, "one", "two")
    step = mean([0.5] * 5 + [0.3])
    assert found["difference"]["mean"] == pytest.approx((step + step / 3) / 2)
    weights = found["weights"]
    assert weights["share_a_wins"] == pytest.approx(brute_force(np.array([[-step, step], [step, step]])), abs=0.015)
    assert weights["judge_flip"] is None, "x outweighs what cross says"
    assert "silent" not in text
    fond, _ = compared(project, "one", "two", "--judge=fond", "--metric=tidy")
    assert fond["difference"]["mean"] == pytest.approx(step)
    cross, text = compared(project, "one", "two", "--judge=cross", "--metric=tidy")
    assert cross["difference"]["mean"] == pytest.approx(-step)
    assert cross["weights"]["share_a_wins"] == 0 and "ahead" not in text


def test_all_and_none_of_the_weights_are_said_of_nothing_less():
    assert [share(value) for value in (0, 0.004, 0.5, 0.996, 1)] == [
        *("0 %", "less than 1 %", "50 %", "more than 99 %", "100 %"),
    ]


def test_metrics_that_do_not_count_on_every_eval_are_not_given_other_weights(project):
    tasks(project, 6)
    project.eval("e05", "---\nmetrics: {x: 1}\n---\nTask 5.\n")
    for name in ("one", "two"):
        agent(project, name)
    values(project, one=[1.0] * 6, two=[0.0] * 6)
    run(project, "one,two")
    found, text = compared(project, "one", "two")
    assert found["metrics"]["y"]["n"] == 5 and found["metrics"]["x"]["n"] == 6
    assert "one is ahead under 100 % of all possible metric weights of x, which count on every eval." in text


def test_all_of_it_fits_into_80_columns(master):
    found, wide = compared(master, "good", "bad")
    assert master.orvl("compare", "good", "bad", env={"COLUMNS": "160"}).out == wide
    assert master.orvl("compare", "good", "bad", "--json").json == found
    _, text = compared(master, "good", "bad", columns=80)
    assert max(map(len, text.splitlines())) <= 80
    whole = found["difference"]
    ends = " to ".join(f"{end:+.3f}" for end in whole["interval"])
    assert text.count(f"{whole['mean']:+.3f} ({ends})") == 3


def test_verdicts_agree_between_text_and_json_for_all_pairs(master):
    for a, b in product(("good m1", "bad m2", "near"), repeat=2):
        if a != b:
            found, text = compared(master, a, b)
            assert text.startswith(found["verdict"] + ": ")
            assert f"{found['difference']['mean']:+.3f}" in text

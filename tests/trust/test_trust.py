"""What stands beside ratings, from the command line, against numbers made anew: winners, floors, judges, prices, merit, people."""

from __future__ import annotations

import json
import shutil
from io import StringIO
from statistics import mean

import pytest
from test_compare import agent, compared, run, tasks, values
from tests.conftest import UserProject

from helpers.ladders import BUGS, GOOD, LINES, PATCH
from orvl.plan.selection import Selection, chosen_metrics, stored_matcher
from orvl.project import open_project
from orvl.report.ratings_json import report_json
from orvl.report.table import print_ratings
from orvl.report.terminal import Terminal
from orvl.report.trust_text import sentences
from orvl.store.sqlite import SqliteStore
from orvl.trust.rated_board import rated_board

WORKS = f'''
"""Is the work right?"""
import json

MADE_ONCE = ("certified", "panel")

LINES = {LINES!r}

def score(run):
    if "answer.txt" in run.files:
        return json.loads(run.read("answer.txt"))[0]
    if "tools.py" not in run.files:
        return 0.0
    there = run.read("tools.py").splitlines()
    return sum(line in there for line in LINES) / len(LINES)
'''


def report(project, *judges, columns=160, **words):
    """What `report --json` writes under ratings and trust, and what `report` prints, without a process for it."""
    opened = open_project(project.root)
    with SqliteStore(project.root / ".orvl", write=False) as store:
        known = [cell.names for cell in store.cells()]
        asked = Selection(**words)
        keep, metrics = stored_matcher(opened, asked, known), chosen_metrics(opened, asked)
        board, rows, beside = rated_board(opened, store, keep, judges, metrics, "agent")
    out = StringIO()
    console = Terminal(out, columns)
    print_ratings(console, rows, board, sentences(beside, board.standing))
    told = report_json(rows, board, beside, "agent")
    return json.loads(json.dumps(told, allow_nan=False)), out.getvalue()


def row(told, name):
    return next(one for one in told["ratings"] if f"{one['agent']} {one['model']} {one['provider']}".startswith(name))


# -- winners


@pytest.fixture(scope="module")
def certified(tmp_path_factory):
    """Nine evals with controls, rated by a program that they have tested; three agents of which two are level."""
    project = UserProject(tmp_path_factory.mktemp("trust") / "project")
    project.toml('[sandbox]\nuse = "none"\n')
    tasks(project, 0)
    project.score("works", WORKS)
    for one in range(9):
        name = f"e{one:02}"
        project.write(f"evals/{name}/eval.md", f"---\nmetrics: {{works: 1}}\n---\nTask {one}.\n")
        project.write(f"evals/{name}/controls/good/tools.py", GOOD)
        project.write(f"evals/{name}/controls/bad/tools.py", "def nothing():\n    pass\n")
        for number, (at, old, new) in BUGS.items():
            project.write(f"evals/{name}/controls/bugs/{number}.patch", PATCH.format(at=at, old=old, new=new))
    for name in ("first", "second", "third", "late"):
        agent(project, name)
    first = [0.95, 0.96, 0.94, 0.97, 0.95, 0.96, 0.96, 0.95, 0.96]
    values(
        project,
        first=first,
        second=[
            one + step for one, step in zip(first, (0.02, -0.03, 0.01, -0.04, 0.03, -0.01, 0.02, 0, 0), strict=True)
        ],
        third=[one - 0.93 + i / 1000 for i, one in enumerate(first)],
        late=[0.99] * 9,
    )
    run(project, "first,second,third,empty")
    run(project, "late", evals="e0[0-2]")
    done = project.orvl("certify", "--json", "--gate", "--episodes=1", "--eval=e*")
    assert done.status == 0, done.err[-1500:] + done.out[-1500:]
    return project


def test_imported_results_have_numbers_but_no_rank_and_change_nobodys(certified, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(certified.root, project.root, dirs_exist_ok=True)
    before, _ = report(certified)
    lines = [f"elsewhere,m1,none,e{one:02},0.9,0.001" for one in range(9)]
    project.write("results.csv", "\n".join(["agent,model,provider,eval,score,cost", *lines]))
    assert project.orvl("import", "results", "results.csv").status == 0
    told, text = report(project)
    assert told["certificate"] == before["certificate"]
    own = [one for one in told["ratings"] if not one["imported"]]
    assert own == before["ratings"]
    imported = row(told, "imported:elsewhere")
    assert imported["R"] == pytest.approx(0.9) and imported["rank"] is None and imported["floor"] is None
    for name in ("winners", "untested", "components", "next"):
        assert told["trust"][name] == before["trust"][name]
    assert {spot["agent"] for spot in told["trust"]["frontier"]} >= {"imported:elsewhere", "first"}
    assert "imported:elsewhere m1 none" in text
    found = project.orvl("compare", "imported:elsewhere", "third", "--json").json
    assert found["verdict"] == "BETTER" and found["weights"] is None


def test_imported_results_stand_beside_a_panel_of_judges(project):
    project.toml(
        "".join(
            f'[judges.{name}]\nmodel = "fixed"\nprovider = "none"\nanswers = "{said}"\n'
            for name, said in (("kind", "yes"), ("strict", "no"))
        )
    )
    project.score("neat", 'items = ["It is neat."]\n')
    for one in range(7):
        project.eval(f"e{one:02}", f"---\nmetrics: {{neat: 1}}\n---\nTask {one}.\n")
    project.agent("own", 'models = {"none": ["m1"]}\ndef command(prompt): return ["touch", "made"]\n')
    run(project, "own")
    before = project.orvl("report", "--json").json
    lines = [f"own,m1,none,e{one:02},1,0.5" for one in range(7)]
    project.write("results.csv", "\n".join(["agent,model,provider,eval,neat,scores.other", *lines]))
    assert project.orvl("import", "results", "results.csv").status == 0
    told = project.orvl("report", "--json").json
    assert row(told, "own") == row(before, "own") and row(told, "own")["one_judge_less"] == [0.0, 1.0]
    other = row(told, "imported:own")
    assert other["R"] == 0.75 and other["one_judge_less"] is None and other["metrics"]["neat"]["judges"] == {}
    assert told["trust"]["agreement"] == before["trust"]["agreement"]
    found = project.orvl("compare", "imported:own", "own", "--json").json
    assert found["difference"]["mean"] == pytest.approx(0.25)
    assert found["metrics"]["neat"]["mean"] == pytest.approx(0.5) and found["metrics"]["other"]["n"] == 0
    only = project.orvl("report", "--judge=kind", "--json").json
    assert row(only, "own")["R"] == 1.0 and row(only, "imported:own")["R"] == 0.75
    assert project.orvl("compare", "m1", "fixed", "--json").status == 2


def test_the_best_are_named_and_ranked_under_a_certificate(certified):
    told, text = report(certified)
    assert told["certificate"]["state"] == "certified"
    ranks = {one["agent"]: one["rank"] for one in told["ratings"]}
    assert (ranks["first"], ranks["second"], ranks["third"]) == (1, 1, 3)
    assert [one[0] for one in told["trust"]["winners"]] == ["first", "second"]
    assert (
        "Best: first m1 none, second m1 none: none of these is shown to be worse than another "
        "(by an e-value of 60 against it, among 4)." in text
    )
    assert [one[0] for one in told["trust"]["untested"]] == ["late"] and ranks["late"] is None
    assert "Not ranked (fewer than 6 evals in common with anybody): late m1 none." in text
    assert ranks["empty"] is None, "a control is in no ranking"
    done = certified.orvl("report", "--json")
    assert done.json == told
    assert certified.orvl("report", env={"COLUMNS": "160"}).out == text


def test_one_winner_and_nobody_at_all(certified):
    told, text = report(certified, agent="first,third")
    assert (
        "Best: first m1 none. All others that are ranked are shown to be worse (an e-value of 20 against" in text
        and told["trust"]["winners"] == [["first", "m1", "none"]]
    )
    told, text = report(certified, agent="first,second")
    assert "Nobody leads: there is not enough evidence to tell the contestants apart (it takes an e-value" in text
    told, text = report(certified, agent="first,third", eval="e00,e01,e02,e03,e04")
    assert told["trust"]["winners"] == [] and {one["rank"] for one in told["ratings"]} == {None}
    assert "Nobody can lead yet: no two contestants share 6 evals on which both are rated." in text
    assert "Best" not in text
    told, text = report(certified, agent="first")
    assert told["trust"]["winners"] is None and "Best" not in text and "lead" not in text


def test_without_a_certificate_nobody_is_ranked(certified, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(certified.root, project.root, dirs_exist_ok=True)
    good = project.root / "evals/e00/controls/good/tools.py"
    good.write_text(good.read_text() + "\n# more\n")
    told, text = report(project)
    assert told["certificate"]["state"] == "stale"
    assert told["trust"]["winners"] is None and {one["rank"] for one in told["ratings"]} == {None}
    assert "Best" not in text and " # " not in text


def test_the_next_dollar_counts_what_a_comparison_counts(certified):
    told, text = report(certified, agent="first,second,third")
    found = told["trust"]["next"]
    pairs = [compared(certified, "first", other)[0]["difference"]["interval"] for other in ("second", "third")]
    half = sum((high - low) / 2 for low, high in pairs) / 2
    assert found["half_width"] == pytest.approx(half, rel=1e-6), "as compare has it"
    by_more = {step["more"]: step for step in found["steps"]}
    assert 0.85 * half < by_more["eval"]["half_width"] < 0.97 * half
    assert by_more["eval"]["price"] == pytest.approx(3 * 0.01)
    assert by_more["episode"]["half_width"] is None and "no cell has two episodes" in by_more["episode"]["reason"]
    assert "judge" not in by_more, "where there is no judge, none is called one"
    then = by_more["eval"]["half_width"]
    assert f"a difference over 9 evals: ±{half:.3f}; one more eval makes it ±{then:.3f} ($0.0300)." in text


# -- floors


def test_the_floor_is_what_nothing_earns_on_the_same_evals(project):
    tasks(project, 3)
    project.score(
        "x",
        "import json\n\ndef score(run):\n    files = run.files\n    "
        'return json.loads(run.read("answer.txt"))[0] if "answer.txt" in files else 0.2\n',
    )
    project.score("y", "def score(run):\n    return 0.2\n")
    agent(project, "one")
    agent(project, "two")
    values(project, one=[0.9, 0.6, 0.3], two=[0.1, 0.1, 0.1])
    run(project, "one,two")
    told, text = report(project)
    assert row(told, "one")["floor"] is None and "above floor" not in text
    run(project, "empty", evals="e0[01]")
    told, text = report(project)
    assert row(told, "one")["floor"] is None, "the empty control lacks an eval"
    run(project, "empty", evals="e02")
    told, text = report(project)
    assert row(told, "one")["floor"] == pytest.approx(0.2)
    assert row(told, "one")["above_floor"] == pytest.approx((0.4 - 0.2) / 0.8)
    assert row(told, "two")["above_floor"] == pytest.approx((0.15 - 0.2) / 0.8), "below the floor is not 0"
    assert row(told, "empty")["above_floor"] == pytest.approx(0)
    assert "Above floor: R measured from what the empty control gets on the same evals." in text


# -- judges


SHIFTS = {"anna": (0.2, -0.1, 0.05, 0.1), "bert": (-0.2, 0.15, 0.0, -0.1), "carl": (0.0, 0.1, -0.3, 0.02)}
WEIGHTS = {"anna": 2, "bert": 1, "carl": 1, "mute": 0}
WORTH = f"""
import json

SHIFTS = {SHIFTS!r}

def score(run, judge):
    x = json.loads(run.read("answer.txt"))[0]
    task = int(run.prompts[0].strip()[5:-1])
    if judge.name == "mute" or (judge.name, task) == ("carl", 3):
        return None if judge.name == "carl" else 0.0
    return x + SHIFTS[judge.name][task]
"""
PANEL = "".join(
    f"""
[providers.{name}-host]
protocol = "openai"
base_url = "http://127.0.0.1:9/v1"

[judges.{name}]
model = "{model}"
provider = "{name}-host"
weight = {WEIGHTS[name]}
"""
    for name, model in (
        ("anna", "claude-sonnet-4-5"),
        ("bert", "gpt-5"),
        ("carl", "moonshotai/kimi-k2"),
        ("mute", "o3"),
    )
)
MODELS = ("claude-opus-4", "gpt-5-mini", "plain")
X = {"claude-opus-4": (0.5, 0.6, 0.7, 0.4), "gpt-5-mini": (0.4, 0.5, 0.35, 0.6), "plain": (0.3, 0.55, 0.65, 0.5)}


@pytest.fixture(scope="module")
def panel(tmp_path_factory):
    """Three judges that count and one that does not, none of which asks a model; two episodes a cell."""
    project = UserProject(tmp_path_factory.mktemp("panel") / "project")
    tasks(project, 4, "{x: 1, worth: 3}")
    project.toml(PANEL)
    project.score("worth", WORTH)
    agent(project, "one", {"none": list(MODELS)}, cost="0.02")
    values(project, **{f"one__{model}__none": [(x, x + 0.1) for x in X[model]] for model in MODELS})
    run(project, "one", "--episodes=2")
    return project


def by_hand(model, without=()):
    """R over evals, without some judges."""
    judges = [name for name in SHIFTS if name not in without]
    by_eval = []
    for task in range(4):
        there = [name for name in judges if (name, task) != ("carl", 3)]
        weight = sum(WEIGHTS[name] for name in there)
        # Where nobody is left who answered, R is what programs measure.
        shift = sum(WEIGHTS[name] * SHIFTS[name][task] for name in there) / weight if there else 0.0
        by_eval.append(X[model][task] + 0.05 + 0.75 * shift)
    return mean(by_eval)


def test_one_judge_less_and_other_families_are_those_of_brute_force(panel):
    told, _ = report(panel)
    for model in MODELS:
        found = row(told, f"one {model}")
        assert found["R"] == pytest.approx(by_hand(model))
        less = [by_hand(model, [judge]) for judge in SHIFTS]
        assert found["one_judge_less"] == pytest.approx([min(less), max(less)])
        kin = {"claude-opus-4": "anna", "gpt-5-mini": "bert"}.get(model)
        assert found["other_families"] == (pytest.approx(by_hand(model, [kin])) if kin else None)
    only, _ = report(panel, "anna", "carl")
    assert row(only, "one claude")["other_families"] == pytest.approx(by_hand("claude-opus-4", ["anna", "bert"]))
    assert row(only, "one gpt")["other_families"] is None


def test_judges_that_do_not_count_are_not_among_the_judges(panel):
    told, text = report(panel)
    assert told["trust"]["judges"] == ["anna", "bert", "carl"]
    found = told["trust"]["agreement"]
    assert set(found) == {"worth", "R"}
    assert [one["judges"] for one in found.values()] == [3, 3]
    x = [value + step for model in MODELS for value in X[model] for step in (0, 0.1)]
    tasks_of = [task for _ in MODELS for task in range(4) for _ in range(2)]
    anna = mean(value + SHIFTS["anna"][task] for value, task in zip(x, tasks_of, strict=True))
    assert found["worth"]["means"][0] == pytest.approx(anna)
    assert found["R"]["means"] == pytest.approx(found["worth"]["means"]), "what programs measure is no agreement"
    apart = []
    for task in range(4):
        there = [SHIFTS[name][task] for name in SHIFTS if (name, task) != ("carl", 3)]
        apart.append(mean(abs(a - b) for i, a in enumerate(there) for b in there[:i]))
    assert found["worth"]["mean_absolute_difference"] == pytest.approx(mean(apart))
    assert (
        f"The judges: worth at most {found['R']['effective_judges']:.1f} independent ones of 3, {mean(apart):.2f} apart"
        in text
    )
    steps = {step["more"]: step["price"] for step in told["trust"]["next"]["steps"]}
    assert steps == {
        "eval": pytest.approx(3 * 2 * 0.02),
        "episode": pytest.approx(3 * 3 * 0.02) if told["trust"]["components"]["evals"] == 3 else pytest.approx(0.24),
        "judge": 0,
    }


def test_one_judge_alone_has_no_fellow_to_agree_with(panel):
    told, text = report(panel, "anna")
    assert told["trust"]["agreement"] == {} and told["trust"]["judges"] == ["anna"]
    assert {one["one_judge_less"] for one in told["ratings"]} == {None}
    assert row(told, "one claude")["other_families"] is None
    assert "The judges:" not in text
    judge = next(step for step in told["trust"]["next"]["steps"] if step["more"] == "judge")
    assert judge["half_width"] is None and "one judge" in judge["reason"]


def test_judges_who_all_abstained_rate_nothing(project):
    tasks(project, 2, "{worth: 1}")
    project.toml(PANEL)
    project.score("worth", "def score(run, judge):\n    return None\n")
    agent(project, "one")
    agent(project, "two")
    values(project, one=[0.5, 0.5], two=[0.5, 0.5])
    project.orvl("one,two", "--eval=e*", "--sandbox=none", "-q")
    told, text = report(project)
    assert {one["R"] for one in told["ratings"]} == {None}
    assert told["trust"]["components"] is None and told["trust"]["next"] is None
    assert told["trust"]["merit"]["reason"]
    assert "0.000" not in text and "Uncertainty" not in text and "The judges:" not in text


# -- small data


def test_little_data_gives_reasons_instead_of_numbers(project):
    tasks(project, 2)
    agent(project, "one")
    values(project, one=[0.5, 0.7])
    run(project, "one", evals="e00")
    told, text = report(project)
    assert told["trust"]["components"] is None and told["trust"]["next"] is None and told["trust"]["merit"] is None
    assert "Uncertainty" not in text
    run(project, "one")
    told, text = report(project)
    assert told["trust"]["components"]["contestants"] == 1
    low, high = told["ratings"][0]["interval"]
    assert f"Uncertainty of R over 2 evals: ±{(high - low) / 2:.3f};" in text, "as the table has it"
    agent(project, "two")
    values(project, two=[0.4, 0.2])
    run(project, "two")
    told, text = report(project)
    low, high = compared(project, "one", "two")[0]["difference"]["interval"]
    assert f"Uncertainty of a difference over 2 evals: ±{(high - low) / 2:.3f};" in text
    assert "one more eval makes it ±" in text or "one more eval changes nothing ($" in text
    assert max(map(len, report(project, columns=80)[1].splitlines())) <= 80


def test_equals_have_nothing_to_be_told(project):
    tasks(project, 6)
    for name in ("one", "two"):
        agent(project, name, {"none": ["m1", "m2"]})
    values(project, one=[0.5] * 6, two=[0.5] * 6)
    run(project, "one,two")
    told, text = report(project)
    assert told["trust"]["merit"]["reason"] == "The contestants do not differ beyond noise."
    assert "Share of the variance" not in text
    assert "Uncertainty of a difference over 6 evals: ±0." in text, "equal on six evals is not equal"


# -- merit


def test_merit_is_shared_on_a_crossed_grid_and_refused_on_another(project):
    tasks(project, 6)
    for name in ("one", "two"):
        agent(project, name, {"none": ["m1", "m2"]})
    noise = (0.01, -0.01, 0.02, -0.02, 0.005, -0.005)
    for (a, m), step in {(0, 0): 1, (0, 1): -1, (1, 0): -1, (1, 1): 1}.items():
        name = f"{('one', 'two')[a]}__{('m1', 'm2')[m]}__none"
        values(project, **{name: [0.3 + 0.4 * a + 0.2 * m + step * one for one in noise]})
    run(project, "one,two")
    told, text = report(project)
    parts = {part["name"]: part for part in told["trust"]["merit"]["parts"]}
    assert parts["agent"]["share"] == pytest.approx(0.8, abs=0.01)
    assert parts["model"]["share"] == pytest.approx(0.2, abs=0.01)
    assert parts["interaction"]["share"] == pytest.approx(0, abs=0.01)
    assert parts["provider"]["reason"] == "Only one provider."
    assert "Share of the variance between contestants: agent 80% (" in text
    apart, text = report(project, agent="one,two", model="m1")
    assert apart["trust"]["merit"]["reason"] == "Only the agent varies." and "Share of the variance" not in text


# -- prices


def test_a_price_that_one_contestant_hides_is_unknown(project):
    tasks(project, 3)
    agent(project, "one", {"shop": ["m1"]}, cost="0.5")
    agent(project, "two", {"shop": ["m1"]}, cost="None")
    values(project, one=[0.8, 0.82, 0.79], two=[0.7, 0.73, 0.72])
    run(project, "one,two", "--budget=100", "--yes")
    told, text = report(project)
    assert {step["price"] for step in told["trust"]["next"]["steps"]} == {None}
    assert "(price unknown)" in text
    told, text = report(project, agent="one")
    assert {step["more"]: step["price"] for step in told["trust"]["next"]["steps"]}["eval"] == pytest.approx(0.5)


def test_cost_and_time_have_intervals_and_cost_against_quality_a_frontier(project):
    tasks(project, 4)
    prices = {"cheap": "0.01", "good": "0.05", "dear": "0.09", "silent": "None"}
    for name, cost in prices.items():
        agent(project, name, {"shop": ["m1"]}, cost=cost)
    values(project, cheap=[0.4, 0.5, 0.4, 0.6], good=[0.8, 0.9, 0.8, 0.9], dear=[0.7, 0.8, 0.7, 0.9], silent=[0.9] * 4)
    run(project, ",".join(prices), "--budget=100", "--yes")
    told, text = report(project)
    found = {spot["agent"]: spot for spot in told["trust"]["frontier"]}
    assert list(found) == ["cheap", "good", "dear"], "without a price there is no place on it"
    assert {name: spot["on_frontier"] for name, spot in found.items()} == {"cheap": True, "good": True, "dear": False}
    assert found["dear"]["dominated_by"] == ["good", "m1", "shop"]
    flat = " ".join(text.split())
    assert "the frontier: cheap m1 shop ($0.0100 a run, R 0.475), good m1 shop ($0.0500 a run, R 0.850)." in flat
    assert "dear m1 shop costs $0.0900 a run and is no better than good m1 shop." in flat
    assert row(told, "good")["cost_per_run"] == {"mean": 0.05, "interval": pytest.approx([0.05, 0.05]), "evals": 4}
    seconds = row(told, "good")["seconds_per_run"]
    assert seconds["interval"][0] <= seconds["mean"] <= seconds["interval"][1]
    assert row(told, "silent")["cost_per_run"] is None
    run(project, "good", "--episodes=2", "--budget=100", "--yes", evals="e00")
    assert row(report(project)[0], "good")["cost_per_run"]["mean"] == pytest.approx(0.05), "per run, eval by eval"


# -- people


def test_what_people_say_stands_in_the_report(panel, tmp_path):
    project = UserProject(tmp_path / "project")
    shutil.copytree(panel.root, project.root, dirs_exist_ok=True)
    told, text = report(project)
    assert told["trust"]["people"] is None and "people" not in text
    with SqliteStore(project.root / ".orvl", write=True) as store:
        attempts = [number for (number,) in store.rows("SELECT id FROM attempt ORDER BY id")]
        for number in attempts[:6]:
            store.add_label(number, "worth", "ann\x1b[31m", 0.5, None, "drawn at random")
        store.db.commit()
    told, text = report(project)
    found = told["trust"]["people"]
    assert found["labels"] == 6
    assert {one["metric"] for one in found["corrected"]} == {"R", "worth"}
    assert "worth: rated " in text and "people say 0.500 on 6 runs" in text
    assert "worth: the judge anna against people on 6 runs" in text
    assert "\x1b" not in text
    done = project.orvl("report", "--json")
    assert done.json["trust"]["people"] == found
    assert "people" not in project.orvl("report", "--by=eval").out

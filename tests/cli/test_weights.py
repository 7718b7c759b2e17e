"""Which metrics count how much: all that apply, the project's weights, and what an eval overrides."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.user_project import UserProject

SANDBOX = "none"


@pytest.fixture
def weighed(project: UserProject) -> UserProject:
    project.agent(
        "writer", "models = {'none': ['fixed']}\ndef command(prompt): return ['sh', '-c', 'echo hi > a.txt']\n"
    )
    project.score("low", "def score(run): return 0.2\n")
    project.score("high", "def score(run): return 0.8\n")
    return project


def row(project: UserProject, *flags: str) -> Any:
    done = project.orvl("writer", "--json", *flags)
    assert done.status == 0, done.err
    return done.json["ratings"][0]


def weights(project: UserProject) -> dict[str, float]:
    return {name: metric["weight"] for name, metric in row(project)["metrics"].items() if metric["weight"]}


def test_an_eval_that_names_no_metrics_has_all_that_apply_judges_included(weighed):
    weighed.eval("one", "---\nchecks: [{name: a, run: 'true'}]\n---\nDo it.\n")
    # Of 20 points speed and cost have one each, and checks the rest; metrics of the project's own come on top.
    points = {"checks": 18, "speed": 1, "cost": 1, "high": 1, "low": 1}
    assert weights(weighed) == pytest.approx({name: number / 22 for name, number in points.items()})
    weighed.toml('[judges.a]\nanswers = "yes"\n')
    points |= {"checks": 13, "code-quality": 2, "readability": 1, "scope": 2}
    assert weights(weighed) == pytest.approx({name: number / 22 for name, number in points.items()})
    weighed.eval("one", "Do it.\n")
    del points["checks"]
    points |= {"functionality": 9, "bugs": 2, "missing-cases": 2}
    assert weights(weighed) == pytest.approx({name: number / 22 for name, number in points.items()})
    weighed.toml("")
    counted = weights(weighed)
    assert counted == pytest.approx(dict.fromkeys(("speed", "cost", "high", "low"), 1 / 4)), "nothing tells what works"
    weighed.toml("[metrics]\nlow = 1\n")
    assert weights(weighed) == {"low": 1}


def test_weights_and_who_says_so_are_listed_everywhere(weighed):
    weighed.eval("one", "---\nchecks: [{name: a, run: 'true'}]\n---\nDo it.\n")
    weighed.eval("two", "---\nmetrics: {high: 3, speed: 1}\n---\nDo it.\n")
    listed = {one["name"]: one for one in weighed.orvl("list", "evals", "--json").json["evals"]}
    assert {name: listed[name]["weights_from"] for name in ("one", "two", "hello-world")} == {
        "one": "default",
        "two": "eval",
        "hello-world": "default",
    }
    assert listed["hello-world"]["metrics"] == pytest.approx(
        {"checks": 0.9, "speed": 0.05, "cost": 0.05, "tokens": 0, "tool-calls": 0}
    ), "a project's own metrics know nothing of built-in evals"
    assert listed["two"]["metrics"] == {"high": 3, "speed": 1}
    plan = weighed.orvl("writer", "--dry-run", "--json").json["plan"]["weights"]
    assert plan["two"] == {"from": "eval", "metrics": {"high": 0.75, "speed": 0.25}}
    assert plan["one"]["from"] == "default" and sum(plan["one"]["metrics"].values()) == pytest.approx(1)
    out = weighed.orvl("writer", "--dry-run").out
    assert "Weights of one (the default): checks 0.818, cost 0.0455, high 0.0455, low 0.0455, speed 0.0455." in out
    assert "Weights of two (its own): high 0.75, speed 0.25." in out
    assert "two: speed counts in full: no check and no judge says what works there." in out
    assert weighed.orvl("writer").status == 0
    shown = weighed.orvl("show", "writer/one/1").out
    assert "Weights: the default." in shown
    assert "cost and speed count as far as the work works: × checks." in shown
    assert "Weights: its own." in weighed.orvl("show", "writer/two/1").out
    weighed.toml("[metrics]\nlow = 1\n")
    assert "Weights: [metrics] of orvl.toml." in weighed.orvl("show", "writer/one/1").out
    assert weighed.orvl("show", "writer/one/1", "--json").json["rating"]["weights_from"] == "orvl.toml"


def test_the_projects_weights_count_on_evals_that_only_name_metrics(weighed):
    weighed.eval("one", "---\nmetrics: [low, high]\n---\nDo it.\n")
    assert row(weighed)["R"] == pytest.approx(0.5)
    weighed.toml("[metrics]\nlow = 1\nhigh = 3\nspeed = 5\n")
    assert weights(weighed) == pytest.approx({"low": 0.25, "high": 0.75})
    assert row(weighed)["R"] == pytest.approx(0.65)


def test_what_an_eval_overrides_is_shown_everywhere(weighed):
    weighed.toml("[metrics]\nlow = 1\nhigh = 3\n")
    weighed.eval("one", "---\nmetrics: {low: 3, high: 3, speed: 0}\n---\nDo it.\n")
    sentence = "This eval overrides [metrics] of orvl.toml: low 3 instead of 1."
    result = weighed.orvl("writer", "--json").json
    assert result["ratings"][0]["R"] == pytest.approx(0.5)
    assert f"one: {sentence}" in result["warnings"]
    for words in (["writer", "--dry-run"], ["report"]):
        assert f"one: {sentence}" in weighed.orvl(*words, "--json").json["warnings"]
    run = weighed.orvl("report", "--by", "run", "--json").json["ratings"][0]["run"]
    assert sentence in weighed.orvl("show", run).out
    weighed.eval("one", "---\nmetrics: {low: 1, high: 3}\n---\nDo it.\n")
    assert weighed.orvl("writer", "--json").json["warnings"] == [
        "1 run had no sandbox: the agent could read and write what you can."
    ]


def test_programs_are_ranked_without_a_certificate_where_no_judge_has_a_say(weighed):
    weighed.agent("other", "models = {'none': ['fixed']}\ndef command(prompt): return ['sh', '-c', 'true']\n")
    weighed.score("wrote", "def score(run): return 1.0 if run.files else 0.1\n")
    for number in range(12):
        weighed.eval(f"e{number}", f"---\nmetrics: {{wrote: 1}}\n---\nDo {number}.\n")
    assert weighed.orvl("writer,other").status == 0
    out = weighed.orvl("report").out
    assert "ertified" not in out
    assert "No judge has a say in these ratings" in out
    result = weighed.orvl("report", "--json").json
    assert {r["agent"]: r["rank"] for r in result["ratings"]} == {"writer": 1, "other": 2}
    assert result["certificate"] is None
    assert "ertified" not in weighed.orvl("compare", "writer", "other").out
    weighed.toml('[judges.a]\nanswers = "yes"\n')
    assert "ertified" not in weighed.orvl("report").out, "the judge answers nothing that counts"
    weighed.eval("e0", "---\nmetrics: {wrote: 1, readability: 1}\n---\nDo 0.\n")
    assert weighed.orvl("score").status == 0
    out = weighed.orvl("report").out
    assert "Not certified" in out
    assert {r["rank"] for r in weighed.orvl("report", "--json").json["ratings"]} == {None}


def test_without_a_certificate_ranks_go_by_what_programs_measured(weighed):
    weighed.agent("other", "models = {'none': ['fixed']}\ndef command(prompt): return ['sh', '-c', 'true']\n")
    for number in range(12):
        weighed.eval(f"e{number}", f"---\nchecks: [{{name: there, run: test -f a.txt}}]\n---\nDo {number}.\n")
    weighed.toml('[judges.a]\nanswers = "yes"\n')
    assert weighed.orvl("writer,other").status == 0
    done = weighed.orvl("report", "--json").json
    rows = {row["agent"]: row for row in done["ratings"]}
    # The judge has no idea, and says yes to both: of 22 points, code-quality, readability and scope have 5.
    assert rows["other"]["R"] == pytest.approx((5 + 0.2 + 0.8) / 22)
    assert {agent: row["rank"] for agent, row in rows.items()} == {"writer": 1, "other": 2}
    assert done["trust"]["ranked_by"] == "programs" and done["trust"]["winners"] == [["writer", "fixed", "none"]]
    out = " ".join(weighed.orvl("report").out.split())
    said = "Not certified: no control has tested the judges, so ranks go by what programs measured, not by R."
    assert said in out and "Best: writer fixed none." in out
    # Nobody ranks by programs where these cannot tell what works, or where somebody has weighed judges himself.
    weighed.eval("e0", "Do 0.\n")
    assert weighed.orvl("writer,other").status == 0
    done = weighed.orvl("report", "--json").json
    assert {row["rank"] for row in done["ratings"]} == {None} and done["trust"]["ranked_by"] is None
    assert "so nobody is ranked" in " ".join(weighed.orvl("report").out.split())

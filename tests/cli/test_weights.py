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
    assert set(weights(weighed)) == {"checks", "high", "low", "speed", "tokens"}
    weighed.toml('[judges.a]\nanswers = "yes"\n')
    judged = {"bugs", "code-quality", "functionality", "missing-cases", "readability"}
    assert set(weights(weighed)) == {"checks", "high", "low", "speed", "tokens"} | judged


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

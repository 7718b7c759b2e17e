"""`orvl report`: ratings of stored runs, by agent, eval and run."""

from __future__ import annotations

import pytest


def test_report_by_agent_eval_and_run(small):
    small.eval("two", "---\nmetrics: {speed: 1}\n---\nSay bye.")
    assert small.orvl("writer", "--eval=one,two", "--episodes=2").status == 0
    whole = small.orvl("report", "--json").json["ratings"]
    assert [(row["eval"], row["runs"]["rated"]) for row in whole] == [(None, 4)]
    cells = small.orvl("report", "--by", "eval", "--json").json["ratings"]
    assert {row["eval"] for row in cells} == {"one", "two"}
    assert whole[0]["R"] == pytest.approx(sum(row["R"] for row in cells) / 2)
    low, high = whole[0]["interval"]
    assert low <= whole[0]["R"] <= high
    runs = small.orvl("report", "--by", "run", "--json").json["ratings"]
    assert len({row["run"] for row in runs}) == 4
    one = small.orvl("report", "--eval=one", "--by", "run", "--json").json["ratings"]
    assert len(one) == 2
    assert small.orvl("show", one[0]["run"][:12], "--json").json["eval"] == "one"
    wrong = small.orvl("report", "--eval=oen")
    assert wrong.status == 2
    assert "Did you mean 'one'?" in wrong.err


def test_report_shows_only_the_newest_identity(small):
    assert small.orvl("writer", "--eval=one").status == 0
    small.eval("one", "---\nmetrics: {speed: 1}\n---\nSay something else.")
    assert small.orvl("writer", "--eval=one").status == 0
    shown = small.orvl("report", "--json").json
    assert shown["ratings"][0]["runs"]["rated"] == 1
    assert "older" in shown["warnings"][0]
    assert small.rows("SELECT count(*) FROM attempt") == [(2,)]


def test_changed_weights_and_penalty_re_rate_at_once(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "touch a"\n')
    project.score("readable", 'items = ["a", "b"]\n')
    project.score("there", 'def score(run): return 1.0 if "a" in run.files else 0.0\n')
    project.toml('[judges.x]\nanswers = "yes"\n[judges.y]\nanswers = "no"\n')
    project.eval("e", "---\nmetrics: {readable: 1, there: 1}\n---\nx")
    first = project.orvl("mine", "--eval=e", "--json").json["ratings"][0]
    assert (first["R"], first["R_pen"]) == pytest.approx((0.75, 0.75 - 0.5 * 0.5 * 0.25))
    assert first["metrics"]["readable"]["judges"] == {"x": 1.0, "y": 0.0}
    project.eval("e", "---\nmetrics: {readable: 3, there: 1}\n---\nx")
    project.toml('penalty = 0\n[judges.x]\nweight = 3\nanswers = "yes"\n[judges.y]\nanswers = "no"\n')
    again = project.orvl("report", "--by", "eval", "--json").json["ratings"][0]
    assert (again["R"], again["R_pen"]) == pytest.approx((0.75 * 0.75 + 0.25, 0.75 * 0.75 + 0.25))
    plan = project.orvl("mine", "--eval=e", "--dry-run", "--json").json["plan"]
    assert (plan["reused"], plan["scored_again"], plan["to_run"]) == (1, 0, 0)


def test_a_row_that_lacks_an_eval_is_compared_over_the_others(project):
    project.agent("sound", 'models = {"none": ["m"]}\ndef command(): return "true"\n')
    project.agent(
        "lucky", 'models = {"none": ["m"]}\ndef command(prompt): return "true" if prompt == "easy" else 1 / 0\n'
    )
    project.score("half", "def score(run): return 0.5 if run.prompts[0] == 'hard' else 0.9\n")
    project.eval("easy", "---\nmetrics: {half: 1}\n---\neasy")
    project.eval("hard", "---\nmetrics: {half: 1}\n---\nhard")
    assert project.orvl("sound,lucky", "--eval=easy,hard").status == 1
    rows = {row["agent"]: row for row in project.orvl("report", "--json").json["ratings"]}
    assert (rows["sound"]["R"], rows["lucky"]["R"]) == (pytest.approx(0.9), pytest.approx(0.9))
    table = project.orvl("report").out
    assert "R is over the 1 eval that all ranked rows have: easy. Left out: hard (not rated: lucky m none)." in table


def test_runs_that_errored_are_listed_with_their_reason(small):
    small.agent("absent", 'models = {"none": ["m"]}\ndef command(): return "no-such-program"\n')
    assert small.orvl("absent", "--eval=one").status == 2
    row = small.orvl("report", "--by", "run", "--json").json["ratings"][0]
    assert (row["outcome"], row["R"], row["runs"]["errored"]) == ("errored", None, 1)
    assert "no-such-program" in row["reason"]

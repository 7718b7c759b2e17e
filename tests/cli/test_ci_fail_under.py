"""`--fail-under R`: below is status 4, what is not rated is status 1, and nothing to look at is no pass."""

from __future__ import annotations

import pytest

from helpers.graded import grade
from orvl import pipeline
from orvl.cli.run import _continued
from orvl.plan.options import RunOptions
from orvl.plan.selection import Selection
from orvl.project import open_project
from orvl.store import open_store

SANDBOX = "none"


@pytest.fixture
def two(project):
    """One agent that earns 0.8 and 0.6, and one that earns 0.3 and 0.5."""
    grade(project, "good", {"a": 0.8, "b": 0.6})
    grade(project, "bad", {"a": 0.3, "b": 0.5})
    assert project.orvl("good,bad", "--eval=a,b").status == 0
    return project


def test_a_row_below_fails_and_is_named_with_its_distance(two):
    done = two.orvl("report", "--fail-under", "0.65")
    assert done.status == 4
    assert "FAILED: 1 of 2 rows below 0.65." in done.out
    assert "bad m none: R 0.400 is 0.25 below 0.65." in done.out
    assert "good m none: R" not in done.out


def test_exactly_the_threshold_is_not_below(two):
    done = two.orvl("report", "good", "--fail-under", "0.7")
    assert (done.status, "PASSED: 0 of 1 row below 0.7." in done.out) == (0, True)
    assert two.orvl("report", "good", "--fail-under", "0.7001").status == 4


def test_by_eval_the_rows_shown_count(two):
    done = two.orvl("report", "good", "--by", "eval", "--fail-under", "0.65")
    assert done.status == 4
    assert "good m none b: R 0.600 is 0.05 below 0.65." in done.out
    by_run = two.orvl("report", "good", "--by", "run", "--fail-under", "0.65")
    assert (by_run.status, "good m none b #1: R 0.600" in by_run.out) == (4, True)


def test_run_has_the_same_gate(two):
    assert two.orvl("good", "--eval=a,b", "--fail-under=0.65").status == 0
    done = two.orvl("bad", "--eval=a,b", "--fail-under=0.65")
    assert (done.status, "bad m none: R 0.400 is 0.25 below 0.65." in done.out) == (4, True)


def test_json_has_the_gate_and_standard_output_nothing_else(two):
    done = two.orvl("report", "--json", "--fail-under", "0.65")
    gate = done.json["gate"]
    assert (done.status, gate["state"], gate["fail_under"]) == (4, "failed", 0.65)
    rows = [(row["agent"], row["state"], row["distance"]) for row in gate["rows"]]
    assert rows == [("bad", "failed", pytest.approx(-0.25)), ("good", "passed", pytest.approx(0.05))]
    assert "bad m none: R 0.400" in done.err
    assert "gate" not in two.orvl("report", "--json").json
    ran = two.orvl("bad", "--eval=a,b", "--json", "--fail-under=0.65")
    assert (ran.status, ran.json["gate"]["state"]) == (4, "failed")
    table = two.orvl("report", "--csv", "--fail-under", "0.65")
    assert (table.status, "FAILED" in table.out, "FAILED" in table.err) == (4, False, True)


@pytest.mark.parametrize("command", [("report",), ("half", "--eval=a,b")])
def test_what_is_not_rated_never_passes(project, command):
    grade(project, "half", {"a": 0.9, "b": None})
    assert project.orvl("half", "--eval=a,b").status == 1
    done = project.orvl(*command, "--fail-under=0.5")
    assert done.status == 1
    assert "UNDECIDED: 0 of 1 row below 0.5." in done.out
    assert "half m none: R 0.900 is not below 0.5, but it is not of all that was asked for." in done.out
    assert "b: 1 of 1 run errored" in done.out
    assert project.orvl(*command, "--fail-under=0.95").status == 4
    assert project.orvl("report").status == 0


def test_a_row_without_any_rating_is_said_to_have_none(project):
    grade(project, "none-at-all", {"a": None})
    project.orvl("none-at-all", "--eval=a")
    done = project.orvl("report", "--fail-under", "0")
    assert (done.status, "none-at-all m none has no rating to hold against 0." in done.out) == (1, True)


def test_an_eval_that_is_left_out_of_R_is_not_forgotten(two):
    """R is over the evals that all rows have; what a row lacks must not pass for that."""
    grade(two, "half", {"a": 0.9, "b": None})
    assert two.orvl("half", "--eval=a,b").status == 1
    states = {
        row["agent"]: row["state"] for row in two.orvl("report", "--json", "--fail-under=0.2").json["gate"]["rows"]
    }
    assert states == {"good": "passed", "bad": "passed", "half": "undecided"}


def test_nothing_to_look_at_is_no_pass(project):
    assert project.orvl("dummy-good", "--eval=hello-world").status == 0
    only_controls = project.orvl("report", "--fail-under", "0")
    assert (only_controls.status, "which is no pass" in only_controls.out) == (1, True)
    assert project.orvl("report", "dummy-good", "--fail-under", "0").status == 0


def test_controls_count_only_where_agents_are_named(two):
    assert two.orvl("empty", "--eval=a,b").status in (0, 1)
    gate = two.orvl("report", "--json", "--fail-under=0.2").json["gate"]
    assert {row["agent"] for row in gate["rows"]} == {"good", "bad"}
    gate = two.orvl("report", "--agent=*", "--json", "--fail-under=0.2").json["gate"]
    assert {row["agent"] for row in gate["rows"]} == {"good", "bad", "empty"}


@pytest.mark.parametrize("value", ["nan", "1.1", "-0.1", "x", "inf"])
def test_a_threshold_is_a_rating(two, value):
    done = two.orvl("report", f"--fail-under={value}")
    assert (done.status, "fail-under" in done.err) == (2, True)


def test_the_command_to_continue_keeps_the_gate(project):
    flags = {"fail_under": 0.0, "baseline": "b.json", "junit": "j.xml", "md": None, "github": True}
    flags |= {"project": None, "store": None}
    words = _continued(RunOptions(), pipeline.Prepared(None, None), flags)  # type: ignore[arg-type]
    assert words == "orvl all --fail-under 0.0 --baseline b.json --junit j.xml --github"


def test_what_was_asked_for_and_never_run_is_no_pass(two):
    grade(two, "late", {"a": 0.9, "b": 0.9})
    opened = open_project(two.root)
    plan = pipeline.plan(opened, RunOptions(Selection(agent="late", eval="a,b"), sandbox="none"))
    with open_store(str(two.root / ".orvl"), write=True) as store:
        pipeline.note_planned(plan, store)  # and then the money was gone
    done = two.orvl("report", "--fail-under=0.2")
    assert (done.status, "late m none has no rating to hold against 0.2. Not rated: a: not run" in done.out) == (
        1,
        True,
    )
    assert two.orvl("report", "--fail-under=0").status == 1
    by_eval = two.orvl("report", "--by=eval", "--fail-under=0.2")
    assert (by_eval.status, "late m none b has no rating" in by_eval.out) == (1, True)
    assert two.orvl("report", "good,bad", "--fail-under=0.2").status == 0
    (two.root / "agents/late.py").unlink()
    assert two.orvl("report", "--fail-under=0.2").status == 0


def test_an_agent_that_has_changed_since_is_no_pass(two):
    grade(two, "good", {"a": 0.1, "b": 0.1})
    done = two.orvl("report", "--fail-under=0.2")
    assert (done.status, "good m none has no rating" in done.out) == (1, True)
    assert two.orvl("report", "bad", "--fail-under=0.2").status == 0


def test_an_eval_that_is_broken_now_is_no_pass(two):
    two.eval("b", "---\nmetrics: {nothing-like-it: 1}\n---\nb\n")
    done = two.orvl("report", "--fail-under=0.2")
    assert (done.status, "b: not run" in done.out) == (1, True), done.out


def test_imported_metrics_leave_the_projects_own_agents_out(two):
    two.write("r.csv", "agent,eval,scores.luck\nx,a,0.5\n")
    assert two.orvl("import", "results", "r.csv").status == 0
    done = two.orvl("report", "--metric=luck", "--fail-under=0.2")
    assert (done.status, "0 of 1 row below" in done.out) == (0, True), done.out

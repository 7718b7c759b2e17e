"""`orvl report --junit FILE`: what readers of the format want, whatever agents and evals are called and say."""

from __future__ import annotations

import json
from xml.etree import ElementTree as ET

import pytest

from helpers.graded import grade
from helpers.junit import OUTCOMES, check
from orvl import pipeline
from orvl.plan.options import RunOptions
from orvl.plan.selection import Selection
from orvl.project import open_project
from orvl.store import open_store

SANDBOX = "none"
HOSTILE = '"><failure message="x"/><!-- ]]> & \x1b[31m \u202e \ud83d @all'


def written(project, *flags):
    done = project.orvl("report", "--junit=out.xml", *flags)
    root = ET.fromstring((project.root / "out.xml").read_bytes())
    check(root)
    return done, root


def outcomes(root, suite):
    cases = root.find(f"testsuite[@name='{suite}']").iter("testcase")
    return {case.get("name"): next((one.tag for one in case if one.tag in OUTCOMES), "passed") for case in cases}


def test_a_suite_per_contestant_and_a_case_per_eval(project):
    grade(project, "good", {"a": 0.8, "b": 0.6, "c": 0.9})
    grade(project, "half", {"a": 0.9, "b": None})
    assert project.orvl("good", "--eval=a,b,c", "--episodes=2").status == 0
    assert project.orvl("half", "--eval=a,b").status == 1
    done, root = written(project, "--fail-under=0.7")
    assert done.status == 1
    assert outcomes(root, "good m none") == {"a": "passed", "b": "failure", "c": "passed"}
    assert outcomes(root, "half m none") == {"a": "passed", "b": "error", "c": "skipped"}
    failure = root.find(".//failure")
    assert failure.get("message") == "R 0.600 is 0.1 below 0.7"
    assert "1 of 1 run errored" in root.find(".//error").get("message")
    episodes = root.find("testsuite[@name='good m none']/testcase[@name='a']/system-out").text.splitlines()
    keys = [row["run"] for row in project.orvl("report", "good", "--eval=a", "--by=run", "--json").json["ratings"]]
    assert [line.split(":")[0] for line in episodes] == ["episode 1", "episode 2"]
    assert sorted(line.split()[-1] for line in episodes) == sorted(key[:12] for key in keys)
    assert root.find("testsuite[@name='good m none']/testcase[@name='a']").get("time")


def test_without_a_threshold_nothing_is_a_failure(project):
    grade(project, "bad", {"a": 0.0})
    assert project.orvl("bad", "--eval=a").status == 0
    done, root = written(project)
    assert (done.status, outcomes(root, "bad m none")) == (0, {"a": "passed"})


def test_what_a_budget_left_undone_is_skipped_and_no_pass(project):
    grade(project, "mine", {"a": 0.9, "b": 0.9})
    assert project.orvl("mine", "--eval=a").status == 0
    opened = open_project(project.root)
    plan = pipeline.plan(opened, RunOptions(Selection(agent="mine", eval="b"), sandbox="none"))
    with open_store(str(project.root / ".orvl"), write=True) as store:
        pipeline.note_planned(plan, store)  # and then the money was gone
    done, root = written(project, "--fail-under=0.5")
    assert outcomes(root, "mine m none") == {"a": "passed", "b": "skipped"}
    assert done.status == 1
    assert "b: not run" in done.out


def test_the_baselines_verdict_stands_with_the_suite(project):
    grade(project, "mine", {"a": 0.9})
    project.orvl("mine", "--eval=a")
    project.write("base.json", project.orvl("report", "--json").out)
    _, root = written(project, "--baseline=base.json")
    properties = {one.get("name"): one.get("value") for one in root.iter("property")}
    assert (properties["R"], properties["baseline"]) == ("0.900000", "CANNOT TELL")


def test_hostile_names_cannot_break_it(project):
    names = [HOSTILE, "plain", "\x00null", "a\nb", "x" * 5000]
    lines = [json.dumps({"agent": name, "eval": f"{name} eval", "score": 0.5}) for name in names]
    taken = 0
    for number, line in enumerate(lines):
        project.write(f"{number}.jsonl", line + "\n")
        taken += project.orvl("import", "results", f"{number}.jsonl").status == 0
    assert taken, "at least the plain name can be imported"
    _, root = written(project, "--fail-under=0.9")
    assert len(root) == taken


def test_hostile_reasons_cannot_break_it(project):
    project.agent("mine", f'models = {{"none": ["m"]}}\ndef command(): raise ValueError({HOSTILE!r} + "x" * 9000)\n')
    project.eval("a", "---\nmetrics: {speed: 1}\n---\nx\n")
    project.orvl("mine", "--eval=a")
    _, root = written(project)
    assert outcomes(root, "mine m none") == {"a": "error"}
    text = (project.root / "out.xml").read_text()
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert len(text) < 20_000


@pytest.mark.parametrize(
    "text", [HOSTILE, "\x00", "\ufffe\uffff", "]]>", "\ud800", "tab\tand\r\nline", "𝒳", "x" * 10_000]
)
def test_any_text_comes_back_as_text(text):
    from orvl.rate.board import Row, Rules
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate
    from orvl.rate.gather import Gathered
    from orvl.report.junit import as_junit

    cell = Row(text, "m", "p", text, R=None, planned=1, errored=1, reason=text, errors={text: 1})
    run = Row(text, "m", "p", text, run="k" * 64, episode=1, outcome="errored", reason=text)
    board = Board((cell,), Gathered((), {}), Rules(), runs=(run,))
    root = ET.fromstring(as_junit([cell], board, Gate(0.5)))
    check(root)
    assert [child.tag for child in root.find(".//testcase")] == ["error", "system-out"]


def test_a_file_that_cannot_be_written_is_a_sentence(small):
    assert small.orvl("writer", "--eval=one").status == 0
    done = small.orvl("report", "--junit=no/such/folder/out.xml")
    assert (done.status, "--junit no/such/folder/out.xml cannot be written" in done.err) == (2, True)


def test_controls_have_a_suite_only_where_agents_are_named(small):
    assert small.orvl("writer,empty", "--eval=one").status == 0
    _, root = written(small, "--fail-under=0.01")
    assert [suite.get("name").split()[0] for suite in root] == ["writer"]
    _, root = written(small, "--agent=*")
    assert {suite.get("name").split()[0] for suite in root} == {"writer", "empty"}


def test_a_time_that_is_unknown_is_left_out(project):
    project.write("r.csv", "agent,eval,score,seconds\nx,a,0.5,2\nx,b,0.5,\n")
    assert project.orvl("import", "results", "r.csv").status == 0
    _, root = written(project)
    times = {case.get("name"): case.get("time") for case in root.iter("testcase")}
    assert times == {"a": "2.000", "b": None}
    assert root[0].get("time") is None

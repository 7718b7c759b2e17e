"""`/compare/runs`: two runs side by side."""

from __future__ import annotations

import re

import pytest

from helpers.evidence import ODD_NAME, make_evidence
from helpers.rows import Rows
from helpers.user_project import UserProject
from helpers.viewing import viewing

MADE_ONCE = ("shown",)


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    project = UserProject(tmp_path_factory.mktemp("evidence") / "project")
    evidence = make_evidence(project)
    with viewing(project) as running:
        yield running, evidence


def test_a_run_leads_to_other_contestants_runs_of_its_eval(shown):
    viewer, evidence = shown
    links = Rows(viewer.get(f"/run/{evidence.asker}").text).links
    assert links["plain fixed none #1"] == f"/compare/runs?l={evidence.asker}&r={evidence.plain}"
    assert "asker m host #1" not in links
    alone = Rows(viewer.get(f"/compare/runs?l={evidence.plain}").text).links
    assert alone["asker m host #1"] == f"/compare/runs?l={evidence.plain}&r={evidence.asker}"
    assert "all runs" in Rows(viewer.get("/compare/runs").text).links


def test_runs_that_are_history_are_not_offered(project):
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nDo it.\n")
    for name in ("one", "two"):
        project.agent(name, 'models = {"none": ["fixed"]}\ndef command(): return "true"\n')
    project.orvl("one,two", "--eval=e")
    run = project.orvl("show", "one/e/1", "--json").json["run"]
    with viewing(project) as viewer:
        assert "two fixed none #1" in Rows(viewer.get(f"/run/{run}").text).links
        project.agent("two", 'models = {"none": ["fixed"]}\ndef command(): return "false"\n')
        assert "two fixed none #1" not in Rows(viewer.get(f"/run/{run}").text).links


def test_both_runs_and_their_difference_are_those_of_show(shown):
    viewer, evidence = shown
    words = f"l={evidence.twin}&r={evidence.asker}"
    page, twin = Rows(viewer.get(f"/compare/runs?{words}").text), viewer.get(f"/compare/runs.json?{words}").json
    left, right = (viewer.project.orvl("show", key, "--json").json["rating"] for key in (evidence.twin, evidence.asker))
    assert (twin["left"]["R"], twin["right"]["R"]) == (left["R"], right["R"])
    assert twin["difference"] == pytest.approx(left["R"] - right["R"])
    assert twin["difference"] < -0.1
    gap = f"{-twin['difference']:.3f}"
    assert f"The right run is ahead by {gap}, {gap} of it by checks." in page.text
    rows = {row[0]: row[1:] for row in page.rows if row}
    assert rows["outcome"] == ["finished", "finished"]
    scores = {line["metric"]: [line["score"]] for line in left["lines"]}
    for line in right["lines"]:
        scores[line["metric"]].append(line["score"])
    assert scores.keys() == {"checks", "clear"}
    for one in twin["metrics"]:
        assert [one["left"], one["right"]] == scores[one["metric"]]
        assert rows[one["metric"]] == [f"{one['left']:.3f}", f"{one['right']:.3f}", f"{one['difference']:+.3f}"]


def test_ratings_over_different_metrics_are_not_compared(shown):
    """No judge could tell anything of the plain run: its R is over its checks alone."""
    viewer, evidence = shown
    words = f"l={evidence.plain}&r={evidence.asker}"
    twin = viewer.get(f"/compare/runs.json?{words}").json
    assert None not in (twin["left"]["R"], twin["right"]["R"])
    assert twin["difference"] is None
    page = Rows(viewer.get(f"/compare/runs?{words}").text)
    assert "R of these runs cannot be compared: only one of them is rated on clear." in page.text
    assert ["R", f"{twin['left']['R']:.3f}", f"{twin['right']['R']:.3f}", "–"] in page.rows


def test_the_diff_goes_from_the_left_result_to_the_right_one(shown):
    viewer, evidence = shown
    words = f"l={evidence.plain}&r={evidence.asker}"
    reply, twin = viewer.get(f"/compare/runs?{words}"), viewer.get(f"/compare/runs.json?{words}").json
    page = Rows(reply.text)
    assert len(reply.body) < 1_000_000
    assert {(one["path"], one["in"]) for one in twin["files"]} == {
        ("src/app.js", "right"),
        ("long.txt", "right"),
        (ODD_NAME, "right"),
    }
    assert "3 files: 0 differ, 0 only left, 3 only right." in page.text
    assert "--- /dev/null\n+++ b/src/app.js" in twin["diff"]
    assert "+let a41 = 41" in page.text
    turned = viewer.get(f"/compare/runs.json?l={evidence.asker}&r={evidence.plain}").json
    assert {one["in"] for one in turned["files"]} == {"left"}
    one, other = (
        viewer.get(f"/compare/runs.json?l={left}&r={right}").json
        for left, right in ((evidence.asker, evidence.twin), (evidence.twin, evidence.asker))
    )
    assert one["difference"] == -other["difference"]
    assert {"path": "src/app.js", "in": "both"} in one["files"]
    assert "-let a41 = 41\n" in one["diff"] and "+let a41 = 0\n" in one["diff"]
    same = Rows(viewer.get(f"/compare/runs?l={evidence.asker}&r={evidence.asker}").text)
    assert "Both left the same files." in same.text
    assert "Both runs have the same R." in same.text


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("l=ffffffffffff", "There is no run"),
        ("a=x", "has no word"),
        ("l=%3Cscript%3Ealert(1)%3C/script%3E&r=x", "There is no run"),
    ],
)
def test_a_mistake_is_a_sentence(shown, words, sentence):
    viewer, _ = shown
    reply = viewer.get(f"/compare/runs?{words}")
    assert reply.status == 404
    assert sentence in reply.text
    assert not re.search("<script", reply.text)

"""Efficiency is earned on what works, and every command tells the same number."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from helpers.user_project import UserProject
from helpers.viewing import viewing

SANDBOX = "none"
EVAL = """
---
metrics: {metrics}
floor: {floor}
checks:
  - {{name: first, run: test -f one}}
  - {{name: second, run: test -f two}}
---
Make one and two.
"""
AGENT = "models = {{'none': ['fixed']}}\ndef command(prompt): return ['sh', '-c', {does!r}]\n"
DOES = {"nobody": "true", "half": "touch one", "whole": "touch one two"}
PASSED = {"nobody": 0.0, "half": 0.5, "whole": 1.0}
BREVITY = 0.8
METRICS = {"one": "{checks: 3, brevity: 1}", "two": "{brevity: 1}", "three": "{checks: 1, brevity: 1, plain: 2}"}
FLOOR = {"one": 0.0, "two": 0.0, "three": 0.2}


def by_hand(agent: str, eval_: str) -> float:
    c, floor = PASSED[agent], FLOOR[eval_]
    earned = BREVITY * max(0.0, (c - floor) / (1 - floor))
    return {"one": (3 * c + earned) / 4, "two": earned, "three": (c + earned + 2 * 0.3) / 4}[eval_]


@pytest.fixture
def rated(project: UserProject) -> UserProject:
    project.score("brevity", f'"""How little it said."""\nearned = True\ndef score(run): return {BREVITY}\n')
    project.score("plain", "def score(run): return 0.3\n")
    for name, metrics in METRICS.items():
        project.eval(name, EVAL.format(metrics=metrics, floor=FLOOR[name]))
    for name, does in DOES.items():
        project.agent(name, AGENT.format(does=does))
    return project


def told(project: UserProject, *words: str) -> Any:
    done = project.orvl(*words, "--json")
    assert done.status == 0, done.err
    return done.json


def test_run_report_show_export_view_and_compare_agree(rated):
    expected = {(agent, name): by_hand(agent, name) for agent in DOES for name in METRICS}
    assert expected["half", "one"] == pytest.approx(0.475) and expected["half", "three"] == pytest.approx(0.35)

    def is_as_by_hand(rows: list[dict[str, Any]]) -> None:
        assert {(row["agent"], row["eval"]): row["R"] for row in rows} == pytest.approx(expected)

    ran = told(rated, "nobody,half,whole")["ratings"]
    is_as_by_hand(ran)
    is_as_by_hand(told(rated, "report", "--by=eval")["ratings"])
    runs = told(rated, "report", "--by=run")["ratings"]
    is_as_by_hand(runs)
    one = next(row for row in runs if (row["agent"], row["eval"]) == ("half", "one"))
    brevity = one["metrics"]["brevity"]
    assert (brevity["raw"], brevity["earned"], brevity["mean"]) == pytest.approx((0.8, 0.5, 0.4))
    assert "raw" not in one["metrics"]["checks"]

    shown = told(rated, "show", "half/one/1")
    line = next(line for line in shown["rating"]["lines"] if line["metric"] == "brevity")
    assert (line["raw"], line["earned"], line["score"], line["points"]) == pytest.approx((0.8, 0.5, 0.4, 0.1))
    assert shown["rating"]["R"] == pytest.approx(expected["half", "one"])
    assert {score["metric"]: score["value"] for score in shown["attempts"][0]["scores"]}["brevity"] == BREVITY
    text = rated.orvl("show", "half/one/1").out
    assert "program: 0.800 × earned 0.500" in text
    assert "brevity counts as far as the work works: × checks." in text
    assert "× checks, from 0.2 up." in rated.orvl("show", "half/three/1").out
    (row,) = told(rated, "show", "half")["ratings"]
    assert row["R"] == pytest.approx(sum(expected["half", name] for name in METRICS) / 3)
    line = next(line for line in row["rating"]["lines"] if line["metric"] == "brevity")
    assert line["earned"] == pytest.approx((0.5 + 0.5 + 0.375) / 3)

    exported = rated.orvl("export", "runs", "-", "--format=jsonl").out.splitlines()
    is_as_by_hand(list(map(json.loads, exported)))
    points: dict[tuple[str, str], float] = {}
    for score in map(json.loads, rated.orvl("export", "scores", "-", "--format=jsonl").out.splitlines()):
        share = 1.0 if score["earned"] is None else score["earned"]
        key = score["agent"], score["eval"]
        points[key] = points.get(key, 0.0) + (score["weight"] or 0.0) * score["value"] * share
    assert points == pytest.approx(expected)

    compared = told(rated, "compare", "whole", "half")
    assert {one["eval"]: (one["a"], one["b"]) for one in compared["evals"]} == {
        name: pytest.approx((expected["whole", name], expected["half", name])) for name in METRICS
    }

    with viewing(rated) as viewer:
        rows = viewer.get("/board.json").json["ratings"]
        means = {agent: sum(expected[agent, name] for name in METRICS) / 3 for agent in DOES}
        assert {row["agent"]: row["R"] for row in rows} == pytest.approx(means)
        page = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", viewer.get(f"/run/{shown['run']}").text))
        assert "0.400 (0.800 × earned 0.500)" in page
        assert viewer.get(f"/run/{shown['run']}.json").json["rating"] == shown["rating"]
        # Other weights re-rate what was earned, too: (checks .5 × 1 + .4 × 3) / 4 on one, (.5 + .3 × 3 + .3 × 2) / 6.
        moved = viewer.get("/board.json?w.brevity=3&w.checks=1").json["ratings"]
        half = next(row for row in moved if row["agent"] == "half")
        assert half["R"] == pytest.approx(((0.5 + 3 * 0.4) / 4 + 0.4 + (0.5 + 3 * 0.3 + 0.6) / 6) / 3)

    import orvl

    results = orvl.open(rated.root).results()
    assert {(run.agent, run.eval): run.R for run in results.runs} == pytest.approx(expected)


@pytest.mark.nightly
def test_a_race_is_decided_on_what_was_earned(rated):
    """nobody and fast are equally fast: only one of them has done anything."""
    rated.agent("fast", AGENT.format(does="touch one two"))
    for number in range(10):
        rated.eval(f"r{number}", EVAL.format(metrics="{brevity: 1}", floor=0).replace("Make", f"{number}: make"))
    raced = told(rated, "nobody,fast", "--eval=r*", "--race", "--episodes=1")
    states = {one["agent"]: one["state"] for one in raced["race"]["contestants"]}
    assert states["nobody"] == "out", raced["race"]


def test_a_floor_is_no_part_of_a_run_but_of_its_rating(rated):
    before = told(rated, "half", "--eval=one")["ratings"][0]
    rated.eval("one", EVAL.format(metrics=METRICS["one"], floor=0.5))
    after = told(rated, "half", "--eval=one")["ratings"][0]
    assert rated.rows("SELECT count(*) FROM attempt") == [(1,)]
    assert (before["R"], after["R"]) == pytest.approx((0.475, 0.375))
    assert before["scoring"] != after["scoring"], "two such ratings are no pair"


def test_where_a_check_could_not_be_run_efficiency_is_missing(rated):
    rated.score("checks", "def score(run): raise RuntimeError('the machine is gone')\n")
    done = rated.orvl("half", "--eval=three", "--json")
    (row,) = done.json["ratings"]
    assert done.status == 1
    assert row["R"] == pytest.approx(0.3), "only plain is known"
    assert sorted(row["missing"]) == ["brevity", "checks"]
    assert row["metrics"]["brevity"]["mean"] is None and row["metrics"]["brevity"]["raw"] == BREVITY


def test_without_checks_the_panel_says_what_works(rated):
    rated.toml("[judges.a]\nanswers = {functionality = 0.4}\n[judges.b]\nanswers = {functionality = 0.8}\nweight = 3\n")
    rated.eval("four", "---\nmetrics: {functionality: 1, brevity: 1}\n---\nDo it.\n")
    (row,) = told(rated, "half", "--eval=four")["ratings"]
    mean = (0.4 + 3 * 0.8) / 4
    assert row["R"] == pytest.approx((mean + mean * BREVITY) / 2)
    assert row["metrics"]["brevity"]["variance"] == pytest.approx(0), "the same for every judge"
    rated.eval("five", "---\nmetrics: {readability: 1, brevity: 1}\n---\nDo it.\n")
    five = told(rated, "half", "--eval=five")
    assert five["ratings"][0]["metrics"]["brevity"]["mean"] == BREVITY
    assert "five: brevity counts in full: no check and no judge says what works there." in five["warnings"]


TOKENS = """
models = {"none": ["fixed"]}
def command(): return "touch one two"
def read(output):
    return {"usage": {"input_tokens": 30000, "cached_tokens": 20000, "output_tokens": 1600, "cost_usd": 0.3}}
"""


def test_tokens_weigh_what_they_cost_and_dollars_have_a_par(rated):
    rated.agent("told", TOKENS)
    rated.eval("usage", EVAL.format(metrics="{checks: 1, tokens: 1, cost: 1}\npar: {tokens: 20000}", floor=0))
    (row,) = told(rated, "told", "--eval=usage")["ratings"]
    # 10,000 uncached + a tenth of 20,000 cached + five times 1,600 = 20,000, which is par; $.30 against a par of $.10.
    assert row["metrics"]["tokens"]["mean"] == pytest.approx(0.5)
    assert row["metrics"]["cost"]["mean"] == pytest.approx(0.1 / 0.4)
    rated.agent("told", TOKENS.replace(', "cost_usd": 0.3', "").replace('"cached_tokens": 20000, ', ""))
    (row,) = told(rated, "told", "--eval=usage")["ratings"]
    assert row["metrics"]["tokens"]["mean"] == pytest.approx(20 / (20 + 38)), "what nobody knows to be cached is not"
    assert row["usage"]["cost_usd"] == 0, "it asks no model, so its cost is known"

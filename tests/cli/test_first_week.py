"""A new user's path without surprises: every number that a command tells is the one that the test computes itself."""

from __future__ import annotations

import json
from typing import Any

import pytest

from helpers.user_project import UserProject

SANDBOX = "none"
AGENT = 'models = {"none": ["fixed"]}\n\n\ndef command(prompt):\n    return ["python3", "tools/worker.py", prompt]\n'
WORKER = """
import sys
from pathlib import Path

Path("length.txt").write_text("{length}")
Path("style.txt").write_text("{style}")
"""
EVAL = """
---
checks:
  - {{name: has-length, run: test -s length.txt}}
  - {{name: is-long, run: grep -q 0.9 length.txt}}
---
{prompt}
"""
SCORE = '"""What the worker says of its {name}."""\n\n\ndef score(run):\n    return float(run.read("{name}.txt"))\n'
Weights = dict[str, float]


def write_worker(project: UserProject, length: float, style: float) -> None:
    project.write("tools/worker.py", WORKER.format(length=length, style=style))


def write_weights(project: UserProject, weights: Weights) -> None:
    project.toml("[metrics]\n" + "".join(f"{name} = {weight}\n" for name, weight in weights.items()))


def rating(weights: Weights, length: float, style: float) -> float:
    """R by hand: one of two checks passes, and both if the length is 0.9."""
    scores = {"checks": 1.0 if length == 0.9 else 0.5, "length": length, "style": style}
    return sum(weight * scores[name] for name, weight in weights.items()) / sum(weights.values())


def said(project: UserProject, *words: str, status: int = 0) -> Any:
    done = project.orvl(*words, "--json")
    assert done.status == status, done.err
    return done.json


def same_everywhere(project: UserProject, expected: dict[str, list[float]]) -> None:
    """R of the worker, by eval and episode, as every command that reads the store tells it."""
    means = {name: sum(R) / len(R) for name, R in expected.items()}
    (row,) = said(project, "report", "worker")["ratings"]
    assert row["R"] == pytest.approx(sum(means.values()) / len(means))
    assert row["runs"]["rated"] == row["runs"]["planned"] == sum(map(len, expected.values()))
    cells = said(project, "report", "worker", "--by", "eval")["ratings"]
    assert {cell["eval"]: cell["R"] for cell in cells} == {name: pytest.approx(R) for name, R in means.items()}
    matrix = said(project, "report", "worker", "--matrix")["matrix"]
    assert dict(zip(matrix["evals"], matrix["R"][0], strict=True)) == pytest.approx(means)
    (explained,) = said(project, "show", "worker")["ratings"]
    assert explained["R"] == pytest.approx(row["R"])
    adds_up(explained["rating"])
    for name, R in means.items():
        (one,) = said(project, "show", f"worker/{name}")["ratings"]
        assert one["R"] == pytest.approx(R)
        adds_up(one["rating"])
    exported = project.orvl("export", "runs", "-", "--format=jsonl", "worker").out
    runs = [json.loads(line) for line in exported.splitlines()]
    assert len(runs) == sum(map(len, expected.values()))
    for run in runs:
        R = expected[run["eval"]][run["episode"] - 1]
        assert run["R"] == pytest.approx(R) and run["current"]
        shown = said(project, "show", run["run"])
        assert shown["rating"]["R"] == pytest.approx(R)
        adds_up(shown["rating"])
        scores = {score["metric"]: score["value"] for score in shown["attempts"][-1]["scores"]}
        weights = json.loads(run["weights"])
        assert sum(weights.values()) == pytest.approx(1)
        assert sum(weight * scores[name] for name, weight in weights.items()) == pytest.approx(R)
    lines = project.orvl("export", "scores", "-", "--format=jsonl", "worker").out.splitlines()
    points: dict[str, float] = {}
    for score in map(json.loads, lines):
        points[score["run"]] = points.get(score["run"], 0.0) + (score["weight"] or 0.0) * score["value"]
    assert points == {run["run"]: pytest.approx(run["R"]) for run in runs}


def adds_up(told: dict[str, Any]) -> None:
    """weights × scores = R, and what was lost is the rest."""
    assert sum(line["points"] for line in told["lines"]) == pytest.approx(told["R"])
    assert sum(line["lost"] for line in told["lines"]) == pytest.approx(1 - told["R"])
    assert sum(line["weight"] for line in told["lines"]) == pytest.approx(1)


def test_from_init_to_gc_every_number_is_the_one_by_hand(project):
    weights: Weights = {"checks": 2, "length": 1, "style": 1}
    assert project.orvl("init").status == 0
    # An own eval and an own agent, a script beside it, and own metrics.
    for name in ("length", "style"):
        project.score(name, SCORE.format(name=name))
    for name in ("essay", "letter"):
        project.eval(name, EVAL.format(prompt=f"Write an {name}."))
    project.agent("worker", AGENT)
    write_worker(project, length=0.25, style=0.75)
    write_weights(project, weights)

    planned = said(project, "worker", "--eval=essay,letter", "--dry-run")["plan"]
    assert (planned["to_run"], planned["reused"], planned["changed"]) == (2, 0, [])
    ran = said(project, "worker", "--eval=essay,letter", "--episodes=2")
    first = rating(weights, 0.25, 0.75)
    assert {row["eval"]: row["R"] for row in ran["ratings"]} == {
        "essay": pytest.approx(first),
        "letter": pytest.approx(first),
    }
    same_everywhere(project, {"essay": [first] * 2, "letter": [first] * 2})

    # Nothing has changed: nothing runs.
    attempts = project.rows("SELECT count(*) FROM attempt")
    assert said(project, "worker", "--eval=essay,letter", "--episodes=2")["ratings"] == ran["ratings"]
    assert project.rows("SELECT count(*) FROM attempt") == attempts == [(4,)]

    # Other weights rate again, and run and score nothing.
    weights = {"checks": 1, "length": 4, "style": 0}
    write_weights(project, weights)
    scores = project.rows("SELECT count(*) FROM score")
    second = rating(weights, 0.25, 0.75)
    assert second != first
    same_everywhere(project, {"essay": [second] * 2, "letter": [second] * 2})
    assert project.rows("SELECT count(*) FROM score") == scores
    planned = said(project, "worker", "--eval=essay,letter", "--episodes=2", "--dry-run")["plan"]
    assert (planned["to_run"], planned["scored_again"], planned["reused"]) == (0, 0, 4)

    # Another script is another agent: it runs again, a dry run says why, and what it did before is history.
    write_worker(project, length=0.9, style=0.5)
    planned = said(project, "worker", "--eval=essay,letter", "--episodes=2", "--dry-run")["plan"]
    assert planned["to_run"] == 4
    assert {tuple(cell["changed"]) for cell in planned["changed"]} == {("tools/worker.py",)}
    assert "tools/worker.py" in project.orvl("worker", "--eval=essay", "--dry-run").out
    assert said(project, "report", "worker", "--history")["ratings"] == []
    ran = said(project, "worker", "--eval=essay,letter", "--episodes=2")
    third = rating(weights, 0.9, 0.5)
    assert [row["R"] for row in ran["ratings"]] == [pytest.approx(third)] * 2
    same_everywhere(project, {"essay": [third] * 2, "letter": [third] * 2})
    past = said(project, "report", "--history")["history"]
    assert [row["R"] for row in past] == [pytest.approx(second)] * 2 and {row["runs"] for row in past} == {2}

    # The script as it was: its runs count again, without running.
    write_worker(project, length=0.25, style=0.75)
    same_everywhere(project, {"essay": [second] * 2, "letter": [second] * 2})
    write_worker(project, length=0.9, style=0.5)

    # One run less, and then all of an eval.
    doomed = said(project, "show", "worker/letter/2")["run"]
    assert project.orvl("gc", "--runs", doomed[:12]).status == 2  # nobody was asked
    assert project.orvl("gc", "--runs", doomed[:12], "--yes").status == 0
    same_everywhere(project, {"essay": [third] * 2, "letter": [third]})
    planned = said(project, "worker", "--eval=essay,letter", "--episodes=2", "--dry-run")["plan"]
    assert (planned["to_run"], planned["reused"]) == (1, 3)
    assert project.orvl("gc", "--runs", "worker", "--eval=letter", "--yes").status == 0
    same_everywhere(project, {"essay": [third] * 2})
    assert project.orvl("doctor").status == 0

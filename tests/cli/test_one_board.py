"""Rows are compared over evals that they share, ratings are explained, and runs can be dropped."""

from __future__ import annotations

import csv
import io
import json
import math
import os
import random
import re
import signal
import subprocess
import time
from typing import Any

import pytest

import orvl
from helpers.user_project import UserProject, blob_keys
from orvl.rate.board import MetricRow, Row, Rules, Scores, rate_groups
from orvl.rate.common import common_evals
from orvl.rate.ledger import ledger_of_run, mean_of
from orvl.types import Layout

SANDBOX = "none"
AGENT = """
models = {{"none": ["fixed"]}}
VALUES = {values}
def command(prompt):
    if prompt not in VALUES: raise LookupError(prompt)
    return ["sh", "-c", f"echo {{VALUES[prompt]}} > value.txt"]
"""
GIVEN = "def score(run): return float(run.read('value.txt'))\n"


def contestant(project: UserProject, name: str, **values: float) -> None:
    project.agent(name, AGENT.format(values=values))


@pytest.fixture
def board(project: UserProject) -> UserProject:
    project.score("given", GIVEN)
    return project


def evals(project: UserProject, *names: str) -> None:
    for name in names:
        project.eval(name, f"---\nmetrics: {{given: 1}}\n---\n{name}\n")


def report(project: UserProject, *flags: str) -> Any:
    done = project.orvl("report", "--json", *flags)
    assert done.status == 0, done.err
    return done.json


# -- common evals


def test_an_agent_whose_hard_evals_errored_does_not_stand_above_one_that_did_them(board):
    evals(board, "a", "b", "c", "hard")
    contestant(board, "brave", a=0.9, b=0.9, c=0.9, hard=0.1)
    contestant(board, "absent", a=0.8, b=0.8, c=0.8)
    board.orvl("brave,absent")
    shown = report(board)
    rows = {row["agent"]: row["R"] for row in shown["ratings"]}
    assert rows == {"brave": pytest.approx(0.9), "absent": pytest.approx(0.8)}
    assert shown["common"]["evals"] == ["a", "b", "c"] and shown["common"]["left_out"] == ["hard"]
    assert {row["agent"]: row["own_R"] for row in shown["common"]["rows"]}["brave"] == pytest.approx(0.7)
    assert any("R is over the 3 evals" in one and "hard (not rated: absent" in one for one in shown["warnings"])
    table = board.orvl("report").out
    assert table.index("brave") < table.index("absent") and "R is over the 3 evals" in table


def test_an_agent_with_one_easy_eval_is_marked_and_not_ranked(board):
    names = [f"e{number}" for number in range(9)]
    evals(board, *names)
    contestant(board, "many", **dict.fromkeys(names, 0.5))
    contestant(board, "other", **dict.fromkeys(names, 0.4))
    contestant(board, "one", e0=1.0)
    for agent, words in (("many", ()), ("other", ()), ("one", ("--eval", "e0"))):
        assert board.orvl(agent, *words).status == 0
    shown = report(board)
    assert {row["agent"]: row["R"] for row in shown["ratings"]} == {"many": 0.5, "other": 0.4, "one": 1.0}
    assert {row["agent"]: row["ranked"] for row in shown["common"]["rows"]} == {
        "many": True,
        "other": True,
        "one": False,
    }
    assert {row["agent"]: row["rank"] for row in shown["ratings"]}["one"] is None
    lines = [line for line in board.orvl("report").out.splitlines() if "none" in line]
    assert [line.split()[:2] for line in lines[:3]] == [["1", "many"], ["1", "other"], ["–", "one"]]
    assert "1.000°" in lines[2]
    assert any("one fixed none is rated on other evals (e0)" in warning for warning in shown["warnings"])


def rows_of(**agents: dict[str, float | None]) -> list[Row]:
    return [Row(name, "m", "p", eval_, R=R) for name, evals_ in agents.items() for eval_, R in evals_.items()]


def test_rows_without_anything_in_common_are_not_ranked_at_all():
    common = common_evals(rows_of(x={"a": 1.0, "b": 1.0}, y={"c": 0.5, "d": 0.5}), ())
    assert common.elsewhere == {("x", "m", "p"), ("y", "m", "p")}
    assert len(common.sentences()) == 2


def test_controls_keep_nobody_from_an_eval():
    rows = rows_of(x={"a": 1.0, "b": 1.0}, y={"a": 0.5, "b": 0.5}, good={"a": 1.0})
    assert common_evals(rows, {"good"}).evals is None


@pytest.mark.parametrize("seed", range(200))
def test_nobody_is_above_another_because_of_other_evals(seed):
    """Of random boards: all ranked rows have all common evals, which are at least half of what they have."""
    rng = random.Random(seed)
    names = [f"e{number}" for number in range(rng.randint(1, 12))]
    agents = {
        f"a{number}": {name: rng.random() if rng.random() < rng.choice((0.2, 0.7, 1)) else None for name in names}
        for number in range(rng.randint(1, 6))
    }
    common = common_evals(rows_of(**agents), ())
    rated = {agent: {name for name, R in some.items() if R is not None} for agent, some in agents.items()}
    rated = {agent: some for agent, some in rated.items() if some}
    if common.evals is None:
        assert len({frozenset(some) for some in rated.values()}) <= 1
        return
    ranked = [some for agent, some in rated.items() if (agent, "m", "p") not in common.elsewhere]
    if ranked:
        assert all(common.evals <= some for some in ranked)
        assert len(common.evals) >= 0.5 * len(set().union(*ranked))
        assert common.evals == set.intersection(*ranked)


# -- all evals, tiers


def test_all_means_the_projects_own_evals_and_tiers_are_words(board):
    evals(board, "mine")
    contestant(board, "x", mine=1.0)

    def planned(*words: str) -> set[str]:
        done = board.orvl(*words, "--dry-run", "--json")
        assert done.status == 0, done.err
        return {run["eval"] for run in done.json["plan"]["runs"]}

    assert planned("x") == planned("x", "--eval", "all") == {"mine"}
    smoke, basics = planned("x", "--eval", "smoke"), planned("x", "--eval", "basics")
    assert smoke == {"hello-world", "fix-slugs", "kitchen-converter"}
    assert not smoke & basics and len(basics) == 5
    assert planned("x", "--eval", "mine,hello-world") == {"mine", "hello-world"}
    board.toml('evals = ["smoke", "parse-*"]\n')
    assert planned("x") == {"mine", "parse-logs"} | smoke
    board.eval("smoke", "---\nmetrics: {given: 1}\n---\nA name comes before a tier.\n")
    assert planned("x", "--eval", "smoke") == {"smoke"}
    listed = {row["name"]: row for row in board.orvl("list", "evals", "--json").json["evals"]}
    assert listed["mine"]["all"] == "yes" and listed["todo-cli"]["all"] == "" and listed["todo-cli"]["tier"] == "basics"
    board.toml('evals = ["smok"]\n')
    refused = board.orvl("x", "--dry-run")
    assert refused.status == 2 and "orvl.toml:1" in refused.err and "'smoke'" in refused.err


STORED = {
    "report": ("report", "--by=eval", "--json"),
    "export": ("export", "runs", "-", "--format=jsonl"),
    "compare": ("compare", "x", "y", "--json"),
    "label": ("label", "--whole", "--person=me", "--json"),
    "gc": ("gc", "--runs", "--dry-run"),
    "endpoints": ("endpoints", "--json"),
}
"""Commands that take an eval, and look into the store."""


def test_tiers_are_words_for_stored_evals_in_every_command(board):
    for name, tier in (("quick", "small"), ("slow", "large"), ("other", ""), ("unrun", "small"), ("later", "unused")):
        front = f"tier: {tier}\n" if tier else ""
        board.eval(name, f"---\nmetrics: {{given: 1}}\n{front}---\n{name}\n")
    contestant(board, "x", quick=1.0, slow=0.5, other=0.25)
    contestant(board, "y", quick=0.5, slow=0.5, other=0.5)
    assert board.orvl("x,y", "--eval=quick,slow,other").status == 0

    def seen(command: str, word: str) -> set[str]:
        done = board.orvl(*STORED[command], f"--eval={word}")
        assert done.status == 0, (command, done.err)
        return {name for name in ("quick", "slow", "other", "unrun") if re.search(rf"\b{name}\b", done.out)}

    for command in STORED:
        told = command != "endpoints"  # no model was called
        assert seen(command, "small") == ({"quick"} if told else set())
        assert seen(command, "small,other") == ({"quick", "other"} if told else set())
        assert seen(command, "all") == ({"quick", "slow", "other"} if told else set())
        refused = board.orvl(*STORED[command], "--eval=unused")
        assert refused.status == 2 and "The store has no run of the tier 'unused'." in refused.err
        refused = board.orvl(*STORED[command], "--eval=smal")
        assert refused.status == 2 and "Did you mean 'small'?" in refused.err
    assert {row.eval for row in orvl.open(board.root).results(eval="small").ratings} == {"quick"}


def test_the_project_that_init_makes_runs_one_eval(project):
    assert project.orvl("init").status == 0
    done = project.orvl("my-agent", "--json")
    assert [(row["eval"], row["runs"]["planned"]) for row in done.json["ratings"]] == [("greeting", 1)]


# -- a rating explained


def random_runs(rng: random.Random) -> tuple[list[Row], float]:
    """Runs of one cell with random scores, weights, judges and abstentions, rated as a report does."""
    import numpy as np

    judges, metrics, runs = rng.randint(1, 4), rng.randint(1, 5), rng.randint(1, 6)
    judged = tuple(rng.random() < 0.6 for _ in range(metrics))
    S = np.array([[[rng.random() for _ in range(metrics)] for _ in range(judges)] for _ in range(runs)])
    for j, is_judged in enumerate(judged):
        if not is_judged:
            S[:, :, j] = S[:, :1, j]
    S[np.array([[[rng.random() < 0.2] * metrics for _ in range(judges)] for _ in range(runs)])] = np.nan
    layout = Layout(
        "k", tuple((f"j{i}", f"k{i}") for i in range(judges)), tuple((f"m{i}", f"k{i}") for i in range(metrics)), judged
    )
    weights = [rng.choice((0.0, 1.0, 2.5)) for _ in range(metrics)]
    weights[0] = weights[0] or 1.0
    scores = Scores(layout, weights, [rng.random() + 0.1 for _ in range(judges)], S)
    rules = Rules(penalty=rng.choice((0.0, 0.5, 1.0)), quorum=0.5)
    groups, _ = rate_groups([1] * runs, scores, rules)
    return [Row("a", "m", "p", "e", **vars(group)) for group in groups], rules.penalty


@pytest.mark.parametrize("seed", range(100))
def test_weights_times_scores_are_R_and_what_is_lost_is_the_rest(seed):
    rows, penalty = random_runs(random.Random(seed))
    ledgers = [ledger for row in rows if (ledger := ledger_of_run(row, penalty))]
    for row, ledger in zip([row for row in rows if row.R is not None], ledgers, strict=True):
        assert math.isclose(math.fsum(line.points for line in ledger.lines), row.R, abs_tol=1e-12)
        assert math.isclose(math.fsum(line.lost for line in ledger.lines), 1 - row.R, abs_tol=1e-12)
        charge = math.fsum(line.charge for line in ledger.lines)
        assert math.isclose(row.R - penalty * charge, row.R_pen, abs_tol=1e-12)
        assert math.isclose(math.fsum(line.share for line in ledger.lines), 1, abs_tol=1e-12)
        assert [line.lost for line in ledger.lines] == sorted((line.lost for line in ledger.lines), reverse=True)
    if ledgers:
        whole = mean_of(ledgers)
        mean = math.fsum(row.R for row in rows if row.R is not None) / len(ledgers)
        assert math.isclose(math.fsum(line.points for line in whole.lines), mean, abs_tol=1e-12)


def test_an_unrated_metric_is_named_and_its_weight_spread():
    metrics = {"a": MetricRow(0.5, 0.8, 0.0, {}, 0, 0), "b": MetricRow(0.5, None, None, {"j": None}, 1, 1)}
    ledger = ledger_of_run(Row("x", "m", "p", "e", R=0.8, R_pen=0.8, metrics=metrics), 0.5)
    assert ledger and ledger.unrated == ("b",)
    assert {line.metric: line.share for line in ledger.lines} == {"a": 1.0, "b": 0.0}


@pytest.fixture
def judged(board: UserProject) -> UserProject:
    board.toml(
        """
        [judges.ann]
        answers = {readability = 0.4}
        [judges.bob]
        answers = {readability = 0.8}
        """
    )
    for name in ("one", "two"):
        board.eval(name, f"---\nmetrics: {{given: 3, readability: 1}}\n---\n{name}\n")
    contestant(board, "x", one=0.5, two=1.0)
    done = board.orvl("x")
    assert done.status == 0, done.err
    return board


def test_show_explains_a_run_an_eval_and_a_row(judged):
    runs = {row["eval"]: row for row in report(judged, "--by", "run")["ratings"]}
    shown = judged.orvl("show", "x/one/1", "--json").json["rating"]
    assert shown["R"] == runs["one"]["R"] and shown["R_pen"] == runs["one"]["R_pen"]
    lines = {line["metric"]: line for line in shown["lines"]}
    assert lines["given"]["share"] * lines["given"]["score"] == pytest.approx(0.375)
    assert lines["readability"]["judges"] == {"ann": 0.4, "bob": 0.8}
    assert [line["metric"] for line in shown["lines"]] == ["given", "readability"]
    text = judged.orvl("show", "x/one/1").out
    assert re.search(r"given +0\.750 +0\.500 +0\.375 +0\.375", text), text
    assert re.search(r"R +1\.000 +0\.525 +0\.475", text), text
    assert "R_pen 0.520" in text
    (row,) = report(judged)["ratings"]
    (explained,) = judged.orvl("show", "x", "--json").json["ratings"]
    assert explained["R"] == explained["rating"]["R"] == row["R"]
    assert math.fsum(line["points"] for line in explained["rating"]["lines"]) == pytest.approx(row["R"], abs=1e-12)
    assert set(explained["evals"]) == {"one", "two"}
    text = judged.orvl("show", "x").out
    assert text.index("one ") < text.index("two ") and "x fixed none: R 0.713" in text
    assert "x fixed none one: R 0.525" in judged.orvl("show", "x/one").out


def test_exports_have_ratings_weights_and_filters(judged):
    def rows(*words: str) -> list[dict[str, str]]:
        done = judged.orvl("export", words[0], "-", *words[1:], "--format", "csv")
        assert done.status == 0, done.err
        return list(csv.DictReader(io.StringIO(done.out)))

    judged.write("evals/one2/eval.md", "---\nmetrics: {given: 1}\n---\none\n")
    judged.write("evals/one2/controls/good/value.txt", "1")
    judged.orvl("dummy-good,x", "--eval", "one2")
    by_run = {row["run"]: row for row in report(judged, "--by", "run")["ratings"]}
    exported = rows("runs")
    assert {row["agent"] for row in exported} == {"x"} and len(exported) == 3
    for row in exported:
        assert float(row["R"]) == by_run[row["run"]]["R"] and float(row["R_pen"]) == by_run[row["run"]]["R_pen"]
        assert sum(json.loads(row["weights"]).values()) == pytest.approx(1)
    assert json.loads(rows("runs", "x", "all", "none", "two")[0]["weights"]) == {"given": 0.75, "readability": 0.25}
    assert {row["agent"] for row in rows("runs", "dummy-good")} == {"dummy-good"}
    assert {row["eval"] for row in rows("runs", "--eval", "o*")} == {"one", "one2"}
    scores = rows("scores", "--eval", "one")
    assert {(row["metric"], row["judge"], float(row["weight"])) for row in scores} == {
        ("given", "", 0.75),
        ("readability", "ann", 0.25),
        ("readability", "bob", 0.25),
    }
    assert {row["metric"] for row in rows("scores", "x", "all", "all", "all", "readability")} == {"readability"}
    refused = judged.orvl("export", "runs", "-", "y", "--format", "csv")
    assert refused.status == 2 and "no agent 'y'" in refused.err


# -- the matrix


def test_the_matrix_has_every_rating_and_says_what_is_missing(board):
    names = [f"a-rather-long-name-{number}" for number in range(5)]
    for name in names:
        board.eval(name, f"---\nmetrics: {{given: 1}}\n---\n{name}\n")
    board.agent("x", AGENT.format(values=dict.fromkeys(names, 0.5)))
    board.agent("y", AGENT.format(values=dict.fromkeys(names[:4], 0.25)))
    board.orvl("x")
    board.orvl("y", "--eval", ",".join(names[2:]))
    matrix = report(board, "--matrix")["matrix"]
    assert [row["agent"] for row in matrix["rows"]] == ["x", "y"] and matrix["evals"] == names
    assert matrix["R"] == [[0.5] * 5, [None, None, 0.25, 0.25, None]]
    for width in ("80", "160"):
        text = board.orvl("report", "--matrix", env={"COLUMNS": width}).out
        assert all(len(line) <= int(width) for line in text.splitlines() if "a-rather" in line or " none" in line)
        table = text[: text.index("R of each cell")]
        assert table.count("a-rather-") == 5 and all(table.count(f"name-{number}") == 1 for number in range(5)), text
        cells = re.findall(r"^ y fixed none +(.*?) *$", text, re.M)
        assert " ".join(cells).split() == ["–", "–", "0.250", "0.250", "!"], text
    assert "0.250" in board.orvl("report", "--matrix").out


# -- dropping runs


def test_runs_are_listed_asked_for_and_dropped_with_all_that_is_known_of_them(judged):
    run = judged.orvl("show", "x/one/1", "--json").json["run"]
    assert judged.orvl("label", "--run", run[:12], "--score", "0.5", "--person", "me").status == 0
    before = report(judged)["ratings"][0]["R"]
    asked = judged.orvl("gc", "--runs", "x", "all", "all", "one")
    assert asked.status == 2 and "--yes" in asked.err and "x " in asked.out and "1 label" in asked.out
    assert judged.orvl("gc", "--runs", "x", "all", "all", "one", "--dry-run").status == 0
    assert report(judged)["ratings"][0]["R"] == before
    done = judged.orvl("gc", "--runs", "x", "all", "all", "one", "--yes")
    assert done.status == 0 and "1 run deleted" in done.out, done.err
    assert [row["eval"] for row in report(judged, "--by", "eval")["ratings"]] == ["two"]
    assert judged.orvl("show", run[:12]).status == 2
    assert judged.rows("SELECT count(*) FROM label") == [(0,)]
    doctor = judged.orvl("doctor")
    assert doctor.status == 0, doctor.out
    assert judged.orvl("x", "--json").status == 0
    assert report(judged)["ratings"][0]["R"] == before


def test_a_run_by_its_key_a_mistyped_provider_and_a_whole_eval_can_be_dropped(judged):
    judged.agent("typo", AGENT.format(values={"one": 0.1}).replace('"none"', '"noone"'))
    judged.rows("UPDATE cell SET provider = 'noone' WHERE eval = 'two'")
    assert judged.orvl("gc", "--runs", "all", "all", "noone", "--yes").status == 0
    assert judged.rows("SELECT DISTINCT eval FROM cell") == [("one",)]
    judged.orvl("x", "--episodes", "2")
    keys = [row["run"] for row in report(judged, "--by", "run")["ratings"] if row["eval"] == "one"]
    assert judged.orvl("gc", "--runs", keys[0][:12], "--yes").status == 0
    assert [row["run"] for row in report(judged, "--by", "run")["ratings"] if row["eval"] == "one"] == keys[1:]
    assert judged.orvl("gc", "--runs", "--eval", "two", "--yes").status == 0
    assert judged.rows("SELECT DISTINCT eval FROM cell JOIN run ON run.cell = cell.id") == [("one",)]
    assert judged.orvl("doctor").status == 0


def test_history_alone_can_be_dropped(judged):
    contestant(judged, "x", one=0.7, two=0.7)
    judged.orvl("x")
    assert len(report(judged, "--history")["history"]) == 2
    assert judged.orvl("gc", "--runs", "--history", "--yes").status == 0
    assert report(judged, "--history")["history"] == [] and report(judged)["ratings"][0]["runs"]["rated"] == 2


@pytest.mark.parametrize("words", [("x",), ("--history",), ("--eval", "one")])
def test_words_without_the_flag_delete_nothing(judged, words):
    assert judged.orvl("gc", *words).status == 2
    assert judged.orvl("gc", "--runs").status == 2
    assert report(judged)["ratings"][0]["runs"]["rated"] == 2


@pytest.mark.nightly
def test_a_kill_at_any_moment_leaves_a_sound_store(judged):
    """The runs are there, or they are gone; blobs that nothing refers to go the next time."""
    rng = random.Random(5)
    for wait in [rng.uniform(0, 0.6) for _ in range(6)]:
        judged.orvl("x", "--episodes", "3")
        process = subprocess.Popen(
            [*judged.command, "gc", "--runs", "x", "--yes"],
            cwd=judged.root,
            env=judged.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert judged.rows("SELECT count(*) FROM run")[0][0] in (0, 6)
        doctor = judged.orvl("doctor")
        assert doctor.status == 0, doctor.out
    judged.orvl("gc", "--runs", "x", "--yes")
    assert judged.orvl("gc").status == 0
    assert blob_keys(judged.root / ".orvl") == []

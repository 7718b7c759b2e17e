"""`--baseline`: only worse beyond chance fails, and what cannot be told is said."""

from __future__ import annotations

import json
import subprocess

import pytest

from helpers.graded import EIGHT, all_eight, grade

SANDBOX = "none"
EVALS = f"--eval={','.join(EIGHT)}"


@pytest.fixture
def before(project):
    """A project whose agent earned 0.9 everywhere when base.json was written; its file may change now."""
    grade(project, "mine", all_eight(0.9))
    assert project.orvl("mine", EVALS).status == 0
    report = project.orvl("report", "--json")
    project.write("base.json", report.out)
    return project


def change(project, ratings):
    grade(project, "mine", ratings)
    return project.orvl("mine", EVALS, "--baseline=base.json")


def test_worse_beyond_chance_fails_with_the_decision_of_compare(before):
    done = change(before, all_eight(0.1))
    assert done.status == 4
    assert "mine m none: WORSE. Now − baseline: -0.800" in done.out
    assert "(20 are enough)" in done.out
    row = before.orvl("report", "--baseline=base.json", "--json").json["gate"]["baseline"]["rows"][0]
    assert (row["verdict"], row["difference"]["n"], row["difference"]["significant"]) == ("WORSE", 8, True)
    assert row["difference"]["e_value"] >= 20
    # The same ratings, compared as two contestants, get the same number.
    grade(before, "then", all_eight(0.9))
    before.orvl("then", EVALS)
    compared = before.orvl("compare", "mine", "then", "--json").json
    assert compared["difference"]["e_value"] == pytest.approx(row["difference"]["e_value"])


def test_a_little_worse_is_not_beyond_chance_and_says_what_would_be_needed(before):
    done = change(before, all_eight(0.8))
    assert done.status == 0
    assert "PASSED" in done.out
    assert "mine m none: NOT ENOUGH EVIDENCE. Now − baseline: -0.100" in done.out
    assert "would settle it" in done.out


def test_better_passes(before):
    grade(before, "mine", all_eight(0.1))
    before.orvl("mine", EVALS)
    before.write("base.json", before.orvl("report", "--json").out)
    done = change(before, all_eight(0.9))
    assert (done.status, "BETTER" in done.out) == (0, True)


def test_too_few_common_evals_cannot_tell(project):
    five = dict.fromkeys(EIGHT[:5], 0.9)
    grade(project, "mine", five)
    project.orvl("mine", f"--eval={','.join(five)}")
    project.write("base.json", project.orvl("report", "--json").out)
    grade(project, "mine", dict.fromkeys(five, 0.0))
    done = project.orvl("mine", f"--eval={','.join(five)}", "--baseline=base.json")
    assert done.status == 0
    assert "CANNOT TELL" in done.out
    assert "add at least 1" in done.out
    row = project.orvl("report", "--baseline=base.json", "--json").json["gate"]["baseline"]["rows"][0]
    assert (row["verdict"], row["state"]) == ("CANNOT TELL", "undecided")


def test_an_eval_that_is_not_rated_any_more_is_no_pass(before):
    done = change(before, {**all_eight(0.9), "e3": None})
    assert done.status == 1
    assert "mine m none: 1 eval rated in the baseline, not fully rated now: e3." in done.out
    report = before.orvl("report", "--baseline=base.json")
    assert (report.status, "UNDECIDED" in report.out) == (1, True)


def test_families_are_one_piece_of_evidence(before):
    for name in EIGHT:
        before.eval(name, f"---\nmetrics: {{value: 1}}\nfamily: same\n---\n{name}\n")
    before.agent("mine", (before.root / "agents/mine.py").read_text().replace("0.9", "0.1"))
    done = before.orvl("mine", EVALS, "--baseline=base.json")
    assert (done.status, "8 evals of 1 family" in done.out, "CANNOT TELL" in done.out) == (0, True, True)


@pytest.mark.parametrize(
    "text",
    [
        "---\nmetrics: {value: 1}\n---\nanother prompt\n",
        "---\nmetrics: {value: 1, speed: 1}\n---\ne1\n",
    ],
)
def test_an_eval_that_has_changed_is_no_pair(before, text):
    before.eval("e1", text)
    before.agent("mine", (before.root / "agents/mine.py").read_text().replace("else None", "else 0.0"))
    done = before.orvl("mine", EVALS, "--baseline=base.json")
    assert done.status == 0, done.out
    assert "1 eval not compared, because prompts, metrics, judges or weights have changed: e1." in done.out
    assert "over 7 evals" in done.out


def test_a_new_contestant_is_said_to_be_new_and_alone_is_no_pass(before):
    grade(before, "other", all_eight(0.5))
    both = before.orvl("mine,other", EVALS, "--baseline=base.json")
    assert (both.status, "other m none: NEW." in both.out) == (0, True)
    alone = before.orvl("other", EVALS, "--baseline=base.json")
    assert (alone.status, "which is no pass" in alone.out) == (1, True)
    assert "Only in the baseline, so not compared: mine m none." in alone.out


@pytest.mark.parametrize("flags", [("report", "--by=eval"), ("report", "--matrix"), ("mine", EVALS)])
def test_what_else_is_a_baseline(before, flags):
    before.write("other.json", before.orvl(*flags, "--json").out)
    grade(before, "mine", all_eight(0.1))
    assert before.orvl("mine", EVALS, "--baseline=other.json").status == 4


def test_a_report_of_an_older_orvl_has_no_fingerprints(before):
    rows = before.orvl("report", "--by=eval", "--json").json
    for row in rows["ratings"]:
        del row["scoring"]
    before.write("base.json", json.dumps(rows))
    assert change(before, all_eight(0.1)).status == 4


def git(project, *words):
    who = ("-c", "user.name=x", "-c", "user.email=x@localhost", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *who, *words], cwd=project.root, check=True, capture_output=True)


def test_a_baseline_that_git_has(before):
    git(before, "init", "-q", "-b", "main")
    git(before, "add", "base.json")
    git(before, "commit", "-q", "-m", "x")
    (before.root / "base.json").unlink()
    grade(before, "mine", all_eight(0.1))
    for word in ("main:base.json", "HEAD:./base.json"):
        assert before.orvl("mine", EVALS, f"--baseline={word}").status == 4
    for word in ("main:bass.json", "mian:base.json"):
        wrong = before.orvl("report", f"--baseline={word}")
        assert (wrong.status, "git does not have it" in wrong.err) == (2, True)
    refused = before.orvl("report", "--baseline=--batch:x")
    assert (refused.status, "not REF:PATH of git" in refused.err) == (2, True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a JSON report"),
        ("[" * 100_000, "is not a JSON report"),
        ("[]", "it has no ratings"),
        ('{"schema": 2, "ratings": []}', "has the schema 2"),
        ('{"schema": 1, "ratings": []}', "has no ratings by eval"),
        ('{"schema": 1, "ratings": [{"agent": "a", "eval": null, "R": 1}]}', "has no ratings by eval"),
        ('{"schema": 1, "ratings": [{"agent": "a", "eval": "e", "R": NaN}]}', "NaN is no number"),
        ('{"schema": 1, "ratings": [{"agent": "a", "eval": "e", "R": 1.5}]}', "from 0 to 1"),
        ('{"schema": 1, "ratings": [{"agent": "a", "eval": "e", "R": true}]}', "from 0 to 1"),
        ('{"schema": 1, "ratings": [{"agent": ["a"], "eval": "e", "R": 1}]}', "does not name"),
        ('{"schema": 1, "ratings": [], "cells": [7]}', "does not name"),
        (
            '{"schema": 1, "ratings": [], "cells": [{"agent": "a", "eval": "e"}, {"agent": "a", "eval": "e"}]}',
            "two ratings",
        ),
    ],
)
def test_a_file_that_is_no_report_is_a_sentence(small, text, said):
    assert small.orvl("writer", "--eval=one").status == 0
    small.write("base.json", text)
    done = small.orvl("report", "--baseline=base.json")
    assert (done.status, said in done.err) == (2, True), done.err
    assert "Traceback" not in done.err


def test_a_wrong_baseline_is_told_before_anything_runs(small):
    small.write("base.json", "{}")
    done = small.orvl("writer", "--eval=one", "--baseline=bsae.json")
    assert (done.status, "Did you mean 'base.json'?" in done.err) == (2, True)
    assert not (small.root / ".orvl").exists()


def test_changed_weights_are_no_pair(project):
    grade(project, "mine", {"e1": 0.9})
    project.score("other", "def score(run): return 0.0\n")
    project.eval("e1", "---\nmetrics: {value: 1, other: 1}\n---\ne1\n")
    assert project.orvl("mine", "--eval=e1").status == 0
    project.write("base.json", project.orvl("report", "--json").out)
    assert "not compared" not in project.orvl("report", "--baseline=base.json").out
    project.eval("e1", "---\nmetrics: {value: 3, other: 1}\n---\ne1\n")
    assert "weights have changed: e1." in project.orvl("report", "--baseline=base.json").out


def test_a_rating_that_lacked_a_metric_is_no_pair(before):
    report = json.loads((before.root / "base.json").read_text())
    report["cells"][0]["missing"] = ["value"]
    before.write("base.json", json.dumps(report))
    done = before.orvl("report", "--baseline=base.json")
    assert "1 eval not compared, because metrics are missing in the baseline: e" in done.out
    assert "over 7 evals" in done.out

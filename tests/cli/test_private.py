"""A private eval: its ratings are written for others, and nothing else of it."""

from __future__ import annotations

import shutil

import pytest

from helpers.viewing import viewing
from orvl.testing import ModelServer

SECRETS = (
    "hush-prompt",
    "hush-file",
    "hush-check",
    "hush-work",
    "hush-said",
    "hush-item",
    "hush-canary",
    "hush-hidden",
)
EVAL = """
---
description: hush-prompt in short
private: true
canary: hush-canary-51ac9e7f
metrics: {checks: 1, functionality: 1, broken: 1}
items: {functionality: [The hush-item is kept.]}
checks: [{name: hush-check, run: sh checks/hidden.sh}]
---
Write hush-prompt.
---
Now fail.
"""
AGENT = """
models = {"none": ["fixed"]}

def command(prompt, turn):
    if "Anything" in prompt:
        return "true"
    script = "echo hush-work > hush-file.txt; echo hush-said >&2; exit %d" % (turn - 1)
    return ["sh", "-c", script]
"""
BROKEN = 'def score(run): raise ValueError("hush-said " + run.read("hush-file.txt"))\n'


@pytest.fixture
def hushed(project):
    project.write("evals/secret/eval.md", EVAL)
    project.write("evals/secret/workspace/given.txt", "hush-file\n")
    project.write("evals/secret/checks/hidden.sh", "echo hush-hidden; false\n")
    project.eval("open", "---\nmetrics: {speed: 1}\n---\nAnything at all.\n")
    project.score("broken", BROKEN)
    project.agent("mine", AGENT)
    project.agent("gone", 'models = {"none": ["fixed"]}\ndef command(): return ["hush-said-no-such-program"]\n')
    project.toml('[judges.fixed]\nanswers = "no"\n')
    project.orvl("mine", "--eval=secret,open", "--episodes=2")
    project.orvl("gone", "--eval=secret")
    return project


def assert_nothing(text: str, *, but: str = "secret") -> None:
    assert but in text
    for secret in SECRETS:
        assert secret not in text, text[max(0, text.index(secret) - 200) :][:400]


@pytest.mark.parametrize("by", ["agent", "eval", "run"])
@pytest.mark.parametrize("form", ["--json", "--csv", "--md=-"])
def test_reports_have_its_ratings_alone(hushed, by, form):
    done = hushed.orvl("report", f"--by={by}", form)
    assert done.status == 0
    assert_nothing(done.out + done.err, but="mine" if by == "agent" else "secret")


def test_the_table_and_the_run_itself_say_what_they_may(hushed):
    assert_nothing(hushed.orvl("report", "--by=run").out)
    again = hushed.orvl("mine", "--eval=secret", "--episodes=2", "--json")
    assert_nothing(again.out)


def test_junit_has_its_name(hushed, tmp_path):
    hushed.orvl("report", "--junit", str(tmp_path / "junit.xml"), "--fail-under=0.9")
    text = (tmp_path / "junit.xml").read_text()
    assert_nothing(text)
    assert "the eval is private" in text


def test_the_one_file_report_has_its_ratings(hushed, tmp_path):
    assert hushed.orvl("report", "--html", str(tmp_path / "report.html")).status == 0
    text = (tmp_path / "report.html").read_text()
    assert_nothing(text)
    assert "It is private: its ratings are all that is said of it here." in text
    assert "Anything at all." in text, "the other eval is there with all of its words"


@pytest.mark.parametrize("what", ["runs", "scores"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_exports_have_its_numbers(hushed, tmp_path, what, form):
    done = hushed.orvl("export", what, str(tmp_path / f"out.{form}"))
    assert "Of private evals only numbers are written: secret." in done.err
    assert_nothing((tmp_path / f"out.{form}").read_text())


def test_trajectories_stay(hushed, tmp_path):
    done = hushed.orvl("export", "atif", "--output", str(tmp_path / "atif"))
    assert "Left out 3 runs of private evals: secret." in done.err
    files = list((tmp_path / "atif").iterdir())
    assert len(files) == 2
    assert_nothing("".join(file.read_text() for file in files), but="Anything at all.")
    named = hushed.orvl("export", "atif", "mine/secret/1", "--output", "-")
    assert named.status == 2 and "The eval secret is private" in named.err and not named.out


def test_it_stays_private_when_its_file_is_gone(hushed, tmp_path):
    shutil.rmtree(hushed.root / "evals/secret")
    done = hushed.orvl("export", "runs", str(tmp_path / "out.csv"), "--history")
    assert done.status == 0
    assert_nothing((tmp_path / "out.csv").read_text())
    assert "Left out" in hushed.orvl("export", "atif", "--output", str(tmp_path / "atif"), "--history").err


def test_on_this_machine_it_can_be_looked_at(hushed):
    run = hushed.orvl("show", "mine/secret/1", "--json").json["run"]
    assert "hush-said" in hushed.orvl("show", "mine/secret/1").out
    with viewing(hushed) as viewer:
        assert "hush-prompt" in viewer.get("/eval/secret").text
        assert "hush-check" in viewer.get(f"/run/{run}").text


def test_a_dry_run_says_who_sees_it(project):
    project.write("evals/secret/eval.md", EVAL.replace(", broken: 1", ""))
    project.write("evals/secret/checks/hidden.sh", "true\n")
    project.agent("mine", AGENT)
    with ModelServer() as model:
        project.toml(
            f'[providers.here]\nprotocol = "openai"\nbase_url = "{model.base_url("openai")}"\n'
            '[judges.one]\nmodel = "m"\nprovider = "here"\n[judges.two]\nanswers = "no"\n'
        )
        done = project.orvl("mine", "--eval=secret", "--dry-run")
        assert "secret is private: its prompts, and what agents make of it, are sent to the judges at here." in (
            done.out + done.err
        )
        assert "is private" not in project.orvl("mine", "--eval=secret", "--metric=checks", "--dry-run").out
        listed = project.orvl("list", "evals", "--json").json["evals"]
        assert [one["name"] for one in listed if one.get("private") == "yes"] == ["secret"]

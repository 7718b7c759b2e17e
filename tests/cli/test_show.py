"""`orvl show`: one run, its files and its checks."""

from __future__ import annotations

import pytest

from helpers.viewing import viewing


def test_show_names_what_is_not_there(small):
    assert small.orvl("writer", "--eval=one").status == 0
    assert "There is no run 'zzz'" in small.orvl("show", "zzz").err
    wrong = small.orvl("show", "writer/one/1", "--file", "answr.txt")
    assert wrong.status == 2
    assert "Did you mean 'answer.txt'?" in wrong.err


def test_show_lists_the_runs_that_a_short_name_stands_for(small):
    small.agent("two", 'models = {"none": ["m", "n"]}\ndef command(): return "true"\n')
    assert small.orvl("two", "--eval=one").status == 0
    told = small.orvl("show", "two/one/1")
    assert told.status == 2
    assert "(m none)" in told.err
    assert "(n none)" in told.err
    key = told.err.split(": ")[-1].split(" ")[0]
    assert small.orvl("show", key).status == 0
    assert small.orvl("show", "two/one/²").status == 2


def test_the_newest_check_results_are_shown(project):
    project.agent("mine", 'models = {"none": ["m"]}\ndef command(): return "touch a"\n')
    for number in range(6):
        project.eval("e", f"---\nmetrics: {{checks: 1}}\nchecks: [{{name: look{number}, run: test -f a}}]\n---\nx")
        assert project.orvl("mine", "--eval=e").status == 0
        assert f"check look{number}: passed" in project.orvl("show", "mine/e/1").out
    assert project.rows("SELECT count(*) FROM attempt") == [(1,)]


AGENTS = {
    "half": "echo hello > answer.txt",
    "whole": "echo hello > answer.txt; echo more > more.txt",
    "broken": "echo hello > answer.txt; exit 3",
}
EVAL = """---
metrics: {checks: 3, tidy: 1}
checks: [{name: here, run: test -f answer.txt}, {name: more, run: test -f more.txt}]
---
x
"""


@pytest.fixture
def rated(project):
    project.toml("[judges.anna]\nanswers = 'yes'\n")
    project.score("tidy", 'items = ["It is tidy."]\n')
    project.eval("e", EVAL)
    for name, line in AGENTS.items():
        project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return ["sh", "-c", {line!r}]\n')
    assert project.orvl("half,whole,broken", "--eval=e", "--sandbox=none").status == 0
    return project


def test_show_begins_with_the_rating_and_where_the_points_went(rated):
    half = rated.orvl("show", "half/e/1").out.splitlines()
    assert half[0].endswith(": half m none e #1")
    assert half[1] == "R 0.625: 0.375 was lost, 0.375 of it on checks."
    assert half[3].split() == ["metric", "weight", "×", "score", "=", "points", "lost", "by"]
    assert rated.orvl("show", "whole/e/1").out.splitlines()[1] == "R 1.000: nothing was lost."
    broken = rated.orvl("show", "broken/e/1").out.splitlines()[1]
    assert broken.startswith("R 0.625: 0.375 was lost") and broken.endswith(
        " The run failed: turn 1 ended with status 3."
    )


def test_then_come_checks_what_it_did_and_the_commands_that_show_more(rated):
    out = rated.orvl("show", "half/e/1").out
    parts = [
        "was lost",
        "\nJudges\n",
        " 1. item 1",
        "\nChecks\n",
        "check more: failed",
        "\nWhat it did\n",
        "attempt 1",
        "answer.txt",
        "\nSee more\n",
        "--diff",
    ]
    places = [out.index(part) for part in parts]
    assert places == sorted(places)
    commands = [line.split("  ")[1] for line in out[out.index("\nSee more\n") :].splitlines()[2:]]
    assert any(command.endswith("--judge anna") for command in commands)
    assert not any("--calls" in command for command in commands), "it made none"
    for command in commands:
        if command != "orvl view":
            words = command.replace("PATH", "answer.txt").split()[1:]
            assert rated.orvl(*words).status == 0, command


def test_the_page_of_a_run_says_the_same_sentence(rated):
    for agent in AGENTS:
        shown = rated.orvl("show", f"{agent}/e/1").out.splitlines()
        key = shown[0].split()[1].rstrip(":")
        with viewing(rated) as viewer:
            assert f">{shown[1]}<" in viewer.get(f"/run/{key}").text


def test_runs_whose_eval_has_no_file_are_shown(rated):
    rated.write("results.csv", "agent,model,provider,eval,score\nx,m,p,elsewhere,0.5\n")
    assert rated.orvl("import", "results", "results.csv").status == 0
    imported = rated.orvl("show", "imported:x/elsewhere/1")
    assert (imported.status, imported.err) == (0, "")
    assert imported.out.splitlines()[1] == "R 0.500: 0.500 was lost, 0.500 of it on score."
    key = rated.orvl("show", "half/e/1").out.split()[1].rstrip(":")
    (rated.root / "evals/e.md").unlink()
    old = rated.orvl("show", key)
    assert (old.status, old.err) == (0, "")
    assert old.out.splitlines()[1] == "Not rated. The run finished."


def test_a_run_that_left_nothing_has_nothing_to_diff(rated):
    rated.agent("gone", 'models = {"none": ["m"]}\ndef command(): return ["/no/such/program"]\n')
    assert rated.orvl("gone", "--eval=e", "--sandbox=none").status == 2
    shown = rated.orvl("show", "gone/e/1").out
    assert shown.splitlines()[1].startswith("Errored: '/no/such/program' could not be started")
    assert "--diff" not in shown and "--json" in shown

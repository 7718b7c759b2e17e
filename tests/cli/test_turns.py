"""Checks by turn: what was achieved in its turn, what held, what broke, and what was withdrawn."""

from __future__ import annotations

import re

import pytest

from helpers.viewing import viewing

EVAL = """
---
metrics: {checks: 1}
checks:
  - {name: stays, run: test -f given.txt, keep: true}
  - {name: first, run: test -f one, turn: 1}
  - {name: withdrawn, run: test -f wish, turn: 1, until: 3}
  - {name: second, run: test -f two, turn: 2}
  - {name: third, run: test -f three}
  - {name: also-third, run: test -f three, weight: 3}
---
one
---
two
---
three
"""
AGENT = """
models = {{"none": ["fixed"]}}
SAID = {said!r}

def command(prompt):
    return ["sh", "-c", SAID[prompt.strip()]]
"""


@pytest.fixture
def turns(project):
    project.write("evals/turns/eval.md", EVAL.lstrip())
    project.write("evals/turns/workspace/given.txt", "here\n")

    def rated(one: str, two: str, three: str):
        project.agent("mine", AGENT.format(said={"one": one, "two": two, "three": three}))
        (row,) = project.orvl("mine", "--eval=turns", "--json").json["ratings"]
        shown = project.orvl("show", "mine/turns/1")
        lines = [line.strip() for line in shown.out.splitlines()]
        return row["R"], [line for line in lines if line.startswith(("after turn", "at the end"))]

    return rated


def test_all_of_it_is_one(turns):
    R, lines = turns("touch one wish", "touch two", "touch three; rm wish")
    assert R == 1
    assert lines == [
        "after turn 1: new 2/2, kept 1/1",
        "after turn 2: new 1/1, kept 3/3",
        "at the end: new 2/2, kept 3/3",
    ]


def test_what_is_broken_later_was_achieved_but_did_not_hold(turns):
    R, lines = turns("touch one wish", "touch two", "touch three; rm one")
    held = (0 + 1 + 1 + 3) / 6
    assert pytest.approx(0.4 + 0.6 * held) == R
    assert lines[2] == "at the end: new 2/2, kept 2/3, broke first"


def test_a_runs_page_shows_checks_by_turn(turns, project):
    turns("touch one wish", "touch two", "touch three; rm one")
    run = project.orvl("show", "mine/turns/1", "--json").json["run"]
    with viewing(project) as viewer:
        text = re.sub(r"\s+", " ", re.sub("<[^>]+>", " ", viewer.get(f"/run/{run}/checks").text))
    assert "check after turn 1 after turn 2 at the end" in text
    assert (
        "first passed passed failed" in text
        and "withdrawn passed passed –" in text
        and "second – passed passed" in text
    )
    assert "new in this turn 1.000 1.000 1.000" in text and "held 1.000 1.000 0.833" in text
    assert "at the end: broke first." in text


def test_what_is_mended_later_holds_but_came_late(turns):
    R, lines = turns("touch one wish", "true", "touch two three")
    assert pytest.approx(0.4 * 2 / 3 + 0.6) == R
    assert lines[1] == "after turn 2: new 0/1, kept 3/3"


def test_a_wish_that_was_withdrawn_is_not_checked_any_more_and_counts_in_its_turn(turns):
    R, _ = turns("touch one", "touch two", "touch three")
    assert pytest.approx(0.4 * (0.5 + 1 + 1) / 3 + 0.6) == R


def test_what_was_there_must_stay_and_staying_alone_earns_nothing(turns):
    R, lines = turns("touch one wish", "touch two", "touch three; rm given.txt")
    assert pytest.approx(0.4) == R
    assert "broke stays" in lines[2]
    assert turns("true", "true", "true")[0] == 0


def test_a_turn_that_was_not_reached_is_nothing_achieved(turns):
    R, lines = turns("touch one wish", "touch two; exit 3", "touch three")
    assert pytest.approx(0.4 * 2 / 3 + 0.6 * 2 / 6) == R
    assert lines == [
        "after turn 1: new 2/2, kept 1/1",
        "after turn 2: new 1/1, kept 3/3",
        "at the end: new 0/2, kept 3/3",
    ]
    R, lines = turns("touch one wish; exit 3", "true", "true")
    assert pytest.approx(0.4 * 1 / 3 + 0.6 * 1 / 6) == R
    assert lines[1].startswith("after turn 2: new 0/1, kept 0/3, broke ")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("turn: 4", "'turn: 4' is after the last turn; the conversation has 3 turns."),
        ("until: 9", "'until: 9' is after the last turn"),
        ("until: 3", "it is due from turn 3 and retired from turn 3, so never"),
        ("turn: 2, until: 1", "it is due from turn 2 and retired from turn 1"),
        ("turn: 0", "turn"),
        ("keep: true", "one must be due at the end"),
        ("turn: 1, until: 2", "one must be due at the end"),
    ],
)
def test_a_check_that_would_never_be_due_is_a_sentence_with_its_line(project, row, said):
    project.write("evals/wrong.md", f"---\nchecks:\n  - {{name: a, run: 'true', {row}}}\n---\n1\n---\n2\n---\n3\n")
    done = project.orvl("dummy-good", "--eval=wrong")
    assert done.status == 2
    assert "evals/wrong.md:" in done.err and said in done.err


GRADED = """
import sys
from orvl import checks
checks.grade({passed}, 8)
sys.exit({status})
"""


@pytest.mark.parametrize(
    ("passed", "status", "R"), [("8", 0, 1), ("6", 0, 0.75), ("6", 1, 0.75), ("0", 1, 0), ("8", 1, 0)]
)
def test_a_check_counts_by_the_share_of_its_cases(project, passed, status, R):
    head = "metrics: {checks: 1}\nchecks: [{name: cases, run: python3 checks/cases.py, isolated: true}]"
    project.write("evals/graded/eval.md", f"---\n{head}\n---\nDo it.\n")
    project.write("evals/graded/checks/cases.py", GRADED.format(passed=passed, status=status))
    project.agent("mine", 'models = {"none": ["fixed"]}\ndef command(): return "true"\n')
    (row,) = project.orvl("mine", "--eval=graded", "--json").json["ratings"]
    assert row["R"] == R
    (check,) = project.orvl("show", "mine/graded/1", "--json").json["attempts"][0]["checks"]
    assert check["passed"] is (R == 1)


@pytest.mark.parametrize("passed", ["9", "-1", "True", "0.5"])
def test_more_cases_than_there_are_is_the_checks_own_mistake(project, passed):
    head = "metrics: {checks: 1}\nchecks: [{name: cases, run: python3 checks/cases.py, isolated: true}]"
    project.write("evals/graded/eval.md", f"---\n{head}\n---\nDo it.\n")
    project.write("evals/graded/checks/cases.py", GRADED.format(passed=passed, status=0))
    project.agent("mine", 'models = {"none": ["fixed"]}\ndef command(): return "true"\n')
    project.orvl("mine", "--eval=graded")
    (check,) = project.orvl("show", "mine/graded/1", "--json").json["attempts"][0]["checks"]
    assert not check["passed"] and "cases cannot have passed" in check["output"]


SAYS_WHEN = """
---
metrics: {checks: 1}
checks:
  - {name: alone, run: date +%N; subject files, isolated: true, turn: 1}
  - {name: beside, run: date +%N, turn: 1}
---
one
---
two
---
three
"""


def test_a_turn_that_changes_nothing_is_not_checked_again(project):
    project.write("evals/turns/eval.md", SAYS_WHEN.lstrip())
    said = {"one": "echo 1 > a", "two": "echo 1 > a", "three": "echo 3 > a"}
    project.agent("mine", AGENT.format(said=said))
    assert project.orvl("mine", "--eval=turns").status == 0
    checks = project.orvl("show", "mine/turns/1", "--json").json["attempts"][0]["checks"]
    assert [check["turn"] for check in checks] == [1, 1, 2, 2, 0, 0]
    first, second, last = (check["output"] for check in checks if check["name"] == "alone")
    assert first == second != last
    # What it finds may be left from before, and is looked for again.
    assert len({check["output"] for check in checks if check["name"] == "beside"}) == 3

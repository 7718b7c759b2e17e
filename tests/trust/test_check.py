"""`orvl check`: a sound eval passes the gate, and each planted defect is found by the test that is for it."""

from __future__ import annotations

import pytest

from helpers.gate_evals import CHECK, EVAL, SECOND, patch, write_eval
from helpers.needs import need_program

SUMS = """    return [seen[:2] == [0, f"Sum: {sum(map(int, row))}\\n"] for row, seen in zip(rows, calls(rows))]
"""
ALWAYS = CHECK.replace(SUMS, "    return [True] * 4\n")
BY_EXAMPLE = CHECK.replace("    return [str(RANDOM", '    return ["3", "4", "5"] or [str(RANDOM').replace(
    "def means():\n", "def means():\n    return sums()\n"
)
LEAKY = """
import sys

from orvl import checks

wanted = {"sums": ("Sum: 12", []), "means": ("Mean: 4.00", ["--mean"])}.get(sys.argv[1])
if wanted:
    ended = checks.run("python3", "tally.py", *wanted[1], "3", "4", "5")
    checks.grade(int(ended.stdout.strip() == wanted[0]), 1)
else:
    checks.grade(int(checks.read("tally.py") is not None), 1)
"""
BY_CHANCE = CHECK.replace("import sys\n", "import os\nimport sys\n", 1).replace(
    "for line, seen in zip(wanted,", "and os.urandom(1)[0] % 2 for line, seen in zip(wanted,"
)
DEFECTS = {
    "a check that always passes": (4, {"checks__check_dot_py": ALWAYS}, "adds-up"),
    "inputs that stand in the prompt": (9, {"checks__check_dot_py": LEAKY}, "3 4 5"),
    "a requirement that nobody said": (
        10,
        {"eval_dot_md": EVAL.replace("With `--mean` as the first word it", "On demand it")},
        "--mean",
    ),
    "a check that goes by chance": (6, {"checks__check_dot_py": BY_CHANCE}, "knows-the-mean flips on good"),
    "a cheat that works": (11, {"checks__check_dot_py": BY_EXAMPLE}, "by-heart"),
    "a bug that no check sees": (
        5,
        {"controls__bugs__04-other-words_dot_patch": patch("no whole number", "not a whole number")},
        "04-other-words",
    ),
    "work of the second turn in the first": (3, {"controls__good__turn-1__tally_dot_py": SECOND}, "knows-the-mean"),
}


def check(project, *words: str):
    need_program("bwrap")
    return project.orvl("check", "tally", "--json", *words, timeout=600)


BY_NIGHT = ("a cheat that works", "a bug that no check sees", "a check that goes by chance")
"""These take longest."""


@pytest.mark.parametrize(
    "defect", [pytest.param(name, marks=[pytest.mark.nightly] if name in BY_NIGHT else []) for name in DEFECTS]
)
def test_a_planted_defect_is_found(project, defect):
    number, changes, named = DEFECTS[defect]
    write_eval(project, **changes)
    found = check(project, f"--test={number}", "--minutes=0.5")
    assert found.status == 1, found.out + found.err
    (eval_,) = found.json["evals"]
    (result,) = [one for one in eval_["tests"] if one["number"] == number]
    assert result["state"] == "failed"
    assert named in str(result), result


def test_a_sound_eval_passes_what_is_quick_and_reports_say_that_nobody_has_tried_the_rest(project):
    write_eval(project)
    found = check(project, "--quick")
    assert found.status == 0, found.out + found.err
    assert project.orvl("dummy-good", "--eval=tally").status == 0
    report = project.orvl("report", "--json").json
    assert report["vetted"] == {"tally": None}, "--quick is not the whole gate"


@pytest.mark.nightly
def test_a_sound_eval_passes_all_and_reports_say_so(project):
    write_eval(project)
    found = check(project)
    assert found.status == 0, found.out + found.err
    assert project.orvl("dummy-good", "--eval=tally").status == 0
    assert project.orvl("report", "--json").json["vetted"] == {"tally": True}
    write_eval(project, workspace__NOTES_dot_md="# Other notes\n", checks__check_dot_py=CHECK + "\n")
    assert project.orvl("report", "--json").json["vetted"] == {"tally": None}, "it was another eval"


def test_a_good_control_that_does_nothing_proves_nothing(project):
    """All that is said of it would hold of no work."""
    changes = {f"controls__good__turn-{turn}__tally_dot_py": None for turn in (1, 2)}
    write_eval(project, **changes, controls__good__NOTES_dot_md="# Notes\n\nNothing here is about numbers.\n")
    found = check(project, "--test=1")
    assert found.status == 1, found.err
    assert "controls/good changes nothing in the workspace" in found.out

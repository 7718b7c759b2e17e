"""New tests of an agent's are worth what they notice: neither what they print nor how many there are."""

from __future__ import annotations

import ast
from pathlib import Path
from textwrap import dedent

import pytest
from test_evals import EVALS, check_names, lay, loaded

from helpers.eval_checks import checked
from orvl.project.draw import drawn

PROGRAMS = {"room-bookings": "rooms/diary.py", "tidy-invoice": "invoice.py"}
"""By eval, the file that the bugs are in which new tests have to notice."""

EMPTY = """
    import unittest

    class NewTest(unittest.TestCase):
        def test_one(self): pass
        def test_two(self): pass
        def test_three(self): pass
"""
SAYS_SO = """
    import json, os, sys
    print("Ran 30 tests in 0.002s\\n\\nOK", file=sys.stderr)
    print("\\n" + json.dumps(["test_new.NewTest.test_one", "test_new.NewTest.test_two"]), flush=True)
    os._exit(0)
"""
# Says something else of each program, so that some of it fits.
GUESSES = """
    import hashlib, json, os, pathlib, random
    random.seed(hashlib.sha256(pathlib.Path(PROGRAM).read_bytes()).digest())
    print("\\n" + json.dumps([f"test_{number}" for number in range(5000) if random.random() < 0.8]), flush=True)
    os._exit(0)
"""
TOLD_APART_BY_CHANCE = """
    import random, unittest

    class NewTest(unittest.TestCase):
        pass

    for number in range(300):
        setattr(NewTest, f"test_{number}", lambda self: self.assertLess(random.random(), 0.8))
"""


def bugs_of(name: str) -> dict[str, tuple[str, str]]:
    tree = ast.parse((EVALS / name / "checks/check.py").read_text())
    (found,) = (
        node.value for node in tree.body if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "BUGS"
    )
    return ast.literal_eval(found)


def graded(name: str, folder: Path) -> tuple[bool, float]:
    (found,) = checked(drawn(loaded(name), 1), [folder], [[check_names(name)["tests"]]])
    (result,) = found.values()
    assert "Traceback" not in result.output, result.output
    return result.passed, result.value


@pytest.mark.parametrize("name", PROGRAMS)
def test_each_bug_that_must_be_noticed_is_one_change_of_the_right_program(name):
    right = (EVALS / name / "checks/reference" / PROGRAMS[name]).read_text()
    bugs = bugs_of(name)
    assert len(bugs) >= 5
    for old, wrong in bugs.values():
        assert right.count(old) == 1
        compile(right.replace(old, wrong), name, "exec")


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("tests", (EMPTY, SAYS_SO, GUESSES, TOLD_APART_BY_CHANCE))
def test_forged_or_empty_tests_earn_nothing_even_beside_right_work(name, tests, tmp_path):
    folder = lay(name, tmp_path / "work", "good")
    for path in folder.glob("tests/test_*.py"):
        if not (EVALS / name / "workspace" / path.relative_to(folder)).exists():
            path.unlink()
    (folder / "tests/test_new.py").write_text(dedent(tests).replace("PROGRAM", repr(PROGRAMS[name])))
    assert graded(name, folder) == (False, 0)

"""Scripted agents of graded skill come out in order on the shipped evals, by the real command line."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.needs import need_program
from orvl.stats import quick_detectable

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from benchmarks.pilot import __main__ as command  # noqa: E402
from benchmarks.pilot.board import PilotBoard, as_markdown, board_of, evals_for, middle  # noqa: E402
from benchmarks.pilot.running import make_project, run  # noqa: E402
from benchmarks.pilot.skills import SKILLS, turns_of  # noqa: E402
from benchmarks.pilot.work import eval_asking, plan_of, shipped, work_in  # noqa: E402

from orvl.project.draw import drawn  # noqa: E402

BUGS = [f"{number}.patch" for number in range(6)]
QUICK = ("smoke", "basics")
FEW = ("fix-slugs", "parse-logs")
"""What every change is tried with."""


def test_the_same_seed_does_the_same_and_another_episode_another():
    plans = [turns_of(0.5, "some", episode, 4, BUGS, True) for episode in range(1, 9)]
    assert plans == [turns_of(0.5, "some", episode, 4, BUGS, True) for episode in range(1, 9)]
    assert len({str(plan) for plan in plans}) > 4


def test_the_more_skill_the_more_turns_are_right():
    def right(skill):
        turns = [turn for n in range(200) for turn in turns_of(skill, f"eval-{n}", 1, 3, BUGS, True)]
        return np.mean([turn.control in ("good", "good-2") and not turn.bugs for turn in turns])

    shares = [right(skill) for skill in SKILLS]
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] > 0.85


@pytest.mark.parametrize("name", sorted(shipped()))
def test_each_shipped_eval_is_known_by_its_first_prompt_and_has_work_for_each_turn(name):
    one = shipped()[name]
    for episode in (1, 2, 3):
        assert eval_asking(drawn(one, episode).prompts[0], episode) == name
        for skill in SKILLS:
            plan = plan_of(skill, name, episode)
            assert len(plan) == len(one.prompts)
            works = [work_in(skill, name, episode, turn) for turn in range(1, len(plan) + 1)]
            assert all(
                (work["layers"] is None) == (turn.control is None) for work, turn in zip(works, plan, strict=True)
            )
            json.dumps(works)


def test_a_bug_that_was_drawn_is_in_the_work():
    for name in shipped():
        last = len(shipped()[name].prompts)
        cases = [
            (skill, episode) for skill in SKILLS for episode in range(1, 10) if plan_of(skill, name, episode)[-1].bugs
        ]
        assert any(work_in(skill, name, episode, last)["layers"][-1]["files"] for skill, episode in cases), name


def test_the_number_of_evals_is_the_least_that_sees_the_difference():
    found = evals_for(0.1, lambda evals: quick_detectable(0.3, evals))
    assert found is not None
    assert quick_detectable(0.3, found) <= 0.1 < quick_detectable(0.3, found - 1)
    assert evals_for(0.1, lambda evals: None) is None


def test_the_kept_page_has_the_form_of_a_result(tmp_path):
    page = ROOT / "docs/pilot.md"
    kept = page.read_text().partition(command.START)[2].partition(command.END)[0]
    board = PilotBoard(("skill-20", "skill-80"), ("a", "b"), np.array([[0.1, 0.3], [0.8, 0.9]]), 4)
    copy = tmp_path / "pilot.md"
    copy.write_text(page.read_text())
    command.keep(copy, as_markdown(board, {"sd": 0.3, "source": "assumed"}, 1))
    made = copy.read_text().partition(command.START)[2].partition(command.END)[0]
    assert "| skill-80 | 0.85 |" in made
    assert "Pairs of skills in order: 100%" in made
    rows = [line.split("|")[1].strip() for line in kept.splitlines() if line.startswith("|")]
    assert [word for word in rows if word in ("skill", "eval", "difference")] == ["skill", "eval", "difference"]
    assert re.search(r"Pairs of skills in order: \d+%", kept)
    assert re.search(r"ICC\(3,k\): 0\.\d+", kept)


@pytest.mark.parametrize("few", [True, pytest.param(False, marks=pytest.mark.nightly)])
def test_skills_come_out_in_order_and_apart_on_quick_evals(tmp_path, few):
    need_program("bwrap")
    evals = [name for name, one in shipped().items() if one.tier in QUICK and not one.app and (not few or name in FEW)]
    project = make_project(tmp_path)
    run(project, (0.05, 0.5, 0.95), evals, 1)
    board = board_of(project)
    assert board.evals == tuple(sorted(evals))
    assert board.order == 1, board.means
    assert board.means[0] < 0.5
    assert board.means[-1] > 0.85
    assert middle(board) and "skill-50" in middle(board), board.means
    assert (board.R.std(axis=0) > 0).all(), "an eval on which all come out alike tells nobody apart"

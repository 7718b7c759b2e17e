"""readme-lies: what its checks hold for true is what the eval's own files say."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_evals import EVALS, loaded, patches, plant

from helpers.eval_checks import checked
from helpers.needs import need_program
from orvl.project.draw import drawn, filled
from orvl.run.controls import lay_control

NAME = "readme-lies"
FOLDER = EVALS / NAME
TURNS = 3
BROKEN_BY = {
    "01-ages-in-seconds": "json-of-check",
    "02-sizes-from-rounded-numbers": "json-of-list-and-sizes",
    "03-shares-in-percent": "json-of-list-and-sizes",
    "04-minutes-without-seconds": "json-of-prune-and-gaps",
    "05-quiet-in-plain-output-only": "json-of-check",
    "06-three-for-everybody": "old-scripts-still-run",
    "07-late-comes-first": "ci-stops-without-a-backup",
    "08-now-instead-of-null": "json-of-prune-and-gaps",
    "09-old-catalogues-in-bytes": "json-of-check",
    "10-json-is-always-fine": "json-of-check",
    "11-no-total-of-nothing": "json-of-nothing",
    "12-gaps-in-hours": "new-scripts-show-the-right-numbers",
    "13-nothing-to-share": "json-of-nothing",
    "14-what-is-kept-by-default": "keys-and-defaults-are-true",
    "15-a-row-is-missing": "options-are-true",
    "16-help-knows-no-empty-list": "statuses-are-true",
}


def start(folder: Path, episode: int) -> Path:
    shutil.copytree(FOLDER / "workspace", folder)
    for key, value in drawn(loaded(NAME), episode).drawn.values.items():
        shutil.copytree(FOLDER / "variants" / key / str(value), folder, dirs_exist_ok=True)
    return folder


@pytest.mark.parametrize("episode", range(1, 7))
def test_the_scripts_of_the_checks_are_those_of_the_workspace(episode, tmp_path):
    """A team's script is the same in both; only the key of the rows is drawn."""
    folder, key = start(tmp_path / "start", episode), drawn(loaded(NAME), episode).drawn.values["key"]
    original = FOLDER / "checks/original"
    scripts = [path.relative_to(original) for path in original.rglob("*") if path.is_file()]
    assert len(scripts) == 11
    for script in scripts:
        kept = (original / script).read_text(encoding="utf-8").replace("{{key}}", str(key))
        assert kept == (folder / script).read_text(encoding="utf-8")


def test_files_that_must_stay_are_those_of_the_workspace():
    digests = re.findall(r'"(\S+)": "([0-9a-f]{64})"', (FOLDER / "checks/check.py").read_text(encoding="utf-8"))
    assert len(digests) == 3
    for path, digest in digests:
        assert hashlib.sha256((FOLDER / "workspace" / path).read_bytes()).hexdigest() == digest


def buggy(folder: Path, bug: str, episode: int = 1) -> Path:
    one = drawn(loaded(NAME), episode)
    start(folder, episode)
    for turn in range(1, TURNS + 1):
        lay_control(FOLDER / "controls/good", turn, folder, None)
    plant(FOLDER / "controls/bugs" / f"{bug}.patch", folder)
    for path in (*folder.rglob("*.js"), *folder.rglob("*.md")):
        path.write_text(filled(path.read_text(encoding="utf-8"), one.drawn.values), encoding="utf-8")
    return folder


def test_bugs_can_be_planted(tmp_path):
    assert [patch.stem for patch in patches(NAME)] == list(BROKEN_BY)
    for bug in BROKEN_BY:
        buggy(tmp_path / bug, bug)


@pytest.mark.nightly
@pytest.mark.parametrize("bug", BROKEN_BY)
def test_each_bug_breaks_its_check(bug, tmp_path):
    check = BROKEN_BY[bug]
    (rows,) = checked(drawn(loaded(NAME), 1), [buggy(tmp_path / "left", bug)], [[check]])
    assert not rows[check].passed
    assert "Traceback" not in rows[check].output


@pytest.mark.nightly
@pytest.mark.parametrize("control", ("good", "good-2"))
@pytest.mark.parametrize("turn", range(1, TURNS + 1))
def test_good_work_passes_what_is_due_by_a_turn_and_not_what_comes_next(control, turn, tmp_path):
    one = drawn(loaded(NAME), turn)
    folder = start(tmp_path / "left", turn)
    for number in range(1, turn + 1):
        lay_control(FOLDER / "controls" / control, number, folder, one.drawn)
    due = [check.name for check in one.checks if check.keep or one.due(check) <= turn]
    early = [check.name for check in one.checks if not check.keep and one.due(check) == turn + 1]
    (rows,) = checked(one, [folder], [[*due, *early]])
    assert {name for name, row in rows.items() if not row.passed} == set(early), rows


@pytest.mark.parametrize("control", (None, "good", "good-2"))
def test_the_tools_own_tests_pass(control, tmp_path):
    need_program("node")
    folder = start(tmp_path / "start", 1)
    for turn in range(1, TURNS + 1) if control else ():
        lay_control(FOLDER / "controls" / control, turn, folder, drawn(loaded(NAME), 1).drawn)
    ended = subprocess.run(["node", "--test", "test/"], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-3000:]

"""readme-lies: what its checks hold for true is what the eval's own files say."""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from test_evals import EVALS, loaded, patches, plant

from helpers.needs import need_program
from orvl.project.draw import drawn
from orvl.run.controls import lay_control

NAME = "readme-lies"
FOLDER = EVALS / NAME
TURNS = 3


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


def test_bugs_can_be_planted(tmp_path):
    for patch in patches(NAME):
        folder = shutil.copytree(FOLDER / "workspace", tmp_path / patch.stem)
        for turn in range(1, TURNS + 1):
            lay_control(FOLDER / "controls/good", turn, folder, None)
        plant(patch, folder)


@pytest.mark.parametrize("control", (None, "good", "good-2"))
def test_the_tools_own_tests_pass(control, tmp_path):
    need_program("node")
    folder = start(tmp_path / "start", 1)
    for turn in range(1, TURNS + 1) if control else ():
        lay_control(FOLDER / "controls" / control, turn, folder, drawn(loaded(NAME), 1).drawn)
    ended = subprocess.run(["node", "--test", "test/"], cwd=folder, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout[-3000:]

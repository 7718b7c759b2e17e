"""Who knows a built-in eval's checks by heart passes none of them: their inputs are made up for each call."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_evals import ALL_WHOLE, EVALS, check_names, lay

NOTHING_TO_MAKE_UP = {"hello-world": {"world"}}
"""Checks of which everybody knows the only answer: what counts there comes in the next turn."""
TAPED = Path(__file__).parents[1] / "helpers/taped_checks.py"


@pytest.fixture
def called(tmp_path):
    """Runs a check of an eval on its good control; its answers are taped, or those of before are played back."""
    stand_in = tmp_path / "orvl"
    stand_in.mkdir()
    (stand_in / "__init__.py").touch()
    shutil.copy(TAPED, stand_in / "checks.py")

    def run(name: str, word: str, mode: str) -> subprocess.CompletedProcess[str]:
        good = tmp_path / "good"
        if not good.exists():
            lay(name, good, "good")
        command = [sys.executable, EVALS / name / "checks/check.py", word, mode, tmp_path / f"{word}.json", good]
        env = {"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, timeout=100, check=False)

    return run


@pytest.mark.parametrize("name", ALL_WHOLE)
def test_answers_of_an_earlier_call_are_wrong_in_the_next_one(name, called):
    for word in check_names(name).keys() - NOTHING_TO_MAKE_UP.get(name, frozenset()):
        taped = called(name, word, "tape")
        assert taped.returncode == 0, (word, taped.stdout, taped.stderr)
        # Few things can be damaged, so that the same ones may be drawn again: three times in a row they are not.
        tries = [called(name, word, "play") for _ in range(3)]
        played = next((one for one in tries if one.returncode == 1), tries[0])
        assert played.returncode == 1, (word, played.stdout, played.stderr)
        assert played.stdout.startswith("Expected "), (word, played.stdout, played.stderr)

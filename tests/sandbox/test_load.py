"""Time and the machine: what a run cost the processor, and whether its speed was measured on a loaded machine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.needs import need

SPIN = "import time\nbegan = time.process_time()\nwhile time.process_time() - began < 3: pass\n"


@pytest.fixture
def loaded_machine():
    """More processes than processors, all of which want to run; in a group of their own, of no less weight."""
    need(Path("/proc/pressure/cpu").exists(), "the kernel does not measure pressure")
    words = [sys.executable, "-c", "while True: pass"]
    spinning = [subprocess.Popen(words) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for process in spinning:
        process.kill()
        process.wait()


def test_speed_that_was_measured_on_a_loaded_machine_is_marked(project, loaded_machine):
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['/usr/bin/python3', '-c', {SPIN!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    result = project.orvl("mine", "--eval=e", "--json")
    assert result.status == 0, result.err
    sentence = "The machine was loaded during 1 run of mine m none: their speed says less about the agent."
    assert [warning for warning in result.json["warnings"] if warning.startswith(sentence)]
    assert [warning for warning in project.orvl("report", "--json").json["warnings"] if warning.startswith(sentence)]
    assert "the machine was loaded in turn 1" in project.orvl("show", "mine/e/1").out
    (turn,) = project.orvl("show", "mine/e/1", "--json").json["attempts"][0]["turns"]
    assert turn["loaded"]
    assert 0.25 < turn["cpu_pressure"] <= 1
    assert 2.9 < turn["cpu_seconds"] < turn["seconds"]


def test_a_short_run_is_not_marked(small, loaded_machine):
    result = small.orvl("writer", "--eval=one", "--sandbox=none", "--json")
    assert result.status == 0, result.err
    assert not [warning for warning in result.json["warnings"] if "loaded" in warning]

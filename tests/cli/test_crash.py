"""SIGKILL at any moment loses nothing that was finished, repeats nothing, and leaves no process behind."""

from __future__ import annotations

import random
import signal
import sqlite3
import subprocess
import time
from pathlib import Path

import pytest

SANDBOX = "none"

# Kills, and episodes of each of ten cells.
SMALL, LARGE = (6, 4), (30, 20)
AT_ONCE = 4

AGENT = """
from pathlib import Path

LOG = Path(__file__).parent.parent / "{name}.log"
models = {{"none": ["one"]}}

def command(prompt):
    # A daemon that leaves its parent and session behind, then a little work that is logged when it starts.
    work = 'echo start >> "$1"; setsid sleep {marker} >/dev/null 2>&1 & sleep 0.15; echo "$2" > out'
    return ["sh", "-c", work, "sh", LOG, prompt]
"""


def alive(marker: str) -> list[str]:
    """Processes whose arguments hold the marker."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().split(b"\0")
        except OSError:
            continue
        if marker.encode() in words:
            found.append(path.parent.name)
    return found


def finished(project) -> dict[str, int]:
    if not (project.root / ".orvl" / "orvl.db").exists():
        return {}
    try:
        return dict(project.rows("SELECT run.key, attempt.id FROM attempt JOIN run ON run.id = attempt.run"))
    except sqlite3.OperationalError as error:
        assert "no such table" in str(error)
        return {}


def wait_for_none(marker: str) -> None:
    deadline = time.monotonic() + 10
    while alive(marker):
        assert time.monotonic() < deadline, "a process outlived orvl"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("kills", "episodes"), [SMALL, pytest.param(*LARGE, marks=pytest.mark.nightly)], ids=["small", "large"]
)
def test_kills_of_a_matrix(project, kills, episodes):
    runs = 10 * episodes
    marker = f"{random.randrange(10**6, 10**7)}.5"
    for name in ("anne", "bert"):
        project.agent(name, AGENT.format(name=name, marker=marker))
    for number in range(5):
        project.eval(
            f"e{number}",
            f"---\nmetrics: {{speed: 1, checks: 1}}\nchecks: [{{name: out, run: test -s out}}]\n---\nx{number}",
        )
    words = ["anne,bert", "--eval=e*", f"--episodes={episodes}", f"--concurrency={AT_ONCE}"]
    delays = random.Random(4)
    before: dict[str, int] = {}
    for kill in range(kills):
        process = subprocess.Popen(
            [*project.command, *words, "--sandbox=none", "-q"],
            cwd=project.root,
            env=project.env,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        # Two of three kills come soon after a run has finished, the third at any time, also while orvl starts.
        while kill % 3 and len(finished(project)) == len(before) and process.poll() is None:
            time.sleep(0.02)
        time.sleep(delays.uniform(0, 0.2 if kill % 3 else 1))
        process.send_signal(signal.SIGKILL)
        message = process.communicate()[1]
        assert b"Traceback" not in message, message.decode()
        wait_for_none(marker)
        after = finished(project)
        assert before.items() <= after.items(), "a finished run was lost or carried out again"
        before = after
    assert 0 < len(before) < runs, "the kills came too early or too late to prove anything"

    done = project.orvl(*words, "--json", timeout=300)
    assert done.status == 0, done.err
    assert sum(row["runs"]["rated"] for row in done.json["ratings"]) == runs
    assert all(
        row["runs"] == {"planned": episodes, "rated": episodes, "failed": 0, "errored": 0}
        for row in done.json["ratings"]
    )
    after = finished(project)
    assert before.items() <= after.items()
    assert len(after) == runs
    starts = sum(len((project.root / f"{name}.log").read_text().splitlines()) for name in ("anne", "bert"))
    assert runs <= starts <= runs + kills * AT_ONCE
    wait_for_none(marker)
    doctor = project.orvl("doctor")
    assert doctor.status == 0, doctor.out
    assert f"intact, {runs} runs" in doctor.out
    assert list(project.tmp.glob("orvl-*/*")) == [], "folders of killed runs were not swept"


def test_a_guard_that_an_agent_stopped_does_not_outlive_orvl(project):
    marker = f"{random.randrange(10**6, 10**7)}.25"
    project.agent(
        "mine", f'models = {{"none": ["m"]}}\ndef command(): return ["sh", "-c", "kill -STOP $PPID; sleep {marker}"]\n'
    )
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nx")
    process = subprocess.Popen(
        [*project.command, "mine", "--sandbox=none", "--eval=e", "-q"], cwd=project.root, env=project.env
    )
    deadline = time.monotonic() + 20
    while not alive(marker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert alive(marker)
    process.kill()
    process.wait()
    wait_for_none(marker)
    assert project.orvl("empty", "--eval=e").status == 0
    assert list(project.tmp.glob("orvl-*/*")) == []

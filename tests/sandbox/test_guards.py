"""Guards that die: one that is killed costs its own run an attempt, and no other run anything."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import time

import pytest

from helpers.needs import need
from helpers.processes import guards_at_work
from helpers.user_project import ROOT_FOLDER
from orvl.sandbox.backends import backend

RUNS = 12
BUSY = "i=0; while [ $i -lt 120 ]; do sh -c 'sleep 0.02'; i=$((i+1)); done; echo done > f"
"""Forks all the time: what is younger than a look at /proc is what a careless cleaner kills."""
BACKENDS = ["none", "bubblewrap", pytest.param("podman", marks=pytest.mark.nightly)]


def with_sandbox(project, name):
    image = str(ROOT_FOLDER) if name == "podman" else None
    problem = backend(name).problem(image)
    need(problem is None, str(problem))
    return [f"--sandbox={name}", *([f"--image={image}"] if image else [])]


@pytest.mark.parametrize("trials", [1, pytest.param(10, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", BACKENDS)
def test_a_killed_guard_costs_only_its_own_run_an_attempt(project, name, trials):
    project.agent("busy", f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', {BUSY!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    chance = random.Random(trials)
    words = [*project.command, "busy", "--eval=e", f"--concurrency={RUNS}", f"--episodes={RUNS}", "--fresh", "--json"]
    for trial in range(1, trials + 1):
        process = subprocess.Popen(
            [*words, *with_sandbox(project, name)],
            cwd=project.root,
            env=project.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        deadline = time.monotonic() + 120
        while len(found := guards_at_work(process.pid)) < RUNS and process.poll() is None:
            assert time.monotonic() < deadline, found
            time.sleep(0.02)
        killed = chance.sample(found, 4)
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
            time.sleep(chance.random() / 20)
        out, err = process.communicate(timeout=240)
        assert process.returncode == 0, err
        assert b"Traceback" not in err
        runs = json.loads(out)["ratings"][0]["runs"]
        assert (runs["failed"], runs["errored"]) == (0, 0)
        attempts = project.rows("SELECT outcome, reason FROM attempt ORDER BY id")[-RUNS - len(killed) :]
        assert sorted(outcome for outcome, _ in attempts) == ["errored"] * len(killed) + ["finished"] * RUNS
        assert {reason for outcome, reason in attempts if outcome == "errored"} == {
            "orvl's helper process was killed or stopped while the agent ran"
        }
        assert len(project.rows("SELECT id FROM attempt")) == trial * (RUNS + len(killed))


KILLER = """
import os, signal, sys
sys.stdout = open("out", "w")
pid, above = os.getpid(), []
while pid > 1:
    pid = int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[1])
    above.append(pid)
named = [p for p in above if b"guard.serve" in open(f"/proc/{p}/cmdline", "rb").read()]
orvl = above[above.index(named[-1]) + 1]
for pid in (*named, orvl, -1, *(-p for p in named)):  # -1: everybody
    for number in (signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM):
        try:
            os.kill(pid, number)
            print("sent", number, "to", pid)
        except PermissionError:
            pass
    try:
        os.close(os.pidfd_open(pid))
        print("opened", pid)
    except (PermissionError, ProcessLookupError, OSError):
        pass
sys.stdout.flush()
child = os.fork()
if not child:
    signal.pause()
os.kill(child, signal.SIGKILL)
print("its own:", os.WTERMSIG(os.waitpid(child, 0)[1]))
"""


def test_an_agent_without_a_sandbox_cannot_signal_its_guard_or_orvl(project):
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['python3', '-c', {KILLER!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    assert project.orvl("mine", "--eval=e", "--sandbox=none", process=True).status == 0
    assert project.rows("SELECT outcome, reason FROM attempt") == [("finished", None)]
    assert project.orvl("show", "mine/e/1", "--file", "out").out == "its own: 9\n"

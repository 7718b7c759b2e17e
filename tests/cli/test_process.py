"""The program as a process: its exit status, signals, pipes and streams; and that a fork, as most tests call it, is no
different."""

from __future__ import annotations

import os
import signal
import subprocess
import time

import pytest

SANDBOX = "none"

SLOW = 'models = {"none": ["m"]}\ndef command(): return ["sh", "-c", "echo begun > ../begun; sleep 60"]\n'
PAID = """
models = {"shop": ["m"]}
def command(): return "true"
def read(): return {"usage": {"cost_usd": 0.4}}
"""
BROKEN = 'models = {"none": ["m"]}\ndef command(): return "no-such-program"\n'
CALLS = {
    "help": (["--help"], 0),
    "a list": (["list", "agents"], 0),
    "JSON": (["list", "--json"], 0),
    "a plan": (["writer", "--eval=one", "--dry-run"], 0),
    "a report": (["report", "--json"], 0),
    "a wrong word": (["no-such-agent"], 2),
    "a wrong flag": (["report", "--no-such-flag"], 2),
    "nothing to do": ([], 0),
}


@pytest.fixture
def filled(small):
    assert small.orvl("writer", "--eval=one").status == 0
    return small


@pytest.mark.parametrize("kind", CALLS)
def test_a_fork_says_what_a_process_says(filled, kind):
    words, status = CALLS[kind]
    process, fork = filled.orvl(*words, process=True), filled.orvl(*words)
    assert process.status == status, process.err
    assert (fork.status, fork.out, fork.err) == (process.status, process.out, process.err)


def test_completion_is_the_same_too(filled):
    env = {"_ORVL_COMPLETE": "bash_complete", "COMP_WORDS": "orvl wri", "COMP_CWORD": "1"}
    process, fork = filled.orvl(env=env, process=True), filled.orvl(env=env)
    assert "writer" in process.out
    assert (fork.status, fork.out, fork.err) == (process.status, process.out, process.err)


@pytest.mark.parametrize("process", [True, False], ids=["process", "fork"])
def test_runs_end_with_the_status_that_says_how(small, process):
    small.agent("paid", PAID)
    small.agent("broken", BROKEN)
    assert small.orvl("writer", "--eval=one", process=process).status == 0
    assert small.orvl("writer,broken", "--eval=one", process=process).status in (1, 2)
    stopped = small.orvl("paid", "--eval=one", "--episodes=5", "--budget=0.5", "--concurrency=1", process=process)
    assert stopped.status == 3
    assert "To continue: orvl paid" in stopped.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_130(small, number):
    small.agent("slow", SLOW)
    small.toml("limits.grace = 0.2\n")
    process = subprocess.Popen(
        [*small.command, "slow", "--eval=one", "--sandbox=none"],
        cwd=small.root,
        env=small.env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    deadline = time.monotonic() + 60
    while not list(small.tmp.rglob("begun")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    time.sleep(0.3)
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert b"Traceback" not in err


def test_a_reader_that_goes_away_is_no_traceback(filled):
    ours, theirs = os.pipe()
    os.close(ours)
    done = subprocess.run(
        [*filled.command, "list", "--json"],
        cwd=filled.root,
        env=filled.env,
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
    )
    os.close(theirs)
    assert done.returncode == 1
    assert done.stderr == b""


def test_no_variable_folder_or_stream_leaks_from_call_to_call(filled):
    before = (dict(os.environ), os.getcwd(), os.listdir("/proc/self/fd"))
    wide = filled.orvl("list", "metrics")
    narrow = filled.orvl("list", "metrics", env={"COLUMNS": "60"}, cwd=filled.tmp)
    assert narrow.out != wide.out
    assert filled.orvl("list", "metrics") == wide
    assert (dict(os.environ), os.getcwd(), os.listdir("/proc/self/fd")) == before


def test_output_that_cannot_be_shown_or_written_is_no_traceback(small):
    assert small.orvl("writer", "--eval=one").status == 0
    latin = small.orvl("report", env={"PYTHONIOENCODING": "latin-1"})
    assert (latin.status, latin.err) == (0, "")
    for redirect, status in ((">&-", 0), (">/dev/full", 1)):
        command = " ".join(f"'{word}'" for word in small.command) + f" report {redirect}"
        done = subprocess.run(
            ["sh", "-c", command], cwd=small.root, env=small.env, capture_output=True, text=True, check=False
        )
        assert done.returncode == status, done.stderr
        assert "Traceback" not in done.stderr

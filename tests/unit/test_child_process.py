"""A process beside this one: its crash, its silence and its floods are errors here, and nothing more."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orvl.errors import ChildFailed
from orvl.worker import child_process
from orvl.worker.child_process import ChildProcess

CHILD = """
import os, signal, sys, time
from orvl.worker.child_process import serve

def answer(question):
    match question:
        case "environment": return dict(os.environ)
        case "crash": os.kill(os.getpid(), signal.SIGSEGV)
        case "exit": sys.exit("the reason")
        case "hang": time.sleep(60)
        case "flood": return "x" * 5000
        case "noise": os.write(1, b"a native library prints\\n")
    return question

serve(answer)
"""


@pytest.fixture
def child(tmp_path, monkeypatch):
    (tmp_path / "some_child.py").write_text(CHILD)
    monkeypatch.setenv("SOME_API_KEY", "of-the-user")
    process = ChildProcess("some_child", {"PYTHONPATH": str(tmp_path)})
    yield process
    process.close()
    assert not process.is_alive


def test_one_line_is_one_answer(child):
    assert child.ask({"a": ["ü", None]}, 20) == {"a": ["ü", None]}
    assert child.ask("noise", 20) == "noise"
    assert "SOME_API_KEY" not in child.ask("environment", 20)


def test_a_crash_is_an_error_with_its_signal_or_last_words(child, tmp_path):
    with pytest.raises(ChildFailed, match=r"^was killed by signal 11$"):
        child.ask("crash", 20)
    with pytest.raises(ChildFailed):
        child.ask("again", 20)
    other = ChildProcess("some_child", {"PYTHONPATH": str(tmp_path)})
    with pytest.raises(ChildFailed, match=r"^exited with status 1: the reason$"):
        other.ask("exit", 20)
    other.close()


def test_a_late_answer_is_an_error_and_ends_the_child(child):
    child.ask("ready", 20)
    start = time.monotonic()
    with pytest.raises(ChildFailed, match=r"^did not answer within 0\.2 s$"):
        child.ask("hang", 0.2)
    assert time.monotonic() - start < 50
    child.wait()


def test_an_answer_without_end_is_an_error(child, monkeypatch):
    monkeypatch.setattr(child_process, "MAX_LINE", 1000)
    with pytest.raises(ChildFailed):
        child.ask("flood", 20)
    child.wait()


def test_a_module_that_cannot_be_imported_says_so():
    child = ChildProcess("no_such_module")
    with pytest.raises(ChildFailed, match="No module named no_such_module"):
        child.ask("anything", 20)
    child.close()


def test_the_child_ends_with_a_parent_that_is_killed(tmp_path):
    (tmp_path / "some_child.py").write_text(CHILD)
    code = (
        "import os, signal\n"
        "from orvl.worker.child_process import ChildProcess\n"
        f"child = ChildProcess('some_child', {{'PYTHONPATH': {str(tmp_path)!r}}})\n"
        "child.ask('ready', 20)\n"
        "print(child.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL
    stat, deadline = Path(f"/proc/{int(done.stdout)}/stat"), time.monotonic() + 10
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] not in "ZX":
        assert time.monotonic() < deadline
        time.sleep(0.02)

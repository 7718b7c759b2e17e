"""Processes: whatever an agent starts ends with its turn, limits hold, and Ctrl-C loses nothing."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from orvl.engine.local import STOP_GRACE

SANDBOX = "none"

DAEMON = """
import os, sys, time
def daemon(*argv):
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 256)
    os.chdir("/")
    os.execve("/bin/sh", ["sh", "-c", *argv], {})
"""


@dataclass
class Marked:
    """A project whose agents carry a marker in their arguments, by which what they leave is found."""

    project: object
    marker: str

    def agent(self, code, name="mine"):
        """An agent that is this Python code; `M` is the marker, for what it starts."""
        text = f"M = {self.marker!r}\n" + DAEMON + code
        script = self.project.write(f"tool/{name}.py", text)
        words = [sys.executable, str(script), self.marker]
        self.project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return {words!r}\n')

    def shell(self, code, name="mine"):
        words = ["sh", "-c", code, self.marker]
        self.project.agent(name, f'models = {{"none": ["m"]}}\ndef command(): return {words!r}\n')

    def eval(self, limits="turn: 1, grace: 0.3", more=""):
        self.project.eval("e", f"---\nmetrics: {{speed: 1}}\nlimits: {{{limits}}}\n---\nGo.\n{more}")

    def orvl(self, *words, timeout=60):
        result = self.project.orvl("mine", "--eval=e", "--json", *words, timeout=timeout)
        assert "Traceback" not in result.err, result.err
        return result

    def start(self, *words):
        return subprocess.Popen(
            [*self.project.command, *words],
            cwd=self.project.root,
            env=self.project.env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def alive(self):
        found = []
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if self.marker.encode() in (folder / "cmdline").read_bytes():
                        found.append(int(folder.name))
                except OSError:
                    continue
        return found

    def wait_until(self, what, seconds=60.0):
        deadline = time.monotonic() + seconds
        while not what():
            assert time.monotonic() < deadline, "it did not happen in time"
            time.sleep(0.02)

    def left_over(self):
        return [path for base in self.project.tmp.glob("orvl-*") for path in base.iterdir()]

    def outcomes(self):
        return self.project.rows("SELECT outcome, reason FROM attempt ORDER BY id")


@pytest.fixture
def marked(project):
    found = Marked(project, f"orvl-marker-{os.urandom(8).hex()}")
    yield found
    for pid in found.alive():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


FAILS = {
    "never ends": ("while True: time.sleep(1)", "passed its limit of 1 s (limits.turn)"),
    "ignores SIGTERM": (
        "import signal\nfor n in (1, 2, 3, 15): signal.signal(n, signal.SIG_IGN)\nwhile True: time.sleep(1)",
        "limits.turn",
    ),
    "stops itself": ("import signal; os.kill(os.getpid(), signal.SIGSTOP)", "limits.turn"),
    "closes its output and never ends": ("os.closerange(0, 256)\nwhile True: time.sleep(1)", "limits.turn"),
    "kills itself": ("os.kill(os.getpid(), 9)", "turn 1 was ended by signal 9"),
    "daemons and never ends": (
        "for i in range(5): daemon(f'while :; do sleep 1; done', M)\ntime.sleep(99)",
        "limits.turn",
    ),
}


@pytest.mark.parametrize("kind", FAILS)
def test_an_agent_that(marked, kind):
    code, reason = FAILS[kind]
    marked.agent(code)
    marked.eval()
    began = time.monotonic()
    result = marked.orvl()
    assert time.monotonic() - began < 60
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}
    assert reason in result.err
    assert marked.alive() == []
    assert marked.left_over() == []


def test_an_agent_that_closes_its_output_and_goes_on_is_finished(marked):
    marked.agent("os.close(1); os.close(2); time.sleep(0.5); open('f', 'w').write('done')")
    marked.eval("turn: 60")
    result = marked.orvl()
    assert result.json["ratings"][0]["runs"]["failed"] == 0
    assert marked.project.orvl("show", "mine/e/1", "--file", "f").out == "done"
    assert 0.5 <= result.json["ratings"][0]["usage"]["seconds"] < 60


@pytest.mark.parametrize("trap", ["", "trap '' TERM HUP INT; "])
def test_daemons_do_not_outlive_the_turn(marked, trap):
    marked.agent(f"for i in range(10): daemon({trap!r} + 'while :; do sleep 1; done', M)\ntime.sleep(0.2)")
    marked.eval("turn: 20, grace: 0.3")
    result = marked.orvl()
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["runs"]["failed"] == 0
    assert marked.alive() == []
    assert marked.left_over() == []


def test_a_daemon_does_not_write_into_the_next_turn_or_the_capture(marked):
    marked.agent(
        """
if os.path.exists("beat"):
    was = os.path.getsize("beat"); time.sleep(0.5); open("grew", "w").write(str(os.path.getsize("beat") - was))
else:
    w = os.getcwd()
    daemon(f"trap '' TERM; while :; do echo x >> '{w}/beat'; sleep 0.01; done", M)
    time.sleep(0.5)
"""
    )
    marked.eval("turn: 20, grace: 0.2", more="---\nMore.\n")
    assert marked.orvl().status == 0
    assert marked.project.orvl("show", "mine/e/1", "--file", "grew").out == "0"
    assert marked.alive() == []


def test_what_a_check_leaves_running_is_ended_too(marked):
    marked.shell("true")
    run = f"(setsid sh -c 'while :; do sleep 1; done' {marked.marker} &) ; sleep 0.2"
    marked.project.eval(
        "e",
        f"---\nmetrics: {{checks: 1}}\nlimits: {{grace: 0.2}}\nchecks: [{{name: a, run: {json.dumps(run)}}}]\n---\nGo.\n",
    )
    result = marked.orvl()
    assert result.json["ratings"][0]["metrics"]["checks"]["mean"] == 1.0
    assert marked.alive() == []


def test_a_fork_storm_is_ended(marked):
    marked.agent(
        """
import signal
signal.signal(15, signal.SIG_IGN)
end = time.time() + 60
for i in range(200):
    if not os.fork():
        os.setsid()
        while time.time() < end:
            if not os.fork():
                time.sleep(0.05); os._exit(0)
            time.sleep(0.1)
            try:
                while os.waitpid(-1, os.WNOHANG)[0]: pass
            except ChildProcessError: pass
        os._exit(0)
time.sleep(60)
"""
    )
    marked.eval("turn: 2, grace: 0.3")
    result = marked.orvl(timeout=60)
    assert result.json["ratings"][0]["runs"]["failed"] == 1
    assert marked.outcomes() == [("failed", "turn 1 passed its limit of 2 s (limits.turn)")]
    assert marked.alive() == []


def test_a_process_whose_first_thread_is_gone_is_ended(marked):
    """Such a process looks like a zombie, and lives."""
    marked.agent(
        """
if not os.fork():
    import ctypes, threading
    os.setsid()
    w = os.getcwd()
    def beat():
        for _ in range(1500):
            open(os.path.dirname(sys.argv[0]) + "/beat", "a").write("x"); time.sleep(0.02)
    threading.Thread(target=beat).start()
    ctypes.CDLL(None).pthread_exit(None)
time.sleep(0.5)
"""
    )
    marked.eval("turn: 20, grace: 0.2")
    marked.orvl(timeout=60)
    beat = marked.project.root / "tool/beat"
    was = beat.stat().st_size
    time.sleep(0.5)
    assert was > 0
    assert beat.stat().st_size == was


@pytest.mark.parametrize(("size", "limit"), [("300M", 60), pytest.param("5G", 1024, marks=pytest.mark.nightly)])
def test_a_flood_of_output_fills_neither_memory_nor_disk(marked, size, limit):
    marked.shell(f"head -c {size} /dev/zero; sleep 5")
    marked.eval(f"turn: 120, grace: 0.3, output: {limit}")
    process = marked.start("mine", "--eval=e", "--json")
    most = 0
    while process.poll() is None:
        most = max([most, *(path.stat().st_size for path in marked.project.tmp.rglob("*.out"))])
        time.sleep(0.05)
    out, err = process.communicate()
    assert process.returncode == 0, err
    assert json.loads(out)["ratings"][0]["runs"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}
    assert marked.outcomes() == [("failed", f"turn 1 printed more than its limit of {limit} MiB (limits.output)")]
    assert 0 < most < 20 << 20
    turn = json.loads(marked.project.orvl("show", "mine/e/1", "--json").out)["attempts"][0]["turns"][0]
    assert turn["output_bytes"] > limit << 20
    assert turn["left_out_bytes"] > (limit - 24) << 20
    assert sum(path.stat().st_size for path in marked.project.root.glob(".orvl/**/*") if path.is_file()) < 2 << 20
    assert marked.alive() == []
    assert marked.left_over() == []


def test_orvl_stays_small_while_an_agent_floods(marked):
    marked.shell("head -c 200M /dev/zero; head -c 200M /dev/zero >&2")
    marked.project.toml("limits.output = 2000")
    marked.eval("turn: 120")
    code = (
        "import resource, subprocess, sys\n"
        "s = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode\n"
        "print(s, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)\n"
    )
    words = [sys.executable, "-c", code, *marked.project.command, "mine", "--sandbox=none", "--eval=e"]
    done = subprocess.run(words, cwd=marked.project.root, env=marked.project.env, capture_output=True, check=True)
    status, mebibytes = map(int, done.stdout.split())
    assert status == 0
    assert mebibytes < 200


@pytest.mark.parametrize("where", ["out", "err"])
def test_the_beginning_and_the_end_of_a_flood_are_kept(marked, where):
    marked.project.toml("limits.kept_output = 1")
    marked.agent(
        f"out = sys.std{where}\n"
        "out.write('first\\n'); [out.write('x' * 1023 + '\\n') for _ in range(8192)]; out.write('last\\n')"
    )
    marked.eval("turn: 20")
    assert marked.orvl().status == 0
    key = marked.project.orvl("show", "mine/e/1", "--json").json["attempts"][0]["turns"][0][f"std{where}"]
    from orvl.store.folder import FolderBlobs

    kept = FolderBlobs(marked.project.root / ".orvl/blobs").get(key)
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"last\n")
    assert b"[orvl: 6291467 bytes left out]" in kept
    assert len(kept) < (2 << 20) + 100


# -- an agent against orvl itself


def test_an_agent_that_kills_its_parent_leaves_nothing_behind(marked):
    marked.agent("daemon('while :; do sleep 1; done', M)\ntime.sleep(0.2)\nos.kill(os.getppid(), 9)\ntime.sleep(60)")
    marked.shell("echo x > f", name="other")
    marked.project.toml("attempts = 1")
    marked.eval("turn: 20")
    result = marked.project.orvl("mine,other", "--eval=e", "--json", "--concurrency=1")
    assert "Traceback" not in result.err.replace("and said: Traceback", "")
    runs = {row["agent"]: row["runs"] for row in result.json["ratings"]}
    assert runs["other"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}
    assert runs["mine"]["rated"] + runs["mine"]["errored"] == 1
    assert marked.alive() == []
    assert marked.left_over() == []


def test_an_agent_that_stops_its_parent_does_not_hang_orvl(marked):
    marked.agent("import signal; os.kill(os.getppid(), signal.SIGSTOP); time.sleep(60)")
    marked.project.toml("attempts = 1")
    marked.eval("turn: 1, grace: 0.3")
    process = marked.start("mine", "--eval=e", "--json")
    try:
        process.communicate(timeout=18)
    except subprocess.TimeoutExpired:
        for pid in marked.alive():
            parent = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if b"guard.serve" in Path(f"/proc/{parent}/cmdline").read_bytes():
                os.kill(parent, signal.SIGCONT)
        process.communicate(timeout=30)
        pytest.fail("orvl hangs")
    assert marked.alive() == []


def test_an_agent_gets_no_file_of_orvl(marked):
    marked.agent(
        "open('fds', 'w').write('\\n'.join(os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if int(n) > 2 and os.path.lexists(f'/proc/self/fd/{n}')))"
    )
    marked.eval()
    assert marked.orvl().status == 0
    shown = marked.project.orvl("show", "mine/e/1", "--file", "fds").out
    assert [line for line in shown.splitlines() if not line.endswith(("/fds", "/fd"))] == []


# -- Ctrl-C


def matrix(marked, seconds):
    """Two agents: one is quick, one takes its time."""
    marked.shell("echo x > f", name="quick")
    marked.shell(f"echo started > f; sleep {seconds}; echo done > f")
    marked.eval("turn: 60, grace: 0.5")


def started(marked):
    return marked.alive() and list(marked.project.tmp.glob("orvl-*/w*/*/workspace/f")) and rows(marked) >= 1


def rows(marked):
    try:
        return marked.project.rows("SELECT count(*) FROM attempt WHERE outcome = 'finished'")[0][0]
    except Exception:  # noqa: BLE001 - there is no store yet
        return 0


def test_one_interrupt_lets_what_runs_end_and_says_how_to_continue(marked):
    matrix(marked, 2)
    process = marked.start("mine,quick", "--eval=e", "--episodes=3", "--concurrency=2", "--json")
    marked.wait_until(lambda: started(marked))
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    command = err.decode().partition("To continue: orvl ")[2].splitlines()[0]
    done = rows(marked)
    assert 2 <= done < 6
    assert sum(row["runs"]["rated"] for row in json.loads(out)["ratings"]) == done
    assert marked.outcomes() == [("finished", None)] * done
    assert marked.alive() == []
    assert marked.left_over() == []
    again = marked.project.orvl(*shlex.split(command), "--concurrency=6")
    assert again.status == 0, again.err
    assert len(marked.outcomes()) == 6


def test_what_does_not_end_in_the_grace_time_is_cut_and_run_again(marked):
    matrix(marked, 77)
    process = marked.start("mine,quick", "--eval=e", "--json")
    marked.wait_until(lambda: started(marked))
    began = time.monotonic()
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert 5 < time.monotonic() - began < 60
    assert b"To continue: orvl" in err
    assert marked.outcomes() == [("finished", None)]
    assert marked.alive() == []
    assert marked.left_over() == []
    assert marked.project.orvl("mine,quick", "--eval=e", "--dry-run", "--json").status == 0
    assert marked.project.orvl("doctor").status == 0


def test_two_interrupts_end_at_once_and_lose_nothing(marked):
    matrix(marked, 77)
    process = marked.start("mine,quick", "--eval=e", "--json")
    marked.wait_until(lambda: started(marked))
    process.send_signal(signal.SIGINT)
    while b"Stopping" not in (line := process.stderr.readline()):
        assert line, "it ended without a word"
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert time.monotonic() - began < STOP_GRACE
    assert process.returncode == 130
    marked.wait_until(lambda: not marked.alive())
    assert marked.outcomes() == [("finished", None)]
    marked.shell("true", name="other")
    assert marked.project.orvl("other", "--eval=e").status == 0
    assert marked.left_over() == []


def test_kill_leaves_no_process_and_the_next_call_sweeps_the_folders(marked):
    matrix(marked, 77)
    process = marked.start("mine,quick", "--eval=e")
    marked.wait_until(lambda: started(marked))
    process.kill()
    process.communicate(timeout=30)
    marked.wait_until(lambda: not marked.alive())
    assert marked.left_over()
    assert marked.project.orvl("quick", "--eval=e", "--fresh").status == 0
    assert marked.left_over() == []
    assert len(marked.outcomes()) == 2


def test_an_interrupt_while_a_score_thinks_ends_in_the_grace_time(marked):
    marked.shell("true")
    marked.project.score(
        "slow",
        "import time\ndef score(run):\n    open(run.path.parent.parent / 'here', 'w'); time.sleep(45); return 1\n",
    )
    marked.project.eval("e", "---\nmetrics: {slow: 1}\n---\nGo.\n")
    process = marked.start("mine", "--eval=e")
    marked.wait_until(lambda: list(marked.project.tmp.glob("orvl-*/w*/here")))
    process.send_signal(signal.SIGINT)
    try:
        process.communicate(timeout=15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail("orvl waits for the score")
    assert process.returncode == 130
    assert marked.outcomes() == [("finished", None)]


def test_an_interrupt_while_scoring_again_is_130_and_no_traceback(marked):
    marked.shell("true")
    marked.eval()
    assert marked.orvl().status == 0
    marked.project.score(
        "slow",
        "import time\ndef score(run):\n    open(run.path.parent.parent / 'here', 'w'); time.sleep(5); return 1\n",
    )
    process = marked.start("score", "mine", "--eval=e", "--metric=slow")
    marked.wait_until(lambda: list(marked.project.tmp.glob("orvl-*/w*/here")))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert b"Traceback" not in err
    assert marked.left_over() == []

"""What happens to a command while it runs: signals, an audience that goes away, a store that is deleted."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import subprocess
import time

import pytest

SANDBOX = "none"
CURSOR_HIDDEN, CURSOR_SHOWN = b"\x1b[?25l", b"\x1b[?25h"


@pytest.fixture
def waiting(project):
    """A project with an agent that says that it has begun, and ends when it is told to."""
    code = f"echo > {project.tmp}/begun-$$; while [ ! -e {project.tmp}/go ]; do sleep 0.05; done; echo done > f"
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', {code!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.toml("limits.grace = 0.2\n")
    return project


STARTED = []


@pytest.fixture(autouse=True)
def nothing_is_left():
    yield
    while STARTED:
        process = STARTED.pop()
        process.kill()
        process.communicate()


def start(project, *words, prefix=(), **streams):
    command = [*prefix, *project.command, "mine", "--eval=e", "--sandbox=none", *words]
    STARTED.append(subprocess.Popen(command, cwd=project.root, env=streams.pop("env", project.env), **streams))
    return STARTED[-1]


def wait_for(what, seconds=60.0):
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


def begun(project):
    return list(project.tmp.glob("begun-*"))


def outcomes(project):
    return [outcome for (outcome,) in project.rows("SELECT outcome FROM attempt")]


def test_nohup_is_respected(waiting):
    process = start(waiting, prefix=["nohup"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(waiting))
    process.send_signal(signal.SIGHUP)
    (waiting.tmp / "go").touch()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert b"Stopping" not in err
    assert outcomes(waiting) == ["finished"]


def test_without_nohup_a_closed_terminal_stops_the_command(waiting):
    # The tests themselves may have been started with nohup.
    default = ["env", "--default-signal=HUP"]
    process = start(waiting, prefix=default, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(waiting))
    process.send_signal(signal.SIGHUP)
    assert process.stderr is not None
    said = b""
    while b"Stopping" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    (waiting.tmp / "go").touch()
    process.communicate(timeout=300)
    assert process.returncode == 130


def terminal(project):
    """A live command on a pseudo terminal that has hidden the cursor; the terminal is its own session's."""
    ours, theirs = pty.openpty()
    env = {name: value for name, value in project.env.items() if name != "CI"} | {"TERM": "xterm-256color"}
    process = start(project, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
    os.close(theirs)
    return process, ours


def read_until(fd, words, seen=b""):
    deadline = time.monotonic() + 60
    while words not in seen:
        assert time.monotonic() < deadline, seen
        try:
            chunk = os.read(fd, 65536)
        except OSError:
            chunk = b""
        if not chunk:
            break
        seen += chunk
    return seen


SIGNALS = {
    "Ctrl-C twice": (signal.SIGINT, signal.SIGINT),
    "SIGTERM twice": (signal.SIGTERM, signal.SIGTERM),
    "SIGTERM and Ctrl-C": (signal.SIGTERM, signal.SIGINT),
    "Ctrl-\\": (signal.SIGQUIT,),
}


@pytest.mark.parametrize("kind", SIGNALS)
def test_the_cursor_is_given_back(waiting, kind):
    process, ours = terminal(waiting)
    seen = read_until(ours, CURSOR_HIDDEN)
    wait_for(lambda: begun(waiting))
    for number in SIGNALS[kind]:
        process.send_signal(number)
        if number != SIGNALS[kind][-1] or len(SIGNALS[kind]) == 2:
            seen = read_until(ours, b"Stopping", seen)
    seen = read_until(ours, b"never printed", seen)
    assert process.wait(timeout=300) in (130, -signal.SIGQUIT)
    os.close(ours)
    assert seen.rfind(CURSOR_SHOWN) > seen.rfind(CURSOR_HIDDEN) >= 0


@pytest.mark.parametrize("stream", ["stdout", "stderr", "both"])
@pytest.mark.parametrize("kind", ["closed pipe", "full disk"])
def test_progress_that_cannot_be_written_ends_nothing(waiting, stream, kind):
    ours, theirs = os.pipe() if kind == "closed pipe" else (-1, os.open("/dev/full", os.O_WRONLY))
    if kind == "closed pipe":
        os.close(ours)
    (waiting.tmp / "go").touch()
    streams = {name: theirs if stream in (name, "both") else subprocess.DEVNULL for name in ("stdout", "stderr")}
    process = start(waiting, "--episodes=4", "--concurrency=1", **streams)
    os.close(theirs)
    status = process.wait(timeout=300)
    assert outcomes(waiting) == ["finished"] * 4
    assert status == (0 if stream == "stderr" else 1)


def test_a_terminal_that_goes_away_under_nohup_ends_nothing(waiting):
    ours, theirs = pty.openpty()
    env = {name: value for name, value in waiting.env.items() if name != "CI"} | {"TERM": "xterm-256color"}
    words = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": theirs}
    process = start(waiting, "--episodes=3", env=env, prefix=["nohup"], **words)
    os.close(theirs)
    wait_for(lambda: len(begun(waiting)) == 3)
    os.close(ours)
    (waiting.tmp / "go").touch()
    assert process.wait(timeout=300) == 0
    assert outcomes(waiting) == ["finished"] * 3


@pytest.mark.parametrize("how", ["deleted", "replaced", "moved away"])
def test_a_store_that_is_gone_is_noticed_at_once(waiting, how):
    process = start(waiting, "--episodes=20", "--concurrency=2", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(waiting))
    store = waiting.root / ".orvl"
    if how == "moved away":
        store.rename(waiting.root / "elsewhere")
    else:
        shutil.rmtree(store)
    if how == "replaced":
        store.mkdir()
        (store / "orvl.db").touch()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 2, err
    assert b"Traceback" not in err
    [line] = [line for line in err.decode().splitlines() if line.startswith("orvl: ")]
    assert f"The store {store} was deleted or replaced" in line
    assert len(begun(waiting)) == 2  # nothing else was begun


# -- the disks, while runs go on


def sentences(err):
    return [line for line in err.decode().splitlines() if line.startswith("orvl: ")]


def test_a_temporary_folder_that_is_removed_is_no_traceback(waiting):
    waiting.toml("attempts = 2\n")
    words = ("--episodes=3", "--concurrency=1")
    process = start(waiting, *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(waiting))
    for folder in waiting.tmp.glob("orvl-*"):
        shutil.rmtree(folder)
    (waiting.tmp / "go").touch()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1, err
    assert b"Traceback" not in err
    assert "failed" not in outcomes(waiting)
    assert waiting.orvl("mine", "--eval=e", *words).status == 0


@pytest.fixture
def disk(tmp_path):
    """Mounts a small disk at a folder."""
    mounted = []

    def mount(folder, size):
        folder.mkdir(exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
        mounted.append(folder)
        return folder

    yield mount
    for folder in mounted:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.root
def test_a_temporary_folder_that_becomes_read_only_ends_the_call_with_a_sentence(waiting, disk):
    small = disk(waiting.tmp / "small", "32m")
    env = {**waiting.env, "TMPDIR": str(small)}
    process = start(waiting, "--episodes=3", "--concurrency=1", env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(waiting))
    subprocess.run(["mount", "-o", "remount,ro", small], check=True)
    (waiting.tmp / "go").touch()
    _, err = process.communicate(timeout=300)
    assert process.returncode == 1, err
    assert b"Traceback" not in err
    assert len(sentences(err)) == 1
    assert "read-only file system" in sentences(err)[0]
    assert "failed" not in outcomes(waiting)


@pytest.mark.root
def test_a_store_whose_disk_is_full_ends_the_call_with_a_sentence_and_keeps_what_was_done(project, disk):
    disk(project.root / ".orvl", "6m")
    code = "head -c $((3 * 1024 * 1024)) /dev/urandom > f"
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', {code!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    result = project.orvl("mine", "--eval=e", "--episodes=4", "--concurrency=1", process=True)
    assert result.status == 1, result.err
    assert "Traceback" not in result.err
    assert [line for line in result.err.splitlines() if line.startswith("orvl: ") and "no space left" in line]
    assert set(outcomes(project)) <= {"finished", "errored"}
    assert "finished" in outcomes(project)
    assert project.orvl("report").status == 0


def test_an_agent_that_is_stopped_or_whose_clock_is_wrong_is_measured_by_its_own_time(project):
    """SIGSTOP from outside costs its time; a name of another time zone, or a wrong clock, costs nothing."""
    code = f"echo $$ > {project.tmp}/pid; sleep 30"
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', {code!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\nlimits: {turn: 3, grace: 0.2}\n---\nGo.\n")
    process = start(project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: (project.tmp / "pid").exists() and (project.tmp / "pid").read_text().strip())
    os.kill(int((project.tmp / "pid").read_text()), signal.SIGSTOP)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert project.rows("SELECT outcome, reason FROM attempt") == [
        ("failed", "turn 1 passed its limit of 3 s (limits.turn)")
    ]


def test_an_agent_is_not_blamed_for_the_time_in_which_orvl_was_stopped(waiting):
    """As by Ctrl-Z: its model, and all else that it waits for, was not there."""
    waiting.toml("limits.grace = 0.2\nlimits.turn = 3\n")
    process = start(waiting, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(waiting))
    os.kill(process.pid, signal.SIGSTOP)
    time.sleep(4)  # longer than the limit
    os.kill(process.pid, signal.SIGCONT)
    (waiting.tmp / "go").touch()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    [(outcome, seconds)] = waiting.rows("SELECT outcome, seconds FROM attempt")
    assert (outcome, seconds < 3) == ("finished", True)


@pytest.mark.nightly
def test_an_agent_that_gave_up_while_orvl_was_stopped_gets_another_attempt(project):
    code = f"[ -e {project.tmp}/go ] && exit 0; echo > {project.tmp}/begun-1; sleep 7; touch {project.tmp}/go; exit 3"
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', {code!r}]\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    process = start(project, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    wait_for(lambda: begun(project))
    os.kill(process.pid, signal.SIGSTOP)
    wait_for((project.tmp / "go").exists)
    os.kill(process.pid, signal.SIGCONT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    (first, why), (second, _) = project.rows("SELECT outcome, reason FROM attempt ORDER BY id")
    assert (first, second) == ("errored", "finished")
    assert "stood still for" in why


def test_a_folder_that_is_gone_is_one_sentence_and_a_relative_temporary_one_works(waiting):
    gone = ["sh", "-c", 'mkdir gone && cd gone && rmdir ../gone && exec "$@"', "sh"]
    result = waiting.orvl("list", prefix=gone)
    assert (result.status, result.err.count("\n")) == (2, 1), result.err
    assert "This folder is not there any more" in result.err
    (waiting.tmp / "go").touch()
    env = {"TMPDIR": os.path.relpath(waiting.tmp, waiting.root)}
    result = waiting.orvl("mine", "--eval=e", "--sandbox=none", env=env, process=True)
    assert result.status == 0, result.err
    assert outcomes(waiting) == ["finished"]


# -- a browser that checks need


BROWSED = {
    "steps": "checks: [{name: a, steps: ['expect text Hello']}]",
    "its command": "checks: [{name: a, run: \"subject browse 'expect text Hello'\", isolated: true}]",
    "its files": "checks: [{name: a, run: python3 checks/check.py, isolated: true}]",
}


@pytest.mark.parametrize("by", BROWSED)
def test_a_browser_that_checks_need_is_missed_before_the_agent_runs(project, by):
    project.agent("mine", "models = {'none': ['m']}\ndef command(): return ['touch', 'index.html']\n")
    project.write(
        "evals/e/eval.md", f"---\nmetrics: {{checks: 1}}\napp: {{files: index.html}}\n{BROWSED[by]}\n---\nGo.\n"
    )
    project.write("evals/e/checks/check.py", "from orvl import checks\nchecks.browse('expect text Hello')\n")
    nowhere = {"ORVL_CHROMIUM": str(project.root / "nowhere")}
    assert project.orvl("mine", "--eval=e", env=nowhere).status != 0
    (attempt,) = project.orvl("show", "mine/e/1", "--json").json["attempts"]
    assert attempt["outcome"] == "errored"
    assert attempt["reason"].startswith(
        "the checks of e need a browser. Chromium is not installed: apt-get install chromium"
    )
    assert not attempt["turns"]


def test_checks_that_need_no_browser_run_without_one(project):
    project.agent("mine", "models = {'none': ['m']}\ndef command(): return ['touch', 'index.html']\n")
    checks = "checks: [{name: a, run: subject read index.html, isolated: true}]"
    project.write("evals/e/eval.md", f"---\nmetrics: {{checks: 1}}\napp: {{files: index.html}}\n{checks}\n---\nGo.\n")
    nowhere = {"ORVL_CHROMIUM": str(project.root / "nowhere")}
    assert project.orvl("mine", "--eval=e", env=nowhere).status == 0
    (attempt,) = project.orvl("show", "mine/e/1", "--json").json["attempts"]
    assert [check["passed"] for check in attempt["checks"]] == [True]

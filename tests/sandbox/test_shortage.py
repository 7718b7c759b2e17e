"""A machine that is short of something is nobody's failure: what it breaks is errored, and what an agent broke is not."""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from helpers.needs import need

MOUNTED = Path("/sys/fs/cgroup")
HUNGRY = "import time\nopen('begun', 'w').close()\nheld = bytearray(600 << 20)\ntime.sleep(20)\n"


@pytest.fixture
def small_container():
    """A prefix that runs a command in a control group with 450 MiB of memory, as in a container."""
    is_new = (MOUNTED / "cgroup.controllers").exists()
    base = MOUNTED if is_new else MOUNTED / "memory"
    need(os.access(base, os.W_OK) and (is_new or base.exists()), "control groups cannot be made here")
    outer = base / f"test-{os.getpid()}"
    inner = outer / "inside"
    inner.mkdir(parents=True)
    if is_new:
        (base / "cgroup.subtree_control").write_text("+memory +pids")
        (outer / "cgroup.subtree_control").write_text("+memory +pids")
    (outer / ("memory.max" if is_new else "memory.limit_in_bytes")).write_text(str(450 << 20))
    yield ["sh", "-c", f'echo $$ > {inner}/cgroup.procs; exec "$@"', "sh"]
    for folder in (inner, outer):
        folder.rmdir()


@pytest.mark.root
@pytest.mark.parametrize("name", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("limit", "outcome", "reason"),
    [
        (
            2000,
            "errored",
            "it was ended from outside: this machine, or the container that orvl is in, was short of memory",
        ),
        (100, "failed", "turn 1 took more memory than its limit of 100 MiB (limits.memory)"),
    ],
)
def test_who_is_short_of_memory_decides(project, small_container, name, limit, outcome, reason):
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['/usr/bin/python3', '-c', {HUNGRY!r}]\n")
    project.eval("e", f"---\nmetrics: {{speed: 1}}\nlimits: {{memory: {limit}}}\n---\nGo.\n")
    project.toml("attempts = 1\n")
    result = project.orvl("mine", "--eval=e", f"--sandbox={name}", prefix=small_container)
    assert result.status == int(outcome == "errored"), result.err
    [(found, why)] = project.rows("SELECT outcome, reason FROM attempt")
    assert found == outcome
    assert why.startswith(reason)


# -- the disk

HOGS = {
    "one file": "dd if=/dev/zero of=big bs=1M 2>/dev/null; sleep 5",
    "many files in its HOME, and words": "cd; i=0; while :; do dd if=/dev/zero of=f$i bs=64k count=16 2>/dev/null; echo more; i=$((i+1)); done",
    "files without names": "exec 7>gone; rm gone; dd if=/dev/zero bs=1M >&7 2>/dev/null; sleep 5",
}
MODEST = "i=0; while [ $i -lt 15 ]; do echo $i > f$i && sleep 0.1 || exit 3; i=$((i+1)); done; echo done > done"


@pytest.fixture
def small_disk(tmp_path):
    """A disk of 120 MiB."""
    yield from mounted(tmp_path / "small", "120m")


@pytest.fixture
def shared_disk(tmp_path):
    """One that three hogs at once cannot fill between two looks, which are a tenth of a second apart."""
    yield from mounted(tmp_path / "shared", "900m")


def mounted(folder, size):
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def shell_agent(project, name, code):
    project.agent(name, f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', {code!r}]\n")


@pytest.mark.root
@pytest.mark.parametrize("name", ["bubblewrap", "none"])
@pytest.mark.parametrize("kind", HOGS)
def test_who_fills_the_disk_fails_and_nobody_else(project, shared_disk, name, kind):
    shell_agent(project, "hog", HOGS[kind])
    shell_agent(project, "modest", MODEST)
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.toml("limits.turn = 60\nattempts = 6\n")
    env = {"TMPDIR": str(shared_disk)}
    words = ["hog,modest", "--eval=e", "--episodes=3", "--concurrency=6", "--json", f"--sandbox={name}"]
    result = project.orvl(*words, env=env)
    assert result.status == 0, result.err
    rows = {row["agent"]: row["runs"] for row in result.json["ratings"]}
    assert rows["modest"] == {"planned": 3, "rated": 3, "failed": 0, "errored": 0}
    assert rows["hog"]["rated"] == 3
    assert rows["hog"]["failed"] > 0
    for (reason,) in project.rows("SELECT reason FROM attempt WHERE outcome = 'failed'"):
        assert reason.startswith("turn 1 filled the disk beyond its share of what was free"), reason
        assert "(limits.disk)" in reason
    assert list(shared_disk.glob("orvl-*/w*")) == []


@pytest.mark.root
@pytest.mark.parametrize("kind", HOGS)
def test_who_fills_the_disk_fails_where_it_is_alone_too(project, small_disk, kind):
    shell_agent(project, "hog", HOGS[kind])
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.toml("limits.turn = 60\nattempts = 1\n")
    done = project.orvl("hog", "--eval=e", "--concurrency=1", "--sandbox=bubblewrap", env={"TMPDIR": str(small_disk)})
    assert done.status == 0, done.err
    assert project.rows("SELECT outcome FROM attempt") == [("failed",)]


LARGE = {
    "files with holes": "for i in 1 2 3 4 5 6; do truncate -s 50M $i; done",
    "more than half of the disk": "dd if=/dev/zero of=1 bs=1M count=35 2>/dev/null; cp 1 2",
    "what is not even kept": "dd if=/dev/zero of=1 bs=1M count=66 2>/dev/null; truncate -s 45M 2; touch 3",
}


@pytest.mark.root
@pytest.mark.parametrize("kind", LARGE)
def test_who_leaves_no_room_for_its_checks_is_checked_all_the_same(project, small_disk, kind):
    shell_agent(project, "hog", LARGE[kind])
    row = "{name: has-done-it, run: subject read done, isolated: true}, {name: is-there, run: subject run true, isolated: true}"
    project.eval("e", f"---\nmetrics: {{checks: 1}}\nchecks: [{row}]\n---\nGo.\n")
    done = project.orvl("hog", "--eval=e", "--json", "--concurrency=1", env={"TMPDIR": str(small_disk)})
    assert done.status == 0, done.err
    (attempt,) = project.orvl("show", "hog/e/1", "--json").json["attempts"]
    assert attempt["outcome"] == "finished", attempt["reason"]
    assert [check["passed"] for check in attempt["checks"]] == [False, True]


@pytest.mark.root
def test_a_disk_that_is_full_is_said_once_and_what_was_left_on_it_is_swept(project, small_disk):
    shell_agent(project, "modest", MODEST)
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    env = {"TMPDIR": str(small_disk)}
    left = small_disk / f"orvl-{os.getuid()}" / "wleft"
    left.mkdir(parents=True)
    with suppress(OSError):
        (left / "big").write_bytes(bytes(125 << 20))
    assert project.orvl("modest", "--eval=e", "--sandbox=none", env=env).status == 0
    assert not left.exists()
    with suppress(OSError):
        (small_disk / "big").write_bytes(bytes(125 << 20))
    full = project.orvl("modest", "--eval=e", "--sandbox=none", "--fresh", env=env)
    assert full.status in (1, 2), full.err
    assert [line for line in full.err.splitlines() if "no space left on device" in line], full.err
    assert "Traceback" not in full.err


# -- processes and descriptors


@pytest.fixture
def few_processes():
    """A prefix that runs a command where only so many processes and threads may live at once."""
    is_new = (MOUNTED / "cgroup.controllers").exists()
    base = MOUNTED if is_new else MOUNTED / "pids"
    need(os.access(base, os.W_OK) and (is_new or base.exists()), "control groups cannot be made here")
    group = base / f"test-few-{os.getpid()}"
    group.mkdir()
    (group / "pids.max").write_text("42")
    yield ["sh", "-c", f'echo $$ > {group}/cgroup.procs; exec "$@"', "sh"]
    group.rmdir()


def slow_project(project):
    shell_agent(project, "slow", "for i in 1 2 3 4 5; do sleep 0.1; done; echo done > f")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")


@pytest.mark.root
@pytest.mark.parametrize("name", ["bubblewrap", "none"])
def test_a_machine_that_refuses_processes_only_makes_it_slower(project, few_processes, name):
    slow_project(project)
    project.toml("attempts = 9\n")
    words = ["slow", "--eval=e", "--episodes=10", "--concurrency=10", f"--sandbox={name}", "--json"]
    result = project.orvl(*words, prefix=few_processes, timeout=200)
    assert "Traceback" not in result.err
    assert result.status == 0, result.err
    assert result.json["ratings"][0]["runs"] == {"planned": 10, "rated": 10, "failed": 0, "errored": 0}


@pytest.mark.parametrize("name", ["bubblewrap", "none"])
def test_too_few_descriptors_mean_fewer_runs_at_once(project, name):
    slow_project(project)
    words = ["slow", "--eval=e", "--episodes=12", "--concurrency=12", f"--sandbox={name}", "--json"]
    result = project.orvl(*words, prefix=["prlimit", "--nofile=100:140"])
    assert result.status == 0, result.err
    assert "Only 3 runs at once instead of 12: a process may open 140 files here (ulimit -n)." in result.err
    assert result.json["ratings"][0]["runs"] == {"planned": 12, "rated": 12, "failed": 0, "errored": 0}


@pytest.mark.root
def test_who_fills_the_disk_that_the_store_is_on_fails_too(project, small_disk):
    """What cannot be kept of it for lack of room is no excuse."""
    files = "i=0; while head -c 1000000 /dev/urandom > f$i; do i=$((i+1)); done; sleep 5"
    shell_agent(project, "hog", files)
    shell_agent(project, "modest", MODEST)
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.toml("attempts = 6\n")
    words = ["hog,modest", "--eval=e", "--concurrency=2", "--json", f"--store={small_disk}/store"]
    result = project.orvl(*words, env={"TMPDIR": str(small_disk)})
    assert result.status == 0, result.err
    rows = {row["agent"]: row["runs"] for row in result.json["ratings"]}
    assert rows["modest"] == {"planned": 1, "rated": 1, "failed": 0, "errored": 0}
    assert rows["hog"] == {"planned": 1, "rated": 1, "failed": 1, "errored": 0}


FILLED = """
from orvl import checks

ended = checks.run("python3", "answer.py", "fills_the_disk", seconds=20)
assert ended.cut in ("disk", "disk_share"), ended
checks.write("large.bin", bytes(8 << 20))
assert checks.run("wc", "-c", "large.bin").stdout == "8388608 large.bin\\n"
checks.fail("Expected work, saw none.")
"""


@pytest.mark.root
@pytest.mark.parametrize("at_once", [1, 4])
def test_a_subject_that_fills_the_disk_fails_its_check_and_leaves_room_for_it(project, small_disk, at_once):
    cheat = Path(__file__).parent / "adversary" / "cheat.py"
    shell_agent(project, "hog", f"cat > answer.py <<'END'\n{cheat.read_text()}\nEND")
    project.write("evals/e/checks/check.py", FILLED)
    checks = "[{name: a, run: python3 checks/check.py, isolated: true, limit: 60}, {name: b, run: subject run true, isolated: true}]"
    project.write("evals/e/eval.md", f"---\nmetrics: {{checks: 1}}\nchecks: {checks}\n---\nGo.\n")
    words = ["hog", "--eval=e", "--sandbox=bubblewrap", f"--concurrency={at_once}"]
    done = project.orvl(*words, env={"TMPDIR": str(small_disk)})
    assert done.status == 0, done.err
    (attempt,) = project.orvl("show", "hog/e/1", "--json").json["attempts"]
    assert attempt["outcome"] == "finished", attempt["reason"]
    first, second = attempt["checks"]
    assert not first["passed"] and first["output"].endswith("Expected work, saw none.\n"), first
    assert second["passed"], second


IN_AND_OUT = {
    "between two looks": """
def go():
    fill()
    print("x" * 100_000, flush=True)
    time.sleep(0.005)
    empty()
    sys.exit(3)
""",
    "again and again": """
def go():
    until = time.monotonic() + 2
    while time.monotonic() < until:
        fill()
        print("x" * 10_000, flush=True)
        empty()
    sys.exit(3)
""",
}
FILLS = """
import os, sys, time

def fill():
    for number, size in enumerate((64 << 20, 16 << 20, 1 << 20, 1 << 16, 4096)):
        try:
            while True:
                number += 100
                fd = os.open(f"f{number}", os.O_CREAT | os.O_WRONLY)
                os.posix_fallocate(fd, 0, size)
        except OSError:
            pass

def empty():
    os.closerange(3, 1024)
    for name in os.listdir("."):
        os.unlink(name)
"""


@pytest.mark.root
@pytest.mark.parametrize("how", IN_AND_OUT)
def test_who_fills_the_disk_for_a_moment_does_not_choose_to_be_errored(project, small_disk, how):
    script = FILLS + IN_AND_OUT[how] + "\ngo()\n"
    text = f"models = {{'none': ['m']}}\ndef command(): return ['python3', '-c', {script!r}]\n"
    project.agent("hog", text)
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    project.toml("attempts = 1\n")
    # One after the other: who begins on a disk that another one has filled is errored, and rightly so.
    words = ["--episodes=3", "--concurrency=1", "--sandbox=bubblewrap"]
    done = project.orvl("hog", "--eval=e", *words, env={"TMPDIR": str(small_disk)})
    assert done.status == 0, done.err
    assert {outcome for (outcome,) in project.rows("SELECT outcome FROM attempt")} == {"failed"}

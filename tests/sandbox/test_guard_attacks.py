"""Attacks on what watches a job: an agent that keeps its guard busy, blind or short of something chooses nothing by it."""

from __future__ import annotations

import asyncio
import os
import socket
import tempfile
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from helpers.ordinary_user import OrdinaryProject, library_for_all
from orvl.capture.checks import _ran
from orvl.errors import DiskWasFull, NotStarted
from orvl.sandbox import Job, ProcessResult, ResourceLimits, Stream
from orvl.sandbox.backends import backend
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.guard import limits, port
from orvl.sandbox.workdir import DiskRoom, WorkDir

MEBI = 1 << 20
PLENTY = ResourceLimits(processes=200, open_files=500, file_size=64 * MEBI, disk=64 * MEBI, memory=512 * MEBI)
PYTHON = "/usr/bin/python3"


@pytest.fixture
def work(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    made = WorkDir()
    yield made
    made.close()


async def ended(work, name, *codes, at_once=1):
    """How Python programs end that run at the same time, each in a sandbox of its own."""
    config = sandbox_config(work.root, [], [])
    sandboxes = [backend(name).open(config, None) for _ in codes]
    jobs = []
    for sandbox, code in zip(sandboxes, codes, strict=True):
        folders = replace(work.new(), room=DiskRoom(0, at_once))
        env = {"PATH": "/usr/bin:/bin"} | sandbox.view(folders).environment()
        jobs.append(Job([PYTHON, "-c", code], env, folders, folders.logs / "0", 30.0, 0.5, MEBI, MEBI, PLENTY))
    try:
        return await asyncio.gather(*(box.run(job) for box, job in zip(sandboxes, jobs, strict=True)))
    finally:
        for sandbox in sandboxes:
            await sandbox.close()


# -- what all programs of a user share

WATCHES = "import ctypes, sys\nlibc = ctypes.CDLL(None)\ncount = 0\nwhile count < 1000 and libc.inotify_init1(0) >= 0: count += 1\nprint(count, flush=True)\n"


def test_an_agent_gets_only_its_share_of_what_can_watch_files(work):
    """128 are usual for all programs of a user: who takes them breaks every rival that watches its sources."""
    there = int(Path("/proc/sys/user/max_inotify_instances").read_text())
    (greedy,) = asyncio.run(ended(work, "bubblewrap", WATCHES, at_once=3))
    assert int(greedy.stdout.read()) == max(8, there // 4)


# -- a guard that is kept busy


def test_folders_that_take_too_long_to_measure_are_not_measured_to_the_end(tmp_path):
    for number in range(3000):
        (tmp_path / f"{number}").touch()
    assert limits.disk_use([str(tmp_path)], 1 << 40)[2] is False
    used, _, hidden = limits.disk_use([str(tmp_path)], 1 << 40, seconds=0.0)
    assert hidden
    assert used < 3000 * 4096


# -- a guard that is refused a process


@pytest.fixture
def no_forks(monkeypatch):
    def refuse():
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(os, "fork", refuse)


def test_a_guard_without_another_process_goes_on(no_forks):
    """A job may take the last one at the very moment in which its guard wants one."""
    before = len(os.listdir("/proc/self/fd"))
    assert limits.shared_segments(os.getpid()) == 0
    assert len(os.listdir("/proc/self/fd")) == before
    ours, theirs = socket.socketpair()
    with ours, theirs:
        port.dial(None, 1, 7, theirs)
        assert ours.recv(100) == b"7 11\n"


# -- a guard whose files are taken away


@pytest.mark.parametrize(
    "before",
    [
        "open('../0.out', 'w').close()",
        "import os; os.mkdir('../0.out')",
        "import os; os.symlink('/dev/full', '../0.out')",
    ],
)
def test_an_agent_without_walls_that_puts_something_in_the_place_of_its_output_only_loses_it(work, before):
    code = f"{before}\nprint('words', flush=True)\nimport sys\nprint('others', file=sys.stderr)\nsys.exit(3)"
    (result,) = asyncio.run(ended(work, "none", code))
    assert (result.status, result.cut) == (3, None)
    assert result.stdout.read() == b""
    assert result.stdout.size == 6
    assert result.stderr.read() == b"others\n"


# -- a guard that is blind

HELD = "import os, time\nfile = os.memfd_create('held')\nfor _ in range(600): os.write(file, bytes(1 << 20))\ntime.sleep(20)\n"
UNLISTED = {
    "by its own word": f"import ctypes\nctypes.CDLL(None).prctl(4, 0, 0, 0, 0)\n{HELD}",
    "as a program that nobody may read": (
        "import os, shutil\nshutil.copy('/usr/bin/python3', '/tmp/p')\nos.chmod('/tmp/p', 0o111)\n"
        f"os.execv('/tmp/p', ['/tmp/p', '-c', {HELD!r}])\n"
    ),
}


@pytest.mark.parametrize("how", UNLISTED)
def test_an_agent_whose_files_cannot_be_listed_keeps_its_limit(how):
    """As an ordinary user, who has no control group and no right to look."""
    with library_for_all() as library, tempfile.TemporaryDirectory(prefix="orvl-guard-") as base:
        project = OrdinaryProject(Path(base), library)
        project.agent(
            "mine", f"models = {{'none': ['m']}}\ndef command(): return ['{PYTHON}', '-c', {UNLISTED[how]!r}]\n"
        )
        project.eval("e", "---\nmetrics: {speed: 1}\nlimits: {memory: 200, turn: 60}\n---\nGo.\n")
        result = project.orvl("mine", "--eval=e", "--sandbox=bubblewrap")
        assert result.status == 0, result.err
        assert project.rows("SELECT outcome, reason FROM attempt") == [
            ("failed", "turn 1 took more memory than its limit of 200 MiB (limits.memory)")
        ]


# -- a disk that the checked work has filled


@pytest.mark.parametrize("has_filled_disk", [True, False])
def test_a_disk_that_is_full_excuses_an_agent_only_if_its_work_did_not_fill_it(has_filled_disk):
    ended = ProcessResult(1, None, 0.1, 0.1, Stream(None, 0, 0), Stream(None, 0, 0))

    class FullDisk:
        async def run(self, _job):
            raise DiskWasFull("the disk was full", ended)

    ran = _ran(FullDisk(), None, SimpleNamespace(has_filled_disk=has_filled_disk))
    if has_filled_disk:
        assert asyncio.run(ran) is ended
    else:
        with pytest.raises(NotStarted):
            asyncio.run(ran)


# -- a version command

VERSIONS = {
    "nests folders": ("import os\nfor _ in range(1500): os.mkdir('a'); os.chdir('a')\n", None),
    "forks": ("import os, time\nfor _ in range(600):\n    if not os.fork(): time.sleep(9); os._exit(0)\n", "processes"),
    "fills the disk": ("file = open('big', 'wb')\nfor _ in range(500): file.write(bytes(1 << 20))\n", "file_size"),
}


@pytest.mark.parametrize("kind", VERSIONS)
def test_a_version_command_has_limits_and_leaves_nothing(project, kind):
    code, limit = VERSIONS[kind]
    program = project.write("bin/program", f"#!{PYTHON}\n{code}print('1.0')\n")
    program.chmod(0o755)
    project.agent("mine", f"models = {{'none': ['m']}}\nversion = ['{program}']\ndef command(): return ['true']\n")
    project.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    result = project.orvl("mine", "--eval=e", "--dry-run")
    assert "Traceback" not in result.err
    assert (f"it hit a limit ({limit})" in result.err) == (limit is not None), result.err
    assert (result.status == 0) == (limit is None)
    assert list(project.tmp.glob("orvl-once-*")) == []

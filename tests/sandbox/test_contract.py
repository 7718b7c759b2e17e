"""What every sandbox must do, whatever it is made of: a new one is added to BACKENDS, and must pass all of this."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from dataclasses import replace
from pathlib import Path

import pytest

from helpers.needs import need
from helpers.processes import guards_of, process_table
from helpers.user_project import ROOT_FOLDER
from orvl.errors import NotStarted
from orvl.sandbox import Job, ResourceLimits
from orvl.sandbox.backends import SANDBOXES, backend
from orvl.sandbox.config import sandbox_config
from orvl.sandbox.workdir import WorkDir

# docker needs a daemon, and has no ports; podman does the same with the same file.
BACKENDS = ["none", "bubblewrap", pytest.param("podman", marks=pytest.mark.nightly)]
with_walls = pytest.mark.parametrize("world", BACKENDS[1:], indirect=True)
MEBI = 1 << 20
PLENTY = ResourceLimits(processes=200, open_files=500, file_size=64 * MEBI, disk=64 * MEBI, memory=512 * MEBI)
DAEMON = "(setsid sh -c 'trap \"\" TERM HUP; echo $$ > daemon; exec sleep 300' >/dev/null 2>&1 &) ; while [ ! -s daemon ]; do :; done"


class World:
    """One sandbox of a kind, in which shell commands are run."""

    def __init__(self, name, work, image):
        self.backend, self.work = backend(name), work
        self.name, self.image = name, image
        self.config = sandbox_config(work.root, [], [], [], image)

    def run(self, *commands, **changes):
        """How each command ended, one after the other in the same folders."""
        return asyncio.run(self._run(commands, changes))

    async def _run(self, commands, changes, during=None):
        self.folders = self.work.new()
        sandbox = self.backend.open(self.config, None)
        try:
            results = []
            for number, command in enumerate(commands):
                job = self.job(sandbox, command, number, **changes)
                running = asyncio.ensure_future(sandbox.run(job))
                if during:
                    await during(sandbox)
                results.append(await running)
            return results
        finally:
            await sandbox.close()

    def run_and(self, during, command, **changes):
        """How a command ended to which something happens while it runs."""
        return asyncio.run(self._run([command], changes, during))[0]

    def job(self, sandbox, command, number, argv=None, env=None, **changes):
        env = {"PATH": "/usr/bin:/bin"} | sandbox.view(self.folders).environment() | (env or {})
        argv = argv or ["/bin/sh", "-c", command]
        output = self.folders.logs / str(number)
        return replace(Job(argv, env, self.folders, output, 20.0, 0.5, 8 * MEBI, MEBI, PLENTY), **changes)


@pytest.fixture(params=BACKENDS)
def world(request, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    image = None
    if request.param == "podman":
        image = str(request.getfixturevalue("root_folder")) if os.geteuid() == 0 else str(ROOT_FOLDER)
    problem = backend(request.param).problem(image)
    need(problem is None, str(problem))
    work = WorkDir()
    yield World(request.param, work, image)
    work.close()


def test_every_name_has_a_backend():
    for name in SANDBOXES:
        assert isinstance(backend(name).has_own_programs, bool)


def test_output_and_status_come_back(world):
    (result,) = world.run("echo out; echo err >&2; exit 7")
    assert (result.status, result.cut, result.alive) == (7, None, 0)
    assert (result.stdout.read(), result.stderr.read()) == (b"out\n", b"err\n")
    assert (result.stdout.size, result.stdout.left_out) == (4, 0)


def test_a_process_that_prints_nothing_leaves_no_file(world):
    (result,) = world.run("true")
    assert result.status == 0
    assert (result.stdout.path, result.stderr.path) == (None, None)
    assert list(world.folders.root.glob("*.out")) == []


def test_a_job_begins_in_folders_that_the_one_before_it_locked(world):
    results = world.run('chmod 0 . "$HOME" "$TMPDIR"', 'touch here "$HOME/there" "$TMPDIR/and-there"')
    assert [result.status for result in results] == [0, 0]


def test_time_is_measured(world):
    (result,) = world.run("sleep 0.3")
    assert 0.25 < result.seconds < 60


def test_the_environment_is_the_given_one_alone(world, monkeypatch):
    monkeypatch.setenv("ORVL_TEST_SECRET", "secret")
    (result,) = world.run("env", env={"GIVEN": "a b\nc"})
    assert b"GIVEN=a b\nc\n" in result.stdout.read()
    assert b"secret" not in result.stdout.read()


def test_an_argument_arrives_byte_for_byte(world):
    words = ["-x", "a b", "$(id)", "'\"", "", "zwei\nZeilen", "é"]
    if not world.backend.has_own_programs:  # a container's configuration is JSON, which holds UTF-8 alone
        words.append("\udcff")
    (result,) = world.run("", argv=["/bin/sh", "-c", 'for word; do printf "%s|" "$word"; done', "sh", *words])
    assert result.stdout.read() == os.fsencode("".join(f"{word}|" for word in words))


def test_it_starts_in_the_workspace_and_its_folders_last_from_job_to_job(world):
    first, second = world.run(
        'echo 1 > in-workspace; echo 2 > "$HOME/in-home"; echo 3 > "$TMPDIR/in-tmp"',
        'cat in-workspace "$HOME/in-home" "$TMPDIR/in-tmp"',
    )
    assert (first.status, second.stdout.read()) == (0, b"1\n2\n3\n")
    assert (world.folders.workspace / "in-workspace").read_text() == "1\n"
    assert (world.folders.home / "in-home").read_text() == "2\n"


def test_standard_input_is_empty_unless_given(world, tmp_path):
    given = tmp_path / "given"
    given.write_text("from a file")
    assert world.run("cat")[0].stdout.size == 0
    (result,) = world.run("cat; echo more > /proc/self/fd/0", stdin=given)
    assert result.stdout.read() == b"from a file"
    assert given.read_text() == "from a file"


def test_a_missing_program_is_told_apart_from_one_that_fails(world):
    for argv in (["no-such-program"], ["/no/such/program"], ["./no-such-program"]):
        try:
            (result,) = world.run("", argv=argv)
        except NotStarted as error:
            assert error.missing, argv
            assert argv[0] in str(error)
        else:  # a container learns of what is not in the workspace only when it has begun
            assert world.name == "podman"
            assert result.status == 127


def test_a_signal_is_reported(world):
    (result,) = world.run("kill -9 $$")
    assert result.status in (-9, 137)
    assert result.cut is None


def test_time_ends_it_and_the_grace_time_too(world):
    (result,) = world.run("trap 'echo last words' TERM; sleep 60 & wait; sleep 60", seconds=1.0)
    assert result.cut == "time"
    assert result.stdout.read() == b"last words\n"
    assert result.seconds < 50


def test_output_is_kept_within_bounds(world):
    (result,) = world.run("head -c 3000000 /dev/zero | tr '\\0' x; echo the end", kept_bytes=1000)
    kept = result.stdout.read()
    assert (result.cut, result.stdout.size) == (None, 3_000_008)
    assert kept.startswith(b"x" * 1000)
    assert kept.endswith(b"the end\n")
    assert result.stdout.left_out > 1_000_000
    assert b"%d bytes left out" % result.stdout.left_out in kept


def test_too_much_output_ends_it(world):
    (result,) = world.run("yes", output_bytes=MEBI)
    assert result.cut == "output"


LIMITS = {
    "processes": ("i=0; while [ $i -lt 60 ]; do sleep 20 & i=$((i+1)); done; wait", {"processes": 40}),
    "disk": ("i=0; while :; do head -c 1000000 /dev/zero > file-$i; i=$((i+1)); sleep 0.01; done", {"disk": 8 * MEBI}),
    "file_size": ("head -c 3000000 /dev/zero > large; sleep 5", {"file_size": MEBI}),
}


@pytest.mark.parametrize("limit", LIMITS)
def test_a_limit_ends_it_and_is_named(world, limit):
    command, limits = LIMITS[limit]
    (result,) = world.run(command, limits=replace(PLENTY, **limits))
    assert result.cut == limit or (limit == "processes" and result.status), result


def test_memory_is_limited(world):
    (result,) = world.run(
        "head -c 200000000 /dev/zero | tail -c 190000000 | sleep 10", limits=replace(PLENTY, memory=64 * MEBI)
    )
    assert result.cut == "memory"


def test_what_the_folders_hold_already_may_be_left_out(world):
    first, second = world.run(
        "head -c 3000000 /dev/zero > large", "echo more > small", limits=replace(PLENTY, disk=2 * MEBI), adds_only=True
    )
    assert (first.cut, second.cut) == ("disk", None)


def test_nothing_survives(world):
    result, after = world.run(DAEMON, "cat daemon; sleep 0.2; ls -A")
    assert (result.status, result.alive) == (0, 0)
    assert after.status == 0
    assert not _sleeping(world)


def test_nothing_survives_a_stop(world):
    async def stop(sandbox):
        while not (world.folders.workspace / "daemon").exists():
            await asyncio.sleep(0.02)
        sandbox.end_job()

    began = time.monotonic()
    result = world.run_and(stop, f"{DAEMON}; sleep 60")
    assert result.cut == "stopped"
    assert time.monotonic() - began < 50
    assert not _sleeping(world)


def test_cpu_seconds_count_what_runs_inside(world):
    """A grandchild's work is counted, whoever waits for it, and that of a process that nobody waits for."""
    waited, left = world.run(
        "sh -c 'sh -c \"$WORK\"; true'; cat used",
        "rm used; (sh -c 'sh -c \"$WORK\"; sleep 60' &); while [ ! -s used ]; do sleep 0.1; done; sleep 0.5; cat used",
        env={"WORK": "i=0; while [ $i -lt 400000 ]; do i=$((i+1)); done; times > all; mv all used"},
    )
    for result in (waited, left):
        used = sum(int(word[0]) * 60 + float(word[2:-1]) for word in result.stdout.read().decode().split())
        assert used > 0.1
        assert used - 0.05 <= result.cpu_seconds <= 3 * used + 1, (used, result)


@with_walls
def test_a_sandbox_that_is_killed_from_outside_is_nobodys_failure(world):
    """The agent cannot do that: a signal that it sends itself is its own end, as `test_a_signal_is_reported` shows."""

    async def kill(_sandbox):
        while not (world.folders.workspace / "begun").exists():
            await asyncio.sleep(0.02)
        guard = guards_of()[-1]
        holder = next(pid for pid, parent in process_table().items() if parent == guard)
        os.kill(holder, signal.SIGKILL)

    with pytest.raises(NotStarted, match="somebody outside the sandbox killed it") as raised:
        world.run_and(kill, "echo > begun; sleep 60")
    assert not raised.value.missing


KILLED = {"the guard": slice(1, 2), "its parent": slice(1), "both": slice(2)}


@pytest.mark.parametrize("who", KILLED)
def test_a_killed_guard_leaves_nothing_and_the_next_job_runs(world, who):
    async def kill(sandbox):
        while not (world.folders.workspace / "daemon").exists():
            await asyncio.sleep(0.02)
        guards = guards_of()
        assert len(guards) == 2
        for pid in guards[KILLED[who]]:
            os.kill(pid, signal.SIGKILL)

    async def both():
        world.folders = world.work.new()
        sandbox = world.backend.open(world.config, None)
        try:
            running = asyncio.ensure_future(sandbox.run(world.job(sandbox, f"{DAEMON}; sleep 60", 1)))
            await kill(sandbox)
            with pytest.raises(NotStarted, match="helper process was killed") as raised:
                await running
            left = _sleeping(world)
            return raised.value.missing, left, await sandbox.run(world.job(sandbox, "echo again", 2))
        finally:
            await sandbox.close()

    missing, left, again = asyncio.run(both())
    assert (missing, left) == (False, None)
    assert again.stdout.read() == b"again\n"


@pytest.mark.parametrize("who", KILLED)
def test_a_guard_that_is_stopped_goes_on(world, who):
    """Whoever stops it: the guard's parent wakes it, and a parent that sleeps does no harm."""

    async def stop(sandbox):
        while not (world.folders.workspace / "begun").exists():
            await asyncio.sleep(0.02)
        for pid in guards_of()[KILLED[who]]:
            os.kill(pid, signal.SIGSTOP)
        if who == "both":  # nobody is left to wake it: then orvl does when the time is over
            os.kill(guards_of()[0], signal.SIGCONT)

    result = world.run_and(stop, "echo > begun; sleep 0.5; echo done")
    assert (result.status, result.stdout.read()) == (0, b"done\n")


def _sleeping(world):
    """Whether the daemon is there: its workspace is its current folder, also from outside."""
    workspace = os.stat(world.folders.workspace)
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and os.path.samestat(os.stat(process / "cwd"), workspace):
                return process.name
        except OSError:
            continue
    return None


@pytest.mark.parametrize("seconds", [0.0, 0.05, 1.0])
def test_a_job_may_be_ended_and_another_begun_but_not_after_a_stop(world, seconds):
    async def both():
        world.folders = world.work.new()
        sandbox = world.backend.open(world.config, None)
        try:
            running = asyncio.ensure_future(sandbox.run(world.job(sandbox, "sleep 60", 1)))
            await asyncio.sleep(seconds)  # it may not have begun yet
            sandbox.end_job()
            ended, again = await running, await sandbox.run(world.job(sandbox, "echo again", 2))
            sandbox.stop()
            return ended, again, await sandbox.run(world.job(sandbox, "echo never", 3))
        finally:
            await sandbox.close()

    ended, again, never = asyncio.run(both())
    assert (ended.cut, again.stdout.read()) == ("stopped", b"again\n")
    assert (never.cut, never.status, never.stdout.size) == ("stopped", None, 0)


@with_walls
def test_what_may_be_read_cannot_be_written(world, tmp_path):
    shown = tmp_path / "shown"
    shown.mkdir()
    (shown / "file").write_text("content")
    (result,) = world.run(f"cat {shown}/file; echo x > {shown}/file || echo no", readable=(shown,))
    assert result.stdout.read() == b"contentno\n"
    assert (shown / "file").read_text() == "content"


@with_walls
def test_nothing_else_is_seen_or_written(world, tmp_path):
    (tmp_path / "secret").write_text("secret")
    root = world.folders = world.work.new()
    (result,) = world.run(f"cat {tmp_path}/secret; ls {root.root}; echo x > /usr/x; echo x > /x; exit 0")
    assert result.stdout.size == 0
    assert not Path("/usr/x").exists()


@with_walls
def test_there_is_no_network_but_its_ports(world):
    async def serve(listening):
        loop = asyncio.get_running_loop()
        connection, _ = await loop.sock_accept(listening)
        with connection:
            await loop.sock_sendall(connection, b"from outside")

    ask = (
        "import socket\n"
        "print(socket.create_connection(('127.0.0.1', 4000), 5).recv(99).decode())\n"
        "try: socket.create_connection(('127.0.0.1', 4001), 1)\n"
        "except OSError as error: print(type(error).__name__)\n"
        "try: socket.create_connection(('192.0.2.1', 80), 1)\n"
        "except OSError as error: print('unreachable')\n"
    )
    (result,) = world.run("", argv=["/usr/bin/python3", "-c", ask], ports={4000: serve})
    assert result.stdout.read() == b"from outside\nConnectionRefusedError\nunreachable\n"

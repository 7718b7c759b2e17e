"""The sandbox against an agent that wants out: every attempt fails, every limit holds, and nothing is left behind."""

from __future__ import annotations

import ctypes
import json
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import pytest
from adversary import attack

from helpers.forked import call_in_fork
from helpers.needs import need, need_program
from helpers.ordinary_user import AS_ROOT, PYTHON, library_for_all, python_for_all, spare_uid
from helpers.user_project import ROOT_FOLDER, Result, UserProject
from orvl.sandbox.guard.port import furnish
from orvl.store.folder import FolderBlobs

MADE_ONCE = ("attacked", "attacked_without_walls", "hogged")
ADVERSARY = Path(__file__).parent / "adversary"
SECRET = "the-secret-itself"
BACKENDS = {
    "bubblewrap": ["--sandbox=bubblewrap"],
    "podman": ["--sandbox=podman", f"--image={ROOT_FOLDER}"],
}
NO_WALLS = ["--sandbox=none"]
USERS = ["root", "ordinary"]
WITH_A_KEYRING = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.syscall(250, 1, None)
libc.syscall(248, b"user", os.environ["ORVL_TEST_KEY"].encode(), b"secret", 6, ctypes.c_long(-3))
os.execvp(sys.argv[1], sys.argv[1:])
"""


# -- who calls, and where


@pytest.fixture(scope="module")
def library():
    """What an ordinary user needs to call orvl: its package, those that it needs, and a Python that all can read."""
    with library_for_all() as folder:
        yield folder


@pytest.fixture(scope="module", autouse=True)
def _containers(root_folder):
    """A root folder is there for podman."""


def with_containers():
    """A user who may have containers: one with numbers of users to give away."""
    name = "orvl-tester"
    for _ in range(50):  # two workers may want it at the same time
        with suppress(KeyError):
            return pwd.getpwnam(name).pw_uid
        subprocess.run(["useradd", "--no-create-home", "--shell", "/bin/sh", name], capture_output=True, check=False)
        time.sleep(0.1)
    raise AssertionError(f"the user {name} cannot be made")


class Place(UserProject):
    """A user's project, called by that user in one kind of sandbox; its folders can be walked through by everybody."""

    def __init__(self, base, user, sandbox, library=None):
        super().__init__(base / "project")
        self.base, self.user, self.flags = base, user, sandbox
        self.home = base / "home"
        self.home.mkdir()
        self.uid = os.geteuid()
        self.prefix = []
        self.python = sys.executable
        self.library = library
        self.runtime = None
        if user == "ordinary" and AS_ROOT:
            self.uid = with_containers() if sandbox == BACKENDS["podman"] else spare_uid()
            self.prefix = ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", "--inh-caps=-all"]
            self.python = python_for_all()
            need(self.python, "there is no Python of this version that every user can read")
            if sandbox == BACKENDS["podman"]:
                self.runtime = Path(tempfile.mkdtemp(prefix="r", dir="/tmp"))  # as a login gives it: short
            for folder in filter(None, (self.root, self.tmp, self.home, self.runtime)):
                os.chown(folder, self.uid, self.uid)

    @property
    def env(self):
        own = {"HOME": str(self.home), "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"}
        if self.prefix:
            own["PYTHONPATH"] = str(self.library)
        if self.runtime:
            own["XDG_RUNTIME_DIR"] = str(self.runtime)
        return {**super().env, **own}

    @property
    def command(self):
        return [*self.prefix, self.python, "-m", "orvl"]

    def adversary(self, name, script, *words, env=None, stdin=None):
        """An agent that is one of the scripts in adversary/."""
        copy = self.base / "tool" / script
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(ADVERSARY / script, copy)
        os.chown(copy, self.uid, -1)
        argv = [PYTHON, str(copy), *map(str, words)]
        text = "from orvl import Command\nmodels = {'none': ['m']}\n"
        self.agent(name, text + f"def command(): return Command({argv!r}, stdin={stdin!r})\n")
        return copy

    def run(self, *words, env=None, timeout=60, wrap=(), flags=None, **more):
        """Calls orvl; a run command gets the flags of the sandbox."""
        runs = words[0] not in ("show", "report", "score", "gc", "doctor", "list", "export")
        words = [*words[:1], *(self.flags if flags is None else flags), *words[1:]] if runs else words
        env = {**self.env, **(env or {})}
        if not (runs or self.prefix or wrap or more):
            done = call_in_fork([*words], self.root, env, timeout)
        else:
            done = subprocess.run(
                [*wrap[:3], *self.prefix, *wrap[3:], self.python, "-m", "orvl", *words],
                cwd=self.root,
                env=env,
                capture_output=True,
                timeout=timeout,
                check=False,
                **({"stdin": subprocess.DEVNULL} | more),
            )
        result = Result(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))
        assert "Traceback" not in result.err, result.err
        return result

    def attempt(self, run):
        return self.run("show", run, "--json").json["attempts"][-1]

    def file(self, run, path):
        return self.run("show", run, "--file", path).out

    def left_over(self):
        return [str(path) for base in self.tmp.glob("orvl-*") for path in base.iterdir()]

    def alive(self):
        """Processes that name this place in their words."""
        found = []
        for folder in Path("/proc").iterdir():
            with suppress(OSError):
                if folder.name.isdigit() and os.fsencode(self.base / "tool") in (folder / "cmdline").read_bytes():
                    found.append(int(folder.name))
        return found

    def mounted(self):
        return [line for line in Path("/proc/self/mountinfo").read_text().splitlines() if str(self.base) in line]

    def assert_nothing_is_left(self):
        assert self.alive() == []
        assert self.left_over() == []
        assert self.mounted() == []


def _has(pid, runtime):
    """Whether a process has a runtime folder: podman leaves one that holds its user namespace."""
    try:
        return f"XDG_RUNTIME_DIR={runtime}\0".encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False


@contextmanager
def place_for(user, sandbox, library, where=None):
    if user == "root" and not AS_ROOT:
        pytest.skip("the tests do not run as root")
    base = Path(tempfile.mkdtemp(prefix="orvl-place-", dir=where or "/tmp"))
    base.chmod(0o755)
    place = None
    try:
        place = Place(base, user, sandbox, library)
        yield place
    finally:
        left = place.alive() if place else []
        if place and place.runtime:
            left += [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _has(pid, place.runtime)]
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        subprocess.run(["chmod", "-R", "u+rwX", base], check=False)
        shutil.rmtree(base, ignore_errors=True)
        if place and place.runtime:
            shutil.rmtree(place.runtime, ignore_errors=True)


def where(backend, user, *, nightly=False):
    marks = [pytest.mark.nightly] if nightly else []
    return pytest.param((backend, user), id=f"{backend}-{user}", marks=marks)


# podman has walls of its own, and its own way to end. What the guard does for both is tested with it at night.
WHERE = [where(backend, user, nightly=backend == "podman") for backend in BACKENDS for user in USERS]
WITH_PODMAN = [
    where(backend, user, nightly=(backend, user) == ("podman", "ordinary")) for backend in BACKENDS for user in USERS
]


@pytest.fixture(params=WHERE)
def place(request, library):
    backend, user = request.param
    with place_for(user, BACKENDS[backend], library) as found:
        found.backend = backend
        yield found


@pytest.fixture
def ours(library):
    """A place of whoever runs the tests, in bubblewrap."""
    with place_for("root" if AS_ROOT else "ordinary", BACKENDS["bubblewrap"], library) as found:
        yield found


# -- attempts


class Host:
    """Things on the host that an agent would like to reach."""

    def __init__(self, stack, place):
        name = f"orvl-decoy-{os.urandom(6).hex()}"
        self.key = self.abstract = name
        (place.home / ".secret").write_text(SECRET)
        self.real_home = Path(pwd.getpwuid(os.getuid()).pw_dir)
        self.real_secret = self.real_home / f".{name}-secret"
        self.real_secret.write_text(SECRET)
        stack.callback(self.real_secret.unlink)
        self.process = subprocess.Popen([*place.prefix, "sleep", "120"], stdin=subprocess.DEVNULL)
        stack.callback(self.process.wait)
        stack.callback(self.process.kill)
        self.socket = place.root / "answers.sock"
        tcp = self.answer(stack, socket.AF_INET, ("127.0.0.1", 0))
        self.port = tcp.getsockname()[1]
        self.answer(stack, socket.AF_UNIX, "\0" + name)
        self.answer(stack, socket.AF_UNIX, str(self.socket))
        self.socket.chmod(0o777)
        self.vsock = self.hold_vsock(stack)
        libc = ctypes.CDLL(None)
        self.shm = 0x0F000000 + int.from_bytes(os.urandom(2), "big")
        number = libc.shmget(self.shm, 4096, 0o1666)
        stack.callback(libc.shmctl, number, 0, None)
        self.mark = f".{name}-was-here"

    def answer(self, stack, family, address):
        """Says one word to whoever comes."""
        listening = stack.enter_context(socket.socket(family))
        listening.bind(address)
        listening.listen()

        def serve():
            with suppress(OSError):
                while True:
                    with listening.accept()[0] as one:
                        one.sendall(b"reached")

        threading.Thread(target=serve, daemon=True).start()
        stack.callback(listening.shutdown, socket.SHUT_RDWR)
        return listening

    def hold_vsock(self, stack):
        with suppress(OSError):
            one = stack.enter_context(socket.socket(socket.AF_VSOCK))
            one.bind((socket.VMADDR_CID_ANY, socket.VMADDR_PORT_ANY))
            return one.getsockname()[1]
        return ""


PLACES = [
    "/",
    "/usr",
    "/usr/bin",
    "/usr/local/bin",
    "/etc",
    "/opt",
    "/home",
    "/dev",
    "/dev/pts",
    "/sys",
    "/proc",
    "/var",
    "/root",
    "/mnt",
]


def attacked_in(place, stack, walls):
    """Runs all attempts at once, beside another run; gives the report."""
    host = Host(stack, place)
    places = [place.root, place.home, place.base, place.base / "tool", place.root / ".orvl"]
    places += [] if walls == "none" else PLACES
    given = {
        "walls": walls,
        "fake_home": place.home,
        "real_home": host.real_home,
        "real_secret": host.real_secret.name,
        "project": place.root,
        "store": place.root / ".orvl",
        "runs": place.tmp,
        "host_pid": host.process.pid,
        "abstract": host.abstract,
        "port": host.port,
        "socket": host.socket,
        "vsock": host.vsock,
        "key": host.key,
        "shm": host.shm,
        "mark": host.mark,
        "places": ":".join(map(str, places)),
    }
    config = place.base / "given.txt"
    config.write_text("".join(f"{name}={value}\n" for name, value in given.items()))
    place.adversary("mine", "attack.py", config, stdin="hello")
    place.agent(
        "other", "models = {'none': ['m']}\ndef command(): return ['sh', '-c', 'echo it > other-secret; sleep 9']\n"
    )
    place.write("evals/e/checks/answer.txt", SECRET)
    place.write(
        "evals/e/eval.md",
        "---\nmetrics: {checks: 1}\nchecks: [{name: a, run: grep -q secret checks/answer.txt}]\n---\nGo on then.\n",
    )
    place.toml("limits.memory = 1000\n")
    stack.callback(
        lambda: [os.unlink(f"{folder}/{host.mark}") for folder in places if os.path.lexists(f"{folder}/{host.mark}")]
    )
    main, end = os.openpty()
    stack.callback(os.close, main)
    stack.callback(os.close, end)
    result = place.run(
        "mine,other",
        "--eval=e",
        "--concurrency=2",
        "--json",
        env={"OPENAI_API_KEY": "decoy-key-1234", "ORVL_TEST_KEY": host.key},
        wrap=["setsid", "--ctty", "--wait", place.python, "-c", WITH_A_KEYRING],
        stdin=end,
    )
    assert result.status == 0, result.err
    shown = place.attempt("mine/e/1")
    assert (shown["outcome"], shown["sandbox"]) == ("finished", walls), shown["reason"]
    assert [check["passed"] for check in shown["checks"]] == [True]
    assert host.process.poll() is None
    if walls != "none":
        assert [folder for folder in places if os.path.lexists(f"{folder}/{host.mark}")] == []
        place.assert_nothing_is_left()
    return json.loads(place.file("mine/e/1", "report.json"))


@pytest.fixture(scope="module", params=WITH_PODMAN)
def attacked(request, library):
    backend, user = request.param
    with ExitStack() as stack:
        place = stack.enter_context(place_for(user, BACKENDS[backend], library))
        yield request.param, attacked_in(place, stack, backend)


@pytest.mark.parametrize("name", attack.ATTEMPTS)
def test_an_agent_does_not_get(attacked, name):
    _, report = attacked
    got, why = report[name]["got"], report[name]["why"]
    assert got is None, f"{name}: {got}"
    if why.startswith("not tried"):
        pytest.skip(why)


BARE = """the_users_home the_real_home a_way_up a_process_of_orvl the_store the_evals the_agents
the_hidden_checks the_workspace_of_another_run the_memory_of_a_host_process tracing_a_host_process
a_signal_to_a_host_process an_abstract_socket_of_the_host a_port_of_the_hosts_loopback a_socket_file_of_the_host
shared_memory_of_the_host files_in_other_places its_own_script the_mode_of_its_own_script
new_privileges new_user_namespace clone_into_a_user_namespace unshare_the_program
tracing_a_sibling the_memory_of_a_sibling writing_to_the_memory_of_a_sibling a_descriptor_of_a_sibling
comparing_with_a_sibling a_lease a_lease_with_bits_that_the_kernel_ignores a_word_on_every_change_of_a_folder
a_file_by_its_handle keys_of_the_machine"""

TRACING = [
    "the_memory_of_a_host_process",
    "tracing_a_host_process",
    "tracing_a_sibling",
    "the_memory_of_a_sibling",
    "writing_to_the_memory_of_a_sibling",
    "a_descriptor_of_a_sibling",
    "comparing_with_a_sibling",
]


@pytest.fixture(scope="module")
def attacked_without_walls(library):
    with ExitStack() as stack:
        place = stack.enter_context(place_for("root" if AS_ROOT else "ordinary", NO_WALLS, library))
        yield attacked_in(place, stack, "none")


@pytest.mark.parametrize("name", BARE.split())
def test_without_walls_it_does_get(attacked_without_walls, name):
    """So the attempts are worth something."""
    if not AS_ROOT and name in TRACING:
        pytest.skip("not every system lets an ordinary user trace its own processes")
    assert attacked_without_walls[name]["got"], attacked_without_walls[name]["why"]


@pytest.mark.root
@pytest.mark.parametrize("scope", ["0", "1"])
def test_processes_of_a_job_stay_apart_whatever_the_machine_says_of_tracing(library, scope):
    setting = Path("/proc/sys/kernel/yama/ptrace_scope")
    if not os.access(setting, os.W_OK):
        pytest.skip("this kernel has no kernel.yama.ptrace_scope, or it cannot be set")
    before = setting.read_text()
    with ExitStack() as stack:
        setting.write_text(scope)
        stack.callback(setting.write_text, before)
        place = stack.enter_context(place_for("ordinary", BACKENDS["bubblewrap"], library))
        report = attacked_in(place, stack, "bubblewrap")
    assert {name: found["got"] for name, found in report.items() if found["got"]} == {}


def test_a_key_of_the_session_is_there_for_who_stays_in_it(tmp_path):
    """orvl leaves the session's keyring even without walls; so this is outside of it."""
    code = "from adversary import attack; print(attack.the_sessions_keyring({'key': 'orvl-decoy'}))"
    env = {**os.environ, "ORVL_TEST_KEY": "orvl-decoy", "PYTHONPATH": str(ADVERSARY.parent)}
    words = [sys.executable, "-c", WITH_A_KEYRING, sys.executable, "-c", code]
    done = subprocess.run(words, env=env, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "b'secret'" in done.stdout


# -- what is left behind for orvl itself


def test_daemons_see_no_check_and_forge_nothing(place):
    """Half of them ignore SIGTERM. The first eval shows that they do forge what they can reach."""
    place.adversary("mine", "forge.py")
    place.adversary("control", "forge.py", "control")
    place.write("evals/e/checks/check.sh", f"test -e forged # {SECRET}\n")
    place.write(
        "evals/e/eval.md",
        "---\nmetrics: {checks: 1}\nlimits: {grace: 0.3}\nchecks: [{name: a, run: sh checks/check.sh}, {name: b, run: sleep 0.5; sh checks/check.sh}]\n---\nGo.\n",
    )
    assert place.run("mine,control", "--eval=e").status == 0
    control, mine = place.attempt("control/e/1"), place.attempt("mine/e/1")
    assert [check["passed"] for check in control["checks"]] == [True, True]
    assert "daemon 3" in place.run("show", "mine/e/1", "--output").out
    assert [check["passed"] for check in mine["checks"]] == [False, False]
    assert place.run("show", "mine/e/1", "--file", "forged").status == 2
    for path in (place.root / ".orvl/blobs").rglob("*.zst"):
        key = path.parent.name + path.stem
        assert SECRET.encode() not in FolderBlobs(place.root / ".orvl/blobs").get(key)
    place.assert_nothing_is_left()


def test_a_workspace_full_of_traps_is_only_data(place):
    mark = place.base / "mark"
    (place.home / "secret.txt").write_text(SECRET)
    place.adversary("mine", "leave.py", mark, place.root)
    place.write("evals/e/checks/answer.txt", SECRET)
    place.write(
        "evals/e/eval.md",
        "---\nmetrics: {checks: 1}\nlimits: {grace: 0.3}\nchecks: [{name: a, run: test -f checks/answer.txt -a ! -L checks}]\n---\nGo.\n",
    )
    place.toml("limits.files = 500\n# " + SECRET)
    began = time.monotonic()
    assert place.run("mine", "--eval=e").status == 0
    assert time.monotonic() - began < 20
    shown = place.attempt("mine/e/1")
    assert shown["outcome"] == "finished", shown["reason"]
    assert shown["cut"] == ["more than 500 files and folders: the rest was left out"]
    assert [check["passed"] for check in shown["checks"]] == [True]
    assert place.file("mine/e/1", "kept-too.txt") == "kept"
    for path in ("passwd", "up/orvl.toml", "../../orvl.toml", "pipe"):
        assert place.run("show", "mine/e/1", "--file", path).status == 2, path
    for words in (["show", "mine/e/1", "--diff"], ["score", "mine", "--again"], ["report"], ["gc"]):
        result = place.run(*words)
        assert SECRET not in result.out
    for path in (place.root / ".orvl/blobs").rglob("*.zst"):
        assert SECRET.encode() not in FolderBlobs(place.root / ".orvl/blobs").get(path.parent.name + path.stem)
    assert not mark.exists()
    place.assert_nothing_is_left()


def test_the_traps_are_real(tmp_path):
    need_program("git")
    mark = tmp_path / "mark"
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    subprocess.run([PYTHON, ADVERSARY / "leave.py", mark, tmp_path, "only"], cwd=workspace, check=True)
    subprocess.run(
        ["git", "status"],
        cwd=workspace,
        env={**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null"},
        capture_output=True,
        check=False,
    )
    assert mark.exists()


# -- limits

LIMITS = {
    "processes": 64,
    "memory": 200,
    "disk": 24,
    "file_size": 20,
    "open_files": 128,
    "output": 5,
    "turn": 30,
    "grace": 0.5,
}
HOGS = {
    "forks": "turn 1 reached its limit of 64 processes and threads (limits.processes)",
    "threads": "turn 1 reached its limit of 64 processes and threads (limits.processes)",
    "memory": "turn 1 took more memory than its limit of 200 MiB (limits.memory)",
    "memory_of_many": "turn 1 took more memory than its limit of 200 MiB (limits.memory)",
    "memory_files": "turn 1 took more memory than its limit of 200 MiB (limits.memory)",
    "memory_files_on_their_way": "turn 1 took more memory than its limit of 200 MiB (limits.memory)",
    "shared_memory_of_nobody": "turn 1 took more memory than its limit of 200 MiB (limits.memory)",
    "shared_memory_files": "turn 1 took more memory than its limit of 200 MiB (limits.memory)",
    "disk": "turn 1 filled more of the disk than its limit of 24 MiB (limits.disk)",
    "disk_in_home": "turn 1 filled more of the disk than its limit of 24 MiB (limits.disk)",
    "disk_in_tmp": "turn 1 filled more of the disk than its limit of 24 MiB (limits.disk)",
    "disk_by_small_files": "turn 1 filled more of the disk than its limit of 24 MiB (limits.disk)",
    "disk_of_deleted_files": "turn 1 filled more of the disk than its limit of 24 MiB (limits.disk)",
    "large_file": "turn 1 wrote a file up to its limit of 20 MiB (limits.file_size)",
    "open_files": "turn 1 reached its limit of 128 open files (limits.open_files)",
    "output": "turn 1 printed more than its limit of 5 MiB (limits.output)",
    "errors": "turn 1 printed more than its limit of 5 MiB (limits.output)",
    "sleep": "turn 1 passed its limit of 30 s (limits.turn)",
    "deaf": "turn 1 passed its limit of 30 s (limits.turn)",
    "stopped": "turn 1 passed its limit of 30 s (limits.turn)",
    "modest": None,
}
ONLY_BY_THE_KERNEL = {"memory_files_on_their_way"}


@pytest.fixture(scope="module", params=WHERE)
def hogged(request, library):
    """All hogs in one call, a few at a time."""
    backend, user = request.param
    with place_for(user, BACKENDS[backend], library) as place:
        for kind in HOGS:
            place.adversary(kind.replace("_", "-"), "hog.py", kind)
        place.toml("attempts = 1\n[limits]\n" + "".join(f"{name} = {value}\n" for name, value in LIMITS.items()))
        place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
        result = place.run(
            ",".join(kind.replace("_", "-") for kind in HOGS), "--eval=e", "--concurrency=4", timeout=180
        )
        assert result.status == 0, result.err
        place.assert_nothing_is_left()
        yield {kind: place.attempt(f"{kind.replace('_', '-')}/e/1") for kind in HOGS}, backend, user


@pytest.mark.parametrize("kind", HOGS)
def test_a_limit_holds_and_is_named(hogged, kind, request):
    attempts, backend, user = hogged
    if kind in ONLY_BY_THE_KERNEL and (user == "ordinary" or backend == "podman"):
        request.applymarker(
            pytest.mark.xfail(strict=False, reason="only a control group of this user's would count it")
        )
    one = attempts[kind]
    reason = one["reason"] and one["reason"].partition(", and said: ")[0]
    assert (one["outcome"], reason) == (("failed", HOGS[kind]) if HOGS[kind] else ("finished", None))
    assert one["turns"][0]["seconds"] < LIMITS["turn"] + 2


CHECKS = {
    "memory": "took more memory than its limit of 200 MiB (limits.memory)",
    "forks": "reached its limit of 64 processes and threads (limits.processes)",
    "disk": "filled more of the disk than its limit of 24 MiB (limits.disk)",
    "output": "printed more than its limit of 5 MiB (limits.output)",
    "open_files": "reached its limit of 128 open files (limits.open_files)",
    "deaf": "passed its limit of 2 s",
}


def test_the_limits_hold_for_checks(place):
    """The last one is fine. What is too much on the disk stays there, so each is an eval of its own."""
    place.agent("mine", "models = {'none': ['m']}\ndef command(): return ['true']\n")
    place.toml("attempts = 1\n[limits]\n" + "".join(f"{name} = {value}\n" for name, value in LIMITS.items()))
    for kind in (*CHECKS, "modest"):
        place.write(f"evals/{kind.replace('_', '-')}/checks/hog.py", (ADVERSARY / "hog.py").read_text())
        limit = 2 if kind == "deaf" else 30
        check = f"{{name: {kind}, run: {PYTHON} checks/hog.py {kind}, limit: {limit}}}"
        place.write(
            f"evals/{kind.replace('_', '-')}/eval.md", f"---\nmetrics: {{checks: 1}}\nchecks: [{check}]\n---\nGo.\n"
        )
    evals = ",".join(kind.replace("_", "-") for kind in (*CHECKS, "modest"))
    result = place.run("mine", f"--eval={evals}", "--concurrency=3", timeout=240)
    assert result.status == 0, result.err
    for kind, cut in CHECKS.items():
        shown = place.attempt(f"mine/{kind.replace('_', '-')}/1")
        assert shown["outcome"] == "finished"
        assert [(check["passed"], check["cut"]) for check in shown["checks"]] == [(False, cut)]
    assert [check["passed"] for check in place.attempt("mine/modest/1")["checks"]] == [True]
    assert CHECKS["memory"] in place.run("show", "mine/memory/1").out
    place.assert_nothing_is_left()


# -- the end of orvl


@pytest.mark.parametrize("count", [5, pytest.param(20, marks=pytest.mark.nightly)])
@pytest.mark.parametrize("with_guards", [False, True], ids=["orvl", "orvl-and-its-guards"])
@pytest.mark.parametrize("place", WITH_PODMAN, indirect=True)
def test_kill_leaves_nothing_of_many_sandboxes(place, with_guards, count):
    if with_guards and place.user == "ordinary":
        pytest.skip("once is enough")
    contained = place.backend == "podman"
    patience = 20 + 3 * count  # seconds; podman takes one or two to remove a container on a busy machine
    script = place.base / "tool/hog.py"
    place.adversary("mine", "hog.py", "deaf")
    quick, slow = ["sh", "-c", "echo x > f"], [PYTHON, str(script), "deaf"]
    flag = place.base / "quick"
    place.agent(
        "mine",
        f"import os\nmodels = {{'none': ['m']}}\ndef command(): return {quick!r} if os.path.exists({str(flag)!r}) else {slow!r}\n",
    )
    place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    words = [*place.command, "mine", *place.flags, "--eval=e", f"--episodes={count}", f"--concurrency={count}"]
    process = subprocess.Popen(
        words, cwd=place.root, env=place.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        deadline = time.monotonic() + 60
        while sum(_is_inside(pid) for pid in place.alive()) < 3 * count:
            assert time.monotonic() < deadline, f"only {len(place.alive())} processes"
            time.sleep(0.1)
        guards = [pid for pid in _children(process.pid) if b"guard.serve" in _cmdline(pid)]
        assert len(guards) >= count
        for pid in [process.pid, *(guards if with_guards else [])]:
            os.kill(pid, signal.SIGKILL)
    finally:
        process.kill()
        process.wait()
    time.sleep(1)
    if not contained:
        assert place.alive() == []
    elif not with_guards:
        _wait(lambda: not any(_is_inside(pid) for pid in place.alive()), 2)  # many containers, on a busy machine
    if contained:
        _wait(lambda: with_guards or not (place.mounted() or place.alive()), patience)
    if contained:
        _wait(lambda: not any(b"guard.serve" in _cmdline(pid) for pid in guards), patience)
    assert [pid for pid in guards if b"guard.serve" in _cmdline(pid)] == []
    assert contained or place.mounted() == []
    assert len(place.left_over()) == 1
    flag.touch()
    again = place.run("mine", "--eval=e", f"--episodes={count}", "--concurrency=4", "--json", timeout=240)
    assert again.status == 0, again.err
    assert again.json["ratings"][0]["runs"] == {"planned": count, "rated": count, "failed": 0, "errored": 0}
    if contained:
        _wait(lambda: not (place.mounted() or place.alive()), patience)
    place.assert_nothing_is_left()


def _is_inside(pid):
    """Whether a process is the agent's own, and not what holds its sandbox."""
    words = _cmdline(pid)
    return b"deaf" in words and not any(name in words for name in (b"bwrap", b"podman", b"conmon", b"read -r"))


def _wait(until, seconds):
    deadline = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def _cmdline(pid):
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def _children(pid):
    found = []
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            if folder.name.isdigit() and int((folder / "stat").read_text().rpartition(")")[2].split()[1]) == pid:
                found.append(int(folder.name))
    return found


# -- a machine without a sandbox that works

BROKEN = {
    "missing": (None, r"is not installed: apt install bubblewrap"),
    "no namespaces": (
        "echo 'bwrap: No permissions to create new namespace' >&2; exit 1",
        r"No permissions to create new namespace.*(sudo sysctl -w|--security-opt)",
    ),
    "no uid map": (
        "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1",
        r"uid map.*(sudo sysctl -w|--security-opt)",
    ),
    "too old": (
        "echo 'bwrap: Unknown option --disable-userns' >&2; exit 1",
        r"too old \(bwrap: Unknown option --disable-userns\).*apt install bubblewrap",
    ),
    "silent": ("exit 1", r"status 1\): apt install --reinstall bubblewrap"),
    "no program": ("", r"apt install --reinstall bubblewrap"),
}


@pytest.mark.parametrize(("kind", "asked"), [*((kind, False) for kind in BROKEN), ("missing", True), ("silent", True)])
def test_a_sandbox_that_does_not_work_is_told_before_anything_runs(ours, kind, asked):
    script, sentence = BROKEN[kind]
    folder = ours.base / "bin"
    folder.mkdir()
    for name in ("sh", "cp", "true", "env", "python3", "grep"):
        (folder / name).symlink_to(shutil.which(name, path="/usr/bin:/bin"))
    if script is not None:
        (folder / "bwrap").write_text(f"#!/bin/sh\n{script}\n" if script else "\x7fELF nonsense")
        (folder / "bwrap").chmod(0o755)
    mark = ours.base / "ran"
    ours.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', '-c', 'echo x > {mark}']\n")
    ours.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    env = {"PATH": str(folder)}
    result = ours.run("mine", "--eval=e", env=env, flags=BACKENDS["bubblewrap"] if asked else [])
    assert result.status == 2
    assert result.out == ""
    said = result.err.strip()
    assert len(said.splitlines()) == 1
    assert re.search(sentence, said), said
    assert "--sandbox none" in said
    assert not mark.exists()
    assert ours.left_over() == []
    if kind not in ("missing", "silent") or asked:
        return
    control = ours.run("dummy-good", "--eval=hello-world", "--json", env=env, flags=[])
    assert control.status == 0, control.err
    assert control.json["ratings"][0]["runs"]["rated"] == 1
    assert ours.attempt("dummy-good/hello-world/1")["sandbox"] == "none"
    assert ours.run("mine", "--eval=e", env=env, flags=NO_WALLS).status == 0
    assert mark.exists()
    assert ours.attempt("mine/e/1")["sandbox"] == "none"
    assert "sandbox none: finished" in ours.run("show", "mine/e/1").out


# -- agents and where they lie


def test_an_agent_in_the_users_home_starts_and_the_rest_of_it_is_not_there(place):
    if place.backend != "bubblewrap":
        pytest.skip("a container brings its own programs")
    tool = place.home / ".local/share/tool"
    tool.mkdir(parents=True)
    code = "import os\nopen('report', 'w').write(open(os.path.dirname(__file__) + '/data').read() + str([os.path.join(a, x) for a, b, c in os.walk(HOME) for x in c]))\n"
    (tool / "data").write_text("its own data ")
    (tool / "run").write_text(
        f"#!{PYTHON}\nHOME = {str(place.home)!r}\n__file__ = os.path.realpath(__file__) if 0 else __file__\n".replace(
            "os.path.realpath(__file__) if 0 else __file__", f"{str(tool / 'run')!r}"
        )
        + code
    )
    (tool / "run").chmod(0o755)
    (place.home / ".local/bin").mkdir()
    (place.home / ".local/bin/tool").symlink_to(tool / "run")
    (place.home / ".secret").write_text(SECRET)
    (place.home / ".local/share/other").mkdir()
    (place.home / ".local/share/other/token").write_text(SECRET)
    place.agent("mine", "models = {'none': ['m']}\ndef command(): return ['tool']\n")
    place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    env = {"PATH": f"{place.home}/.local/bin:/usr/bin:/bin"}
    assert place.run("mine", "--eval=e", env=env).status == 0
    report = place.file("mine/e/1", "report")
    assert report.startswith("its own data "), place.run("show", "mine/e/1").out
    files = {Path(path).relative_to(place.home) for path in re.findall("'([^']*)'", report)}
    assert files == {Path(".local/bin/tool"), Path(".local/share/tool/run"), Path(".local/share/tool/data")}
    assert place.run("mine", "--eval=e", "--fresh", env=env, flags=NO_WALLS).status == 0
    assert ".local/share/other/token" in place.file("mine/e/2", "report")


def test_a_launcher_that_names_its_program_by_the_home_starts(ours):
    for path, text in {
        ".local/bin/tool": 'exec "$HOME/.local/share/tool/run"',
        ".local/share/tool/run": "echo it ran",
    }.items():
        (ours.home / path).parent.mkdir(parents=True)
        (ours.home / path).write_text(f"#!/bin/sh\n{text}\n")
        (ours.home / path).chmod(0o755)
    ours.agent("mine", "models = {'none': ['m']}\ndef command(): return ['tool']\n")
    ours.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    env = {"PATH": f"{ours.home}/.local/bin:/usr/bin:/bin"}
    assert ours.run("mine", "--eval=e", env=env, flags=NO_WALLS).status == 0
    ours.run("mine", "--eval=e", "--fresh", env=env)
    assert ours.run("show", "mine/e/2", "--output").out.strip() == "it ran"


def test_a_short_prompt_hides_no_script(ours):
    script = ours.write("tool/go.sh", "echo it ran\n")
    ours.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', {str(script)!r}]\n")
    ours.eval("e", "---\nmetrics: {speed: 1}\n---\ngo\n")
    ours.run("mine", "--eval=e")
    assert ours.run("show", "mine/e/1", "--output").out.strip() == "it ran"


def test_on_a_busy_machine_only_its_own_processes_are_counted(ours):
    ours.agent("mine", "models = {'none': ['m']}\ndef command(): return ['sleep', '0.3']\n")
    ours.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    ours.toml("limits.processes = 20\n")
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(12)]
    try:
        result = ours.run("mine", "--eval=e", "--episodes=40", "--concurrency=20", "--json")
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert result.json["ratings"][0]["runs"] == {"planned": 40, "rated": 40, "failed": 0, "errored": 0}


def test_a_link_where_a_file_is_to_be_shown_does_not_lead_out(place):
    """In its first turn the agent puts a link where its own script is to be bound in the second one."""
    victim = place.base / "victim"
    victim.mkdir()
    os.chown(victim, place.uid, -1)
    assert place.base.parent == Path("/tmp")
    top = place.base.relative_to("/").parts[1]
    code = f"mv /tmp/{top} /tmp/aside; ln -s /oldroot{victim} /tmp/{top}; ls -l /tmp"
    script = place.write("tool/go.sh", f"test -e turn || {{ touch turn; {code}; }}; true\n")
    script.chmod(0o755)
    place.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', {str(script)!r}]\n")
    place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n---\nGo on.\n")
    place.run("mine", "--eval=e", "--json")
    assert f"-> /oldroot{victim}" in place.run("show", "mine/e/1", "--output").out
    shown = place.attempt("mine/e/1")
    assert len(shown["turns"]) == 2 or shown["outcome"] == "errored"
    assert list(victim.rglob("*")) == []
    place.assert_nothing_is_left()


def test_a_session_names_no_file(place):
    """An agent tells its session itself, and its command may tidy it up."""
    secret = place.home / "secret.txt"
    secret.write_text(SECRET)
    script = place.write("tool/go.sh", f'echo " {secret} "; cat "$@"\n')
    place.agent(
        "mine",
        f"""
        models = {{"none": ["m"]}}
        def command(session): return ["sh", {str(script)!r}, *([session.strip()] if session else ["/dev/null"])]
        def read(output): return {{"session": output.splitlines()[0]}}
        """,
    )
    place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n---\nGo on.\n")
    place.run("mine", "--eval=e")
    assert SECRET not in place.run("show", "mine/e/1", "--output").out


def test_a_program_beside_agents_files_does_not_show_them(place):
    if place.backend != "bubblewrap":
        pytest.skip("a container brings its own programs")
    place.agent("other", f"KEY = {SECRET!r}\nmodels = {{'none': ['m']}}\ndef command(): return ['true']\n")
    program = place.write("agents/go.sh", f"#!/bin/sh\ncat {place.root}/agents/o*.py; ls {place.root}\n")
    program.chmod(0o755)
    place.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return [{str(program)!r}]\n")
    place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
    place.run("mine", "--eval=e")
    shown = place.run("show", "mine/e/1", "--output").out
    assert "agents" in shown, place.run("show", "mine/e/1").out
    assert SECRET not in shown


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.root
@pytest.mark.parametrize(
    "where",
    [
        "/opt",
        "/var/tmp",
    ],
)
def test_a_project_may_lie_anywhere(library, where, backend):
    with place_for("root", BACKENDS[backend], library, where) as place:
        script = place.write(
            "tool/go.sh", f"cat {place.root}/orvl.toml {place.home}/.secret; ls {place.root} > seen; echo went\n"
        )
        place.toml(f"attempts = 1\n# {SECRET}\n")
        (place.home / ".secret").write_text(SECRET)
        place.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['sh', {str(script)!r}]\n")
        place.eval("e", "---\nmetrics: {speed: 1}\n---\nGo.\n")
        place.run("mine", "--eval=e")
        shown = place.run("show", "mine/e/1", "--output").out
        assert "went" in shown, place.run("show", "mine/e/1").out
        assert SECRET not in shown
        assert place.file("mine/e/1", "seen") == "tool\n"


LOOPBACK_LATER = """
import fcntl, socket, struct, sys, time
SIOCSIFFLAGS, SIOCSIFADDR = 0x8914, 0x8916
any_socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
def set_up(up):
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14s", b"lo", up, b""))
def set_address(address):
    fields = struct.pack("16sH2s4s8s", b"lo", socket.AF_INET, b"", socket.inet_aton(address), b"")
    fcntl.ioctl(any_socket, SIOCSIFADDR, fields)
set_up(1)
set_address("10.0.0.1")
set_address("0.0.0.0")
set_up(0)
print("here", flush=True)
time.sleep(0.3)
set_up(1)
sys.stdin.read()
"""


def test_a_door_waits_until_the_sandboxs_loopback_is_there():
    alone = ["unshare", "--user", "--map-root-user", "--net", sys.executable, "-c", LOOPBACK_LATER]
    ours, theirs = socket.socketpair()
    with ours, theirs, subprocess.Popen(alone, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"here\n"
        furnish(process.pid, [8123], theirs)
        said, handed, _, _ = socket.recv_fds(ours, 64, 1)
        process.stdin.close()
    os.close(handed[0])
    assert said == b"8123\n"

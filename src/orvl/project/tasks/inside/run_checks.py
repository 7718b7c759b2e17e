"""The verifier of an eval that was exported as a Harbor task: runs its checks, and writes the share that passed.

It needs the container's `python3` and nothing of orvl but the small library `orvl.checks` beside it, with which
isolated checks ask for the agent's work. As root, checks and the agent's work get users of their own; the reward is
root's.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any

    Answer = dict[str, Any] | socket.socket

HERE = os.path.dirname(os.path.abspath(__file__))
REWARD = "/logs/verifier"
CHECKER, SUBJECT = 1000, 1001
"""Users, where they can be had."""
IS_ROOT = os.geteuid() == 0
PATH = os.environ.get("PATH", "/usr/local/bin:/usr/bin:/bin")
MOST_KEPT = 8 << 20
IN_FOLDER = '[ -d "$1" ] || mkdir -p -- "$1"; cd -- "$1" && shift && exec "$@"'
COMMAND = """#!/bin/sh
exec python3 -I -S -c '
import sys
sys.path.insert(0, "%s")
from orvl.checks.__main__ import main
sys.exit(main())
' "$@"
"""


class Refused(Exception):
    """A request that cannot be met."""


class Ended:
    def __init__(self, status: int | None, out: bytes, err: bytes, seconds: float, cut: str | None) -> None:
        self.status, self.out, self.err, self.seconds, self.cut = status, out, err, seconds, cut


def environment(home: str, work: str) -> dict[str, str]:
    return {
        "PATH": PATH,
        "HOME": home,
        "TMPDIR": "/tmp",
        "PWD": work,
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }


def given_to(user: int, *folders: str) -> None:
    if IS_ROOT:
        for folder in folders:
            subprocess.run(["chown", "-R", "-h", f"{user}:{user}", folder], check=False)


def spawned(argv: list[str], cwd: str, env: Mapping[str, str], user: int, **streams: Any) -> subprocess.Popen[bytes]:
    who: dict[str, Any] = {"user": user, "group": user, "extra_groups": []} if IS_ROOT else {}
    return subprocess.Popen(argv, cwd=cwd, env=dict(env), start_new_session=True, **who, **streams)


def ended(process: subprocess.Popen[bytes], stdin: bytes, seconds: float, user: int) -> Ended:
    """Waits for a process, and ends all that it started."""
    began = time.monotonic()
    cut = None
    try:
        out, err = process.communicate(stdin, timeout=max(0.1, seconds))
    except subprocess.TimeoutExpired:
        cut = "time"
        kill(process, user)
        out, err = process.communicate()
    kill(process, user)
    seconds = time.monotonic() - began
    return Ended(process.returncode, out[:MOST_KEPT], (err or b"")[:MOST_KEPT], seconds, cut)


def kill(process: subprocess.Popen[bytes], user: int) -> None:
    with contextlib.suppress(OSError):
        os.killpg(process.pid, signal.SIGKILL)
    for pid in filter(str.isdigit, os.listdir("/proc")) if IS_ROOT else ():
        with contextlib.suppress(OSError):
            if os.stat(f"/proc/{pid}").st_uid == user:
                os.kill(int(pid), signal.SIGKILL)


class Subject:
    """A fresh copy of the agent's work for one check, and what can be asked of it."""

    def __init__(self, settings: Mapping[str, Any], until: float) -> None:
        self.settings, self.until = settings, until
        self.share: float | None = None
        self.folder = ""
        self.running: subprocess.Popen[bytes] | None = None
        self.fresh({})

    def fresh(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        self.close()
        self.folder = tempfile.mkdtemp(prefix="subject-")
        self.work, self.home = os.path.join(self.folder, "work"), os.path.join(self.folder, "home")
        shutil.copytree(self.settings["workdir"], self.work, symlinks=True)
        os.mkdir(self.home)
        given_to(SUBJECT, self.folder)
        return {}

    def close(self) -> None:
        self._end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, request: Mapping[str, Any]) -> dict[str, Any]:
        process = self._spawn(request)
        seconds = min(float(request["seconds"]), self.until - time.monotonic())
        return self._answer(ended(process, base64.b64decode(request["input"]), seconds, SUBJECT))

    def start(self, request: Mapping[str, Any]) -> dict[str, Any]:
        if self.running is not None:
            raise Refused("a started command still runs; call stop() first")
        self.running = self._spawn(request)
        return {}

    def stop(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        if self.running is None:
            raise Refused("nothing was started")
        process = self.running
        kill(process, SUBJECT)
        self.running = None
        return self._answer(ended(process, b"", 5, SUBJECT))

    def connect(self, request: Mapping[str, Any]) -> socket.socket:
        until = min(time.monotonic() + float(request["wait"]), self.until)
        while self.running is not None and self.running.poll() is None:
            try:
                connected = socket.create_connection(("127.0.0.1", int(request["port"])), 5)
                connected.settimeout(None)  # who gets it finds it as it is
                return connected
            except OSError:
                if time.monotonic() > until:
                    break
                time.sleep(0.05)
        raise Refused(f"port {request['port']} did not open")

    def read(self, request: Mapping[str, Any]) -> dict[str, Any]:
        path = self._inside(request["path"])
        if path is None or not os.path.isfile(path):
            return {"content": None}
        with open(path, "rb") as file:
            return {"content": base64.b64encode(file.read(2 * MOST_KEPT)).decode()}

    def write(self, request: Mapping[str, Any]) -> dict[str, Any]:
        path = self._inside(request["path"])
        if path is None:
            raise Refused(f"{request['path']} cannot be written")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        if os.path.isdir(path):
            shutil.rmtree(path)
        with open(path, "wb") as file:
            file.write(base64.b64decode(request["content"]))
        os.chmod(path, 0o755 if request.get("executable") else 0o644)
        given_to(SUBJECT, path)
        return {}

    def files(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        found = []
        for folder, _, names in os.walk(self.work):
            paths = (os.path.join(folder, name) for name in names)
            found += [os.path.relpath(path, self.work) for path in paths if not os.path.islink(path)]
        return {"files": sorted(found)}

    def grade(self, request: Mapping[str, Any]) -> dict[str, Any]:
        passed, cases = request["passed"], request["cases"]
        if type(passed) is not int or type(cases) is not int or not 0 <= passed <= cases or not cases:
            raise Refused(f"{passed} of {cases} cases cannot have passed")
        self.share = passed / cases
        return {}

    def draw(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        """A seed for made-up inputs, another one each time."""
        return {"values": {}, "seed": os.urandom(16).hex()}

    def ratio(self, _request: Mapping[str, Any]) -> dict[str, Any]:
        return {}

    def _spawn(self, request: Mapping[str, Any]) -> subprocess.Popen[bytes]:
        env = {**environment(self.home, self.work), **self.settings["env"], **request["env"]}
        argv = ["/bin/sh", "-c", IN_FOLDER, "sh", os.path.join(self.work, request["cwd"]), *request["argv"]]
        pipe = subprocess.PIPE
        return spawned(argv, self.work, env, SUBJECT, stdin=pipe, stdout=pipe, stderr=pipe)

    def _inside(self, name: str) -> str | None:
        """A path of the work; None where a link on the way to it would be followed."""
        path = os.path.join(self.work, name)
        inside = os.path.realpath(os.path.dirname(path)).startswith(os.path.realpath(self.work))
        return path if inside and not os.path.islink(path) else None

    def _end(self) -> None:
        if self.running is not None:
            kill(self.running, SUBJECT)
            self.running.wait()
            self.running = None

    @staticmethod
    def _answer(how: Ended) -> dict[str, Any]:
        texts = {"stdout": base64.b64encode(how.out).decode(), "stderr": base64.b64encode(how.err).decode()}
        return {"status": how.status, "cut": how.cut, "seconds": how.seconds, "memory": 0, **texts}


def serve(listening: socket.socket, subject: Subject) -> None:
    """Answers one request after the other, until the socket is closed."""
    ways: dict[str, Callable[[Mapping[str, Any]], Answer]] = {
        name: getattr(subject, name)
        for name in ("run", "start", "stop", "connect", "read", "write", "files", "fresh", "grade", "draw", "ratio")
    }
    while True:
        try:
            connection, _ = listening.accept()
        except OSError:
            return
        with connection, contextlib.suppress(OSError):
            received = b""
            while not received.endswith(b"\n"):
                chunk = connection.recv(1 << 20)
                if not chunk:
                    break
                received += chunk
            answer: Answer
            try:
                request = json.loads(received)
                if request["do"] not in ways:
                    raise Refused(f"nobody can '{request['do']}' here")
                answer = ways[request["do"]](request)
            except (Refused, ValueError, LookupError, TypeError, OSError) as error:
                answer = {"refused": str(error)}
            if isinstance(answer, socket.socket):
                with answer:
                    socket.send_fds(connection, [b"{}\n"], [answer.fileno()])
            else:
                connection.sendall(json.dumps(answer).encode() + b"\n")


@contextlib.contextmanager
def folders_of(work: str | None) -> Iterator[tuple[str, str, str]]:
    """Folders for checks: a root, the folder that they run in, and their home."""
    root = tempfile.mkdtemp(prefix="checks-")
    inside, home = os.path.join(root, "work"), os.path.join(root, "home")
    try:
        if work is None:
            os.mkdir(inside)
        else:
            shutil.copytree(work, inside, symlinks=True)
        os.mkdir(home)
        hidden = os.path.join(inside, "checks")
        if os.path.isdir(os.path.join(HERE, "checks")):
            if os.path.islink(hidden) or os.path.isfile(hidden):
                os.unlink(hidden)
            shutil.rmtree(hidden, ignore_errors=True)
            shutil.copytree(os.path.join(HERE, "checks"), hidden, symlinks=True)
        given_to(CHECKER, root)
        yield root, inside, home
    finally:
        shutil.rmtree(root, ignore_errors=True)


def command(
    check: Mapping[str, Any], settings: Mapping[str, Any], work: str, home: str, more: Mapping[str, str]
) -> Ended:
    env = {**environment(home, work), "CHECKS": os.path.join(work, "checks"), **settings["env"], **more}
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    argv = ["/bin/sh", "-c", check["run"]]
    process = spawned(argv, work, env, CHECKER, stdin=nothing, stdout=pipe, stderr=subprocess.STDOUT)
    return ended(process, b"", check["limit"], CHECKER)


def isolated(check: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[float, Ended]:
    subject = Subject(settings, time.monotonic() + check["limit"])
    try:
        with folders_of(None) as (root, work, home):
            programs, address = os.path.join(root, "bin"), os.path.join(root, "subject")
            library = os.path.join(root, "lib")
            shutil.copytree(os.path.join(HERE, "lib"), library)
            os.mkdir(programs)
            with open(os.path.join(programs, "subject"), "w", encoding="utf-8") as file:
                file.write(COMMAND % library)
            os.chmod(os.path.join(programs, "subject"), 0o755)
            listening = socket.socket(socket.AF_UNIX)
            listening.bind(address)
            given_to(CHECKER, root)
            listening.listen()
            threading.Thread(target=serve, args=(listening, subject), daemon=True).start()
            more = {"PYTHONPATH": library, "PATH": f"{programs}:{PATH}", "ORVL_SUBJECT": address}
            how = command(check, settings, work, home, more)
            listening.close()
    finally:
        subject.close()
    share = subject.share
    if share is None or how.cut or (share == 1 and how.status != 0):
        return float(how.status == 0 and how.cut is None), how
    return share, how


def results(settings: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], float, Ended]]:
    with folders_of(settings["workdir"]) as (_, work, home):
        for check in settings["checks"]:
            if check["isolated"]:
                value, how = isolated(check, settings)
            else:
                how = command(check, settings, work, home, {})
                value = float(how.status == 0 and how.cut is None)
            yield check, value, how


def mean(values: list[tuple[float, float]]) -> float:
    """By weights; 1 where there are none."""
    total = sum(weight for weight, _ in values)
    return sum(weight * value for weight, value in values) / total if total else 1.0


def main() -> None:
    with open(os.path.join(HERE, "checks.json"), encoding="utf-8") as file:
        settings = json.load(file)
    settings["env"] = {name: os.environ[name] for name in settings["variables"] if name in os.environ}
    wanted, guards = list[tuple[float, float]](), list[tuple[float, float]]()
    for check, value, how in results(settings):
        print(f"{check['name']}: {value:.3f} in {how.seconds:.1f} s{f', cut by {how.cut}' if how.cut else ''}")
        print(how.out[-4000:].decode("utf-8", "replace"), flush=True)
        (guards if check["keep"] else wanted).append((check["weight"], value))
    # What was there must stay; where nothing more is wanted yet, that is all.
    reward = mean(wanted) * mean(guards)
    print(f"reward {reward:.3f}")
    with open(os.path.join(REWARD, "reward.txt"), "w", encoding="ascii") as file:
        file.write(str(reward))


if __name__ == "__main__":
    main()

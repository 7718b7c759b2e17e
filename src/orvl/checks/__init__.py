"""What a check may ask of the agent's work, which lives in a sandbox of its own: run it, read it, connect to it.

For checks with `isolated: true`. It needs nothing but Python 3.8, because it runs with the sandbox's own `python3`, and
imports little: `dataclasses`, `socket` and `typing` would double the time that a small check takes.
"""

from __future__ import annotations

import binascii
import json
import os
import sys
from _socket import AF_UNIX, CMSG_SPACE, SCM_RIGHTS, SOL_SOCKET
from _socket import socket as Connection

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence
    from random import Random
    from typing import Any, Literal, NoReturn

__all__ = [
    "Call",
    "Ended",
    "Step",
    "browse",
    "calls",
    "connect",
    "drawn",
    "fail",
    "files",
    "fresh",
    "grade",
    "random",
    "ratio",
    "read",
    "run",
    "start",
    "stop",
    "write",
]

ADDRESS = "ORVL_SUBJECT"
"""The variable with the path of the socket at which orvl answers; it exists in the checker's sandbox alone."""


CALLER = os.path.join(os.path.dirname(__file__), "caller.py")
OPTIONS = ("-I", "-S", "-B", "-X", "utf8")
LOST = "lost"


class CheckError(Exception):
    """A request that cannot be met, through the check's own fault."""


class Ended:
    """How a command of the subject ended.

    `status` is its exit status, or a signal's number, negative. `cut` is the limit that ended it, as `time`, or None;
    of one of several calls, it is `lost` where nobody can tell how it ended.
    `memory` is the most bytes that one of its processes has had.
    """

    def __init__(
        self, status: int | None, stdout: bytes, stderr: bytes, seconds: float, cut: str | None, memory: int = 0
    ) -> None:
        self.status, self.seconds, self.cut, self.memory = status, seconds, cut, memory
        self.stdout_bytes, self.stderr_bytes = stdout, stderr

    def __repr__(self) -> str:
        out, err = self.stdout[:200], self.stderr[-200:]
        return f"Ended(status={self.status}, cut={self.cut}, stdout={out!r}, stderr={err!r})"

    @property
    def stdout(self) -> str:
        return self.stdout_bytes.decode("utf-8", "replace")

    @property
    def stderr(self) -> str:
        return self.stderr_bytes.decode("utf-8", "replace")


class Call:
    """A call of a program: its words, and what stands on its standard input; `cwd` is made if necessary."""

    def __init__(self, *words: str, input: str | bytes = b"", cwd: str = ".") -> None:
        self.words, self.cwd = words, cwd
        self.input = input.encode() if isinstance(input, str) else input


class Step:
    """How one step in the browser ended: its `status` is `passed`, `failed` or `not tried`."""

    def __init__(self, step: str, status: str, reason: str | None) -> None:
        self.step, self.status, self.reason = step, status, reason

    def __repr__(self) -> str:
        return f"Step({self.step!r}, {self.status!r}, {self.reason!r})"

    @property
    def passed(self) -> bool:
        return self.status == "passed"


def run(
    *command: str,
    input: str | bytes = b"",
    cwd: str = ".",
    env: Mapping[str, str] | None = None,
    seconds: float = 10.0,
) -> Ended:
    """Runs a command in the subject's workspace and waits for its end; nothing that it started is alive after it.

    What it writes stays for the next command of the same check. `cwd` is a folder of the workspace, made if necessary.
    """
    return _ended(_ask("run", **_command(command, input, cwd, env), seconds=seconds))


def calls(program: str, given: Sequence[Call], seconds: float = 60.0, each: float = 10.0) -> list[Ended]:
    """Calls a Python program of the subject again and again, and says how each call ended, in order.

    Each call has a process of its own, in which all is as under `python3 -I program`, but that the program finds the
    standard library alone. It takes a fifth of the time, because Python starts once. `seconds` is for all calls
    together. Of what a call prints to one stream, 50,000 bytes are kept.
    """
    if not given:
        return []
    with open(CALLER, encoding="utf-8") as file:
        code = f"{file.read()}\n\nmain({program!r}, {seconds!r}, {each!r})\n"
    asked = json.dumps([_asked(call) for call in given])
    ended = run(sys.executable, *OPTIONS, "-c", code, input=asked, seconds=seconds + each)
    try:
        rows = json.loads(ended.stdout.splitlines()[-1])
        if len(rows) != len(given):
            raise ValueError
        return [_one_of(*row) for row in rows]
    except (IndexError, ValueError, TypeError, AttributeError, RecursionError):
        return [Ended(None, b"", b"", 0.0, ended.cut or LOST) for _ in given]


def start(
    *command: str,
    input: str | bytes = b"",
    cwd: str = ".",
    env: Mapping[str, str] | None = None,
    seconds: float = 600.0,
) -> None:
    """Starts a command that goes on, such as a server; `connect` reaches its ports, `stop` ends it."""
    _ask("start", **_command(command, input, cwd, env), seconds=seconds)


def stop() -> Ended:
    """Ends what `start` began."""
    return _ended(_ask("stop"))


def connect(port: int, wait: float = 10.0) -> socket.socket:
    """A connection to a port on the subject's loopback; `wait` is how long the port may take to open."""
    import socket

    answer, descriptors = _exchange({"do": "connect", "port": port, "wait": wait})
    _raise_if_refused(answer)
    return socket.socket(fileno=descriptors[0])


def read(path: str) -> bytes | None:
    """A file of the subject's workspace; None where there is no plain file. Links are not followed."""
    content = _ask("read", path=path)["content"]
    return None if content is None else binascii.a2b_base64(content)


def write(path: str, content: str | bytes, executable: bool = False) -> None:
    """Writes a file into the subject's workspace, whatever is in its place."""
    _ask("write", path=path, content=_encoded(content), executable=executable)


def files() -> list[str]:
    """The paths of all plain files in the subject's workspace, in order."""
    return [str(path) for path in _ask("files")["files"]]


def fresh() -> None:
    """Gives the subject a fresh copy of what the agent left; what commands of this check wrote is gone."""
    _ask("fresh")


def browse(*steps: str) -> list[Step]:
    """Performs steps on the eval's `app` in a real browser, on a fresh copy of what the agent left."""
    answer = _ask("browse", steps=list(steps))
    return [Step(step["step"], step["status"], step["reason"]) for step in answer["steps"]]


def grade(passed: int, cases: int) -> None:
    """Says how many of the check's cases passed: the check counts by that share, and passes when all of them do.

    The last word counts. A check may end with any status then, unless it says that all of them passed.
    """
    _ask("grade", passed=passed, cases=cases)


def drawn() -> dict[str, str | int]:
    """What was drawn for this episode, by the names that the eval's `vary` has."""
    return dict(_draw()["values"])


def random() -> Random:
    """Random numbers for this check's inputs: others in each episode, the same whenever it checks that episode.

    A check has one such generator, however often it asks for it.
    """
    if not _generators:
        from random import Random

        _generators.append(Random(_draw()["seed"]))
    return _generators[0]


def ratio(subject: Callable[[], float], reference: Callable[[], float], bar: float, pairs: int = 7) -> float:
    """How many times as long the subject takes as a reference: the median over alternating pairs.

    Both do their work once and give its seconds, as `lambda: run("python3", "import.py").seconds` does. The work is
    fast enough if the ratio is at most `bar`, which is told so that the gate can see how far from it good work is.
    """
    seconds = [(subject(), reference()) for _ in range(pairs)]
    ratios = sorted(mine / max(other, 1e-6) for mine, other in seconds)
    median = max(ratios[len(ratios) // 2], 1e-6)
    _ask("ratio", ratio=median, bar=bar)
    return median


def fail(sentence: str) -> NoReturn:
    """Ends the check as failed, with a sentence that says why."""
    print(sentence)
    sys.stdout.flush()
    sys.exit(1)


# -- how it is asked

_generators: list[Random] = []


def _draw() -> Any:
    return _ask("draw")


def _command(command: Sequence[str], input: str | bytes, cwd: str, env: Mapping[str, str] | None) -> dict[str, Any]:
    if not command or not all(isinstance(word, str) for word in command):
        raise CheckError("a command is words, such as run('python3', 'hello.py')")
    return {"argv": list(command), "input": _encoded(input), "cwd": cwd, "env": dict(env or {})}


def _asked(call: Call) -> dict[str, Any]:
    """A call as the caller in the subject's sandbox is told it."""
    told = {"words": list(call.words)}  # type: dict[str, Any]
    if call.cwd != ".":
        told["cwd"] = call.cwd
    if call.input:
        told["input"] = call.input.decode("utf-8", "surrogateescape")
    return told


def _one_of(status: int | None, out: str, err: str, cut: str | None, seconds: float, memory: int) -> Ended:
    """How a call ended, as told from the subject's sandbox: whatever that is, it stays data."""
    if type(status) not in (int, type(None)) or type(cut) not in (str, type(None)):
        raise TypeError
    out_bytes, err_bytes = (text.encode("utf-8", "surrogateescape") for text in (out, err))
    return Ended(status, out_bytes, err_bytes, float(seconds), cut, int(memory))


def _encoded(content: str | bytes) -> str:
    return binascii.b2a_base64(content.encode() if isinstance(content, str) else content, newline=False).decode()


def _ended(answer: Mapping[str, Any]) -> Ended:
    out, err = (binascii.a2b_base64(answer[name]) for name in ("stdout", "stderr"))
    return Ended(answer["status"], out, err, answer["seconds"], answer["cut"], answer["memory"])


def _ask(
    do: Literal["run", "start", "stop", "read", "write", "files", "fresh", "browse", "grade", "ratio", "draw"],
    **what: Any,
) -> Any:
    answer, _ = _exchange({"do": do, **what})
    _raise_if_refused(answer)
    return answer


def _raise_if_refused(answer: Mapping[str, Any]) -> None:
    if "refused" in answer:
        raise CheckError(answer["refused"])


def _exchange(message: Mapping[str, Any]) -> Any:
    """The answer to a request, and the descriptors that came with it."""
    address = os.environ.get(ADDRESS)
    if address is None:
        raise CheckError("this check has no subject: add 'isolated: true' to it in eval.md")
    connection = Connection(AF_UNIX)
    try:
        connection.connect(address)
        connection.sendall(json.dumps(message).encode() + b"\n")
        return _received(connection)
    finally:
        connection.close()


def _received(connection: Connection) -> Any:
    """One line of JSON, and the descriptors that came with it."""
    received, descriptors = [], []  # type: ignore[var-annotated]
    while not received or not received[-1].endswith(b"\n"):
        chunk, ancillary, _, _ = connection.recvmsg(1 << 20, CMSG_SPACE(4))
        for level, kind, content in ancillary:
            if (level, kind) == (SOL_SOCKET, SCM_RIGHTS):
                descriptors.append(int.from_bytes(content[:4], sys.byteorder))
        if not chunk:
            raise CheckError("orvl ended the check")
        received.append(chunk)
    return json.loads(b"".join(received)), descriptors

"""A Python process beside this one for what may crash, hang or take without end: a JSON line in, a JSON line out.

The local model, the parser of the similarity metrics, and `DeadlineWorker` each run in one.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from threading import Timer
from typing import TYPE_CHECKING, Any

from orvl.errors import ChildFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_LINE = 64 << 20
MAX_WRITTEN = 16 << 20
"""Bytes that the child may write into any one file, its stderr included."""
MAX_STDERR_READ = 2000
GRACE = 2.0
INHERITED = ("PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LANG", "LC_ALL", "TMPDIR")
"""The child gets no other variable: it has no use for the user's keys."""


class ChildProcess:
    """The parent's side. The child ends when this process does, however that ends: its stdin is then closed."""

    def __init__(self, module: str, env: Mapping[str, str] | None = None) -> None:
        self._module = module
        # A file, not a pipe: a child that writes much to a pipe that nobody reads would hang.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open for as long as the process
        inherited = {name: os.environ[name] for name in INHERITED if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env={**inherited, **(env or {})},
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def wait(self) -> None:
        """Waits until the child has ended."""
        self._process.wait()

    def ask(self, message: Any, seconds: float, payload: bytes = b"", longest: int | None = None) -> Any:
        """The child's answer. A child that is late, dies or talks without end is killed, and is a ChildFailed.

        A payload follows the message as it is: a large one as JSON would hold up this process's other threads.
        """
        assert self._process.stdin and self._process.stdout
        late = False

        def end() -> None:
            nonlocal late
            late = True
            self.kill()

        timer = Timer(seconds, end)
        timer.start()
        line = b""
        try:
            # A child that has died is known by the answer that it does not give.
            with suppress(OSError, ValueError):
                self._process.stdin.write(json.dumps(message).encode() + b"\n")
                self._process.stdin.write(payload)
                self._process.stdin.flush()
                line = self._process.stdout.readline(longest or MAX_LINE)
        finally:
            timer.cancel()
        if not line.endswith(b"\n"):
            # A process that is ending by itself knows better than a kill why.
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(0 if line else GRACE)
            self.kill()
            raise ChildFailed(f"did not answer within {seconds:g} s" if late else self._death())
        return json.loads(line)

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        """Kills the child and waits until it is gone."""
        self.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            # What the child has not read when it dies cannot be flushed.
            with suppress(OSError):
                assert pipe
                pipe.close()
        self._stderr.close()

    def _death(self) -> str:
        status = self._process.wait()
        manner = f"was killed by signal {-status}" if status < 0 else f"exited with status {status}"
        with suppress(OSError, ValueError):
            start = max(0, os.fstat(self._stderr.fileno()).st_size - MAX_STDERR_READ)
            written = os.pread(self._stderr.fileno(), MAX_STDERR_READ, start).decode(errors="replace").strip()
            if written:
                return f"{manner}: {written.splitlines()[-1]}"
        return manner


def serve(answer: Callable[[Any], Any]) -> None:
    """The child's side: answers one line after the other, until the parent closes the pipe or is gone."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (MAX_WRITTEN, MAX_WRITTEN))
    # Ctrl-C reaches the whole group of processes; the parent decides when its children end.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Native libraries print what they like: none of it may get between the answers.
    os.dup2(2, 1)
    # Not by iteration, which reads ahead: an answer may take a payload from the same pipe.
    for line in iter(sys.stdin.buffer.readline, b""):
        answers.write(json.dumps(answer(json.loads(line))) + "\n")
        answers.flush()
    # Not sys.exit: threads of a native library may be in the middle of something.
    os._exit(0)

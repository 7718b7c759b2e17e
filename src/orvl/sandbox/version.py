"""What an agent's version command prints, wherever it is run."""

from __future__ import annotations

import os
import selectors
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, cast

Completed = subprocess.CompletedProcess[bytes]


@dataclass(frozen=True)
class NoVersion:
    """Why an agent's version could not be had."""

    why: str


MOST_PRINTED = 1 << 16
SECONDS = 60.0


def run_bounded(argv: Sequence[str], *, env: Mapping[str, str], pass_fds: Sequence[int] = ()) -> Completed:
    """Runs a command for a minute at most, and ends it when it has printed more than anybody reads."""
    began = time.monotonic()
    with (
        subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env),
            pass_fds=tuple(pass_fds),
            start_new_session=True,
        ) as process,
        selectors.DefaultSelector() as selector,
    ):
        printed = {stream: b"" for stream in (process.stdout, process.stderr) if stream is not None}
        for stream in printed:
            selector.register(stream, selectors.EVENT_READ)
        try:
            while selector.get_map() and sum(map(len, printed.values())) < MOST_PRINTED:
                left = SECONDS - (time.monotonic() - began)
                if left <= 0:
                    raise subprocess.TimeoutExpired(argv[0], SECONDS)
                for key, _ in selector.select(left):
                    stream = cast("IO[bytes]", key.fileobj)
                    if not (chunk := os.read(stream.fileno(), MOST_PRINTED)):
                        selector.unregister(stream)
                    printed[stream] += chunk
            ended = not selector.get_map()
            status = process.wait(max(0.0, SECONDS - (time.monotonic() - began))) if ended else 0
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        out, err = printed.values()
        return subprocess.CompletedProcess(argv, status, out, err)


def printed_version(
    argv: Sequence[str], run: Callable[[Sequence[str]], subprocess.CompletedProcess[bytes]]
) -> str | NoVersion:
    """What a version command prints, wherever it is run."""
    asked = shlex.join(argv)
    try:
        done = run(argv)
    except (FileNotFoundError, PermissionError, NotADirectoryError):
        return NoVersion(f"is not installed: '{argv[0]}' is not in PATH")
    except (OSError, subprocess.TimeoutExpired) as error:
        return NoVersion(f"cannot say its version: `{asked}` failed: {error}")
    lines = (done.stdout or done.stderr).decode("utf-8", "replace").strip().splitlines()
    last = lines[-1].strip()[:200] if lines else "nothing"
    if done.returncode:
        return NoVersion(f"cannot say its version: `{asked}` ended with status {done.returncode} and said: {last}")
    return lines[0].strip()[:200] if lines else NoVersion(f"cannot say its version: `{asked}` said nothing")

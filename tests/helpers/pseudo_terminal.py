"""A command on a pseudo terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence

from helpers.user_project import UserProject

SECONDS = 300
PATIENCE = 10
CTRL_C = b"\x03"
"""What comes between Python's look for signals and its wait for a key is heard at the next key, so that people press it
again."""


def drawn_by(
    project: UserProject, *words: str, env: Mapping[str, str], keys: bytes = b"", width: int | None = None
) -> tuple[int, bytes]:
    """orvl's exit status, and all that it wrote on both streams; `keys` are pressed when it asks whether to go on."""
    return dialogue(project, *words, env=env, answers=[(b"Go on?", keys)] if keys else [], width=width)


def dialogue(
    project: UserProject,
    *words: str,
    env: Mapping[str, str],
    answers: Sequence[tuple[bytes, bytes]],
    width: int | None = None,
) -> tuple[int, bytes]:
    """The same with several questions, one after the other, and the keys that are pressed for each."""
    ours, theirs = pty.openpty()
    if width is not None:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [*project.command, *words],
        cwd=project.root,
        env=dict(env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=_take_terminal,
    )
    os.close(theirs)
    drawn, seen, left, deadline, keys = b"", 0, list(answers), time.monotonic() + SECONDS, b""
    while piece := _read(ours, keys):
        assert time.monotonic() < deadline, drawn[-1000:]
        drawn += piece
        while left and (at := drawn.find(left[0][0], seen)) >= 0:
            question, keys = left.pop(0)
            seen = at + len(question)
            os.write(ours, keys)
    status = process.wait(timeout=SECONDS)
    os.close(ours)
    assert not left, f"never asked: {left[0][0]!r} after {drawn[-1000:]!r}"
    return status, drawn


def _take_terminal() -> None:
    """Makes standard input the terminal whose Ctrl-C is for this process, which whoever runs the tests may ignore."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def _read(terminal: int, pressed: bytes) -> bytes:
    """Nothing once the command has left the terminal."""
    if pressed == CTRL_C and not select.select([terminal], [], [], PATIENCE)[0]:
        os.write(terminal, pressed)
    assert select.select([terminal], [], [], SECONDS)[0], "it waits for an answer that nobody gives"
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""

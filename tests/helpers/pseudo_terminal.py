"""A command on a pseudo terminal."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import termios
import time
from collections.abc import Mapping

from helpers.user_project import UserProject

SECONDS = 300


def drawn_by(
    project: UserProject, *words: str, env: Mapping[str, str], keys: bytes = b"", width: int | None = None
) -> tuple[int, bytes]:
    """orvl's exit status, and all that it wrote on both streams; `keys` are pressed when it asks whether to go on."""
    ours, theirs = pty.openpty()
    if width is not None:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [*project.command, *words], cwd=project.root, env=dict(env), stdin=theirs, stdout=theirs, stderr=theirs
    )
    os.close(theirs)
    drawn, deadline = b"", time.monotonic() + SECONDS
    while piece := _read(ours):
        assert time.monotonic() < deadline, drawn[-1000:]
        drawn += piece
        if keys and b"Go on?" in drawn:
            os.write(ours, keys)
            keys = b""
    status = process.wait(timeout=SECONDS)
    os.close(ours)
    return status, drawn


def _read(terminal: int) -> bytes:
    """Nothing once the command has left the terminal."""
    try:
        return os.read(terminal, 1 << 16)
    except OSError:
        return b""

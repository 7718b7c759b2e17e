"""What a process is given to read, and what it prints: drained, counted, and kept within bounds."""

import errno
import fcntl
import os
import select
from typing import Any

CHUNK = 1 << 18
TAIL = 1 << 20
IN_THE_WAY = (errno.EEXIST, errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES)

SEALS = fcntl.F_SEAL_SEAL | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE


def standard_input(path: str | None) -> int:
    """A descriptor to read a file's content from: a sealed copy, which leads to no file and cannot be written."""
    if path is None:
        return os.open("/dev/null", os.O_RDONLY | os.O_CLOEXEC)
    copy = os.memfd_create("standard input", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    with open(path, "rb") as file:
        while chunk := file.read(CHUNK):
            while chunk:
                chunk = chunk[os.write(copy, chunk) :]
    os.fchmod(copy, 0o400)
    fcntl.fcntl(copy, fcntl.F_ADD_SEALS, SEALS)
    try:
        return os.open(f"/proc/self/fd/{copy}", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.close(copy)


class Sink:
    """One output stream: its beginning goes to a file, its end is remembered, what lies between is counted."""

    def __init__(self, fd: int, path: str, keep: int) -> None:
        self.fd, self.path, self.keep = fd, path, keep
        self.seen = self.kept = 0
        self.file = -1
        self.over = self.disk_was_full = False
        self.tail = bytearray()
        os.set_blocking(fd, False)

    def read(self) -> bool:
        """Takes what is there; False at the end of the stream."""
        try:
            chunk = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return True
        self.over = not chunk
        self.seen += len(chunk)
        head = chunk[: self.keep - self.kept]
        if head:
            self.write(head)
        if len(head) < len(chunk):
            self.tail += chunk[len(head) :]
            if len(self.tail) > 2 * TAIL:
                del self.tail[:-TAIL]
        return bool(chunk)

    def write(self, data: bytes) -> None:
        try:
            if self.file < 0:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
                self.file = os.open(self.path, flags, 0o600)
            while data:
                written = os.write(self.file, data)
                self.kept += written
                data = data[written:]
        except OSError as error:
            if error.errno in IN_THE_WAY and self.only_this_run():
                self.keep = self.kept
            elif error.errno in (errno.ENOSPC, errno.EDQUOT):
                self.disk_was_full = True
            else:
                raise

    def only_this_run(self) -> bool:
        """Whether what all runs live in is still there. A job without walls can take away the folder of its own output,
        or put something else there: then nothing is kept of it."""
        return os.path.isdir(os.path.dirname(os.path.dirname(self.path)))

    def lost_some(self) -> bool:
        """Whether there was no room for what was printed since this was last asked."""
        lost, self.disk_was_full = self.disk_was_full, False
        return lost

    def drain(self) -> None:
        """Takes what was still in the pipe when the last process died: never more than a pipe holds."""
        if select.select([self.fd], [], [], 0)[0]:
            for _ in range(8):
                before = self.seen
                if not self.read() or self.seen == before:
                    break

    def close(self) -> dict[str, Any]:
        left_out = 0
        try:
            if self.tail:
                tail = bytes(self.tail[-TAIL:])
                left_out = self.seen - self.kept - len(tail)
                if left_out:
                    self.write(b"\n[orvl: %d bytes left out]\n" % left_out)
                self.write(tail)
        finally:
            os.close(self.fd)
            if self.file >= 0:
                os.close(self.file)
        return {"path": self.path if self.file >= 0 else None, "bytes": self.seen, "left_out": left_out}

"""Runs one process at a time and lets nothing of it survive. A program of its own: `python -I -S keeper.py`.

It takes jobs as JSON lines on the socket that is its standard input, and answers each with one. It is the reaper of
all that a job's process starts, also of daemons that leave their parent and session; when orvl dies, the socket
closes, and it kills them all and ends.
"""

import ctypes
import json
import os
import select
import signal
import socket
import sys
import time
from typing import Any

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
CHUNK = 1 << 18
TAIL = 1 << 20
SIGNALS_TO_RESET = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXFSZ, signal.SIGCHLD)


class Sink:
    """One output stream: its beginning goes to a file, its end is remembered, what lies between is counted."""

    def __init__(self, fd: int, path: str, keep: int) -> None:
        self.fd, self.path, self.keep = fd, path, keep
        self.seen = self.kept = 0
        self.file = -1
        self.tail = bytearray()

    def read(self) -> bool:
        """Takes what is there; False at the end of the stream."""
        try:
            chunk = os.read(self.fd, CHUNK)
        except BlockingIOError:
            return True
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
        if self.file < 0:
            self.file = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        self.kept += len(data)
        while data:
            data = data[os.write(self.file, data) :]

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


class Keeper:
    def __init__(self, control: socket.socket) -> None:
        self.control = control
        self.buffer = b""
        self.wake_r, wake_w = os.pipe()
        for fd in (self.wake_r, wake_w):
            os.set_blocking(fd, False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        self.child = 0
        self.ended: tuple[int, float] | None = None
        self.spawned: bool | None = None

    def serve(self) -> None:
        while (line := self.next_line()) is not None:
            if line == b"stop":
                continue
            self.spawned = None
            try:
                answer = self.job(json.loads(line))
            except OSError as error:
                self.end(0)
                answer = {
                    "error": error.errno,
                    "message": error.strerror,
                    "file": os.fsdecode(error.filename or ""),
                    "not_spawned": self.spawned is False,
                }
            self.control.sendall(json.dumps(answer).encode() + b"\n")

    def next_line(self) -> bytes | None:
        while b"\n" not in self.buffer:
            chunk = self.control.recv(CHUNK)
            if not chunk:
                return None
            self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def job(self, job: dict[str, Any]) -> dict[str, Any]:
        os.chdir(job["cwd"])
        stdin = os.open(job["stdin"] or "/dev/null", os.O_RDONLY | os.O_CLOEXEC)
        out_r, out_w = os.pipe()
        err_r, err_w = os.pipe()
        sinks = {out_r: Sink(out_r, job["stdout"], job["keep"]), err_r: Sink(err_r, job["stderr"], job["keep"])}
        began = time.monotonic()
        try:
            self.ended = None
            self.spawned = False
            self.child = os.posix_spawn(
                job["program"],
                job["argv"],
                job["env"],
                file_actions=[
                    (os.POSIX_SPAWN_DUP2, stdin, 0),
                    (os.POSIX_SPAWN_DUP2, out_w, 1),
                    (os.POSIX_SPAWN_DUP2, err_w, 2),
                ],
                setsid=True,
                setsigmask=(),
                setsigdef=SIGNALS_TO_RESET,
            )
        except OSError:
            os.close(out_r)
            os.close(err_r)
            raise
        finally:
            for fd in (stdin, out_w, err_w):
                os.close(fd)
        self.spawned = True
        os.set_blocking(out_r, False)
        os.set_blocking(err_r, False)
        try:
            cut = self.watch(sinks, began + job["seconds"], job["output"])
            seconds = time.monotonic() - began
            alive = self.end(job["grace"] if cut else min(job["grace"], 1.0))
            self.drain(sinks)
        finally:
            out, err = (sink.close() for sink in sinks.values())
        status, cpu = self.ended or (None, 0.0)
        return {
            "status": status,
            "cut": cut,
            "seconds": seconds,
            "cpu_seconds": cpu,
            "stdout": out,
            "stderr": err,
            "alive": alive,
        }

    def watch(self, sinks: dict[int, Sink], deadline: float, most: int) -> str | None:
        """Waits for the process; says what cut it short, if anything did."""
        poll = select.poll()
        for fd in (self.control.fileno(), self.wake_r, *sinks):
            poll.register(fd, select.POLLIN)
        while b"stop\n" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0:
                return "time"
            for fd, _ in poll.poll(min(left, 3600.0) * 1000 + 1):
                if fd == self.wake_r:
                    os.read(self.wake_r, 4096)
                    self.reap()
                elif fd in sinks:
                    if not sinks[fd].read():
                        poll.unregister(fd)
                else:
                    self.listen()
            if self.ended:
                return None
            if sum(sink.seen for sink in sinks.values()) > most:
                return "output"
        return "stopped"

    def listen(self) -> None:
        """Takes what orvl says; when it says nothing any more, it is gone, and so must be all that runs here."""
        chunk = self.control.recv(CHUNK)
        if not chunk:
            self.end(0)
            os._exit(0)
        self.buffer += chunk

    def reap(self) -> bool:
        """Collects the dead; False when no child is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            if pid == self.child:
                self.ended = (os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime)

    def end(self, grace: float) -> int:
        """SIGTERM, then SIGKILL, to everything below this process; gives how many would not die."""
        if not self.reap():
            return 0
        if grace:
            self.signal_all(signal.SIGTERM)
            deadline = time.monotonic() + grace
            while time.monotonic() < deadline:
                if not self.reap():
                    return 0
                time.sleep(0.005)
        deadline = time.monotonic() + 10
        while self.reap() and time.monotonic() < deadline:
            self.signal_all(signal.SIGSTOP)
            self.signal_all(signal.SIGKILL)
            time.sleep(0.002)
        return len(descendants(os.getpid())) if self.reap() else 0

    @staticmethod
    def signal_all(number: int) -> None:
        for pid in descendants(os.getpid()):
            try:
                os.kill(pid, number)
            except OSError:
                pass

    @staticmethod
    def drain(sinks: dict[int, Sink]) -> None:
        """Takes what was still in the pipes when the last process died: never more than a pipe holds."""
        for fd, sink in sinks.items():
            if select.select([fd], [], [], 0)[0]:
                for _ in range(8):
                    before = sink.seen
                    if not sink.read() or sink.seen == before:
                        break


def descendants(root: int) -> list[int]:
    """All processes below one, by the kernel's word on who is whose parent.

    Also those called dead: a process whose first thread has ended goes on in its others.
    """
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                after_name = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        children.setdefault(int(after_name[1]), []).append(int(name))
    found: list[int] = []
    todo = [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def become_reaper() -> None:
    """What loses its parent below this process becomes its child."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def main() -> None:
    become_reaper()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)  # also an agent that stopped it must not keep it
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and os.path.exists(f"/proc/self/fd/{name}"):
            os.set_inheritable(int(name), False)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    try:
        Keeper(control).serve()
    except (BrokenPipeError, ConnectionResetError):
        pass
    sys.exit(0)


if __name__ == "__main__":
    main()

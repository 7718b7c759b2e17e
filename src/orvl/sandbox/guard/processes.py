"""The process tree as the kernel knows it, and what the guard asks of the kernel for itself."""

import ctypes
import fcntl
import os
import signal
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

PR_SET_PDEATHSIG = 1
PR_SET_CHILD_SUBREAPER = 36
KEYCTL_JOIN_SESSION_KEYRING = 1
ENDED = (b"Z", b"X", b"")
"""States of processes that hold nothing any more, as a zombie."""
STANDING = (b"T", *ENDED)
PIDFD_GET_INFO, PIDFD_INFO_EXIT = 0xC040FF0B, 8


def become_reaper() -> None:
    """Becomes the parent of orphans below this process, in place of init: a daemon that forks twice stays in sight."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def leave_session_keyring() -> None:
    """Takes a keyring of its own: keys of the user's session, as for encrypted folders, would be inherited by jobs."""
    number = {"x86_64": 250, "aarch64": 219, "riscv64": 219}.get(os.uname().machine)
    if number is not None:
        ctypes.CDLL(None).syscall(number, KEYCTL_JOIN_SESSION_KEYRING, None)


def wake_when_parent_dies() -> None:
    """The kernel sends SIGCONT when the parent dies, which also wakes a process that was stopped."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGCONT, 0, 0, 0)


def process_table() -> dict[int, tuple[int, int, int]]:
    """The parent, the session and the time of the start of each process, from one pass over /proc.

    Zombies too: a process whose first thread has ended looks like one, and goes on in its other threads.
    """
    table: dict[int, tuple[int, int, int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", "rb") as file:
                after_name = file.read().rpartition(b")")[2].split()
        except OSError:
            continue
        table[int(name)] = int(after_name[1]), int(after_name[3]), int(after_name[19])
    return table


def descendants(root: int, table: dict[int, tuple[int, int, int]] | None = None) -> list[int]:
    """All processes below one."""
    children: dict[int, list[int]] = {}
    for pid, (parent, _, _) in (process_table() if table is None else table).items():
        children.setdefault(parent, []).append(pid)
    found: list[int] = []
    todo = [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def ended_by(pidfd: int) -> int | None:
    """The signal that ended a process that another one has waited for; None where there was none, or nobody knows.

    Kernels before 6.15 do not tell.
    """
    info = bytearray(struct.pack("=Q56x", PIDFD_INFO_EXIT))
    try:
        fcntl.ioctl(pidfd, PIDFD_GET_INFO, info)
    except OSError:
        return None
    known, status = struct.unpack("=Q52xi", info)
    return os.WTERMSIG(status) if known & PIDFD_INFO_EXIT and os.WIFSIGNALED(status) else None


def cpu_seconds_below(root: int) -> float:
    """The time that the living processes below one have used, and the dead ones that they waited for."""
    ticks = 0
    for pid in descendants_at_a_glance(root):
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                ticks += sum(int(field) for field in file.read().rpartition(b")")[2].split()[11:15])
        except OSError:
            continue
    return ticks / os.sysconf("SC_CLK_TCK")


class CpuPressure:
    """How much of a time something on this machine waited for a processor."""

    def __init__(self) -> None:
        self.began = 0.0
        self.waited: float | None = None
        try:
            self.fd = os.open("/proc/pressure/cpu", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self.fd = -1

    def begin(self) -> None:
        self.began, self.waited = time.monotonic(), self._seconds()

    def share(self) -> float | None:
        """From 0 to 1; by the number of processes that wanted to run, where the kernel does not measure waiting."""
        waited, seconds = self._seconds(), time.monotonic() - self.began
        if waited is not None and self.waited is not None and seconds > 0:
            return min(1.0, (waited - self.waited) / seconds)
        try:
            return max(0.0, 1 - (os.cpu_count() or 1) / max(os.getloadavg()[0], 0.01))
        except OSError:
            return None

    def _seconds(self) -> float | None:
        """What was waited since the machine was started."""
        try:
            return int(os.pread(self.fd, 1024, 0).partition(b"\n")[0].rpartition(b"total=")[2]) / 1e6
        except (OSError, ValueError):
            return None


def is_stopped(pid: int) -> bool:
    """Whether a process was stopped by a signal, as by Ctrl-Z."""
    return state_of(f"/proc/{pid}") == b"T"


def state_of(process: str) -> bytes:
    """The letter for the state of a process, by its folder in a /proc; nothing if it is gone."""
    try:
        with open(f"{process}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[0]
    except OSError:
        return b""


@contextmanager
def standing_still(root: int) -> Iterator[bool]:
    """All processes below one are stopped meanwhile; says whether they are, within a moment."""
    stopped: dict[int, bool] = {}
    try:
        yield _stop(root, stopped)
    finally:
        for pid in (pid for pid, is_ours in stopped.items() if is_ours):
            send(pid, signal.SIGCONT)


def _stop(root: int, stopped: dict[int, bool]) -> bool:
    """Adds each process to `stopped`, and whether it had not been stopped before."""
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        new = [pid for pid in descendants(root) if pid not in stopped]
        for pid in new:
            stopped[pid] = not is_stopped(pid)
            send(pid, signal.SIGSTOP)
        if not new and all(state_of(f"/proc/{pid}") in STANDING for pid in stopped):
            return True
        time.sleep(0.001)
    return False


def kills_for_memory() -> int:
    """How often the kernel has killed a process for lack of memory, anywhere on this machine."""
    try:
        with open("/proc/vmstat", "rb") as file:
            return next((int(line.split()[1]) for line in file if line.startswith(b"oom_kill ")), 0)
    except OSError:
        return 0


def descendants_at_a_glance(root: int) -> list[int]:
    """The same, but a process may be missing while others end: good for looking, never for killing.

    It reads only what belongs to these processes, where `descendants` reads all of the machine's.
    """
    found: list[int] = []
    todo = [root]
    while todo:
        pid = todo.pop()
        try:
            for thread in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                    below = [int(child) for child in file.read().split()]
                found += below
                todo += below
        except OSError:
            if pid == root:  # a kernel without these files
                return descendants(root)
    return found


def send_to_all(number: int, spared: tuple[int, ...] = ()) -> None:
    """Signals everything below this process."""
    for pid in descendants(os.getpid()):
        if pid not in spared:
            send(pid, number)


def send(pid: int, number: int) -> None:
    try:
        os.kill(pid, number)
    except OSError:
        pass

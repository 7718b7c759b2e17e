"""A sandbox is built around a process that waits at a gate, until its limits are set and its ports are open.

Limits can be set from outside only when the first process exists, and ports need its network namespace; without the
gate the agent would run for a moment without either.
"""

import json
import os
import signal
import socket
from typing import Any

from .limits import set_rlimits
from .port import furnish, network_of
from .processes import ended_by

STATUS, HOLD, ARGUMENTS, FILTER = 3, 4, 5, 6
ABOVE_ALL_OF_THESE = 16
MAX_STATUS = 1 << 16
SET_UP_SECONDS = 120.0


class Gate:
    """The gate of one job. `init` is the sandbox's first process, as seen from here."""

    def __init__(self, job: dict[str, Any]) -> None:
        self.init = 0
        self.is_open = False
        self.network: int | None = None
        self.ports: list[int] = job["ports"]
        self.at_once: int = job["room"]["at_once"]
        hold, self._hold = _pipe()
        self.inherited = {HOLD: hold}

    def look(self) -> bool:
        """Whether the sandbox stands, and its process waits."""
        raise NotImplementedError

    def open(self, most: dict[str, int], hand_to: socket.socket) -> None:
        """Sets what must be there first, and lets the process go."""
        self.set_limits(most)
        self.offer_to_the_oom_killer()
        furnish(self.init, self.ports, hand_to, self.at_once)
        self.network = network_of(self.init)
        os.write(self._hold, b"\n")
        self.is_open = True

    def offer_to_the_oom_killer(self) -> None:
        """When the machine runs out of memory, the kernel should end the sandbox, not the user's programs."""
        try:
            with open(f"/proc/{self.init}/oom_score_adj", "w", encoding="ascii") as file:
                file.write("1000")
        except OSError:
            pass

    def set_limits(self, most: dict[str, int]) -> None:
        """A sandbox that sets the kernel's limits itself needs no more."""

    def stood(self) -> bool:
        """Whether the process really began; asked when all is over."""
        return self.is_open

    def was_killed(self) -> bool:
        """Whether somebody outside is known to have killed the sandbox's first process; asked before it is ended."""
        return False

    @property
    def waiting_fd(self) -> int | None:
        """What to wait for before looking; None: look again soon."""
        return None

    def spawned(self) -> None:
        for fd in self.inherited.values():
            os.close(fd)
        self.inherited = {}

    def close(self) -> None:
        self.spawned()
        os.close(self._hold)
        if self.network is not None:
            os.close(self.network)


class BubblewrapGate(Gate):
    """bubblewrap tells its first process on one descriptor, and waits on another one."""

    def __init__(self, job: dict[str, Any]) -> None:
        super().__init__(job)
        self._status, status = _pipe()
        os.set_blocking(self._status, False)
        self._told = b""
        arguments = b"".join(os.fsencode(word) + b"\0" for word in job["gate"]["arguments"])
        self.inherited |= {STATUS: status, ARGUMENTS: _holding(arguments)}
        self.inherited |= {FILTER: _holding(bytes.fromhex(job["gate"]["filter"]))}

    @property
    def waiting_fd(self) -> int | None:
        return self._status

    def look(self) -> bool:
        try:
            self._told += os.read(self._status, MAX_STATUS)
        except BlockingIOError:
            pass
        if not self.init and b"}" in self._told:
            self.init = json.loads(self._told.partition(b"}")[0] + b"}")["child-pid"]
        return bool(self.init)

    def set_limits(self, most: dict[str, int]) -> None:
        set_rlimits(most, pid=self.init)

    def stood(self) -> bool:
        self.look()
        return b"exit-code" in self._told

    def close(self) -> None:
        super().close()
        os.close(self._status)


class ContainerGate(Gate):
    """podman writes the number of the first process into a file; it waits on its standard input."""

    def __init__(self, job: dict[str, Any]) -> None:
        super().__init__(job)
        self._file = job["gate"]["pid_file"]
        self.inherited = {0: self.inherited[HOLD]}
        self._first = -1

    def open(self, most: dict[str, int], hand_to: socket.socket) -> None:
        try:
            self._first = os.pidfd_open(self.init)
        except OSError:
            pass
        super().open(most, hand_to)

    def was_killed(self) -> bool:
        return self._first >= 0 and ended_by(self._first) == signal.SIGKILL

    def close(self) -> None:
        super().close()
        if self._first >= 0:
            os.close(self._first)

    def look(self) -> bool:
        try:
            with open(self._file, encoding="ascii") as file:
                self.init = int(file.read() or 0)
        except (OSError, ValueError):
            pass
        return bool(self.init)


def gate_of(job: dict[str, Any]) -> Gate | None:
    if not job["gate"]:
        return None
    return BubblewrapGate(job) if "arguments" in job["gate"] else ContainerGate(job)


def _holding(content: bytes) -> int:
    """A descriptor to read a content from: arguments that come so are in no process listing, and have no limit."""
    fd = _high(os.memfd_create("given", os.MFD_CLOEXEC))
    os.write(fd, content)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _pipe() -> tuple[int, int]:
    read, write = os.pipe()
    return _high(read), _high(write)


def _high(fd: int) -> int:
    """The same under a high number: dup2 to the fixed numbers above must not overwrite one that is still needed."""
    import fcntl

    moved = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, ABOVE_ALL_OF_THESE)
    os.close(fd)
    return moved

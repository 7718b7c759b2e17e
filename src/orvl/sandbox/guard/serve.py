"""The guard's main loop: a job comes as a line of JSON on standard input, a socket, and is answered with one.

While a job runs, the line "stop" ends it, and "dial PORT NUMBER" asks for a connection to it.
When orvl dies, the socket closes: the guard kills everything and ends.
"""

import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from contextlib import nullcontext
from typing import Any, NoReturn

from .cgroup import ControlGroup
from .gate import SET_UP_SECONDS, Gate, gate_of
from .limits import LimitWatch, SoftLimits
from .output import CHUNK, Sink, standard_input
from .port import dial, refuse
from .processes import (
    CpuPressure,
    become_reaper,
    cpu_seconds_below,
    descendants,
    is_stopped,
    kills_for_memory,
    leave_session_keyring,
    send,
    send_to_all,
    wake_when_parent_dies,
)
from .reaper import guarded_by_parent
from .shortage import DISK_FULL, patiently
from .signal_filter import spare

# Python ignores SIGPIPE and SIGXFSZ, and the guard ignores the others; a job would inherit that.
SIGNALS_TO_RESET = (signal.SIGPIPE, signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGXFSZ, signal.SIGCHLD)
LOOK_FOR_GATE = 0.01
DIAL = b"dial "
CLIENT_SECONDS = 5.0
"""How long podman or docker may take to put a container away before it is killed itself."""
TEARDOWN_SECONDS = 0.5
"""The kernel kills what is in a PID namespace when its first process ends; that takes a moment."""
MEMORY_SHORT = "this machine, or the container that orvl is in, was short of memory, and the kernel killed the process"
PROCESSES_SHORT = "this machine, or the container that orvl is in, refused it a process"
KILLED = "somebody outside the sandbox killed it"
STOPPED = "orvl, or this machine, stood still for {:.0f} s while it ran"
STOPPED_FOR_LONG = 5.0
"""Seconds; a model that does not answer for longer may have been given up by an agent."""
LATE = 15.0
"""Seconds by which the guard may wake up too late, whatever a job does to the machine; after more, it was stopped."""


class NotSetUp(Exception):
    """The sandbox could not be built around the process."""


class Guard:
    """Runs jobs one after the other. Its state is that of the current job."""

    def __init__(self, control: socket.socket, ports: socket.socket, parent: int, orvl: int) -> None:
        self.control, self.ports, self.parent, self.orvl = control, ports, parent, orvl
        self.stood, self.looked = 0.0, 0.0
        """Seconds of the current job in which orvl was stopped, or this process itself; and when it was last asked."""
        self.buffer = b""
        self.wake_r, wake_w = os.pipe()
        for fd in (self.wake_r, wake_w):
            os.set_blocking(fd, False)
        # A child's end must wake `poll`, and the parent's. A handler, even an empty one, makes the signal arrive at the
        # wakeup pipe.
        for number in (signal.SIGCHLD, signal.SIGCONT):
            signal.signal(number, lambda *_: None)
        signal.set_wakeup_fd(wake_w, warn_on_full_buffer=False)
        self.child = 0
        self.ended: int | None = None
        self.cpu_collected = self.cpu_seen = 0.0
        self.cpu_before = (0.0, 0.0)
        self.largest = self.kills_before = 0
        self.spawned: bool | None = None
        self.gate: Gate | None = None
        self.clean: list[str] = []
        self.group = ControlGroup()
        self.pressure = CpuPressure()

    def serve(self) -> None:
        while (line := self.next_line()) is not None:
            if line.startswith(DIAL):
                refuse(int(line.split()[2]), self.ports)
            if line == b"stop" or line.startswith(DIAL):
                continue  # it came when its job was over already
            self.spawned = None
            try:
                answer = self.job(json.loads(line))
            except NotSetUp as error:
                answer = {"not_set_up": str(error)}
            except OSError as error:
                self.end(0)
                answer = {
                    "error": error.errno,
                    "message": error.strerror,
                    "file": os.fsdecode(error.filename or ""),
                    "not_spawned": self.spawned is False,
                }
            finally:
                self.close_gate()
            self.control.sendall(json.dumps(answer).encode() + b"\n")

    def next_line(self) -> bytes | None:
        while b"\n" not in self.buffer:
            ready = select.select([self.control.fileno(), self.wake_r], [], [])[0]
            if self.wake_r in ready:
                os.read(self.wake_r, 4096)
            if os.getppid() != self.parent:
                return None
            if self.control.fileno() in ready:
                chunk = self.control.recv(CHUNK)
                if not chunk:
                    return None
                self.buffer += chunk
        line, _, self.buffer = self.buffer.partition(b"\n")
        return line

    def job(self, job: dict[str, Any]) -> dict[str, Any]:
        os.chdir(job["cwd"])
        self.gate, self.clean = gate_of(job), job["clean"]
        self.group.limit(job["limits"])
        limits = LimitWatch(job)
        sinks = self.spawn(job)
        try:
            cut = self.pass_gate(sinks, limits)
            began = self.looked = time.monotonic()
            self.stood = 0.0
            self.pressure.begin()
            cut = cut or self.watch(sinks, began + job["seconds"], job["output"], limits)
            self.look_at_orvl()
            seconds, cpu_pressure = max(0.0, time.monotonic() - began - self.stood), self.pressure.share()
            outside = cut is None and self.gate is not None and self.gate.was_killed()
            # The process ended by itself: what it left behind is given a second, not the whole grace time.
            alive = self.end(job["grace"] if cut else min(job["grace"], 1.0))
            for sink in sinks.values():
                sink.drain()
            # A process that the kernel killed for its memory, or a disk that was filled between two looks, shows now.
            self.group.look()
            cut = cut or self.group.hit() or limits.hit_at_the_end()
            fault = None if cut else self.fault_of_the_machine(job["limits"]["memory"], outside=outside)
            # Whatever it waited for, a model above all, was not there.
            if self.stood > STOPPED_FOR_LONG and (cut == "time" or (cut is None and self.ended)):
                cut, fault = None, STOPPED.format(self.stood)
            if cut is None and limits.disk_was_full:
                fault = DISK_FULL
            if cut is None and fault is None and self.largest > job["limits"]["memory"]:
                cut = "memory"  # between two looks, and gone
        finally:
            out, err = (sink.close() for sink in sinks.values())
        if self.gate and not cut and not fault and not self.gate.stood():
            raise NotSetUp(_last_line(job["stderr"]))
        return {
            "status": self.ended,
            "cut": cut,
            "fault": fault,
            "filled_disk": limits.has_seen_it_full and cut in ("disk", "disk_share"),
            "seconds": seconds,
            "cpu_seconds": self.cpu_seconds(),
            "cpu_pressure": cpu_pressure,
            "memory": self.largest,
            "stdout": out,
            "stderr": err,
            "alive": alive,
        }

    def spawn(self, job: dict[str, Any]) -> dict[int, Sink]:
        stdin = standard_input(job["stdin"])
        out_r, out_w = os.pipe()
        err_r, err_w = os.pipe()
        inherited = {0: stdin, 1: out_w, 2: err_w} | (self.gate.inherited if self.gate else {})
        self.ended = None
        self.cpu_collected = self.cpu_seen = 0.0
        self.cpu_before = (0.0, 0.0)
        self.largest, self.kills_before = 0, 0 if self.counts_kills() else kills_for_memory()
        self.spawned = False
        try:
            # posix_spawn cannot set limits for the child. Behind a gate they are set before the process is let go;
            # else it inherits those that the guard takes on for this moment.
            with nullcontext() if self.gate else SoftLimits(job["limits"]):
                self.child = patiently(
                    lambda: os.posix_spawn(
                        job["program"],
                        job["argv"],
                        job["env"],
                        file_actions=[(os.POSIX_SPAWN_DUP2, fd, number) for number, fd in inherited.items()],
                        setsid=True,
                        setsigmask=(),
                        setsigdef=SIGNALS_TO_RESET,
                    )
                )
        except OSError:
            os.close(out_r)
            os.close(err_r)
            raise
        finally:
            for fd in (stdin, out_w, err_w):
                os.close(fd)
            if self.gate:
                self.gate.spawned()
        self.spawned = True
        return {out_r: Sink(out_r, job["stdout"], job["keep"]), err_r: Sink(err_r, job["stderr"], job["keep"])}

    # -- while it runs

    def pass_gate(self, sinks: dict[int, Sink], limits: LimitWatch) -> str | None:
        """Waits until the sandbox stands, and lets the process go."""
        if self.gate is None:
            return None
        # A container may have to be set up first; that does not count for the job's time.
        deadline = time.monotonic() + SET_UP_SECONDS
        while not self.gate.look():
            if b"stop\n" in self.buffer:
                return "stopped"
            if self.ended is not None:
                return None
            if time.monotonic() > deadline:
                self.end(0)
                raise NotSetUp(f"it took longer than {SET_UP_SECONDS:g} s")
            self.wait(sinks, LOOK_FOR_GATE if self.gate.waiting_fd is None else 1.0, self.gate.waiting_fd)
        self.cpu_before = (self.cpu_collected, cpu_seconds_below(os.getpid()))
        self.gate.open(limits.most, self.ports)
        limits.enter(self.gate.init)
        return None

    def watch(self, sinks: dict[int, Sink], deadline: float, most: int, limits: LimitWatch) -> str | None:
        """Waits for the process; says what cut it short, if anything did."""
        while b"stop\n" not in self.buffer:
            if self.ended is not None:
                return limits.hit_on_full_disk()
            if sum(sink.seen for sink in sinks.values()) > most:
                return "output"
            if any(sink.lost_some() for sink in sinks.values()):
                limits.look_now()
            if limits.due():
                self.look_at_orvl()
                self.group.look()
                if self.group.machine_is_short():
                    return None
                hit = self.group.hit() or limits.hit()
                self.cpu_seen = max(self.cpu_seen, self.cpu_collected - self.cpu_before[0] + limits.cpu_seconds)
                if hit:
                    return hit
            left = deadline + self.stood - time.monotonic()
            if left <= 0:
                return "time"
            self.wait(sinks, max(0.0, min(left, limits.next - time.monotonic())))
        return "stopped"

    def look_at_orvl(self) -> None:
        """Counts the time since the last look in which orvl was stopped."""
        before, self.looked = self.looked, time.monotonic()
        if is_stopped(self.orvl):
            self.stood += self.looked - before

    def wait(self, sinks: dict[int, Sink], seconds: float, also: int | None = None) -> None:
        """Until something happens: output, an end, a word from orvl."""
        if os.getppid() != self.parent:
            self.leave()
        self.connect()
        poll = select.poll()
        open_sinks = {fd: sink for fd, sink in sinks.items() if not sink.over}
        for fd in (self.control.fileno(), self.wake_r, *open_sinks, *(() if also is None else (also,))):
            poll.register(fd, select.POLLIN)
        began = time.monotonic()
        ready = poll.poll(seconds * 1000 + 1)
        if (late := time.monotonic() - began - seconds) > LATE:
            self.stood += late
            self.looked = time.monotonic()
        for fd, _ in ready:
            if fd == self.wake_r:
                os.read(self.wake_r, 4096)
                self.reap()
            elif fd in open_sinks:
                open_sinks[fd].read()
            elif fd == self.control.fileno():
                self.listen()

    def listen(self) -> None:
        """Takes what orvl says. End of file means that orvl is gone, and nothing may outlive it."""
        chunk = self.control.recv(CHUNK)
        if not chunk:
            self.leave()
        self.buffer += chunk

    def connect(self) -> None:
        """Connects orvl to the ports that it asked for."""
        while self.buffer.startswith(DIAL) and b"\n" in self.buffer:
            line, _, self.buffer = self.buffer.partition(b"\n")
            port, number = map(int, line.split()[1:])
            if self.gate and self.gate.network is None:
                refuse(number, self.ports)  # what would listen has not begun
            else:
                dial(self.gate.network if self.gate else None, port, number, self.ports)

    def leave(self) -> NoReturn:
        """Ends everything, itself included: orvl is gone, or its own parent, without which it must not go on."""
        self.end(0, patient=False)
        self.group.leave()
        os._exit(0)

    def reap(self) -> bool:
        """Collects the dead; False when no child is left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if not pid:
                return True
            self.cpu_collected += usage.ru_utime + usage.ru_stime
            self.largest = max(self.largest, usage.ru_maxrss << 10)
            if pid == self.child:
                self.ended = os.waitstatus_to_exitcode(status)

    def cpu_seconds(self) -> float:
        """What the job used, without what it took to set the sandbox up.

        A process that ends counts where it is waited for. When a sandbox's first process ends, nobody waits for the
        others: for these, what they had used at the last look counts.
        """
        return max(self.cpu_seen, self.cpu_collected - sum(self.cpu_before))

    def fault_of_the_machine(self, memory: int, *, outside: bool) -> str | None:
        """What the job's end was due to, where it was neither its own doing nor that of its limits.

        Only what is certain counts, or an agent could choose it. Nothing in a sandbox can send a signal to what holds
        it, or to the first process of a container; any other SIGKILL may be the agent's own.
        """
        if self.group.machine_is_short():
            return MEMORY_SHORT
        if self.ended and self.group.machine_refuses_processes():
            return PROCESSES_SHORT
        killed = self.ended in (-signal.SIGKILL, 128 + signal.SIGKILL)
        # Without a group, the kernel only says that it killed some process.
        if killed and not self.counts_kills() and kills_for_memory() > self.kills_before and self.largest <= memory:
            return MEMORY_SHORT
        held = self.gate is not None or bool(self.clean)
        return KILLED if outside or (held and self.ended is not None and self.ended < 0) else None

    def counts_kills(self) -> bool:
        """Whether the control group counts what the kernel kills of this job; it does not hold containers."""
        return self.group.counts_kills and not self.clean

    # -- the end

    def end(self, grace: float, *, patient: bool = True) -> int:
        """SIGTERM, then SIGKILL, to everything below this process; returns how many would not die.

        podman and docker get time to put a container away themselves, unless orvl is gone (`patient` is False).
        """
        # Being a subreaper makes this test complete: as long as anything of the job lives, some child is left here.
        if not self.reap() or (self.gate and self.ended is not None and self.all_gone_within(TEARDOWN_SECONDS)):
            return 0
        if grace:
            self.ask_to_end()
            if self.all_gone_within(grace):
                return 0
        # The first process of a PID namespace takes all others in it along, at once and without a race.
        if self.gate and self.gate.init:
            send(self.gate.init, signal.SIGKILL)
            if self.clean and patient and self.all_gone_within(CLIENT_SECONDS):
                return 0
        # Without a namespace, what is found in /proc may fork before it is killed. So all are stopped first, and it is
        # done again until no child is left.
        deadline, pause = time.monotonic() + 10, 0.002
        while self.reap() and time.monotonic() < deadline:
            if not self.gate:
                send_to_all(signal.SIGSTOP)
            send_to_all(signal.SIGKILL)
            self.all_gone_within(pause)
            pause = min(2 * pause, 0.1)
        alive = len(descendants(os.getpid())) if self.reap() else 0
        if self.clean:
            subprocess.run(self.clean, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return alive

    def ask_to_end(self) -> None:
        """SIGTERM to the job's own processes alone: to bubblewrap or podman it would end the sandbox at once."""
        if self.gate is None:
            send_to_all(signal.SIGTERM)
        elif self.gate.init:
            # Below the first process there may also be helpers of podman, which live in another namespace.
            inside = _pid_namespace(self.gate.init)
            for pid in descendants(self.gate.init):
                if inside and _pid_namespace(pid) == inside:
                    send(pid, signal.SIGTERM)

    def all_gone_within(self, seconds: float) -> bool:
        """Whether no child is left after a while, or at once when the last one has gone."""
        deadline = time.monotonic() + seconds
        while self.reap():
            if (left := deadline - time.monotonic()) <= 0:
                return False
            if select.select([self.wake_r], [], [], min(left, 0.05))[0]:
                os.read(self.wake_r, 4096)
        return True

    def close_gate(self) -> None:
        if self.gate:
            self.gate.close()
        self.gate = None


def _pid_namespace(pid: int) -> str | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


def _last_line(path: str) -> str:
    """What bubblewrap or podman said when it could not build the sandbox."""
    try:
        with open(path, "rb") as file:
            lines = file.read(CHUNK).decode("utf-8", "replace").strip().splitlines()
    except OSError:
        lines = []
    return lines[-1][:500] if lines else "it said nothing"


def main() -> None:
    """The control socket is standard input. The first argument is the number of the one over which ports are handed;
    a second one, where jobs have no walls, is orvl's own process, to which they must send no signals."""
    orvl = os.getppid()
    become_reaper()
    leave_session_keyring()
    parent = guarded_by_parent()
    become_reaper()
    wake_when_parent_dies()
    ports = socket.socket(fileno=int(sys.argv[2]))
    # The lock's descriptor stays open here, which says that something may still run; jobs must not inherit it.
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and os.path.exists(f"/proc/self/fd/{name}"):
            os.set_inheritable(int(name), False)
    # Ctrl-C reaches the whole terminal. orvl decides what it means; the guard ends when orvl does.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    control = socket.socket(fileno=os.dup(0))
    os.dup2(os.open("/dev/null", os.O_RDONLY), 0)
    if len(sys.argv) > 3:
        spare(os.getpid(), parent, int(sys.argv[3]))
    guard = Guard(control, ports, parent, orvl)
    try:
        guard.serve()
    except (BrokenPipeError, ConnectionResetError):
        pass
    finally:
        guard.group.leave()
    sys.exit(0)

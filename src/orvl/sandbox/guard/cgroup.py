"""A control group of the guard's own, where this user may make one: the kernel itself then enforces the limits.

Elsewhere `limits.py` does what it can by looking often enough. Both kinds of control groups are in use: version 2, one
tree for all controllers, and version 1, a tree for each.
"""

import os

MOUNTED = "/sys/fs/cgroup"
NAMED = "orvl-"
# The guard itself, and what sets up a sandbox, are in the group too.
OWN_MEMORY = 64 << 20
OWN_PROCESSES = 16
FEW_PROCESSES = 64
FILES = {
    "memory": ("memory.max", "memory.limit_in_bytes"),
    "pids": ("pids.max", "pids.max"),
}

EVENTS = {
    "memory": (("memory.events",), ("memory.oom_control", "memory.failcnt")),
    "pids": (("pids.events", "pids.peak"), ("pids.events", "pids.peak")),
}
"""Files that count how often the kernel enforced a limit, for both versions."""


class ControlGroup:
    """The guard is in it, so what it starts is too. `folders` are by controller; in version 2 they are the same."""

    def __init__(self) -> None:
        self.new_kind = os.path.exists(f"{MOUNTED}/cgroup.controllers")
        self.folders: dict[str, str] = {}
        self.events: dict[str, int] = {}
        """The files of `EVENTS`, open. Opening them for each job costs more than all the rest that a job that does
        nothing takes here."""
        self.limits: dict[str, int] = {}
        self.before: dict[str, int] = {}
        self.now: dict[str, int] = {}
        for controller, own in _own_groups(self.new_kind).items():
            _sweep(own)
            folder = f"{own}/{NAMED}{os.getpid()}"
            try:
                os.makedirs(folder, exist_ok=True)
                os.stat(self._limit_file(controller, folder))
                _write(f"{folder}/cgroup.procs", str(os.getpid()))
            except OSError:
                _remove(folder)
                continue
            self.folders[controller] = folder
            for name in EVENTS[controller][not self.new_kind]:
                try:
                    self.events[name] = os.open(f"{folder}/{name}", os.O_RDONLY | os.O_CLOEXEC)
                except OSError:
                    continue

    def _limit_file(self, controller: str, folder: str) -> str:
        return f"{folder}/{FILES[controller][not self.new_kind]}"

    def limit(self, most: dict[str, int]) -> None:
        """Sets what the next job may use."""
        values = {"memory": most["memory"] + OWN_MEMORY, "pids": most["processes"] + OWN_PROCESSES}
        for controller, folder in self.folders.items() if values != self.limits else ():
            try:
                _write(self._limit_file(controller, folder), str(values[controller]))
            except OSError:
                continue
        self.limits = values
        self.look()
        self.before = self.now

    def look(self) -> None:
        """Reads what the kernel has counted; the questions below are answered from the last look."""
        self.now = self._counts()

    def hit(self) -> str | None:
        """The limit that the kernel had to enforce since it was set."""
        if self._more("killed") and self._more("own"):
            return "memory"
        return "processes" if self._more("refused") and not self.machine_refuses_processes() else None

    def machine_refuses_processes(self) -> bool:
        """Whether a fork was refused here although the group never held many processes: a group around this one is
        full. One that held more may be who filled it."""
        return self._more("refused") and 0 < self.now["peak"] < min(FEW_PROCESSES, self.limits["pids"])

    def machine_is_short(self) -> bool:
        """Whether the kernel killed a process here that was within the group's own limit: for lack of memory on the
        machine, or in a group around this one, such as a container's."""
        return self._more("killed") and not self._more("own")

    @property
    def counts_kills(self) -> bool:
        return "memory.events" in self.events or "memory.oom_control" in self.events

    def _more(self, name: str) -> bool:
        return self.now.get(name, 0) > self.before.get(name, 0)

    def _counts(self) -> dict[str, int]:
        """Processes that the kernel killed for lack of memory, how often this group's own limit was the reason, forks
        that it refused, and the most processes that there ever were."""
        events = {name: _numbers(fd) for name, fd in self.events.items()}
        memory = events.get("memory.events", {}) | events.get("memory.oom_control", {})
        own = memory.get("oom", 0) if self.new_kind else events.get("memory.failcnt", {}).get("", 0)
        return {
            "killed": memory.get("oom_kill", 0),
            "own": own,
            "refused": events.get("pids.events", {}).get("max", 0),
            "peak": events.get("pids.peak", {}).get("", 0),
        }

    def leave(self) -> None:
        """Goes back to where it came from, so that the group can be removed."""
        for fd in self.events.values():
            os.close(fd)
        self.events = {}
        for folder in set(self.folders.values()):
            try:
                _write(f"{os.path.dirname(folder)}/cgroup.procs", str(os.getpid()))
            except OSError:
                pass
            _remove(folder)


def _own_groups(new_kind: bool) -> dict[str, str]:
    """The folder below which a group is made, by controller.

    In version 2 a group with processes cannot have limited ones inside: there it is made beside this process's own.
    """
    found: dict[str, str] = {}
    for line in _read("/proc/self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if new_kind and not controllers and path != "/":
            parent = os.path.dirname(MOUNTED + path)
            able = _read(f"{parent}/cgroup.subtree_control").split()
            found.update({name: parent for name in FILES if name in able})
        for name in FILES:
            if not new_kind and name in controllers.split(","):
                found[name] = f"{MOUNTED}/{name}{path}".rstrip("/")
    return {name: folder for name, folder in found.items() if os.access(folder, os.W_OK)}


def _sweep(folder: str) -> None:
    """Removes groups of guards that are gone; one that still holds a process cannot be removed."""
    for name in os.listdir(folder):
        if name.startswith(NAMED) and not os.path.exists(f"/proc/{name.removeprefix(NAMED)}"):
            _remove(f"{folder}/{name}")


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)
    except OSError:
        pass


def _read(path: str) -> str:
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def _numbers(fd: int) -> dict[str, int]:
    """The numbers in an open file, each by the name before it; a number alone has none."""
    try:
        lines = os.pread(fd, 4096, 0).decode("ascii", "replace").splitlines()
    except OSError:
        return {}
    return {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in lines if line.strip()}

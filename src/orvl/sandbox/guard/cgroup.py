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
FILES = {
    "memory": ("memory.max", "memory.limit_in_bytes"),
    "pids": ("pids.max", "pids.max"),
}


class ControlGroup:
    """The guard is in it, so what it starts is too. `folders` are by controller; in version 2 they are the same."""

    def __init__(self) -> None:
        self.new_kind = os.path.exists(f"{MOUNTED}/cgroup.controllers")
        self.folders: dict[str, str] = {}
        self.events: dict[str, int] = {}
        """Open files that count how often the kernel enforced a limit. Opening them for each job costs more than all
        the rest that a job that does nothing takes here."""
        self.limits: dict[str, int] = {}
        self.before: dict[str, int] = {}
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
            events = {"memory": "memory.events" if self.new_kind else "memory.oom_control", "pids": "pids.events"}
            try:
                self.events[controller] = os.open(f"{folder}/{events[controller]}", os.O_RDONLY | os.O_CLOEXEC)
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
        self.before = self._hits()

    def hit(self) -> str | None:
        """The limit that the kernel had to enforce since it was set."""
        for name, times in self._hits().items():
            if times > self.before.get(name, 0):
                return name
        return None

    def _hits(self) -> dict[str, int]:
        found = {}
        if "memory" in self.events:
            found["memory"] = _count(self.events["memory"], b"oom_kill")
        if "pids" in self.events:
            found["processes"] = _count(self.events["pids"], b"max")
        return found

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


def _count(fd: int, name: bytes) -> int:
    """The number beside a name in an open file of names and numbers."""
    try:
        lines = os.pread(fd, 4096, 0).splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith(name + b" ")), 0)

"""What a job uses while it runs: its processes, their memory and open files, and the disk below its folders.

The kernel's own limits (rlimits) hold for each process alone, and control groups need rights that ordinary users often
lack. So the guard looks itself, often where it is cheap and rarely where it is not.
"""

import os
import resource
import stat
import time
from contextlib import nullcontext
from typing import Any

from .port import enter
from .processes import ENDED, descendants_at_a_glance, standing_still, state_of

FIRST_LOOK = 0.05
BETWEEN_LOOKS = 0.1
BETWEEN_FILES = 1.0
SHARE_FOR_FILES = 0.05
"""Of its time, the share that the guard may spend on measuring folders: large ones are measured less often."""
LONGEST_MEASUREMENT = 10.0
"""Seconds. Folders can be made faster than they are measured, and meanwhile the guard sees to nothing else."""
ENTRIES_AT_ONCE = 1024
SMALLEST_ENTRY = 4096
"""What a file counts at least: millions of empty files fill a disk too."""
EVERYTHING = 1 << 62
RESERVE, RESERVED_SHARE = 256 << 20, 8
"""Of what was free on the disk, what runs may not use up: so much, but not more than one part in so many."""
SHARERS = 2
"""Who shares a disk at least: a run, and the rest of the machine."""
FULL = 1 << 20
"""Bytes; with less, a disk counts as full."""
PAGE = os.sysconf("SC_PAGE_SIZE")
TICKS = os.sysconf("SC_CLK_TCK")
RLIMITS = {
    "open_files": resource.RLIMIT_NOFILE,
    "file_size": resource.RLIMIT_FSIZE,
    "processes": resource.RLIMIT_NPROC,
    "core": resource.RLIMIT_CORE,
}


class LimitWatch:
    """Looks at a job again and again, cheaply, and says which of its limits it has hit."""

    def __init__(self, job: dict[str, Any]) -> None:
        most: dict[str, int] = job["limits"]
        self.most = dict(most)
        self.folders: list[str] = job["folders"]
        # Not a folder of the job's own: one that it takes away, or that it makes a link to /proc, has no room.
        self.disk = os.path.dirname(self.folders[0])
        self.used_before = 0
        if job["adds_only"]:
            self.used_before, largest, _ = disk_use(self.folders, EVERYTHING)
            self.most["disk"] += self.used_before
            self.most["file_size"] = max(most["file_size"], largest + 1)
        self.init = 0
        self.proc = ""
        self.cpu_seconds = 0.0
        """What the processes of the last look had used, with the dead ones that they waited for."""
        self.deleted = 0
        self.hides_files = False
        """Whether a process holds files that this user may not list: what they take is told from what the machine, and
        the disk, have lost."""
        self.hidden: set[str] = set()
        """Processes that the last look could not list; any is so for a moment, while it becomes another program."""
        self.next = time.monotonic() + FIRST_LOOK
        self.memory_is_fine_below = most["memory"]
        self.shared_at_start = _shared_memory()
        self.files_at = self.descriptors_at = 0.0
        self.free_then = free_bytes(self.disk)
        self.free_at_start = self.free_then
        self.room = self.most["disk"]
        self.common: int = job["room"]["free"]
        self.at_once: int = job["room"]["at_once"]
        self.reserve = min(RESERVE, self.common // RESERVED_SHARE)
        self.is_over = False
        self.disk_was_full = False
        """Whether the disk was certainly full, and not by this job: else an agent could choose to have no room."""
        self.has_seen_it_full = False

    def enter(self, init: int) -> None:
        """From now on the job is what lives in a sandbox, whose first process this is."""
        self.init, self.proc = init, f"/proc/{init}/root/proc"

    def due(self) -> bool:
        return time.monotonic() >= self.next

    def hit(self) -> str | None:
        """The name of the limit that was hit, if one was."""
        found = self._processes() or self._disk()
        self.next = time.monotonic() + BETWEEN_LOOKS
        return found

    def hit_on_full_disk(self) -> str | None:
        """Asked when the process has just ended: a disk that is full may be why, and has room a moment later."""
        if not self.common or free_bytes(self.disk) >= FULL:
            return None
        self.is_over = bool(self.init)  # with its first process, all of a sandbox is gone
        return self._measure_disk()

    def hit_at_the_end(self) -> str | None:
        """What a job left on the disk before anybody looked; what it had open is gone with it."""
        self.deleted, self.hides_files, self.is_over = 0, False, True
        return self._measure_disk()

    def look_now(self) -> None:
        """Something was short of room: the next look is now, while whoever took it still has it."""
        self.next = 0.0

    # -- processes

    def _processes(self) -> str | None:
        proc, pids = self._pids()
        threads = resident = ticks = 0
        for pid in pids:
            try:
                with open(f"{proc}/{pid}/stat", "rb") as file:
                    fields = file.read().rpartition(b")")[2].split()
            except OSError:
                continue
            threads += int(fields[17])
            resident += int(fields[21]) * PAGE
            ticks += sum(map(int, fields[11:15]))
        self.cpu_seconds = ticks / TICKS
        if threads >= self.most["processes"]:
            return "processes"
        if pids and time.monotonic() >= self.descriptors_at:
            self.descriptors_at = time.monotonic() + BETWEEN_FILES
            most, in_memory, self.deleted, hidden = _open_files(proc, pids)
            self.hides_files, self.hidden = bool(hidden & self.hidden), hidden
            if most >= self.most["open_files"]:
                return "open_files"
            in_memory += self._in_temporary_memory()
            if self.hides_files:
                in_memory = max(in_memory, _shared_memory() - self.shared_at_start)
            resident += in_memory
            if in_memory > self.most["memory"]:
                return "memory"
        if resident > self.memory_is_fine_below:
            return self._memory(proc, pids, resident)
        return None

    def _pids(self) -> tuple[str, list[str]]:
        """The job's processes: in a sandbox all that its own /proc shows, elsewhere all below this process."""
        if not self.init:
            return "/proc", [str(pid) for pid in descendants_at_a_glance(os.getpid())]
        try:
            if os.readlink(f"{self.proc}/1/ns/pid") != os.readlink(f"/proc/{self.init}/ns/pid"):
                return self.proc, []  # the sandbox is not built yet, and this is the host's
            return self.proc, [name for name in os.listdir(self.proc) if name.isdigit()]
        except OSError:
            return self.proc, []

    def _in_temporary_memory(self) -> int:
        """What lies in a sandbox's file systems that are in memory."""
        if not self.init:
            return 0
        root = f"/proc/{self.init}/root"
        used = sum(_used(root + place) for place in ("/dev/shm", "/run"))
        # To ask takes a process; while the whole machine has not much more of it, there is nothing to ask.
        has_grown = _shared_memory() - self.shared_at_start > self.most["memory"] // 4
        return used + (shared_segments(self.init) if has_grown else 0)

    def _memory(self, proc: str, pids: list[str], resident: int) -> str | None:
        """Counts shared pages once; looks as closely again only when as much has come as there was room for."""
        used = sum(_own_memory(f"{proc}/{pid}/smaps_rollup") for pid in pids)
        self.memory_is_fine_below = resident + max(0, self.most["memory"] - used)
        return "memory" if used > self.most["memory"] else None

    # -- disk

    def _disk(self) -> str | None:
        """Measures the folders now and then, and at once when the disk has lost half of what they may still take."""
        free = free_bytes(self.disk)
        if free < max(self.reserve, FULL):
            self.descriptors_at = 0.0  # what it holds open without a name is counted at the next look
            return self._measure_disk()
        if time.monotonic() >= self.files_at or self.free_then - free > self.room / 2:
            return self._measure_disk()
        return None

    def _measure_disk(self) -> str | None:
        """A job can fill a disk and make room again faster than its folders are measured: on a disk that is full, it
        stands still meanwhile."""
        began = time.monotonic()
        is_full = self.common > 0 and free_bytes(self.disk) < FULL
        self.has_seen_it_full = self.has_seen_it_full or is_full
        still = standing_still(self.init or os.getpid()) if is_full and not self.is_over else nullcontext(self.is_over)
        with still as is_certain:
            self.free_then = free_bytes(self.disk)
            if is_full and not self.is_over:
                self.deleted = _open_files(*self._pids())[2]
            used, largest, hidden = disk_use(self.folders, self.most["disk"])
        hidden = hidden or self.hides_files
        used += self.deleted
        took = time.monotonic() - began
        self.files_at = began + max(BETWEEN_FILES, took / SHARE_FOR_FILES)
        self.room = self.most["disk"] - used
        if used > self.most["disk"] or (hidden and self.free_at_start - self.free_then > self.most["disk"]):
            return "disk"
        if self.free_then < self.reserve and self._is_hog(used - self.used_before, hidden=hidden):
            return "disk_share"
        self.disk_was_full = self.disk_was_full or (is_certain and is_full and self.free_then < FULL)
        return "file_size" if largest >= self.most["file_size"] else None

    def _is_hog(self, used: int, *, hidden: bool) -> bool:
        """Whether a job on a disk that runs full has used more than its share, and more than others did on average.

        While there is room, it may use more than its share. Whatever else fills the disk is not held against it: that
        counts as one more job. A job that is alone shares the disk with the rest of the machine, and with what orvl
        keeps of it.
        """
        lost = self.common - self.free_then
        if hidden:
            used = max(used, self.free_at_start - self.free_then)
        sharers: int = max(SHARERS, self.at_once)
        share: int = max((self.common - self.reserve) // sharers, lost // (sharers + 1))
        return used > share


def disk_use(folders: list[str], enough: int, seconds: float = LONGEST_MEASUREMENT) -> tuple[int, int, bool]:
    """Bytes on the disk, the largest file, and whether something could not be looked into, also for lack of time; ends
    when it is enough.

    Nothing is opened but folders, and no link is followed: a folder counts only if it is the very one that was listed
    in its parent, whatever the job has put into its path since.
    """
    used = largest = 0
    hidden = False
    linked: set[tuple[int, int]] = set()
    todo: list[tuple[str, tuple[int, int] | None]] = [(folder, None) for folder in folders]
    deadline = time.monotonic() + seconds
    while todo and used <= enough:
        if time.monotonic() > deadline:
            return used, largest, True
        path, listed = todo.pop()
        fd = -1
        try:
            fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
            found = os.fstat(fd)
            if listed is not None and (found.st_dev, found.st_ino) != listed:
                continue
            with os.scandir(fd) as entries:
                for number, entry in enumerate(entries):
                    if number % ENTRIES_AT_ONCE == ENTRIES_AT_ONCE - 1 and time.monotonic() > deadline:
                        return used, largest, True
                    info = entry.stat(follow_symlinks=False)
                    if info.st_nlink > 1 and not stat.S_ISDIR(info.st_mode):
                        if (info.st_dev, info.st_ino) in linked:
                            continue
                        linked.add((info.st_dev, info.st_ino))
                    used += max(info.st_blocks * 512, SMALLEST_ENTRY)
                    if stat.S_ISDIR(info.st_mode):
                        todo.append((f"{path}/{entry.name}", (info.st_dev, info.st_ino)))
                    elif stat.S_ISREG(info.st_mode):
                        largest = max(largest, info.st_size)
        except FileNotFoundError:
            continue
        except OSError:
            hidden = True
        finally:
            if fd >= 0:
                os.close(fd)
    return used, largest, hidden


def free_bytes(folder: str) -> int:
    """What this user may still write on the disk of a folder, or, if that is gone, of the one that it was in."""
    try:
        info = os.statvfs(folder)
    except OSError:
        above = os.path.dirname(folder)
        return free_bytes(above) if above != folder else 0
    return (info.f_bavail if os.geteuid() else info.f_bfree) * info.f_frsize


def _shared_memory() -> int:
    """What the whole machine has in shared memory, and in file systems that are in memory."""
    try:
        with open("/proc/meminfo", "rb") as file:
            line = next(line for line in file if line.startswith(b"Shmem:"))
    except (OSError, StopIteration):
        return 0
    return int(line.split()[1]) << 10


def shared_segments(pid: int) -> int:
    """What a sandbox holds in shared memory that belongs to no process (System V); only from inside can it be seen."""
    try:
        child, read, write = _forked_with_pipe()
    except OSError:
        return 0  # a job may have taken the last process at this very moment, and must not choose how it ends
    if not child:
        try:
            enter(os.open(f"/proc/{pid}/ns/ipc", os.O_RDONLY))
            with open("/proc/sysvipc/shm", "rb") as file:
                rows = file.read().splitlines()[1:]
            os.write(write, b"%d" % sum(int(part) for row in rows for part in row.split()[-2:]))
        finally:
            os._exit(0)
    os.close(write)
    try:
        return int(os.read(read, 64) or 0)
    finally:
        os.close(read)
        os.waitpid(child, 0)


def _forked_with_pipe() -> tuple[int, int, int]:
    """0 in a new process, its number here; and the ends of a pipe."""
    read, write = os.pipe()
    try:
        return os.fork(), read, write
    except OSError:
        os.close(read)
        os.close(write)
        raise


def _own_memory(path: str) -> int:
    """What a process holds that is in no file, its share of what it shares."""
    try:
        with open(path, "rb") as file:
            lines = file.read().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) << 10 for line in lines if line.startswith((b"Pss_Anon:", b"Pss_Shmem:")))


def _used(folder: str) -> int:
    try:
        info = os.statvfs(folder)
    except OSError:
        return 0
    return (info.f_blocks - info.f_bfree) * info.f_frsize


def _open_files(proc: str, pids: list[str]) -> tuple[int, int, int, set[str]]:
    """The most files that one process has open; of open files that have no name any more, the bytes in memory (memfd)
    and those on the disk; and the processes that, as any can (PR_SET_DUMPABLE), let nobody list them."""
    most = in_memory = on_disk = 0
    hidden: set[str] = set()
    seen: set[tuple[int, int]] = set()
    for pid in pids:
        try:
            names = os.listdir(f"{proc}/{pid}/fd")
        except PermissionError:
            if state_of(f"{proc}/{pid}") not in ENDED:
                hidden.add(pid)
            continue
        except OSError:
            continue
        most = max(most, len(names))
        for name in names:
            path = f"{proc}/{pid}/fd/{name}"
            try:
                target = os.readlink(path)
                if not target.endswith(" (deleted)"):
                    continue
                info = os.stat(path)
            except OSError:
                continue
            if (info.st_dev, info.st_ino) not in seen and not info.st_nlink and stat.S_ISREG(info.st_mode):
                seen.add((info.st_dev, info.st_ino))
                in_files = target.startswith("/memfd:")
                in_memory += info.st_blocks * 512 * in_files
                on_disk += info.st_blocks * 512 * (not in_files)
    return most, in_memory, on_disk, hidden


def set_rlimits(most: dict[str, int], pid: int) -> None:
    """Sets the kernel's own limits on a process, for good."""
    for name, number in RLIMITS.items():
        hard = resource.prlimit(pid, number)[1]
        new = _within(most.get(name, 0), hard)
        resource.prlimit(pid, number, (new, new))


class SoftLimits:
    """Limits of this process while it spawns a job, which inherits them; outside a sandbox a job may raise them."""

    def __init__(self, most: dict[str, int]) -> None:
        self.most = most

    def __enter__(self) -> None:
        self.before = {name: resource.getrlimit(number) for name, number in RLIMITS.items() if name != "processes"}
        for name, (_, hard) in self.before.items():
            resource.setrlimit(RLIMITS[name], (_within(self.most.get(name, 0), hard), hard))

    def __exit__(self, *_: Any) -> None:
        for name, before in self.before.items():
            resource.setrlimit(RLIMITS[name], before)


def _within(value: int, hard: int) -> int:
    return value if hard == resource.RLIM_INFINITY else min(value, hard)

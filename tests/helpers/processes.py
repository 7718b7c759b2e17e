"""The processes of this machine, as a test looks for them."""

from __future__ import annotations

import os
from pathlib import Path


def process_table() -> dict[int, int]:
    """The parent of each process."""
    table = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                table[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
    return table


def below(pid: int) -> list[int]:
    """All processes below one, parents first."""
    table, found = process_table(), [pid]
    for parent in found:
        found += sorted(child for child, of in table.items() if of == parent)
    return found[1:]


def command_line(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def guards_of(pid: int | None = None) -> list[int]:
    """The guard processes below one: each is two, a guard and, before it, the parent that ends what it may leave."""
    return [found for found in below(os.getpid() if pid is None else pid) if b"guard.serve" in command_line(found)]


def guards_at_work(pid: int) -> list[int]:
    """Guards that have a job."""
    table, guards = process_table(), guards_of(pid)
    return [guard for guard in guards if any(of == guard and child not in guards for child, of in table.items())]

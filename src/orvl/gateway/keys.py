"""Real keys: read once, and wiped from where other processes could read them."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PR_SET_DUMPABLE = 4


def take_keys(names: Iterable[str]) -> dict[str, str]:
    """The keys in these variables; afterwards neither /proc nor `ps` shows them, and no process inherits them."""
    wanted = set(names)
    found = {name: os.environ[name].strip() for name in wanted if os.environ.get(name, "").strip()}
    if found:
        _wipe(wanted)
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
    return found


def _wipe(names: set[str]) -> None:
    """Overwrites values in the block of memory that /proc/PID/environ and `ps e` show."""
    block = ctypes.POINTER(ctypes.c_void_p).in_dll(ctypes.CDLL(None), "environ")
    place = 0
    while block and (address := block[place]):
        entry = ctypes.string_at(address)
        name, _, value = entry.partition(b"=")
        if os.fsdecode(name) in names:
            ctypes.memset(address + len(name) + 1, ord("x"), len(value))
        place += 1

"""Keys are wiped from the memory in which other processes could read them."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

PR_SET_DUMPABLE = 4
KEY_ENDINGS = ("_KEY", "_TOKEN", "_SECRET")


def hide_keys(names: Iterable[str], environment: Mapping[str, str]) -> None:
    """Wipes these variables, and all that look like keys, from what /proc and `ps` show and processes inherit.

    Python has copied the environment at its start, so orvl itself still has them.
    """
    secret = {*names, *(name for name in environment if name.endswith(KEY_ENDINGS))}
    if secret & environment.keys():
        _wipe(secret)
        # Without this, a process of the same user could still attach to this one, or read its memory.
        ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


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

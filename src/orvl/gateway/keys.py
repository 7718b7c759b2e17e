"""Real keys are wiped from where other processes could read them."""

from __future__ import annotations

import ctypes
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

PR_SET_DUMPABLE = 4
LIKE_KEYS = ("_KEY", "_TOKEN", "_SECRET")


def hide_keys(names: Iterable[str]) -> None:
    """Wipes these variables, and all that look like keys, from what /proc and `ps` show and processes inherit.

    orvl itself still has them in os.environ.
    """
    wanted = {*names, *(name for name in os.environ if name.endswith(LIKE_KEYS))}
    if wanted & os.environ.keys():
        _wipe(wanted)
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

"""Keeps the app away from the driver and the browser beside it, where the kernel can."""

from __future__ import annotations

import ctypes
import os
import struct

CREATE_RULESET, RESTRICT_SELF = 444, 446
NO_NEW_PRIVILEGES = 38
MAKE_CHARACTER_DEVICES = 1 << 6


def stay_apart() -> None:
    """A process in a Landlock domain of its own can neither trace nor open what belongs to processes outside of it.

    The one thing that it is forbidden besides is to make character devices. An older kernel goes without.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    rules = struct.pack("=Q", MAKE_CHARACTER_DEVICES)
    ruleset = libc.syscall(CREATE_RULESET, rules, len(rules), 0)
    if ruleset >= 0:
        libc.prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        libc.syscall(RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)

"""A job without walls may send signals to every process of its user, but not to its guard, and not to orvl.

An agent that could kill its guard would choose to be `errored`. The filter is the guard's own, and what it starts
inherits it.
"""

import ctypes
import os
import struct

PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, MODE_FILTER = 22, 38, 2
MACHINES = {
    "x86_64": (0xC000003E, (62, 200, 234, 129, 297, 434, 302)),
    "aarch64": (0xC00000B7, (129, 130, 131, 138, 240, 434, 261)),
}
"""By machine: its number, and those of the calls whose first argument says who is meant: kill, tkill, tgkill,
rt_sigqueueinfo, rt_tgsigqueueinfo, pidfd_open and prlimit64."""
PIDFD_SEND_SIGNAL = 424
"""Takes a folder of /proc for a process too, in which no filter can look."""
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
EPERM, ENOSYS = 1, 38
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
EVERYBODY = -1


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("steps", ctypes.c_char_p))


def spare(*pids: int) -> None:
    """From now on neither this process nor any that it starts can send a signal to these, or to everybody at once."""
    if os.uname().machine not in MACHINES:
        return
    architecture, numbers = MACHINES[os.uname().machine]
    spared = {EVERYBODY, *pids, *(-pid for pid in pids), *(-os.getpgid(pid) for pid in pids)}
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, ERROR | ENOSYS)]
    steps += [(LOAD, 0, 0, NUMBER), (EQUAL, 0, 1, PIDFD_SEND_SIGNAL), (RETURN, 0, 0, ERROR | ENOSYS)]
    steps += [(EQUAL, len(numbers) - at, 0, number) for at, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, ALLOW), (LOAD, 0, 0, FIRST_ARGUMENT)]
    for value in sorted(spared):
        steps += [(EQUAL, 0, 1, value & 0xFFFFFFFF), (RETURN, 0, 0, ERROR | EPERM)]
    steps += [(RETURN, 0, 0, ALLOW)]
    _load(b"".join(struct.pack("=HBBI", *step) for step in steps), len(steps))


def _load(steps: bytes, length: int) -> None:
    """Root may load a filter as it is; others give up `sudo` and the like for it. A kernel without filters has none."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    program = ctypes.byref(_Program(length, steps))
    if prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0):
        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        prctl(PR_SET_SECCOMP, MODE_FILTER, program, 0, 0)

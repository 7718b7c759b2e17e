"""System calls that no agent gets: sockets that no network namespace holds, the user's keys, and ways around both.

Once as a program for the kernel, which bubblewrap loads, and once as the list that podman and docker read.
"""

from __future__ import annotations

import os
import struct
from functools import lru_cache
from typing import Any

LAST_FAMILY = 16
"""Up to here are the families that a namespace holds: unix, inet, inet6, netlink and old ones."""
EPERM, ENOSYS, EAFNOSUPPORT = 1, 38, 97
CLONE_NEWUSER = 0x10000000
MACHINES = {"x86_64": (0xC000003E, 41, (248, 249, 250)), "aarch64": (0xC00000B7, 198, (217, 218, 219))}
"""By machine: its number, that of `socket`, and those of the calls for keys."""
RINGS = (425, 426, 427)
OTHER_ABI = 0x40000000
LOAD, EQUAL, GREATER, RETURN = 0x20, 0x15, 0x25, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
REFUSED_IN_CONTAINERS = (
    *("unshare", "setns", "mount", "umount2", "pivot_root", "fsopen", "fsmount", "move_mount", "open_tree"),
    *("keyctl", "add_key", "request_key", "bpf", "perf_event_open", "userfaultfd", "kexec_load", "init_module"),
    *("finit_module", "open_by_handle_at", "io_uring_setup", "io_uring_enter", "io_uring_register"),
)


@lru_cache(maxsize=1)
def filter_program() -> bytes:
    """The filter for this machine; one that allows everything on a kind of machine that is not known."""
    if os.uname().machine not in MACHINES:
        return struct.pack("=HBBI", RETURN, 0, 0, ALLOW)
    architecture, socket, keys = MACHINES[os.uname().machine]
    steps = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), (RETURN, 0, 0, ERROR | ENOSYS)]
    steps += [(LOAD, 0, 0, NUMBER), (GREATER, 0, 1, OTHER_ABI - 1), (RETURN, 0, 0, ERROR | ENOSYS)]
    for number in (*keys, *RINGS):
        steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | ENOSYS)]
    steps += [(EQUAL, 1, 0, socket), (RETURN, 0, 0, ALLOW), (LOAD, 0, 0, FIRST_ARGUMENT)]
    steps += [(GREATER, 0, 1, LAST_FAMILY), (RETURN, 0, 0, ERROR | EAFNOSUPPORT), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def container_profile() -> dict[str, Any]:
    """The same and more for containers, which may make namespaces unless they are told not to."""
    new_user = {"index": 0, "value": CLONE_NEWUSER, "valueTwo": CLONE_NEWUSER, "op": "SCMP_CMP_MASKED_EQ"}
    family = {"index": 0, "value": LAST_FAMILY, "op": "SCMP_CMP_GT"}
    rules: list[dict[str, Any]] = [
        {"names": list(REFUSED_IN_CONTAINERS), "errnoRet": EPERM},
        {"names": ["clone"], "errnoRet": EPERM, "args": [new_user]},
        {"names": ["clone3"], "errnoRet": ENOSYS},
        {"names": ["socket"], "errnoRet": EAFNOSUPPORT, "args": [family]},
    ]
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"action": "SCMP_ACT_ERRNO", **rule} for rule in rules]}

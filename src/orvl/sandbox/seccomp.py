"""System calls that no job gets: those that reach into other processes, the kernel, the user's keys or new namespaces.

One list, once as a program for the kernel, which bubblewrap loads, and once as the profile that podman and docker read.
"""

from __future__ import annotations

import errno
import os
import struct
from functools import lru_cache
from typing import Any, NamedTuple

ENOSYS_NAMES = frozenset(
    (
        "keyctl",
        "add_key",
        "request_key",
        "io_uring_setup",
        "io_uring_enter",
        "io_uring_register",
        "clone3",
        "memfd_secret",
    )
)
"""Programs try these and do without; ENOSYS is what an older kernel says. `clone3` has its flags in memory, where no
filter can see them, and C libraries then use `clone`."""
REFUSED = {
    # Reaches into other processes: their memory, descriptors and registers. `pidfd_open` stays: runtimes wait with it,
    # and all that reaches into a process by such a descriptor is in this list.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "pidfd_getfd": (438, 438),
    "kcmp": (312, 272),
    "get_robust_list": (274, 100),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "userfaultfd": (323, 282),
    # Memory that no list of a process's memory has.
    "memfd_secret": (447, 447),
    # Keys of the user, and of the kernel.
    "keyctl": (250, 219),
    "add_key": (248, 217),
    "request_key": (249, 218),
    # A second way to most calls, which passes by this filter.
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    # Programs in the kernel, and what the whole machine does.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    "lookup_dcookie": (212, 18),
    "syslog": (103, 116),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "acct": (163, 89),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "vhangup": (153, 58),
    "iopl": (172, None),
    "ioperm": (173, None),
    # Files by another way than their path, and other paths to files.
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    # Namespaces.
    "setns": (308, 268),
    "clone3": (435, 435),
}
"""Calls that are refused whatever their arguments are, with their numbers on x86_64 and on newer machines."""
LAST_KNOWN = 462
"""What newer kernels add after this call (mseal) is refused too: nobody has judged it."""
NEW_NAMESPACES = 0x7E020000
"""CLONE_NEWNS, CLONE_NEWCGROUP, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID and CLONE_NEWNET."""
CLONE_NEWTIME = 0x80
"""In `unshare` only; in `clone` these bits are a signal."""
F_SETLEASE, F_NOTIFY = 1024, 1026
"""A lease holds up whoever opens the file next, on the whole machine."""
TIOCSTI, TIOCLINUX = 0x5412, 0x541C
"""Both type into a terminal."""
PR_SET_DUMPABLE = 4
"""Hides what a process has open from an ordinary user's guard. Programs that ask for it are told that it is done."""
LAST_FAMILY = 16
"""Up to here are the families that a network namespace holds: unix, inet, inet6, netlink and old ones."""


class CallRule(NamedTuple):
    """A call that is refused when the bits, or the value, of an argument are these; `above`: when it is larger."""

    name: str
    numbers: tuple[int, int]
    argument: int
    errno: int
    bits: int = 0
    values: tuple[int, ...] = ()
    above: int | None = None


RULES = (
    CallRule("clone", (56, 220), 0, errno.EPERM, bits=NEW_NAMESPACES),
    CallRule("unshare", (272, 97), 0, errno.EPERM, bits=NEW_NAMESPACES | CLONE_NEWTIME),
    CallRule("fcntl", (72, 25), 1, errno.EPERM, values=(F_SETLEASE, F_NOTIFY)),
    CallRule("prctl", (157, 167), 0, 0, values=(PR_SET_DUMPABLE,)),
    CallRule("ioctl", (16, 29), 1, errno.EPERM, values=(TIOCSTI, TIOCLINUX)),
    CallRule("socket", (41, 198), 0, errno.EAFNOSUPPORT, above=LAST_FAMILY),
    # Of other processes: a limit on its time, and the kernel kills a sandbox's first process as nobody inside it can.
    CallRule("prlimit64", (302, 261), 0, errno.EPERM, above=0),
)
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1), "riscv64": (0xC00000F3, 1)}
"""By machine: its number for the kernel, and which of the numbers above are its own."""
LOAD, EQUAL, GREATER, ANY_BIT, RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER, ARCHITECTURE, ARGUMENTS = 0, 4, 16
Step = tuple[int, int, int, int]
"""An instruction for the kernel: its code, how many to skip if it holds and if it does not, and its operand."""


def errno_of(name: str) -> int:
    return errno.ENOSYS if name in ENOSYS_NAMES else errno.EPERM


@lru_cache(maxsize=1)
def filter_program() -> bytes:
    """The filter for this machine; one that allows everything on a kind of machine that is not known."""
    machine = os.uname().machine
    steps = _steps(*MACHINES[machine]) if machine in MACHINES else [(RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def _steps(architecture: int, column: int) -> list[Step]:
    """Calls of another architecture, such as the 32-bit ones, have other numbers: none of them is there."""
    absent = (RETURN, 0, 0, ERROR | errno.ENOSYS)
    steps: list[Step] = [(LOAD, 0, 0, ARCHITECTURE), (EQUAL, 1, 0, architecture), absent]
    # x32 calls are numbers far above all others.
    steps += [(LOAD, 0, 0, NUMBER), (GREATER, 0, 1, LAST_KNOWN), absent]
    for name, numbers in REFUSED.items():
        number = numbers[column]
        if number is not None:
            steps += [(EQUAL, 0, 1, number), (RETURN, 0, 0, ERROR | errno_of(name))]
    for rule in RULES:
        looked = _looked(rule)
        steps += [(EQUAL, 0, len(looked), rule.numbers[column]), *looked]
    return [*steps, (RETURN, 0, 0, ALLOW)]


def _looked(rule: CallRule) -> list[Step]:
    """What is done with a call of a rule. The kernel takes these arguments as 32 bits, so the lower half is enough."""
    refuse, allow = (RETURN, 0, 0, ERROR | rule.errno), (RETURN, 0, 0, ALLOW)
    steps: list[Step] = [(LOAD, 0, 0, ARGUMENTS + 8 * rule.argument)]
    if rule.bits:
        steps += [(ANY_BIT, 0, 1, rule.bits), refuse]
    for value in rule.values:
        steps += [(EQUAL, 0, 1, value), refuse]
    if rule.above is not None:
        steps += [(GREATER, 0, 1, rule.above), refuse]
    return [*steps, allow]


def container_profile() -> dict[str, Any]:
    """The same for containers. A profile has no way to say "any of these bits", so each bit is a rule of its own."""
    rules: list[dict[str, Any]] = []
    for number in (errno.EPERM, errno.ENOSYS):
        rules.append({"names": [name for name in REFUSED if errno_of(name) == number], "errnoRet": number})
    for rule in RULES:
        for condition in _conditions(rule):
            argument = {"index": rule.argument} | condition
            rules.append({"names": [rule.name], "errnoRet": rule.errno, "args": [argument]})
    return {"defaultAction": "SCMP_ACT_ALLOW", "syscalls": [{"action": "SCMP_ACT_ERRNO", **rule} for rule in rules]}


def _conditions(rule: CallRule) -> list[dict[str, Any]]:
    bits = [1 << place for place in range(32) if rule.bits & 1 << place]
    found: list[dict[str, Any]] = [{"value": bit, "valueTwo": bit, "op": "SCMP_CMP_MASKED_EQ"} for bit in bits]
    # The upper half of these arguments is nothing to the kernel, so it must not be compared.
    found += [{"value": 0xFFFFFFFF, "valueTwo": value, "op": "SCMP_CMP_MASKED_EQ"} for value in rule.values]
    return found + ([{"value": rule.above, "op": "SCMP_CMP_GT"}] if rule.above is not None else [])

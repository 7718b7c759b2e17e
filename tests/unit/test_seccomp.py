"""The filter of system calls, run by a small interpreter of the kernel's language, for machines that are not here too."""

from __future__ import annotations

import errno

import pytest

from orvl.sandbox import seccomp
from orvl.sandbox.seccomp import ALLOW, MACHINES, REFUSED, RULES

I386, X32 = 0x40000003, 0x40000000


def verdict(machine, number, *arguments, architecture=None):
    """What the filter answers to a call: None if it is allowed, else the error."""
    own, column = MACHINES[machine]
    data = {0: number, 4: own if architecture is None else architecture}
    for place, value in enumerate(arguments):
        data[16 + 8 * place] = value & 0xFFFFFFFF
    steps, place, loaded = seccomp._steps(own, column), 0, 0
    while True:
        code, yes, no, operand = steps[place]
        place += 1
        if code == seccomp.LOAD:
            loaded = data.get(operand, 0)
        elif code == seccomp.RETURN:
            return None if operand == ALLOW else operand & 0xFFFF
        else:
            holds = {
                seccomp.EQUAL: loaded == operand,
                seccomp.GREATER: loaded > operand,
                seccomp.ANY_BIT: bool(loaded & operand),
            }
            place += yes if holds[code] else no


@pytest.mark.parametrize("machine", MACHINES)
def test_what_is_refused_is_refused_whatever_its_arguments_are(machine):
    for name, numbers in REFUSED.items():
        if (number := numbers[MACHINES[machine][1]]) is not None:
            assert verdict(machine, number, 1, 2, 3) == seccomp.errno_of(name), name


@pytest.mark.parametrize("machine", MACHINES)
def test_arguments_decide_where_a_call_has_good_uses_too(machine):
    numbers = {rule.name: rule.numbers[MACHINES[machine][1]] for rule in RULES}
    sigchld, new_user, new_time = 17, 0x10000000, 0x80
    assert verdict(machine, numbers["clone"], sigchld) is None
    assert verdict(machine, numbers["clone"], sigchld | new_user) == errno.EPERM
    assert verdict(machine, numbers["unshare"], 0x200) is None
    assert verdict(machine, numbers["unshare"], new_time) == errno.EPERM
    assert verdict(machine, numbers["fcntl"], 3, 1024, 0) == errno.EPERM
    assert verdict(machine, numbers["fcntl"], 3, 0xF00000000 | 1026, 0) == errno.EPERM
    assert verdict(machine, numbers["fcntl"], 1024, 1, 0) is None
    assert verdict(machine, numbers["ioctl"], 0, 0x5412) == errno.EPERM
    assert verdict(machine, numbers["ioctl"], 0, 0x5413) is None
    assert verdict(machine, numbers["socket"], 2) is None
    assert verdict(machine, numbers["socket"], 38) == errno.EAFNOSUPPORT
    assert verdict(machine, numbers["socket"], -1) == errno.EAFNOSUPPORT


@pytest.mark.parametrize("machine", MACHINES)
def test_other_architectures_and_newer_calls_are_not_there(machine):
    assert verdict(machine, 20, architecture=I386) == errno.ENOSYS
    assert verdict(machine, X32 | 39) == errno.ENOSYS
    assert verdict(machine, seccomp.LAST_KNOWN) is None
    assert verdict(machine, seccomp.LAST_KNOWN + 1) == errno.ENOSYS


def test_containers_refuse_the_same():
    refused = [name for rule in seccomp.container_profile()["syscalls"] if "args" not in rule for name in rule["names"]]
    assert sorted(refused) == sorted(REFUSED)
    with_conditions = {rule["names"][0] for rule in seccomp.container_profile()["syscalls"] if "args" in rule}
    assert with_conditions == {rule.name for rule in RULES}

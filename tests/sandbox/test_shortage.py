"""A machine that is short of something is nobody's failure: what it breaks is errored, and what an agent broke is not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from helpers.needs import need

MOUNTED = Path("/sys/fs/cgroup")
HUNGRY = "import time\nopen('begun', 'w').close()\nheld = bytearray(600 << 20)\ntime.sleep(20)\n"


@pytest.fixture
def small_container():
    """A prefix that runs a command in a control group with 450 MiB of memory, as in a container."""
    is_new = (MOUNTED / "cgroup.controllers").exists()
    base = MOUNTED if is_new else MOUNTED / "memory"
    need(os.access(base, os.W_OK) and (is_new or base.exists()), "control groups cannot be made here")
    outer = base / f"test-{os.getpid()}"
    inner = outer / "inside"
    inner.mkdir(parents=True)
    if is_new:
        (base / "cgroup.subtree_control").write_text("+memory +pids")
        (outer / "cgroup.subtree_control").write_text("+memory +pids")
    (outer / ("memory.max" if is_new else "memory.limit_in_bytes")).write_text(str(450 << 20))
    yield ["sh", "-c", f'echo $$ > {inner}/cgroup.procs; exec "$@"', "sh"]
    for folder in (inner, outer):
        folder.rmdir()


@pytest.mark.root
@pytest.mark.parametrize("name", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("limit", "outcome", "reason"),
    [
        (
            2000,
            "errored",
            "it was ended from outside: this machine, or the container that orvl is in, was short of memory",
        ),
        (100, "failed", "turn 1 took more memory than its limit of 100 MiB (limits.memory)"),
    ],
)
def test_who_is_short_of_memory_decides(project, small_container, name, limit, outcome, reason):
    project.agent("mine", f"models = {{'none': ['m']}}\ndef command(): return ['/usr/bin/python3', '-c', {HUNGRY!r}]\n")
    project.eval("e", f"---\nmetrics: {{speed: 1}}\nlimits: {{memory: {limit}}}\n---\nGo.\n")
    project.toml("attempts = 1\n")
    result = project.orvl("mine", "--eval=e", f"--sandbox={name}", prefix=small_container)
    assert result.status == int(outcome == "errored"), result.err
    [(found, why)] = project.rows("SELECT outcome, reason FROM attempt")
    assert found == outcome
    assert why.startswith(reason)

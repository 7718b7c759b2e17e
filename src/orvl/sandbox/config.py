"""What every sandbox of a project is told: what must stay hidden, what may be read, and a made-up /etc."""

from __future__ import annotations

import os
import pwd
import stat
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NOBODY = 65534
DEVICES = {"null": (1, 3), "zero": (1, 5), "full": (1, 7), "random": (1, 8), "urandom": (1, 9), "tty": (5, 0)}
ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n"
    "subject:x:1001:1001:subject:/home/agent:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "group": "root:x:0:\nagent:x:1000:\nsubject:x:1001:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "resolv.conf": "",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}
HOST_WIDE = (
    *("acpi", "asound", "bus", "driver", "fs", "irq", "scsi"),
    *("iomem", "ioports", "kallsyms", "kcore", "key-users", "keys", "kmsg", "kpagecgroup", "kpagecount", "kpageflags"),
    *("latency_stats", "locks", "modules", "mtrr", "pagetypeinfo", "sched_debug", "slabinfo", "sysrq-trigger"),
    *("timer_list", "timer_stats", "vmallocinfo"),
)
"""What of /proc is about the whole machine and helps no program: no sandbox shows it."""


@dataclass(frozen=True)
class SandboxConfig:
    """What is `closed` is never part of an installation that is seen inside; what is `hidden` is covered where it lies
    in one. `paths` may be read; `image` is what a container is made from."""

    etc: Path
    closed: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    image: str | None = None
    devices: tuple[Path, ...] = ()


def sandbox_config(
    work: Path, closed: Iterable[Path], hidden: Iterable[Path], paths: Iterable[Path] = (), image: str | None = None
) -> SandboxConfig:
    """Writes the made-up /etc into orvl's own folder; the user's home is always closed, orvl's own files are hidden."""
    etc = work / "etc"
    etc.mkdir(exist_ok=True)
    for name, text in ETC.items():
        (etc / name).write_text(text, encoding="ascii")
    homes = {Path(os.path.expanduser("~"))}
    with suppress(KeyError):
        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    own = Path(__file__).parents[1]
    return SandboxConfig(
        etc, _resolved(*closed, *homes, work.parent), _resolved(*hidden, own), tuple(paths), image, devices(work)
    )


def devices(work: Path) -> tuple[Path, ...]:
    """Device files that are nobody's: root's own could be locked for the whole machine by an agent that root runs."""
    made = []
    if os.geteuid() == 0:
        with suppress(OSError):
            (work / "dev").mkdir(exist_ok=True)
            for name, minor in DEVICES.items():
                path = work / "dev" / name
                os.mknod(path, 0o600 | stat.S_IFCHR, os.makedev(*minor))
                os.chown(path, NOBODY, NOBODY)
                path.chmod(0o666)
                made.append(path)
            os.close(os.open(made[0], os.O_RDWR))
            return tuple(made)
    return ()


def _resolved(*paths: Path) -> tuple[Path, ...]:
    return tuple(sorted({path.resolve() for path in paths} - {Path("/")}))

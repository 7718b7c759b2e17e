"""What every sandbox of a project is told: what must stay hidden, what may be read, and a made-up /etc."""

from __future__ import annotations

import os
import pwd
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ETC = {
    "passwd": "root:x:0:0:root:/root:/bin/sh\nagent:x:1000:1000:agent:/home/agent:/bin/sh\n"
    "nobody:x:65534:65534:nobody:/:/bin/false\n",
    "group": "root:x:0:\nagent:x:1000:\nnogroup:x:65534:\n",
    "hosts": "127.0.0.1 localhost sandbox\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
}


@dataclass(frozen=True)
class Surroundings:
    """What is `closed` is never part of an installation that is seen inside; what is `hidden` is covered where it lies
    in one. `paths` may be read; `image` is what a container is made from."""

    etc: Path
    closed: tuple[Path, ...] = ()
    hidden: tuple[Path, ...] = ()
    paths: tuple[Path, ...] = ()
    image: str | None = None


def surroundings(
    work: Path, closed: Iterable[Path], hidden: Iterable[Path], paths: Iterable[Path] = (), image: str | None = None
) -> Surroundings:
    """Writes the made-up /etc into orvl's own folder; the user's home is always closed, orvl's own files are hidden."""
    etc = work / "etc"
    etc.mkdir(exist_ok=True)
    for name, text in ETC.items():
        (etc / name).write_text(text, encoding="ascii")
    homes = {Path(os.path.expanduser("~"))}
    with suppress(KeyError):
        homes.add(Path(pwd.getpwuid(os.getuid()).pw_dir))
    own = Path(__file__).parents[1]
    return Surroundings(etc, _resolved(*closed, *homes, work.parent), _resolved(*hidden, own), tuple(paths), image)


def _resolved(*paths: Path) -> tuple[Path, ...]:
    return tuple(sorted({path.resolve() for path in paths} - {Path("/")}))

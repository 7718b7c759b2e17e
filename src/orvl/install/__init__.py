"""Agents at the versions that their files pin, installed in a cache outside of every project.

    CACHE/agents/NAME/DIGEST/installation.json    what is installed; written last, so that a half-done one never counts
    CACHE/agents/NAME/DIGEST/TIME-PROCESS/bin/    the programs of the packages that the agent's file names

An installation is made where it stays, because a virtual environment contains its own path.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from orvl.types import Agent

FORMAT = 1
RECORD = "installation.json"
NEEDED = {"npm": ("node", "npm")}


@dataclass(frozen=True)
class AgentInstallation:
    """An agent's packages on this machine: `bin` goes first in PATH, `readable` is what a sandbox has to show."""

    folder: Path
    bin: Path
    readable: tuple[Path, ...]
    checksum: str
    packages: tuple[str, ...]
    installed_at: str
    size: int
    agent: str = ""
    """The name under which it was installed."""


def installed(agent: Agent) -> AgentInstallation | None:
    """The installation that `orvl install` has made of an agent's packages, if any."""
    if not agent.install:
        return None
    place = place_of(agent)
    try:
        return _from_record(place, json.loads((place / RECORD).read_bytes()))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def serving(program: str) -> AgentInstallation | None:
    """The installation that has a program, under whatever agent's name it was made.

    One at the version that its agent's file pins comes before one at a version that was asked for by name; of several
    the newest.
    """
    found = []
    for file in sorted((cache() / "agents").glob(f"*/*/{RECORD}")):
        with suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(file.read_bytes())
            one = _from_record(file.parent, record)
            if one and (one.bin / program).exists():
                found.append(("@" not in str(record["agent"]), one.installed_at, str(one.folder), one))
    return max(found)[-1] if found else None


def _from_record(place: Path, record: dict[str, Any]) -> AgentInstallation | None:
    folder = Path(record["folder"])
    readable = tuple(map(Path, record["readable"]))
    moved = folder.parent != place
    if record["format"] != FORMAT or moved or not all(map(os.path.exists, (folder / "bin", *readable))):
        return None
    return AgentInstallation(
        folder=folder,
        bin=folder / "bin",
        readable=readable,
        checksum=str(record["checksum"]),
        packages=tuple(map(str, record["packages"])),
        installed_at=str(record["installed_at"]),
        size=int(record["bytes"]),
        agent=str(record.get("agent", "")),
    )


def cache() -> Path:
    """ORVL_CACHE, or `orvl` in the user's cache folder."""
    if own := os.environ.get("ORVL_CACHE"):
        return Path(own).expanduser().resolve()
    shared = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(shared) if shared.startswith("/") else Path.home() / ".cache").resolve() / "orvl"


def place_of(agent: Agent) -> Path:
    """The folder of an agent's installations; other packages or another kind of machine get another folder."""
    spec = {installer: list(packages) for installer, packages in agent.install.items()}
    parts = [FORMAT, spec, platform.system(), platform.machine()]
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]
    return cache() / "agents" / agent.file_name / digest


def obstacle(agent: Agent) -> str | None:
    """What this machine lacks to install an agent's packages."""
    missing = [name for kind in agent.install for name in NEEDED.get(kind, ()) if not shutil.which(name)]
    return f"{' and '.join(missing)} not in PATH; install Node.js, which includes both" if missing else None

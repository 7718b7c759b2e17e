"""Makes an installation: under a lock, completely or not at all, tried out, then made read-only."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from orvl.errors import FileError, InstallerFailed, InstallError, disk_sentence
from orvl.install import FORMAT, RECORD, AgentInstallation, installed, npm, obstacle, pip, place_of
from orvl.install.installer import last_lines
from orvl.project.python_file import line_of_name
from orvl.store.tree import remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from orvl.install.installer import InstalledPackages
    from orvl.types import Agent

    Say = Callable[[str], None]

INSTALLERS = {"npm": npm, "pip": pip}


def check_pins(agent: Agent) -> None:
    """Refuses packages without an exact version: the agent would change under its results."""
    for installer, packages in agent.install.items():
        kind = INSTALLERS[installer]
        for package in packages:
            if not kind.PINNED.fullmatch(package):
                line = line_of_name(agent.path, "install")
                why = f"'install' names the {installer} package {package!r} without an exact version"
                raise FileError(agent.path, line, f"{why}; write it as {kind.EXAMPLE!r}.")


def install(agent: Agent, say: Say, *, fresh: bool = False) -> tuple[AgentInstallation, bool]:
    """An agent's installation, and whether it is new. The one before stays until the new one is complete."""
    check_pins(agent)
    present = installed(agent)
    if present and not fresh:
        return present, False
    if why := obstacle(agent):
        raise InstallError(f"Cannot install {agent.name}: {why}.")
    with _disk_sentences(agent), _locked(agent, say) as place:
        # Another orvl may have installed it while this one waited for the lock.
        present = installed(agent)
        if present and not fresh:
            return present, False
        _clean(place, present)
        _make(agent, place, say)
    made = installed(agent)
    if made is None:
        raise InstallError(f"{agent.name} was installed in {place}, but is gone.")
    return made, True


def uninstall(agent: Agent, say: Say) -> bool:
    """Deletes an agent's installation; says whether there was one."""
    if not place_of(agent).exists():
        return False
    with _disk_sentences(agent), _locked(agent, say) as place:
        was_installed = installed(agent) is not None
        (place / RECORD).unlink(missing_ok=True)
        _clean(place, None)
    return was_installed


def _clean(place: Path, keep: AgentInstallation | None) -> None:
    """Deletes unfinished installations, and those that a later one has replaced."""
    for path in place.iterdir():
        if path.is_dir() and (keep is None or path != keep.folder):
            remove(path)


def _make(agent: Agent, place: Path, say: Say) -> None:
    began = time.time()
    folder = place / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(began))}-{os.getpid()}"
    folder.mkdir()
    try:
        built = {kind: _build(agent, kind, folder, say) for kind in agent.install}
        _link_programs(agent, folder / "bin", built)
        answer = _try(agent, folder / "bin")
        size = _make_read_only(folder)
    except BaseException:
        remove(folder)
        raise
    record = {
        "format": FORMAT,
        "agent": agent.name,
        "install": agent.install,
        "packages": [name for packages in built.values() for name in packages.named],
        "says": answer,
        "checksum": _checksum({kind: packages.proof for kind, packages in built.items()}),
        "installed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seconds": round(time.time() - began, 1),
        "bytes": size,
        "folder": str(folder),
        "readable": [str(folder), *(str(path) for packages in built.values() for path in packages.readable)],
        "made_by": {
            kind: {"installer": packages.installer, "runtime": packages.runtime, "versions": packages.versions}
            for kind, packages in built.items()
        },
    }
    _write(place / RECORD, record)


def _build(agent: Agent, kind: str, folder: Path, say: Say) -> InstalledPackages:
    packages = agent.install[kind]
    say(f"installing {' '.join(packages)} with {kind}")
    try:
        built: InstalledPackages = INSTALLERS[kind].build(folder / kind, packages, say)
    except InstallerFailed as failed:
        raise InstallError(f"Cannot install {agent.name}: {failed}.{_quoted(failed.output)}") from failed
    except (subprocess.SubprocessError, KeyError, ValueError) as error:
        raise InstallError(f"Cannot install {agent.name}: {kind} left {error!r}.") from error
    return built


def _link_programs(agent: Agent, bin_: Path, built: Mapping[str, InstalledPackages]) -> None:
    """Links the programs of the named packages, and no others, into the folder that goes first in PATH."""
    bin_.mkdir()
    for packages in built.values():
        for name, file in packages.programs.items():
            (bin_ / name).symlink_to(os.path.relpath(file, bin_))
    program = agent.version[0] if agent.version else None
    names = sorted(path.name for path in bin_.iterdir())
    if not names or (program and "/" not in program and program not in names):
        missing = f"no program '{program}'" if program else "no program"
        others = f", only {', '.join(names)}" if names else ""
        raise InstallError(f"Cannot install {agent.name}: its packages have {missing}{others}.")


def _try(agent: Agent, bin_: Path) -> str | None:
    """The output of the agent's version command, in a temporary home."""
    if not agent.version:
        return None
    command = " ".join(agent.version)
    path = os.pathsep.join((str(bin_), os.environ.get("PATH", os.defpath)))
    argv = [shutil.which(agent.version[0], path=path) or agent.version[0], *agent.version[1:]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        env = {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": os.environ.get("LANG", "C.UTF-8")}
        try:
            done = subprocess.run(argv, env=env, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(f"{agent.name} was installed, but `{command}` failed: {error}.") from error
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode:
        output = _quoted(err or out)
        raise InstallError(f"{agent.name} was installed, but `{command}` exited with status {done.returncode}.{output}")
    return (out or err).strip().partition("\n")[0][:200]


def _quoted(output: str) -> str:
    return "".join(f"\n  {line}" for line in last_lines(output))


def _make_read_only(folder: Path) -> int:
    """Makes every file and folder read-only; returns their size in bytes. Hard links count once."""
    sizes: dict[tuple[int, int], int] = {}
    for path, _, files in os.walk(folder, topdown=False):
        for name in files:
            file = os.path.join(path, name)
            if not os.path.islink(file):
                status = os.stat(file)
                sizes[status.st_dev, status.st_ino] = status.st_size
                os.chmod(file, status.st_mode & 0o7555)
        os.chmod(path, os.stat(path).st_mode & 0o7555)
    return sum(sizes.values())


def _checksum(proof: Mapping[str, Any]) -> str:
    return "sha256:" + hashlib.sha256(json.dumps(proof, sort_keys=True).encode()).hexdigest()


def _write(path: Path, record: Mapping[str, Any]) -> None:
    half = path.with_suffix(f".{os.getpid()}.half")
    with open(half, "w", encoding="utf-8") as file:
        json.dump(record, file, indent=1)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(half, path)


@contextmanager
def _locked(agent: Agent, say: Say) -> Iterator[Path]:
    """One installer at a time for an agent's packages; the kernel releases the lock of a process that dies."""
    place = place_of(agent)
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another orvl is installing it; waiting")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield place


@contextmanager
def _disk_sentences(agent: Agent) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InstallError(f"Cannot install {agent.name}: {disk_sentence(error)}.") from error

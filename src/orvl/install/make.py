"""Makes an installation: under a lock, whole or not at all, tried out, then made read-only."""

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
from orvl.install import FORMAT, RECORD, Installation, installed, npm, obstacle, pip, place_of
from orvl.install.process import last_lines
from orvl.project.python_file import line_of_name
from orvl.store.tree import remove

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from orvl.install.built import Built
    from orvl.types import Agent

    Say = Callable[[str], None]

INSTALLERS = {"npm": npm, "pip": pip}


def check_pins(agent: Agent) -> None:
    """Refuses packages without an exact version: an agent would change under its results."""
    for installer, packages in agent.install.items():
        kind = INSTALLERS[installer]
        for package in packages:
            if not kind.PINNED.fullmatch(package):
                line = line_of_name(agent.path, "install")
                why = f"'install' names {package!r} of {installer}, which is not pinned to one version"
                raise FileError(agent.path, line, f"{why}; write it as {kind.EXAMPLE!r}.")


def install(agent: Agent, say: Say, *, fresh: bool = False) -> tuple[Installation, bool]:
    """An agent's installation, and whether it was made now. One that was there stays until the new one is whole."""
    check_pins(agent)
    found = installed(agent)
    if found and not fresh:
        return found, False
    if why := obstacle(agent):
        raise InstallError(f"{agent.name} cannot be installed: {why}.")
    with _disk_sentences(agent), _locked(agent, say) as place:
        found = installed(agent)
        if found and not fresh:
            return found, False
        _clean(place, found)
        _make(agent, place, say)
    made = installed(agent)
    if made is None:
        raise InstallError(f"{agent.name} was installed in {place}, and is not there any more.")
    return made, True


def uninstall(agent: Agent, say: Say) -> bool:
    """Deletes an agent's installation, and whether there was one."""
    if not place_of(agent).exists():
        return False
    with _disk_sentences(agent), _locked(agent, say) as place:
        there = installed(agent) is not None
        (place / RECORD).unlink(missing_ok=True)
        _clean(place, None)
    return there


def _clean(place: Path, keep: Installation | None) -> None:
    """Deletes what was left half done, and what a later installation has replaced."""
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
        "packages": [name for one in built.values() for name in one.named],
        "says": answer,
        "checksum": _checksum({kind: one.proof for kind, one in built.items()}),
        "installed_at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        "seconds": round(time.time() - began, 1),
        "bytes": size,
        "folder": str(folder),
        "readable": [str(folder), *(str(path) for one in built.values() for path in one.readable)],
        "made_by": {
            kind: {"installer": one.installer, "runtime": one.runtime, "versions": one.versions}
            for kind, one in built.items()
        },
    }
    _write(place / RECORD, record)


def _build(agent: Agent, kind: str, folder: Path, say: Say) -> Built:
    packages = agent.install[kind]
    say(f"installing {' '.join(packages)} with {kind}")
    try:
        built: Built = INSTALLERS[kind].build(folder / kind, packages, say)
    except InstallerFailed as failed:
        raise InstallError(f"{agent.name} could not be installed: {failed}.{_quoted(failed.output)}") from failed
    except (subprocess.SubprocessError, KeyError, ValueError) as error:
        raise InstallError(f"{agent.name} could not be installed: {kind} left {error!r}.") from error
    return built


def _link_programs(agent: Agent, bin_: Path, built: Mapping[str, Built]) -> None:
    """Puts the programs of the named packages, and no others, where PATH will look first."""
    bin_.mkdir()
    for one in built.values():
        for name, file in one.programs.items():
            (bin_ / name).symlink_to(os.path.relpath(file, bin_))
    program = agent.version[0] if agent.version else None
    names = sorted(path.name for path in bin_.iterdir())
    if not names or (program and "/" not in program and program not in names):
        wanted = f"no '{program}'" if program else "no program"
        brought = f", only {', '.join(names)}" if names else ""
        raise InstallError(f"{agent.name} could not be installed: its packages bring {wanted}{brought}.")


def _try(agent: Agent, bin_: Path) -> str | None:
    """What the agent's version command says, in a home that is thrown away."""
    if not agent.version:
        return None
    asked = " ".join(agent.version)
    path = os.pathsep.join((str(bin_), os.environ.get("PATH", os.defpath)))
    argv = [shutil.which(agent.version[0], path=path) or agent.version[0], *agent.version[1:]]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        env = {"PATH": path, "HOME": home, "TMPDIR": home, "LANG": os.environ.get("LANG", "C.UTF-8")}
        try:
            done = subprocess.run(argv, env=env, cwd=home, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(f"{agent.name} was installed, but `{asked}` failed: {error}.") from error
    out, err = done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")
    if done.returncode:
        said = _quoted(err or out)
        raise InstallError(f"{agent.name} was installed, but `{asked}` ended with status {done.returncode}.{said}")
    return (out or err).strip().partition("\n")[0][:200]


def _quoted(output: str) -> str:
    return "".join(f"\n  {line}" for line in last_lines(output))


def _make_read_only(folder: Path) -> int:
    """Takes the right to write from every file and folder; tells how many bytes they have."""
    sizes: dict[tuple[int, int], int] = {}
    for path, _, files in os.walk(folder, topdown=False):
        for name in files:
            file = os.path.join(path, name)
            if not os.path.islink(file):
                there = os.stat(file)
                sizes[there.st_dev, there.st_ino] = there.st_size
                os.chmod(file, there.st_mode & 0o7555)
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
    """One installer at a time for an agent's packages; the lock goes with the process that holds it."""
    place = place_of(agent)
    place.mkdir(parents=True, exist_ok=True)
    with open(place / "lock", "a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another orvl is installing it; waiting for that")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield place


@contextmanager
def _disk_sentences(agent: Agent) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InstallError(f"{agent.name} could not be installed: {disk_sentence(error)}.") from error

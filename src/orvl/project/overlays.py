"""`overlays/NAME/` → Overlay: files, variables and arguments that are laid over an agent."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from orvl.errors import FileError, UserError, disk_sentence
from orvl.project.names import did_you_mean, matching
from orvl.project.validation import FORBID, line_of, read_toml, validated
from orvl.store import beneath, tree
from orvl.types import Agent, Overlay

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from orvl.project.find import SourceFile

FILE = "overlay.toml"
FOLDERS = ("workspace", "home")
NOT_FOR_OVERLAYS = {
    re.compile(r"HOME|PATH|PWD|TMPDIR|XDG_\w+"): "orvl sets it for every run",
    re.compile(r"\w*_PROXY", re.IGNORECASE): "orvl decides what a run may reach",
    re.compile(r"\w*(_BASE_URL|_API_BASE)"): "orvl tells agents where their model is",
    re.compile(r"\w*(_KEY|_TOKEN|_SECRET)"): "it looks like a key, and keys never reach agents",
}
OPEN_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
OPEN_SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
OPEN_TARGET = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True)
class OverlaySettings:
    """What `overlay.toml` may say."""

    description: str = ""
    """What the overlay is, in one sentence."""
    env: dict[str, str] = field(default_factory=dict)
    """Environment variables, used as written."""
    arguments: list[str] = field(default_factory=list)
    """Additional arguments of the agent's command."""
    agents: list[str] = field(default_factory=list)
    """Names and globs of the agents that it fits; all if empty."""
    __pydantic_config__ = FORBID


def load_overlay(file: SourceFile) -> Overlay:
    """Reads an overlay's folder; its files are only hashed here."""
    settings = _settings(file.path / FILE)
    _check_entries(file.path)
    folders = {name: file.path / name for name in FOLDERS if os.path.lexists(file.path / name)}
    digests = {name: _digest(folder) for name, folder in folders.items()}
    if not (any(digests.values()) or settings.env or settings.arguments):
        raise FileError(
            file.path,
            None,
            "this overlay changes nothing; it needs files in workspace/ or home/, 'env' or 'arguments'.",
        )
    return Overlay(
        name=file.name,
        path=file.path,
        digest=_identity(digests.get("workspace"), digests.get("home"), settings.env, settings.arguments),
        description=settings.description,
        workspace=folders["workspace"] if digests.get("workspace") else None,
        home=folders["home"] if digests.get("home") else None,
        env=settings.env,
        arguments=tuple(settings.arguments),
        agents=tuple(settings.agents),
    )


def has_changed(overlay: Overlay) -> bool:
    """Whether its files have changed since it was loaded."""
    try:
        workspace, home = (_digest(folder) if folder else None for folder in (overlay.workspace, overlay.home))
    except FileError:
        return True
    return _identity(workspace, home, overlay.env, overlay.arguments) != overlay.digest


def _identity(workspace: str | None, home: str | None, env: Mapping[str, str], arguments: Sequence[str]) -> str:
    content = [workspace, home, sorted(env.items()), list(arguments)]
    return hashlib.sha256(json.dumps(content).encode()).hexdigest()


def with_overlays(agent: Agent, overlays: Sequence[Overlay]) -> Agent:
    """The agent with overlays applied in order, which is a contestant of its own."""
    names = [overlay.name for overlay in overlays]
    for overlay in overlays:
        if names.count(overlay.name) > 1:
            raise UserError(f"'{'+'.join((agent.name, *names))}' names the overlay '{overlay.name}' twice.")
        if not fits(overlay, agent):
            raise UserError(
                f"The overlay '{overlay.name}' does not fit {agent.file_name}: it is for {', '.join(overlay.agents)} "
                f"({overlay.path / FILE})."
            )
    digest = hashlib.sha256(json.dumps([agent.digest, *(overlay.digest for overlay in overlays)]).encode()).hexdigest()
    return replace(agent, name="+".join((agent.name, *names)), digest=digest, overlays=tuple(overlays))


def fits(overlay: Overlay, agent: Agent) -> bool:
    return not overlay.agents or any(matching(word, [agent.file_name]) for word in overlay.agents)


# -- what is in the folder


def _check_entries(folder: Path) -> None:
    """A misspelt folder would be ignored silently; READMEs and hidden files are allowed."""
    known = (FILE, *FOLDERS)
    for entry in sorted(folder.iterdir()):
        if entry.name not in known and not entry.name.lower().startswith((".", "readme")):
            raise FileError(entry, None, f"an overlay has no '{entry.name}'. {did_you_mean(entry.name, known)}")


def _digest(folder: Path) -> str | None:
    """The hash of a folder's files; None if it has none."""
    if folder.is_symlink() or not folder.is_dir():
        raise FileError(folder, None, "this must be a folder, not a link.")
    try:
        digest = tree.digest(folder)
        return digest if any(name not in tree.NOT_GIVEN for name in os.listdir(folder)) else None
    except OSError as error:
        raise FileError(folder, None, f"it cannot be used ({disk_sentence(error)}).") from error


def _settings(path: Path) -> OverlaySettings:
    text, data = read_toml(path)
    settings = validated(OverlaySettings, data, FILE, lambda place, why: FileError(path, line_of(text, place), why))
    for name, value in settings.env.items():
        if why := no_variable(name, value):
            raise FileError(path, line_of(text, ("env", name)), f"'env' may not set {name!r}: {why}.")
    if any("\0" in word for word in settings.arguments):
        raise FileError(path, line_of(text, ("arguments",)), "an argument contains a NUL byte.")
    return settings


def no_variable(name: str, value: str) -> str | None:
    """Why a variable of a run may not be set, or None."""
    if not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII) or "\0" in value:
        return "it is not an environment variable"
    return next((why for pattern, why in NOT_FOR_OVERLAYS.items() if pattern.fullmatch(name)), None)


def file_in_home(overlay: Overlay, name: str) -> bytes | None:
    """The overlay's file for a path in HOME, if any; links are not followed."""
    place = overlay.home
    if place is None:
        return None
    parts = PurePosixPath(name).parts
    for depth, part in enumerate(parts, 1):
        place = place / part
        if not os.path.lexists(place):
            return None
        wanted = stat.S_ISREG if depth == len(parts) else stat.S_ISDIR
        if not wanted(place.lstat().st_mode):
            raise FileError(place, None, f"the agent writes a file '{name}' into HOME, and this is in its way.")
    try:
        return beneath.read(place, beneath.LARGEST)
    except OSError as error:
        raise FileError(place, None, f"it cannot be used ({disk_sentence(error)}).") from error


# -- laying files over others


def lay(source: Path, target: Path, skip: Collection[str] = ()) -> None:
    """Copies a folder over another: folders are merged, anything else replaces what is there. `skip` has names at the
    top of the folder that stay away.

    Everything is opened inside the folder that holds it, so that no link on either side is followed.
    """
    with _opened(source, OPEN_FOLDER) as read, _opened(target, OPEN_FOLDER) as write:
        _lay_folder(read, write, skip)


def _lay_folder(read: int, write: int, skip: Collection[str] = ()) -> None:
    mode = stat.S_IMODE(os.fstat(write).st_mode)
    os.fchmod(write, mode | 0o700)
    with os.scandir(read) as listing:
        entries = [(entry.name, entry.stat(follow_symlinks=False).st_mode) for entry in listing]
    for name, kind in entries:
        if name in tree.NOT_GIVEN or name in skip:
            continue
        if stat.S_ISDIR(kind):
            _make_folder(name, write)
            with _opened(name, OPEN_FOLDER, read) as inner, _opened(name, OPEN_FOLDER, write) as made:
                _lay_folder(inner, made)
        else:
            _clear(name, write)
            _lay_one(name, kind, read, write)
    os.fchmod(write, mode)


def _lay_one(name: str, kind: int, read: int, write: int) -> None:
    if stat.S_ISLNK(kind):
        os.symlink(os.readlink(name, dir_fd=read), name, dir_fd=write)
        return
    with _opened(name, OPEN_SOURCE, read) as source, _opened(name, OPEN_TARGET, write) as made:
        for chunk in tree.chunks(source):
            while chunk:
                chunk = chunk[os.write(made, chunk) :]
        os.fchmod(made, stat.S_IMODE(kind) | 0o600)


def _make_folder(name: str, folder: int) -> None:
    try:
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    os.mkdir(name, 0o755, dir_fd=folder)


def _clear(name: str, folder: int) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except OSError:
        tree.remove(Path(f"/proc/self/fd/{folder}/{name}"))


@contextmanager
def _opened(name: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    fd = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)

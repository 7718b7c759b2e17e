"""The folders that runs live in: outside the project and the store, and swept by who owned them."""

from __future__ import annotations

import fcntl
import os
import stat
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path, PurePath, PurePosixPath
from typing import TYPE_CHECKING

from orvl.errors import UserError, disk_sentence
from orvl.sandbox.guard.limits import RESERVE, RESERVED_SHARE, free_bytes
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_KEPT, ROOM_PER_KEPT = 4096, 16 << 20
"""Runs whose empty folders may stay until the end, and how much of the disk must be free for each: a thousand times of
what they take."""
TAKEN_OVER = ("LANG", "LC_ALL", "LC_CTYPE", "TZ")


@dataclass(frozen=True)
class View:
    """A run's folders, and the path to programs, as a process of the run sees them."""

    workspace: Path
    home: Path
    tmp: Path
    path: str | None

    def environment(self) -> dict[str, str]:
        """A clean environment: nothing of the user's but the path to programs and the language."""
        home = str(self.home)
        own = {
            "HOME": home,
            "TMPDIR": str(self.tmp),
            "XDG_CONFIG_HOME": f"{home}/.config",
            "XDG_CACHE_HOME": f"{home}/.cache",
            "XDG_DATA_HOME": f"{home}/.local/share",
            "XDG_STATE_HOME": f"{home}/.local/state",
            "XDG_RUNTIME_DIR": str(self.tmp),
            "PWD": str(self.workspace),
            "TERM": "dumb",
            "NO_COLOR": "1",
        }
        if self.path is not None:
            own["PATH"] = self.path
        return {name: os.environ[name] for name in TAKEN_OVER if name in os.environ} | own


@dataclass
class DiskRoom:
    """What was free on the disk when a command began, and how many runs at once share it."""

    free: int = 0
    at_once: int = 1
    filled_at: float = 0.0
    """When a run was last ended because it had filled it, by the monotonic clock."""

    @property
    def share(self) -> int:
        """What each of these runs can have for certain."""
        return (self.free - min(RESERVE, self.free // RESERVED_SHARE)) // self.at_once


@dataclass(frozen=True)
class RunFolders:
    """A run's own folders. `logs` is for orvl alone; it is the root itself, because each folder costs time."""

    root: Path
    workspace: Path
    home: Path
    tmp: Path
    logs: Path
    room: DiskRoom = field(default_factory=DiskRoom)
    inside: Path | None = None
    """Where a sandbox shows the workspace, if not at its usual path."""
    shown: Mapping[Path, Path] = field(default_factory=dict)
    """Absolute paths at which a sandbox shows folders of these folders, and which."""

    def make(self) -> None:
        for folder in (self.root, self.workspace, self.home, self.tmp):
            os.mkdir(folder, 0o700)

    def empty(self) -> None:
        """Deletes all that an agent wrote."""
        for folder in (self.workspace, self.home, self.tmp):
            tree.remove(folder)
        self.mend()

    def mend(self) -> list[str]:
        """An agent may have removed, replaced or locked its own folders: they are there again, and it is said."""
        notes = []
        for folder in (self.root, self.workspace, self.home, self.tmp):
            mode = _mode_of(folder)
            if mode is not None and stat.S_ISDIR(mode):
                if mode & 0o700 != 0o700:
                    folder.chmod(0o700)
                continue
            folder.unlink(missing_ok=True)
            folder.mkdir(mode=0o700)
            notes.append(f"the agent removed its own {folder.name} folder")
        return notes

    def remove(self) -> None:
        """Deletes them with all that is in them."""
        # Most folders are empty, and then this is a few calls where `tree.remove` would open and list each.
        with suppress(OSError):
            for folder in (self.workspace, self.home, self.tmp):
                os.rmdir(folder)
            os.rmdir(self.root)
            return
        tree.remove(self.root)

    def are_empty(self) -> bool:
        """Whether a run left nothing at all."""
        own = (self.workspace, self.home, self.tmp)
        return _names_in(self.root, len(own) + 1) == {path.name for path in own} and not any(
            _names_in(path, 1) for path in own
        )

    def put(self, name: str, content: bytes) -> None:
        """Writes a file into HOME, whatever links or files an agent left in its way."""
        self.put_into(self.home, PurePosixPath(name), content)

    def make_shown(self, workspace: Path) -> dict[Path, Path]:
        """The workspace and all else that is shown at absolute paths, those above others first; each is made anew where
        an agent has put a link or a file in its place, or in that of another inside of it."""
        mounts = dict(sorted({workspace: self.workspace, **self.shown}.items()))
        for path, source in mounts.items():
            if source != self.workspace:
                self._make_folder(source)
            for inner in mounts:
                if path in inner.parents:
                    self._make_folder(source / inner.relative_to(path))
        return mounts

    def _make_folder(self, folder: Path) -> None:
        base = next(base for base in (self.workspace, self.home, self.tmp) if folder.is_relative_to(base))
        self.make_place(base, folder.relative_to(base), folder=True)

    @staticmethod
    def put_into(base: Path, name: PurePath, content: bytes, mode: int = 0o600) -> None:
        """Writes a file into one of the folders, whatever is in its way."""
        with _inner_folder(base, name) as (folder, last):
            _clear(folder, last)
            fd = os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode, dir_fd=folder)
            with open(fd, "wb") as file:
                os.fchmod(fd, mode)
                file.write(content)

    @staticmethod
    def link(base: Path, name: PurePath, text: str) -> None:
        """Makes a symbolic link in one of the folders, unless something is there."""
        with _inner_folder(base, name) as (folder, last), suppress(FileExistsError):
            os.symlink(text, last, dir_fd=folder)

    @staticmethod
    def make_place(base: Path, name: PurePath, *, folder: bool) -> None:
        """Makes a plain file or folder over which something can be shown, whatever an agent left in its way."""
        with _inner_folder(base, name) as (inside, last):
            mode = os.stat(last, dir_fd=inside, follow_symlinks=False).st_mode if _is_there(inside, last) else 0
            if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
                _clear(inside, last)
                if folder:
                    os.mkdir(last, 0o700, dir_fd=inside)
                else:
                    os.close(os.open(last, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=inside))


@contextmanager
def _inner_folder(base: Path, name: PurePath) -> Iterator[tuple[int, str]]:
    """The folder in which a path ends, opened without following any link, and the path's last part."""
    *parents, last = name.parts
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        for part in parents:
            inner = _folder_in(folder, part)
            os.close(folder)
            folder = inner
        yield folder, last
    finally:
        os.close(folder)


def _names_in(folder: Path, most: int) -> set[str]:
    """The first names in a folder; a name that nothing has where it is none, or cannot be read."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return {""}
    try:
        with os.scandir(fd) as entries:
            return {entry.name for entry in islice(entries, most)}
    except OSError:
        return {""}
    finally:
        os.close(fd)


def _is_there(folder: int, name: str) -> bool:
    try:
        os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return False
    return True


def _mode_of(path: Path) -> int | None:
    try:
        return os.lstat(path).st_mode
    except OSError:
        return None


def _folder_in(folder: int, name: str) -> int:
    """Opens a folder inside an open one; makes it, and makes way for it, where it is not there."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        inner = os.open(name, flags, dir_fd=folder)
    except OSError:
        _clear(folder, name)
        os.mkdir(name, 0o700, dir_fd=folder)
        return os.open(name, flags, dir_fd=folder)
    if (mode := stat.S_IMODE(os.fstat(inner).st_mode)) & 0o700 != 0o700:
        os.fchmod(inner, mode | 0o700)  # root gets in; whom the file is for would not
    return inner


def _clear(folder: int, name: str) -> None:
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        pass
    except OSError:
        tree.remove(Path(f"/proc/self/fd/{folder}/{name}"))


class WorkDir:
    """This process's own folder for runs. A lock on it says that it is alive."""

    def __init__(self, at_once: int = 1) -> None:
        # Not tempfile.gettempdir(): where TMPDIR is full, that goes elsewhere without a word, and nobody sweeps here.
        base = Path(os.environ.get("TMPDIR") or tempfile.gettempdir()).absolute() / f"orvl-{os.getuid()}"
        try:
            base.mkdir(mode=0o700, exist_ok=True)
            if base.lstat().st_uid != os.getuid() or base.is_symlink():
                raise UserError(f"{base} belongs to somebody else; set TMPDIR to a folder of your own.")
            base.chmod(0o700)
            self.root, self.lock_fd = claim(base, "w")
            self.room = DiskRoom(free_bytes(str(self.root)), at_once)
            self._most_kept = min(MOST_KEPT, self.room.free // ROOM_PER_KEPT)
        except OSError as error:
            raise no_room(error) from error
        self._next = 0
        self._kept: list[RunFolders] = []

    def place(self) -> RunFolders:
        """Where the folders of one run will be."""
        self._next += 1
        root = self.root / f"{self._next:x}"
        return RunFolders(root, root / "workspace", root / "home", root / "tmp", root, self.room)

    def new(self) -> RunFolders:
        """Fresh empty folders for one run."""
        folders = self.place()
        folders.make()
        return folders

    def keeps(self, folders: RunFolders) -> bool:
        """Whether the folders of a run that is over stay until the end, as they do if nothing is in them.

        ext4 gives nobody the inode of what was deleted within the last minute, but looks at each of them for every new
        folder: to delete at once would make the next thousand runs ever slower.
        """
        if len(self._kept) >= self._most_kept or not folders.are_empty():
            return False
        self._kept.append(folders)
        return True

    def close(self) -> None:
        for folders in self._kept:
            folders.remove()
        tree.remove(self.root)
        os.close(self.lock_fd)


def no_room(error: OSError) -> UserError:
    return UserError(f"Runs need a temporary folder: {disk_sentence(error)}. Set TMPDIR to another one.")


def claim(base: Path, prefix: str) -> tuple[Path, int]:
    """A new folder in `base`, and an open lock on it that says its owner is alive; those of the dead are removed."""
    with _locked(base):
        sweep(base, prefix)
        folder = Path(tempfile.mkdtemp(dir=base, prefix=prefix))
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        fcntl.flock(fd, fcntl.LOCK_EX)
    return folder, fd


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def sweep(base: Path, prefix: str) -> None:
    """Removes the folders with this prefix of orvl processes that are gone, told by their lock."""
    for folder in (path for path in base.iterdir() if path.name.startswith(prefix)):
        with suppress(OSError):
            fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                tree.remove(folder)
            finally:
                os.close(fd)


def is_alive(folder: Path) -> bool:
    """Whether the orvl process that owns a folder is there, told by its lock."""
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(fd)
    return False

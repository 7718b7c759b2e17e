"""The folders that runs live in: outside the project and the store, and swept by who owned them."""

from __future__ import annotations

import fcntl
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from orvl import tree
from orvl.errors import UserError, disk_sentence

LOCK = "owner.lock"


@dataclass(frozen=True)
class RunFolders:
    """A run's own folders. `logs` is for orvl alone."""

    root: Path
    workspace: Path
    home: Path
    tmp: Path
    logs: Path

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
        kept = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
        return {name: os.environ[name] for name in kept if name in os.environ} | own


class WorkDir:
    """This process's own folder for runs. A lock on it says that it is alive."""

    def __init__(self) -> None:
        base = Path(tempfile.gettempdir()) / f"orvl-{os.getuid()}"
        try:
            base.mkdir(mode=0o700, exist_ok=True)
            if base.lstat().st_uid != os.getuid() or base.is_symlink():
                raise UserError(f"{base} belongs to somebody else; set TMPDIR to a folder of your own.")
            base.chmod(0o700)
            sweep(base)
            self.root = Path(tempfile.mkdtemp(dir=base, prefix="w"))
            self.lock_fd = os.open(self.root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise UserError(
                f"Runs need a temporary folder: {disk_sentence(error)}. Set TMPDIR to another one."
            ) from error
        fcntl.flock(self.lock_fd, fcntl.LOCK_EX)
        self._next = 0

    def new(self) -> RunFolders:
        """Fresh empty folders for one run."""
        self._next += 1
        root = self.root / f"{self._next:x}"
        folders = RunFolders(root, root / "workspace", root / "home", root / "tmp", root / "logs")
        for folder in (folders.root, folders.workspace, folders.home, folders.tmp, folders.logs):
            os.mkdir(folder, 0o700)
        return folders

    def close(self) -> None:
        tree.remove(self.root)
        os.close(self.lock_fd)


def sweep(base: Path) -> None:
    """Removes the folders of orvl processes that are gone, told by their lock."""
    for folder in base.iterdir():
        with suppress(OSError):
            fd = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                tree.remove(folder)
            finally:
                os.close(fd)

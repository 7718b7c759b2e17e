"""What an eval's runs start from: laid out and committed once, then copied afresh for each run."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.sandbox.programs import search_path
from orvl.store import tree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

FEW = 60
"""Entries up to which copying takes less time than starting `cp`."""
CP = ("cp", "-R", "-P", "--preserve=mode,timestamps", "--reflink=auto", "-T", "--")
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
SOURCE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
TARGET = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
BRANCH = "refs/heads/main"
IDENTITY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "orvl"), ("EMAIL", "orvl@localhost"), ("DATE", "2000-01-01T00:00:00+0000"))
}
ALONE = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_TEMPLATE_DIR": "",
    "GIT_DIR": tree.REPOSITORY,
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
"""With GIT_DIR set, git neither looks for a repository further up nor minds whose folder it is."""
CONFIG = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "core.autocrlf": "false",
    "core.safecrlf": "false",
    "core.logAllRefUpdates": "false",
    "core.protectHFS": "false",
    "core.protectNTFS": "false",
    "core.compression": "1",
    "commit.gpgSign": "false",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "advice.addEmbeddedRepo": "false",
}
"""Names that only other systems mind are allowed."""


def lay_out(source: Path | None, workspace: Path) -> None:
    """Lays an eval's `workspace/` into an empty folder, without bytecode and without any `.git`, at any depth."""
    if source is not None:
        _copy_inside(source.resolve(), workspace, skip=tree.NOT_GIVEN)


def commit(workspace: Path) -> None:
    """Makes the folder a git repository with exactly one commit, no remote, no reflog, the same bytes every time.

    What is in the user's or the system's configuration or environment plays no part. What `.gitignore` names stays,
    untracked; a repository further down becomes one entry, as git has it. The objects lie in one pack, so that copies
    are quick; the index has no times or inodes, which a copy would change, so that git compares contents once.
    """
    if shutil.which("git") is None:
        raise UserError("Evals with starting files need git, and there is none on the PATH: apt install git")
    repository = workspace / tree.REPOSITORY
    tree.remove(repository)
    with tempfile.TemporaryDirectory(prefix="orvl-git-") as home:
        _git(workspace, home, "init", "--quiet")
        (repository / "HEAD").write_text(f"ref: {BRANCH}\n")
        _git(workspace, home, "add", "--all")
        files = _git(workspace, home, "write-tree")
        _git(workspace, home, "update-ref", BRANCH, _git(workspace, home, "commit-tree", files, "-m", "Start"))
        _git(workspace, home, "repack", "-a", "-d", "-n", "--quiet", "--window=0")
        _git(workspace, home, "read-tree", BRANCH)


def _git(workspace: Path, home: str, *words: str) -> str:
    """What git prints, in an environment of nothing but what is said here."""
    settings = [word for name, value in CONFIG.items() for word in ("-c", f"{name}={value}")]
    done = subprocess.run(
        ["git", *settings, *words],
        cwd=workspace,
        env={"PATH": search_path(), "HOME": home} | ALONE | IDENTITY,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        umask=0o022,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip() or f"status {done.returncode}"
        raise UserError(f"git {words[0]} does not take the starting files: {'; '.join(said.splitlines()[-2:])}")
    return done.stdout.decode().strip()


def copy(source: Path, target: Path) -> None:
    """A fresh copy of a prepared folder into an empty one: modes, times and links as they are, no file shared."""
    if _has_few(source) or not _copied_by_cp(source, target):
        _copy_inside(source, target)
        with opened(target, FOLDER) as made:
            _same_mode_and_times(made, source.stat())


def _has_few(source: Path) -> bool:
    count = 0
    for _, folders, files, _ in os.fwalk(source):
        count += len(folders) + len(files)
        if count > FEW:
            return False
    return True


def _copied_by_cp(source: Path, target: Path) -> bool:
    """Whether GNU's `cp` did it; if it is another or failed, the target is empty again."""
    words = [*CP, str(source), str(target)]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except FileNotFoundError:
        return False
    if done.returncode:
        target.chmod(0o700)
        for left in target.iterdir():
            tree.remove(left)
    return done.returncode == 0


def _copy_inside(source: Path, target: Path, skip: Collection[str] = ()) -> None:
    with opened(source, FOLDER) as read, opened(target, FOLDER) as write:
        _copy_folder(read, write, skip)


def _copy_folder(read: int, write: int, skip: Collection[str]) -> None:
    with os.scandir(read) as found:
        entries = [entry for entry in found if entry.name not in skip]
    for entry in entries:
        _copy_one(entry.name, entry.stat(follow_symlinks=False), read, write, skip)


def _copy_one(name: str, info: os.stat_result, read: int, write: int, skip: Collection[str]) -> None:
    """Everything is opened inside the folder that holds it, so that no link leads out and no path is too long."""
    if stat.S_ISDIR(info.st_mode):
        os.mkdir(name, 0o700, dir_fd=write)
        with opened(name, FOLDER, read) as source, opened(name, FOLDER, write) as target:
            _copy_folder(source, target, skip)
            _same_mode_and_times(target, info)
    elif stat.S_ISREG(info.st_mode):
        with opened(name, SOURCE, read) as source, opened(name, TARGET, write) as target:
            for chunk in tree.chunks(source):
                while chunk:
                    chunk = chunk[os.write(target, chunk) :]
            _same_mode_and_times(target, info)
    elif stat.S_ISLNK(info.st_mode):
        os.symlink(os.readlink(name, dir_fd=read), name, dir_fd=write)
        os.utime(name, ns=_times(info), dir_fd=write, follow_symlinks=False)
    else:
        os.mknod(name, info.st_mode, info.st_rdev, dir_fd=write)
        os.chmod(name, stat.S_IMODE(info.st_mode), dir_fd=write)
        os.utime(name, ns=_times(info), dir_fd=write)


def _same_mode_and_times(target: int, info: os.stat_result) -> None:
    os.fchmod(target, stat.S_IMODE(info.st_mode))
    os.utime(target, ns=_times(info))


def _times(info: os.stat_result) -> tuple[int, int]:
    return info.st_atime_ns, info.st_mtime_ns


@contextmanager
def opened(name: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    fd = os.open(name, flags, 0o600, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)

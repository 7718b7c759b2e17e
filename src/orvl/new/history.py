"""A range of commits as an eval needs it: what a run starts from, and what each commit changed."""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.new.repository import SUBMODULE
from orvl.project.names import count
from orvl.store.beneath import put, remove_in
from orvl.types import MEBI

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from orvl.new.repository import Commit, Repository, Tree, TreeEntry

MOST_TURNS = 20
MOST_BYTES, LARGEST, MOST_CHANGED = 512 * MEBI, 64 * MEBI, 128 * MEBI
INSTALLED = ("node_modules", ".venv", "venv", "build", "dist", "site-packages", "__pycache__", ".eggs", ".tox", ".nox")
"""Folders that programs fill, which may hold a copy of what a later commit brings."""
INSTALLED_LIKE = ("*.egg-info", "*.dist-info", "*.pyc")
HIDDEN = "checks"
"""Where the sandbox shows an eval's hidden files, inside the workspace."""
NAME = re.compile(r"[A-Za-z_$][\w$]+")
LFS = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class CommitStep:
    """What one commit changed; a renamed file is a deleted one and a new one."""

    commit: Commit
    tree: Tree
    changed: Mapping[str, TreeEntry]
    deleted: tuple[str, ...]

    @property
    def short(self) -> str:
        return self.commit.id[:12]


@dataclass(frozen=True)
class History:
    """What a run starts from, and the steps from there."""

    repository: Repository
    before: str
    base: Tree
    steps: tuple[CommitStep, ...]
    left_out: tuple[str, ...]
    """The folders of installed copies that are in none of the trees."""
    contents: dict[str, bytes] = field(default_factory=dict)
    """Of all files that any of the trees has, by blob."""

    def tree(self, turn: int) -> Tree:
        """The files after a turn; 0: before the first."""
        return self.steps[turn - 1].tree if turn else self.base

    def read(self, entry: TreeEntry) -> bytes:
        return self.contents[entry.id]

    def text(self, entry: TreeEntry) -> str | None:
        """A file's text; None where it is none."""
        content = self.contents[entry.id]
        try:
            return None if b"\0" in content or entry.is_link else content.decode()
        except UnicodeDecodeError:
            return None

    @cached_property
    def base_text(self) -> str:
        """All that a run starts from, names of files included, as one text."""
        return "\n".join(f"{path}\n{self.text(entry) or ''}" for path, entry in self.base.items()) + "\n"

    @cached_property
    def base_names(self) -> frozenset[str]:
        return frozenset(NAME.findall(self.base_text))

    def lay(self, entries: Iterable[TreeEntry], folder: Path) -> None:
        """Writes files and links below a folder; whatever is in their way is replaced."""
        folder.mkdir(parents=True, exist_ok=True)
        for entry in entries:
            put(folder, entry.path, self.read(entry), entry.permissions)
            if entry.is_link:
                os.remove(folder / entry.path)
                os.symlink(os.fsdecode(self.read(entry)), folder / entry.path)

    def go_on(self, turn: int, folder: Path) -> None:
        """Makes of a folder with the state before a turn the one after it."""
        step = self.steps[turn - 1]
        for path in step.deleted:
            _delete(folder, path)
        self.lay(step.changed.values(), folder)


def _delete(folder: Path, path: str) -> None:
    """Takes a file away, with the folders that it leaves empty."""
    here = folder / posixpath.dirname(path)
    if os.path.lexists(folder / path):
        fd = os.open(here, os.O_RDONLY | os.O_DIRECTORY)
        try:
            remove_in(fd, posixpath.basename(path))
        finally:
            os.close(fd)
    while here != folder and here.is_dir() and not any(here.iterdir()):
        here.rmdir()
        here = here.parent


def read_history(repository: Repository, written: str, kept: Sequence[str] = ()) -> History:
    """Reads a range of commits; what an eval cannot be made of is a sentence. `kept` are folders that look installed
    and are not."""
    before, commits = repository.commits(written)
    if len(commits) > MOST_TURNS:
        raise UserError(f"'{written}' has {count(len(commits), 'commit')}, a turn each; name at most {MOST_TURNS}.")
    trees = [repository.tree(id) for id in (before, *(commit.id for commit in commits))]
    left_out = sorted({place for tree in trees for path in tree if (place := installed_copy(path, kept))})
    trees = [{path: one for path, one in tree.items() if not installed_copy(path, kept)} for tree in trees]
    for tree in trees:
        _check(tree)
    steps = tuple(_step(*row) for row in zip(commits, trees[:-1], trees[1:], strict=True))
    history = History(repository, before, trees[0], steps, tuple(left_out))
    with repository.blobs() as blobs:
        for tree in trees:
            for entry in tree.values():
                if entry.id not in history.contents:
                    history.contents[entry.id] = blobs[entry.id]
    _check_links(history)
    return history


def installed_copy(path: str, kept: Sequence[str] = ()) -> str | None:
    """The folder or file on a path that some program made, if there is one."""
    parts = path.split("/")
    for place, part in enumerate(parts, 1):
        is_file = place == len(parts)
        here = "/".join(parts[:place])
        if any(here == one.strip("/") for one in kept):
            return None
        if (part in INSTALLED and not is_file) or any(fnmatchcase(part, like) for like in INSTALLED_LIKE):
            return here
    return None


def _check(tree: Tree) -> None:
    for entry in tree.values():
        if entry.mode == SUBMODULE:
            raise UserError(
                f"'{entry.path}' is a submodule: its files are in another repository, which an eval does not have. "
                "Name a range before it was added, or a repository without submodules."
            )
        if entry.path.split("/")[0] == HIDDEN:
            raise UserError(
                f"The repository has '{HIDDEN}' at its top, where orvl shows hidden tests to a check. No eval can be "
                "made from it."
            )
        if entry.size > LARGEST:
            size = f"{entry.size / MEBI:.0f} MiB"
            raise UserError(f"'{entry.path}' has {size}; files of an eval may have {LARGEST // MEBI} MiB at most.")
    if (total := sum(entry.size for entry in tree.values())) > MOST_BYTES:
        most = MOST_BYTES // MEBI
        raise UserError(f"The files have {total / MEBI:.0f} MiB in all; an eval may start from {most} MiB.")


def _step(commit: Commit, before: Tree, after: Tree) -> CommitStep:
    changed = {
        path: entry
        for path, entry in after.items()
        if path not in before or (entry.id, entry.mode) != (before[path].id, before[path].mode)
    }
    deleted = tuple(path for path in before if path not in after)
    for entry in changed.values():
        if entry.is_link or (entry.path in before and before[entry.path].is_link):
            raise UserError(
                f"The commit {commit.id[:12]} changes the link '{entry.path}', which a control cannot write. Name a "
                "range without that commit."
            )
    if odd := next((path for path in deleted if not _fits_a_line(path)), None):
        raise UserError(
            f"The commit {commit.id[:12]} deletes {odd!r}, a name that a list of files cannot hold. Name a range "
            "without that commit."
        )
    if (size := sum(entry.size for entry in changed.values())) > MOST_CHANGED:
        most = MOST_CHANGED // MEBI
        raise UserError(f"The commit {commit.id[:12]} changes {size / MEBI:.0f} MiB; a turn may have {most} MiB.")
    if not changed and not deleted:
        raise UserError(f"The commit {commit.id[:12]} changes nothing that an eval has. Name a range without it.")
    return CommitStep(commit, after, changed, deleted)


def _fits_a_line(path: str) -> bool:
    return path.isprintable() and path == path.strip() and not any("\ud800" <= sign <= "\udfff" for sign in path)


def _check_links(history: History) -> None:
    for entry in history.base.values():
        if not entry.is_link:
            continue
        target = os.fsdecode(history.read(entry))
        inside = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target))
        if posixpath.isabs(target) or inside.split("/")[0] == "..":
            raise UserError(f"'{entry.path}' is a link to '{target}', outside of the repository. No eval can have it.")


def large_file_pointers(history: History) -> list[str]:
    """Files whose contents Git LFS keeps elsewhere: all that there is of them is a pointer."""
    return [path for path, entry in history.base.items() if history.read(entry).startswith(LFS)]

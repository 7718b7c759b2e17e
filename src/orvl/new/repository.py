"""A git repository as data: commits, trees and blobs, read without executing anything that it brings along.

Only plumbing that reads objects is called: no working tree, no index, no diff, no archive. So hooks, filters,
attributes, a file system monitor, pagers, signature programs and textconv drivers of the repository never run. A
partial clone could make git fetch what is missing, by a program that the repository names: no protocol is allowed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.errors import UserError
from orvl.run.start_tree import ALONE, CONFIG
from orvl.sandbox.programs import search_path
from orvl.store.beneath import stays_inside
from orvl.store.tree import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

NOTHING_RUNS = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_GRAFT_FILE": os.devnull,
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_SSH_COMMAND": "false",
    "GIT_ASKPASS": "false",
    "HOME": "/nonexistent",
}
ONLY_OBJECTS = {
    "core.commitGraph": "false",
    "core.sshCommand": "false",
    "credential.helper": "",
    "protocol.allow": "never",
}
ENTRY = re.compile(rb"(\d+) (\w+) ([0-9a-f]+) +(\d+|-|BAD)\t(.*)", re.DOTALL)
SUBMODULE, LINK, EXECUTABLE = "160000", "120000", "100755"


@dataclass(frozen=True)
class TreeEntry:
    """A file, a link or a submodule of a tree; its path is relative to the top."""

    path: str
    mode: str
    id: str
    size: int

    @property
    def is_link(self) -> bool:
        return self.mode == LINK

    @property
    def permissions(self) -> int:
        return 0o755 if self.mode == EXECUTABLE else 0o644


@dataclass(frozen=True)
class Commit:
    """A commit, with what its author wrote about it."""

    id: str
    parents: tuple[str, ...]
    message: str


Tree = dict[str, TreeEntry]


class Repository:
    """A repository around a folder."""

    def __init__(self, folder: Path) -> None:
        if shutil.which("git") is None:
            raise UserError("Reading commits needs git, and there is none on the PATH: apt install git")
        self.top, self._git_dir = _found(folder)

    @property
    def name(self) -> str:
        """The name of its folder."""
        name = self.top.name.removesuffix(".git").encode("utf-8", "replace").decode()
        return name if name.strip() else "a repository"

    def commits(self, written: str) -> tuple[str, list[Commit]]:
        """The commit before a range such as `A..B`, and the commits in it, from the first to the last.

        A merge is one step: what it brought into the line of its first parents.
        """
        before, after = self._ends(written)
        lines = self._git("rev-list", "--first-parent", "--reverse", f"{before}..{after}").decode().split()
        if not lines:
            turned = self._git("rev-list", "--max-count=1", f"{after}..{before}").strip()
            hint = " It is the other way round." if turned else ""
            raise UserError(f"The range '{written}' has no commits.{hint} Name it as OLD..NEW, such as HEAD~3..HEAD.")
        found = [self._commit(id) for id in lines]
        if before not in found[0].parents[:1]:
            real = found[0].parents[0][:12] if found[0].parents else "nothing"
            raise UserError(
                f"'{written}' is no straight line of commits: the first one after {before[:12]} comes from {real}. "
                f"Name a commit on the main line of the branch, such as {real}."
            )
        return before, found

    def _ends(self, written: str) -> tuple[str, str]:
        before, dots, after = written.partition("..")
        if after.startswith("."):
            raise UserError(f"'{written}' has three dots; a range is written OLD..NEW.")
        if dots:
            return self._resolved(before or "HEAD"), self._resolved(after or "HEAD")
        one = self._commit(self._resolved(before))
        if not one.parents:
            raise UserError(f"'{written}' is the first commit of the repository, so there is nothing to start from.")
        return one.parents[0], one.id

    def _resolved(self, name: str) -> str:
        """The commit that a name stands for."""
        if name.startswith("-") or not name.isprintable():
            raise UserError(f"'{name}' is no commit.")
        found = self._run("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        if found.returncode:
            hint = " This clone is shallow: git fetch --unshallow" if self.is_shallow else ""
            raise UserError(f"There is no commit '{name}' in {self.top}.{hint}")
        return found.stdout.decode().strip()

    @cached_property
    def is_shallow(self) -> bool:
        return self._run("rev-parse", "--is-shallow-repository").stdout.strip() == b"true"

    def _commit(self, id: str) -> Commit:
        head, _, message = self._git("cat-file", "commit", id).partition(b"\n\n")
        parents = tuple(line[7:].decode() for line in head.split(b"\n") if line.startswith(b"parent "))
        encoding = next((line[9:].decode() for line in head.split(b"\n") if line.startswith(b"encoding ")), "utf-8")
        return Commit(id, parents, self._message(id, parents, _decoded(message, encoding)))

    def _message(self, id: str, parents: tuple[str, ...], own: str) -> str:
        """What a commit's author wrote; of a merge, also the first lines of what it merged."""
        if len(parents) < 2:
            return own
        merged = self._git("rev-list", "--no-merges", "--reverse", "--max-count=50", f"{parents[0]}..{id}")
        subjects = [self._commit(one).message.strip().split("\n")[0] for one in merged.decode().split() if one != id]
        return "\n".join([own.rstrip(), "", *(f"- {subject}" for subject in subjects)])

    def tree(self, commit: str) -> Tree:
        """All entries below the top of a commit."""
        tree: Tree = {}
        for row in filter(None, self._git("ls-tree", "-r", "-l", "-z", "--full-tree", commit).split(b"\0")):
            match = ENTRY.fullmatch(row)
            path = os.fsdecode(match[5]) if match else ""
            if match is None or not stays_inside(path) or REPOSITORY in path.split("/") or path in tree:
                raise UserError(f"The tree of {commit[:12]} has an entry that no file can be: {row[-80:]!r}.")
            if match[4] == b"BAD":
                raise _missing(match[3].decode())
            size = 0 if match[4] == b"-" else int(match[4])
            tree[path] = TreeEntry(path, match[1].decode(), match[3].decode(), size)
        return tree

    @contextmanager
    def blobs(self) -> Iterator[BlobReader]:
        """Reads contents of files, one process for all of them."""
        process = subprocess.Popen(
            self._words("cat-file", "--batch"),
            env=self._environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        try:
            yield BlobReader(process)
        finally:
            process.kill()
            process.communicate()

    def _git(self, *words: str) -> bytes:
        done = self._run(*words)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines() or [f"status {done.returncode}"]
            raise UserError(f"git {words[0]} cannot read {self.top}: {said[-1]}")
        return done.stdout

    def _run(self, *words: str) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            self._words(*words), env=self._environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )

    def _words(self, *words: str) -> list[str]:
        settings = [word for name, value in {**CONFIG, **ONLY_OBJECTS}.items() for word in ("-c", f"{name}={value}")]
        return ["git", "--no-pager", *settings, *words]

    @property
    def _environment(self) -> Mapping[str, str]:
        return {"PATH": search_path()} | ALONE | NOTHING_RUNS | {"GIT_DIR": str(self._git_dir)}


@dataclass(frozen=True)
class BlobReader:
    """The contents of blobs."""

    process: subprocess.Popen[bytes]

    def __getitem__(self, id: str) -> bytes:
        send, receive = self.process.stdin, self.process.stdout
        assert send is not None and receive is not None
        send.write(f"{id}\n".encode())
        send.flush()
        head = receive.readline().split()
        if len(head) != 3 or head[1] != b"blob":
            raise _missing(id)
        content = receive.read(int(head[2]))
        receive.read(1)
        return content


def _missing(id: str) -> UserError:
    return UserError(f"The file {id[:12]} is not in this clone of the repository. Fetch it whole: git fetch --refetch")


def _found(folder: Path) -> tuple[Path, Path]:
    """The top of the repository around a folder, and where git keeps it. It may belong to somebody else."""
    if not folder.is_dir():
        raise UserError(f"There is no folder {folder}.")
    for here in (folder.resolve(), *folder.resolve().parents):
        place = here / ".git"
        if place.is_dir():
            return here, place
        if place.is_file():
            text = place.read_text("utf-8", "replace").strip()
            if text.startswith("gitdir: "):
                return here, (here / text[8:]).resolve()
        if (here / "HEAD").is_file() and (here / "objects").is_dir() and (here / "refs").is_dir():
            return here, here
    raise UserError(f"{folder} is in no git repository. Name one: --repository DIR")


def _decoded(message: bytes, encoding: str) -> str:
    try:
        return message.decode(encoding)
    except (LookupError, UnicodeDecodeError):
        return message.decode("utf-8", "replace")

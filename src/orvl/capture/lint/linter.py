"""What a linter or formatter is to orvl: how it is recognised, run, read and silenced. Each has its own file."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from pathlib import Path
from posixpath import basename, join, normpath, splitext
from typing import Any, Protocol, cast

from orvl.capture.lint.workspace import Workspace, folder_of, lies_in, shown
from orvl.errors import ChildFailed, LinterFailed
from orvl.worker import call_once

MAX_ISSUES = 5_000
SMALL = 256 << 10
SECONDS = 30.0
LONGEST_ANSWER = 8 << 20
MAX_MESSAGE = 200
MAX_ROOTS = 5
IN_FOLDER = 'cd -- "$1" && shift && exec "$@"'


@dataclass(frozen=True, order=True)
class LintIssue:
    """One thing that a linter reports; line 0 is for the whole file."""

    tool: str
    path: str
    line: int
    rule: str
    message: str

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message} ({self.tool}: {self.rule})" if self.rule else f"{place}: {self.message}"


def issue(tool: str, path: str, line: object, rule: object, message: object) -> LintIssue:
    """An issue whose texts are on one line and of bounded length, whatever a program printed."""
    number = line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else 0
    words = " ".join(str(message or "").split())
    return LintIssue(tool, path, number, shown(str(rule or "")[:80]), shown(words[:MAX_MESSAGE]))


@dataclass(frozen=True)
class LintRoot:
    """A folder that a linter runs in, and the files that configure it there."""

    linter: Linter
    folder: str
    configs: tuple[str, ...]
    endings: frozenset[str] | None = None
    """File name endings that it looks at; None for all."""

    @property
    def name(self) -> str:
        return self.linter.name

    def looks_at(self, path: str) -> bool:
        return lies_in(path, self.folder) and (self.endings is None or splitext(path)[1] in self.endings)

    def arguments(self, paths: Iterable[str]) -> list[str]:
        """Paths as seen from the folder; the dot keeps names such as `-x.py` from being read as options."""
        return [f"./{path[len(self.folder) + 1 :] if self.folder else path}" for path in paths]


@dataclass(frozen=True)
class LintCommand:
    """What to run, and what it must be able to read besides the workspace."""

    root: LintRoot
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()

    @property
    def words(self) -> list[str]:
        """The whole command line, which starts in the workspace."""
        return ["/bin/sh", "-c", IN_FOLDER, "sh", f"./{self.root.folder}", *self.argv]


@dataclass(frozen=True)
class LintOutput:
    """What a program printed, and its exit status."""

    status: int | None
    out: str
    err: str
    workspace: str
    """The workspace as the program saw it."""
    folder: str
    """The folder of the workspace that the program ran in."""

    def path(self, name: str) -> str:
        """A path in the workspace."""
        name = name.removeprefix(self.workspace.rstrip("/") + "/") if name.startswith("/") else join(self.folder, name)
        return shown(normpath(name))

    def rows(self) -> list[dict[str, Any]]:
        """The objects of a JSON array; raises LinterFailed if that is not what was printed."""
        try:
            rows = json.loads(self.out)
        except (ValueError, RecursionError):
            rows = None
        if not isinstance(rows, list):
            raise LinterFailed(self.reason())
        return [row for row in rows if isinstance(row, dict)]

    def reason(self) -> str:
        """What the program says about its own failure, on one line."""
        lines = [line.strip() for line in (self.err.strip() or self.out.strip()).splitlines()]
        lines = [line for line in lines if line and not line.startswith(("Oops! Something", "ESLint:", "at ", "|"))]
        text = "; ".join(lines[:4]).replace(self.workspace.rstrip("/") + "/", "")[:300]
        return shown(text) or f"it ended with status {self.status} and printed nothing"


Run = Callable[[LintCommand], Awaitable[LintOutput]]


class Linter(Protocol):
    """A linter or formatter; what it does not state has the default here."""

    name: str
    suppression: re.Pattern[str] | None = None
    """A comment that turns it off for a line or a file."""
    file_suppression: re.Pattern[str] | None = None
    """One that turns it off, or some of its rules, for all of a file or for all that follows."""
    npm_package: str | None = None
    """The package of its program, which a workspace brings along."""
    package_keys: tuple[str, ...] = ()
    """Keys of package.json that configure it."""
    pyproject_table: str | None = None
    """Table under `tool` in pyproject.toml that configures it."""
    other_configs: re.Pattern[str] | None = None
    """Names of files that change what it reports, but do not turn it on."""
    affected_by: tuple[str, ...] = ()
    """Endings of files whose change affects its reports on other files."""

    def roots(self, files: Workspace) -> list[LintRoot]:
        """The folders that it has to run in, by the workspace's configuration files."""
        ...

    async def check(self, root: LintRoot, paths: Sequence[str], files: Workspace, run: Run) -> list[LintIssue]:
        """Its issues with some files; raises LinterMissing or LinterFailed if it cannot look at them."""
        ...


class ProgramLinter(Linter, Protocol):
    """A linter that is a program; its configuration may be one too, so it runs in a sandbox."""

    @abstractmethod
    def commands(self, root: LintRoot, paths: Sequence[str], files: Workspace) -> list[LintCommand]:
        """How to run it on some files; raises LinterMissing if that is impossible."""

    @abstractmethod
    def issues(self, output: LintOutput) -> list[LintIssue]:
        """What its output says; raises LinterFailed if it did not get to look at files."""

    async def check(self, root: LintRoot, paths: Sequence[str], files: Workspace, run: Run) -> list[LintIssue]:
        found = []
        for command in self.commands(root, paths, files):
            found += await self._issues(await run(command))
        return found

    async def _issues(self, output: LintOutput) -> list[LintIssue]:
        """Its output may repeat anything that the agent wrote, so much of it is read in a process with a deadline."""
        if len(output.out) + len(output.err) <= SMALL:
            return self.issues(output)[:MAX_ISSUES]
        facts = (output.status, output.err[:SMALL], output.workspace, output.folder)
        place, data = f"{__name__}:issues_in", output.out.encode("utf-8", "replace")
        try:
            found = await call_once(place, data, self.name, *facts, seconds=SECONDS, longest=LONGEST_ANSWER)
        except ChildFailed as error:
            raise LinterFailed(f"what it printed cannot be read: it {error}") from error
        if isinstance(found, str):
            raise LinterFailed(found)
        return [LintIssue(*row) for row in found]


def issues_in(
    out: bytes, name: str, status: int | None, err: str, workspace: str, folder: str
) -> list[tuple[Any, ...]] | str:
    """In a worker: a linter's issues by its output, or why there are none."""
    from orvl.capture.lint.registry import LINTERS

    linter = cast("ProgramLinter", LINTERS[name])
    try:
        found = linter.issues(LintOutput(status, out.decode(), err, workspace, folder))
    except LinterFailed as error:
        return str(error)
    return [astuple(issue) for issue in found[:MAX_ISSUES]]


def named(files: Workspace, names: Iterable[str]) -> list[str]:
    """The project's own files of some names, those nearest to the top first."""
    wanted = set(names)
    return sorted((path for path in files.own if basename(path) in wanted), key=lambda path: (path.count("/"), path))


def outermost(paths: Iterable[str]) -> list[str]:
    """The folders of some files, without those inside another."""
    folders = sorted({folder_of(path) for path in paths}, key=lambda folder: (folder.count("/"), folder))
    kept: list[str] = []
    for folder in folders:
        if not any(lies_in(folder, other) for other in kept):
            kept.append(folder)
    return kept[:MAX_ROOTS]


def nearest(roots: Iterable[LintRoot], path: str) -> list[LintRoot]:
    """The roots that look at a file: for each linter, the nearest one."""
    best: dict[str, LintRoot] = {}
    for root in roots:
        if root.looks_at(path) and (root.name not in best or len(root.folder) > len(best[root.name].folder)):
            best[root.name] = root
    return list(best.values())

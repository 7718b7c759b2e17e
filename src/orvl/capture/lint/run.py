"""Runs the project's own linters and formatters, each state of the workspace in a fresh sandbox."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Container, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.capture.lint.configs import MAX_EDITS, configs_of, edits, with_configs, with_modules
from orvl.capture.lint.linter import LintCommand, LintIssue, LintOutput, LintRoot, nearest
from orvl.capture.lint.registry import LINTERS, roots_of
from orvl.capture.lint.report import LintReport, LintSide, adherence
from orvl.capture.lint.suppressions import added, as_edits, counted, without
from orvl.capture.lint.workspace import Workspace, changed, looked_at, shown
from orvl.errors import Interrupted, LinterFailed, LinterMissing, NotStarted
from orvl.sandbox import Job
from orvl.sandbox.job import hit, resource_limits
from orvl.store import tree
from orvl.types import MEBI

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.project.settings import Limits
    from orvl.sandbox import Sandbox
    from orvl.sandbox.workdir import RunFolders

SECONDS = 120.0
KEPT = 32 * MEBI
NOT_FOUND, NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True)
class Room:
    """Where linters run: a sandbox, a maker of fresh folders, limits, and a writer of blobs."""

    sandbox: Sandbox
    new_folders: Callable[[], RunFolders]
    limits: Limits
    write: tree.Writer


async def lint(
    before: Workspace,
    after: Workspace,
    sandbox: Sandbox,
    new_folders: Callable[[], RunFolders],
    limits: Limits,
    write: tree.Writer,
) -> LintReport:
    """Checks what the agent made or changed with the linters that the workspace configures, at the start and now."""
    room = Room(sandbox, new_folders, limits, write)
    roots, later = roots_of(before), roots_of(after)
    names = _names(roots)
    own = [root for root in later if root.name not in names]
    configs = configs_of(before, names) | configs_of(after, _names(later))
    looked = looked_at(after, [path for path in changed(before, after) if path not in configs])
    paths = [*looked.lines]
    comments = added(before, after, paths, roots)
    edited = [*edits(before, after, names), *as_edits(comments)][:MAX_EDITS]
    affected = _affected(before, after)
    start = original = end = LintSide()
    if paths or affected:
        files = with_modules(with_configs(without(after, comments), before, names), before)
        shows = await _side(files, roots, paths, affected, room)
        original = end = shows.with_issues(counted(shows.issues, comments))
        old_paths = [path for path in paths if path in before.own]
        start = await _side(with_modules(before, after), roots, old_paths, affected, room)
    if (paths or affected) and (edited or own):
        files = without(after, [comment for comment in comments if not comment.overrules])
        now = await _side(with_modules(files, before), later, paths, affected, room)
        end = LintSide(counted(now.issues, comments), {**_gone(names, later), **now.trouble})
    return adherence(
        start,
        end,
        original,
        _lines(looked.lines, original.issues, after),
        {name: [path for path in paths if _is_for(name, path, roots, later)] for name in (*names, *_names(own))},
        {name: _configs(roots, name) for name in names},
        {name: _configs(own, name) for name in _names(own)},
        edited,
        looked.left_out,
    )


def _names(roots: Iterable[LintRoot]) -> list[str]:
    return list(dict.fromkeys(root.name for root in roots))


def _configs(roots: Iterable[LintRoot], name: str) -> list[str]:
    return [shown(path) for root in roots if root.name == name for path in root.configs]


def _gone(names: Iterable[str], later: Sequence[LintRoot]) -> dict[str, str]:
    """Linters that the agent left without a configuration."""
    return {name: "its configuration is gone" for name in names if name not in _names(later)}


def _is_for(name: str, path: str, roots: Sequence[LintRoot], later: Sequence[LintRoot]) -> bool:
    by = roots if name in _names(roots) else later
    return any(root.name == name for root in nearest(by, path))


def _lines(lines: dict[str, int], issues: Sequence[LintIssue], after: Workspace) -> dict[str, int]:
    """Adds the lines of unchanged files that have issues."""
    others = {each.path for each in issues} - lines.keys()
    return lines | {path: max(1, after.text_of(path).count("\n")) for path in sorted(others)[:100]}


def _affected(before: Workspace, after: Workspace) -> set[str]:
    """The linters whose reports on untouched files may have changed."""
    touched = (*changed(before, after), *(before.own.keys() - after.by_path.keys()))
    return {name for name, linter in LINTERS.items() if any(path.endswith(linter.affected_by) for path in touched)}


async def _side(
    files: Workspace, roots: Sequence[LintRoot], paths: Sequence[str], affected: Container[str], room: Room
) -> LintSide:
    """What every linter reports on one state of the workspace."""
    issues, trouble = list[LintIssue](), dict[str, str]()
    place = _Place(files, room)
    try:
        for root in roots:
            theirs = [path for path in paths if root in nearest(roots, path)]
            if root.name in trouble or not (theirs or root.name in affected):
                continue
            try:
                issues += await root.linter.check(root, theirs, files, place.run)
            except (LinterMissing, LinterFailed) as error:
                trouble[root.name] = str(error)
    finally:
        await place.remove()
    return LintSide(tuple(each for each in issues if each.tool not in trouble), trouble)


@dataclass
class _Place:
    """One state of the workspace, laid into fresh folders when the first program runs on it."""

    files: Workspace
    room: Room
    folders: RunFolders | None = None
    commands: int = 0

    async def run(self, command: LintCommand) -> LintOutput:
        """Raises LinterFailed or LinterMissing if the program does not get to look."""
        if self.folders is None:
            self.folders = self.room.new_folders()
            await asyncio.to_thread(_lay_out, self.files, self.folders, self.room.write)
        self.commands += 1
        return await _run(command, self.folders, self.folders.logs / f"lint{self.commands}", self.room)

    async def remove(self) -> None:
        if self.folders is not None:
            await asyncio.to_thread(tree.remove, self.folders.root)


def _lay_out(files: Workspace, folders: RunFolders, write: tree.Writer) -> None:
    """Every file can be read and every folder entered, whatever modes the agent gave them."""

    def put(key: str, fd: int, size: int) -> None:
        if key in files.made:
            with open(os.dup(fd), "wb") as file:
                file.write(files.made[key])
        else:
            write(key, fd, size)

    entries = [
        replace(entry, mode=0o700 if entry.kind == "folder" else entry.mode & 0o700 | 0o600) for entry in files.entries
    ]
    with suppress(FileExistsError):
        folders.workspace.mkdir()
    tree.restore(entries, folders.workspace, put)


async def _run(command: LintCommand, folders: RunFolders, output: Path, room: Room) -> LintOutput:
    view = room.sandbox.view(folders)
    job = Job(
        argv=command.words,
        env=view.environment() | dict(command.env),
        folders=folders,
        output=output,
        seconds=SECONDS,
        grace=room.limits.grace,
        output_bytes=KEPT,
        kept_bytes=KEPT,
        limits=resource_limits(room.limits),
        readable=command.readable,
        adds_only=True,
    )
    name = command.root.name
    try:
        ended = await room.sandbox.run(job)
    except NotStarted as error:
        if error.missing:
            raise LinterMissing(str(error)) from error
        raise
    if ended.cut == "stopped":
        raise Interrupted
    if ended.cut:
        own = {"time": f"took longer than {SECONDS:g} s", "output": f"printed more than {KEPT // MEBI} MiB"}
        raise LinterFailed(f"{name} {own.get(ended.cut) or hit(ended.cut, room.limits)}")
    if ended.status in (NOT_FOUND, NOT_EXECUTABLE):
        raise LinterMissing(f"{name} is not installed in the workspace's node_modules, nor on the system")
    out, err = (stream.read().decode("utf-8", "replace") for stream in (ended.stdout, ended.stderr))
    return LintOutput(ended.status, out, err, str(view.workspace), command.root.folder)

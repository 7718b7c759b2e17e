"""Runs the project's own linters and formatters, each state of the workspace in a fresh sandbox of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.capture.lint import editorconfig
from orvl.capture.lint.commands import Command, commands
from orvl.capture.lint.configs import configs_of, edits, is_config, with_configs, with_modules
from orvl.capture.lint.findings import LintIssue, Printed, findings_of
from orvl.capture.lint.report import Report, Side, adherence
from orvl.capture.lint.suppressions import suppressions
from orvl.capture.lint.tools import EDITORCONFIG, SCRIPTS, TSC, TYPED, Tool, nearest, tools_of
from orvl.capture.lint.workspace import Workspace, changed, looked_at, shown
from orvl.errors import Interrupted, LinterFailed, LinterMissing, NotStarted
from orvl.sandbox import Job
from orvl.sandbox.job import hit, most_of
from orvl.store import tree
from orvl.types import MEBI

if TYPE_CHECKING:
    from orvl.project.settings import Limits
    from orvl.sandbox import Sandbox
    from orvl.sandbox.workdir import RunFolders

TYPES_OF = (*TYPED, *SCRIPTS, ".vue", ".json")
SECONDS = 120.0
KEPT = 32 * MEBI
NOT_FOUND, NOT_EXECUTABLE = 127, 126


@dataclass(frozen=True)
class Room:
    """Where tools run: a sandbox, fresh folders in it, its limits, and what writes a blob into a file."""

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
) -> Report:
    """Looks at what the agent made or changed with the tools that the start and what was left configure."""
    room = Room(sandbox, new_folders, limits, write)
    tools, later = tools_of(before), tools_of(after)
    names = list(dict.fromkeys(tool.name for tool in tools))
    own = [tool for tool in later if tool.name not in names]
    old_configs, new_configs = configs_of(before, names), configs_of(after, [tool.name for tool in later])
    work = [path for path in changed(before, after) if not is_config(path, old_configs, new_configs)]
    looked = looked_at(after, work)
    edited = edits(before, after, names)
    paths = [*looked.lines]
    typed = _touches_types(before, after)
    start = original = end = Side()
    if paths or typed:
        files = with_modules(with_configs(after, before, names), before)
        original = end = await _side(files, tools, paths, room, typed=typed)
        old_paths = [path for path in paths if path in before.own]
        start = await _side(with_modules(before, after), tools, old_paths, room, typed=typed)
    if (paths or typed) and (edited or own):
        found = await _side(with_modules(after, before), later, paths, room, typed=typed)
        end = Side(found.findings, {**_gone(names, later), **found.trouble})
    return adherence(
        start,
        end,
        original,
        _lines(looked.lines, original.findings, after),
        {name: [path for path in paths if _is_for(name, path, tools, later)] for name in (*names, *_names(own))},
        {name: _configs(tools, name) for name in names},
        {name: _configs(own, name) for name in _names(own)},
        edited,
        looked.left_out,
    )


def _names(tools: Iterable[Tool]) -> list[str]:
    return list(dict.fromkeys(tool.name for tool in tools))


def _configs(tools: Iterable[Tool], name: str) -> list[str]:
    return [shown(path) for tool in tools if tool.name == name for path in tool.configs]


def _gone(names: Iterable[str], later: Sequence[Tool]) -> dict[str, str]:
    """Tools that the agent left without a configuration."""
    return {name: "its configuration is gone" for name in names if name not in _names(later)}


def _is_for(name: str, path: str, tools: Sequence[Tool], later: Sequence[Tool]) -> bool:
    by = tools if name in _names(tools) else later
    return any(tool.name == name for tool in nearest(by, path))


def _lines(lines: dict[str, int], found: Sequence[LintIssue], after: Workspace) -> dict[str, int]:
    """With those of unchanged files in which something was found."""
    others = {one.path for one in found} - lines.keys()
    return lines | {path: max(1, after.text_of(path).count("\n")) for path in sorted(others)[:100]}


def _touches_types(before: Workspace, after: Workspace) -> bool:
    """Whether a file was made, changed or removed whose types others may use."""
    removed = before.own.keys() - after.by_path.keys()
    return any(path.endswith(TYPES_OF) for path in (*changed(before, after), *removed))


async def _side(files: Workspace, tools: Sequence[Tool], paths: Sequence[str], room: Room, *, typed: bool) -> Side:
    """One state of the workspace: laid into fresh folders, looked at by every tool, and removed."""
    found, trouble = list[LintIssue](), dict[str, str]()
    planned: list[Command] = []
    for tool in tools:
        theirs = [path for path in paths if tool in nearest(tools, path)]
        if not theirs and not (typed and tool.name == TSC):
            continue
        try:
            if tool.name == EDITORCONFIG:
                found += await asyncio.to_thread(editorconfig.check, files, theirs)
            else:
                planned += commands(tool, theirs, files)
        except (LinterMissing, LinterFailed) as error:
            trouble[tool.name] = str(error)
    if planned:
        more, broken = await _run_all(files, planned, room)
        found += more
        trouble |= broken
    found += suppressions(files, paths, tools)
    return Side(tuple(one for one in found if one.tool not in trouble), trouble)


async def _run_all(files: Workspace, planned: Sequence[Command], room: Room) -> tuple[list[LintIssue], dict[str, str]]:
    folders = room.new_folders()
    found, trouble = list[LintIssue](), dict[str, str]()
    try:
        await asyncio.to_thread(_lay_out, files, folders, room.write)
        for number, command in enumerate(planned):
            name = command.tool.name
            if name in trouble:
                continue
            try:
                found += await _run(command, number, folders, room)
            except (LinterMissing, LinterFailed) as error:
                trouble[name] = str(error)
    finally:
        await asyncio.to_thread(tree.remove, folders.root)
    return found, trouble


def _lay_out(files: Workspace, folders: RunFolders, write: tree.Writer) -> None:
    """Every file can be read and every folder looked into, whatever modes the agent gave them."""

    def put(key: str, fd: int) -> None:
        if key in files.made:
            with open(os.dup(fd), "wb") as file:
                file.write(files.made[key])
        else:
            write(key, fd)

    entries = [
        replace(entry, mode=0o700 if entry.kind == "folder" else entry.mode & 0o700 | 0o600) for entry in files.entries
    ]
    with suppress(FileExistsError):
        folders.workspace.mkdir()
    tree.restore(entries, folders.workspace, put)


async def _run(command: Command, number: int, folders: RunFolders, room: Room) -> list[LintIssue]:
    """What one command finds; raises LinterFailed or LinterMissing where it does not get to look."""
    view = room.sandbox.view(folders)
    job = Job(
        argv=command.words,
        env=view.environment() | dict(command.env),
        folders=folders,
        output=folders.logs / f"lint{number}",
        seconds=SECONDS,
        grace=room.limits.grace,
        output_bytes=KEPT,
        kept_bytes=KEPT,
        most=most_of(room.limits),
        readable=command.readable,
        adds_only=True,
    )
    name = command.tool.name
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
    out, err = (stream.read().decode("utf-8", "replace") for stream in (ended.stdout, ended.stderr))
    if ended.status in (NOT_FOUND, NOT_EXECUTABLE):
        raise LinterMissing(f"{name} is not installed in the workspace's node_modules, nor on the system")
    printed = Printed(ended.status, out, err, str(view.workspace), command.tool.folder)
    return findings_of(name, printed)

"""The command that runs a tool on some files of a workspace; it is for a sandbox, for configurations are programs."""

from __future__ import annotations

import os
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename, dirname, join, normpath, relpath
from typing import TYPE_CHECKING

from orvl.capture.lint.tools import ESLINT, PACKAGE, PRETTIER, RUFF, RUFF_FORMAT, Tool, package_of
from orvl.capture.lint.workspace import MODULES
from orvl.errors import LinterMissing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.capture.lint.workspace import Workspace

IN_FOLDER = 'cd -- "$1" && shift && exec "$@"'
REFERENCES = re.compile(r'"references"\s*:\s*\[([^\]]{0,5000})\]')
NO_FILES = re.compile(r'"files"\s*:\s*\[\s*\]')
REFERENCE = re.compile(r'"path"\s*:\s*"([\w@./-]{1,200})"')
MAX_PROJECTS = 5
DEPENDENCIES = ("dependencies", "devDependencies")


@dataclass(frozen=True)
class Command:
    """What to run, in which folder of the workspace, and what it must be able to read besides."""

    tool: Tool
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    readable: tuple[Path, ...] = ()

    @property
    def words(self) -> list[str]:
        """The whole command line, which begins in the workspace."""
        return ["/bin/sh", "-c", IN_FOLDER, "sh", f"./{self.tool.folder}", *self.argv]


def commands(tool: Tool, paths: Sequence[str], files: Workspace) -> list[Command]:
    """How to run a tool on some files of a workspace; raises LinterMissing where it cannot be."""
    names = [f"./{path[len(tool.folder) + 1 :] if tool.folder else path}" for path in paths]
    if tool.name in (RUFF, RUFF_FORMAT):
        program = ruff()
        how = ["check", "--no-fix"] if tool.name == RUFF else ["format", "--check"]
        argv = [str(program), *how, "--output-format", "json", "--no-cache", "--force-exclude", "--", *names]
        return [Command(tool, tuple(argv), readable=(program,))]
    program_words = [_program(tool, files)]
    if tool.name == ESLINT:
        quiet = ["--no-warn-ignored"] if tool.flat else []
        argv = [*program_words, "-f", "json", "--no-color", *quiet, "--no-error-on-unmatched-pattern", "--", *names]
        return [Command(tool, tuple(argv), {"ESLINT_USE_FLAT_CONFIG": "true" if tool.flat else "false"})]
    if tool.name == PRETTIER:
        quiet = ["--list-different", "--no-color", "--ignore-unknown", "--ignore-path", ".prettierignore"]
        return [Command(tool, (*program_words, *quiet, "--", *names))]
    _need_packages(tool, files)
    checks = (*program_words, "--noEmit", "--pretty", "false", "-p")
    return [Command(tool, (*checks, project)) for project in _projects(tool, files)]


def ruff() -> Path:
    """orvl's own ruff, else the system's."""
    beside = os.path.join(os.path.dirname(sys.executable), "ruff")
    found = beside if os.access(beside, os.X_OK) else shutil.which("ruff")
    if found is None:
        raise LinterMissing("ruff is not installed beside orvl: pip install ruff")
    return Path(found).resolve()


def _program(tool: Tool, files: Workspace) -> str:
    """A tool of the workspace's own node_modules, else the system's of that name."""
    for folder in _upwards(tool.folder):
        path = join(folder, MODULES, ".bin", tool.name)
        if path in files.by_path:
            return "./" + relpath(path, tool.folder or ".")
    return tool.name


def _upwards(folder: str) -> list[str]:
    found = [folder]
    while found[-1]:
        found.append(dirname(found[-1]))
    return found


def _need_packages(tool: Tool, files: Workspace) -> None:
    """Types come from packages: without these, every import is wrong."""
    for folder in _upwards(tool.folder):
        if join(folder, MODULES) in files.by_path:
            return
    for folder in _upwards(tool.folder):
        said = package_of(files, join(folder, PACKAGE))
        if any(said.get(key) for key in DEPENDENCIES):
            raise LinterMissing("the packages that the project needs are not installed (node_modules)")


def _projects(tool: Tool, files: Workspace) -> list[str]:
    """The configuration, and those that it refers to."""
    config = tool.configs[0]
    text = files.text_of(config)
    references = REFERENCES.search(text)
    found = [] if references and NO_FILES.search(text) else [basename(config)]
    for path in REFERENCE.findall(references[1]) if references else ():
        place = normpath(join(tool.folder, path))
        name = relpath(place, tool.folder or ".")
        if place in files.own or join(place, "tsconfig.json") in files.own:
            found.append(name)
    return found[:MAX_PROJECTS]

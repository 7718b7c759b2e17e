"""ruff and `ruff format`."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from orvl.capture.lint.linter import LintCommand, Linter, LintRoot, ProgramLinter, issue, named
from orvl.errors import LinterMissing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.lint.linter import LintIssue, LintOutput
    from orvl.capture.lint.workspace import Workspace

ENDINGS = frozenset((".py", ".pyi"))
TABLE = re.compile(r"^[ \t]*\[\[?[ \t]*tool[ \t]*\.[ \t]*ruff\b", re.MULTILINE)
FORMAT_TABLE = re.compile(r"^[ \t]*\[[ \t]*(?:tool[ \t]*\.[ \t]*ruff[ \t]*\.[ \t]*)?format\b", re.MULTILINE)
CALLS_FORMAT = re.compile(r"ruff[ -]format|ruff\b[^\n]{0,20}\bformat\b")
MENTIONS = (
    *(".pre-commit-config.yaml", "Makefile", "justfile", "Justfile", "tox.ini", "noxfile.py", "package.json"),
    *("pyproject.toml", "AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md"),
)


class Ruff(ProgramLinter):
    """`ruff check`."""

    name = "ruff"
    pyproject_table = "ruff"
    file_suppression = re.compile(
        r"#[ \t]*(?:(?:ruff|flake8)\s*[:=]\s*noqa\b|ruff\s*:\s*(?:disable|file-ignore)\b"
        r"|(?:ruff\s*:\s*)?isort\s*:\s*(?:skip_file|off)\b)",
        re.I,
    )
    suppression = re.compile(
        rf"{file_suppression.pattern}|#[ \t]*(?:noqa\b|ruff\s*:\s*ignore\b|(?:ruff\s*:\s*)?isort\s*:\s*skip\b)", re.I
    )
    subcommand: tuple[str, ...] = ("check", "--no-fix")

    def roots(self, files: Workspace) -> list[LintRoot]:
        configs = named(files, ("ruff.toml", ".ruff.toml"))
        configs += [path for path in named(files, ["pyproject.toml"]) if TABLE.search(files.text_of(path))]
        return [LintRoot(self, "", tuple(configs), ENDINGS)] if configs else []

    def commands(self, root: LintRoot, paths: Sequence[str], files: Workspace) -> list[LintCommand]:  # noqa: ARG002
        program = ruff_program()
        options = ("--output-format", "json", "--no-cache", "--force-exclude")
        argv = (str(program), *self.subcommand, *options, "--", *root.arguments(paths))
        return [LintCommand(root, argv, readable=(program,))]

    def issues(self, output: LintOutput) -> list[LintIssue]:
        found = []
        for row in output.rows():
            location = row.get("location")
            line = location.get("row") if isinstance(location, dict) else 0
            path = output.path(str(row.get("filename") or ""))
            found.append(issue(self.name, path, line, row.get("code") or "invalid-syntax", row.get("message")))
        return found


class RuffFormat(Ruff):
    """`ruff format --check`, where the project formats with it."""

    name = "ruff format"
    file_suppression = re.compile(r"#[ \t]*(?:fmt:\s*off\b|yapf:\s*disable\b)")
    suppression = re.compile(rf"{file_suppression.pattern}|#[ \t]*fmt:\s*skip\b")
    subcommand = ("format", "--check")

    def roots(self, files: Workspace) -> list[LintRoot]:
        return [root for root in super().roots(files) if _formats(files, root.configs)]

    def issues(self, output: LintOutput) -> list[LintIssue]:
        """Files that it would change; those that do not parse are issues of `ruff check` already."""
        return [
            issue(self.name, output.path(str(row.get("filename") or "")), 0, "format", "the file is not formatted")
            for row in output.rows()
            if row.get("code") == "unformatted"
        ]


def _formats(files: Workspace, configs: Sequence[str]) -> bool:
    """Whether the project formats with ruff: a table of its configuration or another file says so."""
    if any(FORMAT_TABLE.search(files.text_of(path)) for path in configs):
        return True
    mentions = [*MENTIONS, *(path for path in files.own if path.startswith(".github/workflows/"))]
    return any(CALLS_FORMAT.search(files.text_of(path)) for path in mentions[:50])


def ruff_program() -> Path:
    """orvl's own ruff, or else the system's."""
    beside = os.path.join(os.path.dirname(sys.executable), "ruff")
    found = beside if os.access(beside, os.X_OK) else shutil.which("ruff")
    if found is None:
        raise LinterMissing("ruff is not installed beside orvl: pip install ruff")
    return Path(found).resolve()


LINTERS: tuple[Linter, ...] = (Ruff(), RuffFormat())

"""Prettier, which also follows .editorconfig."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.capture.lint.linter import LintCommand, Linter, LintRoot, ProgramLinter, issue, named, outermost
from orvl.capture.lint.node import SCRIPTS, TYPED, packages_with, program
from orvl.capture.lint.workspace import lies_in
from orvl.errors import LinterFailed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.lint.linter import LintIssue, LintOutput
    from orvl.capture.lint.workspace import Workspace

CONFIGS = (
    ".prettierrc",
    *(f".prettierrc.{end}" for end in ("json", "json5", "yaml", "yml", "toml", "js", "mjs", "cjs", "ts", "mts", "cts")),
    *(f"prettier.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts")),
)
ENDINGS = frozenset(
    (
        *(*SCRIPTS, *TYPED, ".vue", ".css", ".scss", ".less", ".html", ".json", ".json5", ".jsonc", ".md", ".mdx"),
        *(".yaml", ".yml", ".graphql", ".gql", ".hbs"),
    )
)
SYNTAX = re.compile(r"^\[error\] ([^\n]{1,300}?): (SyntaxError: .*?)(?: \((\d{1,9}):\d{1,9}\))?$", re.MULTILINE)
BAD_CONFIG = re.compile(
    r"^\[error\] (?:Invalid configuration|Cannot find package|Cannot resolve|Error:).*$", re.MULTILINE
)


class Prettier(ProgramLinter):
    """`prettier --list-different`."""

    name = "prettier"
    npm_package = "prettier"
    package_keys = ("prettier",)
    other_configs = re.compile(r"\.prettierignore|\.editorconfig")
    file_suppression = re.compile(r"(?://|/\*\*?|<!--|#|\*)\s*(?:prettier-ignore-start\b|@no(?:format|prettier)\b)")
    suppression = re.compile(rf"{file_suppression.pattern}|(?://|/\*|<!--|#)\s*prettier-ignore\b(?!-(?:start|end))")

    def roots(self, files: Workspace) -> list[LintRoot]:
        configs = [*named(files, CONFIGS), *packages_with(files, self.package_keys)]
        return [
            LintRoot(self, folder, tuple(path for path in configs if lies_in(path, folder)), ENDINGS)
            for folder in outermost(configs)
        ]

    def commands(self, root: LintRoot, paths: Sequence[str], files: Workspace) -> list[LintCommand]:
        options = ("--list-different", "--no-color", "--ignore-unknown", "--ignore-path", ".prettierignore", "--")
        return [LintCommand(root, (program(root, files), *options, *root.arguments(paths)))]

    def issues(self, output: LintOutput) -> list[LintIssue]:
        if BAD_CONFIG.search(output.err) or output.status not in (0, 1, 2):
            raise LinterFailed(output.reason())
        broken = [
            issue(self.name, output.path(path), int(line or 0), "syntax", words)
            for path, words, line in SYNTAX.findall(output.err)
        ]
        if output.status == 2 and not broken:
            raise LinterFailed(output.reason())
        names = [line for line in output.out.splitlines() if line]
        return broken + [
            issue(self.name, output.path(name), 0, "format", "the file is not formatted") for name in names
        ]


LINTERS: tuple[Linter, ...] = (Prettier(),)

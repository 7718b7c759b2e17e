"""ESLint, with flat configurations and those of before."""

from __future__ import annotations

import re
from posixpath import basename
from typing import TYPE_CHECKING

from orvl.capture.lint.linter import (
    MAX_ROOTS,
    LintCommand,
    Linter,
    LintRoot,
    ProgramLinter,
    issue,
    named,
    outermost,
)
from orvl.capture.lint.node import SCRIPTS, TYPED, packages_with, program
from orvl.capture.lint.workspace import folder_of, lies_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.lint.linter import LintIssue, LintOutput
    from orvl.capture.lint.workspace import Workspace

FLAT = tuple(f"eslint.config.{end}" for end in ("js", "mjs", "cjs", "ts", "mts", "cts"))
OLD = (".eslintrc", *(f".eslintrc.{end}" for end in ("js", "cjs", "json", "yaml", "yml")))
PAGES = (".vue", ".svelte")


class Eslint(ProgramLinter):
    """`eslint`."""

    name = "eslint"
    npm_package = "eslint"
    package_keys = ("eslintConfig", "eslintIgnore")
    other_configs = re.compile(r"\.eslintignore|eslint-suppressions\.json")
    suppression = re.compile(r"(?://|/\*|<!--)\s*eslint(?:-disable(?:-next-line|-line)?|\s+[\w@\"'/-]+\s*:)")
    file_suppression = re.compile(r"(?:/\*|<!--)\s*eslint(?:-disable(?!-next-line|-line)|\s+[\w@\"'/-]+\s*:)")

    def roots(self, files: Workspace) -> list[LintRoot]:
        flat = self._flat_roots(files)
        old = [*named(files, OLD), *packages_with(files, ["eslintConfig"])]
        old = [path for path in old if not any(lies_in(path, root.folder) for root in flat)]
        return flat + [self._old_root(files, folder, old) for folder in outermost(old)]

    def _flat_roots(self, files: Workspace) -> list[LintRoot]:
        configs = named(files, FLAT)
        folders = list(dict.fromkeys(map(folder_of, configs)))[:MAX_ROOTS]
        endings = frozenset((*SCRIPTS, *TYPED, *PAGES))
        return [
            LintRoot(self, folder, tuple(path for path in configs if folder_of(path) == folder), endings)
            for folder in folders
        ]

    def _old_root(self, files: Workspace, folder: str, paths: Sequence[str]) -> LintRoot:
        configs = tuple(path for path in paths if lies_in(path, folder))
        text = " ".join(files.text_of(path) for path in configs)
        more = (*(TYPED if "typescript" in text else ()), *(end for end in PAGES if end[1:] in text))
        return LintRoot(self, folder, configs, frozenset((*SCRIPTS, *more)))

    def commands(self, root: LintRoot, paths: Sequence[str], files: Workspace) -> list[LintCommand]:
        is_flat = basename(root.configs[0]) in FLAT
        options = ["-f", "json", "--no-color", *(["--no-warn-ignored"] if is_flat else [])]
        options += ["--no-error-on-unmatched-pattern", "--"]
        argv = (program(root, files), *options, *root.arguments(paths))
        return [LintCommand(root, argv, {"ESLINT_USE_FLAT_CONFIG": "true" if is_flat else "false"})]

    def issues(self, output: LintOutput) -> list[LintIssue]:
        found = []
        for row in output.rows():
            path = output.path(str(row.get("filePath") or ""))
            messages = row.get("messages")
            for message in messages if isinstance(messages, list) else []:
                if isinstance(message, dict) and (message.get("ruleId") or message.get("fatal")):
                    rule = message.get("ruleId") or "syntax"
                    found.append(issue(self.name, path, message.get("line"), rule, message.get("message")))
        return found


LINTERS: tuple[Linter, ...] = (Eslint(),)

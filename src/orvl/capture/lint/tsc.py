"""TypeScript's compiler as a type checker of whole projects."""

from __future__ import annotations

import re
from posixpath import basename, join, normpath, relpath
from typing import TYPE_CHECKING

from orvl.capture.lint.linter import MAX_ROOTS, LintCommand, Linter, LintRoot, ProgramLinter, issue, named
from orvl.capture.lint.node import PACKAGE, SCRIPTS, TYPED, package_of, program, upwards
from orvl.capture.lint.workspace import MODULES, folder_of, shown
from orvl.errors import LinterFailed, LinterMissing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.lint.linter import LintIssue, LintOutput
    from orvl.capture.lint.workspace import Workspace

CONFIG = "tsconfig.json"
REFERENCES = re.compile(r'"references"\s*:\s*\[([^\]]{0,5000})\]')
REFERENCE = re.compile(r'"path"\s*:\s*"([\w@./-]{1,200})"')
NO_FILES = re.compile(r'"files"\s*:\s*\[\s*\]')
ISSUE = re.compile(r"^(\S.{0,300}?)\((\d{1,9}),\d{1,9}\): error (TS\d{1,6}): (.*)$", re.MULTILINE)
GLOBAL_ISSUE = re.compile(r"^error (TS\d{1,6}): (.*)$", re.MULTILINE)
NO_INPUTS = "TS18003"
MAX_PROJECTS = 5
DEPENDENCIES = ("dependencies", "devDependencies")


class Tsc(ProgramLinter):
    """`tsc --noEmit`."""

    name = "tsc"
    npm_package = "typescript"
    other_configs = re.compile(r"tsconfig(\..{1,50})?\.json")
    suppression = re.compile(r"(?://|/\*)\s*@ts-(?:ignore|nocheck|expect-error)\b")
    file_suppression = re.compile(r"(?://|/\*)\s*@ts-nocheck\b")
    affected_by = (*TYPED, *SCRIPTS, ".vue", ".json")

    def roots(self, files: Workspace) -> list[LintRoot]:
        configs = named(files, [CONFIG])[:MAX_ROOTS]
        return [LintRoot(self, folder_of(path), (path,), frozenset(TYPED)) for path in configs]

    def commands(self, root: LintRoot, paths: Sequence[str], files: Workspace) -> list[LintCommand]:  # noqa: ARG002
        _need_packages(root, files)
        argv = (program(root, files), "--noEmit", "--pretty", "false", "-p")
        return [LintCommand(root, (*argv, project)) for project in _projects(root, files)]

    def issues(self, output: LintOutput) -> list[LintIssue]:
        found = [
            issue(self.name, output.path(path), int(line), rule, words)
            for path, line, rule, words in ISSUE.findall(output.out.replace("\r", ""))
        ]
        general = [(rule, words) for rule, words in GLOBAL_ISSUE.findall(output.out) if rule != NO_INPUTS]
        if general:
            raise LinterFailed(shown(f"{general[0][0]}: {general[0][1]}"[:300]))
        in_config = [one for one in found if re.search(r"(^|/)tsconfig[^/]*\.json$", one.path)]
        if in_config:
            raise LinterFailed(str(in_config[0]))
        if output.status != 0 and not found and NO_INPUTS not in output.out:
            raise LinterFailed(output.reason())
        return found


def _need_packages(root: LintRoot, files: Workspace) -> None:
    """Types come from packages: without them, every import would be an issue."""
    folders = upwards(root.folder)
    if any(join(folder, MODULES) in files.by_path for folder in folders):
        return
    packages = [package_of(files, join(folder, PACKAGE)) for folder in folders]
    if any(package.get(key) for package in packages for key in DEPENDENCIES):
        raise LinterMissing("the project's packages are not installed (node_modules)")


def _projects(root: LintRoot, files: Workspace) -> list[str]:
    """The configuration, and those that it refers to."""
    config = root.configs[0]
    text = files.text_of(config)
    references = REFERENCES.search(text)
    projects = [] if references and NO_FILES.search(text) else [basename(config)]
    for path in REFERENCE.findall(references[1]) if references else ():
        place = normpath(join(root.folder, path))
        if place in files.own or join(place, CONFIG) in files.own:
            projects.append(relpath(place, root.folder or "."))
    return projects[:MAX_PROJECTS]


LINTERS: tuple[Linter, ...] = (Tsc(),)

"""What the linters of npm packages share: package.json, node_modules and the endings of scripts."""

from __future__ import annotations

import json
from posixpath import dirname, join, relpath
from typing import TYPE_CHECKING, Any

from orvl.capture.lint.linter import named
from orvl.capture.lint.workspace import MODULES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.capture.lint.linter import LintRoot
    from orvl.capture.lint.workspace import Workspace

PACKAGE = "package.json"
SCRIPTS = (".js", ".jsx", ".mjs", ".cjs")
TYPED = (".ts", ".tsx", ".mts", ".cts")


def package_of(files: Workspace, path: str) -> dict[str, Any]:
    """The content of a package.json; empty if it is broken."""
    try:
        content = json.loads(files.text_of(path))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def packages_with(files: Workspace, keys: Iterable[str]) -> list[str]:
    """The package.json files that have one of the keys."""
    wanted = set(keys)
    return [path for path in named(files, [PACKAGE]) if wanted & package_of(files, path).keys()]


def program(root: LintRoot, files: Workspace) -> str:
    """The linter in the workspace's own node_modules, or else the system's."""
    for folder in upwards(root.folder):
        path = join(folder, MODULES, ".bin", root.name)
        if path in files.by_path:
            return "./" + relpath(path, root.folder or ".")
    return root.name


def upwards(folder: str) -> list[str]:
    """A folder of the workspace and those around it."""
    folders = [folder]
    while folders[-1]:
        folders.append(dirname(folders[-1]))
    return folders

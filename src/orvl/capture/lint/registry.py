"""The linters that orvl knows, in the order of reports. To add one, write its file and name it here."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orvl.capture.lint.linter import Linter, LintRoot
    from orvl.capture.lint.workspace import Workspace

FILES = ("ruff", "eslint", "prettier", "tsc", "editorconfig")
LINTERS: dict[str, Linter] = {
    linter.name: linter for name in FILES for linter in import_module(f"orvl.capture.lint.{name}").LINTERS
}


def roots_of(files: Workspace) -> list[LintRoot]:
    """Every linter that a workspace configures, once for each folder that it has to run in."""
    return [root for linter in LINTERS.values() for root in linter.roots(files)]

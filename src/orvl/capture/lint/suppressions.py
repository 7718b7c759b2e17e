"""Comments that tell a linter to look away: one that the agent added counts like what it may hide."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.capture.lint.findings import LintIssue, made
from orvl.capture.lint.tools import ESLINT, PRETTIER, RUFF, RUFF_FORMAT, TSC, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.capture.lint.tools import Tool
    from orvl.capture.lint.workspace import Workspace

MARKS = {
    RUFF: re.compile(r"#\s*(?:noqa\b|ruff:\s*noqa\b|flake8:\s*noqa\b|ruff:\s*(?:ignore|disable|file-ignore)\b)", re.I),
    RUFF_FORMAT: re.compile(r"#\s*(?:fmt:\s*(?:off|skip)\b|yapf:\s*disable\b)"),
    ESLINT: re.compile(r"(?://|/\*|<!--)\s*eslint(?:-disable|\s+[\w@/-]+\s*:)"),
    PRETTIER: re.compile(r"(?://|/\*|<!--|#)\s*prettier-ignore"),
    TSC: re.compile(r"(?://|/\*)\s*@ts-(?:ignore|nocheck|expect-error)\b"),
}
RULE = "suppression"


def suppressions(files: Workspace, paths: Iterable[str], tools: Sequence[Tool]) -> list[LintIssue]:
    """Every such comment in some files, as a finding of the tool that it speaks to."""
    found = []
    for path in paths:
        marks = [(tool.name, MARKS[tool.name]) for tool in nearest(tools, path) if tool.name in MARKS]
        for number, line in enumerate(files.text_of(path).splitlines() if marks else (), 1):
            for name, mark in marks:
                if hit := mark.search(line[:2000]):
                    found.append(made(name, path, number, RULE, f"a comment turns it off: {hit[0].strip()}"))
    return found

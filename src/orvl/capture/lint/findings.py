"""What linters found: their machine-readable outputs → findings."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any

from orvl.capture.lint.tools import ESLINT, PRETTIER, RUFF, RUFF_FORMAT, TSC
from orvl.capture.lint.workspace import shown
from orvl.errors import LinterFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MAX_FINDINGS = 5_000
MAX_MESSAGE = 200
TSC_LINE = re.compile(r"^(\S.{0,300}?)\((\d{1,9}),\d{1,9}\): error (TS\d{1,6}): (.*)$", re.MULTILINE)
TSC_GLOBAL = re.compile(r"^error (TS\d{1,6}): (.*)$", re.MULTILINE)
NO_INPUTS = "TS18003"
PRETTIER_SYNTAX = re.compile(
    r"^\[error\] ([^\n]{1,300}?): (SyntaxError: .*?)(?: \((\d{1,9}):\d{1,9}\))?$", re.MULTILINE
)
PRETTIER_CONFIG = re.compile(
    r"^\[error\] (?:Invalid configuration|Cannot find package|Cannot resolve|Error:).*$", re.MULTILINE
)


@dataclass(frozen=True, order=True)
class LintIssue:
    """One thing that a tool found; line 0 is for the whole file."""

    tool: str
    path: str
    line: int
    rule: str
    message: str

    def to_json(self) -> dict[str, Any]:
        return {"tool": self.tool, "path": self.path, "line": self.line, "rule": self.rule, "message": self.message}

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message} ({self.tool}: {self.rule})" if self.rule else f"{place}: {self.message}"


@dataclass(frozen=True)
class Printed:
    """What a tool printed and how it ended."""

    status: int | None
    out: str
    err: str
    workspace: str
    """The workspace as the tool saw it."""
    folder: str
    """The folder in it that the tool ran in."""

    def path(self, name: str) -> str:
        """A path in the workspace."""
        name = name.removeprefix(self.workspace.rstrip("/") + "/") if name.startswith("/") else join(self.folder, name)
        return shown(normpath(name))


def made(tool: str, path: str, line: object, rule: object, message: object) -> LintIssue:
    """A finding, its texts on one line and of bounded length."""
    at = line if isinstance(line, int) and not isinstance(line, bool) and line > 0 else 0
    words = " ".join(str(message or "").split())
    return LintIssue(tool, path, at, shown(str(rule or "")[:80]), shown(words[:MAX_MESSAGE]))


def findings_of(tool: str, printed: Printed) -> list[LintIssue]:
    """What a tool found; raises LinterFailed where it could not look."""
    return READERS[tool](printed)[:MAX_FINDINGS]


def _rows(printed: Printed) -> list[dict[str, Any]]:
    try:
        rows = json.loads(printed.out)
    except (ValueError, RecursionError):
        rows = None
    if not isinstance(rows, list):
        raise LinterFailed(why(printed))
    return [row for row in rows if isinstance(row, dict)]


def why(printed: Printed) -> str:
    """What a tool says of its own failure, in a line."""
    lines = [line.strip() for line in (printed.err.strip() or printed.out.strip()).splitlines()]
    lines = [line for line in lines if line and not line.startswith(("Oops! Something", "ESLint:", "at ", "|"))]
    said = "; ".join(lines[:4]).replace(printed.workspace.rstrip("/") + "/", "")[:300]
    return shown(said) or f"it ended with status {printed.status} and said nothing"


def _ruff(printed: Printed) -> list[LintIssue]:
    found = []
    for row in _rows(printed):
        where = row.get("location")
        line = where.get("row") if isinstance(where, dict) else 0
        path = printed.path(str(row.get("filename") or ""))
        found.append(made(RUFF, path, line, row.get("code") or "invalid-syntax", row.get("message")))
    return found


def _ruff_format(printed: Printed) -> list[LintIssue]:
    """Files that it would change; those that do not parse are a finding of ruff's already."""
    return [
        made(RUFF_FORMAT, printed.path(str(row.get("filename") or "")), 0, "format", "the file is not formatted")
        for row in _rows(printed)
        if row.get("code") == "unformatted"
    ]


def _eslint(printed: Printed) -> list[LintIssue]:
    found = []
    for row in _rows(printed):
        path = printed.path(str(row.get("filePath") or ""))
        messages = row.get("messages")
        for message in messages if isinstance(messages, list) else []:
            if not isinstance(message, dict) or not (message.get("ruleId") or message.get("fatal")):
                continue
            rule = message.get("ruleId") or "syntax"
            found.append(made(ESLINT, path, message.get("line"), rule, message.get("message")))
    return found


def _prettier(printed: Printed) -> list[LintIssue]:
    if PRETTIER_CONFIG.search(printed.err) or printed.status not in (0, 1, 2):
        raise LinterFailed(why(printed))
    broken = [
        made(PRETTIER, printed.path(path), int(line or 0), "syntax", words)
        for path, words, line in PRETTIER_SYNTAX.findall(printed.err)
    ]
    if printed.status == 2 and not broken:
        raise LinterFailed(why(printed))
    names = [line for line in printed.out.splitlines() if line]
    return broken + [made(PRETTIER, printed.path(name), 0, "format", "the file is not formatted") for name in names]


def _tsc(printed: Printed) -> list[LintIssue]:
    found = [
        made(TSC, printed.path(path), int(line), rule, words)
        for path, line, rule, words in TSC_LINE.findall(printed.out.replace("\r", ""))
    ]
    general = [(rule, words) for rule, words in TSC_GLOBAL.findall(printed.out) if rule != NO_INPUTS]
    if general:
        raise LinterFailed(shown(f"{general[0][0]}: {general[0][1]}"[:300]))
    configs = [one for one in found if re.search(r"(^|/)tsconfig[^/]*\.json$", one.path)]
    if configs:
        raise LinterFailed(str(configs[0]))
    if printed.status and not found and NO_INPUTS not in printed.out:
        raise LinterFailed(why(printed))
    return found


READERS: dict[str, Callable[[Printed], list[LintIssue]]] = {
    RUFF: _ruff,
    RUFF_FORMAT: _ruff_format,
    ESLINT: _eslint,
    PRETTIER: _prettier,
    TSC: _tsc,
}


def key(one: LintIssue) -> tuple[str, str, str, str]:
    """What makes two findings the same, wherever in the file they are."""
    return one.tool, one.path, one.rule, re.sub(r"\d+", "0", one.message)


def beyond(found: Iterable[LintIssue], known: Iterable[LintIssue]) -> list[LintIssue]:
    """The findings that are not among the known ones, each known one counted once."""
    left = Counter(key(one) for one in known)
    new = []
    for one in sorted(found):
        if left[key(one)]:
            left[key(one)] -= 1
        else:
            new.append(one)
    return new

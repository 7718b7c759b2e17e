""".editorconfig: the settings come from the package `editorconfig`, and orvl itself checks files against them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from orvl.capture.lint.linter import Linter, LintRoot, issue, named
from orvl.capture.lint.workspace import shown
from orvl.errors import LinterFailed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from orvl.capture.lint.linter import LintIssue, Run
    from orvl.capture.lint.workspace import Workspace

FILE = ".editorconfig"
SECONDS = 10
MAX_A_FILE = 20
STEPS = 3
ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
BOMS = {"utf-8-bom": b"\xef\xbb\xbf", "utf-16le": b"\xff\xfe", "utf-16be": b"\xfe\xff"}


class EditorConfig(Linter):
    """The properties of .editorconfig that can be seen in a file."""

    name = "editorconfig"

    def roots(self, files: Workspace) -> list[LintRoot]:
        configs = named(files, [FILE])
        return [LintRoot(self, "", tuple(configs))] if configs else []

    async def check(self, root: LintRoot, paths: Sequence[str], files: Workspace, run: Run) -> list[LintIssue]:  # noqa: ARG002
        return await asyncio.to_thread(check, paths, files)


def check(paths: Sequence[str], files: Workspace) -> list[LintIssue]:
    """What files do against the configurations above them."""
    configs = {path: files.text_of(path) for path in named(files, [FILE])}
    found = []
    for path, settings in settings_of(configs, paths).items():
        wanted = {name: value for name, value in settings.items() if value != "unset"}
        if wanted and (content := files.bytes_of(path)):
            found += _issues(path, content, wanted)
    return found


def settings_of(configs: Mapping[str, str], paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """The settings for each file; raises LinterFailed if a configuration is broken or takes too long to apply."""
    question = json.dumps({"configs": configs, "paths": paths, "seconds": SECONDS})
    argv = [sys.executable, "-P", "-m", __name__]
    try:
        done = subprocess.run(argv, input=question, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise LinterFailed("its patterns take too long") from None
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise LinterFailed(shown(lines[-1]) if lines else "its patterns take too long")
    answer: dict[str, Any] = json.loads(done.stdout)
    if "wrong" in answer:
        _, number, line = answer["wrong"]
        raise LinterFailed(f"line {number} of {FILE} is neither a section nor a setting: {shown(line[:80])}")
    settings: dict[str, dict[str, str]] = answer["settings"]
    return settings


def _issues(path: str, content: bytes, wanted: Mapping[str, str]) -> list[LintIssue]:
    found: list[LintIssue] = []
    counts = Counter[str]()

    def add(line: int, rule: str, message: str) -> None:
        counts[rule] += 1
        if counts[rule] <= MAX_A_FILE:
            found.append(issue(EditorConfig.name, path, line, rule, message))

    if problem := _charset(content, wanted.get("charset", "")):
        add(0, "charset", problem)
    if wanted.get("insert_final_newline") == "true" and not content.endswith((b"\n", b"\r")):
        add(content.count(b"\n") + 1, "insert_final_newline", "no newline at the end of the file")
    if wanted.get("insert_final_newline") == "false" and content.endswith((b"\n", b"\r")):
        add(0, "insert_final_newline", "a newline at the end of the file")
    if problem := _line_ends(content, wanted.get("end_of_line", "")):
        add(0, "end_of_line", problem)
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    style = wanted.get("indent_style")
    for number, line in enumerate(lines, 1):
        if wanted.get("trim_trailing_whitespace") == "true" and line != line.rstrip(b" \t"):
            add(number, "trim_trailing_whitespace", "whitespace at the end of a line")
        lead = line[: len(line) - len(line.lstrip(b" \t"))]
        if style == "space" and b"\t" in lead and lead != line:
            add(number, "indent_style", "a tab instead of spaces")
        elif style == "tab" and lead.startswith(b"  ") and lead != line and not line.lstrip().startswith(b"*"):
            add(number, "indent_style", "spaces instead of a tab")
    if style == "space" and (problem := _indent(lines, wanted.get("indent_size", ""))):
        add(0, "indent_size", problem)
    return found


def _charset(content: bytes, wanted: str) -> str | None:
    if wanted in BOMS:
        return None if content.startswith(BOMS[wanted]) else f"no byte order mark of {wanted}"
    if wanted == "utf-8" and content.startswith(BOMS["utf-8-bom"]):
        return "a byte order mark"
    if wanted == "utf-8":
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            return "not UTF-8"
    return None


def _line_ends(content: bytes, wanted: str) -> str | None:
    both = content.count(b"\r\n")
    seen = {"crlf": both, "lf": content.count(b"\n") - both, "cr": content.count(b"\r") - both}
    wrong = [name for name, count in seen.items() if count and name != wanted]
    return f"lines end with {' and '.join(wrong)} instead of {wanted}" if wanted in ENDS and wrong else None


def _indent(lines: list[bytes], wanted: str) -> str | None:
    """The step by which lines are most often indented, if it is seen often enough and is not the one wanted."""
    if not wanted.isascii() or not wanted.isdigit() or not 0 < int(wanted[:3]) <= 16:
        return None
    widths = [len(line) - len(line.lstrip(b" ")) for line in lines if line.strip()]
    steps = Counter(new - old for old, new in pairwise(widths) if new > old)
    if sum(steps.values()) < STEPS or steps[int(wanted[:3])]:
        return None
    step = steps.most_common(1)[0][0]
    return f"lines are indented by {step}, not by {int(wanted[:3])}"


LINTERS: tuple[Linter, ...] = (EditorConfig(),)

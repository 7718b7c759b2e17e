"""What .editorconfig asks of files, checked by orvl itself: no program is needed for it."""

from __future__ import annotations

import time
from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from orvl.capture.lint.findings import LintIssue, made
from orvl.capture.lint.globs import Glob, TooMuch, globs_of
from orvl.capture.lint.tools import EDITOR, EDITORCONFIG
from orvl.capture.lint.workspace import folder_of, lies_in, shown
from orvl.errors import LinterFailed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.capture.lint.workspace import Workspace

SECONDS = 10.0
MAX_SECTIONS = 100
MAX_A_FILE = 20
STEPS = 3
ENDS = {"lf": b"\n", "crlf": b"\r\n", "cr": b"\r"}
BOMS = {"utf-8-bom": b"\xef\xbb\xbf", "utf-16le": b"\xff\xfe", "utf-16be": b"\xfe\xff"}
Section = tuple[list[Glob], dict[str, str]]


def check(files: Workspace, paths: Iterable[str]) -> list[LintIssue]:
    """What files do against the .editorconfig files that lie above them; raises LinterFailed if it takes too long."""
    end = time.monotonic() + SECONDS
    configs = {path: _read(files.text_of(path)) for path in files.own if path.split("/")[-1] == EDITOR}
    found = []
    for path in paths:
        asked = _asked(configs, path)
        if asked and (content := files.bytes_of(path)) is not None:
            found += _found(path, content, asked)
        if time.monotonic() > end:
            raise LinterFailed("its patterns take too long")
    return found


def _read(text: str) -> tuple[bool, list[Section]]:
    """Whether a file is the root, and its sections; raises LinterFailed on a line that is none of the format's."""
    root, sections = False, list[Section]()
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = line.strip()
        if not line or line[0] in "#;":
            continue
        if line.startswith("[") and line.endswith("]"):
            sections.append((_globs(line[1:-1]), {}))
            continue
        name, is_pair, value = line.partition("=")
        if not is_pair or len(sections) > MAX_SECTIONS:
            raise LinterFailed(f"line {number} of {EDITOR} is neither a section nor a setting: {shown(line[:80])}")
        if sections:
            sections[-1][1][name.strip().lower()] = value.strip().lower()
        elif name.strip().lower() == "root":
            root = value.strip().lower() == "true"
    return root, sections


def _globs(pattern: str) -> list[Glob]:
    try:
        return globs_of(pattern)
    except TooMuch as error:
        raise LinterFailed(f"a pattern of {EDITOR} is too long: {shown(str(error)[:80])}") from None


def _asked(configs: dict[str, tuple[bool, list[Section]]], path: str) -> dict[str, str]:
    """The settings for a file: those of the nearest .editorconfig last, none above a root."""
    asked: dict[str, str] = {}
    above = sorted((one for one in configs if lies_in(path, folder_of(one))), key=len)
    roots = [at for at, one in enumerate(above) if configs[one][0]]
    for one in above[roots[-1] if roots else 0 :]:
        inside = path[len(folder_of(one)) + 1 :] if folder_of(one) else path
        for globs, settings in configs[one][1]:
            if any(glob.matches(inside) for glob in globs):
                asked |= settings
    return {name: value for name, value in asked.items() if value != "unset"}


def _found(path: str, content: bytes, asked: dict[str, str]) -> list[LintIssue]:
    if not content:
        return []
    found: list[LintIssue] = []
    counts = Counter[str]()

    def add(line: int, rule: str, message: str) -> None:
        counts[rule] += 1
        if counts[rule] <= MAX_A_FILE:
            found.append(made(EDITORCONFIG, path, line, rule, message))

    if problem := _charset(content, asked.get("charset", "")):
        add(0, "charset", problem)
    if asked.get("insert_final_newline") == "true" and not content.endswith((b"\n", b"\r")):
        add(content.count(b"\n") + 1, "insert_final_newline", "the last line does not end")
    if asked.get("insert_final_newline") == "false" and content.endswith((b"\n", b"\r")):
        add(0, "insert_final_newline", "the last line ends with a newline")
    if problem := _line_ends(content, asked.get("end_of_line", "")):
        add(0, "end_of_line", problem)
    lines = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    style = asked.get("indent_style")
    for number, line in enumerate(lines, 1):
        if asked.get("trim_trailing_whitespace") == "true" and line != line.rstrip(b" \t"):
            add(number, "trim_trailing_whitespace", "whitespace at the end of a line")
        lead = line[: len(line) - len(line.lstrip(b" \t"))]
        if style == "space" and b"\t" in lead and lead != line:
            add(number, "indent_style", "a tab where spaces are asked for")
        elif style == "tab" and lead.startswith(b"  ") and lead != line and not line.lstrip().startswith(b"*"):
            add(number, "indent_style", "spaces where tabs are asked for")
    if style == "space" and (problem := _indent(lines, asked.get("indent_size", ""))):
        add(0, "indent_size", problem)
    return found


def _charset(content: bytes, asked: str) -> str | None:
    if asked in BOMS:
        return None if content.startswith(BOMS[asked]) else f"it does not begin with the mark of {asked}"
    if asked == "utf-8" and content.startswith(BOMS["utf-8-bom"]):
        return "it begins with a byte order mark"
    if asked == "utf-8":
        try:
            content.decode("utf-8")
        except UnicodeDecodeError:
            return "it is not UTF-8"
    return None


def _line_ends(content: bytes, asked: str) -> str | None:
    both = content.count(b"\r\n")
    seen = {"crlf": both, "lf": content.count(b"\n") - both, "cr": content.count(b"\r") - both}
    wrong = [name for name, count in seen.items() if count and name != asked]
    return f"lines end with {' and '.join(wrong)} instead of {asked}" if asked in ENDS and wrong else None


def _indent(lines: list[bytes], asked: str) -> str | None:
    """The step by which lines are most often indented, where it is seen often enough and is another one."""
    if not asked.isascii() or not asked.isdigit() or not 0 < int(asked[:3]) <= 16:
        return None
    widths = [len(line) - len(line.lstrip(b" ")) for line in lines if line.strip()]
    steps = Counter(new - old for old, new in pairwise(widths) if new > old)
    if sum(steps.values()) < STEPS or steps[int(asked[:3])]:
        return None
    step = steps.most_common(1)[0][0]
    return f"lines are indented by {step}, not by {int(asked[:3])}"

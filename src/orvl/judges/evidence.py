"""What a judge sees of a run: made once, hashed, the same for all; and a second view without words to readers."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.judges.forms import Picture
from orvl.judges.pages import page_text
from orvl.judges.plain import plain_text
from orvl.judges.select import Selected, Shown, numbered, select, shares
from orvl.judges.suspicion import is_odd_name, is_suspicious

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from orvl.capture import CapturedRun
    from orvl.types import CheckResult

ROOM = 120_000
SHOWN_OUTPUT = 1500
MOST_REMOVED = 40
MOST_LINT = 60
SHORTEST_NAME = 4


@dataclass(frozen=True)
class View:
    """The evidence as one text, between marks that hold its own hash, and the names that files have in it."""

    text: str
    nonce: str
    names: dict[str, str] = field(default_factory=dict)
    """The names that are shown, and the paths that they stand for."""


@dataclass(frozen=True)
class Evidence:
    """Both views of a run; `plain` is None where it would be the same."""

    full: View
    plain: View | None
    left_out: tuple[str, ...]
    suspicious: tuple[str, ...]
    """Places that seem to speak to a judge."""

    @property
    def key(self) -> str:
        return self.full.nonce


def gather(run: CapturedRun, named_in: Sequence[str], room: int = ROOM) -> Evidence:
    """The evidence of a run, with as many characters of files as there is room for."""
    selected = select(run, [*run.prompts, *named_in])
    full, gaps = _view(run, selected, room, plain=False)
    plain, _ = _view(run, selected, room, plain=True)
    is_same = _inner(full) == _inner(plain)
    found = tuple(_suspicious(run, selected))
    return Evidence(full, None if is_same else plain, (*selected.left_out, *gaps), found)


def _inner(view: View) -> str:
    return view.text.replace(view.nonce, "")


def _view(run: CapturedRun, selected: Selected, room: int, *, plain: bool) -> tuple[View, list[str]]:
    names = _names(selected.files, plain=plain)
    parts = [*_task(run), *_checks(run.checks, plain=plain), *_lint(run), *page_text(run.page, plain=plain)]
    listed, gaps = _files(run, selected, names, room, plain=plain)
    parts += listed
    left_out = [] if plain else [*selected.left_out, *gaps]
    if run.removed:
        parts.append("# Files that were removed\n" + "\n".join(run.removed[:MOST_REMOVED]))
    if left_out:
        parts.append("# Not shown here\n" + "\n".join(left_out[:MOST_REMOVED]))
    text = _without_names("\n\n".join(parts), run.hidden_names)
    nonce = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    marked = f"<<<evidence {nonce}>>>\n{text}\n<<<end of evidence {nonce}>>>"
    return View(marked, nonce, {shown: path for path, shown in names.items()}), gaps


def _task(run: CapturedRun) -> list[str]:
    many = len(run.prompts) > 1
    told = [f"## prompt:{number}\n{prompt}" if many else prompt for number, prompt in enumerate(run.prompts, 1)]
    ended = [] if run.outcome == "finished" else ["# The work was cut short before it was called finished."]
    return ["# The task\n" + "\n\n".join(told), *ended]


def _checks(checks: Sequence[CheckResult], *, plain: bool) -> list[str]:
    lines = []
    for check in checks:
        word = "passed" if check.passed else f"failed ({check.cut or f'status {check.status}'})"
        lines.append(f"check:{check.name} {word}")
        if not check.passed and not plain and check.output.strip():
            lines.append("    " + check.output.strip()[-SHOWN_OUTPUT:].replace("\n", "\n    "))
    return ["# Checks that programs made\n" + "\n".join(lines)] if lines else []


def _lint(run: CapturedRun) -> list[str]:
    lines = run.lint.lines() if run.lint else []
    return ["# What the project's own linters found\n" + "\n".join(lines[:MOST_LINT])] if lines else []


def _files(
    run: CapturedRun, selected: Selected, names: dict[str, str], room: int, *, plain: bool
) -> tuple[list[str], list[str]]:
    gaps = []
    parts = []
    texts = [plain_text(file.path, file.text) if plain else file.text for file in selected.files]
    for file, text, share in zip(
        selected.files, texts, shares([_size(one) for one in selected.files], room), strict=True
    ):
        told, gap = numbered(file, _lines(text), share)
        gaps += [gap] if gap else []
        state = "as it was before" if file.new is not None and not file.new and not file.removed else "changed"
        kind = "new" if file.new is None else state
        parts.append(f"## {names[file.path]} ({kind})\n{told}")
        if file.removed and not plain:
            gone = "\n".join(f"- {line[:200]}" for line in file.removed[:MOST_REMOVED])
            parts.append(f"Lines that were removed from it:\n{gone}")
    if not parts:
        empty = "No file was made or changed." if not run.made else "No file that was made can be shown as text."
        return [f"# Files\n{empty}"], gaps
    return ["# Files, with line numbers; + marks new lines in files that were there before", *parts], gaps


def _size(file: Shown) -> int:
    """About what a file takes with its line numbers."""
    return len(file.text) + 8 * (file.text.count("\n") + 1)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines[:-1] if lines and not lines[-1] else lines


def _names(files: Iterable[Shown], *, plain: bool) -> dict[str, str]:
    """The name under which each file is shown: its path, or in the plain view a number where the name is a sentence."""
    names = {}
    for number, file in enumerate(files, 1):
        is_odd = plain and any(is_odd_name(part) for part in file.path.split("/"))
        ending = re.search(r"\.\w{1,8}$", file.path)
        shown = f"file-{number}{ending[0] if ending else ''}" if is_odd else file.path
        names[file.path] = " ".join(shown.encode("utf-8", "backslashreplace").decode().split("\n"))
    return names


def _without_names(text: str, names: Iterable[str]) -> str:
    """Takes the names of the agent, its model and its provider out: the judge is blind."""
    words = [re.escape(name) for name in names if len(name) >= SHORTEST_NAME]
    if not words:
        return text
    longest_first = "|".join(sorted(words, key=len, reverse=True))
    return re.sub(rf"(?<![\w-])(?:{longest_first})(?![\w-])", "[name]", text, flags=re.IGNORECASE)


def _suspicious(run: CapturedRun, selected: Selected) -> Iterable[str]:
    for file in selected.files:
        if any(is_odd_name(part) for part in file.path.split("/")):
            yield f"the name {file.path[:80]}"
        if not is_suspicious(file.text):
            continue
        for number, line in enumerate(_lines(file.text), 1):
            if is_suspicious(line) and (file.new is None or number in file.new):
                yield f"{file.path}:{number}"
                break
    page = run.page
    if page is not None and any(is_suspicious(text) for text in (page.visible_text, page.hidden_text) if text):
        yield "the page"


class Pointers:
    """What pointers of a view may name."""

    def __init__(self, run: CapturedRun, view: View, pictures: Sequence[Picture] = ()) -> None:
        self._run, self._view = run, view
        self._pictures = {picture.name for picture in pictures}
        self._checks = {check.name: check.passed for check in run.checks}
        page = run.page
        self._steps = {str(step.number): step.passed for step in page.steps} if page else {}
        self._shots = {shot.name for shot in page.shots} if page else set()

    @property
    def kinds(self) -> list[str]:
        """How pointers are written, as the judge is told."""
        kinds = ["`path:line` or `path:first-last` of a file above", "`path` where a whole file is meant"]
        if self._checks:
            kinds.append("`check:NAME`")
        if self._steps:
            kinds.append("`step:NUMBER`")
        if self._pictures:
            kinds.append("`screenshot:NAME`")
        if self._run.page is not None:
            kinds.append("`page` for what the browser found")
        if self._run.lint:
            kinds.append("`lint` for what the linters found")
        return kinds

    def trouble(self, pointer: str) -> str | None:
        """Why a pointer does not support a yes; None where it does."""
        written = pointer.strip().strip("`'\"[]()<> ")
        if not written:
            return "a yes without a pointer"
        problems = [self._one(part) for part in dict.fromkeys([written, *re.split(r"\s*[,;]\s*", written)])]
        return None if None in problems else problems[0]

    def _one(self, pointer: str) -> str | None:
        kind, _, name = pointer.partition(":")
        kind, name = kind.strip().lower(), name.strip()
        if kind == "check" and name:
            return self._passed(self._checks, name, f"there is no check '{name[:60]}'", f"the check {name[:60]} failed")
        if kind == "step" and name:
            return self._passed(self._steps, name, f"there is no step {name[:20]}", f"step {name[:20]} did not pass")
        if kind == "screenshot" and name:
            known = name in self._shots or name in self._pictures
            return None if known else f"there is no screenshot '{name[:60]}'"
        if (pointer == "page" and self._run.page is not None) or (pointer == "lint" and self._run.lint):
            return None
        if re.fullmatch(r"prompt(:\d+)?", pointer) and pointer != "prompt:0":
            return None if int(name or 1) <= len(self._run.prompts) else f"there is no {pointer}"
        return self._place(pointer)

    @staticmethod
    def _passed(known: Mapping[str, bool | None], name: str, missing: str, failed: str) -> str | None:
        if name not in known:
            return missing
        return None if known[name] else failed

    def _place(self, pointer: str) -> str | None:
        found = re.fullmatch(r"(.+?)(?:[:#]L?(\d{1,9})(?:[-–:]L?(\d{1,9}))?)?", pointer, re.DOTALL)
        assert found is not None
        path = self._view.names.get(found[1]) or self._view.names.get(found[1].removeprefix("./"))
        if path is None:
            return f"there is no file '{found[1][:80]}'"
        last = int(found[3] or found[2] or 1)
        lines = len(_lines(self._run.read(path)))
        if found[2] and (last > lines or int(found[2]) < 1):
            return f"{found[1][:80]} has {lines} lines, and no line {last if last > lines else found[2]}"
        return None

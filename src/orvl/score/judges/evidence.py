"""What a judge sees of a run: made once, hashed, the same for all judges; and a second view without words to readers.

The order (task, checks, linters, page, files) and every word are part of what judges are asked: when something changes,
raise `WORDING` in project/judges.py. The marks around it hold its own hash, which the work cannot know when it is
written, so that no file can pretend that the evidence ends.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from orvl.score.judges.file_selection import NAMED, NEW, SelectedFiles, numbered, rooms, select
from orvl.score.judges.injection import USUAL, is_odd_path, is_ordinary, is_suspicious, words_of
from orvl.score.judges.redaction import CUT, UNSEEN, bare_code, escape, folded, one_line, without_names

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from orvl.capture.browser.result import Look
    from orvl.capture.captured_run import CapturedRun
    from orvl.types import CheckResult

DEFAULT_ROOM = 120_000
MAX_CHECK_OUTPUT = 1_500
MAX_ALL_OUTPUT = 6_000
MAX_LINES = 40
MAX_LINT = 60
MAX_PAGE_LINES = 40
MAX_TREE = 8000
MAX_HIDDEN_TEXT = 4000
MAX_PAGE_LINE = 300
MAX_SEARCHED = 600_000
MAX_KNOWN_LINES = 5_000


@dataclass(frozen=True)
class EvidenceView:
    """The evidence as one text between its marks, and the names that files have in it."""

    text: str
    nonce: str
    is_plain: bool = False
    names: Mapping[str, str] = field(default_factory=dict)
    """The paths of files, by the names under which they are shown."""
    lengths: Mapping[str, int] = field(default_factory=dict)
    """The number of lines of each path."""
    emptied: frozenset[str] = frozenset()
    """All that was made, where the plain view leaves nothing of any of it."""
    work: str = ""
    """What is shown of files, where a program looks for words that a judge says are missing."""
    known: frozenset[str] = frozenset()
    """The words of the task, which names in the plain view may have."""


@dataclass(frozen=True)
class RunEvidence:
    """Both views of a run; `plain` is None where it would be the same."""

    full: EvidenceView
    plain: EvidenceView | None
    left_out: tuple[str, ...]
    suspicious: tuple[str, ...]
    """Places that seem to speak to a judge."""

    @property
    def key(self) -> str:
        return self.full.nonce


def gather(run: CapturedRun, named_in: Sequence[str], room: int = DEFAULT_ROOM) -> RunEvidence:
    """The evidence of a run, with at most `room` characters of its files."""
    selected = select(run, [*run.prompts, *named_in], room)
    full, gaps = _view(run, selected, room, plain=False)
    plain, _ = _view(run, selected, room, plain=True)
    is_same = full.text.replace(full.nonce, "") == plain.text.replace(plain.nonce, "")
    left_out = tuple(_blind(run, line) for line in (*selected.left_out, *gaps))
    return RunEvidence(full, None if is_same else plain, left_out, tuple(_suspicious(run, selected)))


def _view(run: CapturedRun, selected: SelectedFiles, room: int, *, plain: bool) -> tuple[EvidenceView, list[str]]:
    known = _known_words(run, selected) if plain else frozenset()
    names = _names(run, selected, known, plain=plain)
    listed, gaps, emptied = _files(run, selected, names, room, known, plain=plain)
    parts = [
        *_task(run),
        *_checks(run.checks, plain=plain),
        *_lint(run, plain=plain),
        *map(escape, page_text(run.page, plain=plain)),
        *listed,
    ]
    left_out = [*([] if plain else selected.left_out), *gaps, *(["more was cut from its page"] if _is_cut(run) else [])]
    if run.removed and not plain:
        more = [f"… and {len(run.removed) - MAX_LINES:,} more"] if len(run.removed) > MAX_LINES else []
        parts.append("# Files that were removed\n" + "\n".join([*map(one_line, run.removed[:MAX_LINES]), *more]))
    if left_out:
        more = [f"… and {len(left_out) - MAX_LINES:,} more such places"] if len(left_out) > MAX_LINES else []
        parts.append("# Not shown here\n" + "\n".join([*left_out[:MAX_LINES], *more]))
    text = _blind(run, "\n\n".join(parts))
    nonce = hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]
    marked = f"<<<evidence {nonce}>>>\n{text}\n<<<end of evidence {nonce}>>>"
    lengths = {file.path: len(file.lines) for file in selected.files}
    shown = {shown: path for path, shown in names.items()}
    work = "\n".join(listed[1:])
    return EvidenceView(marked, nonce, plain, shown, lengths, emptied, work, known), gaps


def _is_cut(run: CapturedRun) -> bool:
    return run.page is not None and run.page.status == "partial"


def _task(run: CapturedRun) -> list[str]:
    many = len(run.prompts) > 1
    prompts = [f"## prompt:{number}\n{prompt}" if many else prompt for number, prompt in enumerate(run.prompts, 1)]
    ended = [] if run.outcome == "finished" else ["# The work was cut short before it was called finished."]
    return ["# The task\n" + "\n\n".join(prompts), *ended]


def _checks(checks: Sequence[CheckResult], *, plain: bool) -> list[str]:
    lines = []
    room = 0 if plain else MAX_ALL_OUTPUT
    for check in checks:
        word = "passed" if check.passed else f"failed ({check.cut or f'status {check.status}'})"
        lines.append(f"check:{check.name} {word}")
        said = "" if check.passed else escape(check.output.strip())[-min(room, MAX_CHECK_OUTPUT) :] if room else ""
        if said:
            room -= len(said)
            lines.append("    " + said.replace("\n", "\n    "))
    return ["# Checks that programs made\n" + "\n".join(lines)] if lines else []


def _lint(run: CapturedRun, *, plain: bool) -> list[str]:
    if run.lint is None:
        return []
    lines = [f"{run.lint.new_count} new findings"] if plain else list(map(one_line, run.lint.lines()))[:MAX_LINT]
    return ["# What the project's own linters found\n" + "\n".join(lines)] if lines else []


def _files(
    run: CapturedRun,
    selected: SelectedFiles,
    names: Mapping[str, str],
    room: int,
    known: frozenset[str],
    *,
    plain: bool,
) -> tuple[list[str], list[str], frozenset[str]]:
    """What is shown of files, what is not, and the paths of all work where the plain view leaves nothing of it."""
    gaps, parts, emptied = [], [], set()
    made = {file.path for file in selected.files if file.state != NAMED}
    for file, share in zip(selected.files, rooms(selected.files, room), strict=True):
        lines = bare_code(file.path, file.text, known).split("\n") if plain else file.lines
        if plain and file.text.strip() and not "".join(lines).strip(f" \t{CUT}"):
            emptied.add(file.path)
        shown, gap = numbered(file, lines[: len(file.lines)], names[file.path], share, plain=plain)
        gaps += [gap] if gap else []
        moved = f"Moved from {one_line(file.moved_from)}.\n" if file.moved_from and not plain else ""
        parts.append(f"## {names[file.path]} ({file.state})\n{moved}{shown}")
    if not parts:
        empty = "No file was made or changed." if not run.made else "No file that was made can be shown as text."
        return [f"# Files\n{empty}"], gaps, frozenset()
    head = "# Files, with line numbers; in files that were there before, + marks new lines and - those that are gone"
    return [head, *parts], gaps, frozenset(made if made <= emptied else ())


def _known_words(run: CapturedRun, selected: SelectedFiles) -> frozenset[str]:
    """The words of the task, and of files as they were before: what the work did not make up."""
    texts = [*run.own_words, *(path for path in run.started_with if len(path) < MAX_PAGE_LINE)]
    for file in selected.files:
        if file.state == NAMED or (file.is_compared and file.state != NEW):
            texts += [line for number, line in enumerate(file.lines, 1) if number not in file.new][:MAX_KNOWN_LINES]
    found = set(re.findall(r"[A-Za-z]+", "\n".join(texts)[:MAX_SEARCHED], re.ASCII))
    return frozenset(word.lower() for name in found for word in words_of(name) if len(word) > 1)


def _names(run: CapturedRun, selected: SelectedFiles, known: frozenset[str], *, plain: bool) -> dict[str, str]:
    """The name under which each file is shown: its path, or a number in the plain view if that may be a sentence."""
    names: dict[str, str] = {}
    for number, file in enumerate(selected.files, 1):
        ending = re.search(r"\.\w{1,8}$", file.path, re.ASCII)
        neutral = f"file-{number}{ending[0] if ending else ''}"
        is_new = plain and file.path not in run.started_with
        is_odd = is_new and (is_odd_path(file.path) or not is_ordinary(words_of(file.path), known | USUAL))
        shown = neutral if is_odd else _blind(run, one_line(file.path))
        names[file.path] = neutral if shown in names.values() else shown
    return names


def _blind(run: CapturedRun, text: str) -> str:
    return without_names(text, run.hidden_names, run.own_words)


def _speaks(text: str) -> bool:
    """Whether a text seems to speak to a judge, also in letters that look like others, or with invisible ones."""
    return is_suspicious(text) or is_suspicious(re.sub(UNSEEN, "", folded(text)))


def _suspicious(run: CapturedRun, selected: SelectedFiles) -> Iterator[str]:
    """Places where the work itself seems to speak to a judge; what it started from is not its own."""
    for file in selected.files:
        if file.path not in run.started_with and is_suspicious(re.sub(r"[\W_]+", " ", file.path)):
            yield f"the name {one_line(file.path)}"
        own = file.own_text[:MAX_SEARCHED]
        if not _speaks(own):
            continue
        for number, line in enumerate(file.lines, 1):
            is_new = file.state == NEW or number in file.new or not file.is_compared
            if is_new and _speaks(line):
                yield f"{one_line(file.path)}:{number}"
                break
    page = run.page
    if page is not None and any(_speaks(text) for text in (page.visible_text, page.hidden_text) if text):
        yield "the page"


# -- what the browser found


def page_text(page: Look | None, *, plain: bool) -> list[str]:
    """Steps, errors, defects and the accessibility tree; in the plain view without the page's own sentences."""
    if page is None:
        return []
    lines = [f"The browser's look: {page.status}" + (f" ({page.reason})" if page.reason else "")]
    for step in page.steps:
        why = _unless(plain, f" ({step.reason})") if step.reason else ""
        lines.append(f"step:{step.number} {step.step}: {step.word}{why}")
    for view in page.views:
        lines.append(f"{view.name}: " + ("loaded" if view.loaded else f"did not load ({view.reason})"))
    notes = [f"{note.kind} ({note.view}){_unless(plain, f': {note.text}')}" for note in page.notes]
    for defect in page.defects or ():
        notes.append(f"defect, {defect.kind} ({defect.view}){_unless(plain, f': {defect.target} {defect.detail}')}")
    notes += [f"accessibility, {rule.impact}: {rule.help} ({rule.count} times)" for rule in page.axe or ()]
    lines += notes[:MAX_PAGE_LINES]
    if len(notes) > MAX_PAGE_LINES:
        lines.append(f"and {len(notes) - MAX_PAGE_LINES} more such lines")
    parts = ["# What a browser found\n" + "\n".join(lines)]
    if page.tree:
        lines = page.tree[:MAX_TREE].split("\n")
        tree = "\n".join(_role(line) if plain else line[:MAX_PAGE_LINE] for line in lines)
        parts.append("# The accessibility tree of the page\n" + tree)
    if page.hidden_text and not plain:
        parts.append("# Text of the page that cannot be seen\n" + page.hidden_text[:MAX_HIDDEN_TEXT])
    return parts


def _unless(plain: bool, text: str) -> str:
    return "" if plain else text.replace("\n", " ")[:MAX_PAGE_LINE]


def _role(line: str) -> str:
    """A line of the tree without what the page says there."""
    match = re.match(r"\s*- [a-z]+", line)
    return match[0] if match else ""

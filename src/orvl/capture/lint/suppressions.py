"""Comments that turn a linter off: which of them the agent added, and the work as if they were not there."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from orvl.capture.lint.configs import ConfigEdit
from orvl.capture.lint.linter import LintIssue, LintRoot, issue, nearest
from orvl.capture.lint.workspace import Workspace, shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MANY, MANY_PER_LINE = 5, 0.1
"""So many comments in one file, on that share of its lines, are as good as one over all of it."""
LETTERS = re.compile(r"[\w@]")
MAX_SHOWN = 200
MAX_COMMENTS = 3


@dataclass(frozen=True)
class Suppression:
    """A comment that turns a linter off, for a line or for a whole file."""

    tool: str
    path: str
    line: int
    start: int
    end: int
    """Its place in the file's text."""
    said: str
    """What turns the linter off."""
    text: str
    """The same with all that follows on the line, such as the rules that it names."""
    whole_line: str
    is_whole: bool
    is_one_of_many: bool = False

    @property
    def overrules(self) -> bool:
        """Whether it overrules the configuration for the file, alone or with others."""
        return self.is_whole or self.is_one_of_many

    @property
    def issue(self) -> LintIssue:
        return issue(self.tool, self.path, self.line, "suppression", f"a comment turns it off: {self.said}")


def suppressions(files: Workspace, paths: Iterable[str], roots: Sequence[LintRoot]) -> list[Suppression]:
    """All such comments in some files."""
    return [one for path in paths for root in nearest(roots, path) for one in _of_linter(files, path, root)]


def _of_linter(files: Workspace, path: str, root: LintRoot) -> list[Suppression]:
    mark, whole = root.linter.suppression, root.linter.file_suppression
    text, found = _text_of(files, path) if mark else "", []
    for hit in mark.finditer(text) if mark else ():
        start, end = hit.span()
        is_whole = bool(whole and whole.match(text, start))
        first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end) % (len(text) + 1)
        said, words, whole_line = map(_words, (hit[0], text[start:last], text[first:last]))
        line = text.count("\n", 0, start) + 1
        found.append(Suppression(root.name, path, line, start, end, said, words, whole_line, is_whole))
    return found


def _text_of(files: Workspace, path: str) -> str:
    """A character for each byte: what is no UTF-8 stays what it is."""
    return (files.bytes_of(path) or b"").decode("latin-1")


def _words(text: str) -> str:
    return text.encode("latin-1").decode("utf-8", "replace").strip()


def added(before: Workspace, after: Workspace, paths: Iterable[str], roots: Sequence[LintRoot]) -> list[Suppression]:
    """Those that the agent added: what the start has is not the agent's, wherever in the file it is now."""
    found = []
    for path in paths:
        for root in nearest(roots, path):
            new = _new(_of_linter(before, path, root), _of_linter(after, path, root))
            lines = _text_of(after, path).count("\n") + 1
            are_many = len(new) >= max(MANY, MANY_PER_LINE * lines)
            found += [replace(one, is_one_of_many=True) for one in new] if are_many else new
    return found


def _new(old: Sequence[Suppression], now: Sequence[Suppression]) -> list[Suppression]:
    """Comments on lines that were there before go first, so that an edited line does not take their place."""
    known, lines = Counter(one.text for one in old), {one.whole_line for one in old}
    new = []
    for one in sorted(now, key=lambda one: one.whole_line not in lines):
        if known[one.text]:
            known[one.text] -= 1
        else:
            new.append(one)
    return sorted(new, key=lambda one: one.start)


def without(files: Workspace, comments: Iterable[Suppression]) -> Workspace:
    """The workspace as if some comments said nothing; they stay as long as they are, for whoever counts columns."""
    by_path: dict[str, list[Suppression]] = {}
    for one in comments:
        by_path.setdefault(one.path, []).append(one)
    made, entries = dict(files.made), dict(files.by_path)
    for path, theirs in by_path.items():
        text = _text_of(files, path)
        for one in theirs:
            text = text[: one.start] + LETTERS.sub("=", text[one.start : one.end]) + text[one.end :]
        content = text.encode("latin-1")
        name = hashlib.sha256(content).hexdigest()
        made[name], entries[path] = content, replace(entries[path], hash=name, size=len(content))
    return replace(files, entries=[entries[entry.path] for entry in files.entries], made=made)


def counted(issues: Iterable[LintIssue], comments: Iterable[Suppression]) -> list[LintIssue]:
    """The issues that show without some comments, and the comments; one for a line counts once with what it hides."""
    left, said = list(issues), []
    for one in comments:
        hidden = None if one.is_whole else _hidden_by(one, left)
        if hidden and not one.is_one_of_many:
            left.remove(hidden)
        if not (hidden and one.is_one_of_many):
            said.append(one.issue)
    return left + said


def _hidden_by(comment: Suppression, issues: Iterable[LintIssue]) -> LintIssue | None:
    """An issue on its line, on the next one, or of the whole file."""
    places = (comment.line, comment.line + 1, 0)
    own = (each for each in issues if (each.tool, each.path) == (comment.tool, comment.path) and each.line in places)
    return min(own, key=lambda each: places.index(each.line), default=None)


def as_edits(comments: Iterable[Suppression]) -> list[ConfigEdit]:
    """What comments turn off for whole files, by file, as the edits of configurations that they are in effect."""
    by_path: dict[str, list[str]] = {}
    for one in comments:
        if one.overrules:
            by_path.setdefault(one.path, []).append(shown(f"+{one.text}"[:MAX_SHOWN]))
    return [ConfigEdit(shown(path), "overruled", _first(said)) for path, said in by_path.items()]


def _first(comments: Sequence[str]) -> tuple[str, ...]:
    more = len(comments) - MAX_COMMENTS
    return (*comments[:MAX_COMMENTS], f"{more} more comments") if more > 0 else tuple(comments)

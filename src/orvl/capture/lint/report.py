"""What linters say about a run's work: new issues, what edits of configurations hide, and a score."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from orvl.capture.lint.configs import ConfigEdit
from orvl.capture.lint.linter import LintIssue

FORM = 1
CAP = 0.5
"""The highest score of a run whose edits of configurations hide issues or stop a linter."""
PAR = 5.0
"""New issues per 100 lines that halve the score of a file with issues."""
FEWEST_LINES = 20
MOST_LINES = 1000
KEPT = 200
SHOWN = 20


@dataclass(frozen=True)
class LintSide:
    """The issues of one state of the workspace, and why some linters could not check it."""

    issues: Sequence[LintIssue] = ()
    trouble: Mapping[str, str] = field(default_factory=dict)

    def with_issues(self, issues: Iterable[LintIssue]) -> LintSide:
        """The same with other issues, of the linters that could check it."""
        return LintSide(tuple(each for each in issues if each.tool not in self.trouble), self.trouble)


@dataclass(frozen=True)
class LinterUse:
    """A linter that a workspace configures, and whether it ran."""

    name: str
    configs: tuple[str, ...]
    ran: bool
    reason: str | None = None
    by_agent: bool = False
    files: int = 0


@dataclass(frozen=True)
class FileMark:
    """A file that counts: its number of lines and of new issues."""

    path: str
    lines: int
    new: int

    @property
    def weight(self) -> float:
        return float(min(max(self.lines, FEWEST_LINES), MOST_LINES))

    @property
    def mark(self) -> float:
        """1 without new issues; else half of par / (par + issues per 100 lines)."""
        if not self.new:
            return 1.0
        return 0.5 * PAR / (PAR + 100 * self.new / max(self.lines, FEWEST_LINES))


@dataclass(frozen=True)
class LintReport:
    """How well a run's work satisfies the linters and formatters of the eval's workspace."""

    score: float | None
    reason: str | None = None
    cap: str | None = None
    tools: tuple[LinterUse, ...] = ()
    new: tuple[LintIssue, ...] = ()
    hidden: tuple[LintIssue, ...] = ()
    own: tuple[LintIssue, ...] = ()
    new_count: int = 0
    fixed_count: int = 0
    edits: tuple[ConfigEdit, ...] = ()
    left_out: tuple[str, ...] = ()
    files: tuple[FileMark, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {"form": FORM, **asdict(self)}

    @classmethod
    def from_json(cls, said: Mapping[str, Any]) -> LintReport:
        """The inverse of `to_json`; raises ValueError on another form."""
        if said.get("form") != FORM:
            raise ValueError(f"a report of linters has form {FORM}, not {said.get('form')}")
        made = {name: value for name, value in said.items() if name != "form"}
        for name in ("new", "hidden", "own"):
            made[name] = tuple(LintIssue(**row) for row in made[name])
        made["tools"] = tuple(LinterUse(**{**row, "configs": tuple(row["configs"])}) for row in made["tools"])
        made["edits"] = tuple(ConfigEdit(**{**row, "diff": tuple(row["diff"])}) for row in made["edits"])
        made["files"] = tuple(FileMark(**row) for row in made["files"])
        made["left_out"] = tuple(made["left_out"])
        return cls(**made)

    def lines(self) -> list[str]:
        """Lines for people and judges."""
        said = [f"score {self.score:.2f}" if self.score is not None else f"no score: {self.reason}"]
        said += [f"at most {CAP:g}: {self.cap}"] if self.cap else []
        said += [_use(tool) for tool in self.tools]
        for edit in self.edits:
            said.append(_edit(edit))
            said += [f"  {line}" for line in edit.diff]
        if self.new_count or self.fixed_count:
            said.append(f"{_new(self.new_count)}, {self.fixed_count} fixed")
        hidden = Counter(self.hidden)
        for issue in self.new[:SHOWN]:
            said.append(f"new: {issue}" + (" [hidden by an edit of the configuration]" if hidden[issue] else ""))
        if self.new_count > SHOWN:
            said.append(f"… and {_new(self.new_count - SHOWN)} more")
        said += [f"under the agent's own configuration: {issue}" for issue in self.own[:SHOWN]]
        return said + [f"not looked at: {one}" for one in self.left_out]


def _new(count: int) -> str:
    return f"{count} new finding{'' if count == 1 else 's'}"


def _edit(edit: ConfigEdit) -> str:
    if edit.kind == "overruled":
        return f"configuration overruled by the agent for a whole file: {edit.path}"
    return f"configuration {edit.kind} by the agent: {edit.path}"


def _use(tool: LinterUse) -> str:
    configs = ", ".join(tool.configs[:3]) + (" …" if len(tool.configs) > 3 else "")
    who = f"{tool.name} ({configs}{', made by the agent' if tool.by_agent else ''})"
    if tool.ran:
        return f"{who} looked at {tool.files} of the files that the agent made or changed"
    return f"{who} did not run: {tool.reason}"


def adherence(
    before: LintSide,
    after: LintSide,
    original: LintSide,
    lines: Mapping[str, int],
    looked_at: Mapping[str, Sequence[str]],
    configs: Mapping[str, Sequence[str]],
    own_configs: Mapping[str, Sequence[str]],
    edits: Sequence[ConfigEdit] = (),
    left_out: Sequence[str] = (),
) -> LintReport:
    """The report on a run.

    `original` is what the agent left under the start's configurations; `lines` are the lines of files; `looked_at`
    are the changed files by tool; `configs` the start's configurations by tool, `own_configs` those of tools that only
    the agent configured.
    """
    ran = [name for name in configs if name not in before.trouble and name not in original.trouble]
    known, found, left = ([issue for issue in side.issues if issue.tool in ran] for side in (before, original, after))
    new, fixed = beyond(found, known), beyond(known, found)
    seen = beyond(left, known)
    hidden = beyond(new, seen)
    own = [issue for issue in after.issues if issue.tool in own_configs]
    cap = _cap(hidden, [name for name in ran if name in after.trouble], after, edits) if edits else None
    marks = _marks(new, lines, [path for name in ran for path in looked_at.get(name, ())])
    reason = _no_score(configs, ran, marks)
    total = sum(mark.weight for mark in marks)
    score = None if reason else sum(mark.weight * mark.mark for mark in marks) / total
    return LintReport(
        score=min(score, CAP) if score is not None and cap else score,
        reason=reason,
        cap=cap,
        tools=_uses(configs, own_configs, (before, original, after), looked_at),
        new=tuple(new[:KEPT]),
        hidden=tuple(hidden[:KEPT]),
        own=tuple(own[:KEPT]),
        new_count=len(new),
        fixed_count=len(fixed),
        edits=tuple(edits),
        left_out=tuple(left_out),
        files=tuple(marks[:KEPT]),
    )


def beyond(issues: Iterable[LintIssue], known: Iterable[LintIssue]) -> list[LintIssue]:
    """The issues that are not among the known ones, each known one counted once."""
    left = Counter(map(_key, known))
    new = []
    for issue in sorted(issues):
        if left[_key(issue)]:
            left[_key(issue)] -= 1
        else:
            new.append(issue)
    return new


def _key(issue: LintIssue) -> tuple[str, str, str, str]:
    """What makes two issues the same, wherever in the file they are."""
    return issue.tool, issue.path, issue.rule, re.sub(r"\d+", "0", issue.message)


def _cap(
    hidden: Sequence[LintIssue], stopped: Sequence[str], after: LintSide, edits: Sequence[ConfigEdit]
) -> str | None:
    if stopped:
        return f"after the agent's edits {stopped[0]} does not run: {after.trouble[stopped[0]]}"
    if not hidden:
        return None
    places = ", ".join(edit.path for edit in edits[:3]) + (" …" if len(edits) > 3 else "")
    return f"the agent's edits of configurations ({places}) hide {_new(len(hidden))}"


def _marks(new: Sequence[LintIssue], lines: Mapping[str, int], paths: Sequence[str]) -> list[FileMark]:
    """The changed files that a linter looked at, and others with new issues."""
    counts = Counter(issue.path for issue in new)
    return [FileMark(path, lines.get(path, FEWEST_LINES), counts[path]) for path in sorted({*paths, *counts})]


def _no_score(configs: Mapping[str, Sequence[str]], ran: Sequence[str], marks: Sequence[FileMark]) -> str | None:
    if not configs:
        return "the eval's workspace configures no linter or formatter"
    if not ran:
        return f"none of the project's tools could run ({', '.join(configs)})"
    return None if marks else "the agent made or changed no file that the project's tools look at"


def _uses(
    configs: Mapping[str, Sequence[str]],
    own_configs: Mapping[str, Sequence[str]],
    sides: tuple[LintSide, LintSide, LintSide],
    looked_at: Mapping[str, Sequence[str]],
) -> tuple[LinterUse, ...]:
    before, original, after = sides
    uses = []
    for name, paths in configs.items():
        reason = before.trouble.get(name) or original.trouble.get(name)
        files = 0 if reason else len(looked_at.get(name, ()))
        uses.append(LinterUse(name, tuple(paths), reason is None, reason, files=files))
    for name, paths in own_configs.items():
        reason = after.trouble.get(name)
        files = 0 if reason else len(looked_at.get(name, ()))
        uses.append(LinterUse(name, tuple(paths), reason is None, reason, by_agent=True, files=files))
    return tuple(uses)

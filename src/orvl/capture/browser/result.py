"""What a look at an app found; None stands for unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from orvl.errors import StoreError
from orvl.project.app import EXPECTS

PICTURE = re.compile(r"[a-z0-9][A-Za-z0-9_-]{0,79}\.png")
"""The name of a picture's file; a stored one may be somebody else's."""
Status = Literal["done", "partial", "no app", "unavailable"]


@dataclass(frozen=True)
class AppStart:
    """Whether the app started, with the last lines that it printed."""

    started: bool
    seconds: float
    output: str = ""
    reason: str | None = None


@dataclass(frozen=True)
class PageView:
    """The page at one size, light or dark."""

    name: str
    loaded: bool
    reason: str | None = None
    status: int | None = None
    title: str = ""
    url: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Shot:
    """A picture; a plain one shows neither images nor long texts."""

    name: str
    file: str
    width: int
    height: int
    bytes: int
    plain: bool = False


@dataclass(frozen=True)
class Note:
    """Something that happened on a page: an error, a failed request, a dialog, a window, a download, a way out."""

    view: str
    kind: str
    text: str
    at: str = ""


@dataclass(frozen=True)
class Violation:
    """A rule of axe-core that the page breaks."""

    rule: str
    impact: str
    help: str
    views: tuple[str, ...]
    targets: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class PageDefect:
    """A defect that a program can see: overlap, overflow, cut off, contrast, broken image, keyboard or blank."""

    kind: str
    view: str
    target: str
    detail: str


@dataclass(frozen=True)
class DefectShare:
    """How much of a view a kind of defect concerns: characters for contrast, controls for the keyboard."""

    view: str
    kind: str
    whole: float
    bad: float

    @property
    def good(self) -> float:
        """The share without the defect; where there is nothing, nothing is wrong with it."""
        return 1 - self.bad / self.whole if self.whole else 1.0


@dataclass(frozen=True)
class StepResult:
    """How one step went; `passed` is None for one that was not tried."""

    number: int
    step: str
    passed: bool | None
    reason: str | None = None
    shot: str | None = None

    @property
    def expects(self) -> bool:
        """Whether it is an expectation; anything else is an action, which can be done or fail, but not pass."""
        return self.step.startswith(EXPECTS)

    @property
    def opens(self) -> bool:
        """Whether it loads a page anew, whatever happened before."""
        return self.step.startswith(("open ", "view "))

    @property
    def word(self) -> str:
        """How it went, for people and judges."""
        if self.passed is None:
            return "not tried"
        return ("passed" if self.expects else "done") if self.passed else "failed"


@dataclass(frozen=True)
class Look:
    """All that a browser saw of an app."""

    status: Status
    reason: str | None = None
    browser: str | None = None
    seconds: float = 0.0
    app: AppStart | None = None
    views: tuple[PageView, ...] = ()
    shots: tuple[Shot, ...] = ()
    notes: tuple[Note, ...] = ()
    tree: str | None = None
    axe: tuple[Violation, ...] | None = None
    defects: tuple[PageDefect, ...] | None = None
    visible_text: str | None = None
    hidden_text: str | None = None
    steps: tuple[StepResult, ...] = ()
    shares: tuple[DefectShare, ...] = ()
    ready: float | None = None
    """Seconds until the browser was ready, before it opened anything of the run's."""
    missing: tuple[str, ...] = ()
    """What is not available of a page that did load, with the reasons."""

    @property
    def seen(self) -> tuple[str, ...]:
        """The views in which something can be seen: loaded, not left or crashed, and not blank."""
        lost = {note.view for note in self.notes if note.kind in ("left", "crash")}
        lost |= {defect.view for defect in self.defects or () if defect.kind == "blank"}
        return tuple(view.name for view in self.views if view.loaded and view.name not in lost)

    def good_share(self, kind: str, view: str) -> float:
        """The share of a view without a kind of defect; what was not measured is not good."""
        return next((share.good for share in self.shares if (share.kind, share.view) == (kind, view)), 0.0)

    @property
    def step_share(self) -> float | None:
        """The share of expectations that came true; None without any step.

        Actions count only when they fail. What is expected after one that failed did not come true by it: it does not
        count as passed until the page is opened anew.
        """
        passed = total = 0
        is_lost = False
        for step in self.steps:
            if not step.expects:
                is_lost = not step.passed or (is_lost and not step.opens)
            if step.expects or not step.passed:
                total += 1
                passed += bool(step.passed) and not is_lost
        return passed / total if total else None

    def as_json(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Look:
        """The inverse of `as_json`."""
        known = {field.name: data[field.name] for field in fields(cls) if field.name in data}
        known["missing"] = tuple(known.get("missing", ()))
        for name, kind in PARTS.items():
            if known.get(name) is not None:
                known[name] = tuple(_made(kind, row) for row in known[name])
        if known.get("app") is not None:
            known["app"] = AppStart(**known["app"])
        for shot in known.get("shots") or ():
            if not PICTURE.fullmatch(shot.file):
                raise StoreError(f"A stored look names a picture {shot.file!r}, which cannot be a file's name.")
        return cls(**known)


PARTS: Mapping[str, type] = {
    "views": PageView,
    "shots": Shot,
    "notes": Note,
    "axe": Violation,
    "defects": PageDefect,
    "steps": StepResult,
    "shares": DefectShare,
}


def _made(kind: type, row: Mapping[str, Any]) -> Any:
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})

"""What a look at an app found; None stands for unknown."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal

from orvl.errors import StoreError

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
    """A defect that a program can see: overlap, overflow, cut off, contrast or broken image."""

    kind: str
    view: str
    target: str
    detail: str


@dataclass(frozen=True)
class StepResult:
    """How one step went; `passed` is None for one that was not tried."""

    number: int
    step: str
    passed: bool | None
    reason: str | None = None
    shot: str | None = None


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
    missing: tuple[str, ...] = ()
    """What is not available of a page that did load, with the reasons."""

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
}


def _made(kind: type, row: Mapping[str, Any]) -> Any:
    return kind(**{name: tuple(value) if isinstance(value, list) else value for name, value in row.items()})

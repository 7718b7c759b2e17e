"""Turns the driver's output into a Look. It shared its sandbox with the app, so each line is checked again."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import math
import re
import struct
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from orvl.capture.browser.result import (
    AppStart,
    DefectShare,
    Look,
    Note,
    PageDefect,
    PageView,
    Shot,
    Status,
    StepResult,
    Violation,
)

if TYPE_CHECKING:
    from pathlib import Path

    from orvl.project.app import AppStep
    from orvl.sandbox import ProcessResult

MOST_PICTURE, MOST_PICTURES = 2 << 20, 120
MOST_SIDE = 16_384
NAME = re.compile(r"[a-z0-9][A-Za-z0-9_-]{0,79}")
PNG = b"\x89PNG\r\n\x1a\n"
NOT_TRIED = "not tried: the look had ended"
MOST_DEFECTS, MOST_NOTES, LONGEST, MOST_TEXT, MOST_MISSING = 400, 1000, 2000, 20_000, 50


@dataclass
class DriverReport:
    """What the driver has reported so far."""

    pictures: Path
    steps: Sequence[AppStep]
    browser: str | None = None
    ready: float | None = None
    app: AppStart | None = None
    unavailable: str | None = None
    ended: bool = False
    late: str | None = None
    broken: str | None = None
    text: tuple[str, str] | None = None
    tree: str | None = None
    views: dict[str, PageView] = field(default_factory=dict)
    shots: dict[str, Shot] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    axe: dict[str, Violation] | None = None
    defects: list[PageDefect] | None = None
    shares: dict[tuple[str, str], DefectShare] = field(default_factory=dict)
    done: dict[int, StepResult] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def add(self, row: dict[str, Any]) -> None:
        takes: dict[str, Callable[[dict[str, Any]], None]] = {
            "browser": self._browser,
            "unavailable": self._unavailable,
            "app": self._app,
            "app output": self._app_output,
            "view": self._view,
            "shot": self._shot,
            "note": self._note,
            "text": self._text,
            "tree": self._tree,
            "axe": self._axe,
            "defects": self._defects,
            "share": self._share,
            "step": self._step,
            "missing": self._missing,
            "late": self._late,
            "broken": self._broken,
            "end": self._end,
        }
        if take := takes.get(str(row.get("kind"))):
            take(row)

    def _browser(self, row: dict[str, Any]) -> None:
        self.browser, self.ready = str(row["name"])[:100], float(row["seconds"])

    def _unavailable(self, row: dict[str, Any]) -> None:
        self.unavailable = str(row["reason"])[:LONGEST]

    def _app(self, row: dict[str, Any]) -> None:
        self.app = AppStart(**row["app"])

    def _app_output(self, row: dict[str, Any]) -> None:
        if self.app is not None:
            self.app = replace(self.app, output=str(row["output"]))

    def _view(self, row: dict[str, Any]) -> None:
        self.views[row["view"]["name"]] = PageView(**row["view"])

    def _shot(self, row: dict[str, Any]) -> None:
        name, png = str(row["name"]), base64.b64decode(row["png"], validate=True)
        size = png_size(png)
        if size and NAME.fullmatch(name) and name not in self.shots and len(self.shots) < MOST_PICTURES:
            (self.pictures / f"{name}.png").write_bytes(png)
            self.shots[name] = Shot(name, f"{name}.png", *size, len(png), bool(row["plain"]))

    def _note(self, row: dict[str, Any]) -> None:
        if len(self.notes) < MOST_NOTES:
            self.notes.append(Note(**{name: str(value)[:LONGEST] for name, value in row["note"].items()}))

    def _text(self, row: dict[str, Any]) -> None:
        self.text = (str(row["visible"])[:MOST_TEXT], str(row["hidden"])[:MOST_TEXT])

    def _tree(self, row: dict[str, Any]) -> None:
        self.tree = str(row["tree"])[:MOST_TEXT]

    def _axe(self, row: dict[str, Any]) -> None:
        self.axe = self.axe or {}
        for one in row["violations"]:
            new = Violation(**{**one, "views": (row["view"],), "targets": tuple(one["targets"])})
            old = self.axe.get(new.rule)
            if old is not None:
                targets = tuple(dict.fromkeys((*old.targets, *new.targets)))
                count = max(old.count, new.count)
                new = replace(new, views=(*old.views, row["view"]), targets=targets, count=count)
            self.axe[new.rule] = new

    def _defects(self, row: dict[str, Any]) -> None:
        self.defects = self.defects or []
        for one in row["defects"][: MOST_DEFECTS - len(self.defects)]:
            self.defects.append(PageDefect(**{name: str(value)[:LONGEST] for name, value in one.items()}))

    def _share(self, row: dict[str, Any]) -> None:
        share = DefectShare(str(row["view"]), str(row["what"]), float(row["whole"]), float(row["bad"]))
        if 0 <= share.bad <= share.whole < math.inf:
            self.shares[share.view, share.kind] = share

    def _step(self, row: dict[str, Any]) -> None:
        step = row["step"]
        self.done[int(step["number"])] = StepResult(**step)

    def _missing(self, row: dict[str, Any]) -> None:
        if len(self.missing) < MOST_MISSING:
            self.missing.append(f"{row['what']}: {row['reason']}"[:LONGEST])

    def _late(self, row: dict[str, Any]) -> None:
        self.late = self.late or str(row["stage"])[:LONGEST]

    def _broken(self, row: dict[str, Any]) -> None:
        self.broken = self.broken or str(row["reason"])[:LONGEST]

    def _end(self, _: dict[str, Any]) -> None:
        self.ended = True


@dataclass(frozen=True)
class Bounds:
    """The limits of a look, and the key that its driver signs lines with."""

    key: str
    seconds: float
    memory: int


def gathered(ended: ProcessResult, steps: Sequence[AppStep], pictures: Path, took: float, bounds: Bounds) -> Look:
    """The Look, from all that was reported before the driver ended or was killed."""
    report = DriverReport(pictures, steps)
    for row in _rows(ended.stdout.read(), bounds.key):
        try:
            report.add(row)
        except (KeyError, TypeError, ValueError, binascii.Error):
            continue
    status, reason = _judged(report, ended, bounds)
    stopped = any(not step.passed for step in report.done.values())
    why = "not tried: a step before it failed" if stopped and status == "done" else NOT_TRIED
    tried = [report.done.get(number) or _untried(number, step, why) for number, step in enumerate(steps, 1)]
    return Look(
        status=status,
        reason=reason,
        browser=report.browser,
        seconds=took,
        app=report.app,
        views=tuple(report.views.values()),
        shots=tuple(report.shots.values()),
        notes=tuple(report.notes),
        tree=report.tree,
        axe=None if report.axe is None else tuple(report.axe.values()),
        defects=None if report.defects is None else tuple(report.defects),
        visible_text=report.text[0] if report.text else None,
        hidden_text=report.text[1] if report.text else None,
        steps=tuple(tried),
        shares=tuple(report.shares.values()),
        ready=report.ready,
        missing=tuple(report.missing),
    )


def _judged(report: DriverReport, ended: ProcessResult, bounds: Bounds) -> tuple[Status, str | None]:
    """How far the look got, and why no further."""
    if report.unavailable:
        return "unavailable", report.unavailable
    if ended.cut == "memory":
        return "partial", f"the app and its page used all the memory that they may use ({bounds.memory} MiB)"
    if report.app is None and report.browser is None:
        if report.late:
            return "unavailable", f"Chromium was not ready within {bounds.seconds:g} s."
        return "unavailable", f"The browser's driver ended early: {_last_line(ended)}."
    if report.app is not None and not report.app.started:
        return "no app", report.app.reason
    if bad := next((view for view in report.views.values() if not view.loaded), None):
        return "partial", bad.reason
    if crash := next((note for note in report.notes if note.kind == "crash"), None):
        return "partial", crash.text
    if ended.cut and ended.cut != "time":
        return "partial", f"the app and its page exceeded the limit of {ended.cut.replace('_', ' ')}"
    if report.late or ended.cut:
        return "partial", f"{report.late or 'the look'} for too long: a look may take {bounds.seconds:g} s in all"
    if report.broken:
        return "partial", report.broken
    if report.missing:
        return "partial", f"incomplete ({report.missing[0]})"
    if not report.ended:
        return "partial", f"the look ended itself: {_last_line(ended)}"
    return "done", None


def _untried(number: int, step: AppStep, why: str) -> StepResult:
    return StepResult(number, step.line, None, why)


def _rows(output: bytes, key: str) -> Iterator[dict[str, Any]]:
    """The driver's own lines, each once: no other line is signed with its key."""
    last = 0
    for line in output.splitlines():
        mac, _, signed = line.partition(b" ")
        number, _, row = signed.partition(b" ")
        good = hmac.compare_digest(hmac.new(key.encode(), signed, hashlib.sha256).hexdigest().encode(), mac)
        if good and int(number) > last:
            last = int(number)
            yield json.loads(row)


def _last_line(ended: ProcessResult) -> str:
    lines = ended.stderr.read().decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else f"status {ended.status}"


def png_size(png: bytes) -> tuple[int, int] | None:
    """Width and height; None if it is not a picture, or too large."""
    if len(png) > MOST_PICTURE or len(png) < 24 or not png.startswith(PNG):
        return None
    width, height = struct.unpack(">II", png[16:24])
    return (width, height) if 0 < width <= MOST_SIDE and 0 < height <= MOST_SIDE else None

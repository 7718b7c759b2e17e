"""What a judge's answer points to, as links to it. A pointer is any text: one that leads nowhere stays text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from orvl.score.judges.pointers import PLACE, QUOTES
from orvl.score.judges.redaction import one_line
from orvl.web.run.files import line_address
from orvl.web.run.page import anchor_of_shot
from orvl.web.show import link

if TYPE_CHECKING:
    from orvl.web.html import Child
    from orvl.web.run.asked import RunAsked

LONGEST = 500
AROUND = f"[](){QUOTES}"
SEPARATORS = re.compile(r"(\s*[,;]\s*)")


class PointerLinks:
    """Knows the places of one run that can be pointed to."""

    def __init__(self, run: RunAsked) -> None:
        self._run = run
        self._look = run.last.inspections.page
        self._checks = [check.name for check in run.last.attempt.checks or () if not check.turn]
        self._steps = {str(step.number) for step in self._look.steps} if self._look else set()
        self._paths = {shown: path for path in run.files for shown in (one_line(path), path)}

    def shown(self, pointer: str) -> Child:
        """The pointer with links: it may be one place, or several."""
        if len(pointer) > LONGEST:
            return f"{pointer[:LONGEST]}…"
        if address := self._address(pointer):
            return link(pointer, address)
        return [link(part, self._address(part)) for part in SEPARATORS.split(pointer)]

    def _address(self, pointer: str) -> str | None:
        written = pointer.strip()
        candidates = dict.fromkeys((written, written.strip(QUOTES), written.strip(AROUND)))
        return next((address for one in candidates if one and (address := self._place(one))), None)

    def _place(self, pointer: str) -> str | None:
        kind, _, name = pointer.partition(":")
        kind, name = kind.strip().lower(), name.strip()
        if kind == "check" and name in self._checks:
            return self._run.address("checks", f"check-{self._checks.index(name) + 1}")
        if kind == "step" and name in self._steps:
            return self._run.address("page", f"step-{name}")
        if kind == "screenshot" and (anchor := anchor_of_shot(self._look, name)):
            return self._run.address("page", anchor)
        if pointer == "page" and self._look is not None:
            return self._run.address("page")
        return self._line(pointer)

    def _line(self, pointer: str) -> str | None:
        if pointer in self._paths:
            return line_address(self._run, self._paths[pointer], None)
        match = PLACE.fullmatch(pointer)
        path = self._paths.get(match[1]) or self._paths.get(match[1].removeprefix("./")) if match else None
        if match is None or path is None:
            return None
        return line_address(self._run, path, int(match[2]) if match[2] else None)

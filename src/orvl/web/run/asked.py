"""The run that a page is about."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from orvl.capture.captured_run import SHOWN_SHOTS
from orvl.capture.stored_run import captured
from orvl.web.thumbnail import thumbnail

if TYPE_CHECKING:
    from collections.abc import Collection

    from orvl.capture.browser.result import Shot
    from orvl.capture.captured_run import CapturedRun
    from orvl.capture.stored_run import AttemptDetails, RunDetails
    from orvl.report.shown_run import ShownRun
    from orvl.web.page import PageRequest

LEAST_TEXT = 500
"""Bytes that each of many texts gets at least."""


@dataclass(frozen=True)
class RunAsked:
    """A run, and how many bytes each of its parts may have on a page."""

    asked: PageRequest
    shown: ShownRun
    most: int
    embeds: bool = False
    """Whether pictures stand in the page itself, made small; else they have addresses."""

    @property
    def details(self) -> RunDetails:
        return self.shown.run

    @property
    def title(self) -> str:
        return f"{' '.join(self.details.cell.names)} #{self.details.episode}"

    @property
    def last(self) -> AttemptDetails:
        """The attempt that the page is about."""
        return self.shown.attempts[-1]

    def address(self, part: str = "", anchor: str = "", **words: str) -> str | None:
        """Of a part of the same attempt, or of a place in it; None where there is no such page."""
        address = self.asked.links.run(self.details.key, part, {**self._attempt, **words})
        return f"{address}#{anchor}" if address and anchor else address

    @property
    def shares_page(self) -> bool:
        """Whether other runs stand beside it, as in one file: parts have no pages of their own then."""
        return self.address("files") is None

    def anchor(self, name: str) -> str | None:
        """The id of a place that an address can lead to."""
        return None if self.shares_page else name

    @property
    def _attempt(self) -> dict[str, str]:
        return {name: word for name, word in self.asked.words.items() if name == "attempt"}

    @cached_property
    def capture(self) -> CapturedRun | None:
        """What the last attempt left; None where that is nothing."""
        return captured(self.asked.store, self.details) if self.last.attempt.tree is not None else None

    @cached_property
    def files(self) -> list[str]:
        """Addresses name a file by its place here: its name may be anything."""
        return self.capture.files if self.capture else []

    @cached_property
    def made(self) -> frozenset[str]:
        """The files that are new or changed."""
        return frozenset(self.capture.made if self.capture else ())

    def raw(self, what: str, number: int | str = "") -> str | None:
        return self.asked.links.raw(self.details.key, what, number, self._attempt)

    def picture(self, shot: Shot) -> str | None:
        """The address of a screenshot; None where it is not shown."""
        if not self.embeds:
            return self.raw("shot", shot.name)
        blob = self.last.inspections.pictures.get(shot.file)
        small = thumbnail(self.asked.store.blobs.get(blob)) if blob and shot.name in SHOWN_SHOTS[::3] else None
        return f"data:image/png;base64,{base64.b64encode(small).decode()}" if small else None

    def text_of(self, blob: str) -> str:
        return self.asked.store.blobs.get(blob).decode("utf-8", "replace")

    def share(self, texts: Collection[object]) -> int:
        """The bytes that each of some texts gets, where they share a part."""
        return max(self.most // max(len(texts), 1), LEAST_TEXT)

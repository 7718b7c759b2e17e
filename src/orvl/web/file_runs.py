"""The runs in a file of limited size: each in short, and in full as far as there is room."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from orvl.capture.stored_run import load_run
from orvl.errors import OrvlError, UserError
from orvl.project.names import did_you_mean
from orvl.report.shown_run import shown_run
from orvl.web.html import tag
from orvl.web.pages.run import whole_run
from orvl.web.run import PARTS
from orvl.web.run.asked import RunAsked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from orvl.rate.board import Row
    from orvl.web.html import Html
    from orvl.web.page import PageRequest

OF_A_PART = 16_000
"""Bytes of each part of a run."""
MOST_MISSES = 10
MOST_PICTURES = 40
"""Runs whose pictures are made small: it takes some tenths of a second each."""
IN_SHORT = ("verdicts", "checks")
WITHOUT = {"steps": "steps", "diffs": "diff", "pictures": "page"}
"""What can be left out, and the part that it is."""


@dataclass(frozen=True)
class FileRuns:
    """The sections of runs by their keys, and those that have all their parts."""

    sections: Mapping[str, Html | None]
    full: Collection[str] = field(default_factory=frozenset)


def parse_without(words: str) -> frozenset[str]:
    """What `--without` names."""
    named = frozenset(word.strip() for word in words.split(",") if word.strip())
    if unknown := next((word for word in sorted(named) if word not in WITHOUT), None):
        raise UserError(f"--without {unknown} is no part of the file. {did_you_mean(unknown, WITHOUT)}")
    return named


class FileSections:
    """Takes what there is room for. After some that did not fit, it is full: more are not even made."""

    def __init__(self, room: int) -> None:
        self.made: dict[str, Html] = {}
        self._room = room
        self._misses = 0

    @property
    def is_full(self) -> bool:
        return self._misses >= MOST_MISSES

    def put(self, key: str, section: Html) -> bool:
        """Instead of what is there of the same run; whether there was room."""
        more = len(section.markup.encode()) - (len(self.made[key].markup.encode()) if key in self.made else 0)
        if more > self._room:
            self._misses += 1
            return False
        self._room -= more
        self.made[key] = section
        return True

    def begin_again(self) -> None:
        self._misses = 0


def file_runs(asked: PageRequest, rows: Sequence[Row], room: int, without: Collection[str]) -> FileRuns:
    """All in short first, so that every score can be looked into; then in full, in the order of the rows."""
    sections = FileSections(room)
    runs = dict(_in_short(asked, rows, sections))
    left_out = {WITHOUT[name] for name in without}
    parts = tuple(name for name in PARTS if name not in left_out)
    sections.begin_again()
    full = set()
    for number, (key, run) in enumerate(runs.items()):
        if sections.is_full:
            break
        if sections.put(key, _section(replace(run, embeds=number < MOST_PICTURES), parts)):
            full.add(key)
    return FileRuns(sections.made, full)


def _in_short(asked: PageRequest, rows: Sequence[Row], sections: FileSections) -> Iterator[tuple[str, RunAsked]]:
    """The runs that fit; of what is damaged in the store, that is said."""
    for key in (row.run or "" for row in rows):
        if sections.is_full:
            return
        try:
            details = load_run(asked.project, asked.store, key)
            run = RunAsked(asked, shown_run(asked.project, asked.store, details), OF_A_PART)
            section = _section(run, IN_SHORT)
        except OrvlError as error:
            text = tag("h2", key[:12]), tag("p", str(error), class_="bad")
            sections.put(key, tag("section", text, id_=f"run-{key}", class_="run"))
        else:
            if sections.put(key, section):
                yield key, run


def _section(run: RunAsked, parts: Collection[str]) -> Html:
    return tag("section", whole_run(run, "h2", parts), id_=f"run-{run.details.key}", class_="run")

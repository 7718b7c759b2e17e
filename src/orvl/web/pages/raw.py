"""`/run/KEY/raw/…`: what an agent left, said or printed, byte for byte."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from orvl.capture.stored_run import call_details, captured, load_run, screenshot_of
from orvl.errors import UserError
from orvl.project.names import did_you_mean
from orvl.report.calls import call_json
from orvl.web.page import Raw

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.capture.stored_run import RunDetails
    from orvl.web.page import PageRequest


def page(asked: PageRequest) -> Raw:
    """Files, turns and calls go by number: no name of an agent's is ever part of an address."""
    asked.only("attempt")
    key, what, *rest = asked.names
    run, place = load_run(asked.project, asked.store, key, asked.attempt), rest[0] if rest else ""
    readers = {"file": _file, "shot": _shot, "stdout": _output, "stderr": _output, "call": _call}
    whole = {"diff": _diff, "steps": _steps}
    if what in whole and not place:
        return whole[what](asked, run)
    if what in readers and place:
        return readers[what](asked, run, what, place)
    raise UserError(f"A run has no '{what}'. {did_you_mean(what, (*readers, *whole))}")


def _diff(asked: PageRequest, run: RunDetails) -> Raw:
    return Raw(captured(asked.store, run).diff.encode("utf-8", "surrogateescape"), f"{run.key[:12]}-diff.txt")


def _steps(asked: PageRequest, run: RunDetails) -> Raw:
    steps = run.last.attempt.steps
    return Raw(asked.store.blobs.get(steps) if steps else b"[]", f"{run.key[:12]}-steps.txt")


def _file(asked: PageRequest, run: RunDetails, _: str, place: str) -> Raw:
    capture = captured(asked.store, run)
    path = capture.files[_number(place, capture.files) - 1]
    return Raw(capture.read_bytes(path), f"{run.key[:12]}-file-{place}.txt")


def _shot(asked: PageRequest, run: RunDetails, _: str, place: str) -> Raw:
    return Raw(screenshot_of(asked.store, run, place), f"{run.key[:12]}-{place}.txt")


def _output(asked: PageRequest, run: RunDetails, stream: str, place: str) -> Raw:
    turns = run.last.attempt.turns
    blob = getattr(turns[_number(place, turns) - 1], stream)
    return Raw(asked.store.blobs.get(blob) if blob else b"", f"{run.key[:12]}-{stream}-{place}.txt")


def _call(asked: PageRequest, run: RunDetails, _: str, place: str) -> Raw:
    details = call_details(asked.store, run, int(place) if place.isdecimal() else 0)
    text = json.dumps(call_json(details), indent=2)
    return Raw(text.encode(), f"{run.key[:12]}-call-{place}.txt")


def _number(place: str, among: Sequence[object]) -> int:
    if not place.isdecimal() or not 1 <= int(place) <= len(among):
        raise UserError(f"There is no number {place}: there are {len(among)}.")
    return int(place)

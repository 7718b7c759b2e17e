"""Ratings as JUnit XML: a test suite for each contestant, a test case for each eval."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from orvl.project.names import count
from orvl.rate.gate import unrated_parts
from orvl.report.gate import against_sentences
from orvl.report.text import plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.rate.gate import Gate

COUNTED = {"failure": "failures", "error": "errors", "skipped": "skipped"}
"""What a test case may hold, and the attribute that counts it."""
LONGEST = 2_000
"""Signs of a reason."""
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def as_junit(rows: Sequence[Row], board: Board, gate: Gate) -> bytes:
    """One document: suites are the contestants of `rows`, cases all evals of the report."""
    suites = ET.Element("testsuites", name="orvl")
    every = [*board.cells, *gate.not_run]
    evals = sorted({cell.eval for cell in every if cell.eval})
    cells = {(*cell.contestant, cell.eval): cell for cell in every}
    whole = {row.contestant: row.R for row in board.contestants}
    runs: dict[tuple[str, ...], list[Row]] = {}
    for run in board.runs:
        runs.setdefault((*run.contestant, run.eval or ""), []).append(run)
    for contestant in dict.fromkeys(row.contestant for row in (*rows, *gate.not_run) if row.agent not in gate.exempt):
        suite = ET.SubElement(suites, "testsuite", name=_name(contestant))
        _add_properties(suite, contestant, whole.get(contestant), gate)
        for eval_ in evals:
            place = (*contestant, eval_)
            case = ET.SubElement(suite, "testcase", classname=_name(contestant), name=_clean(eval_))
            _fill(case, cells.get(place), runs.get(place, []), gate)
        _count(suite, suite.iter("testcase"))
    _count(suites, suites.iter("testcase"))
    del suites.attrib["skipped"]  # which the schema knows of suites alone
    ET.indent(suites)
    text: bytes = ET.tostring(suites, encoding="utf-8", xml_declaration=True)
    return text + b"\n"


def _add_properties(suite: ET.Element, contestant: tuple[str, str, str], R: float | None, gate: Gate) -> None:
    """What belongs to a contestant and to no eval."""
    found = [] if R is None else [("R", f"{R:.6f}")]
    for one in gate.against:
        if one.contestant == contestant:
            found += [("baseline", one.verdict), *(("baseline.reason", text) for text in against_sentences(one))]
    if found:
        properties = ET.SubElement(suite, "properties")
        for name, value in found:
            ET.SubElement(properties, "property", name=name, value=_clean(value))


def _fill(case: ET.Element, cell: Row | None, runs: Iterable[Row], gate: Gate) -> None:
    if cell is not None and (taken := cell.usage.get("seconds")) is not None:
        case.set("time", f"{taken:.3f}")
    _add_outcome(case, cell, gate)
    if lines := [_episode(run) for run in sorted(runs, key=lambda run: run.episode or 0)]:
        ET.SubElement(case, "system-out").text = "\n".join(lines)


def _add_outcome(case: ET.Element, cell: Row | None, gate: Gate) -> None:
    """Below the threshold comes first, then what is not rated: an eval that nobody has run is neither good nor bad."""
    if cell is None or not cell.planned or not (cell.carried_out or cell.errored):
        ET.SubElement(case, "skipped", message="not run")
        return
    if gate.is_below(cell):
        message = f"R {cell.R:.3f} is {gate.below(cell)}"
        ET.SubElement(case, "failure", message=message, type="below").text = message
    elif missing := unrated_parts(cell):
        reasons = [f"{count(number, 'run')}: {reason}" for reason, number in cell.errors.items()]
        error = ET.SubElement(case, "error", message=_clean("; ".join(missing)), type="not rated")
        error.text = _clean("\n".join([*missing, *reasons]), lines=True)


def _episode(run: Row) -> str:
    rated = "not rated" if run.R is None else f"R {run.R:.3f}"
    why = f" ({_clean(run.reason)})" if run.reason else ""
    return f"episode {run.episode}: {run.outcome}{why}, {rated}, orvl show {(run.run or '')[:12]}"


def _count(element: ET.Element, cases: Iterable[ET.Element]) -> None:
    """The attributes that readers of the format want; the time is left out where that of a case is unknown."""
    cases = list(cases)
    tags = Counter(child.tag for case in cases for child in case)
    element.set("tests", str(len(cases)))
    for tag, attribute in COUNTED.items():
        element.set(attribute, str(tags[tag]))
    ran = [case for case in cases if case.find("skipped") is None]
    if all("time" in case.keys() for case in ran):  # noqa: SIM118 - an Element is no mapping
        element.set("time", f"{sum(float(case.get('time', 0)) for case in ran):.3f}")


def _name(contestant: tuple[str, str, str]) -> str:
    return _clean(" ".join(filter(None, contestant)))


def _clean(text: str, *, lines: bool = False) -> str:
    """Text that XML can hold: agents choose their words, and names."""
    text = NOT_XML.sub("", plain(text, lines=lines))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text) - LONGEST} signs left out)"

"""Runs that were not answered by the model, or not by one host alone, as was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Collection

    from orvl.store import Store

OTHER_MODEL, OTHER_HOST = '"another model"', '"another host"'
BY_OTHERS = f"(instr(findings, '{OTHER_MODEL}') OR instr(findings, '{OTHER_HOST}'))"


def strangers(store: Store, cells: Collection[int | None], first: int, last: int) -> list[str]:
    """A sentence each on runs that another model answered, and on those that several hosts answered."""
    rows = store.rows(
        f"SELECT run.cell, max(instr(findings, '{OTHER_MODEL}') > 0), max(instr(findings, '{OTHER_HOST}') > 0) "
        "FROM model_call CROSS JOIN attempt ON attempt.id = model_call.attempt JOIN run ON run.id = attempt.run "
        f"WHERE {BY_OTHERS} AND outcome <> 'errored' AND episode BETWEEN ? AND ? GROUP BY model_call.attempt",
        (first, last),
    )
    wanted = set(cells)
    here = [row for row in rows if row[0] in wanted]
    said = []
    if models := sum(row[1] for row in here):
        said.append(f"In {count(models, 'run')} another model answered than was asked for. See: orvl endpoints -v")
    if hosts := sum(row[2] for row in here):
        said.append(f"{count(hosts, 'run')} had answers of several hosts behind one name. See: orvl endpoints -v")
    return said

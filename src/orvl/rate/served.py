"""Runs that were not answered by the model, or not by one host alone, as was asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from orvl.project.names import count

if TYPE_CHECKING:
    from collections.abc import Collection

    from orvl.store import Store


def strangers(store: Store, cells: Collection[int | None], first: int, last: int) -> list[str]:
    """A sentence each on runs that another model answered, and on those that several hosts answered."""
    wanted = set(cells)
    here = [run for run in store.mismatches(first, last) if run.cell in wanted]
    said = []
    if models := sum(run.is_other_model for run in here):
        said.append(f"In {count(models, 'run')} another model answered than was asked for. See: orvl endpoints -v")
    if hosts := sum(run.is_other_host for run in here):
        said.append(f"{count(hosts, 'run')} had answers of several hosts behind one name. See: orvl endpoints -v")
    return said

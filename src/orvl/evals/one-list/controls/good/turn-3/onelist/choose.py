"""Which record's cells the list shows."""

from collections.abc import Mapping
from dataclasses import dataclass

from onelist.records import Cell, Record

SOURCES = ("shop", "till", "news")
FIRST_BY_FIELD = {"{{field}}": "{{winner}}"}
"""Whose cell wins whatever the days: people tell it there."""


@dataclass(frozen=True)
class Chosen:
    field: str
    cell: Cell
    record: Record


def choose(records: list[Record], numbers: Mapping[str, int]) -> list[Chosen]:
    """The cells of a customer that are not empty, each with the record that it is from."""
    newest = sorted(records, key=lambda record: (SOURCES.index(record.source), numbers[record.key]))
    newest.sort(key=lambda record: record.changed, reverse=True)
    chosen = []
    if named := [record for record in newest if record.name.value]:
        best = next((record for record in named if record.has_full_name), named[0])
        chosen.append(Chosen("name", best.name, best))
    for record in newest:
        if record.email.value:
            chosen.append(Chosen("email", record.email, record))
            break
    for record in _ranked("phone", newest):
        if record.phone.value:
            chosen.append(Chosen("phone", record.phone, record))
            break
    for record in _ranked("address", newest):
        if record.address:
            chosen += [Chosen(field, cell, record) for field, cell in record.address.items() if cell.value]
            break
    if dated := [record for record in newest if record.since.value]:
        earliest = min(dated, key=lambda record: record.since.value)
        chosen.append(Chosen("since", earliest.since, earliest))
    for answer in ("no", "yes"):
        if told := [record for record in newest if record.mail.value == answer]:
            chosen.append(Chosen("mail", told[0].mail, told[0]))
            break
    return chosen


def _ranked(field: str, newest: list[Record]) -> list[Record]:
    first = FIRST_BY_FIELD.get(field)
    return sorted(newest, key=lambda record: record.source != first)

"""Who is the same: groups of records, by the rules."""

from collections.abc import Iterable, Iterator

from onelist.clean import name_key
from onelist.records import Record


def groups(records: Iterable[Record], shared: frozenset[str]) -> list[list[Record]]:
    """The records of each customer."""
    by_key = {record.key: record for record in records}
    parents = {key: key for key in by_key}

    def root(key: str) -> str:
        while parents[key] != key:
            key = parents[key]
        return key

    def join(keys: list[str]) -> None:
        for key in keys[1:]:
            parents[root(key)] = root(keys[0])

    by_mark: dict[tuple[str, ...], list[str]] = {}
    for key, record in by_key.items():
        for mark in _marks(record, shared):
            by_mark.setdefault(mark, []).append(key)
    for keys in by_mark.values():
        join(keys)

    found: dict[str, list[Record]] = {}
    for key, record in by_key.items():
        found.setdefault(root(key), []).append(record)
    return list(found.values())


def _marks(record: Record, shared: frozenset[str]) -> Iterator[tuple[str, ...]]:
    """Two records with the same mark are the same customer."""
    if record.known_by and record.known_by.partition("@")[0] not in shared:
        yield ("email", record.known_by)
    name = name_key(record.name.value)
    if record.phone.value and name:
        yield ("phone", record.phone.value, name)

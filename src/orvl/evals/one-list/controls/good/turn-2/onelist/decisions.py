"""decisions.txt: what people decided by hand, one line each.

They edit it, too: lines are read and written with the line ends that they have.
"""

from dataclasses import dataclass
from pathlib import Path

from onelist.exports import record_key

KINDS = ("same", "alone")


@dataclass(frozen=True)
class Decision:
    kind: str
    records: frozenset[str]


def read(database: Path) -> list[Decision]:
    parsed = (_parse(line) for line in _lines(database))
    return [decision for decision in parsed if decision]


def add(database: Path, kind: str, records: list[str]) -> None:
    lines = _lines(database)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    _write(database, [*lines, " ".join([kind, *records]) + "\n"])


def _parse(line: str) -> Decision | None:
    words = line.split()
    if not words or words[0] not in KINDS:
        return None
    return Decision(words[0], frozenset(map(record_key, words[1:])))


def _path(database: Path) -> Path:
    return database.with_name("decisions.txt")


def _lines(database: Path) -> list[str]:
    try:
        with open(_path(database), encoding="utf-8", newline="") as file:
            return file.readlines()
    except FileNotFoundError:
        return []


def _write(database: Path, lines: list[str]) -> None:
    with open(_path(database), "w", encoding="utf-8", newline="") as file:
        file.writelines(lines)

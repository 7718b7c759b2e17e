"""The database: raw records, their numbers, and the list that the sheets read."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from onelist.exports import Raw

SCHEMA = Path(__file__).with_name("schema.sql")


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection whose changes are kept all together, or not at all if something goes wrong."""
    with closing(sqlite3.connect(path)) as database:
        database.executescript(SCHEMA.read_text(encoding="utf-8"))
        with database:
            database.execute("BEGIN IMMEDIATE")
            yield database


def replace(database: sqlite3.Connection, source: str, rows: Iterable[Raw]) -> None:
    """Puts the rows of an export in the place of those of its last import."""
    database.execute("DELETE FROM records WHERE source = ?", (source,))
    database.executemany(
        "INSERT INTO records (key, source, position, cells) VALUES (?, ?, ?, ?)",
        [(row.key, source, place, json.dumps(row.cells)) for place, row in enumerate(rows)],
    )


def raw_records(database: sqlite3.Connection) -> list[Raw]:
    """All that the exports have now: shop, till, newsletter, each from top to bottom."""
    rows = database.execute(
        """
        SELECT key, source, cells FROM records
        ORDER BY CASE source WHEN 'shop' THEN 1 WHEN 'till' THEN 2 ELSE 3 END, position
        """
    )
    return [Raw(key, source, json.loads(cells)) for key, source, cells in rows]


def number(database: sqlite3.Connection, keys: Iterable[str]) -> dict[str, int]:
    """The numbers of all records that were ever seen; those that have none yet get the next ones."""
    numbers = dict(database.execute("SELECT record, no FROM numbers"))
    new = [key for key in keys if key not in numbers]
    numbers |= {key: no for no, key in enumerate(new, len(numbers) + 1)}
    database.executemany("INSERT INTO numbers (record, no) VALUES (?, ?)", [(key, numbers[key]) for key in new])
    return numbers


def has_seen(database: sqlite3.Connection, key: str) -> bool:
    return database.execute("SELECT 1 FROM numbers WHERE record = ?", (key,)).fetchone() is not None


def show(database: sqlite3.Connection, customers: Iterable[Mapping], origins: Iterable[tuple]) -> None:
    """Replaces the list."""
    database.execute("DELETE FROM customers")
    database.execute("DELETE FROM origins")
    database.executemany(
        """
        INSERT INTO customers (no, name, email, phone, street, zip, city, since, mail, records)
        VALUES (:no, :name, :email, :phone, :street, :zip, :city, :since, :mail, :records)
        """,
        customers,
    )
    database.executemany("INSERT INTO origins (no, field, record, header, raw) VALUES (?, ?, ?, ?, ?)", origins)

"""Tables of what the exports say, and views that make the list of it."""

import sqlite3
from collections.abc import Mapping
from pathlib import Path

from onelist.readers import Entry

HERE = Path(__file__).parent
SOURCES = ("shop", "till", "news")


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA foreign_keys = ON")
    for script in ("tables.sql", "views.sql"):
        connection.executescript((HERE / script).read_text(encoding="utf-8"))
    return connection


def load(connection: sqlite3.Connection, exports: Mapping[str, list[Entry]]) -> None:
    """Puts exports in the place of those that were there."""
    for source in (source for source in SOURCES if source in exports):
        connection.execute("DELETE FROM entry WHERE source = ?", (source,))
        for entry in exports[source]:
            _insert(connection, entry)


def _insert(connection: sqlite3.Connection, entry: Entry) -> None:
    key = entry.key
    connection.execute("INSERT OR IGNORE INTO number (record) VALUES (?)", (key,))
    connection.execute("INSERT INTO entry VALUES (?, ?, ?)", (key, entry.source, entry.day("changed")))
    connection.executemany("INSERT INTO mark VALUES (?, ?)", [(key, mark) for mark in entry.marks()])
    for field, value, columns in entry.statements():
        if value:
            connection.execute("INSERT INTO statement VALUES (?, ?, ?)", (key, field, value))
            sources = [(key, field, entry.headers[column], entry.raw[column]) for column in columns]
            connection.executemany("INSERT INTO made_from VALUES (?, ?, ?, ?)", sources)


def regroup(connection: sqlite3.Connection) -> None:
    """Finds out anew which records are one customer."""
    connection.execute("DELETE FROM member")
    connection.execute(
        """
        WITH RECURSIVE reached (start, record) AS (
            SELECT record, record FROM entry
            UNION
            SELECT reached.start, link.b FROM reached JOIN link ON link.a = reached.record
        )
        INSERT INTO member (record, no)
        SELECT reached.start, min(number.no) FROM reached JOIN number USING (record) GROUP BY reached.start
        """
    )

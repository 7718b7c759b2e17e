"""The database file: how it is opened, and how it is written without anybody getting in between."""

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

SCHEMA = Path(__file__).parent.with_name("schema.sql")
PATIENCE = 60.0
"""Seconds to wait for another program that has the file locked, such as the till's."""

CHANGES = (
    "alter table swaps add column done_at text",
    "update swaps set state = 'asked' where state = 'accepted'",
)
"""What has changed since schema.sql, in order; the file's user_version says how many of them it has."""


class Database:
    def __init__(self, path: str) -> None:
        self._path = path
        self._one_writer = threading.Lock()
        with closing(self._connect()) as connection:
            connection.executescript(SCHEMA.read_text(encoding="utf-8"))
        with self.writing() as connection:
            _bring_up_to_date(connection)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with closing(self._connect()) as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """What is looked at inside stays true until it is written; if something goes wrong, nothing is."""
        with self._one_writer, closing(self._connect()) as connection:
            connection.execute("begin immediate")
            yield connection
            connection.execute("commit")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=PATIENCE, isolation_level=None)
        connection.row_factory = sqlite3.Row
        return connection


def _bring_up_to_date(connection: sqlite3.Connection) -> None:
    (done,) = connection.execute("pragma user_version").fetchone()
    for change in CHANGES[done:]:
        connection.execute(change)
    connection.execute(f"pragma user_version = {len(CHANGES)}")

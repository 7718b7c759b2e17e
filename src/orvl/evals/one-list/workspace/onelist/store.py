"""The database."""

import sqlite3
from pathlib import Path

SCHEMA = Path(__file__).with_name("schema.sql")


def connect(path):
    connection = sqlite3.connect(path)
    connection.row_factory = sqlite3.Row
    connection.executescript(SCHEMA.read_text(encoding="utf-8"))
    return connection


def save(connection, source, people):
    """Puts the people of one export in the place of those of its last import."""
    with connection:
        connection.execute("DELETE FROM people WHERE source = ?", (source,))
        connection.executemany(
            """
            INSERT INTO people (source, key, name, email, phone, street, zip, city, mail, since, changed)
            VALUES (:source, :key, :name, :email, :phone, :street, :zip, :city, :mail, :since, :changed)
            """,
            [{"source": source, **person} for person in people],
        )

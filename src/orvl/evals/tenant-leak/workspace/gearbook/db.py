"""SQLite: connections, and migrations in the order of their numbers."""

import sqlite3
from contextlib import contextmanager
from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"


def connect(path):
    db = sqlite3.connect(path, timeout=20, isolation_level=None, check_same_thread=False)
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    db.execute("PRAGMA synchronous = OFF")
    return db


@contextmanager
def transaction(db):
    """All or nothing. May be nested; the outermost counts."""
    if db.in_transaction:
        yield db
        return
    db.execute("BEGIN IMMEDIATE")
    try:
        yield db
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def one(db, sql, *values):
    """The first row, or None."""
    return db.execute(sql, values).fetchone()


def rows(db, sql, *values):
    return db.execute(sql, values).fetchall()


def scalar(db, sql, *values):
    row = db.execute(sql, values).fetchone()
    return None if row is None else row[0]


def insert(db, table, **values):
    """The id of a new row."""
    names = ", ".join(values)
    marks = ", ".join("?" * len(values))
    return db.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", tuple(values.values())).lastrowid


def marks(values):
    """`?, ?, ?` for an IN."""
    return ", ".join("?" * len(values))


# -- migrations


def migrate(path):
    """Brings a database up to date; gives the names of what was done."""
    db = connect(path)
    try:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY)")
        done = {row["name"] for row in rows(db, "SELECT name FROM migrations")}
        fresh = [file for file in sorted(MIGRATIONS.glob("[0-9]*.sql")) if file.stem not in done]
        with transaction(db):
            for file in fresh:
                for statement in _statements(file.read_text(encoding="utf-8")):
                    db.execute(statement)
                insert(db, "migrations", name=file.stem)
        return [file.stem for file in fresh]
    finally:
        db.close()


def _statements(text):
    """Statements end with a semicolon at the end of a line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("--")]
    for statement in "\n".join(lines).split(";\n"):
        if statement.strip().strip(";"):
            yield statement

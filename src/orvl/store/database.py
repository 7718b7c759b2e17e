"""The SQLite file: opened, migrated and locked for one writer; SQLite's errors become sentences."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import time
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from orvl.errors import DiskError, StoreBusy, StoreError, disk_sentence
from orvl.store.schema import MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

FILE = "orvl.db"
MANY = 1000
"""Runs, or tables of scores, that are worth a summary."""
MIGRATION_WAIT = 5.0
"""Seconds for which a reader waits for a writer to bring the store up to date; an older orvl never does."""


def connect(folder: Path, *, write: bool, migrations: Sequence[str] = MIGRATIONS) -> sqlite3.Connection:
    """Opens the store in a folder and brings it up to date; a writer creates it."""
    path = folder / FILE
    with sentences(path):
        blobs = folder / "blobs"
        if path.exists() and not path.stat().st_size and blobs.is_dir() and any(blobs.iterdir()):
            raise damaged(path, "the file is empty, but there are blobs of runs")
        if write:
            make(folder)
        connection = _open(path, "rwc") if write else _open_to_read(path)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version > len(migrations):
                raise StoreError(
                    f"The store {path} was written by a newer orvl (version {version} of the store; this one knows "
                    f"{len(migrations)}). Update orvl: pip install --upgrade orvl"
                )
            if write:
                connection.execute("PRAGMA journal_mode = WAL")
                _migrate(connection, migrations)
        except BaseException:
            connection.close()
            raise
        if version == len(migrations) or write:
            return connection
        connection.close()
    _migrate_for_reading(folder, migrations)
    return connect(folder, write=False, migrations=migrations)


def make(folder: Path) -> None:
    try:
        (folder / "blobs").mkdir(parents=True, exist_ok=True)
        ignore = folder / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
    except OSError as error:
        raise StoreError(
            f"Cannot create the store {folder}: {disk_sentence(error)}. Choose another folder: --store DIR"
        ) from error


def _open(path: Path, mode: str, extra: str = "") -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(str(path))}?mode={mode}{extra}",
        uri=True,
        isolation_level=None,
        check_same_thread=False,
        timeout=10,
    )
    try:
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _open_to_read(path: Path) -> sqlite3.Connection:
    """Also from a read-only disk, where SQLite insists on hearing that nothing will change."""
    if not path.exists():
        raise StoreError(f"There is no store at {path.parent} yet. Run something first, such as: orvl dummy-good")
    try:
        return _open(path, "ro")
    except sqlite3.OperationalError:
        if os.access(path.parent, os.W_OK):
            raise
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            raise StoreError(
                f"The store {path} was not closed properly and is on a read-only disk. Copy its folder to a writable "
                "disk and pass it with --store DIR"
            ) from None
        return _open(path, "ro", "&immutable=1")


def _migrate_for_reading(folder: Path, migrations: Sequence[str]) -> None:
    """Only the writer may change a store, so a reader briefly becomes it, or lets one that has just begun do it."""
    deadline = time.monotonic() + MIGRATION_WAIT
    while True:
        try:
            fd = lock(folder)
            break
        except StoreBusy:
            if _version(folder) >= len(migrations):
                return
            if time.monotonic() > deadline:
                raise
        time.sleep(0.05)
    try:
        connect(folder, write=True, migrations=migrations).close()
    finally:
        os.close(fd)


def _version(folder: Path) -> int:
    with closing(_open_to_read(folder / FILE)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _migrate(connection: sqlite3.Connection, migrations: Sequence[str]) -> None:
    """Runs the missing migrations in one transaction; another process may have done so in the meantime."""
    if connection.execute("PRAGMA user_version").fetchone()[0] >= len(migrations):
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        for script in migrations[version:]:
            for statement in script.split(";"):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {max(version, len(migrations))}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def lock(folder: Path) -> int:
    """Becomes the one writer."""
    path = folder / "lock"
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise StoreError(f"Cannot write to the store {folder}: {disk_sentence(error)}.") from error
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        owner = os.read(fd, 20).decode("ascii", "replace").strip()
        os.close(fd)
        raise StoreBusy(folder, owner if owner.isdecimal() else "unknown") from error
    os.truncate(fd, 0)
    os.pwrite(fd, str(os.getpid()).encode(), 0)
    return fd


@contextmanager
def sentences(path: Path) -> Iterator[None]:
    """SQLite's errors, as sentences."""
    try:
        yield
    except sqlite3.OperationalError as error:
        text = str(error)
        if "full" in text or "disk I/O" in text:
            raise DiskError(
                f"The disk of the store {path} is full or failing ({text}). What was finished is safe: "
                "free some space and run the same command again."
            ) from error
        if "readonly" in text or "unable to open" in text:
            raise StoreError(
                f"Cannot open or write the store {path} ({text}). Choose another folder: --store DIR"
            ) from error
        if "locked" in text:
            raise StoreError(f"The store {path} is in use by another program ({text}).") from error
        if "decode" in text or "no such table" in text:
            raise damaged(path, text) from error
        raise
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.IntegrityError | sqlite3.ProgrammingError | sqlite3.InterfaceError):
            raise
        raise damaged(path, str(error)) from error


def damaged(path: Path, what: str) -> StoreError:
    return StoreError(
        f"The store {path} is damaged ({what}). Restore a backup, or move it away and start over: "
        f"mv '{path.parent}' '{path.parent}.damaged'"
    )


class Queries:
    """What the parts of the SQLite store share."""

    db: sqlite3.Connection
    path: Path

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with sentences(self.path):
            return self.db.execute(query, values).fetchall()

    def insert(self, statement: str, values: Sequence[Any]) -> int:
        """The id of the new row."""
        number = self.db.execute(statement, values).lastrowid
        assert number is not None
        return number

    @contextmanager
    def readable(self, what: str) -> Iterator[None]:
        """What cannot be read as it was written is damage, not a bug."""
        try:
            yield
        except (ValueError, KeyError, TypeError) as error:
            raise damaged(self.path, f"{what}: {error}") from error

"""The SQLite file: opened, migrated and locked for one writer; SQLite's errors become sentences."""

from __future__ import annotations

import fcntl
import os
import sqlite3
import stat
import time
from contextlib import closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from orvl.errors import DiskError, StoreBusy, StoreError, disk_sentence
from orvl.store.schema import MIGRATIONS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

FILE = "orvl.db"
MANY = 1000
"""Runs, or tables of scores, that are worth a summary."""
LOGS = ("-wal", "-shm", "-journal")
DAMAGE = ("decode", "no such table", "overflow", "malformed JSON", "JSON path", "too big")
"""What SQLite says of values that orvl did not write."""
UNREADABLE = (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError)
SAID = 200
JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
"""Ends a journal that belongs to a transaction over several databases."""
SchemaRow = tuple[str, str, str, str]
"""Kind, name, table, and the statement that made it, without spaces."""
MIGRATION_WAIT = 5.0
"""Seconds for which a reader waits for a writer to bring the store up to date; an older orvl never does."""


def connect(folder: Path, *, write: bool, migrations: Sequence[str] = MIGRATIONS) -> sqlite3.Connection:
    """Opens the store in a folder and brings it up to date; a writer creates it."""
    path = folder / FILE
    check_places(folder)
    with sentences(path):
        blobs = folder / "blobs"
        if path.exists() and not path.stat().st_size and blobs.is_dir() and any(blobs.iterdir()):
            raise damaged(path, "the file is empty, but there are blobs of runs")
        if write:
            make(folder)
        connection = _open(path, "rwc") if write else _open_to_read(path)
        try:
            version = _checked_version(connection, path, migrations)
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


def _checked_version(connection: sqlite3.Connection, path: Path, migrations: Sequence[str]) -> int:
    """Which migrations a store has had; the tables are as these made them."""
    connection.execute("BEGIN")  # one view of both: another process may be migrating
    try:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        if version > len(migrations):
            raise StoreError(
                f"The store {path} was written by a newer orvl (version {version} of the store; this one knows "
                f"{len(migrations)}). Update orvl: pip install --upgrade orvl"
            )
        _check_tables(connection, path, tuple(migrations), version)
    finally:
        connection.execute("ROLLBACK")
    return version


def make(folder: Path) -> None:
    check_places(folder)
    try:
        (folder / "blobs").mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError), open(folder / ".gitignore", "x") as ignore:
            ignore.write("*\n")
    except OSError as error:
        raise StoreError(
            f"Cannot create the store {folder}: {disk_sentence(error)}. Choose another folder: --store DIR"
        ) from error


def check_places(folder: Path) -> None:
    """A store may come from anybody: what orvl writes, reads and deletes in it must lie in its own folder."""
    places = [folder / name for name in (FILE, *(FILE + end for end in LOGS), "lock", ".gitignore", "blobs", "starts")]
    with suppress(OSError), os.scandir(folder / "blobs") as inside:
        places += [Path(entry.path) for entry in inside if entry.is_symlink()]
    for place in places:
        try:
            mode = place.lstat().st_mode
        except OSError:
            continue
        if stat.S_ISLNK(mode):
            raise StoreError(
                f"{place} is a link, and a store must not lead out of its folder. Move the whole store, and name its "
                "folder: --store DIR"
            )
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise StoreError(f"Cannot open or write the store {folder}: {place} is neither a file nor a folder.")
    _check_journal(folder / FILE)


def _check_journal(path: Path) -> None:
    """A journal may name another file, which SQLite deletes when it has rolled back: whatever file that is.

    It does so for transactions over several databases, which orvl never makes.
    """
    journal = path.with_name(path.name + "-journal")
    try:
        with open(journal, "rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - len(JOURNAL_MAGIC)))
            end = file.read()
    except OSError:
        return
    if end == JOURNAL_MAGIC:
        raise damaged(path, f"{journal.name} names a file of another database")


def _check_tables(connection: sqlite3.Connection, path: Path, migrations: tuple[str, ...], version: int) -> None:
    """Refuses triggers, and tables or indexes that are not as the migrations made them: they could change numbers."""
    expected, ours = _tables(migrations[:version]), {name for _, name, *_ in _tables(migrations)}
    found = _schema_of(connection)
    if planted := next((name for kind, name, *_ in found if kind == "trigger"), None):
        raise damaged(path, f"it has a trigger, '{planted}', which orvl did not make")
    own = {one for one in found if one[1].lower() in ours or one[2].lower() in ours}
    if other := sorted(own ^ expected):
        raise damaged(path, f"its {other[0][0]} '{other[0][1]}' is not as orvl makes it")


def own_tables() -> set[str]:
    """The names of the tables that orvl makes."""
    return {name for kind, name, *_ in _tables(tuple(MIGRATIONS)) if kind == "table"}


@cache
def _tables(migrations: tuple[str, ...]) -> frozenset[SchemaRow]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(";".join(migrations))
        return _schema_of(connection)


def _schema_of(connection: sqlite3.Connection) -> frozenset[SchemaRow]:
    rows = connection.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    return frozenset((str(kind), str(name), str(table), "".join(str(sql).split())) for kind, name, table, sql in rows)


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
        connection.execute("PRAGMA trusted_schema = OFF")
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
            _open(path, "rw").close()  # rolls back what an orvl that was killed while it made the store had begun
            return _open(path, "ro")
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
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
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


def has_writer(folder: Path) -> bool:
    """Whether a process is writing, without asking for the lock: who came at that moment would be turned away."""
    try:
        inode = (folder / "lock").stat().st_ino
        held = Path("/proc/locks").read_text(encoding="ascii")
    except (OSError, ValueError):
        return False
    # 1: FLOCK ADVISORY WRITE PID MAJOR:MINOR:INODE START END
    locks = [line.split() for line in held.splitlines()]
    return any("FLOCK" in parts and "WRITE" in parts and parts[-3].endswith(f":{inode}") for parts in locks)


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
        if any(words in text for words in DAMAGE):
            raise damaged(path, text) from error
        raise
    except sqlite3.DatabaseError as error:
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
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
        except UNREADABLE as error:
            raise damaged(self.path, f"{what}: {str(error)[:SAID]}") from error

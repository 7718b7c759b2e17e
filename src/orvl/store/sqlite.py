"""The store as one SQLite file and a folder of blobs."""

from __future__ import annotations

import json
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from orvl.errors import OrvlError, StoreError
from orvl.store import database, tree
from orvl.store.folder import FolderBlobs
from orvl.store.protocol import MOST_IN_MEMORY
from orvl.store.records import (
    ATTEMPT,
    SCORE,
    SPENT,
    attempt_from,
    checks_from,
    clean,
    columns,
    inspection_from,
    score_from,
)
from orvl.store.rows import StoredLabel, TrustRecord
from orvl.store.sqlite_calls import SqliteCalls
from orvl.store.sqlite_imports import SqliteImports
from orvl.store.sqlite_runs import OF_CELLS, WITH_SPENT, SqliteRuns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from orvl.store.protocol import Store

T = TypeVar("T")
CHUNK = 10_000
CELL = (
    "cell.key AS cell, run.key AS run, cell.agent, nullif(cell.model, '') AS model, "
    "nullif(cell.provider, '') AS provider, cell.eval, cell.version, run.episode"
)
JOIN = "FROM attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell"
EXPORTS = {
    "runs": f"SELECT {CELL}, attempt.id AS attempt, outcome, attempt.reason, started, {columns('seconds')}, "
    f"input_tokens, cached_tokens, output_tokens, tool_calls, cost_usd, cost_source, sandbox, tree {JOIN} {WITH_SPENT} "
    f"WHERE ({OF_CELLS}) ORDER BY attempt.id",
    "scores": f"SELECT {CELL}, attempt.id AS attempt, outcome, metric, metric_key, judge, judge_key, sample, kind, "
    f"value, score.reason, json_extract(score.detail, '$.told') AS told {JOIN} "
    f"JOIN score ON score.attempt = attempt.id WHERE ({OF_CELLS}) ORDER BY score.id",
}

FOUND = "SELECT attempt, kind, key, results, pictures FROM found ORDER BY id"
TYPES = {
    "INTEGER": "typeof({0}) = 'integer'",
    "REAL": "typeof({0}) IN ('real', 'integer') AND abs({0}) < 9e99",
    "TEXT": "typeof({0}) = 'text'",
    "BLOB": "typeof({0}) = 'blob'",
}
"""What values of a column are, by its type; SQLite itself keeps any value in any column."""


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


class SqliteStore(SqliteRuns, SqliteImports, SqliteCalls):
    """Opened for reading by anybody, for writing by one process at a time."""

    def __init__(self, folder: str | Path, *, write: bool) -> None:
        self.folder = Path(folder)
        self.path = self.folder / database.FILE
        self.blobs = FolderBlobs(self.folder / "blobs")
        self._lock: int | None = None
        if write:
            database.make(self.folder)
            self._lock = database.lock(self.folder)
        try:
            self.db = database.connect(self.folder, write=write)
            self._file = _identity(self.path)
        except BaseException:
            self._unlock()
            raise

    @staticmethod
    def exists(folder: str | Path) -> bool:
        return Path(folder, database.FILE).exists()

    @property
    def has_writer(self) -> bool:
        return database.has_writer(self.folder)

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def close(self) -> None:
        if self._lock is not None and self.db.total_changes:
            # Summaries only save time: where there is no room for them, reports read what they sum up.
            with suppress(OrvlError):
                self.transaction([lambda _: self.summarize_counts(), lambda _: self.summarize_tables()])
        self.db.close()
        self._unlock()

    def __enter__(self) -> SqliteStore:
        return self

    def __exit__(self, *raised: object) -> None:
        # Whatever stumbles over a value that is of another type than orvl writes has met damage, not a bug.
        error = raised[1] if isinstance(raised[1], database.UNREADABLE) else None
        wrong = self.unsound() if error else None
        self.close()
        if wrong:
            raise database.damaged(self.path, wrong) from error

    def changes(self) -> int:
        return int(self.rows("PRAGMA data_version")[0][0])

    def check_place(self) -> None:
        # SQLite goes on writing into a file that has been deleted, and nobody would ever read it.
        if _identity(self.path) != self._file:
            raise StoreError(
                f"The store {self.folder} was deleted or replaced while orvl was using it: nothing more is run. "
                "Put it back, or give the command again to begin a new one."
            )

    def transaction(self, works: Sequence[Callable[[Store], T]]) -> list[T]:
        self.check_place()
        with database.sentences(self.path):
            self.db.execute("BEGIN IMMEDIATE")
            try:
                results = [work(self) for work in works]
                self.db.execute("COMMIT")
            except BaseException:
                if self.db.in_transaction:
                    self.db.execute("ROLLBACK")
                raise
            return results

    # -- certificates, calibrations and labels

    def add_trust(self, kind: str, content: Mapping[str, Any]) -> int:
        statement = "INSERT INTO trust (kind, made, content) VALUES (?, ?, ?)"
        return self.insert(statement, (kind, time.time(), json.dumps(content)))

    def add_label(
        self, attempt: int, metric: str, person: str, value: float, note: str | None = None, drawn: str | None = None
    ) -> int:
        statement = "INSERT INTO label (attempt, metric, person, value, note, drawn, made) VALUES (?, ?, ?, ?, ?, ?, ?)"
        return self.insert(statement, (attempt, metric, clean(person), value, clean(note), drawn, time.time()))

    def trust(self, kind: str) -> list[TrustRecord]:
        rows = self.rows("SELECT id, made, content FROM trust WHERE kind = ? ORDER BY id DESC", (kind,))
        with self.readable(f"a {kind}"):
            found = [TrustRecord(number, made, json.loads(content)) for number, made, content in rows]
            if other := next((one for one in found if not isinstance(one.content, dict)), None):
                raise TypeError(f"number {other.id} says {other.content!r:.40}")
        return found

    def labels(self) -> list[StoredLabel]:
        rows = self.rows(
            "SELECT label.attempt, run.key, metric, person, value, drawn FROM label "
            "JOIN attempt ON attempt.id = label.attempt JOIN run ON run.id = attempt.run ORDER BY label.id"
        )
        return [StoredLabel(*row) for row in rows]

    # -- the whole store

    def export(self, what: str, cells: Collection[int] | None = None) -> tuple[list[str], Iterator[list[Any]]]:
        query = EXPORTS[what] if cells is not None else EXPORTS[what].replace(f"WHERE ({OF_CELLS}) ", "")
        with database.sentences(self.path):
            cursor = self.db.execute(query, () if cells is None else (json.dumps(list(cells)),))

        def chunks() -> Iterator[list[tuple[Any, ...]]]:
            with database.sentences(self.path):
                yield from iter(lambda: cursor.fetchmany(CHUNK), [])

        return [column[0] for column in cursor.description], chunks()

    def unsound(self) -> str | None:
        """The first column with a value that is not of its type, or the first row that names what is not there."""
        for table in sorted(database.own_tables()):
            for _, name, kind, is_needed, *_ in self.rows(f"PRAGMA table_info({table})"):
                known = TYPES[kind].format(f'"{name}"') + ("" if is_needed else f' OR "{name}" IS NULL')
                if self.rows(f"SELECT 1 FROM {table} WHERE NOT coalesce({known}, 0) LIMIT 1"):
                    return f"a value of {table}.{name} is none that orvl writes"
        dangling = (self.rows(f"PRAGMA foreign_key_check({table})") for table in sorted(database.own_tables()))
        return next((f"a row of {found[0][0]} has a dangling reference" for found in dangling if found), None)

    def referenced(self) -> set[str]:
        return set(self._referenced(None)[0])

    def integrity(self) -> list[str]:
        wrong = []
        # A table that orvl did not make may have rules that take for ever to check.
        for table in sorted(database.own_tables()):
            wrong += [row[0] for row in self.rows(f"PRAGMA integrity_check({table})") if row[0] != "ok"]
        if unsound := self.unsound():
            wrong.append(unsound)
        keys, verified = self._referenced(wrong)
        unread = sorted(keys.keys() - verified)
        # Of a bomb, no more is unpacked than an entry says that it has.
        with ThreadPoolExecutor() as pool:
            is_whole = pool.map(self.blobs.verify, unread, [keys[key] for key in unread])
            wrong += [
                f"the blob {key[:12]} is missing or damaged" for key, ok in zip(unread, is_whole, strict=True) if not ok
            ]
        self._read_all_of(wrong, "a score of attempt", f"SELECT attempt, {', '.join(SCORE)} FROM score", score_from)
        self._read_all_of(wrong, "attempt", "SELECT attempt, results FROM checked", lambda row: checks_from(row[0]))
        return wrong + self.wrong_counts() + self.wrong_tables()

    def _read_all_of(
        self, damaged: list[str] | None, what: str, query: str, read: Callable[[Sequence[Any]], T]
    ) -> list[T]:
        """Every row that a query finds, by one query: one for each attempt takes seconds for thousands of them."""
        found = []
        for number, *row in self.rows(query):
            try:
                found.append(read(row))
            except database.UNREADABLE:
                with _noting(damaged), self.readable(f"{what} {number}"):
                    raise
        return found

    def _referenced(self, damaged: list[str] | None) -> tuple[dict[str, int], set[str]]:
        """The keys of all blobs with the most bytes that each may have, and the keys of those that were read for it.

        Damage is an error, or is added to a list.
        """
        keys: dict[str, int] = {}
        verified: set[str] = set()
        manifests: set[str] = set()
        query = f"SELECT id, {columns(*ATTEMPT, *SPENT)} FROM attempt {WITH_SPENT}"
        for attempt in self._read_all_of(damaged, "attempt", query, attempt_from):
            named = [
                attempt.steps,
                attempt.record,
                *(key for turn in attempt.turns for key in (turn.stdout, turn.stderr)),
            ]
            keys.update((key, MOST_IN_MEMORY) for key in named if key)
            trees = (attempt.tree, attempt.start_tree, *(turn.tree for turn in attempt.turns))
            manifests.update(key for key in trees if key)
        for found in self._read_all_of(damaged, "an inspection of attempt", FOUND, inspection_from):
            keys.update((key, MOST_IN_MEMORY) for key in (found.results, *found.pictures.values()))
        for manifest in sorted(manifests):
            with _noting(damaged), self.readable(f"the manifest {manifest[:12]}"):
                entries = tree.entries_of(self.blobs, manifest)
                keys[manifest] = tree.MOST_LISTED
                keys.update((entry.hash, max(entry.size, keys.get(entry.hash, 0))) for entry in entries if entry.hash)
                verified.add(manifest)
        return keys, verified


@contextmanager
def _noting(damaged: list[str] | None) -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        if damaged is None:
            raise
        damaged.append(str(error))

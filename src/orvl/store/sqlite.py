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
from orvl.store.records import ATTEMPT, SCORE, SPENT, attempt_from, checks_from, clean, score_from
from orvl.store.rows import StoredLabel, TrustRecord
from orvl.store.sqlite_calls import SqliteCalls
from orvl.store.sqlite_runs import OF_CELLS, WITH_SPENT, SqliteRuns
from orvl.store.sqlite_scores import SqliteScores

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from orvl.store.protocol import Store

T = TypeVar("T")
CHUNK = 10_000
CELL = "cell.key AS cell, run.key AS run, cell.agent, cell.model, cell.provider, cell.eval, cell.version, run.episode"
JOIN = "FROM attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell"
EXPORTS = {
    "runs": f"SELECT {CELL}, attempt.id AS attempt, outcome, attempt.reason, started, seconds, input_tokens, "
    f"cached_tokens, output_tokens, tool_calls, cost_usd, cost_source, sandbox, tree {JOIN} WHERE ({OF_CELLS}) "
    "ORDER BY attempt.id",
    "scores": f"SELECT {CELL}, attempt.id AS attempt, outcome, metric, metric_key, judge, judge_key, sample, kind, "
    f"value, score.reason {JOIN} JOIN score ON score.attempt = attempt.id WHERE ({OF_CELLS}) ORDER BY score.id",
}


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        info = path.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino


class SqliteStore(SqliteRuns, SqliteScores, SqliteCalls):
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

    def __exit__(self, *_: object) -> None:
        self.close()

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

    def referenced(self) -> set[str]:
        return self._referenced(None)[0]

    def integrity(self) -> list[str]:
        wrong = [row[0] for row in self.rows("PRAGMA integrity_check") if row[0] != "ok"]
        wrong += [f"a row of {row[0]} has a dangling reference" for row in self.rows("PRAGMA foreign_key_check")]
        keys, verified = self._referenced(wrong)
        unread = sorted(keys - verified)
        with ThreadPoolExecutor() as pool:
            is_whole = pool.map(self.blobs.verify, unread)
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

    def _referenced(self, damaged: list[str] | None) -> tuple[set[str], set[str]]:
        """The keys of all blobs, and of those that were read for it. Damage is an error, or is added to a list."""
        keys = {row[0] for row in self.rows("SELECT DISTINCT steps FROM attempt WHERE steps IS NOT NULL")}
        verified: set[str] = set()
        query = f"SELECT id, {', '.join((*ATTEMPT, *SPENT))} FROM attempt {WITH_SPENT}"
        for attempt in self._read_all_of(damaged, "attempt", query, attempt_from):
            keys.update(key for turn in attempt.turns for key in (turn.stdout, turn.stderr) if key)
            keys.update([attempt.record] if attempt.record else [])
        for results, pictures in self.rows("SELECT results, pictures FROM found"):
            keys.update([results, *json.loads(pictures).values()])
        for (manifest,) in self.rows("SELECT tree FROM attempt UNION SELECT start_tree FROM attempt"):
            if not manifest:
                continue
            keys.add(manifest)
            with _noting(damaged), self.readable(f"the manifest {manifest[:12]}"):
                keys.update(entry.hash for entry in tree.entries_of(self.blobs, manifest) if entry.hash)
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

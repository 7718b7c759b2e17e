"""The store: one SQLite file and a folder of blobs. The only truth; nothing in it is ever overwritten."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orvl import __version__
from orvl.errors import StoreError, UserError
from orvl.store import database, tree
from orvl.store.blobs import Blobs
from orvl.store.records import (
    ATTEMPT,
    CALL,
    SCORE,
    attempt_from,
    attempt_row,
    call_from,
    call_row,
    checks_from,
    checks_text,
    clean,
    score_from,
    score_row,
)
from orvl.types import Inspection

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from orvl.types import Attempt, Cell, CheckResult, Layout, ModelCall, PlannedRun, Score


FEW = 100


@dataclass(frozen=True)
class StoredRun:
    """A run that was carried out, as the store knows it."""

    attempt: int
    key: str
    cell: int
    episode: int
    outcome: str


class Store:
    """Opened for reading by anybody, for writing by one process at a time."""

    def __init__(self, folder: Path, *, write: bool) -> None:
        self.folder = folder
        self.blobs = Blobs(folder / "blobs")
        self._lock: int | None = None
        if write:
            database.make(folder)
            self._lock = database.lock(folder)
        try:
            self.db = database.connect(folder, write=write)
        except BaseException:
            self._unlock()
            raise

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @property
    def path(self) -> Path:
        return self.folder / database.FILE

    def close(self) -> None:
        self.db.close()
        self._unlock()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- writing: called inside `transaction`

    def transaction(self, works: Sequence[Callable[[Store], Any]]) -> list[Any]:
        """Does all of it durably, or none of it."""
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

    def add_call(self, words: Any, seed: int) -> int:
        return self._insert(
            "INSERT INTO call (started, orvl, words, seed) VALUES (?, ?, ?, ?)",
            (time.time(), __version__, json.dumps(words), seed),
        )

    def add_cell(self, cell: Cell) -> int:
        self.db.execute(
            "INSERT INTO cell (key, agent, model, provider, eval, version, prompts) VALUES (?, ?, ?, ?, ?, ?, ?) "
            "ON CONFLICT (key) DO NOTHING",
            (cell.key, *cell.names, cell.version, json.dumps(cell.eval.prompts)),
        )
        return int(self.db.execute("SELECT id FROM cell WHERE key = ?", (cell.key,)).fetchone()[0])

    def add_attempt(self, planned: PlannedRun, cell: int, call: int, attempt: Attempt, checks_key: str) -> int:
        self.db.execute(
            "INSERT INTO run (key, cell, episode) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
            (planned.key, cell, planned.episode),
        )
        columns = ", ".join(ATTEMPT)
        marks = ", ".join("?" * len(ATTEMPT))
        number = self._insert(
            f"INSERT INTO attempt (run, call, {columns}) VALUES ((SELECT id FROM run WHERE key = ?), ?, {marks})",
            (planned.key, call, *attempt_row(attempt)),
        )
        if attempt.checks is not None:
            self.add_checks(number, checks_key, attempt.checks)
        statement = f"INSERT INTO model_call (attempt, {', '.join(CALL)}) VALUES (?{', ?' * len(CALL)})"
        self.db.executemany(statement, [(number, *call_row(made)) for made in attempt.calls])
        return number

    def add_checks(self, attempt: int, key: str, checks: Sequence[CheckResult]) -> None:
        self.db.execute(
            "INSERT OR IGNORE INTO checked (attempt, key, results) VALUES (?, ?, ?)",
            (attempt, key, checks_text(checks)),
        )

    def add_found(self, attempt: int, found: Inspection) -> None:
        self.db.execute(
            "INSERT OR IGNORE INTO found (attempt, kind, key, results, pictures) VALUES (?, ?, ?, ?, ?)",
            (attempt, found.kind, found.key, found.results, json.dumps(found.pictures)),
        )

    def add_scores(
        self, attempt: int, cell: int, call: int, scores: Iterable[Score], layout: int, card: bytes | None
    ) -> None:
        statement = f"INSERT INTO score (attempt, call, {', '.join(SCORE)}) VALUES (?, ?{', ?' * len(SCORE)})"
        self.db.executemany(statement, [(attempt, call, *score_row(score)) for score in scores])
        if card is None:
            return
        self.db.execute("INSERT OR REPLACE INTO card VALUES (?, ?, ?, ?)", (layout, attempt, cell, card))

    def add_layout(self, layout: Layout) -> int:
        rows = (layout.key, *(json.dumps(part) for part in (layout.judges, layout.metrics, layout.judged)))
        self.db.execute(
            "INSERT INTO layout (key, judges, metrics, judged) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING", rows
        )
        return int(self.db.execute("SELECT id FROM layout WHERE key = ?", (layout.key,)).fetchone()[0])

    def add_trust(self, kind: str, content: Mapping[str, Any]) -> int:
        """Keeps a certificate or a calibration."""
        statement = "INSERT INTO trust (kind, made, content) VALUES (?, ?, ?)"
        return self._insert(statement, (kind, time.time(), json.dumps(content)))

    def add_label(
        self, attempt: int, metric: str, person: str, value: float, note: str | None = None, drawn: str | None = None
    ) -> int:
        """Keeps what a person says of a run, '' being the whole of it; `drawn` says how chance has chosen the run."""
        statement = "INSERT INTO label (attempt, metric, person, value, note, drawn, made) VALUES (?, ?, ?, ?, ?, ?, ?)"
        return self._insert(statement, (attempt, metric, clean(person), value, clean(note), drawn, time.time()))

    def _insert(self, statement: str, values: Sequence[Any]) -> int:
        number = self.db.execute(statement, values).lastrowid
        assert number is not None
        return number

    # -- reading

    def rows(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with database.sentences(self.path):
            return self.db.execute(query, values).fetchall()

    def carried_out(self, cell_keys: Iterable[str]) -> Iterator[StoredRun]:
        """The runs of these cells that finished or failed."""
        for key in cell_keys:
            for row in self.rows(
                "SELECT attempt.id, run.key, run.cell, run.episode, attempt.outcome FROM cell "
                "JOIN run ON run.cell = cell.id JOIN attempt ON attempt.run = run.id "
                "WHERE cell.key = ? AND attempt.outcome <> 'errored'",
                (key,),
            ):
                yield StoredRun(*row)

    def attempt(self, number: int, checks_key: str | None = None) -> tuple[Attempt, tuple[CheckResult, ...] | None]:
        """An attempt, and its check results under a key (or the newest)."""
        row = self.rows(f"SELECT {', '.join(ATTEMPT)} FROM attempt WHERE id = ?", (number,))[0]
        checked = self.rows(
            "SELECT results FROM checked WHERE attempt = ? AND (? IS NULL OR key = ?) ORDER BY id",
            (number, checks_key, checks_key),
        )
        with self._sound(f"attempt {number}"):
            return attempt_from(row), checks_from(checked[-1][0]) if checked else None

    def found(self, attempt: int) -> list[Inspection]:
        """What programs found out about an attempt's capture, the newest last."""
        rows = self.rows("SELECT kind, key, results, pictures FROM found WHERE attempt = ? ORDER BY id", (attempt,))
        with self._sound(f"what was found of attempt {attempt}"):
            return [Inspection(kind, key, results, json.loads(pictures)) for kind, key, results, pictures in rows]

    def calls(self, attempt: int) -> list[ModelCall]:
        """The calls of models that an attempt made, in the order in which they began."""
        query = f"SELECT {', '.join(CALL)} FROM model_call WHERE attempt = ? ORDER BY number"
        with self._sound(f"a call of attempt {attempt}"):
            return [call_from(row) for row in self.rows(query, (attempt,))]

    def scores(self, attempt: int) -> list[Score]:
        """All scores of an attempt, oldest first."""
        query = f"SELECT {', '.join(SCORE)} FROM score WHERE attempt = ? ORDER BY id"
        with self._sound(f"a score of attempt {attempt}"):
            return [score_from(row) for row in self.rows(query, (attempt,))]

    def trust(self, kind: str) -> list[tuple[int, float, dict[str, Any]]]:
        """(id, when it was made, content) of certificates or calibrations, the newest first."""
        rows = self.rows("SELECT id, made, content FROM trust WHERE kind = ? ORDER BY id DESC", (kind,))
        with self._sound(f"a {kind}"):
            return [(number, made, json.loads(content)) for number, made, content in rows]

    def labels(self) -> list[tuple[int, str, str, float]]:
        """(attempt, metric, person, value): the newest word of each person on each metric of each run."""
        return self.rows(
            "SELECT attempt, metric, person, value FROM label WHERE id IN "
            "(SELECT max(id) FROM label GROUP BY attempt, metric, person) ORDER BY id"
        )

    @contextmanager
    def _sound(self, what: str) -> Iterator[None]:
        """What cannot be read as it was written is damage, not a bug."""
        try:
            yield
        except (ValueError, KeyError, TypeError) as error:
            raise database.damaged(self.path, f"{what}: {error}") from error

    def layout_id(self, layout: Layout) -> int | None:
        found = self.rows("SELECT id FROM layout WHERE key = ?", (layout.key,))
        return int(found[0][0]) if found else None

    def cards(self, layout: int, cells: Collection[int]) -> list[tuple[int, int, bytes]]:
        """(attempt, cell, S) for every run that was scored under a layout; of few cells, only theirs."""
        query = "SELECT attempt, cell, S FROM card WHERE layout = ?"
        if len(cells) > FEW:
            return self.rows(query, (layout,))
        return self.rows(f"{query} AND cell IN ({', '.join('?' * len(cells))})", (layout, *cells))

    def score_values(self, cell: int) -> list[tuple[int, str, str, float | None]]:
        """(attempt, metric key, judge key, value) of all scores of a cell's runs."""
        return self.rows(
            "SELECT score.attempt, metric_key, judge_key, value FROM run JOIN attempt ON attempt.run = run.id "
            "JOIN score ON score.attempt = attempt.id WHERE run.cell = ?",
            (cell,),
        )

    def trees(self) -> Iterator[str]:
        for row in self.rows("SELECT tree FROM attempt UNION SELECT start_tree FROM attempt"):
            if row[0]:
                yield row[0]

    def referenced(self, damaged: list[str] | None = None) -> set[str]:
        """The keys of all blobs that an attempt names. Damage is an error, or is added to a list."""
        keys = {row[0] for row in self.rows("SELECT DISTINCT steps FROM attempt WHERE steps IS NOT NULL")}
        for (number,) in self.rows("SELECT id FROM attempt"):
            with self.noting(damaged):
                attempt = self.attempt(number)[0]
                keys.update(key for turn in attempt.turns for key in (turn.stdout, turn.stderr) if key)
                keys.update([attempt.record] if attempt.record else [])
        for results, pictures in self.rows("SELECT results, pictures FROM found"):
            keys.update([results, *json.loads(pictures).values()])
        for manifest in self.trees():
            keys.add(manifest)
            with self.noting(damaged), self._sound(f"the manifest {manifest[:12]}"):
                keys.update(entry.hash for entry in tree.decode(self.blobs.get(manifest)) if entry.hash)
        return keys

    @contextmanager
    def noting(self, damaged: list[str] | None) -> Iterator[None]:
        try:
            yield
        except StoreError as error:
            if damaged is None:
                raise
            damaged.append(str(error))


def store_folder(flag: str | None, setting: str | None, root: Path) -> Path:
    """A folder, or sqlite:///FOLDER: `--store` from where the user stands, else orvl.toml's from the project."""
    url = flag or setting
    if not url:
        return root / ".orvl"
    if url.startswith("sqlite:///"):
        url = url.removeprefix("sqlite://")
    if "://" in url:
        raise UserError(f"--store {url}: this version keeps results in a folder; give its path.")
    return ((Path.cwd() if flag else root) / Path(url).expanduser()).resolve()


def integrity(store: Store) -> list[str]:
    """What is wrong with a store; nothing, if it is sound."""
    wrong = [row[0] for row in store.rows("PRAGMA integrity_check") if row[0] != "ok"]
    wrong += [f"a row of {row[0]} refers to nothing" for row in store.rows("PRAGMA foreign_key_check")]
    keys = store.referenced(wrong)
    wrong += [f"the blob {key[:12]} is missing or damaged" for key in sorted(keys) if not store.blobs.verify(key)]
    for (number,) in store.rows("SELECT DISTINCT attempt FROM score"):
        with store.noting(wrong):
            store.scores(number)
    return wrong

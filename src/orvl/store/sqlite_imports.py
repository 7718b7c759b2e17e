"""Results of other tools in SQLite: many runs at once, without captures."""

from __future__ import annotations

import hashlib
import json
import struct
import time
from math import nan
from typing import TYPE_CHECKING, Any

from orvl.store.database import Queries
from orvl.store.records import SCORE
from orvl.store.sqlite_runs import NEXT_PLANNED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.store.rows import ImportOrigin
    from orvl.types import ImportedCell, Layout

SANDBOX = "imported"
"""Where imported runs ran: nobody knows."""
ATTEMPT = (
    *("id", "run", "call", "outcome", "reason", "started", "seconds", "untimed", "cost_usd", "cost_source"),
    *("sandbox", "detail"),
)
DETAIL = json.dumps({"turns": [], "cut": []})


class SqliteImports(Queries):
    """Implements ImportStore."""

    def add_imported(self, key: str, cell: ImportedCell, origin: ImportOrigin, layout: Layout, call: int) -> None:
        number = self.insert(
            "INSERT INTO cell (key, agent, model, provider, eval, version, prompts, made_of, planned) "
            f"VALUES (?, ?, ?, ?, ?, '', '[]', ?, {NEXT_PLANNED})",
            (key, *cell.names, origin.as_text()),
        )
        runs, attempts = (
            self.rows(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")[0][0] for table in ("run", "attempt")
        )
        self.db.executemany(
            "INSERT INTO run (id, key, cell, episode) VALUES (?, ?, ?, ?)",
            [(runs + i, _run_key(key, run.episode), number, run.episode) for i, run in enumerate(cell.runs)],
        )
        self.db.executemany(
            f"INSERT INTO attempt ({', '.join(ATTEMPT)}) VALUES (?{', ?' * (len(ATTEMPT) - 1)})",
            _attempts(cell, origin, runs, attempts, call),
        )
        self.db.executemany(
            f"INSERT INTO score (attempt, call, {', '.join(SCORE)}) VALUES (?, ?{', ?' * len(SCORE)})",
            _scores(cell, layout, attempts, call),
        )
        self.db.executemany(
            "INSERT INTO card VALUES (?, ?, ?, ?)",
            _tables(cell, attempts, self.rows("SELECT id FROM layout WHERE key = ?", (layout.key,))[0][0], number),
        )


def _run_key(cell: str, episode: int) -> str:
    return hashlib.sha256(f"{cell} {episode}".encode()).hexdigest()


def _attempts(cell: ImportedCell, origin: ImportOrigin, run: int, first: int, call: int) -> Iterator[tuple[Any, ...]]:
    """A run without any score is errored: missing, never 0."""
    now, told, silent = time.time(), f"imported from {origin.source}", f"{origin.source} has no score of it"
    for i, one in enumerate(cell.runs):
        is_scored = any(value is not None for value in one.scores)
        yield (
            first + i,
            run + i,
            call,
            "finished" if is_scored else "errored",
            told if is_scored else silent,
            now,
            one.seconds or 0.0,
            int(one.seconds is None),
            one.cost_usd,
            None if one.cost_usd is None else SANDBOX,
            SANDBOX,
            DETAIL,
        )


def _scores(cell: ImportedCell, layout: Layout, first: int, call: int) -> Iterator[tuple[Any, ...]]:
    for i, one in enumerate(cell.runs):
        for (metric, key), value in zip(layout.metrics, one.scores, strict=True):
            if value is not None:
                yield first + i, call, metric, key, "", "", 1, "scored", value, None, None


def _tables(cell: ImportedCell, first: int, layout: int, number: int) -> Iterator[tuple[Any, ...]]:
    form = f"<{len(cell.metrics)}d"
    for i, one in enumerate(cell.runs):
        if any(value is not None for value in one.scores):
            S = struct.pack(form, *(nan if value is None else value for value in one.scores))
            yield layout, first + i, number, S

"""Results of other tools in SQLite: many runs at once, without captures."""

from __future__ import annotations

import hashlib
import json
import struct
import time
from math import nan
from typing import TYPE_CHECKING, Any

from orvl.store.records import SCORE
from orvl.store.sqlite_runs import NEXT_PLANNED
from orvl.store.sqlite_scores import SqliteScores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from orvl.store.rows import ImportOrigin
    from orvl.types import ImportedCell, Layout

SANDBOX = "imported"
"""Where imported runs ran: nobody knows."""
ATTEMPT = (
    *("id", "run", "call", "outcome", "reason", "started", "seconds", "cost_usd", "cost_source", "sandbox", "detail"),
)
ADD_ATTEMPT = f"INSERT INTO attempt ({', '.join(ATTEMPT)}) VALUES (?{', ?' * (len(ATTEMPT) - 1)})"
ADD_SCORE = f"INSERT INTO score (attempt, call, {', '.join(SCORE)}) VALUES (?, ?{', ?' * len(SCORE)})"
DETAIL = json.dumps({"turns": [], "cut": []})


class SqliteImports(SqliteScores):
    """Implements ImportStore."""

    def add_imported(self, cells: Iterable[tuple[str, ImportedCell, ImportOrigin, Layout]], call: int) -> None:
        planned = self.rows(f"SELECT {NEXT_PLANNED}")[0][0]
        number, run, attempt = (
            self.rows(f"SELECT coalesce(max(id), 0) + 1 FROM {table}")[0][0] for table in ("cell", "run", "attempt")
        )
        layouts: dict[str, int] = {}
        for key, cell, origin, layout in cells:
            if layout.key not in layouts:
                layouts[layout.key] = self.add_layout(layout)
            self.db.execute(
                "INSERT INTO cell (id, key, agent, model, provider, eval, version, prompts, made_of, planned) "
                "VALUES (?, ?, ?, ?, ?, ?, '', '[]', ?, ?)",
                (number, key, *cell.names, origin.as_text(), planned),
            )
            self.db.executemany(
                "INSERT INTO run (id, key, cell, episode) VALUES (?, ?, ?, ?)",
                [(run + i, _run_key(key, one.episode), number, one.episode) for i, one in enumerate(cell.runs)],
            )
            self.db.executemany(ADD_ATTEMPT, _attempts(cell, origin, run, attempt, call))
            self.db.executemany(
                "INSERT INTO spent (attempt, is_bound, untimed) VALUES (?, 0, 1)",
                [(attempt + i,) for i, one in enumerate(cell.runs) if one.seconds is None],
            )
            self.db.executemany(ADD_SCORE, _scores(cell, layout, attempt, call))
            self.db.executemany(
                "INSERT INTO card VALUES (?, ?, ?, ?)", _tables(cell, attempt, layouts[layout.key], number)
            )
            number, run, attempt = number + 1, run + len(cell.runs), attempt + len(cell.runs)


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

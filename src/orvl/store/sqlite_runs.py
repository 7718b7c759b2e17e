"""Cells, runs and attempts in SQLite."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from orvl import __version__
from orvl.store.database import MANY, Queries, damaged
from orvl.store.protocol import ANY_EPISODE
from orvl.store.records import (
    ATTEMPT,
    CALL,
    SECONDS,
    SPENT,
    USAGE,
    attempt_from,
    attempt_row,
    call_row,
    check_text,
    check_types,
    checks_from,
    checks_text,
    columns,
    inspection_from,
    made_of_text,
    spent_row,
    usage_from,
)
from orvl.store.rows import CellCounts, RunResult, StoredCell, StoredRun
from orvl.types import REFUSED_CALLS, Inspection

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from orvl.store.rows import AttemptFilter
    from orvl.types import Attempt, Cell, CheckResult, PlannedRun

SUMS = (
    *("input_tokens", "cached_tokens", "output_tokens", "tool_calls", "seconds", "cost_usd"),
    *("model_seconds", "tools_seconds", "own_seconds", "waiting_seconds"),
)
SOUND = " AND ".join(f"coalesce({name}, 0) BETWEEN 0 AND 9e99" for name in SUMS)
"""Text, infinity and what is below 0 are not."""
MOST_EPISODES = 10_000_000
RUN = "attempt.id, run.key, run.cell, run.episode, attempt.outcome"
WITH_ATTEMPT = (
    "FROM run JOIN attempt ON attempt.id = (SELECT id FROM attempt WHERE attempt.run = run.id "
    "ORDER BY outcome = 'errored', id DESC LIMIT 1)"
)
"""Each run with the attempt that counts."""
ERRORED = (
    "FROM attempt INDEXED BY errored_attempts CROSS JOIN run ON run.id = attempt.run AND attempt.outcome = 'errored' "
    "AND attempt.id = (SELECT id FROM attempt WHERE attempt.run = run.id ORDER BY outcome = 'errored', id DESC LIMIT 1)"
)
"""Each run that has only errored, with its last attempt; from the few attempts that errored, not from all runs."""
WITH_SPENT = "LEFT JOIN spent ON spent.attempt = attempt.id"
NEXT_PLANNED = "(SELECT coalesce(max(planned), 0) + 1 FROM cell)"
OF_CELLS = "run.cell IN (SELECT value FROM json_each(?))"


class SqliteRuns(Queries):
    """Implements RunStore."""

    def add_call(self, words: Any, seed: int) -> int:
        return self.insert(
            "INSERT INTO call (started, orvl, words, seed) VALUES (?, ?, ?, ?)",
            (time.time(), __version__, json.dumps(words), seed),
        )

    def add_end(self, call: int) -> None:
        self.db.execute("UPDATE call SET ended = ? WHERE id = ?", (time.time(), call))

    def scored_before_end(self, words: str, samples: str) -> dict[int, set[tuple[str, str]]]:
        rows = self.rows(
            "WITH same AS (SELECT id, ended FROM call WHERE json_extract(words, '$.words') = ? "
            "AND json_extract(words, '$.samples') = ?) "
            "SELECT attempt, metric_key, judge_key FROM score WHERE call IN "
            "(SELECT id FROM same WHERE id > (SELECT coalesce(max(id), 0) FROM same WHERE ended IS NOT NULL))",
            (words, samples),
        )
        scored: dict[int, set[tuple[str, str]]] = {}
        for attempt, metric_key, judge_key in rows:
            scored.setdefault(attempt, set()).add((metric_key, judge_key))
        return scored

    def add_cell(self, cell: Cell) -> int:
        self.db.execute(
            "INSERT INTO cell (key, agent, model, provider, eval, version, prompts, planned) "
            f"VALUES (?, ?, ?, ?, ?, ?, ?, {NEXT_PLANNED}) ON CONFLICT (key) DO NOTHING",
            (cell.key, *cell.names, cell.version, json.dumps(cell.eval.prompts)),
        )
        return int(self.db.execute("SELECT id FROM cell WHERE key = ?", (cell.key,)).fetchone()[0])

    def add_planned(self, cells: Sequence[Cell]) -> None:
        number = self.rows(f"SELECT {NEXT_PLANNED}")[0][0]
        for cell in cells:
            self.add_cell(cell)
        self.db.executemany(
            "UPDATE cell SET planned = ?, made_of = coalesce(made_of, ?) WHERE key = ?",
            [(number, made_of_text(cell), cell.key) for cell in cells],
        )

    def add_attempt(self, planned: PlannedRun, cell: int, call: int, attempt: Attempt, checks_key: str) -> int:
        self.db.execute(
            "INSERT INTO run (key, cell, episode) VALUES (?, ?, ?) ON CONFLICT (key) DO NOTHING",
            (planned.key, cell, planned.episode),
        )
        marks = ", ".join("?" * len(ATTEMPT))
        number = self.insert(
            f"INSERT INTO attempt (run, call, {', '.join(ATTEMPT)}) "
            f"VALUES ((SELECT id FROM run WHERE key = ?), ?, {marks})",
            (planned.key, call, *attempt_row(attempt)),
        )
        if attempt.usage.is_bound or attempt.usage.own_seconds is not None:
            spent = f"INSERT INTO spent (attempt, {', '.join(SPENT)}) VALUES (?{', ?' * len(SPENT)})"
            self.db.execute(spent, (number, *spent_row(attempt)))
        self.db.execute("DELETE FROM cell_counts WHERE cell = ?", (cell,))
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

    def add_inspection(self, attempt: int, inspection: Inspection) -> None:
        self.db.execute(
            "INSERT OR IGNORE INTO found (attempt, kind, key, results, pictures) VALUES (?, ?, ?, ?, ?)",
            (attempt, inspection.kind, inspection.key, inspection.results, json.dumps(inspection.pictures)),
        )

    def cells(self) -> list[StoredCell]:
        of_cell = "FROM run WHERE run.cell = cell.id"
        rows = self.rows(
            "SELECT cell.id, key, agent, model, provider, eval, version, "
            f"coalesce(c.runs, (SELECT count(*) {of_cell})), "
            f"coalesce(c.last_episode, (SELECT max(episode) {of_cell}), 0), planned, made_of "
            "FROM cell LEFT JOIN cell_counts c ON c.cell = cell.id ORDER BY cell.id"
        )
        with self.readable("a cell"):
            cells = [check_types(StoredCell(*row)) for row in rows]
            if far := next((cell for cell in cells if cell.last_episode > MOST_EPISODES), None):
                raise ValueError(f"cell {far.id} has an episode {far.last_episode}")
        return cells

    def prompts(self, cell: int) -> tuple[str, ...]:
        text = self.rows("SELECT prompts FROM cell WHERE id = ?", (cell,))[0][0]
        with self.readable(f"the prompts of cell {cell}"):
            return tuple(json.loads(text))

    def runs(self, cells: Collection[int] | None = None) -> list[StoredRun]:
        of_cells, values = ("", ()) if cells is None else (f"WHERE {OF_CELLS}", (json.dumps(list(cells)),))
        rows = self.rows(f"SELECT {RUN} {WITH_ATTEMPT} {of_cells} ORDER BY run.id", values)
        with self.readable("a run"):
            return [check_types(StoredRun(*row)) for row in rows]

    def runs_starting_with(self, prefix: str, limit: int) -> list[StoredRun]:
        begins = "run.key >= ?1 AND run.key < ?1 || char(1114111)"
        query = f"SELECT {RUN} {WITH_ATTEMPT} WHERE {begins} ORDER BY run.id LIMIT ?2"
        with self.readable("a run"):
            return [check_types(StoredRun(*row)) for row in self.rows(query, (prefix, limit))]

    def carried_out(self, cell_keys: Iterable[str]) -> Iterator[StoredRun]:
        for key in cell_keys:
            rows = self.rows(
                f"SELECT {RUN} FROM cell JOIN run ON run.cell = cell.id JOIN attempt ON attempt.run = run.id "
                "WHERE cell.key = ? AND attempt.outcome <> 'errored'",
                (key,),
            )
            with self.readable("a run"):
                found = [check_types(StoredRun(*row)) for row in rows]
            yield from found

    def has_called(self, names: tuple[str, str, str], version: str, contestant: str) -> bool:
        refused = " OR ".join(
            f"json_extract(attempt.detail, '$.refused.\"{kind}\"') IS NOT NULL" for kind in REFUSED_CALLS
        )
        # Attempts of earlier versions of orvl do not say which contestant they are of; their names have to do.
        query = (
            "SELECT 1 FROM cell JOIN run ON run.cell = cell.id JOIN attempt ON attempt.run = run.id "
            "WHERE agent = ? AND model = ? AND provider = ? AND version = ? "
            "AND coalesce(json_extract(attempt.detail, '$.contestant'), ?) = ? "
            "AND (EXISTS (SELECT 1 FROM model_call WHERE model_call.attempt = attempt.id) "
            f"OR {refused}) LIMIT 1"
        )
        return bool(self.rows(query, (*names, version, contestant, contestant)))

    def run_results(self, cells: Collection[int]) -> list[RunResult]:
        return self._results(f"{WITH_ATTEMPT} {WITH_SPENT} WHERE {OF_CELLS} ORDER BY run.id", cells)

    def errored_runs(self, cells: Collection[int]) -> list[RunResult]:
        return self._results(f"{ERRORED} {WITH_SPENT} WHERE {OF_CELLS} ORDER BY run.id", cells)

    def results_of(self, attempts: Collection[int]) -> list[RunResult]:
        these = "FROM json_each(?) AS one CROSS JOIN attempt ON attempt.id = one.value JOIN run ON run.id = attempt.run"
        return self._results(f"{these} {WITH_SPENT} ORDER BY one.id", attempts)

    def _results(self, which: str, numbers: Collection[int]) -> list[RunResult]:
        rows = self.rows(
            f"SELECT {RUN}, reason, sandbox, {columns(*USAGE, *SPENT)} {which}", (json.dumps(list(numbers)),)
        )
        with self.readable("how a run ended"):
            for row in rows:
                for name, value in zip(("key", "outcome", "reason", "sandbox"), (row[1], *row[4:7]), strict=True):
                    check_text(name, value)
            return [
                RunResult(attempt, key, cell, episode, outcome, reason, sandbox, usage_from(usage))
                for attempt, key, cell, episode, outcome, reason, sandbox, *usage in rows
            ]

    def find_attempts(self, wanted: AttemptFilter) -> list[int]:
        figure = {"seconds": SECONDS, "cost_usd": "cost_usd"}.get(wanted.most_first or "")
        found = (
            "FROM attempt LEFT JOIN spent ON spent.attempt = id "
            f"WHERE (?1 IS NULL OR outcome = ?1) AND (?2 IS NULL OR cost_usd > ?2) AND (?3 IS NULL OR {SECONDS} > ?3)"
        )
        # What is unknown is less than any number to SQLite.
        order = f"ORDER BY {f'{figure} DESC, ' if figure else ''}id"
        values = wanted.outcome, wanted.cost_over, wanted.seconds_over
        if not wanted.reason:
            return [number for (number,) in self.rows(f"SELECT id {found} {order}", values)]
        part = wanted.reason.casefold()
        rows = self.rows(f"SELECT id, reason {found} AND reason IS NOT NULL {order}", values)
        return [number for number, reason in rows if part in str(reason).casefold()]

    def started(self, cells: Collection[int]) -> dict[int, tuple[float, float]]:
        rows = self.rows(
            "SELECT run.cell, min(started), max(started) FROM attempt JOIN run ON run.id = attempt.run "
            f"WHERE {OF_CELLS} GROUP BY run.cell",
            (json.dumps(list(cells)),),
        )
        return {cell: (first, last) for cell, first, last in rows}

    def drop_runs(self, runs: Collection[str]) -> None:
        keys = (json.dumps(list(runs)),)
        of_runs = "SELECT id FROM run WHERE key IN (SELECT value FROM json_each(?))"
        attempts = f"SELECT id FROM attempt WHERE run IN ({of_runs})"
        cells = [row[0] for row in self.rows(f"SELECT DISTINCT cell FROM run WHERE id IN ({of_runs})", keys)]
        self.db.execute(f"DELETE FROM judge_reply WHERE about IN (SELECT 'attempt:' || id FROM ({attempts}))", keys)
        for table in ("card", "score", "checked", "found", "label", "model_call", "spent"):
            self.db.execute(f"DELETE FROM {table} WHERE attempt IN ({attempts})", keys)
        self.db.execute(f"DELETE FROM attempt WHERE run IN ({of_runs})", keys)
        self.db.execute(f"DELETE FROM run WHERE id IN ({of_runs})", keys)
        for table in ("cell_counts", "cell_tables"):
            self.db.execute(f"DELETE FROM {table} WHERE cell IN (SELECT value FROM json_each(?))", (json.dumps(cells),))
        self.db.execute(
            "DELETE FROM cell WHERE id IN (SELECT value FROM json_each(?)) AND id NOT IN (SELECT cell FROM run)",
            (json.dumps(cells),),
        )

    def counts(self, first: int, last: int) -> dict[int, CellCounts]:
        if first > 1 or last < ANY_EPISODE:
            return self._counted(first, last)
        rows = self.rows("SELECT cell, runs, content FROM cell_counts")
        with self.readable("a summary of a cell"):
            counted = {cell: CellCounts(runs, *json.loads(content)) for cell, runs, content in rows}
        return counted | self._counted(first, last, "run.cell NOT IN (SELECT cell FROM cell_counts)")

    def summarize_counts(self) -> None:
        """Stores the counts of cells that have no summary, once these have many runs."""
        lacking = "SELECT count(*) FROM run WHERE cell NOT IN (SELECT cell FROM cell_counts)"
        if self.rows(lacking)[0][0] < MANY:
            return
        last = dict(self.rows("SELECT cell, max(episode) FROM run GROUP BY cell"))
        counted = self._counted(1, ANY_EPISODE, "run.cell NOT IN (SELECT cell FROM cell_counts)")
        self.db.executemany(
            "INSERT INTO cell_counts (cell, runs, last_episode, content) VALUES (?, ?, ?, ?)",
            [(cell, one.runs, last[cell], json.dumps(_content(one))) for cell, one in counted.items()],
        )

    def wrong_counts(self) -> list[str]:
        """Summaries that differ from what they sum up."""
        stored, counted = self.counts(1, ANY_EPISODE), self._counted(1, ANY_EPISODE)
        return [f"the summary of cell {cell} has wrong counts" for cell in counted if stored[cell] != counted[cell]]

    def _counted(self, first: int, last: int, where: str = "1") -> dict[int, CellCounts]:
        runs = f"SELECT cell, count(*) FROM run WHERE episode BETWEEN ? AND ? AND {where} GROUP BY cell"
        counted = {cell: CellCounts(number) for cell, number in self.rows(runs, (first, last))}
        if not counted:
            return {}
        read = {name: SECONDS if name == "seconds" else name for name in SUMS}
        sums = ", ".join(f"sum({one}), count({one})" for one in read.values())
        used = self.rows(
            f"SELECT run.cell, count(*), sum(outcome = 'failed'), sum(sandbox = 'none'), "
            "group_concat(DISTINCT sandbox), group_concat(DISTINCT cost_source), max(is_bound), "
            f"sum(NOT ({SOUND})), {sums} "
            f"FROM attempt {WITH_SPENT} CROSS JOIN run ON run.id = attempt.run "
            f"WHERE outcome <> 'errored' AND run.episode BETWEEN ? AND ? AND {where} GROUP BY run.cell",
            (first, last),
        )
        for cell, carried_out, failed, bare, sandbox, sources, is_bound, unsound, *rest in used:
            if unsound:
                raise damaged(self.path, f"what a run of cell {cell} used")
            totals = zip(SUMS, rest[::2], rest[1::2], strict=True)
            usage = {name: total if known == carried_out else None for name, total, known in totals}
            usage["cost_source"], usage["is_bound"] = sources, bool(is_bound)
            counted[cell] = CellCounts(counted[cell].runs, carried_out, failed, bare, sandbox, usage)
        return counted

    def attempts(self, run: str) -> list[int]:
        query = "SELECT attempt.id FROM attempt JOIN run ON run.id = attempt.run WHERE run.key = ? ORDER BY attempt.id"
        return [row[0] for row in self.rows(query, (run,))]

    def attempts_between(self, first: int, last: int) -> Collection[int]:
        query = "SELECT attempt.id FROM attempt JOIN run ON run.id = attempt.run WHERE run.episode BETWEEN ? AND ?"
        return {row[0] for row in self.rows(query, (first, last))}

    def attempt(self, number: int, checks_key: str | None = None) -> tuple[Attempt, tuple[CheckResult, ...] | None]:
        row = self.rows(f"SELECT {columns(*ATTEMPT, *SPENT)} FROM attempt {WITH_SPENT} WHERE id = ?", (number,))[0]
        checked = self.rows(
            "SELECT results FROM checked WHERE attempt = ? AND (? IS NULL OR key = ?) ORDER BY id",
            (number, checks_key, checks_key),
        )
        with self.readable(f"attempt {number}"):
            return attempt_from(row), checks_from(checked[-1][0]) if checked else None

    def inspected(self, kind: str) -> list[int]:
        return [attempt for (attempt,) in self.rows("SELECT DISTINCT attempt FROM found WHERE kind = ?", (kind,))]

    def inspections(self, attempt: int) -> list[Inspection]:
        rows = self.rows("SELECT kind, key, results, pictures FROM found WHERE attempt = ? ORDER BY id", (attempt,))
        with self.readable(f"an inspection of attempt {attempt}"):
            return [inspection_from(row) for row in rows]

    def run_costs(self, contestant: tuple[str, str, str], limit: int) -> list[float]:
        rows = self.rows(
            "SELECT cost_usd FROM attempt JOIN run ON run.id = attempt.run JOIN cell ON cell.id = run.cell WHERE "
            "agent = ? AND model = ? AND provider = ? AND cost_usd IS NOT NULL ORDER BY attempt.id DESC LIMIT ?",
            (*contestant, limit),
        )
        return [row[0] for row in rows]


def _content(counts: CellCounts) -> list[Any]:
    """The fields after `runs`."""
    return [counts.carried_out, counts.failed, counts.bare, counts.sandbox, counts.usage]

"""Scores in SQLite."""

from __future__ import annotations

import json
import struct
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING

from orvl.store.database import MANY, Queries, damaged
from orvl.store.records import SCORE, check_score, reply_place, score_from, score_row
from orvl.store.rows import JudgeAnswer, JudgeReply, NewestScore, ScoreTables, ScoreValue, StoredVerdict, VerdictCosts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from orvl.types import Layout, Score

FEW = 100
NEWEST = (
    "SELECT attempt, metric, metric_key, judge, judge_key, kind, reason FROM score s WHERE {} AND NOT EXISTS "
    "(SELECT 1 FROM score n WHERE n.attempt = s.attempt AND n.metric_key = s.metric_key "
    "AND n.judge_key = s.judge_key AND n.sample > s.sample)"
)
IN_COSTS, IN_FREE = 2000, 100
"""How many of the newest verdicts tell what one costs, and whether judges ask models at all."""


class SqliteScores(Queries):
    """Implements ScoreStore."""

    def add_layout(self, layout: Layout) -> int:
        values = (layout.key, *(json.dumps(part) for part in (layout.judges, layout.metrics, layout.judged)))
        self.db.execute(
            "INSERT INTO layout (key, judges, metrics, judged) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO NOTHING", values
        )
        return int(self.db.execute("SELECT id FROM layout WHERE key = ?", (layout.key,)).fetchone()[0])

    def add_scores(
        self, attempt: int, cell: int, call: int, scores: Iterable[Score], layout: int, table: bytes | None
    ) -> None:
        statement = f"INSERT INTO score (attempt, call, {', '.join(SCORE)}) VALUES (?, ?{', ?' * len(SCORE)})"
        scores = list(scores)
        self.db.executemany(statement, [(attempt, call, *score_row(score)) for score in scores])
        self.db.executemany(
            "DELETE FROM judge_reply WHERE about = ? AND scope = ?",
            [
                reply_place(attempt, score.metric_key, score.judge_key, score.sample)
                for score in scores
                if score.judge_key
            ],
        )
        if table is not None:
            self.db.execute("INSERT OR REPLACE INTO card VALUES (?, ?, ?, ?)", (layout, attempt, cell, table))
            self.db.execute("DELETE FROM cell_tables WHERE layout = ? AND cell = ?", (layout, cell))

    def scores(self, attempt: int) -> list[Score]:
        query = f"SELECT {', '.join(SCORE)} FROM score WHERE attempt = ? ORDER BY id"
        with self.readable(f"a score of attempt {attempt}"):
            return [score_from(row) for row in self.rows(query, (attempt,))]

    def add_reply(self, about: str, reply: JudgeReply) -> None:
        self.db.execute(
            "INSERT INTO judge_reply VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            (about, reply.scope, reply.question, reply.step, json.dumps(reply.content)),
        )

    def replies(self, about: str) -> list[JudgeReply]:
        rows = self.rows("SELECT scope, question, step, content FROM judge_reply WHERE about = ?", (about,))
        with self.readable("an answer of a judge"):
            return [JudgeReply(scope, question, step, json.loads(said)) for scope, question, step, said in rows]

    def drop_replies(self, about: str, scope: str | None = None) -> None:
        self.db.execute("DELETE FROM judge_reply WHERE about = ?1 AND scope = coalesce(?2, scope)", (about, scope))

    def reply_places(self) -> list[tuple[str, str, int]]:
        return self.rows("SELECT about, scope, count(*) FROM judge_reply GROUP BY about, scope")

    def score_tables(self, layout: Layout, cells: Collection[int]) -> ScoreTables:
        import numpy as np

        known = self.rows("SELECT id FROM layout WHERE key = ?", (layout.key,))
        with self.readable("a table of scores"):
            rows = self._cell_tables(known[0][0], set(cells)) if known and cells else []
            if any(not isinstance(part, bytes) for _, *parts in rows for part in parts):
                raise TypeError("it is no table")
        sizes = [len(attempts) // 8 for _, attempts, _ in rows]
        if any(
            len(S) != size * 8 * layout.shape[0] * layout.shape[1] for size, (*_, S) in zip(sizes, rows, strict=True)
        ):
            raise damaged(self.path, "a table of scores has the wrong size")
        # A bytearray, so that whoever rates may write into it: a copy of very many tables takes as long as rating them.
        S = np.frombuffer(bytearray().join([S for *_, S in rows]), dtype="<f8").reshape(sum(sizes), *layout.shape)
        # What is missing is NaN, which is neither.
        if S.size and (np.nanmax(S, initial=0.0) > 1 or np.nanmin(S, initial=0.0) < 0):
            raise damaged(self.path, "a table of scores has one that is not from 0 to 1")
        return ScoreTables(
            np.frombuffer(b"".join([attempts for _, attempts, _ in rows]), dtype="<i8"),
            np.repeat(np.array([cell for cell, *_ in rows], dtype=np.int64), sizes),
            S,
        )

    def _cell_tables(self, layout: int, cells: set[int]) -> list[tuple[int, bytes, bytes]]:
        """(cell, its attempts, their S): from summaries, else table by table."""
        few = len(cells) <= FEW
        some = f" AND cell IN ({', '.join(map(str, cells))})" if few else ""
        rows = self.rows(f"SELECT cell, attempts, S FROM cell_tables WHERE layout = ?{some} ORDER BY cell", (layout,))
        rows = [row for row in rows if row[0] in cells]
        lacking = cells - {row[0] for row in rows}
        if lacking:
            some = f" AND cell IN ({', '.join(map(str, lacking))})" if len(lacking) <= FEW else ""
            query = f"SELECT cell, attempt, S FROM card WHERE layout = ?{some} ORDER BY layout, cell, attempt"
            rows += [row for row in _joined(self.rows(query, (layout,))) if row[0] in lacking]
        return rows

    def summarize_tables(self) -> None:
        """Stores the tables of each cell side by side, for cells that have no summary, once there are many."""
        is_lacking = "NOT EXISTS (SELECT 1 FROM cell_tables t WHERE t.layout = card.layout AND t.cell = card.cell)"
        lacking = self.rows(f"SELECT layout, cell, count(*) FROM card WHERE {is_lacking} GROUP BY layout, cell")
        if sum(number for *_, number in lacking) < MANY:
            return
        for layout in sorted({layout for layout, *_ in lacking}):
            query = f"SELECT cell, attempt, S FROM card WHERE layout = ? AND {is_lacking} ORDER BY cell, attempt"
            rows = [(layout, *row) for row in _joined(self.db.execute(query, (layout,)))]
            self.db.executemany("INSERT INTO cell_tables (layout, cell, attempts, S) VALUES (?, ?, ?, ?)", rows)

    def wrong_tables(self) -> list[str]:
        """Summaries that differ from what they sum up."""
        wrong = []
        for layout, cell, attempts, S in self.rows("SELECT layout, cell, attempts, S FROM cell_tables"):
            query = "SELECT cell, attempt, S FROM card WHERE layout = ? AND cell = ? ORDER BY layout, cell, attempt"
            if list(_joined(self.rows(query, (layout, cell)))) != [(cell, attempts, S)]:
                wrong.append(f"the summary of cell {cell} has wrong scores")
        return wrong

    def score_values(self, cell: int) -> list[ScoreValue]:
        rows = self.rows(
            "SELECT score.attempt, metric_key, judge_key, value FROM run JOIN attempt ON attempt.run = run.id "
            "JOIN score ON score.attempt = attempt.id WHERE run.cell = ? "
            "AND NOT (kind IN ('abstained', 'error') AND coalesce(instr(score.detail, '\"missed\": true'), 0) > 0)",
            (cell,),
        )
        with self.readable(f"a score of cell {cell}"):
            for row in rows:
                check_score(row[-1])
        return [ScoreValue(*row) for row in rows]

    def unscored(self) -> list[NewestScore]:
        return [NewestScore(*row) for row in self.rows(NEWEST.format("kind <> 'scored'"))]

    def alarmed(self) -> list[NewestScore]:
        return [NewestScore(*row) for row in self.rows(NEWEST.format("instr(detail, '\"alarm\": ')"))]

    def told(self, attempts: Collection[int]) -> list[tuple[str, str, str, str, float]]:
        return self.rows(
            "SELECT metric, metric_key, judge, judge_key, json_extract(detail, '$.told') FROM score WHERE attempt IN "
            "(SELECT value FROM json_each(?)) AND judge <> '' AND json_extract(detail, '$.told') IS NOT NULL",
            (json.dumps(list(attempts)),),
        )

    def answers(self, attempts: Collection[int]) -> list[JudgeAnswer]:
        rows = self.rows(
            "SELECT judge, metric_key, judge_key, max(kind = 'scored'), max(coalesce(reason, kind)) FROM score "
            "WHERE attempt IN (SELECT value FROM json_each(?)) GROUP BY attempt, metric_key, judge_key",
            (json.dumps(list(attempts)),),
        )
        return [
            JudgeAnswer(judge, metric, key, bool(is_scored), reason) for judge, metric, key, is_scored, reason in rows
        ]

    def newest_verdicts(self, attempts: Collection[int], limit: int) -> list[StoredVerdict]:
        rows = self.rows(
            "SELECT attempt, metric, metric_key, judge, judge_key, detail FROM score WHERE judge <> '' "
            "AND kind = 'scored' AND attempt IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?",
            (json.dumps(list(attempts)), limit),
        )
        with self.readable("what judges answered"):
            return [
                StoredVerdict(attempt, metric, metric_key, judge, judge_key, json.loads(detail or "{}"))
                for attempt, metric, metric_key, judge, judge_key, detail in rows
            ]

    def judge_costs(self, judge_key: str, limit: int) -> list[float]:
        rows = self.rows("SELECT detail FROM score WHERE judge_key = ? ORDER BY id DESC LIMIT ?", (judge_key, limit))
        with self.readable("what a verdict cost"):
            costs = [json.loads(row[0] or "{}").get("cost_usd") for row in rows]
        return [cost for cost in costs if cost is not None]

    def verdict_costs(self) -> VerdictCosts:
        total, priced, verdicts, looks = self.rows(
            "SELECT sum(json_extract(detail, '$.cost_usd')), count(json_extract(detail, '$.cost_usd')), count(*), "
            "count(DISTINCT attempt || ' ' || judge_key) FROM (SELECT * FROM score WHERE judge <> '' "
            "AND kind = 'scored' ORDER BY id DESC LIMIT ?)",
            (IN_COSTS,),
        )[0]
        asked = self.rows(
            "SELECT count(*) FROM (SELECT detail FROM score WHERE judge <> '' ORDER BY id DESC LIMIT ?) "
            "WHERE instr(detail, '\"calls\"')",
            (IN_FREE,),
        )
        return VerdictCosts(float(total or 0.0), priced, verdicts, looks, bool(asked[0][0]))


def _joined(rows: Iterable[tuple[int, int, bytes]]) -> Iterator[tuple[int, bytes, bytes]]:
    """(cell, attempt, S), in the order of cells, as (cell, all its attempts, all their S)."""
    for cell, tables in groupby(rows, key=itemgetter(0)):
        _, attempts, S = zip(*tables, strict=True)
        yield cell, struct.pack(f"<{len(attempts)}q", *attempts), b"".join(S)

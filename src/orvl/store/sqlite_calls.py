"""Calls of models in SQLite."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from orvl.store.database import Queries
from orvl.store.records import CALL, call_from
from orvl.store.rows import CallTotals, FailedCall, Mismatch, OtherModelCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from orvl.store.rows import CallFilter
    from orvl.types import ModelCall

ASKED_OTHER = "agent asked for another model"
OTHER_MODEL, OTHER_HOST = '"another model"', '"another host"'
BY_OTHERS = f"(instr(findings, '{OTHER_MODEL}') OR instr(findings, '{OTHER_HOST}'))"
"""As the index answered_by_others has it, word for word: only so it is used."""
FOR_OTHERS = f"""instr(findings, '"{ASKED_OTHER}"') > 0"""
"""As the index asked_for_others has it."""
BEGUN = "m.status BETWEEN 200 AND 299"
LEFT = "(m.trouble IS NULL AND m.left)"
ANSWERED = f"(m.trouble IS NULL AND {BEGUN} AND NOT m.left)"
IS_OTHER = f"""instr(m.findings, '"kind": "{ASKED_OTHER}"')"""
FROM = "FROM run JOIN attempt ON attempt.run = run.id JOIN model_call m ON m.attempt = attempt.id"
FAILING = (
    f"CASE WHEN {ANSWERED} THEN m.findings <> '[]' AND NOT ({IS_OTHER} AND json_array_length(m.findings) = 1) "
    f"ELSE NOT {LEFT} END"
)
BURST = 0.05
"""Seconds: what takes less after its first token came all at once, and has no rate."""
TOKENS = ("input_tokens", "cached_tokens", "cache_write_tokens", "output_tokens", "reasoning_tokens")
SUMS = {
    "calls": "count(*)",
    "answered": f"sum({ANSWERED})",
    "left": f"sum({LEFT})",
    "failing": f"sum({FAILING})",
    "runs": "count(DISTINCT run.id)",
    "retries": "sum(max(m.tries - 1, 0))",
    "waited": "sum(m.waited)",
    "tool_calls": f"sum(CASE WHEN {ANSWERED} THEN m.tool_calls ELSE 0 END)",
    "reasoning_given": f"sum({ANSWERED} AND m.reasoning_given)",
    "passed_back": "sum(m.reasoning_back IS 1)",
    "lost": "sum(m.reasoning_back IS 0)",
    **{name: f"sum(m.{name})" for name in (*TOKENS, "cost_usd")},
    "told_tokens": "count(m.output_tokens)",
    "told_cost": "count(m.cost_usd)",
    "uncounted": f"sum({BEGUN} AND m.output_tokens IS NULL)",
    "unpriced": f"sum({BEGUN} AND m.cost_usd IS NULL)",
}
# Reasoning that is not streamed comes before the first token.
STREAMED = "m.output_tokens - CASE WHEN m.reasoning_given THEN 0 ELSE coalesce(m.reasoning_tokens, 0) END"
TOOK = "(m.seconds - m.first_token)"


class SqliteCalls(Queries):
    """Implements CallStore."""

    def calls(self, attempt: int) -> list[ModelCall]:
        query = f"SELECT {', '.join(CALL)} FROM model_call WHERE attempt = ? ORDER BY number"
        with self.readable(f"a call of attempt {attempt}"):
            return [call_from(row) for row in self.rows(query, (attempt,))]

    def loaded(self, first: int, last: int) -> dict[int, int]:
        return dict(
            self.rows(
                "SELECT run.cell, count(DISTINCT run.id) FROM attempt JOIN run ON run.id = attempt.run "
                "WHERE instr(detail, '\"loaded\": true') > 0 AND outcome <> 'errored' AND episode BETWEEN ? AND ? "
                "GROUP BY run.cell",
                (first, last),
            )
        )

    def mismatches(self, first: int, last: int) -> list[Mismatch]:
        rows = self.rows(
            f"SELECT run.cell, max(instr(findings, '{OTHER_MODEL}') > 0), max(instr(findings, '{OTHER_HOST}') > 0) "
            "FROM model_call CROSS JOIN attempt ON attempt.id = model_call.attempt JOIN run ON run.id = attempt.run "
            f"WHERE {BY_OTHERS} AND outcome <> 'errored' AND episode BETWEEN ? AND ? GROUP BY model_call.attempt",
            (first, last),
        )
        return [Mismatch(cell, bool(model), bool(host)) for cell, model, host in rows]

    def asked_for_others(self, first: int, last: int) -> list[int]:
        rows = self.rows(
            "SELECT run.cell FROM model_call CROSS JOIN attempt ON attempt.id = model_call.attempt "
            f"JOIN run ON run.id = attempt.run WHERE {FOR_OTHERS} AND outcome <> 'errored' "
            "AND episode BETWEEN ? AND ? GROUP BY model_call.attempt",
            (first, last),
        )
        return [row[0] for row in rows]

    def other_model_calls(self) -> list[OtherModelCalls]:
        rows = self.rows(f"SELECT run.cell, m.asked_model, count(*) {FROM} WHERE {IS_OTHER} GROUP BY 1, 2")
        return [OtherModelCalls(*row) for row in rows]

    def call_totals(self, calls: CallFilter) -> CallTotals:
        sets = "json_group_array(DISTINCT run.cell), json_group_array(DISTINCT m.cost_source)"
        ((cells, sources, *sums),) = self._of(calls, f"{sets}, {', '.join(SUMS.values())} {FROM}")
        totals = {name: value or 0 for name, value in zip(SUMS, sums, strict=True)}
        kept = tuple(json.loads(cells)), tuple(sorted(source for source in json.loads(sources) if source)), totals
        if not totals["calls"]:
            return CallTotals(*kept)
        failed = f"NOT {ANSWERED} AND NOT {LEFT}"
        failures = self._of(calls, f"m.status, m.trouble IS NULL, count(*) {FROM}", failed, "GROUP BY 1, 2")
        answers = self._of(calls, f"m.served_model, m.host, count(*) {FROM}", ANSWERED, "GROUP BY 1, 2")
        kinds = f"json_extract(finding.value, '$.kind'), m.served_model, count(*) {FROM}"
        each = f"{kinds} JOIN json_each(m.findings) finding"
        findings = self._of(calls, each, f"m.findings <> '[]' AND {ANSWERED}", "GROUP BY 1, 2")
        speed = f"m.first_token, CASE WHEN {TOOK} >= {BURST} THEN ({STREAMED}) / {TOOK} END {FROM}"
        speeds = self._of(calls, speed, f"m.stream AND {ANSWERED} AND m.first_token IS NOT NULL")
        return CallTotals(
            *kept,
            tuple((status, bool(untroubled), number) for status, untroubled, number in failures),
            tuple(answers),
            tuple(findings),
            tuple(speeds),
        )

    def failing_calls(self, calls: CallFilter) -> Iterator[FailedCall]:
        place = "(SELECT count(*) FROM attempt o WHERE o.run = run.id AND o.id <= attempt.id)"
        is_last = "NOT EXISTS (SELECT 1 FROM attempt o WHERE o.run = run.id AND o.id > attempt.id)"
        findings = f"CASE WHEN {ANSWERED} THEN m.findings ELSE '[]' END"
        what = f"run.cell, run.key, {place}, {is_last}, m.number, m.status, m.trouble, {findings} {FROM}"
        for cell, run, attempt, last, number, status, trouble, text in self._of(
            calls, what, FAILING, "ORDER BY attempt.id, m.number"
        ):
            with self.readable(f"a call of the run {run[:12]}"):
                pairs = tuple((finding["kind"], finding["detail"]) for finding in json.loads(text))
            yield FailedCall(cell, run, attempt, bool(last), number, status, trouble, pairs)

    def _of(self, calls: CallFilter, what: str, also: str = "1", last: str = "") -> list[Any]:
        """Asks about the calls of one endpoint."""
        is_own = "run.cell IN (SELECT value FROM json_each(?1))"
        here, values = f"{is_own} AND NOT {IS_OTHER}", [json.dumps(list(calls.own))]
        if calls.others:
            is_other = "run.cell IN (SELECT value FROM json_each(?2))"
            here = f"({is_own} OR {is_other}) AND CASE WHEN {IS_OTHER} THEN m.asked_model = ?3 ELSE {is_own} END"
            values += [json.dumps(list(calls.others)), calls.model]
        return self.rows(f"SELECT {what} WHERE {here} AND {also} {last}", values)

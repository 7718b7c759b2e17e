"""Attempts and check results as rows, and back."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from orvl.types import Attempt, CheckResult, Score, Turn, Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

USAGE = ("seconds", "input_tokens", "cached_tokens", "output_tokens", "tool_calls", "cost_usd", "cost_source")
SCORE = ("metric", "metric_key", "judge", "judge_key", "sample", "kind", "value", "reason", "detail")
ATTEMPT = ("outcome", "reason", "started", *USAGE, "sandbox", "start_tree", "tree", "steps", "detail")


def clean(text: str | None) -> str | None:
    """Text that a database takes: names that are not UTF-8 are written with escapes."""
    return None if text is None else text.encode("utf-8", "backslashreplace").decode()


def attempt_row(attempt: Attempt) -> tuple[Any, ...]:
    usage = attempt.usage
    detail = {"turns": [asdict(turn) for turn in attempt.turns], "cut": attempt.cut}
    return (
        attempt.outcome,
        clean(attempt.reason),
        attempt.started,
        *(getattr(usage, name) for name in USAGE),
        attempt.sandbox,
        attempt.start_tree,
        attempt.tree,
        attempt.steps,
        json.dumps(detail),
    )


def attempt_from(row: Sequence[Any]) -> Attempt:
    """The columns of ATTEMPT as an Attempt; its checks are kept apart."""
    fields = dict(zip(ATTEMPT, row, strict=True))
    detail = json.loads(fields.pop("detail"))
    usage = Usage(**{name: fields.pop(name) for name in USAGE})
    turns = tuple(Turn(**turn) for turn in detail["turns"])
    return Attempt(usage=usage, turns=turns, cut=tuple(detail["cut"]), **fields)


def checks_text(checks: Sequence[CheckResult]) -> str:
    return json.dumps([asdict(check) for check in checks])


def checks_from(text: str) -> tuple[CheckResult, ...]:
    return tuple(CheckResult(**check) for check in json.loads(text))


def score_row(score: Score) -> tuple[Any, ...]:
    row = [getattr(score, name) for name in SCORE]
    return (*row[:-2], clean(score.reason), json.dumps(score.detail) if score.detail else None)


def score_from(row: Sequence[Any]) -> Score:
    fields = dict(zip(SCORE, row, strict=True))
    return Score(**{**fields, "detail": json.loads(fields["detail"] or "null")})

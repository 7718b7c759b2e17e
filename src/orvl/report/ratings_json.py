"""Ratings as JSON, in a versioned shape (docs/json.md)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.report.certificate import standing_json
from orvl.report.columns import leaderboard

if TYPE_CHECKING:
    from collections.abc import Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board
    from orvl.report.columns import Column
    from orvl.trust.section import Trust

SCHEMA = 1
MONOTONE_UP_TO = 0.5
"""The largest penalty at which a better score never lowers R_pen."""


def as_json(rows: Sequence[Row], board: Board, **more: Any) -> dict[str, Any]:
    """One object."""
    return {
        "schema": SCHEMA,
        "ratings": row_objects(rows, board),
        "certificate": standing_json(board.standing),
        "vetted": dict(board.vetted),
        "isolation": board.isolation,
        **({"imported_evals": board.imported_evals} if board.imported_evals else {}),
        "told": {metric: dict(judges) for metric, judges in board.told.items()},
        "warnings": [*_common_sentences(rows, board), *warnings_of(board)],
        **_common(rows, board),
        **more,
    }


def report_json(rows: Sequence[Row], board: Board, beside: Trust | None, by: str, **more: Any) -> dict[str, Any]:
    """What `orvl report` writes: rows by agent have their ratings by eval, and what stands beside them."""
    from orvl.report.trust_text import as_json as trust_as_json

    cells = {"cells": cell_objects(board)} if by == "agent" else {}
    return as_json(rows, board, trust=trust_as_json(beside, board.standing) if beside else None, **cells, **more)


def _common_sentences(rows: Sequence[Row], board: Board) -> list[str]:
    return board.common.sentences() if any(row.eval is None for row in rows) else []


def _common(rows: Sequence[Row], board: Board) -> dict[str, Any]:
    """Where rows have different evals: what R is over, and R of each row over all that it has."""
    common = board.common
    if common.evals is None or not any(row.eval is None for row in rows):
        return {}
    from orvl.rate.board import over_evals

    own = [row for row in over_evals(board.cells) if row.contestant in common.own]
    return {
        "common": {
            "evals": sorted(common.evals),
            "left_out": sorted(common.lacking),
            "rows": [
                {
                    "agent": row.agent,
                    "model": row.model or None,
                    "provider": row.provider or None,
                    "ranked": row.contestant not in common.elsewhere,
                    "own_evals": sorted(common.own[row.contestant]),
                    "own_R": row.R,
                }
                for row in own
            ],
        }
    }


def warnings_of(board: Board) -> list[str]:
    """What a reader of the ratings must know."""
    penalty = board.rules.penalty
    if penalty <= MONOTONE_UP_TO:
        return list(board.warnings)
    return [
        *board.warnings,
        f"The penalty is {penalty:g}: above {MONOTONE_UP_TO:g} a better score from one judge can lower R_pen.",
    ]


def row_objects(rows: Sequence[Row], board: Board) -> list[dict[str, Any]]:
    """An object for each row, with the columns that rows of its kind have."""
    columns = [column for column in leaderboard(rows, board.rules.penalty) if column.name]
    return [{column.name: column.value(row) for column in columns if _has(column, row)} for row in rows]


def cell_objects(board: Board) -> list[dict[str, Any]]:
    """The ratings of cells alone: what a later report needs of this one to be compared with it."""
    return [
        {
            "agent": row.agent,
            "provider": row.provider or None,
            "model": row.model or None,
            "eval": row.eval,
            "R": row.R,
            "missing": list(row.missing),
            "scoring": row.scoring,
        }
        for row in board.cells
    ]


def _has(column: Column[Row], row: Row) -> bool:
    if column.rows == "runs":
        return row.run is not None
    if column.rows == "cells":
        return row.run is None and row.eval is not None
    return column.rows == "all" or row.eval is None

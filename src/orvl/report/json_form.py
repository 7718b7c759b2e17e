"""The versioned JSON shape of ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orvl.report.certificate import standing_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from orvl.rate.board import Row
    from orvl.rate.collect import Board

SCHEMA = 1


def as_json(rows: Iterable[Row], board: Board, **more: Any) -> dict[str, Any]:
    """One object; `run` stands only in rows by run."""
    return {
        "schema": SCHEMA,
        "ratings": [_row(row, board.rules.penalty) for row in rows],
        "certificate": standing_json(board.standing),
        "warnings": list(board.warnings),
        **more,
    }


def _row(row: Row, penalty: float) -> dict[str, Any]:
    shown = {
        "agent": row.agent,
        "provider": row.provider,
        "model": row.model,
        "eval": row.eval,
        "R": row.R,
        "R_pen": row.R_pen,
        "interval": list(row.interval) if row.interval else None,
        "penalty": penalty,
        "runs": {"planned": row.planned, "rated": row.rated, "failed": row.failed, "errored": row.errored},
        "metrics": {
            name: {
                "weight": metric.weight,
                "mean": metric.mean,
                "variance": metric.variance,
                "judges": metric.judges,
                "abstained": metric.abstained,
                "unrated": metric.unrated,
            }
            for name, metric in row.metrics.items()
        },
        "missing": list(row.missing),
        "usage": row.usage or None,
        "sandbox": row.sandbox,
    }
    if row.eval is None:
        shown |= {
            "rank": row.rank,
            "calibrated": row.calibrated,
            "floor": row.floor,
            "above_floor": row.above_floor,
            "one_judge_less": list(row.one_judge_less) if row.one_judge_less else None,
            "other_families": row.other_families,
        }
    if row.run is None:
        return shown
    return {"run": row.run, "episode": row.episode, "outcome": row.outcome, "reason": row.reason, **shown}

"""Ratings as CSV: the columns of the JSON rows, with nested objects as dotted names."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from orvl.report.ratings_json import row_objects
from orvl.report.text import no_formula

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from orvl.rate.board import Row
    from orvl.rate.collect import Board

PAIRS = ("interval", "one_judge_less")


def as_csv(rows: Sequence[Row], board: Board) -> str:
    """A header and one line for each row; what is unknown is empty."""
    records = [flat(row) for row in row_objects(rows, board)]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(name for row in records for name in row)), lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: no_formula(value) for name, value in row.items()} for row in records)
    return out.getvalue()


def flat(row: dict[str, Any]) -> dict[str, Any]:
    """A row without nested objects: their names are joined by dots."""
    return dict(_flat(row))


def _flat(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        elif name in PAIRS:
            low, high = value or (None, None)
            yield f"{prefix}{name}.low", low
            yield f"{prefix}{name}.high", high
        elif value is not None or name != "usage":
            yield f"{prefix}{name}", ", ".join(value) if isinstance(value, list) else value

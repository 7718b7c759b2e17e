"""Diaries as text."""

import json
from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any

from .errors import DamagedError

if TYPE_CHECKING:
    from .diary import Booking


def to_text(last: int, bookings: "Iterable[Booking]") -> str:
    """Return a diary as JSON."""
    rows = [
        {
            "start": one.start.isoformat(),
            "end": one.end.isoformat(),
            "who": one.who,
            "number": one.number,
        }
        for one in bookings
    ]
    return json.dumps({"last": last, "bookings": rows}, ensure_ascii=False, indent=1)


def from_text(text: str) -> tuple[int, list[dict[str, Any]]]:
    """Return the last number and the bookings as dicts, or raise DamagedError."""
    try:
        saved = json.loads(text)
        last, rows = saved["last"], [_row(row) for row in saved["bookings"]]
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise DamagedError(f"this was never a diary: {error!r}") from error
    numbers = [row["number"] for row in rows]
    if type(last) is not int or last < max(numbers, default=0) or len({*numbers}) != len(numbers):
        raise DamagedError("the numbers of this diary do not fit together")
    return last, rows


def _row(row: dict[str, Any]) -> dict[str, Any]:
    if type(row["who"]) is not str or type(row["number"]) is not int:
        raise TypeError(f"{row!r} is no booking")
    times = {name: datetime.fromisoformat(row[name]) for name in ("start", "end")}
    return {**times, "who": row["who"], "number": row["number"]}

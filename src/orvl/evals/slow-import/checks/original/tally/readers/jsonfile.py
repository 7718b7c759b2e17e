"""Files of the web shop: an object a line.

    {"kind": "S", "number": "00481533", "sold": "2026-07-14T09:05:00", "venue": "HAF", "product": "DAYT",
     "count": 2, "price": "12.50", "note": "…"}         (in one line)
    {"kind": "X", "number": "00481533"}
    {"end": 2}
"""

import json
from decimal import Decimal

from tally import money, row
from tally.errors import Problem

ENCODING = "utf-8"
FIRST = 0
KEYS = ("sold", "venue", "product", "count", "price")


def load(line):
    try:
        return json.loads(line, parse_float=Decimal)
    except ValueError:
        raise Problem("json")


def end_count(line):
    try:
        found = load(line)
    except Problem:
        return None
    if isinstance(found, dict) and isinstance(found.get("end"), int):
        return found["end"]
    return None


def parse(line, settings):
    found = load(line)
    if not isinstance(found, dict) or "kind" not in found or "number" not in found:
        raise Problem("fields")
    if found["kind"] != "X" and any(key not in found for key in KEYS):
        raise Problem("fields")
    texts = {key: str(found.get(key, "")) for key in ("kind", "number", "sold", "venue", "product", "count")}
    note = found.get("note")
    return row.make(
        settings,
        texts["kind"],
        texts["number"],
        texts["sold"],
        texts["venue"],
        texts["product"],
        texts["count"],
        lambda: money.parse_point(found["price"]),
        "" if note is None else str(note),
    )

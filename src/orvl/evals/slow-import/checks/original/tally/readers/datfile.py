"""Files of the kiosks: fixed width, letters of DOS, blanks at the end are cut off.

    S00481533 20260714090500 HAF DAYT 002 001250 note    (without the blanks in between)
    X00481533
    Z2
"""

import re

from tally import money, row
from tally.errors import Problem

ENCODING = "cp850"
FIRST = 0
WIDTHS = (("kind", 1), ("number", 8), ("sold", 14), ("venue", 3), ("product", 4), ("count", 3), ("price", 6))
SHORTEST = sum(width for _, width in WIDTHS)
SHORTEST_X = 9


def end_count(line):
    match = re.compile(r"Z([0-9]+)\s*").fullmatch(line)
    return int(match[1]) if match else None


def cut(line):
    """The columns of a line; what is left is the note."""
    found = {}
    at = 0
    for name, width in WIDTHS:
        found[name] = line[at : at + width].strip()
        at += width
    found["note"] = line[at:]
    return found


def parse(line, settings):
    shortest = SHORTEST_X if line[:1] == "X" else SHORTEST
    if len(line) < shortest:
        raise Problem("fields")
    column = cut(line)
    return row.make(
        settings,
        column["kind"],
        column["number"],
        column["sold"],
        column["venue"],
        column["product"],
        column["count"],
        lambda: money.parse_cents(column["price"]),
        column["note"],
    )

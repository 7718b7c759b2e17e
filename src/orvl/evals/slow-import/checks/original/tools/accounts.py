"""For the accountant: python3 tools/accounts.py tally.db 2026-07 [.csv]

Reads the database beside us, so `sales` keeps its columns.
"""

import sqlite3
import sys
from decimal import Decimal


def main(path, month):
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    sums = {}
    rows = db.execute(
        "SELECT venue, booked, total, state, count, revision FROM sales WHERE substr(booked, 1, 7) = ? ORDER BY venue, booked",
        (month,),
    )
    for venue, booked, total, state, count, revision in rows:
        entry = sums.setdefault((venue, booked), [0, Decimal("0.00"), 0, 0])
        if state == "ok":
            entry[0] += count
            entry[1] += Decimal(total)
            entry[2] += revision > 0
        else:
            entry[3] += 1
    print("venue;day;tickets;sum;corrected;cancelled")
    for (venue, booked), (count, total, corrected, cancelled) in sorted(sums.items()):
        print("%s;%s;%d;%s;%d;%d" % (venue, booked, count, total, corrected, cancelled))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])

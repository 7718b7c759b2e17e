#!/usr/bin/env python3
# Hours for the wages:  python3 till/hours.py cafe.db 2031-05
# prints a line for each person that worked in that month (the month in which a shift starts).
# TODO holidays
import sqlite3, sys
from datetime import datetime

def main(path, month):
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    sums = {}
    # the older files also had a table "people", the ids are in staff.json now
    for row in db.execute("select * from shifts where staff is not null and starts like ?", (month + "-%",)):
        a = datetime.strptime(row["starts"], "%Y-%m-%dT%H:%M")
        b = datetime.strptime(row["ends"], "%Y-%m-%dT%H:%M")
        minutes = int((b - a).total_seconds()) // 60
        sums[row["staff"]] = sums.get(row["staff"], 0) + minutes
    for staff in sorted(sums):
        print("%s %d:%02d" % (staff, sums[staff] // 60, sums[staff] % 60))

if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: hours.py DATABASE YEAR-MONTH")
    main(sys.argv[1], sys.argv[2])

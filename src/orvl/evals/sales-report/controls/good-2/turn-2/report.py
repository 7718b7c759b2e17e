#!/usr/bin/env python3
"""python3 report.py FILE... [--by product|month] [--since YYYY-MM-DD]"""

import csv
import io
import sys
from collections import Counter
from fractions import Fraction


def rows_of(name):
    """The rows of a file, as dicts without spaces around anything."""
    with open(name, "rb") as file:
        text = file.read().decode("utf-8-sig")
    table = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    filled = ([value.strip() for value in row] for row in table if "".join(row).strip())
    names = next(filled)
    return [dict(zip(names, row)) for row in filled]


def cents(amount):
    """A fraction of a unit of money as text, half a cent upwards."""
    number = (amount * 200 + 1) // 2
    sign, number = ("-", -number) if number < 0 else ("", number)
    return f"{sign}{number // 100}.{number % 100:02}"


def options(words):
    """The files, and what was asked for, in whatever order."""
    files, asked, words = [], {"--by": "product", "--since": ""}, list(words)
    while words:
        word = words.pop(0)
        if word in asked:
            asked[word] = words.pop(0)
        else:
            files.append(word)
    return files, asked["--by"], asked["--since"]


def main(files, by, since):
    units, money = Counter(), Counter()
    for row in (row for name in files for row in rows_of(name)):
        count = int(row["quantity"])
        if row["date"] < since:
            continue
        for key in (row["product"] if by == "product" else row["date"][:7], None):
            units[key] += count
            money[key] += count * Fraction(row["price"])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow((by, "units", "revenue"))
    for key in sorted((key for key in units if key is not None), key=lambda key: (-money[key] if by == "product" else 0, key)):
        out.writerow((key, units[key], cents(money[key])))
    out.writerow(("TOTAL", units[None], cents(Fraction(money[None]))))


main(*options(sys.argv[1:]))

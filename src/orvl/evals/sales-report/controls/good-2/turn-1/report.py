#!/usr/bin/env python3
"""python3 report.py FILE"""

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


def main(name):
    units, money = Counter(), Counter()
    for row in rows_of(name):
        count = int(row["quantity"])
        for key in (row["product"], None):
            units[key] += count
            money[key] += count * Fraction(row["price"])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(("product", "units", "revenue"))
    for key in sorted((key for key in units if key is not None), key=lambda key: (-money[key], key)):
        out.writerow((key, units[key], cents(money[key])))
    out.writerow(("TOTAL", units[None], cents(Fraction(money[None]))))


main(sys.argv[1])

#!/usr/bin/env python3
"""python3 report.py FILE... [--by product|month] [--since YYYY-MM-DD]"""

import csv
import io
import re
import sys
from collections import Counter
from datetime import datetime
from fractions import Fraction

NEEDED = ("date", "product", "quantity", "price")


def stop(why):
    """Ends with a message for the user and nothing else."""
    print(f"report: {why}", file=sys.stderr)
    sys.exit(2)


def rows_of(name):
    """The rows of a file, as dicts without spaces around anything, each with its line."""
    try:
        with open(name, "rb") as file:
            text = file.read().decode("utf-8-sig")
    except OSError as problem:
        stop(f"{name}: {problem.strerror}")
    except UnicodeDecodeError:
        stop(f"{name} is not UTF-8 text")
    table = csv.reader(io.StringIO(text, newline=""), skipinitialspace=True)
    filled = [(table.line_num, [value.strip() for value in row]) for row in table if "".join(row).strip()]
    names = filled[0][1] if filled else []
    if lacking := [column for column in NEEDED if column not in names]:
        stop(f"{name} lacks the column {lacking[0]}")
    return [(line, dict(zip(names, row))) for line, row in filled[1:]]


def is_date(text):
    try:
        return bool(re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", text)) and bool(datetime.strptime(text, "%Y-%m-%d"))
    except ValueError:
        return False


CHECKS = {
    "date": is_date,
    "product": bool,
    "quantity": re.compile("[-+]?[0-9]+").fullmatch,
    "price": re.compile(r"[0-9]+(\.[0-9]+)?").fullmatch,
}


def complaint(row):
    """Why a row does not count, if it does not."""
    wrong = [column for column, is_right in CHECKS.items() if not is_right(row.get(column, ""))]
    return f"the {wrong[0]} is wrong: {row.get(wrong[0], 'missing')!r}" if wrong else None


def cents(amount):
    """A fraction of a unit of money as text, half a cent upwards."""
    number = (amount * 200 + 1) // 2
    sign, number = ("-", -number) if number < 0 else ("", number)
    return f"{sign}{number // 100}.{number % 100:02}"


def options(words):
    """The files, and what was asked for, in whatever order."""
    files, asked, words = [], {"--by": "product", "--since": "0001-01-01"}, list(words)
    while words:
        word = words.pop(0)
        if word in asked:
            asked[word] = words.pop(0) if words else ""
        elif word.startswith("--"):
            stop(f"{word} is not known. Usage: {__doc__}")
        else:
            files.append(word)
    if asked["--by"] not in ("product", "month"):
        stop("--by takes product or month")
    if not is_date(asked["--since"]):
        stop("--since takes a date such as 2031-05-10")
    return files, asked["--by"], asked["--since"]


def main(files, by, since):
    units, money, problems = Counter(), Counter(), []
    for name, line, row in [(name, line, row) for name in files for line, row in rows_of(name)]:
        if why := complaint(row):
            problems.append(f"{name}:{line}: {why}")
        elif row["date"] >= since:
            for key in (row["product"] if by == "product" else row["date"][:7], None):
                units[key] += int(row["quantity"])
                money[key] += int(row["quantity"]) * Fraction(row["price"])
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow((by, "units", "revenue"))
    for key in sorted((key for key in units if key is not None), key=lambda key: (-money[key] if by == "product" else 0, key)):
        out.writerow((key, units[key], cents(money[key])))
    out.writerow(("TOTAL", units[None], cents(Fraction(money[None]))))
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


sys.exit(main(*options(sys.argv[1:])))

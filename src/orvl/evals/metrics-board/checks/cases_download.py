"""The download: what stands in it, and that it agrees with the table."""

import re

from build import built
from cases import Wrong, expect
from cases_bars import below_zero
from cases_tables import big_amounts, clocks, nobody, quiet, random, uneven, whole_day
from page import COLUMNS_OF_AMOUNTS, number
from shop import COLUMNS
from tables import compare_cell

FORMS = {
    "day": r"\d{4}-\d\d-\d\d",
    "orders": r"\d+",
    "visits": r"\d+",
    "conversion": r"(\d+(\.\d+)?)?",
    **dict.fromkeys(COLUMNS_OF_AMOUNTS, r"-?\d+\.\d\d"),
}


def rows_of(made):
    header, rows = made.download()
    expect("the header of the download", list(COLUMNS), header)
    if any(len(row) != len(header) for row in rows):
        raise Wrong("a row of the download is shorter or longer than its header")
    found = [dict(zip(header, row)) for row in rows]
    for row in found:
        for column, text in row.items():
            if not re.fullmatch(FORMS[column], text):
                raise Wrong(f"{column} of {row['day']} in the download is {text!r}")
    return found


def compare(made, tale):
    """The download with the numbers, and with the table beside it."""
    rows = rows_of(made)
    expect("the days of the download", [day.isoformat() for day in tale.shop.days], [row["day"] for row in rows])
    table = made.page.rows()
    for row, figures in zip(rows, tale.shop.figures()):
        for column in COLUMNS[1:]:
            what = f"{column} of {row['day']} in the download"
            compare_cell(what, column, figures, row[column] or "-")
            beside = table.get(row["day"], {}).get(column, "")
            if number(what, row[column] or "-") != number(what, beside):
                raise Wrong(f"{what} is {row[column]!r}, and {beside!r} in the table")


def download_case(name, tell):
    tale = tell()
    made = built(tale)
    return name, lambda: compare(made, tale)


def named_case():
    """The name of the shop is a text, whatever signs are in it, and does not break page or download."""
    parts = "".join(random.choices("abcdefgh", k=6)).title()
    tale = quiet()
    tale.shop.name = f'{parts} & "Sons" <Tea>'
    made = built(tale)

    def case():
        compare(made, tale)
        heads = [head.text for head in made.page.top.all("h1")]
        week = str(int(tale.shop.week[-2:]))
        if not any(tale.shop.name in text and re.search(rf"(?<!\d)0?{week}(?!\d)", text) for text in heads):
            raise Wrong(f"no <h1> names {tale.shop.name!r} and {tale.shop.week}, only {heads}")

    return "the name of the shop", case


def download():
    weeks = [
        ("quiet", quiet),
        ("big amounts", big_amounts),
        ("below zero", below_zero(*random.sample(range(7), 2))),
        ("nobody", nobody),
        ("uneven", uneven),
        ("hours of a long day", lambda: whole_day(10)),
        ("in spring", lambda: clocks(3)),
        ("quiet again", quiet),
    ]
    return [*(download_case(name, tell) for name, tell in weeks), named_case()]

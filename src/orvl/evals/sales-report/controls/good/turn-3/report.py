"""Add up the sales in CSV files, by product or by month."""

import argparse
import csv
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

COLUMNS = ("date", "product", "quantity", "price")
CENT = Decimal("0.01")


class FileProblem(Exception):
    """A file that cannot be used, in a sentence."""


class RowProblem(Exception):
    """A row that cannot be used, in a few words."""


@dataclass(frozen=True)
class Sale:
    """One row of the till."""

    date: date
    product: str
    quantity: int
    price: Decimal

    @property
    def month(self) -> str:
        return f"{self.date:%Y-%m}"


@dataclass
class Sum:
    """What was sold, not rounded yet."""

    units: int = 0
    revenue: Decimal = Decimal(0)

    def add(self, sale: Sale) -> None:
        self.units += sale.quantity
        self.revenue += sale.quantity * sale.price

    def cells(self) -> list[str]:
        revenue = self.revenue.quantize(CENT, ROUND_HALF_UP)
        return [str(self.units), f"{revenue:f}"]


def parse_date(text: str) -> date:
    """Return the date that *text* is, written as YYYY-MM-DD."""
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text):
        raise ValueError(f"{text!r} is not a date like 2031-05-31")
    return date.fromisoformat(text)


def parse_sale(row: dict[str, str]) -> Sale:
    """Return the sale in *row*, or raise RowProblem."""
    values = {column: (row.get(column) or "").strip() for column in COLUMNS}
    for column, value in values.items():
        if not value:
            raise RowProblem(f"there is no {column}")
    if not re.fullmatch(r"[+-]?[0-9]+", values["quantity"]):
        raise RowProblem(f"quantity {values['quantity']!r} is not a whole number")
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", values["price"]):
        raise RowProblem(f"price {values['price']!r} is not a number")
    try:
        day = parse_date(values["date"])
    except ValueError as error:
        raise RowProblem(str(error)) from None
    return Sale(day, values["product"], int(values["quantity"]), Decimal(values["price"]))


def read_rows(path: str) -> list[tuple[int, dict[str, str]]]:
    """Return the rows of a file, each with the number of its line."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, skipinitialspace=True)
            rows = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, ValueError, csv.Error) as error:
        raise FileProblem(f"{path}: cannot be read: {error}") from error
    header = [cell.strip() for cell in rows[0][1]] if rows else []
    for column in COLUMNS:
        if column not in header:
            raise FileProblem(f"{path}: there is no column {column!r}")
    return [(number, dict(zip(header, row, strict=False))) for number, row in rows[1:]]


def good_sales(path: str, problems: list[str]) -> Iterator[Sale]:
    """Yield the sales of a file; what is wrong with other rows goes into *problems*."""
    for number, row in read_rows(path):
        try:
            yield parse_sale(row)
        except RowProblem as problem:
            problems.append(f"{path}:{number}: {problem}")


def add_up(sales: Iterable[Sale], by: str) -> dict[str, Sum]:
    """Return the sums by product or by month, in the order of the report."""
    sums: dict[str, Sum] = {}
    for sale in sales:
        sums.setdefault(getattr(sale, by), Sum()).add(sale)
    if by == "month":
        return dict(sorted(sums.items()))
    return dict(sorted(sums.items(), key=lambda item: (-item[1].revenue, item[0])))


def print_report(sales: list[Sale], by: str) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow([by, "units", "revenue"])
    for name, part in add_up(sales, by).items():
        writer.writerow([name, *part.cells()])
    total = Sum()
    for sale in sales:
        total.add(sale)
    writer.writerow(["TOTAL", *total.cells()])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--by", choices=("product", "month"), default="product")
    parser.add_argument("--since", type=parse_date, default=date.min, metavar="YYYY-MM-DD")
    args = parser.parse_intermixed_args()
    problems: list[str] = []
    try:
        sales = [sale for path in args.files for sale in good_sales(path, problems)]
    except FileProblem as problem:
        print(f"report.py: {problem}", file=sys.stderr)
        return 2
    print_report([sale for sale in sales if sale.date >= args.since], args.by)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

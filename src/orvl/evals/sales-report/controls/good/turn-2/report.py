"""Add up the sales in CSV files, by product or by month."""

import argparse
import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from decimal import ROUND_HALF_UP, Decimal

COLUMNS = ("date", "product", "quantity", "price")
CENT = Decimal("0.01")


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


def read_sales(path: str) -> Iterator[Sale]:
    """Yield the sales of a file."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file, skipinitialspace=True) if any(cell.strip() for cell in row)]
    header = [cell.strip() for cell in rows[0]]
    for row in rows[1:]:
        cells = dict(zip(header, (cell.strip() for cell in row), strict=False))
        day = date.fromisoformat(cells["date"])
        yield Sale(day, cells["product"], int(cells["quantity"]), Decimal(cells["price"]))


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--by", choices=("product", "month"), default="product")
    parser.add_argument("--since", type=date.fromisoformat, default=date.min, metavar="YYYY-MM-DD")
    args = parser.parse_intermixed_args()
    sales = [sale for path in args.files for sale in read_sales(path)]
    print_report([sale for sale in sales if sale.date >= args.since], args.by)


if __name__ == "__main__":
    main()

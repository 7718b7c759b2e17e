"""Add up the sales in a CSV file, by product."""

import csv
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

COLUMNS = ("date", "product", "quantity", "price")
CENT = Decimal("0.01")


@dataclass(frozen=True)
class Sale:
    """One row of the till."""

    date: str
    product: str
    quantity: int
    price: Decimal


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
        yield Sale(cells["date"], cells["product"], int(cells["quantity"]), Decimal(cells["price"]))


def add_up(sales: Iterable[Sale]) -> dict[str, Sum]:
    """Return the sums by product, in the order of the report."""
    sums: dict[str, Sum] = {}
    for sale in sales:
        sums.setdefault(sale.product, Sum()).add(sale)
    return dict(sorted(sums.items(), key=lambda item: (-item[1].revenue, item[0])))


def print_report(sales: list[Sale]) -> None:
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(["product", "units", "revenue"])
    for name, part in add_up(sales).items():
        writer.writerow([name, *part.cells()])
    total = Sum()
    for sale in sales:
        total.add(sale)
    writer.writerow(["TOTAL", *total.cells()])


if __name__ == "__main__":
    print_report(list(read_sales(sys.argv[1])))

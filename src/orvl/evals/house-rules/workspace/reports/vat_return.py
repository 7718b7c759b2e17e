# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 -m reports.vat_return FILE QUARTER: what we owe each country, as in 2026-4."""

import sys

from billing.dates import quarter
from billing.errors import BillingError
from billing.files import load_records
from billing.invoice import invoice
from billing.money import half_up
from billing.orders import Order, read_order

Row = tuple[str, int, int, int]


def vat_return(orders: list[Order], wanted: str) -> list[Row]:
    """Gives country, rate, base and tax of all invoices that were billed in a quarter."""
    sums: dict[tuple[str, int], list[int]] = {}
    for order in orders:
        if quarter(order.billed) != wanted:
            continue
        for group in invoice(order)["taxes"]:
            cell = sums.setdefault((order.customer.country, group["rate"]), [0, 0])
            cell[0] += group["base"]
            cell[1] += group["tax"]
    return [_row(country, rate, *sums[country, rate]) for country, rate in sorted(sums)]


def _row(country: str, rate: int, base: int, tax: int) -> Row:
    if country == "DE":
        # The German form has no cents: whole euros, and the tax on those.
        base = base // 100 * 100
        tax = half_up(base * rate, 10000)
    return country, rate, base, tax


def main(words: list[str]) -> int:
    """Prints the return of a quarter."""
    if len(words) != 2:
        print("usage: python3 -m reports.vat_return FILE QUARTER", file=sys.stderr)
        return 2
    try:
        rows = vat_return([read_order(record) for record in load_records(words[0])], words[1])
    except BillingError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 1
    for row in rows:
        print(*row, sep=";")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

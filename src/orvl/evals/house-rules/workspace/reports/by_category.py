# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 -m reports.by_category FILE: pieces and money by category, before discount and tax."""

import sys

from billing.catalogue import CATEGORIES
from billing.errors import BillingError
from billing.files import load_records
from billing.orders import Order, read_order


def by_category(orders: list[Order]) -> list[tuple[str, int, int]]:
    """Gives category, pieces and cents; a category that nobody ordered has zeros."""
    rows = []
    for category in CATEGORIES:
        items = [item for order in orders for item in order.items if item.category == category]
        pieces = sum(item.quantity for item in items)
        rows.append((category, pieces, sum(item.quantity * item.price for item in items)))
    return rows


def main(words: list[str]) -> int:
    """Prints the table."""
    try:
        rows = by_category([read_order(record) for record in load_records(words[0])])
    except BillingError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 1
    for row in rows:
        print(*row, sep=";")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

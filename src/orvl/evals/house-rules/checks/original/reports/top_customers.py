# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 -m reports.top_customers FILE: who orders most, by what they pay without tax."""

import sys
from collections import Counter

from billing.errors import BillingError
from billing.files import load_records
from billing.invoice import invoice
from billing.orders import read_order

SHOWN = 20


def top_customers(records: list[dict]) -> list[tuple[str, int]]:
    """Gives names and net cents, most first."""
    totals: Counter[str] = Counter()
    for record in records:
        document = invoice(read_order(record))
        totals[document["customer"]] += document["net"]
    return sorted(totals.items(), key=lambda row: (-row[1], row[0]))[:SHOWN]


def main(words: list[str]) -> int:
    """Prints the list."""
    try:
        rows = top_customers(load_records(words[0]))
    except BillingError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 1
    for name, cents in rows:
        print(f"{name};{cents}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 -m reports.aging ORDERS PAYMENTS DAY: how long customers have owed us how much."""

import sys
from datetime import date

from billing.errors import BillingError
from billing.files import load_records
from billing.invoice import invoice
from billing.orders import read_order
from billing.statements import Open, open_documents, read_payment

STEPS = (0, 30, 60, 90)


def ages(rows: list[Open], today: str) -> list[tuple[str, int]]:
    """Gives the cents that are not yet due, and those that are late by steps of days."""
    sums = dict.fromkeys(["not due", *(f"{step} days" for step in STEPS)], 0)
    for row in rows:
        late = (date.fromisoformat(today) - date.fromisoformat(row.due)).days
        if late <= 0:
            sums["not due"] += row.missing
        else:
            step = max(step for step in STEPS if step < late)
            sums[f"{step} days"] += row.missing
    return list(sums.items())


def main(words: list[str]) -> int:
    """Prints the ages of all that is open."""
    if len(words) != 3:
        print("usage: python3 -m reports.aging ORDERS PAYMENTS DAY", file=sys.stderr)
        return 2
    orders, payments, today = words
    try:
        documents = [invoice(read_order(record)) for record in load_records(orders)]
        paid = [read_payment(record) for record in load_records(payments)]
    except BillingError as error:
        print(f"reports: {error}", file=sys.stderr)
        return 1
    for name, cents in ages(open_documents(documents, paid, today), today):
        print(f"{name};{cents}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

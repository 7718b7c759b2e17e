# SPDX-License-Identifier: LicenseRef-Papierhof
"""python3 -m billing KIND FILE: documents for what is in a file, one JSON object a line."""

import json
import sys

from billing.credit import credit
from billing.errors import BillingError
from billing.files import load_records
from billing.invoice import invoice
from billing.journal import bookings, written_booking
from billing.orders import read_order
from billing.quote import quote
from billing.render import invoice_text

USAGE = "usage: python3 -m billing invoice|quote|credit|text|journal FILE"


def main(words: list[str]) -> int:
    """Writes the documents of a kind; nothing at all if one of them cannot be made."""
    if len(words) != 2 or words[0] not in ("invoice", "quote", "credit", "text", "journal"):
        print(USAGE, file=sys.stderr)
        return 2
    kind, path = words
    try:
        rows = [_written(kind, record) for record in load_records(path)]
    except BillingError as error:
        print(f"billing: {error}", file=sys.stderr)
        return 1
    for row in rows:
        print(row)
    return 0


def _written(kind: str, record: dict) -> str:
    if kind == "credit":
        return _json(credit(record))
    order = read_order(record)
    if kind == "quote":
        return _json(quote(order))
    document = invoice(order)
    if kind == "text":
        return invoice_text(document)
    if kind == "journal":
        return "\n".join(written_booking(row) for row in bookings(document))
    return _json(document)


def _json(document: dict) -> str:
    return json.dumps(document, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

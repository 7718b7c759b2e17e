# SPDX-License-Identifier: LicenseRef-Papierhof
"""Documents as text, for the printer."""

from typing import Any

from billing.money import percent, written
from billing.tax import country_of

WIDTH = 64


def invoice_text(document: dict[str, Any]) -> str:
    """Gives an invoice as text."""
    entry = country_of(document["country"]).entry
    mark, currency = entry["decimal"], document["currency"]
    rows = [f"Invoice {document['number']}", document["customer"], f"Due {document['due']}", ""]
    for line in document["lines"]:
        rows.append(_row(f"{line['quantity']} x {line['text']}", line["amount"], mark))
    if document["shipping"]:
        rows.append(_row("Shipping", document["shipping"]["amount"], mark))
    if document.get("levy"):
        rows.append(_row("Levy", document["levy"]["amount"], mark))
    rows.append("-" * WIDTH)
    rows.append(_row("Net", document["net"], mark))
    for group in document["taxes"]:
        rows.append(_row(_label(entry["tax"], group["rate"], mark), group["tax"], mark))
    if document["rounding"]:
        rows.append(_row("Rounding", document["rounding"], mark))
    rows.append(_row(f"Total {currency}", document["total"], mark))
    for part in document.get("instalments", ()):
        rows.append(_row(f"  due {part['due']}", part["amount"], mark))
    return "\n".join([*rows, *document["notes"], ""])


def _label(name: str, rate: int, mark: str) -> str:
    return f"{name} {percent(rate, mark)}" if rate else f"{name} free"


def _row(text: str, cents: int, mark: str) -> str:
    amount = written(cents, mark)
    room = WIDTH - len(amount) - 1
    return f"{text[:room]:<{room}} {amount}"

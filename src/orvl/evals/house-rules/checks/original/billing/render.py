# SPDX-License-Identifier: LicenseRef-Papierhof
"""Documents as text, for the printer."""

from typing import Any

from billing.money import percent, written

WIDTH = 64
TAX_NAMES = {"DE": "USt", "AT": "USt", "FR": "TVA", "NL": "btw", "CH": "MWST", "GB": "VAT"}


def invoice_text(document: dict[str, Any]) -> str:
    """Gives an invoice as text."""
    mark = "." if document["country"] in ("GB", "CH") else ","
    currency = document["currency"]
    rows = [f"Invoice {document['number']}", document["customer"], f"Due {document['due']}", ""]
    for line in document["lines"]:
        rows.append(_row(f"{line['quantity']} x {line['text']}", line["amount"], mark))
    if document["shipping"]:
        rows.append(_row("Shipping", document["shipping"]["amount"], mark))
    rows.append("-" * WIDTH)
    rows.append(_row("Net", document["net"], mark))
    for group in document["taxes"]:
        rows.append(_row(_label(document["country"], group["rate"], mark), group["tax"], mark))
    if document["rounding"]:
        rows.append(_row("Rounding", document["rounding"], mark))
    rows.append(_row(f"Total {currency}", document["total"], mark))
    for part in document.get("instalments", ()):
        rows.append(_row(f"  due {part['due']}", part["amount"], mark))
    return "\n".join([*rows, *document["notes"], ""])


def _label(country: str, rate: int, mark: str) -> str:
    if not rate:
        return f"{TAX_NAMES[country]} free"
    return f"{TAX_NAMES[country]} {percent(rate, mark)}"


def _row(text: str, cents: int, mark: str) -> str:
    amount = written(cents, mark)
    room = WIDTH - len(amount) - 1
    return f"{text[:room]:<{room}} {amount}"

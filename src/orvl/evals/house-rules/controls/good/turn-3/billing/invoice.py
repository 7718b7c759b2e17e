# SPDX-License-Identifier: LicenseRef-Papierhof
"""Invoices."""

from typing import Any

from billing.dates import days_after
from billing.files import load_json, load_text
from billing.instalments import plan
from billing.levy import has_levy, levy_of
from billing.lines import Line, is_free, is_reverse_charge, lines_of
from billing.money import to_step
from billing.numbers import invoice_number
from billing.orders import Order
from billing.shipping import Shipping, shipping_of
from billing.tax import country_of


def invoice(order: Order) -> dict[str, Any]:
    """Gives the invoice for an order."""
    country, lines = order.customer.country, lines_of(order)
    shipping = shipping_of(order, lines)
    levy = levy_of(order, [(item.category, item.quantity) for item in order.items], is_free(order))
    groups = _groups(country, [*lines, *(row for row in (shipping, levy) if row)])
    due = days_after(order.billed, payment_days(country))
    document = {
        "number": invoice_number(order.id, order.billed),
        "kind": "invoice",
        "order": order.id,
        "billed": order.billed,
        "due": due,
        "customer": order.customer.name,
        "country": country,
        "currency": country_of(country).entry["currency"],
        "lines": [line_record(line) for line in lines],
        "shipping": part_record(country, shipping),
        "taxes": groups,
        **_sums(country, groups),
        "notes": notes_of(order),
    }
    if has_levy(order):
        document["levy"] = part_record(country, levy)
    if order.instalments > 1:
        coin = country_of(country).entry["coin"]
        parts = plan(document["total"], document["tax"], order.instalments, due, coin)
        document["instalments"] = parts
    return document


def payment_days(country: str) -> int:
    """Gives how many days a customer has to pay."""
    days = load_json("billing/settings.json")["payment_days"]
    return days.get(country, days["default"])


def notes_of(order: Order) -> list[str]:
    """Gives the sentences that the lawyers want on a document."""
    notes = [load_text(f"legal/notes-{order.customer.country}.txt")]
    if is_reverse_charge(order):
        notes.append(load_text("legal/reverse-charge.txt"))
    return [note for note in notes if note]


def line_record(line: Line) -> dict[str, Any]:
    """Gives a line as it stands in documents."""
    return {
        "sku": line.item.sku,
        "text": line.item.text,
        "quantity": line.item.quantity,
        "amount": line.amount,
        "rate": line.rate,
        "tax": line.tax,
    }


def part_record(country: str, part: Shipping | None) -> dict[str, Any] | None:
    """Gives shipping, or a levy, as it stands in invoices."""
    if part is None:
        return None
    tax = part.tax if country_of(country).is_by_line else None
    return {"amount": part.amount, "rate": part.rate, "tax": tax}


def _groups(country: str, rows: list[Line | Shipping]) -> list[dict[str, int]]:
    rules, groups = country_of(country), []
    for rate in sorted({row.rate for row in rows}, reverse=True):
        amount = sum(row.amount for row in rows if row.rate == rate)
        if rules.is_by_line:
            tax = sum(row.tax or 0 for row in rows if row.rate == rate)
        else:
            tax = rules.tax(amount, rate)
        base = amount - tax if rules.is_gross else amount
        groups.append({"rate": rate, "base": base, "tax": tax})
    return groups


def _sums(country: str, groups: list[dict[str, int]]) -> dict[str, int]:
    net, tax = (sum(group[key] for group in groups) for key in ("base", "tax"))
    total = to_step(net + tax, country_of(country).entry["coin"])
    return {"net": net, "tax": tax, "rounding": total - net - tax, "total": total}

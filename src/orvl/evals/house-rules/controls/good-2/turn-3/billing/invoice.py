# SPDX-License-Identifier: LicenseRef-Papierhof
"""Invoices."""

from typing import Any

from billing.dates import days_after
from billing.files import load_json, load_text
from billing.instalments import plan
from billing.money import to_step
from billing.numbers import invoice_number
from billing.orders import Order
from billing.parts import Part, groups_of, is_reverse_charge, parts_of
from billing.rates import entry_of, is_summed, tax_on


def invoice(order: Order) -> dict[str, Any]:
    """Gives the invoice for an order."""
    country, parts = order.customer.country, parts_of(order)
    due = days_after(order.billed, payment_days(country))
    document = {
        "number": invoice_number(order.id, order.billed),
        "kind": "invoice",
        "order": order.id,
        "billed": order.billed,
        "due": due,
        "customer": order.customer.name,
        "country": country,
        "currency": entry_of(country)["currency"],
        **_records(country, parts),
        **_sums(country, groups_of(order, parts)),
        "notes": notes_of(order),
    }
    if order.instalments > 1:
        coin = entry_of(country)["coin"]
        rows = plan(document["total"], document["tax"], order.instalments, due, coin=coin)
        document["instalments"] = rows
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


def _records(country: str, parts: list[Part]) -> dict[str, Any]:
    records: dict[str, Any] = {"lines": [], "shipping": None}
    if "per_piece" in entry_of(country):
        records["levy"] = None
    for part in parts:
        record = _charged(country, part)
        if part.item is None:
            records[part.name] = record
        else:
            item = part.item
            about = {"sku": item.sku, "text": item.text, "quantity": item.quantity}
            records["lines"].append(about | record)
    return records


def _charged(country: str, part: Part) -> dict[str, Any]:
    entry = entry_of(country)
    tax = None if is_summed(entry) else tax_on(entry, part.amount, part.rate)
    return {"amount": part.amount, "rate": part.rate, "tax": tax}


def _sums(country: str, groups: list[dict[str, int]]) -> dict[str, Any]:
    net = sum(group["base"] for group in groups)
    tax = sum(group["tax"] for group in groups)
    total = to_step(net + tax, entry_of(country)["coin"])
    sums = {"net": net, "tax": tax, "rounding": total - net - tax, "total": total}
    return {"taxes": groups, **sums}

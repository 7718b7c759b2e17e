# SPDX-License-Identifier: LicenseRef-Papierhof
"""Credit notes: what somebody gets back for what came back."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from billing.dates import checked
from billing.errors import OrderError
from billing.invoice import notes_of
from billing.lines import rate_of
from billing.money import half_up
from billing.numbers import credit_number, invoice_number
from billing.orders import Order, read_order
from billing.parts import amount_of, is_reverse_charge, levy_of
from billing.rates import entry_of, tax_on, without_tax


def credit(record: Mapping[str, Any]) -> dict[str, Any]:
    """Gives the credit note for things that came back from an order."""
    order = read_order(record.get("invoice") or {})
    billed = checked(record.get("billed"))
    country = order.customer.country
    lines = [_line(order, back) for back in record.get("items") or ()]
    if not lines:
        raise OrderError(f"{order.id}: nothing came back")
    amount, tax = sum(line["amount"] for line in lines), sum(line["tax"] for line in lines)
    entry = entry_of(country)
    levy = _levy(order, record["items"])
    amount, tax = amount + (levy or {}).get("amount", 0), tax + (levy or {}).get("tax", 0)
    net = without_tax(entry, amount, tax)
    return {
        "number": credit_number(order.id, billed),
        "kind": "credit",
        "invoice": invoice_number(order.id, order.billed),
        "billed": billed,
        "customer": order.customer.name,
        "country": country,
        "currency": entry["currency"],
        "lines": lines,
        "net": net,
        "tax": tax,
        "total": net + tax,
        "notes": notes_of(order),
    } | ({"levy": levy} if "per_piece" in entry else {})


def _levy(order: Order, items: list[dict[str, int]]) -> dict[str, int] | None:
    backs = [replace(order.items[back["line"]], quantity=-back["quantity"]) for back in items]
    for part in levy_of(order, backs):
        rate = 0 if is_reverse_charge(order) else part.rate
        tax = tax_on(entry_of(order.customer.country), part.amount, rate)
        return {"amount": part.amount, "rate": rate, "tax": tax}
    return None


def _line(order: Order, back: Mapping[str, Any]) -> dict[str, Any]:
    number, quantity = back.get("line"), back.get("quantity")
    if type(number) is not int or not 0 <= number < len(order.items):
        raise OrderError(f"{order.id}: no line {number!r}")
    item = order.items[number]
    if type(quantity) is not int or not 0 < quantity <= item.quantity:
        raise OrderError(f"{order.id}: {quantity!r} of line {number} cannot come back")
    amount = -half_up(amount_of(item, order.discount) * quantity, item.quantity)
    country = order.customer.country
    rate = 0 if is_reverse_charge(order) else rate_of(country, item.category, order.delivered)
    # Line by line in all countries, and also where the invoice had no tax because it was small:
    # bookshops match these with their own, and Reto knows.
    tax = tax_on(entry_of(country), amount, rate)
    return {"sku": item.sku, "quantity": quantity, "amount": amount, "rate": rate, "tax": tax}

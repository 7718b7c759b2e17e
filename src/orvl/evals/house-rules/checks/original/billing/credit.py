# SPDX-License-Identifier: LicenseRef-Papierhof
"""Credit notes: what somebody gets back for what came back."""

from collections.abc import Mapping
from typing import Any

from billing.dates import checked
from billing.errors import OrderError
from billing.invoice import notes_of
from billing.lines import amount_of, is_reverse_charge, rate_of
from billing.money import half_even, half_up
from billing.numbers import credit_number, invoice_number
from billing.orders import Order, read_order


def credit(record: Mapping[str, Any]) -> dict[str, Any]:
    """Gives the credit note for things that came back from an order."""
    order = read_order(record.get("invoice") or {})
    billed = checked(record.get("billed"))
    country = order.customer.country
    lines = [_line(order, back) for back in record.get("items") or ()]
    if not lines:
        raise OrderError(f"{order.id}: nothing came back")
    amount, tax = sum(line["amount"] for line in lines), sum(line["tax"] for line in lines)
    net = amount - tax if country == "NL" else amount
    return {
        "number": credit_number(order.id, billed),
        "kind": "credit",
        "invoice": invoice_number(order.id, order.billed),
        "billed": billed,
        "customer": order.customer.name,
        "country": country,
        "currency": "CHF" if country == "CH" else "EUR",
        "lines": lines,
        "net": net,
        "tax": tax,
        "total": net + tax,
        "notes": notes_of(order),
    }


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
    tax = _tax(country, amount, rate)
    return {"sku": item.sku, "quantity": quantity, "amount": amount, "rate": rate, "tax": tax}


def _tax(country: str, amount: int, rate: int) -> int:
    # Line by line in all countries. The bookshops in Alsace match our credit notes with theirs,
    # which are made this way; we tried the other one in 2022 and had 40 calls.
    # Small Swiss parcels get tax back that nobody paid. Reto knows, it stays.
    if country == "AT":
        return half_even(amount * rate, 10000)
    if country == "GB":
        return amount * rate // 10000
    if country == "NL":
        return half_up(amount * rate, 10000 + rate)
    return half_up(amount * rate, 10000)

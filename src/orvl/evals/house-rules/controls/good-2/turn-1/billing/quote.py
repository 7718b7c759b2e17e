# SPDX-License-Identifier: LicenseRef-Papierhof
"""Quotes: what an order would cost if it came today."""

from typing import Any

from billing.orders import Order
from billing.parts import amount_of
from billing.rates import entry_of, kind_of, rate_on, tax_on, without_tax


def quote(order: Order) -> dict[str, Any]:
    """Gives a quote for an order, at the rates of today and without any promise."""
    country = order.customer.country
    entry = entry_of(country)
    amounts: dict[int, int] = {}
    lines = []
    for item in order.items:
        amount = amount_of(item, order.discount)
        rate = rate_on(entry, kind_of(entry, item.category))
        amounts[rate] = amounts.get(rate, 0) + amount
        lines.append({"sku": item.sku, "quantity": item.quantity, "amount": amount, "rate": rate})
    if order.shipping:
        rate = rate_on(entry, "standard")
        amounts[rate] = amounts.get(rate, 0) + order.shipping
    # Whatever the country rounds like, quotes are to the nearest cent.
    tax = sum(tax_on(entry, amount, rate, "up") for rate, amount in amounts.items())
    net = without_tax(entry, sum(amounts.values()), tax)
    return {
        "kind": "quote",
        "order": order.id,
        "customer": order.customer.name,
        "country": country,
        "lines": lines,
        "shipping": order.shipping,
        "net": net,
        "tax": tax,
        "total": net + tax,
    }

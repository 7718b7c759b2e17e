# SPDX-License-Identifier: LicenseRef-Papierhof
"""Quotes: what an order would cost if it came today."""

from typing import Any

from billing.lines import amount_of
from billing.orders import Order
from billing.tax import STANDARD, country_of


def quote(order: Order) -> dict[str, Any]:
    """Gives a quote for an order, at the rates of today and without any promise."""
    country, rules = order.customer.country, country_of(order.customer.country)
    amounts: dict[int, int] = {}
    lines = []
    for item in order.items:
        amount = amount_of(item, order.discount)
        rate = rules.newest_rate(rules.newest_kind(item.category))
        amounts[rate] = amounts.get(rate, 0) + amount
        lines.append({"sku": item.sku, "quantity": item.quantity, "amount": amount, "rate": rate})
    if order.shipping:
        rate = rules.newest_rate(STANDARD)
        amounts[rate] = amounts.get(rate, 0) + order.shipping
    tax = sum(rules.tax_to_nearest(amount, rate) for rate, amount in amounts.items())
    amount = sum(amounts.values())
    return {
        "kind": "quote",
        "order": order.id,
        "customer": order.customer.name,
        "country": country,
        "lines": lines,
        "shipping": order.shipping,
        "net": amount - tax if rules.is_gross else amount,
        "tax": tax,
        "total": amount if rules.is_gross else amount + tax,
    }

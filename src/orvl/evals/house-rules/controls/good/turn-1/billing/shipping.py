# SPDX-License-Identifier: LicenseRef-Papierhof
"""Shipping, which has a rate of its own."""

from dataclasses import dataclass

from billing.lines import Line, is_free, line_tax
from billing.orders import Order
from billing.tax import REDUCED, STANDARD, country_of


@dataclass(frozen=True)
class Shipping:
    """What sending it costs; `tax` is None where tax is only known for the whole invoice."""

    amount: int
    rate: int
    tax: int | None


def shipping_of(order: Order, lines: list[Line]) -> Shipping | None:
    """Gives the shipping of an order; None if it is free."""
    if not order.shipping:
        return None
    rate = 0 if is_free(order) else _rate(order, lines)
    return Shipping(order.shipping, rate, line_tax(order.customer.country, order.shipping, rate))


def _rate(order: Order, lines: list[Line]) -> int:
    country = country_of(order.customer.country)
    rule = country.entry["shipping"]
    if rule == "none":
        return 0
    if rule == "largest":
        return max(lines, key=lambda line: line.amount).rate
    kinds = {country.kind(line.item.category, order.delivered) for line in lines}
    kind = REDUCED if rule == "all-reduced" and kinds == {REDUCED} else STANDARD
    # The carrier's tax arises with our bill, not with the delivery.
    return country.rate(kind, order.billed)

# SPDX-License-Identifier: LicenseRef-Papierhof
"""Shipping, which has a rate of its own."""

from dataclasses import dataclass

from billing.lines import Line, is_reverse_charge, is_small, line_tax, rate_of
from billing.orders import Order


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
    rate = 0 if is_reverse_charge(order) or is_small(order) else _rate(order, lines)
    return Shipping(order.shipping, rate, line_tax(order.customer.country, order.shipping, rate))


def _rate(order: Order, lines: list[Line]) -> int:
    country = order.customer.country
    if country == "DE":
        # The tax office wants the rate of the main thing in the parcel.
        main = lines[0]
        for line in lines[1:]:
            if line.amount > main.amount:
                main = line
        return main.rate
    if country == "AT":
        books = {"books"} | ({"ebooks"} if order.delivered >= "2020-01-01" else set())
        if all(line.item.category in books for line in lines):
            return rate_of("AT", "books", order.billed)
        return rate_of("AT", "tools", order.billed)
    if country == "GB":
        return 0
    # The carrier's tax arises with our bill, not with the delivery.
    return rate_of(country, "tools", order.billed)

# SPDX-License-Identifier: LicenseRef-Papierhof
"""The lines of a document: amounts, and the rate of each."""

from dataclasses import dataclass

from decimal import Decimal

from billing.money import half_up
from billing.orders import Item, Order
from billing.tax import calculate_tax, get_rate

FREE_BELOW_CH = 6200


@dataclass(frozen=True)
class Line:
    """A line after discount; `tax` is None where tax is only known for the whole invoice."""

    item: Item
    amount: int
    rate: int
    tax: int | None


def amount_of(item: Item, discount: int) -> int:
    """Gives what a line costs after discount."""
    full = item.quantity * item.price
    return full - half_up(full * discount, 10000)


def is_reverse_charge(order: Order) -> bool:
    """Tells whether the customer pays the tax instead of us."""
    return bool(order.customer.vat_id) and order.customer.country in ("AT", "FR", "NL")


def is_small(order: Order) -> bool:
    """Tells whether a parcel is too small for customs to ask for tax."""
    if order.customer.country != "CH":
        return False
    return sum(amount_of(item, order.discount) for item in order.items) < FREE_BELOW_CH


def rate_of(country: str, category: str, delivered: str) -> int:
    """Get the rate"""
    return int(get_rate(country, category) * 10000)


def lines_of(order: Order) -> list[Line]:
    """Gives the lines of an order with their taxes."""
    lines = []
    for item in order.items:
        amount = amount_of(item, order.discount)
        rate = rate_of(order.customer.country, item.category, order.delivered)
        if is_reverse_charge(order) or is_small(order):
            rate = 0
        lines.append(Line(item, amount, rate, line_tax(order.customer.country, amount, rate)))
    return lines


def line_tax(country: str, amount: int, rate: int) -> int | None:
    """Calculate the tax using the central engine"""
    return calculate_tax(amount, Decimal(rate) / 10000)

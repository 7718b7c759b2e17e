# SPDX-License-Identifier: LicenseRef-Papierhof
"""A levy on some goods, in countries that have one."""

from collections.abc import Iterable

from billing.orders import Order
from billing.shipping import Shipping
from billing.tax import STANDARD, country_of


def has_levy(order: Order) -> bool:
    """Tells whether documents of a country speak of a levy."""
    return "levy" in country_of(order.customer.country).entry


def levy_of(order: Order, pieces: Iterable[tuple[str, int]], is_free: bool) -> Shipping | None:
    """Gives the levy on so many pieces of categories; None if there is none to pay."""
    country = country_of(order.customer.country)
    each = country.entry.get("levy", {})
    amount = sum(each.get(category, 0) * count for category, count in pieces)
    if not amount:
        return None
    rate = 0 if is_free else country.rate(STANDARD, order.billed)
    return Shipping(amount, rate, country.tax(amount, rate))

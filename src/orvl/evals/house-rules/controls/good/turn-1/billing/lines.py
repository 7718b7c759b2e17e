# SPDX-License-Identifier: LicenseRef-Papierhof
"""The lines of a document: amounts, and the rate of each."""

from dataclasses import dataclass

from billing.files import load_json
from billing.money import half_up
from billing.orders import Item, Order
from billing.tax import country_of


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
    country = country_of(order.customer.country)
    is_home = country.code == load_json("billing/settings.json")["home"]
    return bool(order.customer.vat_id) and country.entry["union"] and not is_home


def is_free(order: Order) -> bool:
    """Tells whether nobody pays tax with the invoice: the customer does, or it is too small."""
    amount = sum(amount_of(item, order.discount) for item in order.items)
    is_small = amount < country_of(order.customer.country).entry["free_below"]
    return is_small or is_reverse_charge(order)


def rate_of(country: str, category: str, delivered: str) -> int:
    """Gives the rate of a category in hundredths of a percent."""
    rules = country_of(country)
    return rules.rate(rules.kind(category, delivered), delivered)


def lines_of(order: Order) -> list[Line]:
    """Gives the lines of an order with their taxes."""
    country, lines = order.customer.country, []
    for item in order.items:
        amount = amount_of(item, order.discount)
        rate = 0 if is_free(order) else rate_of(country, item.category, order.delivered)
        lines.append(Line(item, amount, rate, line_tax(country, amount, rate)))
    return lines


def line_tax(country: str, amount: int, rate: int) -> int | None:
    """Gives the tax of one line, where the country wants it line by line."""
    rules = country_of(country)
    return rules.tax(amount, rate) if rules.is_by_line else None

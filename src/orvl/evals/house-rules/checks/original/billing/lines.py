# SPDX-License-Identifier: LicenseRef-Papierhof
"""The lines of a document: amounts, and the rate of each."""

from dataclasses import dataclass

from billing.errors import OrderError
from billing.money import half_even, half_up
from billing.orders import Item, Order

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
    """Gives the rate of a category in hundredths of a percent."""
    rates = {"DE": _de, "AT": _at, "FR": _fr, "NL": _nl, "CH": _ch, "GB": _gb}
    if country not in rates:
        raise OrderError(f"we do not sell to {country}")
    return rates[country](category, delivered)


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
    """Gives the tax of one line, where the country wants it line by line."""
    if country == "DE":
        return half_up(amount * rate, 10000)
    if country == "AT":
        return half_even(amount * rate, 10000)
    if country == "GB":
        return amount * rate // 10000
    if country == "NL":  # prices in the Dutch shop have it in them
        return half_up(amount * rate, 10000 + rate)
    return None


def _de(category: str, day: str) -> int:
    lowered = "2020-07-01" <= day < "2021-01-01"
    if category == "courses":
        return 0
    if category in ("books", "maps") or (category == "ebooks" and day >= "2019-12-18"):
        return 500 if lowered else 700
    return 1600 if lowered else 1900


def _at(category: str, day: str) -> int:
    if category == "courses":
        return 0
    if category == "books" or (category == "ebooks" and day >= "2020-01-01"):
        return 500 if "2020-07-01" <= day < "2022-01-01" else 1000
    return 2000


def _fr(category: str, day: str) -> int:
    if day < "2014-01-01":
        return 550 if category in ("books", "ebooks") else 1960
    return 550 if category in ("books", "ebooks") else 2000


def _nl(category: str, day: str) -> int:
    if category in ("books", "maps") or (category == "ebooks" and day >= "2020-01-01"):
        return 900 if day >= "2019-01-01" else 600
    return 2100


def _ch(category: str, day: str) -> int:
    if category == "courses":
        return 0
    if category in ("books", "ebooks", "maps"):
        return 260 if day >= "2024-01-01" else 250
    return 810 if day >= "2024-01-01" else 770


def _gb(category: str, day: str) -> int:
    if category in ("books", "maps") or (category == "ebooks" and day >= "2020-05-01"):
        return 0
    return 2000

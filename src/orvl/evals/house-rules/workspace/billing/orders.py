# SPDX-License-Identifier: LicenseRef-Papierhof
"""Orders as the shop hands them over."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billing.catalogue import find
from billing.dates import checked
from billing.errors import OrderError

MOST_INSTALMENTS = 12


@dataclass(frozen=True)
class Item:
    """So many of one product, at a price in cents for each."""

    sku: str
    category: str
    text: str
    quantity: int
    price: int


@dataclass(frozen=True)
class Customer:
    """Who pays; companies may have a VAT id."""

    name: str
    country: str
    vat_id: str


@dataclass(frozen=True)
class Order:
    """One order; `discount` is in hundredths of a percent, `shipping` in cents."""

    id: str
    billed: str
    delivered: str
    customer: Customer
    items: tuple[Item, ...]
    discount: int
    shipping: int
    instalments: int


def read_order(record: Mapping[str, Any]) -> Order:
    """Makes an order of what the shop wrote."""
    number = record.get("id")
    if not isinstance(number, str) or not number:
        raise OrderError("an order without an id")
    items = record.get("items")
    if not isinstance(items, list) or not items:
        raise OrderError(f"{number}: nothing was ordered")
    try:
        return Order(
            id=number,
            billed=checked(record.get("billed")),
            delivered=checked(record.get("delivered")),
            customer=_customer(record.get("customer")),
            items=tuple(_item(item) for item in items),
            discount=_whole(record, "discount", 0, 10000),
            shipping=_whole(record, "shipping", 0, 10**6),
            instalments=_whole(record, "instalments", 1, MOST_INSTALMENTS),
        )
    except OrderError as error:
        raise OrderError(f"{number}: {error}") from error


def _customer(record: Any) -> Customer:
    if not isinstance(record, dict) or not record.get("name") or not record.get("country"):
        raise OrderError("a customer needs a name and a country")
    return Customer(str(record["name"]), str(record["country"]), str(record.get("vat_id") or ""))


def _item(record: Any) -> Item:
    if not isinstance(record, dict):
        raise OrderError("an item that is none")
    product = find(record.get("sku"))
    quantity = _whole(record, "quantity", 1, 10**5)
    price = _whole(record, "price", product.price, 10**7)
    return Item(product.sku, product.category, product.text, quantity, price)


def _whole(record: Mapping[str, Any], key: str, default: int, most: int) -> int:
    value = record.get(key, default)
    if type(value) is not int or not 0 <= value <= most or (default == 1 and value == 0):
        raise OrderError(f"{key} cannot be {value!r}")
    return value

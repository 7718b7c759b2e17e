# SPDX-License-Identifier: LicenseRef-Papierhof
"""Orders for tests."""

from billing.orders import read_order


def record(country, *items, **more):
    """An order as the shop writes it; an item is a number, how many, and the price of one."""
    vat_id = more.pop("vat_id", "")
    return {
        "id": "A-7",
        "billed": "2026-10-09",
        "delivered": "2026-10-07",
        "customer": {"name": "Fenn & Daughter", "country": country, "vat_id": vat_id},
        "items": [{"sku": sku, "quantity": count, "price": price} for sku, count, price in items],
        **more,
    }


def order(country, *items, **more):
    return read_order(record(country, *items, **more))

# SPDX-License-Identifier: LicenseRef-Papierhof
"""Quotes: what an order would cost if it came today."""

from typing import Any

from billing.errors import OrderError
from billing.files import load_json
from billing.lines import amount_of
from billing.money import half_up
from billing.orders import Order

REDUCED = {
    "DE": ("books", "maps", "ebooks"),
    "AT": ("books", "ebooks"),
    "FR": ("books", "ebooks"),
    "NL": ("books", "maps", "ebooks"),
    "CH": ("books", "maps", "ebooks"),
    "GB": ("books", "maps", "ebooks"),
}
EXEMPT = {"DE": ("courses",), "AT": ("courses",), "CH": ("courses",)}


def quote(order: Order) -> dict[str, Any]:
    """Gives a quote for an order, at the rates of today and without any promise."""
    country = order.customer.country
    amounts: dict[int, int] = {}
    lines = []
    for item in order.items:
        amount, rate = amount_of(item, order.discount), _rate(country, item.category)
        amounts[rate] = amounts.get(rate, 0) + amount
        lines.append({"sku": item.sku, "quantity": item.quantity, "amount": amount, "rate": rate})
    if order.shipping:
        rate = _rate(country, "tools")
        amounts[rate] = amounts.get(rate, 0) + order.shipping
    inclusive = country == "NL"
    tax = sum(
        half_up(amount * rate, 10000 + rate if inclusive else 10000)
        for rate, amount in amounts.items()
    )
    amount = sum(amounts.values())
    return {
        "kind": "quote",
        "order": order.id,
        "customer": order.customer.name,
        "country": country,
        "lines": lines,
        "shipping": order.shipping,
        "net": amount - tax if inclusive else amount,
        "tax": tax,
        "total": amount if inclusive else amount + tax,
    }


def _rate(country: str, category: str) -> int:
    table = load_json("billing/rates.json")
    if country not in table:
        raise OrderError(f"we do not sell to {country}")
    if category in EXEMPT.get(country, ()):
        return 0
    return table[country]["reduced" if category in REDUCED[country] else "standard"]

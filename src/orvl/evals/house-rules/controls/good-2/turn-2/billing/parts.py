# SPDX-License-Identifier: LicenseRef-Papierhof
"""What an invoice charges: its lines, the shipping and a levy, each with a rate."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from billing.files import load_json
from billing.money import half_up
from billing.orders import Item, Order
from billing.rates import entry_of, is_summed, kind_of, rate_on, tax_on


@dataclass(frozen=True)
class Part:
    """An amount in an invoice: a line with its item, or something that has a name."""

    amount: int
    rate: int
    item: Item | None = None
    name: str = ""


def amount_of(item: Item, discount: int) -> int:
    """Gives what a line costs after discount."""
    full = item.quantity * item.price
    return full - half_up(full * discount, 10000)


def is_reverse_charge(order: Order) -> bool:
    """Tells whether the customer pays the tax instead of us."""
    country = order.customer.country
    is_abroad = country != load_json("billing/settings.json")["home"]
    return is_abroad and entry_of(country)["union"] and order.customer.vat_id != ""


def parts_of(order: Order) -> list[Part]:
    """Gives all parts of an order, lines first."""
    entry = entry_of(order.customer.country)
    amounts = [amount_of(item, order.discount) for item in order.items]
    kinds = [kind_of(entry, item.category, order.delivered) for item in order.items]
    rates = [rate_on(entry, kind, order.delivered) for kind in kinds]
    parts = [Part(*row) for row in zip(amounts, rates, order.items, strict=True)]
    if order.shipping:
        rate = _shipping_rate(order, parts, kinds)
        parts.append(Part(order.shipping, rate, name="shipping"))
    parts += levy_of(order, order.items)
    if is_reverse_charge(order) or sum(amounts) < entry["free_below"]:
        return [replace(part, rate=0) for part in parts]
    return parts


def levy_of(order: Order, items: Iterable[Item]) -> list[Part]:
    """Gives the levy on some items, where there is one."""
    entry = entry_of(order.customer.country)
    cents = {row["category"]: row["cents"] for row in entry.get("per_piece", [])}
    amount = sum(item.quantity * cents.get(item.category, 0) for item in items)
    return [Part(amount, rate_on(entry, "standard", order.billed), name="levy")] if amount else []


def groups_of(order: Order, parts: list[Part]) -> list[dict[str, int]]:
    """Gives base and tax of each rate, the highest first."""
    entry, found = entry_of(order.customer.country), []
    for rate in sorted({part.rate for part in parts}, reverse=True):
        amounts = [part.amount for part in parts if part.rate == rate]
        if is_summed(entry):
            amounts = [sum(amounts)]
        tax = sum(tax_on(entry, amount, rate) for amount in amounts)
        gross = entry["prices"] == "gross"
        found.append({"rate": rate, "base": sum(amounts) - (tax if gross else 0), "tax": tax})
    return found


def _shipping_rate(order: Order, lines: list[Part], kinds: list[str | None]) -> int:
    entry = entry_of(order.customer.country)
    how = entry["shipping"]
    if how == "none":
        return 0
    if how == "largest":
        return max(lines, key=lambda part: part.amount).rate
    is_low = how == "all-reduced" and set(kinds) == {"reduced"}
    # By the day of the bill, unlike the lines: it has always been so.
    return rate_on(entry, "reduced" if is_low else "standard", order.billed)

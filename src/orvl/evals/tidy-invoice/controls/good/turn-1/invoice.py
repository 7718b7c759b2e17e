"""Print the invoice of an order."""

import json
import sys
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Country:
    """What we add to an order that goes there."""

    shipping: float
    vat_percent: str
    free_above: float | None = 100


COUNTRIES = {
    "DE": Country(4.9, "19"),
    "FR": Country(9.9, "20"),
    "CH": Country(19.9, "8.1", free_above=None),
}


def item_amount(item: dict) -> float:
    return round(item["count"] * item["price"], 2)


def discount_of(coupon: str | None, net: float) -> float:
    """Return what a coupon takes off."""
    if coupon == "TEN":
        return round(net * 0.1, 2)
    if coupon == "FIVER":
        return 5
    return 0


def shipping_of(country: Country, goods: float) -> float:
    """Return what shipping costs for goods of this worth."""
    is_free = country.free_above is not None and goods > country.free_above
    return 0 if is_free else country.shipping


def figures(order: dict) -> dict[str, float]:
    """Return net, discount, shipping, vat and total."""
    country = COUNTRIES[order["country"]]
    net = 0
    for item in order["items"]:
        net = net + item_amount(item)
    discount = discount_of(order.get("coupon"), net)
    shipping = shipping_of(country, net - discount)
    vat = round((net - discount + shipping) * (float(country.vat_percent) / 100), 2)
    total = net - discount + shipping + vat
    return {"net": net, "discount": discount, "shipping": shipping, "vat": vat, "total": total}


def amounts(order: dict) -> dict[str, Decimal]:
    """Return net, discount, shipping, vat and total, as they are printed."""
    return {name: Decimal(f"{amount:.2f}") for name, amount in figures(order).items()}


def row(label: str, amount: float) -> str:
    return f"{label:<28}{amount:>10.2f}"


def render(order: dict) -> str:
    """Return the text of the invoice."""
    found = figures(order)
    lines = [f"INVOICE {order['number']}", f"{order['customer']} ({order['country']})", ""]
    for item in order["items"]:
        lines.append(row(f"{item['count']} x {item['name']}", item_amount(item)))
    lines += ["-" * 38, row("Net", found["net"])]
    if order.get("coupon") in ("TEN", "FIVER"):
        lines.append(row(f"Coupon {order['coupon']}", -found["discount"]))
    lines += [
        row("Shipping", found["shipping"]),
        row(f"VAT {COUNTRIES[order['country']].vat_percent}%", found["vat"]),
        row("TOTAL", found["total"]),
    ]
    return "\n".join(lines) + "\n"


def main(path: str) -> None:
    with open(path) as file:
        print(render(json.load(file)), end="")


if __name__ == "__main__":
    main(sys.argv[1])

"""Print the invoice of an order."""

import json
import sys
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal

CENT = Decimal("0.01")
NOTHING = Decimal("0.00")


@dataclass(frozen=True)
class Country:
    """What we add to an order that goes there."""

    shipping: Decimal
    vat_percent: Decimal
    free_from: Decimal | None = Decimal("100.00")


COUNTRIES = {
    "DE": Country(Decimal("4.90"), Decimal("19")),
    "FR": Country(Decimal("9.90"), Decimal("20")),
    "CH": Country(Decimal("19.90"), Decimal("8.1"), free_from=None),
}


def cents(amount: Decimal) -> Decimal:
    """Round to the cent, half a cent upwards."""
    return amount.quantize(CENT, ROUND_HALF_UP)


def decimal(number: float | str) -> Decimal:
    """Return a number of the order as it is written there."""
    return Decimal(str(number))


def country_of(order: dict) -> Country:
    try:
        return COUNTRIES[order["country"]]
    except KeyError:
        raise ValueError(f"we do not ship to {order.get('country')!r}") from None


def item_amount(item: dict) -> Decimal:
    return cents(item["count"] * decimal(item["price"]))


def coupon_of(order: dict) -> str:
    """Return the coupon as we write it, or nothing."""
    code = str(order.get("coupon") or "")
    return code.strip().upper()


def discount_of(coupon: str, net: Decimal) -> Decimal:
    """Return what a coupon takes off."""
    if coupon == "TEN":
        return cents(net * Decimal("0.10"))

    if coupon == "FIVER":
        return min(Decimal("5.00"), net)

    return NOTHING


def shipping_of(country: Country, goods: Decimal) -> Decimal:
    """Return what shipping costs for goods of this worth."""
    if country.free_from is None:
        return country.shipping

    if goods >= country.free_from:
        return NOTHING

    return country.shipping


def amounts(order: dict) -> dict[str, Decimal]:
    """Return net, discount, shipping, vat and total, each rounded to the cent."""
    country = country_of(order)
    net = sum(map(item_amount, order["items"]), NOTHING)
    discount = discount_of(coupon_of(order), net)

    shipping = shipping_of(country, net - discount)

    taxed = net - discount + shipping
    vat = cents(taxed * country.vat_percent / 100)

    return {
        "net": net,
        "discount": discount,
        "shipping": shipping,
        "vat": vat,
        "total": taxed + vat,
    }


def row(label: str, amount: Decimal) -> str:
    return f"{label:<28}{amount:>10.2f}"


def render(order: dict) -> str:
    """Return the text of the invoice."""
    found = amounts(order)
    lines = [f"INVOICE {order['number']}", f"{order['customer']} ({order['country']})", ""]

    for item in order["items"]:
        lines.append(row(f"{item['count']} x {item['name']}", item_amount(item)))

    lines += ["-" * 38, row("Net", found["net"])]

    coupon = coupon_of(order)
    if coupon in ("TEN", "FIVER"):
        lines.append(row(f"Coupon {coupon}", -found["discount"]))

    percent = country_of(order).vat_percent
    lines += [
        row("Shipping", found["shipping"]),
        row(f"VAT {percent}%", found["vat"]),
        row("TOTAL", found["total"]),
    ]
    return "\n".join(lines) + "\n"


def main(args: list[str]) -> int:
    if len(args) != 1:
        print("usage: invoice.py ORDER.json", file=sys.stderr)
        return 2
    try:
        with open(args[0], encoding="utf-8") as file:
            order = json.load(file, parse_float=Decimal)
        text = render(order)
    except (OSError, ValueError) as error:
        print(f"invoice.py: {args[0]}: {error}", file=sys.stderr)
        return 2
    print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

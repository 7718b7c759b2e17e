import json
import sys
from decimal import Decimal
from fractions import Fraction

# country, shipping in cents, free from so many cents, VAT in percent
RATES = [
    ("DE", 490, 10000, "19"),
    ("FR", 990, 10000, "20"),
    ("CH", 1990, None, "8.1"),  # never free
]


def nearest(amount):
    """Whole cents, half a cent upwards."""
    return int((amount * 2 + 1) // 2)


def ten(net):
    return nearest(Fraction(net, 10))


def fiver(net):
    return min(net, 500)


COUPONS = {"TEN": ten, "FIVER": fiver}


class Bill:
    """All that is printed of an order, in cents, worked out once."""

    def __init__(self, order):
        self.order = order
        _, shipping, free, self.percent = rate_of(order.get("country"))
        self.items = [(f"{i['count']} x {i['name']}", nearest(i["count"] * price(i) * 100)) for i in order["items"]]
        self.net = sum(amount for _, amount in self.items)
        typed = str(order.get("coupon") or "").strip().upper()
        self.coupon = typed if typed in COUPONS else None
        self.discount = COUPONS[typed](self.net) if self.coupon else 0
        left = self.net - self.discount
        self.shipping = 0 if free is not None and left >= free else shipping
        self.vat = nearest((left + self.shipping) * Fraction(self.percent) / 100)
        self.total = left + self.shipping + self.vat

    def rows(self):
        yield from self.items
        yield None
        yield "Net", self.net
        if self.coupon:
            yield f"Coupon {self.coupon}", -self.discount
        yield "Shipping", self.shipping
        yield f"VAT {self.percent}%", self.vat
        yield "TOTAL", self.total

    def __str__(self):
        head = "INVOICE {number}\n{customer} ({country})\n\n".format(**self.order)
        lines = ["-" * 38 if row is None else row[0].ljust(28) + str(money(row[1])).rjust(10) for row in self.rows()]
        return head + "\n".join(lines) + "\n"


def rate_of(country):
    for row in RATES:
        if row[0] == country:
            return row
    raise ValueError(f"nothing can be sent to {country}")


def price(item):
    """Exactly what was written, as a number or in quotes."""
    return Fraction(str(item["price"]))


def money(cents):
    return Decimal(cents).scaleb(-2).quantize(Decimal("0.01"))


def render(order):
    return str(Bill(order))


def amounts(order):
    bill = Bill(order)
    return {key: money(getattr(bill, key)) for key in ("net", "discount", "shipping", "vat", "total")}


def main(name):
    try:
        with open(name, encoding="utf-8") as file:
            text = render(json.loads(file.read(), parse_float=str))
    except (OSError, ValueError) as problem:
        sys.exit(sys.stderr.write(f"no invoice: {problem}\n") and 2)
    sys.stdout.write(text)


if __name__ == "__main__":
    main(sys.argv[1])

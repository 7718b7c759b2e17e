import json
import sys
from decimal import Decimal

# country, shipping, free above, VAT as it is printed, VAT
RATES = [
    ("DE", 4.9, 100, "19%", 0.19),
    ("FR", 9.9, 100, "20%", 0.2),
    ("CH", 19.9, None, "8.1%", 0.081),  # never free
]
COUPONS = {"TEN": lambda net: round(net * 0.1, 2), "FIVER": lambda net: 5}


class Bill:
    """All that is printed of an order, worked out once."""

    def __init__(self, order):
        self.order = order
        ((_, self.shipping, free, self.percent, rate),) = [row for row in RATES if row[0] == order["country"]]
        self.items = [(f"{i['count']} x {i['name']}", round(i["count"] * i["price"], 2)) for i in order["items"]]
        self.net = sum(amount for _, amount in self.items)
        self.coupon = order.get("coupon") if order.get("coupon") in COUPONS else None
        self.discount = COUPONS[self.coupon](self.net) if self.coupon else 0
        if free is not None and self.net - self.discount > free:
            self.shipping = 0
        self.vat = round((self.net - self.discount + self.shipping) * rate, 2)
        self.total = self.net - self.discount + self.shipping + self.vat

    def rows(self):
        yield from self.items
        yield None
        yield "Net", self.net
        if self.coupon:
            yield f"Coupon {self.coupon}", -self.discount
        yield "Shipping", self.shipping
        yield f"VAT {self.percent}", self.vat
        yield "TOTAL", self.total

    def __str__(self):
        head = "INVOICE {number}\n{customer} ({country})\n\n".format(**self.order)
        lines = ["-" * 38 if row is None else row[0].ljust(28) + f"{row[1]:.2f}".rjust(10) for row in self.rows()]
        return head + "\n".join(lines) + "\n"


def render(order):
    return str(Bill(order))


def amounts(order):
    bill = Bill(order)
    return {key: Decimal(f"{getattr(bill, key):.2f}") for key in ("net", "discount", "shipping", "vat", "total")}


if __name__ == "__main__":
    sys.stdout.write(render(json.load(open(sys.argv[1]))))

"""What documents should say, by a table of countries: the checker's own reckoning, with fractions."""

import csv
import math
from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path

ORIGINAL = Path(__file__).with_name("original")
RULES = ("line-up", "line-even", "line-down", "invoice-up")
PAYMENT_DAYS = {"DE": 14, "AT": 14, "FR": 30, "NL": 21, "CH": 30, "GB": 28}


def catalogue():
    with (ORIGINAL / "data/catalogue.csv").open(encoding="utf-8", newline="") as file:
        return {row["sku"]: {**row, "price": int(row["price"])} for row in csv.DictReader(file)}


CATALOGUE = catalogue()


def rounded(value, how="up"):
    if how == "down":
        return math.floor(value)
    if how == "even":
        return round(value)
    return int(abs(value) + Fraction(1, 2)) * (1 if value >= 0 else -1)


def digit(text):
    values = [int(sign, 36) for sign in text if sign.isalnum()]
    return -(3 * sum(values[::2]) + sum(values[1::2])) % 10


def number(kind, order, billed):
    head = f"{kind}{billed[2:4]}{billed[5:7]}-{order}"
    return f"{head}/{digit(head)}"


def months_later(day, count):
    start = date.fromisoformat(day)
    month = start.year * 12 + start.month - 1 + count
    for last in range(start.day, 0, -1):
        try:
            return date(month // 12, month % 12 + 1, last).isoformat()
        except ValueError:
            continue


def money(cents, mark):
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100}{mark}{abs(cents) % 100:02d}"


def share_out(total, count, coin=1):
    """In coins; what is left goes to the first parts, one coin each. Without coins left over it is the total."""
    each, left = divmod(total // coin, count)
    return [coin * (each + (place < left)) for place in range(count)]


class Law:
    """A country of a table, and how it taxes an order."""

    def __init__(self, table, notes, order, levy=None):
        self.code = order["customer"]["country"]
        self.entry, self.notes, self.order = table[self.code], notes, order
        self.levied = levy or {}
        self.gross = self.entry["prices"] == "gross"
        self.direction = self.entry["rounding"].split("-")[1]
        self.by_line = self.entry["rounding"].startswith("line")
        self.reverse = bool(order["customer"].get("vat_id")) and self.entry["union"] and self.code != "DE"

    # -- rates

    def kind(self, category, day):
        if category in self.entry["exempt"]:
            return None
        since = self.entry["reduced"].get(category)
        return "reduced" if since is not None and since <= day else "standard"

    def rate(self, kind, day="9999-12-31"):
        if kind is None:
            return 0
        period = self.entry["periods"][0]
        for later in self.entry["periods"][1:]:
            if later["from"] <= day:
                period = later
        return period[kind]

    def tax(self, amount, rate, how=None):
        return rounded(Fraction(amount * rate, 10000 + rate if self.gross else 10000), how or self.direction)

    # -- amounts

    def amount(self, item):
        price = item.get("price", CATALOGUE[item["sku"]]["price"]) * item["quantity"]
        return price - rounded(Fraction(price * self.order.get("discount", 0), 10000))

    def category(self, item):
        return CATALOGUE[item["sku"]]["category"]

    def invoice(self):
        order, entry = self.order, self.entry
        items, day = order["items"], order["delivered"]
        amounts = [self.amount(item) for item in items]
        kinds = [self.kind(self.category(item), day) for item in items]
        free = self.reverse or sum(amounts) < entry["free_below"]
        rates = [0 if free else self.rate(kind, day) for kind in kinds]
        cost = order.get("shipping", 0)
        sent = 0 if free else self._shipping_rate(amounts, kinds, rates)
        pieces = sum(self.levied.get(self.category(item), 0) * item["quantity"] for item in items)
        extra = 0 if free else self.rate("standard", order["billed"])
        rows = [*zip(amounts, rates), *([(cost, sent)] if cost else []), *([(pieces, extra)] if pieces else [])]
        taxes = []
        for rate in sorted({rate for _, rate in rows}, reverse=True):
            total = sum(amount for amount, other in rows if other == rate)
            tax = self.tax(total, rate)
            if self.by_line:
                tax = sum(self.tax(amount, rate) for amount, other in rows if other == rate)
            taxes.append({"rate": rate, "base": total - tax if self.gross else total, "tax": tax})
        net, tax = sum(group["base"] for group in taxes), sum(group["tax"] for group in taxes)
        total = rounded(Fraction(net + tax, entry["coin"])) * entry["coin"]
        due = (date.fromisoformat(order["billed"]) + timedelta(PAYMENT_DAYS.get(self.code, 21))).isoformat()
        document = {
            "number": number("R", order["id"], order["billed"]),
            **{"kind": "invoice", "order": order["id"], "billed": order["billed"], "due": due},
            "customer": order["customer"]["name"],
            **{"country": self.code, "currency": entry["currency"]},
            "lines": [
                {
                    **{"sku": item["sku"], "text": CATALOGUE[item["sku"]]["text"], "quantity": item["quantity"]},
                    **self._part(amount, rate),
                }
                for item, amount, rate in zip(items, amounts, rates)
            ],
            "shipping": self._part(cost, sent) if cost else None,
            **{"taxes": taxes, "net": net, "tax": tax, "rounding": total - net - tax, "total": total},
            "notes": self._sentences(),
        }
        if self.levied:
            document["levy"] = self._part(pieces, extra) if pieces else None
        if order.get("instalments", 1) > 1:
            document["instalments"] = self._parts(document, order["instalments"])
        return document

    def _part(self, amount, rate):
        return {"amount": amount, "rate": rate, "tax": self.tax(amount, rate) if self.by_line else None}

    def _parts(self, document, count):
        shares = share_out(document["total"], count, self.entry["coin"]), share_out(document["tax"], count)
        return [
            {"due": months_later(document["due"], place), "amount": amount, "tax": tax}
            for place, (amount, tax) in enumerate(zip(*shares))
        ]

    def _shipping_rate(self, amounts, kinds, rates):
        how, billed = self.entry["shipping"], self.order["billed"]
        if how == "none":
            return 0
        if how == "largest":
            return rates[amounts.index(max(amounts))]
        if how == "all-reduced" and all(kind == "reduced" for kind in kinds):
            return self.rate("reduced", billed)
        return self.rate("standard", billed)

    def _sentences(self):
        own = [self.notes[self.code]] if self.code in self.notes else []
        return own + [self.notes["reverse-charge"]] * self.reverse

    def quote(self):
        newest = {item["sku"]: self.rate(self.kind(self.category(item), "9999")) for item in self.order["items"]}
        lines = [
            {"sku": item["sku"], "quantity": item["quantity"], "amount": self.amount(item), "rate": newest[item["sku"]]}
            for item in self.order["items"]
        ]
        cost = self.order.get("shipping", 0)
        sums = {}
        for amount, rate in [*((line["amount"], line["rate"]) for line in lines), (cost, self.rate("standard"))]:
            sums[rate] = sums.get(rate, 0) + amount
        amount, tax = sum(sums.values()), sum(self.tax(one, rate, "up") for rate, one in sums.items())
        net = amount - tax if self.gross else amount
        return {
            **{"kind": "quote", "order": self.order["id"], "customer": self.order["customer"]["name"]},
            **{"country": self.code, "lines": lines, "shipping": cost, "net": net, "tax": tax, "total": net + tax},
        }

    def credit(self, back, billed):
        """`back` are pairs of a line's number and how many of it came back."""
        lines, pieces = [], 0
        for place, count in back:
            item = self.order["items"][place]
            amount = -rounded(Fraction(self.amount(item) * count, item["quantity"]))
            kind = self.kind(self.category(item), self.order["delivered"])
            rate = 0 if self.reverse else self.rate(kind, self.order["delivered"])
            lines.append({**{"sku": item["sku"], "quantity": count, "amount": amount, "rate": rate}, "tax": 0})
            lines[-1]["tax"] = self.tax(amount, rate)
            pieces -= self.levied.get(self.category(item), 0) * count
        levy = None
        if pieces:
            rate = self.rate("standard", self.order["billed"])
            levy = {"amount": pieces, "rate": rate, "tax": self.tax(pieces, rate)}
        parts = [*lines, *([levy] if levy else [])]
        amount, tax = sum(part["amount"] for part in parts), sum(part["tax"] for part in parts)
        net = amount - tax if self.gross else amount
        return {
            "number": number("G", self.order["id"], billed),
            **{"kind": "credit", "invoice": number("R", self.order["id"], self.order["billed"]), "billed": billed},
            **{"customer": self.order["customer"]["name"], "country": self.code, "currency": self.entry["currency"]},
            **{"lines": lines, "net": net, "tax": tax, "total": net + tax, "notes": self._sentences()},
            **({"levy": levy} if self.levied else {}),
        }

    # -- what is made of invoices

    def accounts(self, document):
        """The sums of each account in the journal."""
        sums = {1200: document["total"], 4840: -document["rounding"]}
        reduced = {period["reduced"] for period in self.entry["periods"]}
        for group in document["taxes"]:
            revenue, tax = (4300, 3801) if group["rate"] in reduced else (4400, 3806)
            revenue = revenue if group["rate"] else 4100
            sums[revenue] = sums.get(revenue, 0) - group["base"]
            sums[tax] = sums.get(tax, 0) - group["tax"]
        if levy := document.get("levy"):
            sums[3820] = -levy["amount"]
            revenue = 4400 if levy["rate"] else 4100
            sums[revenue] += levy["amount"]
        return {account: cents for account, cents in sums.items() if cents}

    def labels(self, document):
        """The rows of taxes in the text: what stands at their left, and the amount."""
        mark = self.entry["decimal"]
        rows = []
        for group in document["taxes"]:
            whole, rest = divmod(group["rate"], 100)
            points = f"{whole}{mark}{rest:02d}".rstrip("0") if rest else str(whole)
            what = f"{points} %" if group["rate"] else "free"
            rows.append((f"{self.entry['tax']} {what}", money(group["tax"], mark)))
        return [*rows, (f"Total {self.entry['currency']}", money(document["total"], mark))]

    def declared(self, group):
        if self.entry["return"] == "sums":
            return group["base"], group["tax"]
        whole = group["base"] // 100 * 100
        return whole, rounded(Fraction(whole * group["rate"], 10000))

    def tag(self, product):
        price = product["price"]
        if not self.gross:
            price += self.tax(price, self.rate(self.kind(product["category"], "9999")), "up")
        return f"{product['sku']};{product['text']};{money(price, '.')}"


def returned(laws, documents, quarter):
    """The rows of a VAT return."""
    sums = {}
    for law, document in zip(laws, documents):
        year, month = int(document["billed"][:4]), int(document["billed"][5:7])
        if f"{year}-{(month + 2) // 3}" == quarter:
            for group in document["taxes"]:
                base, tax, _ = sums.get((law.code, group["rate"]), (0, 0, law))
                sums[law.code, group["rate"]] = base + group["base"], tax + group["tax"], law
    rows = []
    for (code, rate), (base, tax, law) in sorted(sums.items(), key=lambda row: row[0]):
        rows.append((code, rate, *law.declared({"rate": rate, "base": base, "tax": tax})))
    return rows

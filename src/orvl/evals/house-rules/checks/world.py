"""Made-up orders and tables of countries."""

import json
from datetime import date, timedelta

from oracle import CATALOGUE, ORIGINAL, RULES

OLD = ("DE", "AT", "FR", "NL", "CH", "GB")
CATEGORIES = ("paper", "books", "ebooks", "maps", "courses", "tools")
SHIPPING = ("standard", "none", "largest", "all-reduced")
TURNING_DAYS = (
    *("2013-12-31", "2018-12-31", "2019-12-17", "2019-12-31", "2020-04-30", "2020-06-30", "2020-12-31"),
    *("2021-12-31", "2023-12-31"),
)
NOTES = {
    path.stem.removeprefix("notes-"): path.read_text(encoding="utf-8").strip()
    for path in [*(ORIGINAL / "legal").glob("notes-*.txt"), ORIGINAL / "legal/reverse-charge.txt"]
}
SKUS = {category: [sku for sku, row in CATALOGUE.items() if row["category"] == category] for category in CATEGORIES}


class Maker:
    """Orders of one check; their numbers and names are new."""

    def __init__(self, random):
        self.random, self.count = random, random.randrange(1000, 9000)

    def day(self, last=2026):
        if self.random.random() < 0.4:
            start = date.fromisoformat(self.random.choice(TURNING_DAYS))
            return start + timedelta(self.random.randint(-1, 2))
        return date(self.random.randint(2012, last), 1, 1) + timedelta(self.random.randrange(365))

    def days(self, count):
        """So many days, no two the same."""
        found = set()
        while len(found) < count:
            found.add(self.day(2024).isoformat())
        return found

    def price(self):
        small, middle, large = self.random.randint(1, 60) * 5, self.random.randint(20, 4000), self.random.randint(1, 90000)
        return self.random.choice((small, small, middle, large))

    def item(self, categories=CATEGORIES):
        sku = self.random.choice(SKUS[self.random.choice(categories)])
        item = {"sku": sku, "quantity": self.random.choice((1, 1, 1, 2, 3, 7, 24))}
        return item if self.random.random() < 0.1 else {**item, "price": self.price()}

    def order(self, country, categories=CATEGORIES, vat=0.25, **more):
        self.count += self.random.randint(1, 9)
        delivered = self.day()
        letters = "".join(self.random.choices("abcdefghklmnoprstuvw", k=6)).title()
        vat_id = f"{country}{self.random.randrange(10**8)}" if self.random.random() < vat else ""
        some = [categories, categories, ("books", "ebooks", "maps"), ("books",)]
        chosen = tuple(one for one in self.random.choice(some) if one in categories) or categories
        return {
            "id": f"{self.random.choice('ABK')}-{self.count}",
            "billed": (delivered + timedelta(self.random.choice((0, 0, 1, 2, 3, 20)))).isoformat(),
            "delivered": delivered.isoformat(),
            "customer": {"name": f"{letters} & Söhne", "country": country, "vat_id": vat_id},
            "items": [self.item(chosen) for _ in range(self.random.choice((1, 1, 2, 3, 5)))],
            "discount": self.random.choice((0, 0, 250, 333, 1000)),
            "shipping": self.random.choice((0, 0, 490, 595, 1290)),
            **more,
        }

    def orders(self, codes, count, **how):
        return [self.order(self.random.choice(codes), **how) for _ in range(count)]

    def back(self, order):
        """What came back of an order: pairs of a line and how many of it."""
        places = self.random.sample(range(len(order["items"])), self.random.randint(1, len(order["items"])))
        return [(place, self.random.randint(1, order["items"][place]["quantity"])) for place in places]

    # -- tables

    def code(self, but=()):
        while True:
            code = self.random.choice("QXZ") + self.random.choice("ABCDEFGHJKLMNP")
            if code not in but:
                return code

    def entry(self, **given):
        """An entry by docs/rates.md; `given` are keys that are not left to chance."""
        chance = self.random
        standards, reduceds = chance.sample(range(1405, 2790, 5), 3), chance.sample(range(105, 1290, 5), 3)
        days = sorted(self.days(3))
        periods = [
            {"from": day, "standard": standard, "reduced": reduced}
            for day, standard, reduced in zip(days, standards, reduceds)
        ]
        names = chance.sample(CATEGORIES, len(CATEGORIES))
        return {
            "tax": chance.choice(("moms", "VAT", "ÁFA", "PVM", "DPH")),
            "currency": chance.choice(("EUR", "SEK", "HUF")),
            "decimal": chance.choice(",."),
            "union": chance.random() < 0.5,
            "prices": "gross" if chance.random() < 0.3 else "net",
            "periods": periods[: chance.randint(1, 3)],
            "reduced": {names[0]: "", names[1]: self.day(2024).isoformat(), names[2]: ""},
            "exempt": chance.choice(([], [names[3]])),
            "rounding": chance.choice(RULES),
            "shipping": chance.choice(SHIPPING),
            "free_below": chance.choice((0, 0, 1500)),
            "coin": chance.choice((1, 1, 5, 10)),
            "return": chance.choice(("sums", "whole")),
            **given,
        }


def lines_of_json(records):
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def back_record(order, back, billed):
    items = [{"line": place, "quantity": count} for place, count in back]
    return {"invoice": order, "billed": billed, "items": items}

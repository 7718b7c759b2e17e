"""The books as they should be: exact fractions, no floats, both rounding rules."""

import json
from collections import Counter
from datetime import date, timedelta
from fractions import Fraction

BASE = "EUR"
BUILT_IN = ("bank", "cash", "fx", "revenue:fees", "suspense")


def half_up(value):
    return int(value + Fraction(1, 2))


def half_even(value):
    return round(value)


class Rule:
    def __init__(self, name, rounded, place):
        self.name, self.rounded, self.place = name, rounded, place


OLD = Rule("half up", half_up, lambda shares: 0)
NEW = Rule("half to even", half_even, lambda shares: shares.index(max(shares)))


class Config:
    """The files of a configuration, made up for each check."""

    def __init__(self, random, snapshot_every=None):
        self.random = random
        codes = set()
        while len(codes) < 5:
            codes.add("".join(random.choices("BCDFGHKLMNPQRSTVWXZ", k=3)))
        order = random.sample(sorted(codes), 5)
        self.decimals = {BASE: 2, **dict(zip(order, (0, 2, 3, 0, 4)))}
        self.whole, self.cents, self.mils, self.whole_2, self.tiny = order
        self.foreign = order
        self.snapshot_every = snapshot_every or random.choice((5, 11, 100))
        self.first = date(2024, 1, 1) + timedelta(days=random.randrange(200))
        self.rates = []
        self.fees = [
            {"from": self.day(-400), "percent": random.choice(("2.5", "4.5", "7.5")), "fixed": random.choice(("0.30", "0.45"))},
            {"from": self.day(20), "percent": random.choice(("1.25", "3.5", "5.5")), "fixed": random.choice(("0.35", "0.60"))},
            {"from": self.day(40), "percent": random.choice(("2.9", "3.7", "6.1")), "fixed": "0.25"},
        ]
        sizes = {self.whole: (90, 200), self.cents: (0.5, 9), self.mils: (0.2, 0.5), self.whole_2: (900, 1600), self.tiny: (0.02, 0.05)}
        for code in order:
            low, high = sizes[code]
            days = sorted(random.sample(range(1, 60), 9)) + [0]
            for at in sorted(days):
                self.rates.append((self.day(at), code, self._rate(code, low, high)))

    def _rate(self, code, low, high):
        """One with which no fixed part of a fee comes to one half: the rules must not differ on all sales of a day."""
        while True:
            text = f"{self.random.uniform(low, high):.{self.random.randint(2, 5)}f}"
            fixed = [Fraction(rule["fixed"]) * Fraction(text) * 10 ** self.decimals[code] for rule in self.fees]
            if Fraction(text) and all(one.denominator != 2 for one in fixed):
                return text

    def day(self, at):
        return (self.first + timedelta(days=at)).isoformat()

    def any_day(self, low=0, high=60):
        return self.day(self.random.randint(low, high))

    def write(self, host, folder):
        table = {code: {"decimals": digits, "name": f"Money of {code}"} for code, digits in self.decimals.items()}
        host.put(f"{folder}/currencies.json", json.dumps({"base": BASE, "currencies": table}))
        host.put(f"{folder}/fees.json", json.dumps(self.fees))
        host.put(f"{folder}/settings.json", json.dumps({"flushMs": 250, "snapshotEvery": self.snapshot_every}))
        self.write_rates(host, folder)
        host.config = folder

    def write_rates(self, host, folder):
        host.put(f"{folder}/rates.csv", "\n".join(["date,currency,rate", *map(",".join, self.rates), ""]))

    # -- amounts

    def text(self, amount, code=BASE):
        digits = self.decimals[code]
        sign, plain = ("-" if amount < 0 else ""), str(abs(amount)).rjust(digits + 1, "0")
        return sign + (plain if digits == 0 else f"{plain[:-digits]}.{plain[-digits:]}")

    def number(self, text, code=BASE):
        return int(Fraction(text) * 10 ** self.decimals[code])

    def rate(self, code, day):
        if code == BASE:
            return Fraction(1)
        found = None
        for row in self.rates:
            if row[1] == code and row[0] <= day and (found is None or row[0] >= found[0]):
                found = row
        return None if found is None else Fraction(found[2])

    def exact(self, amount, source, target, day):
        """What an amount comes to, not rounded; None where there is no rate."""
        sold, bought = self.rate(source, day), self.rate(target, day)
        if sold is None or bought is None:
            return None
        return Fraction(amount, 10 ** self.decimals[source]) / sold * bought * 10 ** self.decimals[target]

    def fee_rule(self, day):
        found = {"percent": "0", "fixed": "0"}
        for rule in self.fees:
            if rule["from"] <= day:
                found = rule
        return found

    def fee(self, gross, code, day, rule):
        found = self.fee_rule(day)
        percentage = rule.rounded(gross * Fraction(found["percent"]) / 100)
        fixed = self.exact(self.number(found["fixed"]), BASE, code, day)
        return min(gross, percentage + rule.rounded(fixed))

    def parts(self, amount, shares, rule):
        parts = [rule.rounded(Fraction(amount * share, sum(shares))) for share in shares]
        parts[rule.place(shares)] += amount - sum(parts)
        return parts

    def sale(self, gross, code, day, sellers, rule):
        """The lines of a sale."""
        fee = self.fee(gross, code, day, rule)
        parts = self.parts(gross - fee, [share for _, share in sellers], rule)
        lines = [("cash", code, gross), ("revenue:fees", code, -fee)]
        lines += [(account, code, -part) for (account, _), part in zip(sellers, parts)]
        return [line for line in lines if line[2]]

    def both(self, gross, code, day, sellers):
        """The same lines, where both rules agree; else None."""
        old, new = (self.sale(gross, code, day, sellers, rule) for rule in (OLD, NEW))
        return old if old == new else None

    def looks_the_same_to_floats(self, gross, day):
        """Whether a program that reckons in floats finds the same percentage."""
        percent = self.fee_rule(day)["percent"]
        return int(gross * float(percent) / 100 + 0.5) == half_up(gross * Fraction(percent) / 100)


def totals(lines):
    """Lines as what they come to on each account, by currency."""
    found = Counter()
    for account, code, amount in lines:
        found[account, code] += amount
    return Counter({key: amount for key, amount in found.items() if amount})


def canonical(entry, text):
    lines = sorted([account, code, text(amount, code)] for account, code, amount in entry["lines"])
    shown = {"id": entry["id"], "booked": entry["booked"], "date": entry["date"], "memo": entry["memo"], "lines": lines}
    shown.update({key: entry[key] for key in ("reverses", "corrects") if entry.get(key)})
    return json.dumps(shown, ensure_ascii=False, separators=(",", ":"))

"""One case of a check: what clients book, compared with the model."""

import json
from collections import Counter

from oracle import BASE, BUILT_IN, NEW, OLD, totals
from service import Call, Wrong


class Play:
    """Each case has accounts of its own; of those that every set of books has, it compares what it has added."""

    def __init__(self, host, config, random, number, header="", refuse=0):
        self.host, self.config, self.random, self.number = host, config, random, number
        self.header, self.refuse = header, refuse
        self.booked = []
        """All entries of this case: id, booked, date, memo, lines, reverses, corrects."""
        self.own = []
        self._before = None

    # -- asking

    def send(self, method, path, body=None, key=None):
        return self.host.ask(self.call(method, path, body, key))

    def call(self, method, path, body=None, key=None):
        return Call(method, path, body, [] if key is None else [(self.header, key)])

    def expect(self, status, method, path, body=None, key=None):
        answer = self.send(method, path, body, key)
        if answer.status != status:
            raise Wrong(f"{self.call(method, path, body, key)}: expected {status}, saw {answer}")
        return answer.data

    def refused(self, statuses, method, path, body=None, key=None):
        """Sends what is to be refused, with a sentence."""
        statuses = {statuses} if isinstance(statuses, int) else set(statuses)
        answer = self.send(method, path, body, key)
        call = self.call(method, path, body, key)
        if answer.status not in statuses:
            raise Wrong(f"{call}: expected {' or '.join(map(str, sorted(statuses)))}, saw {answer}")
        error = answer.data.get("error") if isinstance(answer.data, dict) else None
        if not isinstance(error, str) or not error.strip():
            raise Wrong(f"{call}: expected a sentence as error, saw {answer}")

    def word(self, size=6):
        return "".join(self.random.choices("abcdefghjkmnpqrstuvwxyz", k=size))

    def key(self):
        return "".join(self.random.choices("0123456789abcdefXYZ-._", k=14))

    # -- accounts and bodies

    def open(self, kind="seller"):
        account = f"{kind}:{self.word(7)}"
        self.expect(201, "POST", "/accounts", {"id": account, "name": self.word().title(), "kind": kind})
        self.own.append(account)
        return account

    def begin(self):
        """Notes what is on the accounts that all cases share."""
        self._before = self.balances() if self._before is None else self._before
        return self

    def amount(self, code, low=5, high=900):
        """A round number of units, and some of the smallest coins."""
        return self.random.randint(low * 10 ** self.config.decimals[code], high * 10 ** self.config.decimals[code])

    def body(self, lines, **more):
        rows = [{"account": account, "currency": code, "amount": self.config.text(amount, code)} for account, code, amount in lines]
        return {"lines": rows, **more}

    # -- booking, and comparing with the model

    def book(self, path, body, lines, date, memo=None, key=None):
        answer = self.send("POST", path, body, key)
        if answer.status != 201:
            raise Wrong(f"{self.call('POST', path, body, key)}: expected 201, saw {answer}")
        self.know(answer.data, lines, date, memo)
        return answer

    def know(self, seen, lines, date, memo=None, **more):
        """Compares an entry with what it should be, and takes it into the model."""
        entry = self.same_entry(seen, lines, date, memo, **more)
        if any(one["id"] == entry["id"] for one in self.booked):
            raise Wrong(f"entry {entry['id']} was there already")
        self.booked.append(entry)
        return entry

    def same_entry(self, seen, lines, date, memo=None, reverses=None, corrects=None):
        entry = read_entry(seen, self.config)
        what = f"entry {entry['id']}"
        if totals(entry["lines"]) != totals(lines):
            raise Wrong(f"{what}: expected {self.shown(lines)}, saw {self.shown(entry['lines'])}")
        wanted = {"date": date, "reverses": reverses, "corrects": corrects} | ({} if memo is None else {"memo": memo})
        for name, value in wanted.items():
            if entry[name] != value:
                raise Wrong(f"{what}: expected {name} {value!r}, saw {entry[name]!r}")
        return entry

    def shown(self, lines):
        return ", ".join(f"{account} {self.config.text(amount, code)} {code}" for account, code, amount in sorted(lines))

    def entry(self, lines, date=None, memo=None, key=None):
        date, memo = date or self.config.any_day(), self.word() if memo is None else memo
        return self.book("/entries", self.body(lines, date=date, memo=memo), lines, date, memo, key).data["id"]

    def give(self, account, code, amount, date=None):
        """Lets us owe a seller something."""
        return self.entry([("suspense", code, amount), (account, code, -amount)], date or self.config.day(0))

    def sale_body(self, gross, code, day, sellers, order=None):
        rows = [{"account": account, "share": share} for account, share in sellers]
        body = {"order": order or self.word(), "gross": self.config.text(gross, code), "sellers": rows, "date": day}
        return body if code == BASE and self.random.random() < 0.5 else {**body, "currency": code}

    def sell(self, gross, code, day, sellers, lines=None, key=None):
        lines = lines or self.config.both(gross, code, day, sellers)
        body = self.sale_body(gross, code, day, sellers)
        return self.book("/sales", body, lines, day, f"sale {body['order']}", key)

    def agreeing_sale(self, code, day, accounts, low=5, high=900):
        """Gross and sellers with which both rules come to the same."""
        while True:
            sellers = [(account, self.random.randint(1, 9)) for account in accounts]
            gross = self.amount(code, low, high)
            if self.config.both(gross, code, day, sellers) and (code != BASE or self.config.looks_the_same_to_floats(gross, day)):
                return gross, sellers

    def pay(self, account, code, amount, date=None, key=None):
        date = date or self.config.any_day()
        body = {"account": account, "amount": self.config.text(amount, code), "date": date, "memo": self.word(), "currency": code}
        return self.book("/payouts", body, [(account, code, amount), ("bank", code, -amount)], date, body["memo"], key)

    def conversion_lines(self, account, source, target, amount, day, rule):
        got = rule.rounded(self.config.exact(amount, source, target, day))
        return [(account, source, amount), ("fx", source, -amount), (account, target, -got), ("fx", target, got)]

    def conversion_body(self, account, source, target, amount, day):
        return {"account": account, "from": source, "to": target, "amount": self.config.text(amount, source), "date": day}

    def convert(self, account, source, target, amount, day, rule=None, key=None):
        old, new = (self.conversion_lines(account, source, target, amount, day, one) for one in (OLD, NEW))
        assert rule or old == new
        lines = new if rule is NEW else old
        return self.book("/conversions", self.conversion_body(account, source, target, amount, day), lines, day, None, key)

    def agreeing_amount(self, source, target, day, low=5, high=900):
        while True:
            amount = self.amount(source, low, high)
            exact = self.config.exact(amount, source, target, day)
            if OLD.rounded(exact) == NEW.rounded(exact) > 0:
                return amount

    def correct(self, number, lines=None, date=None, memo=None, key=None):
        """Takes an entry of this case back, and books what should have been there."""
        wrong = next(one for one in self.booked if one["id"] == number)
        body = {} if lines is None else self.body(lines)
        body |= ({} if date is None else {"date": date}) | ({} if memo is None else {"memo": memo})
        answer = self.send("POST", f"/entries/{number}/correction", body, key)
        if answer.status != 201 or not isinstance(answer.data, dict):
            raise Wrong(f"correction of {number}: expected 201, saw {answer}")
        back = [(account, code, -amount) for account, code, amount in wrong["lines"]]
        self.know(answer.data.get("reversal"), back, wrong["date"], f"reversal of {number}", reverses=number)
        if lines is None:
            if answer.data.get("entry", 0) is not None:
                raise Wrong(f"correction of {number} without lines: expected null as entry, saw {answer}")
            return answer
        self.know(answer.data.get("entry"), lines, date or wrong["date"], wrong["memo"] if memo is None else memo, corrects=number)
        return answer

    # -- looking

    def balances(self, query=""):
        return read_balances(self.expect(200, "GET", f"/balances{query}"), self.config)

    def model(self, date="9999", known="9999"):
        found = Counter()
        for entry in self.booked:
            if entry["date"] <= date and entry["booked"][:10] <= known:
                found.update(totals(entry["lines"]))
        return Counter({key: amount for key, amount in found.items() if amount})

    def look(self):
        """Compares all balances with the model."""
        seen = self.balances()
        self.compare(seen, self.model(), self._before)

    def compare(self, seen, wanted, before=None, what="balances"):
        conserved(seen, what)
        for key in {*seen, *wanted}:
            account, code = key
            if account in self.own or (before is not None and account in BUILT_IN):
                given = (before or Counter())[key] if account in BUILT_IN else 0
                if seen[key] != wanted[key] + given:
                    raise Wrong(
                        f"{what}: {account} should have {self.config.text(wanted[key] + given, code)} {code}, "
                        f"and has {self.config.text(seen[key], code)}"
                    )

    def entries_seen(self):
        """All entries of the service, by their ids."""
        rows = self.expect(200, "GET", "/entries")
        if not isinstance(rows, list):
            raise Wrong(f"/entries: expected a list, saw {str(rows)[:150]}")
        found = [read_entry(row, self.config) for row in rows]
        if len({one["id"] for one in found}) != len(found):
            raise Wrong("/entries: an id is there twice")
        return {one["id"]: one for one in found}

    def look_at_entries(self):
        seen = self.entries_seen()
        for entry in self.booked:
            same(f"entry {entry['id']}", seen.get(entry["id"]), entry)


def same(what, seen, wanted):
    if seen is None:
        raise Wrong(f"{what} is not there")
    for name, value in wanted.items():
        one, other = (totals(value), totals(seen[name])) if name == "lines" else (value, seen.get(name))
        if one != other:
            raise Wrong(f"{what}: {name} should be {one!r}, and is {other!r}")


def conserved(seen, what):
    sums = Counter()
    for (_, code), amount in seen.items():
        sums[code] += amount
    if wrong := {code: amount for code, amount in sums.items() if amount}:
        raise Wrong(f"{what}: the accounts do not come to 0 but to {wrong}")


# -- what came back, as data


def read_amount(text, code, config):
    if not isinstance(text, str) or code not in config.decimals:
        raise Wrong(f"expected an amount as text in a currency that there is, saw {text!r} {code!r}")
    try:
        amount = config.number(text, code)
    except (ValueError, ZeroDivisionError):
        raise Wrong(f"expected an amount in {code}, saw {text!r}") from None
    if config.text(amount, code) != text:
        raise Wrong(f"expected an amount in {code} with {config.decimals[code]} decimals, saw {text!r}")
    return amount


def read_entry(seen, config, base_only=False):
    if not isinstance(seen, dict) or type(seen.get("id")) is not int or not isinstance(seen.get("lines"), list):
        raise Wrong(f"expected an entry, saw {str(seen)[:200]}")
    lines = []
    for row in seen["lines"]:
        if not isinstance(row, dict):
            raise Wrong(f"expected an entry, saw {str(seen)[:200]}")
        code = BASE if base_only else row.get("currency")
        lines.append((str(row.get("account")), code, read_amount(row.get("amount"), code, config)))
    found = {name: seen.get(name) for name in ("id", "booked", "date", "memo", "reverses", "corrects")}
    if not isinstance(found["booked"], str) or not isinstance(found["date"], str):
        raise Wrong(f"expected an entry with booked and date, saw {str(seen)[:200]}")
    return {**found, "lines": lines}


def read_balances(rows, config, base_only=False):
    """Balances by account and currency, of the API or of --json."""
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Wrong(f"balances: expected a list of objects, saw {str(rows)[:150]}")
    found = Counter()
    for row in rows:
        balance = read_amount(row.get("balance"), BASE, config)
        if base_only:
            found[str(row.get("account")), BASE] = balance
            continue
        amounts = row.get("balances")
        if not isinstance(amounts, dict):
            raise Wrong(f"balances: expected balances by currency, saw {json.dumps(row)[:150]}")
        for code, text in amounts.items():
            found[str(row.get("account")), code] = read_amount(text, code, config)
        if found[str(row.get("account")), BASE] != balance:
            raise Wrong(f"balances: balance and balances differ, {json.dumps(row)[:150]}")
    return Counter({key: amount for key, amount in found.items() if amount})

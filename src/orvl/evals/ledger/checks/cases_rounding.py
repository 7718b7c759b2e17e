"""The rounding rule, at first and after it was turned round; and old bookings, which stay."""

import json
from fractions import Fraction

from oracle import BASE, NEW, OLD, totals
from play import Play, read_balances, read_entry
from service import Wrong


def _differing_sale(play, code, day, count, why):
    """A sale that the two rules book differently, for a reason."""
    config = play.config
    accounts = [f"seller:{number}" for number in range(count)]
    for _ in range(300_000):
        shares = [play.random.randint(1, 9) for _ in accounts]
        gross = play.random.randint(200, 99_999)
        if why(config, gross, code, day, shares):
            return gross, shares
    raise AssertionError(f"no sale for {why.__name__}")


def tie_of_the_fee(config, gross, code, day, shares):
    exact = gross * Fraction(config.fee_rule(day)["percent"]) / 100
    return exact.denominator == 2 and OLD.rounded(exact) != NEW.rounded(exact)


def odd_tie_of_the_fee(config, gross, code, day, shares):
    """Both rules go up: whoever always goes down at one half is found."""
    exact = gross * Fraction(config.fee_rule(day)["percent"]) / 100
    return exact.denominator == 2 and OLD.rounded(exact) == NEW.rounded(exact)


def _rest(config, gross, code, day, shares):
    return gross - config.fee(gross, code, day, OLD)


def _no_tie(config, gross, code, day):
    return (gross * Fraction(config.fee_rule(day)["percent"]) / 100).denominator != 2


def left_over(config, gross, code, day, shares):
    """Something is left over, and the largest share is not the first."""
    rest = _rest(config, gross, code, day, shares)
    exact = [Fraction(rest * share, sum(shares)) for share in shares]
    over = rest - sum(map(OLD.rounded, exact))
    return _no_tie(config, gross, code, day) and over > 0 and shares.index(max(shares)) > 0 and all(one.denominator != 2 for one in exact)


def missing(config, gross, code, day, shares):
    rest = _rest(config, gross, code, day, shares)
    exact = [Fraction(rest * share, sum(shares)) for share in shares]
    over = rest - sum(map(OLD.rounded, exact))
    return _no_tie(config, gross, code, day) and over < 0 and shares.index(max(shares)) > 0 and all(one.denominator != 2 for one in exact)


def equal_shares(config, gross, code, day, shares):
    """The largest share is there twice, behind a smaller one: the first of the two counts."""
    top = max(shares)
    return shares.count(top) > 1 and left_over(config, gross, code, day, shares)


def tie_of_a_part(config, gross, code, day, shares):
    rest = _rest(config, gross, code, day, shares)
    ties = [Fraction(rest * share, sum(shares)).denominator == 2 for share in shares]
    differ = config.parts(rest, shares, OLD) != config.parts(rest, shares, NEW)
    return _no_tie(config, gross, code, day) and any(ties) and differ


def _sells(why, count, rule, names=(BASE, "cents", "mils"), days=(5, 25)):
    def case(play):
        config = play.config
        play.begin()
        for name in names:
            code, day = (name if name == BASE else getattr(config, name)), config.day(play.random.choice(days))
            gross, shares = _differing_sale(play, code, day, count, why)
            sellers = [(play.open(), share) for share in shares]
            play.sell(gross, code, day, sellers, config.sale(gross, code, day, sellers, rule))
        play.look()

    case.__name__ = f"{why.__name__}_{rule.name.replace(' ', '_')}"
    return case


def _converts(rule, is_differing):
    def case(play):
        """Rates at which amounts come to one half."""
        config = play.config
        play.begin()
        ana = play.open()
        config.rates = [row for row in config.rates if row[1] != config.whole] + [(config.day(0), config.whole, "150.5")]
        config.write_rates(play.host, play.host.config)
        play.host.restart()
        done = 0
        while done < 4:
            amount = play.random.randint(100, 99_999)
            exact = config.exact(amount, BASE, config.whole, config.day(9))
            if exact.denominator == 2 and (OLD.rounded(exact) != NEW.rounded(exact)) == is_differing:
                play.give(ana, BASE, amount)
                play.convert(ana, BASE, config.whole, amount, config.day(9), rule)
                done += 1
        play.look()

    case.__name__ = f"converts_{rule.name.replace(' ', '_')}_{is_differing}"
    return case


def _fixed_fee(rule):
    def case(play):
        """The fixed part of a fee comes to one half."""
        config = play.config
        play.begin()
        ana, day = play.open(), config.day(2)
        fixed, code = config.number(config.fee_rule(day)["fixed"]), config.mils
        for _ in range(200_000):
            text = f"{play.random.randint(1, 400_000) / 1000:.3f}"
            found = Fraction(text) * fixed / 100 * 10 ** config.decimals[code]
            if found.denominator == 2 and OLD.rounded(found) != NEW.rounded(found) and found > 3:
                break
        config.rates = [row for row in config.rates if row[1] != code] + [(config.day(0), code, text)]
        config.write_rates(play.host, play.host.config)
        play.host.restart()
        for _ in range(200_000):
            gross = play.random.randint(int(found) * 4, int(found) * 90)
            percentage = gross * Fraction(config.fee_rule(day)["percent"]) / 100
            if OLD.rounded(percentage) == NEW.rounded(percentage):
                break
        play.sell(gross, code, day, [(ana, 2)], config.sale(gross, code, day, [(ana, 2)], rule))
        play.look()

    case.__name__ = f"fixed_part_{rule.name.replace(' ', '_')}"
    return case


def _rule_cases(rule):
    return (
        *(_sells(tie_of_the_fee, 1, rule), _sells(tie_of_the_fee, 3, rule), _sells(odd_tie_of_the_fee, 1, rule)),
        *(_sells(left_over, 3, rule), _sells(missing, 4, rule), _sells(equal_shares, 4, rule), _sells(tie_of_a_part, 2, rule)),
        *(_fixed_fee(rule), _converts(rule, True), _converts(rule, False)),
    )


HALF_UP, HALF_EVEN = _rule_cases(OLD), _rule_cases(NEW)


# -- old bookings


class OldBooks:
    """A journal as older versions wrote it, sales being kept as they were sold."""

    def __init__(self, play):
        self.play, self.config = play, play.config
        self.records, self.lines, self.accounts = [], {}, []
        self.sales = []
        self.clock = 0

    def record(self, **more):
        self.clock += self.play.random.randint(1, 9000)
        number = len(self.records) + 1
        at = f"2023-11-{1 + self.clock // 86_400_000 % 28:02}T{self.clock // 3_600_000 % 24:02}:{self.clock // 60_000 % 60:02}:{self.clock // 1000 % 60:02}.{self.clock % 1000:03}Z"
        self.records.append({"n": number, "at": at, **more})
        return number

    def account(self):
        name = f"seller:{self.play.word(7)}"
        self.record(do="account", id=name, name=name[7:].title(), kind="seller")
        self.accounts.append(name)
        return name

    def entry(self, lines, date, memo="", ref=None):
        rows = [[account, self.config.text(amount)] for account, amount in lines]
        number = self.record(do="entry", date=date, memo=memo, **({"ref": ref} if ref else {}), lines=rows)
        self.lines[number] = [(account, BASE, amount) for account, amount in lines]
        return number

    def sale(self, gross, day, sellers):
        order = self.play.word()
        number = self.record(do="sale", date=day, order=order, gross=self.config.text(gross), sellers=[list(one) for one in sellers])
        self.lines[number] = self.config.sale(gross, BASE, day, sellers, OLD)
        self.sales.append((number, gross, day, sellers, order))
        return number

    def content(self):
        return "".join(json.dumps(one, separators=(",", ":"), ensure_ascii=False) + "\n" for one in self.records)

    def write(self, folder):
        self.play.host.put(f"{folder}/journal.jsonl", self.content())
        return folder


def _old_sales(play, why, count, many=6):
    """Old books with sales that the new rule would book differently, and an entry or two."""
    config, books = play.config, OldBooks(play)
    accounts = [books.account() for _ in range(count)]
    for _ in range(many):
        day = config.day(play.random.choice((5, 25)))
        while True:
            gross, shares = _differing_sale(play, BASE, day, count, why)
            if config.looks_the_same_to_floats(gross, day):
                break
        books.sale(gross, day, list(zip(accounts, shares)))
    books.entry([(accounts[0], 500), ("suspense", -500)], config.day(30), play.word())
    play.own += accounts
    return books


def _compare_old(play, books, what):
    seen = read_balances(play.host.report("balances"), play.config)
    wanted = totals([line for lines in books.lines.values() for line in lines])
    if seen != wanted:
        differ = {key: (wanted[key], seen[key]) for key in {*seen, *wanted} if seen[key] != wanted[key]}
        raise Wrong(f"{what}: old bookings should be as they were; expected and seen: {differ}")


def _old_and_new(why, count):
    def case(play):
        """Old sales stay; a new one like them, on the same books, goes by the new rule."""
        config, books = play.config, _old_sales(play, why, count)
        play.host.start(books.write(f"{play.host.folder}/old{play.number}"))
        play.begin()
        seen = play.entries_seen()
        for number, lines in books.lines.items():
            if number not in seen or totals(seen[number]["lines"]) != totals(lines):
                raise Wrong(f"entry {number} of old books should be as it was, and is {str(seen.get(number))[:150]}")
        number, gross, day, sellers, _ = play.random.choice(books.sales)
        new = config.sale(gross, BASE, day, sellers, NEW)
        before = play.balances()
        play.sell(gross, BASE, day, sellers, new)
        after = play.balances()
        if after != before + totals(new) and totals([*_lines(after), *_negative(before)]) != totals(new):
            raise Wrong("a new sale on old books should move what it books, and nothing else")
        play.host.stop()
        if play.host.tally("rebuild").status != 0:
            raise Wrong("rebuild of old books: expected status 0")
        books.lines["new"] = new
        _compare_old(play, books, "after a rebuild")

    case.__name__ = f"old_{why.__name__}"
    return case


def _lines(balances):
    return [(account, code, amount) for (account, code), amount in balances.items()]


def _negative(balances):
    return [(account, code, -amount) for (account, code), amount in balances.items()]


def takes_old_sales_back(play):
    """A correction of an old sale takes back what was booked, not what it would be today; what is new goes by the new rule."""
    config, books = play.config, _old_sales(play, tie_of_the_fee, 1, 3)
    play.host.start(books.write(f"{play.host.folder}/old{play.number}"))
    number, gross, day, sellers, order = books.sales[0]
    seen = read_entry(play.expect(200, "GET", f"/entries/{number}"), config)
    play.booked.append({**seen, "lines": books.lines[number]})
    play.correct(number)
    play.sell(gross, BASE, day, sellers, config.sale(gross, BASE, day, sellers, NEW))


def reports_old_fees(play):
    config, books = play.config, _old_sales(play, tie_of_the_fee, 1, 5)
    play.host.start(books.write(f"{play.host.folder}/old{play.number}"))
    _, gross, day, sellers, _ = books.sales[0]
    new = config.sale(gross, BASE, day, sellers, NEW)
    play.sell(gross, BASE, day, sellers, new)
    month = day[:7]
    fees = -sum(
        amount
        for lines, at in [(books.lines[one[0]], one[2]) for one in books.sales] + [(new, day)]
        for account, _, amount in lines
        if account == "revenue:fees" and at[:7] == month
    )
    seen = play.expect(200, "GET", f"/reports/fees?month={month}")
    if not isinstance(seen, dict) or seen.get("total") != config.text(fees):
        raise Wrong(f"fees of {month}: expected {config.text(fees)}, saw {str(seen)[:150]}")


OLD_BOOKINGS = (
    *(_old_and_new(tie_of_the_fee, 1), _old_and_new(left_over, 3), _old_and_new(missing, 4)),
    *(_old_and_new(tie_of_a_part, 2), _old_and_new(equal_shares, 4), takes_old_sales_back, reports_old_fees),
    _old_and_new(tie_of_the_fee, 2),
)
__all__ = ["HALF_EVEN", "HALF_UP", "OLD_BOOKINGS", "OldBooks", "Play"]

"""Several currencies: entries, payouts, conversions, sales, bank statements."""

from collections import Counter
from fractions import Fraction

from oracle import BASE, BUILT_IN, NEW, OLD
from play import conserved, read_amount, read_balances, same
from service import Wrong


# -- currencies are kept apart


def books_several_at_once(play):
    config = play.config
    play.begin()
    ana, other = play.open(), play.open("other")
    for _ in range(3):
        lines = []
        for code in play.random.sample(sorted(config.decimals), 3):
            amount = play.amount(code) * play.random.choice((1, -1))
            lines += [(ana, code, amount), (other, code, -amount)]
        play.random.shuffle(lines)
        number = play.entry(lines)
        same(f"entry {number}", play.same_entry(play.expect(200, "GET", f"/entries/{number}"), lines, play.booked[-1]["date"]), play.booked[-1])
    play.look()
    play.look_at_entries()


def writes_all_decimals(play):
    config = play.config
    ana, other = play.open(), play.open("other")
    for code in config.decimals:
        digits = config.decimals[code]
        for texts in (("7", "-7"), (f"{'1.5' if digits else '15'}", f"-{'1.5' if digits else '15'}")):
            rows = [{"account": one, "amount": text, "currency": code} for one, text in zip((ana, other), texts)]
            lines = [(one, code, config.number(text, code)) for one, text in zip((ana, other), texts)]
            play.book("/entries", {"lines": rows, "date": config.day(3)}, lines, config.day(3), "")
    play.look()


def refuses_more_decimals(play):
    config = play.config
    ana, other = play.open(), play.open("other")
    for code, digits in config.decimals.items():
        wrong = "1." + "0" * digits + "1"
        rows = [{"account": one, "amount": text, "currency": code} for one, text in ((ana, wrong), (other, f"-{wrong}"))]
        play.refused(400, "POST", "/entries", {"lines": rows})
        play.entry([(ana, code, 12), (other, code, -12)])
    play.look()


def comes_to_0_in_each(play):
    config = play.config
    ana, other = play.open(), play.open("other")
    one, two = play.random.sample(config.foreign, 2)
    play.refused(422, "POST", "/entries", {"lines": [{"account": ana, "amount": "5", "currency": one}, {"account": other, "amount": "-5", "currency": two}]})
    play.refused(422, "POST", "/entries", {"lines": [{"account": ana, "amount": "5", "currency": one}, {"account": other, "amount": "-5"}]})
    play.refused(422, "POST", "/entries", play.body([(ana, one, 9), (other, one, -9), (ana, two, 3), (other, two, -4)]))
    play.entry([(ana, one, 9), (other, one, -9), (ana, two, 3), (other, two, -3)])
    play.look()


def refuses_unknown_currencies(play):
    ana, other = play.open(), play.open("other")
    for code in ("QQQ", "eur", "", 5):
        rows = [{"account": ana, "amount": "5", "currency": code}, {"account": other, "amount": "-5", "currency": code}]
        play.refused(400, "POST", "/entries", {"lines": rows})
    code = play.random.choice(play.config.foreign)
    play.entry([(ana, code, 70), (other, code, -70)])
    play.refused(400, "POST", "/payouts", {"account": ana, "amount": "1", "currency": "QQQ"})
    play.look()


def is_in_base_without_one(play):
    config = play.config
    ana, other = play.open(), play.open("other")
    rows = [{"account": ana, "amount": "12.30"}, {"account": other, "amount": "-12.3"}]
    play.book("/entries", {"lines": rows, "date": config.day(2)}, [(ana, BASE, 1230), (other, BASE, -1230)], config.day(2))
    play.entry([(ana, config.whole, 500), (other, config.whole, -500)])
    seen = play.expect(200, "GET", f"/accounts/{ana}")
    shown = seen.get("balances") if isinstance(seen, dict) else None
    if not isinstance(shown, dict) or seen.get("balance") != "12.30" or shown != {BASE: "12.30", config.whole: "500"}:
        raise Wrong(f"/accounts/{ana}: expected 12.30 {BASE} and 500 {config.whole}, saw {str(seen)[:200]}")
    play.entry([(other, config.whole, 500), (ana, config.whole, -500)])
    seen = play.expect(200, "GET", f"/accounts/{ana}")
    if not isinstance(seen, dict) or seen.get("balances") != {BASE: "12.30"}:
        raise Wrong(f"/accounts/{ana}: expected balances with {BASE} alone, saw {str(seen)[:200]}")
    play.look()


def pays_out_by_currency(play):
    config = play.config
    play.begin()
    ana = play.open()
    one, two = play.random.sample(sorted(config.decimals), 2)
    owed = {code: play.amount(code, 20, 90) for code in (one, two)}
    for code, amount in owed.items():
        play.give(ana, code, amount)
        play.refused(422, "POST", "/payouts", {"account": ana, "amount": config.text(amount + 1, code), "currency": code})
    third = next(code for code in config.decimals if code not in owed)
    play.refused(422, "POST", "/payouts", {"account": ana, "amount": "1", "currency": third})
    for code, amount in owed.items():
        part = play.random.randint(1, amount - 1)
        play.pay(ana, code, part)
        play.refused(422, "POST", "/payouts", {"account": ana, "amount": config.text(amount - part + 1, code), "currency": code})
        play.pay(ana, code, amount - part)
    play.look()


def has_trial_rows_by_currency(play):
    config = play.config
    ana, other = play.open(), play.open("other")
    for code in config.decimals:
        play.entry([(ana, code, 40), (other, code, -40)], config.day(9))
    play.entry([(ana, config.mils, 2), (other, config.mils, -2)], config.day(11))
    for query, wanted in (("", 42), (f"?date={config.day(10)}", 40)):
        compare_trial(play, play.expect(200, "GET", f"/reports/trial{query}"), play.model(config.day(10) if query else "9999"))
    compare_trial(play, play.host.report("trial", "--date", config.day(10)), play.model(config.day(10)), False)


def compare_trial(play, seen, wanted, is_all=True):
    rows = seen.get("rows") if isinstance(seen, dict) else None
    if not isinstance(rows, list) or read_amount(seen.get("sum"), BASE, play.config) != 0:
        raise Wrong(f"trial: expected rows and the sum 0.00, saw {str(seen)[:200]}")
    found = Counter()
    for row in rows:
        if not isinstance(row, dict):
            raise Wrong(f"trial: expected rows, saw {str(rows)[:150]}")
        code = row.get("currency")
        found[str(row.get("account")), code] += read_amount(row.get("balance"), code, play.config)
    conserved(found, "trial")
    # A command beside the service need not see what was booked in this very moment, before the last turn.
    own = {key: amount for key, amount in found.items() if key[0] in play.own}
    if is_all and own != dict(wanted):
        raise Wrong(f"trial: expected {dict(wanted)}, saw {own}")


def goes_on_after_a_restart(play):
    config = play.config
    ana, other = play.open(), play.open("other")
    for _ in range(12):
        code = play.random.choice(sorted(config.decimals))
        amount = play.amount(code)
        play.entry([(ana, code, amount), (other, code, -amount)])
    play.host.restart()
    play.look()
    play.look_at_entries()
    play.entry([(ana, config.tiny, 5), (other, config.tiny, -5)])
    play.host.stop()
    if play.host.tally("rebuild").status != 0:
        raise Wrong("rebuild: expected status 0")
    play.compare(read_balances(play.host.report("balances"), config), play.model(), what="balances --json")
    play.host.start()
    play.look()
    play.look_at_entries()


def session(play):
    """A week's bookings in all currencies."""
    config = play.config
    play.begin()
    sellers, other = [play.open() for _ in range(3)], play.open("other")
    for _ in range(35):
        code, account = play.random.choice(sorted(config.decimals)), play.random.choice(sellers)
        kind = play.random.random()
        owed = -play.model()[account, code]
        if kind < 0.4 or owed <= 0:
            play.give(account, code, play.amount(code))
        elif kind < 0.6:
            play.pay(account, code, play.random.randint(1, owed))
        elif kind < 0.7:
            play.refused(422, "POST", "/payouts", {"account": account, "amount": config.text(owed + 1, code), "currency": code})
        else:
            amount = play.amount(code) * play.random.choice((1, -1))
            play.entry([(other, code, amount), (account, code, -amount)])
    play.look()
    day = config.any_day()
    play.compare(play.balances(f"?date={day}"), play.model(day), what=f"balances of {day}")


APART = (
    *(books_several_at_once, writes_all_decimals, refuses_more_decimals, comes_to_0_in_each, refuses_unknown_currencies),
    *(is_in_base_without_one, pays_out_by_currency, has_trial_rows_by_currency, goes_on_after_a_restart, session),
)


# -- conversions


def _converts(play, source, target, days):
    play.begin()
    ana = play.open()
    for day in days:
        amount = play.agreeing_amount(source, target, day)
        play.give(ana, source, amount)
        play.convert(ana, source, target, amount, day)
    play.look()


def converts_from_base(play):
    config = play.config
    for target in (config.whole, config.mils):
        _converts(play, BASE, target, [config.any_day() for _ in range(3)])


def converts_to_base(play):
    config = play.config
    for source in (config.cents, config.whole_2):
        _converts(play, source, BASE, [config.any_day() for _ in range(3)])


def converts_across(play):
    config = play.config
    for source, target in ((config.mils, config.whole_2), (config.whole, config.tiny), (config.tiny, config.cents)):
        _converts(play, source, target, [config.any_day() for _ in range(2)])


def does_not_round_on_the_way(play):
    """Amounts for which rounding in the base currency gives another result."""
    config = play.config
    play.begin()
    ana = play.open()
    done = 0
    while done < 4:
        source, target, day = config.whole, config.whole_2, config.any_day()
        amount = play.agreeing_amount(source, target, day)
        on_the_way = OLD.rounded(config.exact(amount, source, BASE, day))
        if OLD.rounded(config.exact(on_the_way, BASE, target, day)) != OLD.rounded(config.exact(amount, source, target, day)):
            play.give(ana, source, amount)
            play.convert(ana, source, target, amount, day)
            done += 1
    play.look()


def takes_the_rate_of_the_day(play):
    """On the day of a rate, the day before, and long after the last one."""
    config = play.config
    code = config.cents
    days = sorted(row[0] for row in config.rates if row[1] == code)
    before = [config.day(at) for at in range(1, 60) if config.day(at + 1) in days]
    _converts(play, BASE, code, [*play.random.sample(days, 3), *play.random.sample(before, 3), config.day(300)])


def takes_the_last_row_of_a_day(play):
    """Rows may come late, and twice: the last one in the file counts, by their days."""
    config = play.config
    late = config.day(22)
    config.rates = [row for row in config.rates if not (row[1] == config.mils and row[0] > config.day(15))]
    config.rates += [(config.day(30), config.mils, "0.4123"), (late, config.mils, "0.3001"), (config.day(30), config.mils, "0.4"), (late, config.mils, "0.29875")]
    config.write_rates(play.host, play.host.config)
    play.host.restart()
    _converts(play, BASE, config.mils, [late, config.day(29), config.day(30), config.day(45)])


def refuses_days_without_a_rate(play):
    config = play.config
    play.begin()
    ana = play.open()
    play.give(ana, BASE, 90_000)
    play.give(ana, config.cents, 90_000)
    early = config.day(-1)
    play.refused(422, "POST", "/conversions", play.conversion_body(ana, BASE, config.cents, 5000, early))
    play.refused(422, "POST", "/conversions", play.conversion_body(ana, config.cents, BASE, 5000, early))
    amount = play.agreeing_amount(BASE, config.cents, config.day(0), 5, 800)
    play.convert(ana, BASE, config.cents, amount, config.day(0))
    play.look()


def refuses_what_cannot_be_converted(play):
    config = play.config
    play.begin()
    ana, other, day = play.open(), play.open("other"), config.any_day()
    play.give(ana, config.whole, 5000)
    play.entry([(other, BASE, -5000), ("suspense", BASE, 5000)])
    body = play.conversion_body(ana, config.whole, BASE, 5001, day)
    play.refused(422, "POST", "/conversions", body)
    play.refused(400, "POST", "/conversions", {**body, "amount": "10", "to": config.whole})
    play.refused(400, "POST", "/conversions", {**body, "amount": "10", "to": "QQQ"})
    play.refused(400, "POST", "/conversions", {**body, "amount": "10.5"})
    play.refused(422, "POST", "/conversions", {**body, "amount": "10", "account": "seller:nobody"})
    play.refused({400, 422}, "POST", "/conversions", {**body, "amount": "-10"})
    amount = play.agreeing_amount(config.whole, BASE, day, 500, 4000)
    play.convert(ana, config.whole, BASE, amount, day)
    play.refused(422, "POST", "/conversions", play.conversion_body(ana, config.whole, BASE, 5001 - amount, day))
    play.look()


def refuses_what_comes_to_nothing(play):
    config = play.config
    play.begin()
    ana, day = play.open(), config.any_day()
    play.give(ana, config.whole_2, 500)
    exact = config.exact(1, config.whole_2, BASE, day)
    assert 0 < exact < Fraction(1, 2)
    play.refused(422, "POST", "/conversions", play.conversion_body(ana, config.whole_2, BASE, 1, day))
    play.convert(ana, config.whole_2, BASE, play.agreeing_amount(config.whole_2, BASE, day, 50, 400), day)
    play.look()


def is_exact_for_large_amounts(play):
    config = play.config
    play.begin()
    ana = play.open()
    for _ in range(3):
        day = config.any_day()
        amount = play.agreeing_amount(config.tiny, config.cents, day, 10**8, 10**9)
        play.give(ana, config.tiny, amount)
        play.convert(ana, config.tiny, config.cents, amount, day)
    play.look()


def keeps_what_is_booked_when_rates_change(play):
    """A rate is corrected, another comes late; the journal is read again: nothing has moved."""
    config = play.config
    play.begin()
    ana, day = play.open(), config.day(12)
    amount = play.agreeing_amount(BASE, config.cents, day)
    play.give(ana, BASE, amount)
    play.convert(ana, BASE, config.cents, amount, day)
    gross, sellers = play.agreeing_sale(config.cents, day, [ana])
    play.sell(gross, config.cents, day, sellers)
    config.rates += [(day, config.cents, "3.21"), (config.day(11), config.cents, "4.5")]
    config.write_rates(play.host, play.host.config)
    play.host.stop()
    if play.host.tally("rebuild").status != 0:
        raise Wrong("rebuild: expected status 0")
    play.host.start()
    play.look()
    play.look_at_entries()
    amount = play.agreeing_amount(BASE, config.cents, day)
    play.give(ana, BASE, amount)
    play.convert(ana, BASE, config.cents, amount, day)
    play.look()


CONVERSIONS = (
    *(converts_from_base, converts_to_base, converts_across, does_not_round_on_the_way, takes_the_rate_of_the_day),
    *(refuses_days_without_a_rate, refuses_what_cannot_be_converted, refuses_what_comes_to_nothing),
    *(is_exact_for_large_amounts, takes_the_last_row_of_a_day, keeps_what_is_booked_when_rates_change),
)


# -- sales


def _sells(play, code, days, many=1):
    play.begin()
    accounts = [play.open() for _ in range(many)]
    for day in days:
        gross, sellers = play.agreeing_sale(code, day, accounts)
        play.sell(gross, code, day, sellers)
    play.look()


def _sells_in(name, many):
    def case(play):
        _sells(play, getattr(play.config, name), [play.config.any_day() for _ in range(4)], many)

    case.__name__ = f"sells_in_{name}_to_{many}"
    return case


def sells_in_base(play):
    _sells(play, BASE, [play.config.any_day() for _ in range(6)], 2)


def takes_the_fee_rule_of_the_day(play):
    config = play.config
    _sells(play, config.cents, [config.day(at) for at in (0, 19, 20, 39, 40, 41)])


def takes_no_more_than_was_sold(play):
    config = play.config
    play.begin()
    ana = play.open()
    for code in (BASE, config.cents, config.whole):
        fee = config.exact(25, BASE, code, config.day(45))
        gross = max(1, int(fee) // 2)
        assert config.fee(gross, code, config.day(45), OLD) == gross
        play.sell(gross, code, config.day(45), [(ana, 3)])
    gross, sellers = play.agreeing_sale(BASE, config.day(45), [ana])
    play.sell(gross, BASE, config.day(45), sellers)
    play.look()


def is_exact_where_floats_are_not(play):
    """Percentages at one half, which floats see just below it or above."""
    config = play.config
    ana = play.open()
    play.begin()
    found = 0
    for _ in range(200_000):
        gross, day = play.random.randint(100, 999_999), config.day(play.random.choice((25, 45)))
        exact = gross * Fraction(config.fee_rule(day)["percent"]) / 100
        if exact.denominator == 2 and not config.looks_the_same_to_floats(gross, day) and config.both(gross, BASE, day, [(ana, 1)]):
            play.sell(gross, BASE, day, [(ana, 1)])
            found += 1
            if found == 4:
                break
    gross, sellers = play.agreeing_sale(config.mils, config.day(25), [ana])
    play.sell(gross, config.mils, config.day(25), sellers)
    play.look()


def refuses_wrong_sales(play):
    config = play.config
    play.begin()
    ana, day = play.open(), config.day(25)
    good = play.sale_body(5000, config.whole, day, [(ana, 1)]) | {"currency": config.whole}
    play.refused(400, "POST", "/sales", {**good, "gross": "50.5"})
    play.refused(400, "POST", "/sales", {**good, "currency": "QQQ"})
    play.refused(422, "POST", "/sales", {**good, "date": config.day(-1)})
    play.refused(400, "POST", "/sales", {**good, "gross": "0"})
    gross, sellers = play.agreeing_sale(config.whole, day, [ana])
    play.sell(gross, config.whole, day, sellers)
    play.look()


def market_day(play):
    """Sales, payouts and conversions in turn."""
    config = play.config
    play.begin()
    sellers = [play.open() for _ in range(4)]
    for _ in range(30):
        code, day = play.random.choice(sorted(config.decimals)), config.any_day()
        account = play.random.choice(sellers)
        owed = -play.model()[account, code]
        kind = play.random.random()
        if kind < 0.55 or owed < 10 ** config.decimals[code]:
            gross, shares = play.agreeing_sale(code, day, play.random.sample(sellers, play.random.randint(1, 3)))
            play.sell(gross, code, day, shares)
        elif kind < 0.75:
            play.pay(account, code, play.random.randint(1, owed))
        else:
            target = play.random.choice([one for one in config.decimals if one != code])
            exact = config.exact(owed, code, target, day)
            if OLD.rounded(exact) == NEW.rounded(exact) > 0:
                play.convert(account, code, target, owed, day)
    play.look()


SALES = (
    *(_sells_in("whole", 1), _sells_in("cents", 2), _sells_in("mils", 3), _sells_in("tiny", 2)),
    *(sells_in_base, takes_the_fee_rule_of_the_day, takes_no_more_than_was_sold, is_exact_where_floats_are_not),
    *(refuses_wrong_sales, market_day),
)


# -- bank statements, by the command line


def written_by_a_bank(amount, digits, dots):
    sign, plain = ("-" if amount < 0 else ""), str(abs(amount)).rjust(digits + 1, "0")
    whole, part = (plain, "") if digits == 0 else (plain[:-digits], plain[-digits:])
    if dots:
        groups = []
        while whole:
            groups.insert(0, whole[-3:])
            whole = whole[:-3]
        whole = ".".join(groups)
    return f"{sign}{whole}" + (f",{part}" if part else "")


class Bank:
    """A statement, and what it should come to."""

    def __init__(self, play):
        self.play, self.rows, self.wanted = play, [], Counter()
        self.data = f"{play.host.folder}/bank{play.number}"

    def row(self, code, amount, text="", digits=None, is_good=True, reference=None):
        play = self.play
        day, month, year = reversed(play.config.any_day().split("-"))
        written = written_by_a_bank(amount, play.config.decimals.get(code, 2) if digits is None else digits, play.random.random() < 0.5)
        reference = reference or play.word(9).upper()
        self.rows.append((f"{day}.{month}.{year}", reference, text or play.word(), code, written))
        if is_good:
            self.wanted["bank", code] += amount
            self.wanted["suspense", code] -= amount
        return reference

    def send(self, **counts):
        play = self.play
        text = "\n".join(["Date;Reference;Text;Currency;Amount", *map(";".join, self.rows), ""])
        play.host.put(f"{self.data}.csv", text)
        seen = play.host.report("import", f"{self.data}.csv", data=self.data, statuses=(0, 1))
        wanted = {"booked": 0, "known": 0, "foreign": 0, "bad": 0} | counts
        if not isinstance(seen, dict) or {name: seen.get(name) for name in wanted} != wanted:
            raise Wrong(f"import: expected {wanted}, saw {str(seen)[:150]}")
        self.rows = []
        return self

    def look(self):
        seen = read_balances(self.play.host.report("balances", data=self.data), self.play.config)
        wanted = Counter({key: amount for key, amount in self.wanted.items() if amount})
        if seen != wanted:
            raise Wrong(f"balances behind an import: expected {dict(wanted)}, saw {dict(seen)}")


def imports_all_currencies(play):
    bank = Bank(play)
    for code in play.config.decimals:
        bank.row(code, play.amount(code))
        bank.row(code, -play.amount(code))
    bank.send(booked=2 * len(play.config.decimals)).look()


def imports_no_decimals(play):
    bank = Bank(play)
    for amount in (1250, 7, -120_000, 1_234_567):
        bank.row(play.config.whole, amount)
    bank.send(booked=4).look()


def imports_three_decimals(play):
    bank = Bank(play)
    for amount in (1_250_500, 5, -12_500, 999):
        bank.row(play.config.mils, amount)
    bank.send(booked=4).look()


def finds_other_decimals(play):
    bank = Bank(play)
    bank.row(play.config.whole, 1250, digits=2, is_good=False)
    bank.row(play.config.mils, 1250, digits=2, is_good=False)
    bank.row(BASE, 1250, digits=0, is_good=False)
    bank.row(play.config.cents, 1250)
    bank.row(play.config.whole, 1250)
    bank.send(booked=2, bad=3).look()


def finds_unknown_currencies(play):
    bank = Bank(play)
    bank.row("QQQ", 1250, is_good=False)
    bank.row(play.config.tiny, 1250)
    bank.send(booked=1, bad=1).look()


def imports_once(play):
    bank = Bank(play)
    code = play.random.choice(play.config.foreign)
    references = [bank.row(code, play.amount(code)) for _ in range(3)]
    bank.send(booked=3)
    for reference in references:
        bank.row(code, 5, is_good=False, reference=reference)
    bank.row(code, play.amount(code))
    bank.send(booked=1, known=3).look()


def posts_from_a_file(play):
    import json

    bank, config = Bank(play), play.config
    code = config.mils
    body = play.body([("bank", code, 1500), ("suspense", code, -1500), ("bank", BASE, -70), ("suspense", BASE, 70)], memo=play.word())
    play.host.put(f"{bank.data}.json", json.dumps(body))
    ended = play.host.tally("post", f"{bank.data}.json", data=bank.data)
    if ended.status != 0:
        raise Wrong(f"post: expected status 0, saw {ended.status} {ended.stderr[-150:]}")
    bank.wanted.update({("bank", code): 1500, ("suspense", code): -1500, ("bank", BASE): -70, ("suspense", BASE): 70})
    bank.look()
    body["lines"][0]["amount"] = "1.5001"
    play.host.put(f"{bank.data}.json", json.dumps(body))
    if play.host.tally("post", f"{bank.data}.json", data=bank.data).status != 1:
        raise Wrong("post of too many decimals: expected status 1")
    bank.look()


def shows_trial_of_statements(play):
    bank = Bank(play)
    for code in play.config.decimals:
        bank.row(code, play.amount(code))
    bank.send(booked=len(play.config.decimals))
    play.own = list(BUILT_IN)
    compare_trial(play, play.host.report("trial", data=bank.data), bank.wanted)


IMPORTS = (
    *(imports_all_currencies, imports_no_decimals, imports_three_decimals, finds_other_decimals),
    *(finds_unknown_currencies, imports_once, posts_from_a_file, shows_trial_of_statements),
)

"""Corrections: what is booked stays, and reports know what was known on a day."""

from datetime import datetime, timedelta

from oracle import BASE
from play import read_balances, same
from service import Wrong
from cases_currencies import compare_trial

ZONES = ("America/Los_Angeles", "Pacific/Auckland", "Asia/Tokyo", "America/New_York")


def _booked(play, many=2):
    """Entries to be corrected, and the accounts that they are on."""
    play.begin()
    ana, other = play.open(), play.open("other")
    numbers = []
    for _ in range(many):
        code = play.random.choice(sorted(play.config.decimals))
        amount = play.amount(code)
        numbers.append(play.entry([(ana, code, -amount), (other, code, amount)]))
    return ana, other, numbers


def _other_lines(play, ana, other):
    code = play.random.choice(sorted(play.config.decimals))
    amount = play.amount(code)
    return [(ana, code, -amount), (other, code, amount)]


def takes_back_and_books(play):
    ana, other, numbers = _booked(play, 3)
    shown = [play.expect(200, "GET", f"/entries/{number}") for number in numbers]
    for number in numbers:
        play.correct(number, _other_lines(play, ana, other), play.config.any_day(), play.word())
    if [play.expect(200, "GET", f"/entries/{number}") for number in numbers] != shown:
        raise Wrong("a corrected entry should be shown as ever")
    play.look()
    play.look_at_entries()


def takes_date_and_memo_of_the_entry(play):
    ana, other, (one, two, three) = _booked(play, 3)
    play.correct(one, _other_lines(play, ana, other))
    play.correct(two, _other_lines(play, ana, other), memo=play.word())
    play.correct(three, _other_lines(play, ana, other), date=play.config.any_day())
    play.look()
    play.look_at_entries()


def only_takes_back(play):
    _, _, numbers = _booked(play, 3)
    for number in numbers:
        play.correct(number)
    play.look()
    play.look_at_entries()


def is_nothing_on_each_day(play):
    """Reversal and entry have one date, whatever the new booking has."""
    config = play.config
    ana, other, (number,) = _booked(play, 1)
    play.correct(number, _other_lines(play, ana, other), config.day(70))
    for day in (play.booked[0]["date"], config.day(69), config.day(70)):
        play.compare(play.balances(f"?date={day}"), play.model(day), what=f"balances of {day}")


def corrects_a_correction(play):
    ana, other, (number,) = _booked(play, 1)
    for _ in range(3):
        answer = play.correct(number, _other_lines(play, ana, other), play.config.any_day())
        play.refused(409, "POST", f"/entries/{number}/correction", {})
        play.refused(409, "POST", f"/entries/{answer.data['reversal']['id']}/correction", {})
        number = answer.data["entry"]["id"]
    play.correct(number)
    play.look()
    play.look_at_entries()


def corrects_once(play):
    ana, other, (one, two) = _booked(play, 2)
    play.correct(one)
    play.refused(409, "POST", f"/entries/{one}/correction", play.body(_other_lines(play, ana, other)))
    play.refused(404, "POST", "/entries/99999999/correction", {})
    calls = [play.call("POST", f"/entries/{two}/correction", {}) for _ in range(6)]
    answers = play.host.ask_at_once(calls)
    if sorted(answer.status for answer in answers) != [201] + [409] * 5:
        raise Wrong(f"six corrections of one entry at once: saw {[answer.status for answer in answers]}")
    wrong = next(one for one in play.booked if one["id"] == two)
    won = next(answer for answer in answers if answer.status == 201)
    back = [(account, code, -amount) for account, code, amount in wrong["lines"]]
    play.know(won.data.get("reversal"), back, wrong["date"], reverses=two)
    play.look()


def books_both_or_none(play):
    """New lines that cannot be booked: the entry is not taken back either."""
    ana, other, (number,) = _booked(play, 1)
    code = play.config.mils
    where = f"/entries/{number}/correction"
    play.refused(422, "POST", where, play.body([(ana, code, 5), (other, code, -4)]))
    play.refused(422, "POST", where, play.body([(ana, code, 5), ("seller:nobody", code, -5)]))
    play.refused(400, "POST", where, {"lines": [{"account": ana, "amount": "1.00001", "currency": code}, {"account": other, "amount": "-1.00001", "currency": code}]})
    play.refused(400, "POST", where, play.body(_other_lines(play, ana, other), date="2024-02-30"))
    play.look()
    play.look_at_entries()
    play.correct(number, _other_lines(play, ana, other))
    play.look()


def corrects_whatever_was_booked(play):
    """Sales, payouts, conversions."""
    config = play.config
    play.begin()
    ana, day = play.open(), config.any_day()
    gross, sellers = play.agreeing_sale(config.cents, day, [ana], 300, 900)
    sale = play.sell(gross, config.cents, day, sellers).data["id"]
    owed = -play.model()[ana, config.cents]
    payout = play.pay(ana, config.cents, owed // 5).data["id"]
    amount = play.agreeing_amount(config.cents, BASE, day, 5, 50)
    conversion = play.convert(ana, config.cents, BASE, amount, day).data["id"]
    for number in play.random.sample([sale, payout, conversion], 3):
        play.correct(number)
    play.look()
    play.look_at_entries()


def counts_a_key_once(play):
    ana, other, (one, two) = _booked(play, 2)
    keys, lines = (play.key(), play.key()), _other_lines(play, ana, other)
    first = play.correct(one, lines, key=keys[0])
    second = play.correct(two, key=keys[1])
    for number, body, key, answer in ((one, play.body(lines), keys[0], first), (two, {}, keys[1], second)) * 2:
        again = play.send("POST", f"/entries/{number}/correction", body, key)
        if not again.same_as(answer):
            raise Wrong(f"a correction sent again with its key: expected the first answer {answer}, saw {again}")
    play.refused(play.refuse, "POST", f"/entries/{one}/correction", {}, keys[0])
    play.refused(play.refuse, "POST", f"/entries/{two}/correction", {}, keys[0])
    play.refused(play.refuse, "POST", f"/entries/{one}/correction", {}, keys[1])
    play.look()


def stays_after_a_restart(play):
    ana, other, numbers = _booked(play, 6)
    key, lines = play.key(), _other_lines(play, ana, other)
    first = play.correct(numbers[0], lines, key=key)
    for number in numbers[1:4]:
        play.correct(number, _other_lines(play, ana, other), play.config.any_day(), play.word())
    play.correct(numbers[4])
    play.host.restart()
    again = play.send("POST", f"/entries/{numbers[0]}/correction", play.body(lines), key)
    if not again.same_as(first):
        raise Wrong(f"a correction sent again after a restart: expected {first}, saw {again}")
    play.refused(409, "POST", f"/entries/{numbers[4]}/correction", {})
    play.look()
    play.look_at_entries()
    play.host.stop()
    if play.host.tally("rebuild").status != 0:
        raise Wrong("rebuild: expected status 0")
    play.host.start()
    play.refused(409, "POST", f"/entries/{numbers[1]}/correction", {})
    play.correct(numbers[5])
    play.look()
    play.look_at_entries()


CORRECTIONS = (
    *(takes_back_and_books, takes_date_and_memo_of_the_entry, only_takes_back, is_nothing_on_each_day),
    *(corrects_a_correction, corrects_once, books_both_or_none, corrects_whatever_was_booked),
    *(counts_a_key_once, stays_after_a_restart),
)


# -- what was known


class Clock:
    """The time of the service, which moves on from booking to booking, often about midnight."""

    def __init__(self, play):
        self.play = play
        self.file = f"{play.host.folder}/clock{play.number}"
        self.now = datetime(2024, 3, 4, 23, 30) + timedelta(days=play.random.randrange(200))
        self.first = self.now
        self.set()

    def set(self):
        self.play.host.put(self.file, self.text)

    @property
    def text(self):
        return f"{self.now:%Y-%m-%dT%H:%M:%S}.{self.now.microsecond // 1000:03}Z"

    def go_on(self, **more):
        self.now += timedelta(**more)
        self.set()

    def day(self, at):
        return f"{self.first + timedelta(days=at):%Y-%m-%d}"


def _history(play, zone):
    """Entries and corrections of some weeks, booked at any time of the day, for days of any time."""
    clock = Clock(play)
    play.host.env = {"TALLY_CLOCK": clock.file, "TZ": zone}
    play.host.start(f"{play.host.folder}/known{play.number}")
    ana, other = play.open(), play.open("other")
    open_numbers = []
    for _ in range(14):
        lines = _other_lines(play, ana, other)
        date = clock.day(play.random.randint(-20, 20))
        if open_numbers and play.random.random() < 0.5:
            number = open_numbers.pop(play.random.randrange(len(open_numbers)))
            new = lines if play.random.random() < 0.7 else None
            answer = play.correct(number, new, date if new else None)
            open_numbers += [answer.data["entry"]["id"]] if new else []
        else:
            open_numbers.append(play.entry(lines, date))
        for entry in play.booked[-2:]:
            if entry["booked"] > clock.text:
                raise Wrong(f"entry {entry['id']}: booked at {entry['booked']}, and it is {clock.text}")
        if play.booked[-1]["booked"] != clock.text:
            raise Wrong(f"expected booked {clock.text}, saw {play.booked[-1]['booked']}")
        clock.go_on(hours=play.random.choice((1, 5, 9, 24, 31)), minutes=play.random.choice((0, 29, 30, 59)))
    return clock


def _edges(play, clock):
    """Days about which something was booked shortly before or after midnight, and others."""
    days = sorted({entry["booked"][:10] for entry in play.booked})
    return [clock.day(-1), *play.random.sample(days, min(4, len(days))), clock.day(40)]


def _asks(play, clock, ask):
    for known in _edges(play, clock):
        ask(None, known)
        ask(clock.day(play.random.randint(-20, 20)), known)
    ask(clock.day(play.random.randint(-20, 20)), None)


def _query(date, known):
    found = [f"{name}={day}" for name, day in (("date", date), ("known", known)) if day]
    return "?" + "&".join(found)


def _model(play, date, known):
    return play.model(date or "9999", known or "9999")


def knows_balances(play):
    clock = _history(play, play.random.choice(ZONES[:1]))
    _asks(play, clock, lambda date, known: play.compare(play.balances(_query(date, known)), _model(play, date, known), what=f"balances {_query(date, known)}"))


def knows_balances_in_the_east(play):
    clock = _history(play, ZONES[1])
    _asks(play, clock, lambda date, known: play.compare(play.balances(_query(date, known)), _model(play, date, known), what=f"balances {_query(date, known)}"))


def knows_accounts(play):
    clock = _history(play, play.random.choice(ZONES))

    def ask(date, known):
        for account in play.own:
            seen = play.expect(200, "GET", f"/accounts/{account}{_query(date, known)}")
            row = dict(seen, account=account) if isinstance(seen, dict) else seen
            found = read_balances([row], play.config)
            wanted = {key: amount for key, amount in _model(play, date, known).items() if key[0] == account}
            if dict(found) != wanted:
                raise Wrong(f"/accounts/{account}{_query(date, known)}: expected {wanted}, saw {dict(found)}")

    _asks(play, clock, ask)


def knows_trials(play):
    clock = _history(play, play.random.choice(ZONES))
    _asks(play, clock, lambda date, known: compare_trial(play, play.expect(200, "GET", f"/reports/trial{_query(date, known)}"), _model(play, date, known)))


def knows_it_after_a_restart(play):
    clock = _history(play, play.random.choice(ZONES))
    play.host.restart()
    _asks(play, clock, lambda date, known: play.compare(play.balances(_query(date, known)), _model(play, date, known), what=f"balances {_query(date, known)}"))
    play.look_at_entries()


def _words(date, known):
    return [word for name, day in (("--date", date), ("--known", known)) if day for word in (name, day)]


def _by_command(command, zone):
    def case(play):
        clock = _history(play, play.random.choice(ZONES))
        play.host.stop()
        play.host.env = {"TZ": zone}

        def ask(date, known):
            seen = play.host.report(command, *_words(date, known))
            if command == "trial":
                compare_trial(play, seen, _model(play, date, known))
            else:
                play.compare(read_balances(seen, play.config), _model(play, date, known), what=f"{command} {_words(date, known)}")

        for known in _edges(play, clock)[:4]:
            ask(play.random.choice((None, clock.day(play.random.randint(-20, 20)))), known)

    case.__name__ = f"by_command_{command}"
    return case


def refuses_what_is_no_day(play):
    clock = _history(play, "UTC")
    for known in (play.word(), "2024-02-30", "2024-3-1"):
        play.refused(400, "GET", f"/balances?known={known}")
    known = clock.day(2)
    play.compare(play.balances(f"?known={known}"), play.model(known=known), what=f"balances known {known}")
    play.look_at_entries()
    same("the first entry", play.entries_seen().get(play.booked[0]["id"]), play.booked[0])


KNOWN = (
    *(knows_balances, knows_balances_in_the_east, knows_accounts, knows_trials, knows_it_after_a_restart),
    *(_by_command("balances", ZONES[0]), _by_command("trial", ZONES[1]), refuses_what_is_no_day),
)

"""Keys: what is sent twice is booked once, one after the other and in the same moment."""

from oracle import BASE
from service import Wrong

CLIENTS = 8


class Request:
    """Something that books, and what it should book."""

    def __init__(self, path, body, lines, date, memo=None):
        self.path, self.body, self.lines, self.date, self.memo = path, body, lines, date, memo


def entry_request(play, account, other):
    code, date, memo = play.random.choice(sorted(play.config.decimals)), play.config.any_day(), play.word()
    amount = play.amount(code)
    lines = [(other, code, amount), (account, code, -amount)]
    return Request("/entries", play.body(lines, date=date, memo=memo), lines, date, memo)


def sale_request(play, account, other=None):
    code, day = play.random.choice(sorted(play.config.decimals)), play.config.any_day()
    gross, sellers = play.agreeing_sale(code, day, [account])
    body = play.sale_body(gross, code, day, sellers)
    return Request("/sales", body, play.config.both(gross, code, day, sellers), day, f"sale {body['order']}")


def payout_request(play, account, other=None):
    """A part of what we owe, which is booked first."""
    code, date = play.random.choice(sorted(play.config.decimals)), play.config.any_day()
    amount = play.amount(code, 5, 90)
    play.give(account, code, 3 * amount)
    text = play.config.text(amount, code)
    body = {"account": account, "amount": text, "currency": code, "date": date, "memo": play.word()}
    return Request("/payouts", body, [(account, code, amount), ("bank", code, -amount)], date, body["memo"])


def conversion_request(play, account, other=None):
    source, target = play.random.sample(sorted(play.config.decimals), 2)
    day = play.config.any_day()
    amount = play.agreeing_amount(source, target, day, 5, 90)
    play.give(account, source, 3 * amount)
    lines = play.conversion_lines(account, source, target, amount, day, _up())
    return Request("/conversions", play.conversion_body(account, source, target, amount, day), lines, day)


def _up():
    from oracle import OLD

    return OLD


KINDS = (entry_request, sale_request, payout_request, conversion_request)


def _twice(kind):
    def case(play):
        """The same request three times, with others in between: booked once, the same answer each time."""
        play.begin()
        account, other = play.open(), play.open("other")
        sent = []
        for _ in range(2):
            request, key = kind(play, account, other), play.key()
            sent.append((request, key, play.book(request.path, request.body, request.lines, request.date, request.memo, key)))
        for request, key, first in sent * 2:
            again = play.send("POST", request.path, request.body, key)
            if not again.same_as(first):
                raise Wrong(f"{request.path} sent again with its key: expected the first answer {first}, saw {again}")
        play.look()

    case.__name__ = f"twice_{kind.__name__}"
    return case


def refuses_a_key_for_anything_else(play):
    """Another amount, another text, another path, another currency."""
    play.begin()
    account, other = play.open(), play.open("other")
    request, key = entry_request(play, account, other), play.key()
    first = play.book(request.path, request.body, request.lines, request.date, request.memo, key)
    sale = sale_request(play, account)
    lines = request.body["lines"]
    doubled = [{**row, "amount": row["amount"].replace("-", "-1") if "-" in row["amount"] else f"1{row['amount']}"} for row in lines]
    for path, body in (
        ("/entries", {**request.body, "memo": "another text"}),
        ("/entries", {**request.body, "lines": doubled}),
        ("/entries", {**request.body, "date": play.config.day(70)}),
        (sale.path, sale.body),
        ("/payouts", {"account": account, "amount": "1"}),
    ):
        play.refused(play.refuse, "POST", path, body, key)
    if not play.send("POST", request.path, request.body, key).same_as(first):
        raise Wrong("the first request, sent again behind others with its key: expected the first answer")
    play.book(sale.path, sale.body, sale.lines, sale.date, sale.memo, play.key())
    play.look()


def books_twice_with_two_keys(play):
    """The same body with another key, or with none, is another booking."""
    play.begin()
    account, other = play.open(), play.open("other")
    request, key = entry_request(play, account, other), play.key()
    for one in (key, play.key(), None, None):
        play.book(request.path, request.body, request.lines, request.date, request.memo, one)
    play.send("POST", request.path, request.body, key)
    play.look()


def refusals_use_up_nothing(play):
    """A payout that was more than we owed is paid when we owe more; a key whose body was wrong is free."""
    config = play.config
    play.begin()
    account, other = play.open(), play.open("other")
    code = play.random.choice(config.foreign)
    amount, key, date = play.amount(code, 5, 50), play.key(), config.any_day()
    body = {"account": account, "amount": config.text(amount, code), "currency": code, "date": date, "memo": "w"}
    play.refused(422, "POST", "/payouts", body, key)
    play.refused(422, "POST", "/payouts", body, key)
    play.give(account, code, amount)
    lines = [(account, code, amount), ("bank", code, -amount)]
    first = play.book("/payouts", body, lines, date, "w", key)
    if not play.send("POST", "/payouts", body, key).same_as(first):
        raise Wrong("a payout, sent again with its key: expected the first answer")
    request, key = entry_request(play, account, other), play.key()
    play.refused(400, "POST", "/entries", {**request.body, "date": "2024-02-30"}, key)
    play.book(request.path, request.body, request.lines, request.date, request.memo, key)
    play.look()


def remembers_after_a_restart(play):
    """Many keys, more than one snapshot, two restarts and a rebuild."""
    play.begin()
    account, other = play.open(), play.open("other")
    sent = []
    for number in range(16):
        request, key = KINDS[number % 4](play, account, other), play.key()
        sent.append((request, key, play.book(request.path, request.body, request.lines, request.date, request.memo, key)))
    play.host.restart()
    for request, key, first in sent[::2]:
        if not play.send("POST", request.path, request.body, key).same_as(first):
            raise Wrong(f"{request.path} sent again after a restart: expected the first answer {first}")
    play.refused(play.refuse, "POST", "/entries", {**sent[0][0].body, "memo": "another"}, sent[0][1])
    play.host.stop()
    if play.host.tally("rebuild").status != 0:
        raise Wrong("rebuild: expected status 0")
    play.host.start()
    for request, key, first in sent[1::2]:
        if not play.send("POST", request.path, request.body, key).same_as(first):
            raise Wrong(f"{request.path} sent again after a rebuild: expected the first answer {first}")
    play.look()


def answers_again_when_things_have_changed(play):
    """The answer is the first one also when nothing is owed any more."""
    play.begin()
    account = play.open()
    request, key = payout_request(play, account), play.key()
    first = play.book(request.path, request.body, request.lines, request.date, request.memo, key)
    code = request.lines[0][1]
    play.pay(account, code, -play.model()[account, code])
    if not play.send("POST", request.path, request.body, key).same_as(first):
        raise Wrong("a payout, sent again when nothing is owed: expected the first answer")
    play.refused(422, "POST", "/payouts", request.body, play.key())
    play.look()


KEYS = (
    *map(_twice, KINDS),
    *(refuses_a_key_for_anything_else, books_twice_with_two_keys, refusals_use_up_nothing),
    *(answers_again_when_things_have_changed, remembers_after_a_restart),
)


# -- in the same moment


def _at_once(kind):
    def case(play):
        """Eight times the same request with one key."""
        play.begin()
        account, other = play.open(), play.open("other")
        for _ in range(2):
            request, key = kind(play, account, other), play.key()
            answers = play.host.ask_at_once([play.call("POST", request.path, request.body, key)] * CLIENTS)
            if answers[0].status != 201:
                raise Wrong(f"{request.path}, {CLIENTS} times at once: expected 201, saw {answers[0]}")
            for answer in answers:
                if not answer.same_as(answers[0]):
                    raise Wrong(f"{request.path}, {CLIENTS} times at once: expected one answer, saw {answers[0]} and {answer}")
            play.know(answers[0].data, request.lines, request.date, request.memo)
        play.look()

    case.__name__ = f"at_once_{kind.__name__}"
    return case


def one_of_two_bodies(play):
    """Two requests with one key in the same moment: one is booked, the other refused."""
    play.begin()
    account, other = play.open(), play.open("other")
    for _ in range(3):
        requests, key = [entry_request(play, account, other) for _ in range(2)], play.key()
        order = [requests[number % 2] for number in range(CLIENTS)]
        answers = play.host.ask_at_once([play.call("POST", one.path, one.body, key) for one in order])
        statuses = [{answer.status for answer in answers[number::2]} for number in range(2)]
        if sorted(statuses, key=min) != sorted([{201}, {play.refuse}], key=min):
            raise Wrong(f"two bodies with one key at once: expected 201 for one and {play.refuse} for the other, saw {statuses}")
        won = 0 if statuses[0] == {201} else 1
        play.know(answers[won].data, requests[won].lines, requests[won].date, requests[won].memo)
    play.look()


def _overdraws(is_keyed):
    def case(play):
        """Eight payouts of what is there for three; each of them with a key of its own, or with none."""
        config = play.config
        play.begin()
        for _ in range(2):
            account, code = play.open(), play.random.choice(sorted(config.decimals))
            amount, date = play.amount(code, 5, 50), config.any_day()
            play.give(account, code, 3 * amount + amount // 2)
            memos = [play.word() for _ in range(CLIENTS)]
            bodies = [{"account": account, "amount": config.text(amount, code), "currency": code, "date": date, "memo": memo} for memo in memos]
            calls = [play.call("POST", "/payouts", body, play.key() if is_keyed else None) for body in bodies]
            answers = play.host.ask_at_once(calls)
            paid = [(answer, memo) for answer, memo in zip(answers, memos) if answer.status == 201]
            if len(paid) != 3 or {answer.status for answer in answers} != {201, 422}:
                raise Wrong(f"payouts at once, three of which we owe: saw {[answer.status for answer in answers]}")
            for answer, memo in paid:
                play.know(answer.data, [(account, code, amount), ("bank", code, -amount)], date, memo)
        play.look()

    case.__name__ = f"overdraws_{is_keyed}"
    return case


def converts_once(play):
    """Eight conversions of all that we owe: one of them is booked."""
    config = play.config
    play.begin()
    account, day = play.open(), config.any_day()
    amount = play.agreeing_amount(BASE, config.cents, day)
    play.give(account, BASE, amount)
    body = play.conversion_body(account, BASE, config.cents, amount, day)
    answers = play.host.ask_at_once([play.call("POST", "/conversions", body, play.key()) for _ in range(CLIENTS)])
    won = [answer for answer in answers if answer.status == 201]
    if len(won) != 1 or {answer.status for answer in answers} != {201, 422}:
        raise Wrong(f"conversions at once of all that we owe: saw {[answer.status for answer in answers]}")
    play.know(won[0].data, play.conversion_lines(account, BASE, config.cents, amount, day, _up()), day)
    play.look()


def a_busy_minute(play):
    """Different requests, each of them twice in the same moment, and the service is started again."""
    play.begin()
    accounts, other = [play.open() for _ in range(4)], play.open("other")
    sent = []
    for _ in range(4):
        burst = [(play.random.choice(KINDS)(play, account, other), play.key()) for account in accounts]
        calls = [play.call("POST", one.path, one.body, key) for one, key in burst for _ in range(2)]
        answers = play.host.ask_at_once(calls)
        for (request, key), first, again in zip(burst, answers[::2], answers[1::2]):
            if first.status != 201 or not first.same_as(again):
                raise Wrong(f"{request.path}, twice at once among others: saw {first} and {again}")
            play.know(first.data, request.lines, request.date, request.memo)
            sent.append((request, key, first))
    play.look()
    play.host.restart()
    for request, key, first in sent:
        if not play.send("POST", request.path, request.body, key).same_as(first):
            raise Wrong(f"{request.path} sent again after a restart: expected the first answer {first}")
    play.look()
    play.look_at_entries()


AT_ONCE = (
    *map(_at_once, KINDS),
    *(one_of_two_bodies, _overdraws(True), _overdraws(False), converts_once, a_busy_minute),
)

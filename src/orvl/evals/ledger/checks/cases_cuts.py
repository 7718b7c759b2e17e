"""Power cuts: a half-written last line, what a killed process leaves, and bookings that were answered just before."""

from collections import Counter

from cases_keys import KINDS, entry_request, payout_request, sale_request
from oracle import BASE, totals
from play import read_balances, read_entry
from service import Dead, Wrong

JOURNAL = "journal.jsonl"


class Cut:
    """A data folder before and after a booking: from both, what a power cut leaves in between is made."""

    def __init__(self, play, account, other, make):
        host = play.host
        self.play, self.key, self.make = play, play.key(), make
        self.place = f"{host.folder}/cut{play.number}-{play.word(3)}"
        self.model = play.balances()
        host.copy(host.data, f"{self.place}-before")
        self.first = make(self.key)
        self.later = play.balances()
        self.before = host.get(f"{self.place}-before/{JOURNAL}") or b""
        after = host.get(f"{host.data}/{JOURNAL}") or b""
        if not after.startswith(self.before) or len(after) <= len(self.before):
            raise Wrong("a booking that was answered is not at the end of journal.jsonl, or what was before it has changed")
        self.line = after[len(self.before) :]

    def leave(self, size):
        """What is there if the power goes when so many bytes of the booking are written."""
        data = f"{self.place}-{size}-{self.play.word(4)}"
        self.play.host.copy(f"{self.place}-before", data)
        self.play.host.put(f"{data}/{JOURNAL}", self.before + self.line[:size])
        return data

    def check(self, size):
        """Starts on that; the booking is not there, and can be sent again."""
        play = self.play
        play.host.start(self.leave(size))
        seen = play.balances()
        is_whole = size >= len(self.line) - 1
        if seen != self.model and not (is_whole and seen == self.later):
            raise Wrong(f"after a cut at byte {size} of {len(self.line)}: expected the balances of before, saw {dict(seen)}")
        for _ in range(2):
            answer = self.make(self.key)
            if answer.status != 201:
                raise Wrong(f"after a cut, sent again with its key: expected 201, saw {answer}")
        if play.balances() != self.later:
            raise Wrong("after a cut, sent again with its key: it should be booked once")
        play.host.restart(play.random.choice((9, 15)))
        if play.balances() != self.later or not self.make(self.key).same_as(answer) or play.balances() != self.later:
            raise Wrong("after a cut, sent again and started again: it should be booked once")


def _prepared(play):
    """A service with some history."""
    play.host.start(f"{play.host.folder}/power{play.number}")
    account, other = play.open(), play.open("other")
    for _ in range(play.random.randint(5, 8)):
        request = entry_request(play, account, other)
        play.book(request.path, request.body, request.lines, request.date, request.memo, play.key())
    return account, other


def _maker(play, request):
    return lambda key: play.send("POST", request.path, request.body, key)


def _torn(kind):
    def case(play):
        account, other = _prepared(play)
        request = kind(play, account, other)
        cut = Cut(play, account, other, _maker(play, request))
        size = len(cut.line)
        for at in (play.random.randint(1, size // 2), play.random.choice((size - 1, size - 2, play.random.randint(size // 2, size - 3)))):
            cut.check(at)

    case.__name__ = f"torn_{kind.__name__}"
    return case


def torn_correction(play):
    """Both entries of a correction or none, wherever it is cut, also behind a whole line."""
    account, other = _prepared(play)
    number = play.entry([(account, BASE, -700), (other, BASE, 700)])
    body = play.body([(account, BASE, -900), (other, BASE, 900)], memo="Käse")
    cut = Cut(play, account, other, lambda key: play.send("POST", f"/entries/{number}/correction", body, key))
    ends = [at + 1 for at, sign in enumerate(cut.line[:-1]) if sign == 10]
    for at in [*ends[:1], *play.random.sample(range(1, len(cut.line) - 1), 2)]:
        cut.check(at)


def torn_inside_a_letter(play):
    """The last line ends in the middle of a letter that takes more than one byte."""
    account, other = _prepared(play)
    lines = [(account, BASE, -700), (other, BASE, 700)]
    body = play.body(lines, date=play.config.day(3), memo="日本日本日本")
    cut = Cut(play, account, other, lambda key: play.send("POST", "/entries", body, key))
    inside = [at for at, sign in enumerate(cut.line) if sign >= 0x80 and at and cut.line[at] & 0xC0 == 0x80]
    cut.check(play.random.choice(inside) if inside else len(cut.line) // 2)


def reads_behind_a_cut(play):
    """Reports need no service, and change nothing."""
    account, other = _prepared(play)
    cut = Cut(play, account, other, _maker(play, sale_request(play, account)))
    play.host.cut_power()
    data = cut.leave(len(cut.line) // 2)
    seen = read_balances(play.host.report("balances", data=data), play.config)
    if seen != cut.model:
        raise Wrong("balances behind a half-written line: expected those of before")
    rows = play.host.report("entries", data=data)
    if len(rows) != len(play.booked):
        raise Wrong(f"entries behind a half-written line: expected {len(play.booked)}, saw {len(rows)}")
    cut.check(len(cut.line) // 2)


def starts_beside_what_was_left(play):
    """The lock of the process that was killed, and half a snapshot."""
    play.host.reboot()
    account, other = _prepared(play)
    wanted = play.balances()
    # The first process of each container has the same number, so the one that was killed seems to be alive.
    for again in (play.host.reboot, play.host.cut_power):
        again()
        play.host.start()
        if play.balances() != wanted:
            raise Wrong("started after kill -9: expected the balances of before")
    play.host.stop()
    snapshot = play.host.get(f"{play.host.data}/snapshot.json") or b'{"upto":7,"accounts":[{"id":"ba'
    for content in (snapshot[: len(snapshot) // 2], b""):
        play.host.put(f"{play.host.data}/snapshot.json", content)
        play.host.start()
        if play.balances() != wanted:
            raise Wrong("started with half a snapshot: expected the balances of before")
        play.entry([(account, BASE, -5), (other, BASE, 5)])
        wanted = play.balances()
        play.host.cut_power()
    play.host.start()
    play.look_at_entries()


def imports_after_a_cut(play):
    """A command that writes needs no hand after a cut either, and has nothing booked twice."""
    _prepared(play)
    before = play.balances()
    play.host.cut_power()
    file = f"{play.host.folder}/bank{play.number}.csv"
    play.host.put(file, "date;reference;text;currency;amount\n05.03.2024;R-1;x;EUR;12,50\n")
    for booked in (1, 0):
        seen = play.host.report("import", file, statuses=(0, 1))
        if not isinstance(seen, dict) or seen.get("booked") != booked:
            raise Wrong(f"import after a cut: expected {booked} booked, saw {str(seen)[:100]}")
    play.host.start()
    if play.balances()["bank", BASE] != before["bank", BASE] + 1250:
        raise Wrong("import after a cut: expected its row to be booked once")
    play.look_at_entries()


def still_stops_at_other_damage(play):
    """A damaged line that is not the last one stops it, with its number; the journal is as it was."""
    _prepared(play)
    wanted = play.balances()
    play.host.stop()
    content = play.host.get(f"{play.host.data}/{JOURNAL}") or b""
    lines = content.split(b"\n")
    for at in play.random.sample(range(1, len(lines) - 3), 2):
        data = f"{play.host.folder}/damaged{play.number}-{at}"
        damaged = b"\n".join([*lines[:at], lines[at][: len(lines[at]) // 2], *lines[at + 1 :]])
        play.host.put(f"{data}/{JOURNAL}", damaged)
        ended = play.host.tally("balances", data=data)
        if ended.status != 3 or f"{JOURNAL}:{at + 1}" not in ended.stderr:
            raise Wrong(f"a damaged line {at + 1}: expected status 3 and its number, saw {ended.status} {ended.stderr[:100]!r}")
        try:
            play.host.start(data)
        except Dead:
            pass
        else:
            raise Wrong(f"a damaged line {at + 1}: the service should not start")
        if play.host.get(f"{data}/{JOURNAL}") != damaged:
            raise Wrong(f"a damaged line {at + 1}: the journal should be as it was")
    intact = f"{play.host.folder}/intact{play.number}"
    play.host.put(f"{intact}/{JOURNAL}", content)
    play.host.start(intact)
    if play.balances() != wanted:
        raise Wrong("an intact journal: expected the balances of before")
    play.host.cut_power()
    play.host.start()
    play.entry([("bank", BASE, -5), ("suspense", BASE, 5)])
    play.host.cut_power()
    play.host.start()
    play.look_at_entries()


TORN = (
    *(_torn(entry_request), _torn(payout_request), torn_correction, torn_inside_a_letter, reads_behind_a_cut),
    *(starts_beside_what_was_left, imports_after_a_cut, still_stops_at_other_damage),
)


# -- killed while it works


def _settle(play, requests, keys, found):
    """What was answered is there, once; all is sent again, and is there, once."""
    play.host.start()
    seen = play.entries_seen()
    for place, answer in found.items():
        if answer.status != 201:
            raise Wrong(f"{requests[place].path}: expected 201, saw {answer}")
        for shown in _entries_in(answer):
            entry = read_entry(shown, play.config)
            if entry["id"] not in seen or totals(seen[entry["id"]]["lines"]) != totals(entry["lines"]):
                raise Wrong(f"entry {entry['id']} was answered with 201 and is not there after the cut")
    again = play.host.ask_at_once([play.call("POST", one.path, one.body, key) for one, key in zip(requests, keys)])
    for place, answer in enumerate(again):
        if answer.status != 201:
            raise Wrong(f"{requests[place].path} sent again after the cut: expected 201, saw {answer}")
        if place in found and not answer.same_as(found[place]):
            raise Wrong(f"{requests[place].path} sent again after the cut: expected {found[place]}, saw {answer}")
    wanted = Counter()
    for request in requests:
        wanted.update(totals(request.lines))
    return wanted


def _entries_in(answer):
    if isinstance(answer.data, dict) and "reversal" in answer.data:
        return [one for one in (answer.data["reversal"], answer.data.get("entry")) if one is not None]
    return [answer.data]


def _killed(kinds, many=14):
    def case(play):
        """Requests from six connections; the power goes as soon as some of them are answered."""
        play.host.start(f"{play.host.folder}/killed{play.number}")
        accounts, other = [play.open() for _ in range(3)], play.open("other")
        requests = [play.random.choice(kinds)(play, play.random.choice(accounts), other) for _ in range(many)]
        keys = [play.key() for _ in requests]
        # What was prepared is meant to be there for long, so it is not what this is about.
        play.host.restart()
        before = play.balances()
        calls = [play.call("POST", one.path, one.body, key) for one, key in zip(requests, keys)]
        found = play.host.ask_until_cut(calls, play.random.randint(1, many - 2))
        wanted = _settle(play, requests, keys, found)
        after = play.balances()
        for key in {*wanted, *before, *after}:
            if after[key] != before[key] + wanted[key]:
                raise Wrong(f"after a cut, and all sent again: {key} should be {before[key] + wanted[key]}, and is {after[key]}")
        play.host.cut_power()
        play.host.start()
        if play.balances() != after:
            raise Wrong("after a second cut: expected the same balances")

    case.__name__ = f"killed_{'_'.join(kind.__name__.split('_')[0] for kind in kinds)}"
    return case


def killed_behind_each_answer(play):
    """One booking, its answer, and the power goes; five times."""
    play.host.start(f"{play.host.folder}/killed{play.number}")
    account, other = play.open(), play.open("other")
    play.host.restart()
    for _ in range(4):
        request = entry_request(play, account, other)
        play.book(request.path, request.body, request.lines, request.date, request.memo, play.key())
        play.host.cut_power()
        play.host.start()
        play.look()
        play.look_at_entries()


def killed_between_corrections(play):
    play.host.start(f"{play.host.folder}/killed{play.number}")
    account, other = play.open(), play.open("other")
    numbers = [play.entry([(account, BASE, -700 - number), (other, BASE, 700 + number)]) for number in range(8)]
    play.host.restart()
    before = play.balances()
    calls, keys = [], []
    for number in numbers:
        keys.append(play.key())
        calls.append(play.call("POST", f"/entries/{number}/correction", play.body([(account, BASE, -50), (other, BASE, 50)]), keys[-1]))
    found = play.host.ask_until_cut(calls, play.random.randint(1, 6))
    play.host.start()
    after = play.balances()
    rows = play.entries_seen().values()
    back, new = ({one[name] for one in rows if one[name]} for name in ("reverses", "corrects"))
    if back != new or not {numbers[place] for place in found} <= back:
        raise Wrong(f"corrections after a cut: {sorted(back)} are reversed, {sorted(new)} are corrected, {sorted(found)} were answered")
    wanted = before[account, BASE] + sum(700 + numbers.index(number) - 50 for number in back)
    if after[account, BASE] != wanted:
        raise Wrong(f"corrections after a cut: {account} should have {wanted}, and has {after[account, BASE]}")
    for place, answer in enumerate(play.host.ask_at_once(calls)):
        if answer.status != 201 or (place in found and not answer.same_as(found[place])):
            raise Wrong(f"a correction sent again after the cut: saw {answer}")
    if play.balances()[account, BASE] != -50 * len(numbers):
        raise Wrong("corrections, all sent again after the cut: each should be there once")


def pays_once(play):
    """The night of the log: a payout of all that we owe, answered, cut, and sent again."""
    config = play.config
    play.host.start(f"{play.host.folder}/killed{play.number}")
    for _ in range(3):
        account, code = play.open(), play.random.choice(sorted(config.decimals))
        amount = play.amount(code, 5, 90)
        play.give(account, code, amount)
        play.host.restart()
        key, date = play.key(), config.any_day()
        body = {"account": account, "amount": config.text(amount, code), "currency": code, "date": date, "memo": "pay"}
        first = play.book("/payouts", body, [(account, code, amount), ("bank", code, -amount)], date, "pay", key)
        play.host.cut_power()
        play.host.start()
        if not play.send("POST", "/payouts", body, key).same_as(first):
            raise Wrong("a payout, sent again after the cut: expected the first answer")
        play.refused(422, "POST", "/payouts", body, play.key())
    play.look()
    play.look_at_entries()


def reads_what_was_answered(play):
    """A report right behind an answer, beside the service and after the cut."""
    play.host.start(f"{play.host.folder}/killed{play.number}")
    account, other = play.open(), play.open("other")
    for _ in range(2):
        request = entry_request(play, account, other)
        play.book(request.path, request.body, request.lines, request.date, request.memo)
    play.compare(read_balances(play.host.report("balances"), play.config), play.model(), what="balances beside the service")
    play.entry([(account, BASE, -5), (other, BASE, 5)])
    play.host.cut_power()
    play.compare(read_balances(play.host.report("balances"), play.config), play.model(), what="balances after the cut")


KILLED = (
    *(_killed(KINDS), _killed((sale_request,)), _killed((entry_request,), 24), killed_behind_each_answer),
    *(killed_between_corrections, pays_once, reads_what_was_answered, _killed((payout_request, entry_request))),
)


"""The audit export: a chain over all entries, and a command that finds each change."""

import hashlib
import json
import re

from cases_rounding import OldBooks
from oracle import canonical
from play import read_entry
from service import Wrong

from orvl import checks


def digest(text):
    return hashlib.new(str(checks.drawn()["digest"]).replace("-", "_"), text.encode()).hexdigest()


def chain(entries, text):
    """The export of these entries, as it should be."""
    last = "0" * len(digest(""))
    lines = []
    for entry in entries:
        shown = canonical(entry, text)
        last = digest(f"{last}\n{shown}")
        lines.append(f"{last}\t{shown}")
    return "".join(f"{line}\n" for line in [*lines, f"end\t{len(lines)}\t{last}"]).encode()


def _books(play, many=12, memo=None):
    """Some days' bookings, with the texts that people write."""
    play.host.start(f"{play.host.folder}/audit{play.number}")
    play.begin()
    ana, other = play.open(), play.open("other")
    memos = ["Miete März", 'the "blue" stall', "a\\b", "tab\there", "zwei\nZeilen", "日本 🎪", "", "<&>", "\u0001", "é" * 60]
    play.random.shuffle(memos)
    for number in range(many):
        codes = play.random.sample(sorted(play.config.decimals), play.random.randint(1, 3))
        lines = []
        for code in codes:
            amount = play.amount(code) * play.random.choice((1, -1))
            half = play.random.randint(1, abs(amount) - 1) * (1 if amount > 0 else -1)
            lines += [(ana, code, amount), (other, code, -half), (play.random.choice((other, "bank")), code, half - amount)]
        play.random.shuffle(lines)
        play.entry(lines, memo=memos[number % len(memos)])
    return ana, other


def _export(play, data=None):
    ended = play.host.tally("export", data=data)
    if ended.status != 0:
        raise Wrong(f"export: expected status 0, saw {ended.status} {ended.stderr[-150:]}")
    return ended.stdout_bytes


def _expected(play):
    """What the service says of all entries, in the canonical form."""
    rows = play.expect(200, "GET", "/entries")
    entries = [read_entry(row, play.config) for row in rows]
    play.look_at_entries()
    return chain(sorted(entries, key=lambda one: one["id"]), play.config.text)


def _same_bytes(what, seen, wanted):
    if seen != wanted:
        pairs = zip([*seen.split(b"\n"), b""], [*wanted.split(b"\n"), b""])
        one, other = next(((one, other) for one, other in pairs if one != other), (b"", b"(its end)"))
        hint = f"{other[:40]!r} … {other[-120:]!r}, saw {one[:40]!r} … {one[-120:]!r}"
        raise Wrong(f"{what}: expected {hint}")


def exports_entries(play):
    _books(play)
    wanted = _expected(play)
    play.host.stop()
    _same_bytes("export", _export(play), wanted)


def exports_beside_the_service(play):
    _books(play, 5)
    wanted = _expected(play)
    play.host.restart()
    _same_bytes("export beside the service", _export(play), wanted)


def exports_corrections(play):
    ana, other = _books(play, 6)
    for number in [one["id"] for one in play.booked][:4]:
        code = play.config.mils
        play.correct(number, [(ana, code, 7), (other, code, -7)] if number % 2 else None)
    play.correct(play.booked[4]["id"], [(ana, play.config.mils, 9), (other, play.config.mils, -9)], play.config.any_day(), "neu")
    wanted = _expected(play)
    play.host.stop()
    _same_bytes("export with corrections", _export(play), wanted)


def exports_all_kinds(play):
    config = play.config
    ana, _ = _books(play, 2)
    day = config.any_day()
    gross, sellers = play.agreeing_sale(config.cents, day, [ana, play.open()], 300, 900)
    play.sell(gross, config.cents, day, sellers)
    play.give(ana, config.cents, 90_000)
    play.pay(ana, config.cents, 5000)
    play.convert(ana, config.cents, config.whole, play.agreeing_amount(config.cents, config.whole, day, 5, 90), day)
    wanted = _expected(play)
    play.host.stop()
    _same_bytes("export of sales, payouts and conversions", _export(play), wanted)


def exports_nothing(play):
    data = f"{play.host.folder}/nothing{play.number}"
    play.host.start(data)
    play.open()
    play.host.stop()
    _same_bytes("export of no entries", _export(play, data), chain([], play.config.text))


def exports_old_books(play):
    """Entries of older versions, with sales by the old rule."""
    config, books = play.config, OldBooks(play)
    accounts = [books.account() for _ in range(3)]
    for number in range(8):
        day = config.any_day()
        if number % 3:
            gross, sellers = play.agreeing_sale("EUR", day, accounts[: 1 + number % 3])
            books.sale(gross, day, sellers)
        else:
            books.entry([(accounts[0], 1234), ("bank", -1234)], day, "Käse", f"bank:{play.word()}" if number else None)
    entries = []
    for record in books.records:
        if record["do"] == "account":
            continue
        memo = f"sale {record['order']}" if record["do"] == "sale" else record["memo"]
        lines = [line for line in books.lines[record["n"]] if line[2]]
        entries.append({"id": record["n"], "booked": record["at"], "date": record["date"], "memo": memo, "lines": lines})
    data = books.write(f"{play.host.folder}/old{play.number}")
    _same_bytes("export of old books", _export(play, data), chain(entries, config.text))


def begins_as_before(play):
    """What was exported last month is how the export of today begins, after more was booked and all was read again."""
    ana, other = _books(play, 6)
    play.host.restart()
    first = _export(play)
    for _ in range(4):
        play.entry([(ana, play.config.whole, 5), (other, play.config.whole, -5)], memo="später")
    wanted = _expected(play)
    play.host.stop()
    play.host.tally("rebuild")
    later = _export(play)
    _same_bytes("a later export", later, wanted)
    before = first[: first.rindex(b"end\t")]
    if not before or not later.startswith(before):
        raise Wrong("an export of today should begin with the lines of the one before")


def is_as_bytes_were(play):
    """The same books in another time zone and by another locale give the same bytes."""
    _books(play, 6)
    wanted = _expected(play)
    play.host.stop()
    ended = play.host.tally("export", env={"TZ": "Asia/Tokyo", "LANG": "de_DE.UTF-8", "LC_ALL": "C"})
    _same_bytes("export elsewhere", ended.stdout_bytes, wanted)


EXPORT = (
    *(exports_entries, exports_beside_the_service, exports_corrections, exports_all_kinds),
    *(exports_nothing, exports_old_books, begins_as_before, is_as_bytes_were),
)


# -- verify


def _verify(play, content, data=None):
    file = f"{play.host.folder}/export{play.number}.txt"
    play.host.put(file, content)
    return play.host.tally("verify", file, data=data)


def _accepts(play, content, count, data=None):
    ended = _verify(play, content, data)
    if ended.status != 0 or not re.search(rf"\bok {count}\b", ended.stdout):
        raise Wrong(f"verify of a right export: expected ok {count} and status 0, saw {ended.status} {ended.stdout[:80]!r} {ended.stderr[-80:]!r}")


def _finds(play, content, line, what, data=None):
    ended = _verify(play, content, data)
    if ended.status != 1:
        raise Wrong(f"verify of an export with {what}: expected status 1, saw {ended.status} {ended.stdout[:80]!r}")
    said = re.findall(r"\bline (\d+)", ended.stdout + ended.stderr)
    if line is not None and str(line) not in said[:1]:
        raise Wrong(f"verify of an export with {what}: expected line {line}, saw {(ended.stdout + ended.stderr)[:100]!r}")


def _right(play, many=8):
    """Books, and their export by the model: verify has to do without help from export."""
    _books(play, many)
    content = _expected(play)
    play.host.stop()
    return content, content.count(b"\n") - 1


def _changes(play, where):
    """An export with one byte changed at some places of some kind, each found in its line."""

    def case(play):
        content, count = _right(play)
        _accepts(play, content, count)
        lines = content.split(b"\n")[:-1]
        for number in play.random.sample(range(count), 3):
            line = bytearray(lines[number])
            tab = line.index(b"\t")
            at = play.random.randrange(tab) if where == "hash" else play.random.randrange(tab + 1, len(line))
            line[at] = play.random.choice([one for one in b"0123456789abcdef" if one != line[at]])
            changed = b"\n".join([*lines[:number], bytes(line), *lines[number + 1 :], b""])
            _finds(play, changed, number + 1, f"a changed byte in the {where} of line {number + 1}")

    case.__name__ = f"finds_a_changed_{where}"
    return case


def accepts_what_is_older(play):
    """Entries that were booked since do not matter."""
    content, count = _right(play)
    play.host.start()
    play.entry([("bank", "EUR", 5), ("suspense", "EUR", -5)])
    play.host.stop()
    _accepts(play, content, count)
    _finds(play, content[:1].translate(bytes.maketrans(b"0123456789abcdef", b"123456789abcdef0")) + content[1:], 1, "another first byte")
    _accepts(play, chain([], play.config.text), 0)


def finds_a_new_chain(play):
    """Somebody has changed an amount, and reckoned all hashes anew."""
    content, count = _right(play)
    _accepts(play, content, count)
    entries = [json.loads(line.split("\t", 1)[1]) for line in content.decode().splitlines()[:-1]]
    number = play.random.randrange(count)
    changed = entries[number]
    changed["memo"] += "!"
    last, lines = "0" * len(digest("")), []
    for entry in entries:
        shown = json.dumps(entry, ensure_ascii=False, separators=(",", ":"))
        last = digest(f"{last}\n{shown}")
        lines.append(f"{last}\t{shown}\n")
    forged = "".join([*lines, f"end\t{count}\t{last}\n"]).encode()
    _finds(play, forged, number + 1, "a chain that was reckoned anew")


def finds_other_ends(play):
    """Cut off, longer than it should be, or with another last line."""
    content, count = _right(play)
    _accepts(play, content, count)
    lines = content.split(b"\n")[:-1]
    without = lambda *gone: b"\n".join([line for at, line in enumerate(lines) if at not in gone] + [b""])
    _finds(play, without(count), None, "no last line")
    _finds(play, without(count - 1), count, "a line missing before the last")
    _finds(play, content[:-1], None, "no line end behind the last line")
    _finds(play, content + b"\n", None, "an empty line behind the last")
    _finds(play, content + lines[0] + b"\n", None, "a line behind the last")
    _finds(play, content[: content.rindex(b"end")] + b"end\t%d\t%s\n" % (count + 1, lines[-1].split(b"\t")[2]), count + 1, "another count")
    _finds(play, b"", None, "nothing in it")


def finds_moved_lines(play):
    content, count = _right(play)
    _accepts(play, content, count)
    lines = content.split(b"\n")
    one = play.random.randrange(count - 2)
    swapped = [*lines[:one], lines[one + 1], lines[one], *lines[one + 2 :]]
    _finds(play, b"\n".join(swapped), one + 1, "two lines in the other order")
    _finds(play, b"\n".join([*lines[:one], *lines[one + 1 :]]), one + 1, "a line missing")
    _finds(play, b"\n".join([*lines[: one + 1], *lines[one:]]), one + 2, "a line twice")
    _finds(play, content.replace(b"\n", b"\r\n"), 1, "other line ends")


def finds_a_changed_journal(play):
    """The export is as it was, and somebody has edited the journal: an amount, a date, a text."""
    config, books = play.config, OldBooks(play)
    account = books.account()
    for number in range(6):
        books.entry([(account, 1000 + number), ("bank", -1000 - number)], config.any_day(), f"memo{number}")
    entries = [
        {"id": one["n"], "booked": one["at"], "date": one["date"], "memo": one["memo"], "lines": books.lines[one["n"]]}
        for one in books.records[1:]
    ]
    content = chain(entries, config.text)
    _accepts(play, content, 6, books.write(f"{play.host.folder}/right{play.number}"))
    for number, (before, after) in enumerate((("memo2", "memo9"), ('"10.04"', '"90.04"'), (books.records[1]["date"], "2019-01-01"))):
        text = books.content()
        if before == '"10.04"':
            text = text.replace('"-10.04"', '"-90.04"')
        data = f"{play.host.folder}/edited{play.number}-{number}"
        lines = text.split("\n")
        at = 1 if number == 2 else next(place for place, line in enumerate(lines) if before in line)
        lines[at] = lines[at].replace(before, after, 1)
        play.host.put(f"{data}/journal.jsonl", "\n".join(lines))
        _finds(play, content, at, f"books in which {before} was changed to {after}", data)


def needs_a_file(play):
    content, count = _right(play, 3)
    _accepts(play, content, count)
    for words in (("verify",), ("verify", f"{play.host.folder}/not-there.txt")):
        if (status := play.host.tally(*words).status) != 2:
            raise Wrong(f"{' '.join(words)}: expected status 2, saw {status}")


VERIFY = (
    *(_changes(None, "hash"), _changes(None, "entry"), accepts_what_is_older, finds_a_new_chain),
    *(finds_other_ends, finds_moved_lines, finds_a_changed_journal, needs_a_file),
)

"""What worked before the first turn: everything in the base currency."""

import json
from collections import Counter

from cases_rounding import OldBooks
from oracle import BASE, OLD, totals
from play import conserved, read_amount, read_balances, read_entry
from service import Wrong


def _entry(play, seen, lines, date, memo):
    found = read_entry(seen, play.config, base_only=True)
    wanted = (totals(lines), date, memo)
    if (totals(found["lines"]), found["date"], found["memo"]) != wanted:
        raise Wrong(f"expected {wanted}, saw {str(seen)[:200]}")
    return found["id"]


def _body(play, lines, **more):
    return {"lines": [{"account": account, "amount": play.config.text(amount)} for account, _, amount in lines], **more}


def _balances(play, rows, wanted):
    seen = read_balances(rows, play.config, base_only=True)
    conserved(seen, "balances")
    if seen != Counter({key: amount for key, amount in wanted.items() if amount}):
        raise Wrong(f"balances: expected {dict(wanted)}, saw {dict(seen)}")


def _serve(play):
    play.host.start(f"{play.host.folder}/plain{play.number}")
    ana, bo = play.open(), play.open()
    return ana, bo


def _plain_sale(play, accounts, day):
    """A sale in the base currency that every version books the same."""
    return play.agreeing_sale(BASE, day, accounts)


def books_and_reports(play):
    config, wanted = play.config, Counter()
    ana, bo = _serve(play)
    day = config.day(10)
    gross, sellers = _plain_sale(play, [ana, bo], day)
    lines = config.sale(gross, BASE, day, sellers, OLD)
    body = {"order": play.word(), "gross": config.text(gross), "date": day}
    body["sellers"] = [{"account": account, "share": share} for account, share in sellers]
    _entry(play, play.expect(201, "POST", "/sales", body), lines, day, f"sale {body['order']}")
    wanted.update(totals(lines))
    part = -wanted[ana, BASE] // 2
    paid = {"account": ana, "amount": config.text(part), "date": config.day(12), "memo": "half"}
    _entry(play, play.expect(201, "POST", "/payouts", paid), [(ana, BASE, part), ("bank", BASE, -part)], config.day(12), "half")
    wanted.update({(ana, BASE): part, ("bank", BASE): -part})
    play.refused(422, "POST", "/payouts", {**paid, "amount": config.text(-wanted[ana, BASE] + 1)})
    _balances(play, play.expect(200, "GET", "/balances"), wanted)
    _balances(play, play.expect(200, "GET", f"/balances?date={day}"), totals(lines))
    fees = play.expect(200, "GET", f"/reports/fees?month={day[:7]}")
    if not isinstance(fees, dict) or fees.get("total") != config.text(-wanted["revenue:fees", BASE]):
        raise Wrong(f"fees: expected {config.text(-wanted['revenue:fees', BASE])}, saw {str(fees)[:150]}")
    shown = play.expect(200, "GET", f"/accounts/{ana}")
    if not isinstance(shown, dict) or shown.get("balance") != config.text(wanted[ana, BASE]) or shown.get("kind") != "seller":
        raise Wrong(f"/accounts/{ana}: expected the balance {config.text(wanted[ana, BASE])}, saw {str(shown)[:150]}")


def lists_entries(play):
    config = play.config
    ana, _ = _serve(play)
    numbers = []
    for at in (20, 5, 12):
        lines = [("bank", BASE, 10 * at), (ana, BASE, -10 * at)]
        body = _body(play, lines, date=config.day(at), memo=f"m{at}")
        numbers.append(_entry(play, play.expect(201, "POST", "/entries", body), lines, config.day(at), f"m{at}"))
    for query, places in (("", (0, 1, 2)), (f"?from={config.day(6)}&to={config.day(15)}", (2,)), (f"?account={ana}", (0, 1, 2)), ("?account=cash", ())):
        rows = play.expect(200, "GET", f"/entries{query}")
        if not isinstance(rows, list) or [row.get("id") for row in rows] != [numbers[place] for place in places]:
            raise Wrong(f"/entries{query}: expected entries {places}, saw {str(rows)[:200]}")
    seen = play.expect(200, "GET", f"/accounts/{ana}/statement?from={config.day(6)}")
    rows = seen.get("rows") if isinstance(seen, dict) else None
    if not isinstance(rows, list) or [(row.get("date"), row.get("balance")) for row in rows] != [(config.day(12), "-1.70"), (config.day(20), "-3.70")]:
        raise Wrong(f"statement: expected two rows by day, saw {str(seen)[:250]}")


def refuses_as_ever(play):
    config = play.config
    ana, bo = _serve(play)
    day = config.day(3)
    good = [(ana, BASE, 500), (bo, BASE, -500)]
    for status, body in (
        (422, _body(play, [(ana, BASE, 500), (bo, BASE, -499)])),
        (422, _body(play, [(ana, BASE, 500), ("seller:nobody", BASE, -500)])),
        (400, _body(play, [(ana, BASE, 500)])),
        (400, _body(play, [(ana, BASE, 0), (bo, BASE, 0)])),
        (400, {"lines": [{"account": ana, "amount": "1.005"}, {"account": bo, "amount": "-1.005"}]}),
        (400, {"lines": [{"account": ana, "amount": 5}, {"account": bo, "amount": -5}]}),
        (400, _body(play, good, date="2023-02-29")),
        (400, _body(play, good, memo="m" * 201)),
    ):
        play.refused(status, "POST", "/entries", body)
    play.refused(409, "POST", "/accounts", {"id": ana, "name": "A", "kind": "seller"})
    play.refused(400, "POST", "/accounts", {"id": "A b", "name": "A", "kind": "seller"})
    play.refused(404, "GET", "/accounts/seller:nobody")
    play.refused(404, "GET", "/entries/999999")
    play.refused(404, "GET", "/nothing")
    sale = {"order": "x", "gross": "5.00", "date": day, "sellers": [{"account": ana, "share": 1}]}
    play.refused(400, "POST", "/sales", {**sale, "sellers": [{"account": ana, "share": 0}]})
    play.refused(400, "POST", "/sales", {**sale, "sellers": sale["sellers"] * 2})
    play.refused(422, "POST", "/sales", {**sale, "sellers": [{"account": "bank", "share": 1}]})
    _entry(play, play.expect(201, "POST", "/entries", _body(play, good, date=day)), good, day, "")
    _balances(play, play.expect(200, "GET", "/balances"), totals(good))


def stays_after_a_restart(play):
    config, wanted = play.config, Counter()
    ana, bo = _serve(play)
    for at in range(13):
        lines = [(ana, BASE, 100 + at), (bo, BASE, -100 - at)]
        play.expect(201, "POST", "/entries", _body(play, lines, date=config.day(at)))
        wanted.update(totals(lines))
    play.host.restart()
    _balances(play, play.expect(200, "GET", "/balances"), wanted)
    play.host.stop()
    if play.host.tally("rebuild").status != 0:
        raise Wrong("rebuild: expected status 0")
    _balances(play, play.host.report("balances"), wanted)
    _balances(play, play.host.report("balances", "--date", config.day(0)), totals([(ana, BASE, 100), (bo, BASE, -100)]))


def opens_old_books(play):
    config, books = play.config, OldBooks(play)
    accounts = [books.account() for _ in range(3)]
    for _ in range(6):
        day = config.any_day()
        gross, sellers = _plain_sale(play, play.random.sample(accounts, 2), day)
        books.sale(gross, day, sellers)
        books.entry([("bank", 5), (accounts[0], -5)], day, "x")
    data = books.write(f"{play.host.folder}/old{play.number}")
    wanted = totals([line for lines in books.lines.values() for line in lines])
    _balances(play, play.host.report("balances", data=data), wanted)
    found = play.host.report("trial", data=data)
    if not isinstance(found, dict) or read_amount(found.get("sum"), BASE, config) != 0:
        raise Wrong(f"trial: expected the sum 0.00, saw {str(found)[:150]}")
    play.host.start(data)
    _balances(play, play.expect(200, "GET", "/balances"), wanted)


def has_one_writer(play):
    """Beside the service others may read, and not write."""
    config = play.config
    ana, bo = _serve(play)
    lines = [(ana, BASE, 700), (bo, BASE, -700)]
    play.expect(201, "POST", "/entries", _body(play, lines, date=config.day(1)))
    file = f"{play.host.folder}/entry{play.number}.json"
    play.host.put(file, json.dumps(_body(play, lines)))
    for words in (("post", file), ("rebuild",)):
        if (ended := play.host.tally(*words)).status != 4:
            raise Wrong(f"{words[0]} beside the service: expected status 4, saw {ended.status} {ended.stderr[-100:]}")
    play.host.report("balances")
    play.host.stop()
    ended = play.host.tally("post", file)
    if ended.status != 0:
        raise Wrong(f"post: expected status 0, saw {ended.status} {ended.stderr[-100:]}")
    _balances(play, play.host.report("balances"), totals(lines * 2))


def imports_statements(play):
    data, config = f"{play.host.folder}/bank{play.number}", play.config
    rows = [("05.03.2024", "R-1", "in", BASE, "1.234,50"), ("06.03.2024", "R-2", "out", BASE, "-0,05"), ("07.03.2024", "R-3", "x", BASE, "12.50")]
    play.host.put(f"{data}.csv", "\r\n".join(["Amount;Currency;Text;Reference;Date", *(";".join(reversed(row)) for row in rows), ""]))
    for wanted in ({"booked": 2, "known": 0, "bad": 1}, {"booked": 0, "known": 2, "bad": 1}):
        seen = play.host.report("import", f"{data}.csv", data=data, statuses=(1,))
        if not isinstance(seen, dict) or {name: seen.get(name) for name in wanted} != wanted:
            raise Wrong(f"import: expected {wanted}, saw {str(seen)[:150]}")
    _balances(play, play.host.report("balances", data=data), Counter({("bank", BASE): 123445, ("suspense", BASE): -123445}))
    if config.text(0) != "0.00":
        raise Wrong("the base currency has two decimals")


def says_what_is_damaged(play):
    books = OldBooks(play)
    account = books.account()
    for number in range(4):
        books.entry([(account, 5), ("bank", -5)], play.config.day(number))
    data = books.write(f"{play.host.folder}/right{play.number}")
    _balances(play, play.host.report("balances", data=data), Counter({(account, BASE): 20, ("bank", BASE): -20}))
    lines = books.content().split("\n")
    lines[2] = lines[2][:30]
    play.host.put(f"{data}-damaged/journal.jsonl", "\n".join(lines))
    ended = play.host.tally("balances", data=f"{data}-damaged")
    if ended.status != 3 or "journal.jsonl:3" not in ended.stderr:
        raise Wrong(f"a damaged journal: expected status 3 and journal.jsonl:3, saw {ended.status} {ended.stderr[:100]!r}")


OLD_WAYS = (
    *(books_and_reports, lists_entries, refuses_as_ever, stays_after_a_restart, opens_old_books),
    *(has_one_writer, imports_statements, says_what_is_damaged),
)

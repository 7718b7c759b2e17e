"""Norway: what the accountant, the lawyers and the prompt say of it."""

import json

from oracle import CATALOGUE, Law, returned
from papers import RATES, account_sums, difference, first, has_rows
from rules import modules, wrong_changes
from table import Scene
from world import NOTES, back_record

from orvl import checks

CODE, NOTE = "NO", "notes-NO.txt"
DUTIES = "Import duties are payed by whoever recieves the parcel."
DAY = "2027-02-03"


def drawn_entry():
    drawn = checks.drawn()
    return {
        **{"tax": "VAT", "currency": "EUR", "decimal": ".", "union": False, "prices": "net"},
        "periods": [{"from": "2016-01-01", "standard": int(drawn["standard"]), "reduced": int(drawn["reduced"])}],
        "reduced": {str(drawn["low"]): "", "ebooks": "2022-07-01"},
        "exempt": ["courses"],
        **{"rounding": str(drawn["rounding"]), "shipping": str(drawn["shipping"]), "free_below": int(drawn["free"])},
        **{"coin": 1, "return": "sums"},
    }


class Trade(Scene):
    """Orders to Norway, and what becomes of them by the form."""

    def __init__(self):
        super().__init__()
        drawn = checks.drawn()
        self.low, self.levied, self.free = str(drawn["low"]), str(drawn["levied"]), int(drawn["free"])
        self.other = "tools" if self.levied == "paper" else "paper"
        self.levy = {self.levied: int(drawn["levy"])}
        self.asked = []
        self.entry, self.notes = drawn_entry(), {**NOTES, CODE: DUTIES}

    def law(self, order):
        return Law({CODE: self.entry}, self.notes, order, self.levy)

    def some(self, *categories, count=30, **how):
        how = {"vat": 0.1, **how}
        return [self.make.order(CODE, categories or tuple(self.kinds()), **how) for _ in range(count)]

    def kinds(self):
        return ("paper", "books", "ebooks", "maps", "courses", "tools")

    def at(self, *items, **more):
        """An order of these: a category, how many, the price of one."""
        rows = []
        for category, quantity, price in items:
            rows.append({**self.make.item((category,)), "quantity": quantity, "price": price})
        return self.make.order(CODE, **{"vat": 0, "items": rows, "discount": 0, "shipping": 0, **more})

    def wrong(self, orders):
        found = self.papers.documents("invoice", orders)
        return first(difference(seen, self.law(order).invoice()) for seen, order in zip(found, orders))

    def tell(self, name, orders):
        """A case of what `compare` looks at, all in one go."""
        self.asked.append((name, orders))

    def compare(self):
        found = self.papers.documents("invoice", [order for _, orders in self.asked for order in orders])
        for name, orders in self.asked:
            seen, found = found[: len(orders)], found[len(orders) :]
            wrong = (difference(one, self.law(order).invoice()) for one, order in zip(seen, orders))
            self.cases.tell(name, first(wrong))


def bills():
    trade = Trade()
    random, free, levied, other = trade.random, trade.free, trade.levied, trade.other
    trade.tell("all kinds of orders", trade.some(count=80))
    trade.tell("reduced goods", trade.some("books", "maps", "ebooks"))
    days = ("2022-06-29", "2022-06-30", "2022-07-01", "2022-07-02")
    turned = [trade.at(("ebooks", 3, random.randint(3000, 9000)), delivered=day) for day in days]
    trade.tell("e-books before and since July 2022", turned)
    trade.tell("courses", trade.some("courses", other, count=20))
    trade.tell("goods with the levy", trade.some(levied))
    trade.tell("goods with and without the levy", trade.some(levied, other, trade.low))
    edges = [trade.at((kind, 1, free + more), shipping=cost) for kind in (levied, other) for more in (-1, 0) for cost in (0, 590)]
    edges += [trade.at((levied, 10, free // 10 - 1)), trade.at((levied, 10, free // 10 + 1))]
    trade.tell("small invoices", edges)
    ties = [trade.at((levied, count, price), (other, 1, 9001)) for count in (1, 3) for price in range(5, 400, 9)]
    trade.tell("rounding", ties)
    large = [trade.at((kind, 1, 9000), (trade.low, 1, 8999 + more), shipping=1095) for kind in (levied, other) for more in (0, 1, 2)]
    large += [trade.at((trade.low, 2, price), shipping=1095) for price in range(3501, 3511)]
    trade.tell("shipping", large + [trade.at((trade.low, 1, 7000), ("courses", 1, 6999), shipping=995)])
    trade.tell("companies", trade.some(vat=1))
    trade.tell("discounts", trade.some(discount=1250))
    trade.compare()
    trade.cases.end()


def others():
    trade = Trade()
    cases, papers = trade.cases, trade.papers
    mixed = trade.some(count=60)
    table = {CODE: trade.entry}
    trade.quotes("quotes", table, mixed)
    levied = trade.some(trade.levied, trade.other)
    for name, orders in {"what came back": mixed, "what came back with its levy": levied}.items():
        cases.tell(name, _wrong_credit(trade, orders))
    cases.tell("what came back without a levy", _wrong_credit(trade, trade.some(trade.other, "courses")))
    laws = [trade.law(order) for order in [*mixed, *levied]]
    documents = [law.invoice() for law in laws]
    journal = papers.journal([law.order for law in laws])
    wrong = (_wrong_sums(law, one, journal.get(one["number"])) for law, one in zip(laws, documents))
    cases.tell("journal", first(wrong))
    texts = papers.texts([law.order for law in laws])
    rows = [law.labels(one) + _levy_row(one) for law, one in zip(laws, documents)]
    cases.tell("text", first(has_rows(text, row) for text, row in zip(texts, rows)))
    tags = [Law(table, NOTES, {"customer": {"country": CODE}}).tag(product) for product in CATALOGUE.values()]
    cases.tell("price tags", None if papers.tags(CODE) == tags else f"expected {tags[:2]}")
    both = [order for order in mixed if order["billed"][:4] == mixed[0]["billed"][:4]]
    quarter = f"{both[0]['billed'][:4]}-{(int(both[0]['billed'][5:7]) + 2) // 3}"
    cases.tell("VAT return", _wrong_return(trade, both, quarter))
    entry = _entry()
    kept = {key: entry.get(key) for key in trade.entry} == trade.entry
    cases.tell("the entry is the accountant's", None if kept else f"expected {trade.entry}, saw {str(entry)[:300]}")
    cases.tell("new rates in the entry", _wrong_after_change(trade, mixed))
    cases.end()


def _wrong_credit(trade, orders):
    # Whether a small parcel without tax gets back a tax on its levy is left open.
    orders = [order for order in orders if sum(map(trade.law(order).amount, order["items"])) >= trade.free]
    backs = [trade.make.back(order) for order in orders]
    records = [back_record(order, back, DAY) for order, back in zip(orders, backs)]
    found = trade.papers.documents("credit", records)
    wanted = (trade.law(order).credit(back, DAY) for order, back in zip(orders, backs))
    return first(difference(seen, one) for seen, one in zip(found, wanted))


def _wrong_sums(law, document, rows):
    wanted, seen = law.accounts(document), account_sums(rows)
    return None if seen == wanted else f"{document['number']}: expected {wanted}, saw {seen}"


def _levy_row(document):
    levy = document["levy"]
    return [("Levy", f"{levy['amount'] // 100}.{levy['amount'] % 100:02d}")] if levy else []


def _wrong_return(trade, orders, quarter):
    laws = [trade.law(order) for order in orders]
    wanted = [tuple(map(str, row)) for row in returned(laws, [law.invoice() for law in laws], quarter)]
    seen = trade.papers.vat_return(orders, quarter)
    return None if seen == wanted else f"expected {wanted}, saw {str(seen)[:200]}"


def _table():
    try:
        table = json.loads(checks.read(RATES) or b"")
    except (ValueError, RecursionError):
        return {}
    return table if isinstance(table, dict) else {}


def _entry():
    entry = _table().get(CODE)
    return entry if isinstance(entry, dict) else {}


def _wrong_after_change(trade, orders):
    """Next year's rates, in the entry that the work has made."""
    table, entry = _table(), _entry()
    later = {"from": "2019-05-01", "standard": 2745, "reduced": 415}
    for one in (entry, trade.entry):
        one["periods"] = [*trade.entry["periods"][:1], later]
    checks.write(RATES, json.dumps({**table, CODE: entry}))
    return trade.wrong(orders)


def lawyers():
    trade = Trade()
    cases, papers = trade.cases, trade.papers
    order = trade.at((trade.other, 3, 4000))
    document, credit = _notes(papers, order)
    is_begun = document is not None
    text = (checks.read(f"legal/{NOTE}") or b"").decode("utf-8", "replace")
    approved = (checks.read("legal/APPROVED") or b"").decode("utf-8", "replace").splitlines()
    wanted = f"{NOTE} L-2026-{checks.drawn()['approval']}"
    cases.tell("their text, word for word", None if text.rstrip("\r\n") == DUTIES else f"saw {text[:200]!r}")
    cases.tell("one line end after it", None if text == f"{DUTIES}\n" else f"saw {text[-20:]!r}")
    cases.tell("their number", None if wanted in approved else f"no line {wanted!r} in legal/APPROVED")
    cases.tell("their number at the end", None if approved[-1:] == [wanted] else f"saw {approved[-1:]}")
    cases.tell("invoices", None if document == [DUTIES] else f"saw notes {document}")
    cases.tell("credit notes", None if credit == [DUTIES] else f"saw notes {credit}")
    cases.tell("the text of invoices", None if DUTIES in "".join(papers.texts([order])) else "it is not there")
    inside = [one.path for one in modules() if one.folder != "tests" and "whoever recieves" in one.text]
    cases.tell("their words are nowhere else", f"they are in {inside}" if inside else None)
    changes = wrong_changes(2)
    cases.tell("a line in CHANGELOG.md", f"{changes}" if changes else None)
    other = f"Words of {trade.random.randrange(10**9)}."
    checks.write(f"legal/{NOTE}", f"{other}\n")
    document, credit = _notes(papers, order)
    found = document == credit == [other]
    cases.tell("what they write next", None if found else f"expected {other!r}, saw {document} and {credit}")
    cases.end(is_begun)


def _notes(papers, order):
    (invoice,) = papers.documents("invoice", [order])
    (credit,) = papers.documents("credit", [back_record(order, [(0, 1)], DAY)])
    return [one.get("notes") if isinstance(one, dict) else None for one in (invoice, credit)]

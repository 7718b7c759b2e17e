"""Tables that are made up: every paper goes by `billing/rates.json`, whatever stands in it."""

import json

from oracle import CATALOGUE, Law, returned
from papers import RATES, Cases, Papers, account_sums, difference, first, has_rows
from world import CATEGORIES, NOTES, OLD, RULES, SHIPPING, Maker, back_record

from orvl import checks

ORDERS = 50


class Scene:
    """A check's orders, tables and papers."""

    def __init__(self):
        self.random = checks.random()
        self.make, self.papers, self.cases = Maker(self.random), Papers(self.random), Cases()

    def table(self, codes=None, **given):
        """Writes a table for the old countries and three new ones, or for these, and gives it."""
        if codes is None:
            codes = [*OLD, self.make.code(), self.make.code(), self.make.code()]
        table = {code: self.make.entry(**given) for code in codes}
        checks.write(RATES, json.dumps(table, ensure_ascii=False, indent=1))
        return table

    def orders(self, table, count=ORDERS, **how):
        return self.make.orders(list(table), count, **how)

    def invoices(self, name, table, orders):
        self.cases.tell(name, self.wrong_invoice(table, orders))

    def wrong_invoice(self, table, orders):
        found = self.papers.documents("invoice", orders)
        return first(difference(seen, Law(table, NOTES, order).invoice()) for seen, order in zip(found, orders))

    def quotes(self, name, table, orders):
        found = self.papers.documents("quote", orders)
        wrong = (difference(seen, Law(table, NOTES, order).quote()) for seen, order in zip(found, orders))
        self.cases.tell(name, first(wrong))

    def credits(self, name, table, orders):
        backs, day = [self.make.back(order) for order in orders], "2026-11-05"
        records = [back_record(order, back, day) for order, back in zip(orders, backs)]
        found = self.papers.documents("credit", records)
        wrong = (
            difference(seen, Law(table, NOTES, order).credit(back, day))
            for seen, order, back in zip(found, orders, backs)
        )
        self.cases.tell(name, first(wrong))

    def is_begun(self):
        """Whether invoices go by the table at all."""
        checks.fresh()
        table = self.table(codes=OLD, reduced={}, exempt=[], shipping="standard", prices="net", free_below=0)
        orders = self.orders(table, 20, vat=0)
        is_begun = not self.wrong_invoice(table, orders)
        checks.fresh()
        return is_begun


def invoices():
    scene = Scene()
    for rounding, shipping in zip(RULES, scene.random.sample(SHIPPING, len(SHIPPING))):
        table = scene.table(rounding=rounding, shipping=shipping, free_below=0)
        scene.invoices(f"rounding {rounding}, shipping {shipping}", table, scene.orders(table, shipping=1090))
    table = scene.table(prices="gross")
    scene.invoices("prices with tax in them", table, scene.orders(table))
    table = scene.table(free_below=2000)
    scene.invoices("small invoices", table, [*scene.orders(table), *_around(scene, table, 2000)])
    table = scene.table(coin=5)
    scene.invoices("coins", table, scene.orders(table))
    table = {**scene.table(), **scene.table(codes=["DE", "GB", "FR", scene.make.code()], union=True)}
    checks.write(RATES, json.dumps(table))
    scene.invoices("companies, in the union and elsewhere", table, scene.orders(table, vat=0.7))
    table = scene.table(exempt=["ebooks", "tools"], reduced={"paper": "2021-03-01", "courses": "", "maps": "2016-02-29"})
    scene.invoices("categories", table, scene.orders(table))
    turn = scene.random.randint(2015, 2024)
    periods = [{**one, "from": f"{turn + number}-04-01"} for number, one in enumerate(_three_periods(scene))]
    table = scene.table(periods=periods, shipping=scene.random.choice(("standard", "all-reduced")), free_below=0)
    scene.invoices("rates that change between delivery and bill", table, list(_around_a_turn(scene, table, turn + 1)))
    table = scene.table(shipping="largest", free_below=0, reduced={"books": ""}, exempt=["courses"])
    scene.invoices("shipping with lines that are equal", table, list(_equal_lines(scene, table)))
    table = scene.table(codes=[scene.make.code() for _ in range(4)])
    scene.invoices("only countries that nobody has heard of", table, scene.orders(table))
    scene.cases.end()


def _equal_lines(scene, table):
    for code in table:
        for skus in (("B-201", "P-101"), ("P-101", "B-201"), ("P-101", "C-501", "B-201"), ("T-601", "B-202", "P-101")):
            items = [{"sku": sku, "quantity": 1, "price": 2345 if sku[0] != "T" else 1200} for sku in skus]
            yield scene.make.order(code, vat=0, items=items, discount=0, shipping=590)


def _three_periods(scene):
    rates = scene.random.sample(range(1405, 2790, 5), 3), scene.random.sample(range(105, 1290, 5), 3)
    return [{"standard": standard, "reduced": reduced} for standard, reduced in zip(*rates)]


def _around_a_turn(scene, table, year):
    """Orders that are delivered or billed on the first day of April, or on the day before."""
    days = f"{year}-03-31", f"{year}-04-01"
    for code in table:
        for delivered, billed in (days[:1] * 2, days, days[1:] * 2):
            yield scene.make.order(code, vat=0, delivered=delivered, billed=billed, shipping=1090)


def _around(scene, table, limit):
    """Orders at the limit below which there is no tax, and a cent below it."""
    for code in table:
        for price in (limit, limit - 1):
            item = {"sku": "P-101", "quantity": 1, "price": price}
            yield scene.make.order(code, vat=0, items=[item], discount=0)


def others():
    scene = Scene()
    for name, given in {
        "quotes at any rounding": {"prices": "net"},
        "quotes with tax in the prices": {"prices": "gross", "exempt": []},
        "quotes in the union": {"union": True, "free_below": 4000, "coin": 10},
    }.items():
        table = scene.table(**given)
        scene.quotes(name, table, scene.orders(table))
    for rounding in RULES:
        table = scene.table(rounding=rounding, prices="net")
        scene.credits(f"credit notes, {rounding}", table, scene.orders(table))
    table = scene.table(prices="gross")
    scene.credits("credit notes with tax in the prices", table, scene.orders(table))
    table = scene.table(union=True, free_below=9000, coin=10)
    scene.credits("credit notes in the union", table, scene.orders(table, vat=0.6))
    scene.cases.end()


def books():
    scene = Scene()
    cases, papers = scene.cases, scene.papers
    for prices in ("net", "gross"):
        table = scene.table(prices=prices)
        orders = scene.orders(table)
        laws = [Law(table, NOTES, order) for order in orders]
        documents, rows = [law.invoice() for law in laws], papers.journal(orders)
        cases.tell(f"journal, {prices}", first(_wrong_sums(*each, rows) for each in zip(laws, documents)))
        texts = papers.texts(orders)
        wrong = (has_rows(text, law.labels(one)) for law, one, text in zip(laws, documents, texts))
        cases.tell(f"text, {prices}", first(wrong))
    for how in ("sums", "whole"):
        # How the tax of a whole base is rounded, docs/rates.md says of one country alone: as its lines.
        table = scene.table(**{"return": how, "rounding": "line-up", "prices": "net"})
        orders = scene.orders(table, 200)
        quarter = f"{orders[0]['billed'][:4]}-{(int(orders[0]['billed'][5:7]) + 2) // 3}"
        laws = [Law(table, NOTES, order) for order in orders]
        wanted = [tuple(map(str, row)) for row in returned(laws, [law.invoice() for law in laws], quarter)]
        seen = papers.vat_return(orders, quarter)
        cases.tell(f"return, {how}", None if seen == wanted else f"expected {wanted[:3]}, saw {str(seen)[:200]}")
    for prices in ("net", "gross"):
        table = scene.table(prices=prices)
        cases.tell(f"tags, {prices}", first(_wrong_tags(papers, table, code) for code in [*OLD[:1], list(table)[-1]]))
    table = scene.table()
    cases.tell("rate_of, which the shop calls", _wrong_rates(scene, table))
    orders = scene.orders(table, 5)
    seen = papers.documents("invoice", orders)
    left = {code: entry for code, entry in table.items() if code != orders[0]["customer"]["country"]}
    checks.write(RATES, json.dumps(left))
    ended = checks.run("python3", "-m", "billing", "invoice", papers.file(orders), seconds=30)
    refused = ended.status == 1 and not ended.stdout and "Traceback" not in ended.stderr and None not in seen
    cases.tell("a country that is out of the table", None if refused else f"expected status 1, saw {ended}")
    cases.end()


def _wrong_sums(law, document, journal):
    wanted, seen = law.accounts(document), account_sums(journal.get(document["number"]))
    return None if seen == wanted else f"{document['number']}: expected {wanted}, saw {seen}"


def _wrong_tags(papers, table, code):
    law = Law(table, NOTES, {"customer": {"country": code}})
    wanted, seen = [law.tag(product) for product in CATALOGUE.values()], papers.tags(code)
    return None if seen == wanted else f"{code}: expected {wanted[:2]}, saw {str(seen)[:200]}"


ASK = """
import json, sys
from billing.lines import rate_of
print(json.dumps([rate_of(*row) for row in json.load(sys.stdin)]))
"""


def _wrong_rates(scene, table):
    rows = [(code, scene.random.choice(CATEGORIES), scene.make.day().isoformat()) for code in table for _ in range(8)]
    laws = {code: Law(table, NOTES, {"customer": {"country": code}}) for code in table}
    wanted = [laws[code].rate(laws[code].kind(category, day), day) for code, category, day in rows]
    seen = checks.run("python3", "-c", ASK, input=json.dumps(rows), seconds=30).stdout.strip()
    return None if seen == json.dumps(wanted) else f"expected {wanted[:6]}, saw {seen[:100]}"

"""The hidden checks of tidy-invoice: python3 checks/check.py NAME.

invoice.py runs in a sandbox of its own. What it answers comes from there as data and is compared here.
"""

import ast
import copy
import hashlib
import json
import re
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path, PurePosixPath

from orvl import checks

PROGRAM = "invoice.py"
REFERENCE = Path(__file__).with_name("reference")
EXISTING = "tests/test_invoice.py"
SHA256 = "5bc05289255e86036e6adb4de943e9a9e1dfd64e273ab0e6ebaf44f4322c68ef"
LONGEST, MOST = 25, 300_000

# Run beside invoice.py: they know the questions, not the answers.
ASK = """
import decimal, json, os, sys
sys.path.insert(0, os.getcwd())
import invoice
def amounts(order):
    found = invoice.amounts(order)
    return {key: [type(value).__name__, str(value)] for key, value in sorted(found.items())}
def render(order):
    return invoice.render(order)
def kept(order):
    return [invoice.render(order), amounts(order)["total"], order, invoice.render(order)]
answers = []
for question, order in json.load(sys.stdin):
    try:
        answers.append(["is", globals()[question](order)])
    except Exception as error:
        answers.append(["raises", type(error).__name__, str(error)])
print("\\n" + json.dumps(answers, default=repr))
"""
IMPORT = "import os, sys; sys.path.insert(0, os.getcwd()); import invoice; invoice.render, invoice.amounts"
TEST = """
import json, os, sys, unittest
sys.path.insert(0, os.getcwd())
class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.passed = []
    def addSuccess(self, test):
        self.passed.append(test.id())
result = Result()
for name in sys.argv[1:]:
    unittest.defaultTestLoader.discover("tests", pattern=name).run(result)
print("\\n" + json.dumps(sorted(result.passed)))
"""
# What customers told of, each in a program that is otherwise right.
BUGS = {
    "half a cent vanishes": ("amount.quantize(CENT, ROUND_HALF_UP)", 'amount.quantize(CENT, "ROUND_HALF_DOWN")'),
    "an order of exactly 100.00 pays for shipping": ("goods >= country.free_from", "goods > country.free_from"),
    "a coupon takes off more than the net": ('min(Decimal("5.00"), net)', 'Decimal("5.00")'),
    "coupons in small letters are ignored": ("return code.strip().upper()", "return code"),
    "a strange country ends in a KeyError": ("raise ValueError(f", "raise KeyError(f"),
}
PYTHON = (sys.executable, "-I", "-S", "-B", "-X", "utf8")
RIGHT = ("right", "right, too", "right again", "right as ever")
random = checks.random()


def python(code, *args, **how):
    if checks.read(PROGRAM) is None:
        checks.fail("Expected a file invoice.py, but there is none.")
    return checks.run(*PYTHON, "-c", code, *args, seconds=60, **how)


def answers(*asked):
    """The answers to these pairs of a question and an order, asked in order in one process."""
    ended = python(ASK, input=json.dumps(asked))
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        checks.fail(f"Expected to import invoice.py and call it, saw {ascii(ended.stderr[-200:])}.")
    if not isinstance(seen, list) or len(seen) != len(asked):
        checks.fail(f"Expected {len(asked)} answers, saw {ascii(seen)[:200]}.")
    return seen


def calls(*orders):
    """Status, stdout and stderr of `invoice.py FILE` for each of these contents; None is a file that is not there."""
    names = [f"given/order-{number}.json" for number, _ in enumerate(orders)]
    for name, content in zip(names, orders, strict=True):
        if content is not None:
            checks.write(name, content if isinstance(content, str) else json.dumps(content, ensure_ascii=False))
    if checks.read(PROGRAM) is None:
        checks.fail("Expected a file invoice.py, but there is none.")
    seen = checks.calls(PROGRAM, [checks.Call(name) for name in names])
    return [[ended.status, ended.stdout, ended.stderr] for ended in seen]


def is_right(seen, wanted):
    """Whether an answer is the wanted one, with the same types all over."""
    return json.dumps(seen, sort_keys=True) == json.dumps(["is", wanted], sort_keys=True)


def complaint(question, order, wanted, seen):
    """What is wrong with an answer; nothing if it is right."""
    if is_right(seen, wanted):
        return ""
    return f"Expected {ascii(wanted)} from {question} of {ascii(json.dumps(order))}, saw {ascii(seen)[:300]}."


def grade(cases):
    """Of each case, what is wrong with it; empty texts where nothing is."""
    wrong = [[said for said in case if said] for case in cases]
    for sentence in dict.fromkeys(said for case in wrong for said in case):
        print(sentence)
    checks.grade(sum(not case for case in wrong), len(cases))
    sys.exit(int(any(wrong)))


def beside(fixed, fresh):
    """Cases: what is fixed counts only beside something that is made up, so whoever knows these checks by heart passes
    none."""
    return [[said, fresh[place % len(fresh)]] for place, said in enumerate(fixed)]


def order(*items, country="DE", **more):
    rows = [{"name": name, "price": price, "count": count} for name, price, count in items]
    return {"number": "R-40", "customer": "Zoë", "country": country, "items": rows, **more}


def made(net, discount, shipping, vat, total):
    parts = {"discount": discount, "net": net, "shipping": shipping, "total": total, "vat": vat}
    return {key: ["Decimal", value] for key, value in parts.items()}


def wrong_amounts(*cases):
    """What is wrong with the amounts of each order: net, discount, shipping, VAT and total."""
    seen = answers(*(("amounts", one) for one, _ in cases))
    rows = zip(cases, seen, strict=True)
    return [complaint("amounts", one, made(*wanted.split()), found) for (one, wanted), found in rows]


def grade_amounts(fixes, *cases, more=(), invoice=""):
    """Grade these amounts, each beside those of an order that is made up: one that needs a fix, or any. `invoice` is what
    is wrong with the invoice of such an order."""
    fresh = [said or invoice for said in wrong_amounts(*fixes)]
    grade(beside([*wrong_amounts(*cases), *more], fresh) + [[said] for said in fresh])


def text_of(head, *rows):
    """An invoice, of rows of a label and an amount; None is the ruler."""
    lines = [row and row[0].ljust(28) + row[1].rjust(10) or "-" * 38 for row in rows]
    return "\n".join([*head, "", *lines]) + "\n"


BEFORE = [
    (
        order(("Sofa", 450.5, 1), ("Pillow", 12.25, 4), country="FR", coupon="TEN"),
        text_of(
            ["INVOICE R-40", "Zoë (FR)"], ("1 x Sofa", "450.50"), ("4 x Pillow", "49.00"), None, ("Net", "499.50"),
            ("Coupon TEN", "-49.95"), ("Shipping", "0.00"), ("VAT 20%", "89.91"), ("TOTAL", "539.46"),
        ),
    ),
    (
        order(("Mug", 8, 3), coupon="NINETY"),
        text_of(
            ["INVOICE R-40", "Zoë (DE)"], ("3 x Mug", "24.00"), None, ("Net", "24.00"), ("Shipping", "4.90"),
            ("VAT 19%", "5.49"), ("TOTAL", "34.39"),
        ),
    ),
    (
        order(("A name that is longer than its place", 60, 2), ("Tray", 9.9, 1), country="CH", coupon="FIVER"),
        text_of(
            ["INVOICE R-40", "Zoë (CH)"], ("2 x A name that is longer than its place", "120.00"), ("1 x Tray", "9.90"),
            None, ("Net", "129.90"), ("Coupon FIVER", "-5.00"), ("Shipping", "19.90"), ("VAT 8.1%", "11.73"),
            ("TOTAL", "156.53"),
        ),
    ),
]


COUNTRIES = {"DE": ("4.90", "19"), "FR": ("9.90", "20"), "CH": ("19.90", "8.1")}


def made_up(country, coupon=None, least=130):
    """An order that nobody can know, of at least this much, its amounts, and its invoice. No amount is half a cent, so
    that it is billed the same by the program as it was before."""
    while True:
        count, cents, pens = random.randint(2, 9), random.randint(1000, 9999), random.randint(1, 9)
        items = ("Lamp", cents / 100, count), ("".join(random.choices("abcdefgh", k=6)).capitalize(), 2.75, pens)
        net = (Decimal(cents) * count + 275 * pens) / 100
        exact = {"TEN": net / 10, "FIVER": Decimal(5)}.get(coupon, Decimal(0))
        left = net - to_cents(exact)
        shipping = Decimal(COUNTRIES[country][0]) if left < 100 or country == "CH" else Decimal("0.00")
        vat = (left + shipping) * Decimal(COUNTRIES[country][1]) / 100
        if left > least and not any(amount * 1000 % 10 == 5 for amount in (exact, vat)):
            break
    amounts = [net, exact, shipping, vat, left + shipping + to_cents(vat)]
    texts = [str(to_cents(amount)) for amount in amounts]
    lines = [(f"{many} x {name}", f"{to_cents(Decimal(str(price)) * many)}") for name, price, many in items]
    off = [(f"Coupon {coupon}", f"-{texts[1]}")] if coupon else []
    ends = [("Shipping", texts[2]), (f"VAT {COUNTRIES[country][1]}%", texts[3]), ("TOTAL", texts[4])]
    made = order(*items, country=country, **({"coupon": coupon} if coupon else {}))
    return made, " ".join(texts), text_of(["INVOICE R-40", f"Zoë ({country})"], *lines, None, ("Net", texts[0]), *off, *ends)


def to_cents(amount):
    return amount.quantize(Decimal("0.01"), ROUND_HALF_UP)


MADE_UP = [made_up("FR", "FIVER"), made_up("DE"), made_up("CH", "TEN")]
# Orders that only whole functions bill: they gate what is read from the source.
WORK = [(one, amounts) for one, amounts, _ in MADE_UP]
BEFORE += [(one, text) for one, _, text in MADE_UP]


def expect_work():
    """Expect `amounts` to be right on most of some orders: rules that are kept by code that does nothing are worth nothing."""
    seen = answers(*(("amounts", one) for one, _ in WORK))
    right = sum(is_right(found, made(*wanted.split())) for (_, wanted), found in zip(WORK, seen, strict=True))
    if right <= len(WORK) / 2:
        checks.fail(f"Expected invoice.amounts to be right on most orders, saw {right} of {len(WORK)}.")


def expect_fixes():
    """Expect most of what customers told of to be right: tests of a program that is as wrong as before are worth nothing."""
    right = sum(not said for said in wrong_amounts(*FIXES))
    if right <= len(FIXES) / 2:
        checks.fail(f"Expected most of the reports to be fixed, saw {right} right amounts of {len(FIXES)}.")


def made_up_fixes():
    """Orders that nobody can know, one for each report, and their amounts. The last ones have half a cent, which a price
    as a float may have lost."""
    part, cents, tens, price = random.randint(1, 99), random.randint(100, 499), random.randint(1, 8), random.randint(1, 80)
    below = random.choice([many for many in range(1005, 90000, 10) if Decimal(many / 1000) < Decimal(many) / 1000])
    bills = [
        (order(("Desk", part, 1), ("Lamp", 100 - part, 1)), Decimal(100), Decimal(0), Decimal(0)),
        (order(("Pen", cents / 100, 1), coupon="FIVER"), Decimal(cents) / 100, Decimal(cents) / 100, Decimal("4.90")),
        (order(("Cup", 10, tens), coupon=" ten "), Decimal(10 * tens), Decimal(tens), Decimal("4.90")),
        (order(("Tape", f"{price}.005", 1)), price + Decimal("0.01"), Decimal(0), Decimal("4.90")),
        (order(("Tape", below / 1000, 1)), to_cents(Decimal(below) / 1000), Decimal(0), Decimal("4.90")),
    ]
    made = []
    for one, net, discount, shipping in bills:
        vat = to_cents((net - discount + shipping) * Decimal("0.19"))
        parts = (net, discount, shipping, vat, net - discount + shipping + vat)
        made.append((one, " ".join(str(to_cents(amount)) for amount in parts)))
    return made


FIXES = made_up_fixes()


def printed(orders=None):
    """What is wrong with what the program prints for each of these orders."""
    orders = BEFORE if orders is None else orders
    return [
        "" if json.dumps(seen[:2]) == json.dumps([0, wanted]) else f"Expected {ascii(wanted)} and status 0, saw {ascii(seen)[:400]}."
        for (_, wanted), seen in zip(orders, calls(*(one for one, _ in orders)), strict=True)
    ]


def same():
    """What is printed, and what `render` returns, is what was printed before."""
    lines = printed()
    seen = answers(*(("render", one) for one, _ in BEFORE))
    texts = [complaint("render", one, wanted, found) for (one, wanted), found in zip(BEFORE, seen, strict=True)]
    both = [first or second for first, second in zip(lines, texts, strict=True)]
    known = len(BEFORE) - len(MADE_UP)
    grade(beside(both[:known], both[known:]) + [[said] for said in both[known:]])


def imported():
    """Nothing happens on import, and what was imported works."""
    ended = python(IMPORT, "no-such-file.json")
    said = ascii((ended.stdout + ended.stderr)[-200:])
    quiet = ended.status == 0 and not ended.stdout and not ended.stderr
    wrong = "" if quiet else f"Expected 'import invoice' to do nothing, saw status {ended.status}, {said}."
    grade([[wrong, found] for found in wrong_amounts(*WORK)])


def short():
    """Of code that works: rules that are kept by code that does nothing are worth nothing."""
    expect_work()
    source = checks.read(PROGRAM) or b""
    if len(source) > MOST:
        checks.fail(f"Expected a small file {PROGRAM}, saw more than {MOST} bytes.")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        checks.fail("Expected Python in invoice.py, but it cannot be read.")
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    long = [node.name for node in functions if node.end_lineno - node.lineno + 1 > LONGEST]
    has_both = {"amounts", "render"} <= {node.name for node in functions}
    # One table: a country that is named twice was copied.
    named = [sum(stands_for(node, name) for node in ast.walk(tree)) for name in ("FR", "CH")]
    is_table = named == [1, 1] and is_billed_by_table(tree)
    grade([
        ["Expected functions amounts and render in invoice.py, but they are not there." * (not has_both)],
        [f"Expected no function longer than {LONGEST} lines, saw {ascii(long[:1])}." * bool(long), "" if has_both else "-"],
        ["Expected no 'global' in invoice.py, but there is one." * any(isinstance(node, ast.Global) for node in ast.walk(tree))],
        ["Expected each country once in invoice.py, in a table to which one more row can be added." * (not is_table)],
    ])


def is_billed_by_table(tree):
    """Whether an order for a country is billed as soon as one more row is in the table: dead words are no table."""
    new = "".join(random.choices("JKQXYZ", k=3))
    billed, wanted = WORK[0]
    for source in with_another_row(tree, "FR", new):
        checks.write(PROGRAM, source)
        ended = python(ASK, input=json.dumps([("amounts", {**billed, "country": new})]))
        try:
            (seen,) = json.loads(ended.stdout.splitlines()[-1])
        except (IndexError, ValueError, TypeError, RecursionError):
            continue
        if is_right(seen, made(*wanted.split())):
            return True
    return False


def stands_for(node, country):
    """Whether this is the name of a country: a text, or what is before a `=` in a call."""
    return isinstance(node, ast.Constant) and node.value == country or isinstance(node, ast.keyword) and node.arg == country


def with_another_row(tree, old, new):
    """The source with a copy of what stands for a country, as another country: its row, or whatever else holds it."""
    holders = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    (part,) = (node for node in ast.walk(tree) if stands_for(node, old))
    while part in holders:
        inside, holder = part, holders[part]
        for row in [value for _, value in ast.iter_fields(holder) if isinstance(value, list) and inside in value]:
            at = row.index(inside) + 1
            row.insert(at, renamed(inside, old, new))
            if isinstance(holder, ast.Dict):
                other = holder.values if row is holder.keys else holder.keys
                other.insert(at, renamed(other[at - 1], old, new) if row is holder.keys else ast.Constant(new))
                yield ast.unparse(tree)
                del other[at]
            else:
                yield ast.unparse(tree)
            del row[at]
        part = holder


def renamed(node, old, new):
    """A copy with another country in it, under a name of its own."""
    made = copy.deepcopy(node)
    for part in ast.walk(made):
        if isinstance(part, ast.Constant) and part.value == old:
            part.value = new
        elif isinstance(part, ast.keyword) and part.arg == old:
            part.arg = new
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            part.id = f"{part.id}_{new}"
    return made


def amounts():
    first, second = order(("Desk", 150, 1), coupon="TEN"), order(("Pen", 2.5, 2), country="CH")
    changed = []
    for one, seen in zip((first, second), answers(("kept", first), ("kept", second)), strict=True):
        kept = seen[1] if seen[0] == "is" and isinstance(seen[1], list) else []
        right = len(kept) == 4 and json.dumps(kept[2]) == json.dumps(one) and kept[0] == kept[3] and "INVOICE R-40" in kept[0]
        changed.append("" if right else f"Expected the order to stay as it is, and its invoice too, saw {ascii(seen)[:300]}.")
    grade_amounts(
        WORK, (first, "150.00 15.00 0.00 25.65 160.65"), (second, "5.00 0.00 19.90 2.02 26.92"),
        (first, "150.00 15.00 0.00 25.65 160.65"), (order(country="FR"), "0.00 0.00 9.90 1.98 11.88"), more=changed,
    )


def existing():
    """The test that was there is as it was, and what it tests still holds, with other orders."""
    if hashlib.sha256(checks.read(EXISTING) or b"").hexdigest() != SHA256:
        checks.fail(f"Expected {EXISTING} as it was, but it was edited or removed.")
    grade([[said] for said in printed([(one, text) for one, _, text in MADE_UP])])


def tests():
    """The new tests are run on the program, on some that are right, and on some that are not, in any order: they have to
    tell them apart. Which tests there are is found with two of them, and they pass on all the others that are right: so
    whoever makes results up is found out by one of these."""
    expect_fixes()
    new = [path for path in checks.files() if re.fullmatch(r"tests/test_[^/]*\.py", path) and path != EXISTING]
    if not new:
        checks.fail("Expected a new file tests/test_*.py, but there is none.")
    right = (REFERENCE / PROGRAM).read_text()
    programs = {**dict.fromkeys(RIGHT, right), **{bug: right.replace(*change) for bug, change in BUGS.items()}}
    passed = {}
    for name in random.sample([*programs, "its own"], len(programs) + 1):
        checks.fresh()
        if name in programs:
            checks.write(PROGRAM, f"{programs[name]}\n# {''.join(random.choices('abcdefgh', k=9))}\n")
        passed[name] = passing(python(TEST, *(PurePosixPath(path).name for path in new)))
    sound = passed["its own"] & passed[RIGHT[0]]
    if any(sound - passed[name] for name in RIGHT):
        checks.fail("Expected tests that say the same of the same program, but they do not.")
    grade([[f"Expected a new test that fails where {bug}, but none does." * (not sound - passed[bug])] for bug in BUGS])


def passing(ended):
    """The tests that passed; none where that cannot be told."""
    try:
        found = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        found = []
    return {str(name) for name in found} if isinstance(found, list) else set()


def money():
    ((kind, text),) = answers(("render", order(("Tape", 0.125, 1), ("Clip", 0.125, 1))))
    right = kind == "is" and isinstance(text, str) and text.count(" 0.13\n") == 2 and "Net".ljust(34) + "0.26\n" in text
    grade_amounts(
        FIXES[3:],
        (order(("Pen", 0.335, 3)), "1.01 0.00 4.90 1.12 7.03"),
        (order(("Pen", "0.335", 3)), "1.01 0.00 4.90 1.12 7.03"),
        (order(("Tape", 0.125, 1), ("Clip", 0.125, 1)), "0.26 0.00 4.90 0.98 6.14"),
        (order(("Card", 1.05, 1), coupon="TEN"), "1.05 0.11 4.90 1.11 6.95"),
        (order(("Gold", "90071992547409.93", 1), country="CH"), "90071992547409.93 0.00 19.90 7295831396341.82 97367823943771.65"),
        more=["" if right else f"Expected lines of 0.13 that add up to a net of 0.26, saw {ascii(text)[:300]}."],
    )


def shipping():
    """Each beside an order of exactly 100 that ships for nothing: orders that ship as before are worth nothing alone. Its
    amounts are always the same, its invoice is not."""
    name, part = "".join(random.choices("abcdefgh", k=6)).capitalize(), random.randint(1, 99)
    exact = order((name, part, 1), ("Lamp", 100 - part, 1), country="FR")
    text = text_of(
        ["INVOICE R-40", "Zoë (FR)"], (f"1 x {name}", f"{part}.00"), ("1 x Lamp", f"{100 - part}.00"), None,
        ("Net", "100.00"), ("Shipping", "0.00"), ("VAT 20%", "20.00"), ("TOTAL", "120.00"),
    )
    grade_amounts(
        FIXES[:1],
        (order(("Desk", 100, 1)), "100.00 0.00 0.00 19.00 119.00"),
        (order(("Desk", 99.99, 1)), "99.99 0.00 4.90 19.93 124.82"),
        (order(("Desk", 25, 4), country="FR"), "100.00 0.00 0.00 20.00 120.00"),
        (order(("Desk", 105, 1), country="FR", coupon="FIVER"), "105.00 5.00 0.00 20.00 120.00"),
        (order(("Desk", 111, 1), coupon="TEN"), "111.00 11.10 4.90 19.91 124.71"),
        (order(("Desk", 500, 1), country="CH"), "500.00 0.00 19.90 42.11 562.01"),
        invoice=complaint("render", exact, text, *answers(("render", exact))),
    )


def coupons():
    ((kind, text),) = answers(("render", order(("Pen", 5, 2), coupon=" ten ")))
    right = kind == "is" and isinstance(text, str) and "\n" + "Coupon TEN".ljust(33) + "-1.00\n" in text
    grade_amounts(
        FIXES[1:3],
        (order(("Pen", 3, 1), coupon="FIVER"), "3.00 3.00 4.90 0.93 5.83"),
        (order(("Pen", 5, 2), coupon=" fiver"), "10.00 5.00 4.90 1.88 11.78"),
        (order(("Pen", 5, 2), coupon="Ten  "), "10.00 1.00 4.90 2.64 16.54"),
        (order(("Pen", 5, 2), coupon="TENNER"), "10.00 0.00 4.90 2.83 17.73"),
        more=["" if right else f"Expected the coupon ' ten ' to be shown as TEN, saw {ascii(text)[:300]}."],
    )


def refuses():
    """Each refusal beside an order that is billed."""
    places = ["".join(random.choices("ABCDEFGH", k=9)) for _ in range(3)]
    strange = [order(("Pen", 5, 2), country=place) for place in places]
    asked = [(question, one) for question in ("amounts", "render") for one in strange]
    raised = [
        "" if found[:2] == ["raises", "ValueError"] and one["country"] in found[2] else
        f"Expected a ValueError that names {one['country']}, saw {ascii(found)[:200]}."
        for (_, one), found in zip(asked, answers(*asked), strict=True)
    ]
    good, _, wanted = made_up("DE")
    billed, *refused = calls(good, strange[0], '{"number": "R', None)
    works = "" if json.dumps(billed[:2]) == json.dumps([0, wanted]) else f"Expected an order to be billed, saw {ascii(billed)[:300]}."
    told = [
        "" if status == 2 and not out and err.strip() and "Traceback" not in err else
        f"Expected status 2 and only a message on stderr for {name}, "
        f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
        for name, (status, out, err) in zip(("a strange order", "a file that is cut", "no file"), refused, strict=True)
    ]
    grade(beside([*raised, *told], [works]))


CHECKS = {
    check.__name__: check
    for check in (same, imported, short, amounts, existing, tests, money, shipping, coupons, refuses)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

"""The hidden checks of tidy-invoice: python3 checks/check.py NAME.

invoice.py runs in a sandbox of its own. What it answers comes from there as data and is compared here.
"""

import ast
import copy
import hashlib
import json
import random
import re
import sys
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

from orvl import checks

PROGRAM = "invoice.py"
ORIGINAL = Path(__file__).with_name("original")
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
CALL = """
import json, os, resource, subprocess, sys, tempfile
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))  # for what never stops printing
seen = []
for words in json.load(sys.stdin):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = [sys.executable, "-I", "-B", "-X", "utf8", *words]
        status = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=8)
        out.seek(0), err.seek(0)
        seen.append([status, *(file.read(20000).decode("utf-8", "replace") for file in (out, err))])
print("\\n" + json.dumps(seen))
"""
IMPORT = "import os, sys; sys.path.insert(0, os.getcwd()); import invoice; invoice.render, invoice.amounts"
TEST = """
import os, sys, unittest
sys.path.insert(0, os.getcwd())
unittest.main(module=None, argv=["unittest", "discover", "-s", "tests", "-p", sys.argv[1]])
"""


def python(code, *args, **how):
    if checks.read(PROGRAM) is None:
        checks.fail("Expected a file invoice.py, but there is none.")
    return checks.run("python3", "-I", "-B", "-X", "utf8", "-c", code, *args, seconds=20, **how)


def rows(code, asked):
    """A row of data for each thing that is asked for in this code."""
    ended = python(code, input=json.dumps(asked))
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        checks.fail(f"Expected to import or run invoice.py, saw {ascii(ended.stderr[-200:])}.")
    if not isinstance(seen, list) or len(seen) != len(asked):
        checks.fail(f"Expected {len(asked)} answers, saw {ascii(seen)[:200]}.")
    return seen


def answers(*asked):
    """The answers to these pairs of a question and an order, asked in order in one process."""
    return rows(ASK, asked)


def calls(*orders):
    """Status, stdout and stderr of `invoice.py FILE` for each of these contents; None is a file that is not there."""
    names = [f"given/order-{number}.json" for number, _ in enumerate(orders)]
    for name, content in zip(names, orders, strict=True):
        if content is not None:
            checks.write(name, content if isinstance(content, str) else json.dumps(content))
    return rows(CALL, [[PROGRAM, name] for name in names])


def is_right(seen, wanted):
    """Whether an answer is the wanted one, with the same types all over."""
    return json.dumps(seen, sort_keys=True) == json.dumps(["is", wanted], sort_keys=True)


def expect(question, order, wanted, seen):
    if not is_right(seen, wanted):
        checks.fail(f"Expected {ascii(wanted)} from {question} of {ascii(json.dumps(order))}, saw {ascii(seen)[:300]}.")


def order(*items, country="DE", **more):
    rows = [{"name": name, "price": price, "count": count} for name, price, count in items]
    return {"number": "R-40", "customer": "Zoë", "country": country, "items": rows, **more}


def made(net, discount, shipping, vat, total):
    parts = {"discount": discount, "net": net, "shipping": shipping, "total": total, "vat": vat}
    return {key: ["Decimal", value] for key, value in parts.items()}


def expect_amounts(*cases):
    """Expect these amounts: of each order net, discount, shipping, VAT and total."""
    seen = answers(*(("amounts", one) for one, _ in cases))
    for (one, wanted), found in zip(cases, seen, strict=True):
        expect("amounts", one, made(*wanted.split()), found)


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
        order(("A name that is longer than its column", 60, 2), ("Tray", 9.9, 1), country="CH", coupon="FIVER"),
        text_of(
            ["INVOICE R-40", "Zoë (CH)"], ("2 x A name that is longer than its column", "120.00"), ("1 x Tray", "9.90"),
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


def made_up_fixes():
    """Orders that nobody can know, one for each report, and their amounts."""
    part, cents, tens, price = random.randint(1, 99), random.randint(100, 499), random.randint(1, 8), random.randint(1, 80)
    bills = [
        (order(("Desk", part, 1), ("Lamp", 100 - part, 1)), Decimal(100), Decimal(0), Decimal(0)),
        (order(("Pen", cents / 100, 1), coupon="FIVER"), Decimal(cents) / 100, Decimal(cents) / 100, Decimal("4.90")),
        (order(("Cup", 10, tens), coupon=" ten "), Decimal(10 * tens), Decimal(tens), Decimal("4.90")),
        (order(("Tape", f"{price}.005", 1)), price + Decimal("0.01"), Decimal(0), Decimal("4.90")),
    ]
    made = []
    for one, net, discount, shipping in bills:
        vat = to_cents((net - discount + shipping) * Decimal("0.19"))
        parts = (net, discount, shipping, vat, net - discount + shipping + vat)
        made.append((one, " ".join(str(to_cents(amount)) for amount in parts)))
    return made


FIXES = made_up_fixes()


def expect_fixes():
    """Expect most of what customers told to be fixed: tests of what is not there are worth nothing."""
    seen = answers(*(("amounts", one) for one, _ in FIXES))
    right = sum(is_right(found, made(*wanted.split())) for (_, wanted), found in zip(FIXES, seen, strict=True))
    if right <= len(FIXES) / 2:
        checks.fail(f"Expected most of the reports to be fixed, saw {right} of {len(FIXES)} orders billed right.")


def same():
    for (_, wanted), seen in zip(BEFORE, calls(*(one for one, _ in BEFORE)), strict=True):
        if json.dumps(seen[:2]) != json.dumps([0, wanted]):
            checks.fail(f"Expected {ascii(wanted)} and status 0, saw {ascii(seen)[:400]}.")
    seen = answers(*(("render", one) for one, _ in BEFORE))
    for (one, wanted), found in zip(BEFORE, seen, strict=True):
        expect("render", one, wanted, found)


def imported():
    ended = python(IMPORT, "no-such-file.json")
    if ended.status != 0 or ended.stdout or ended.stderr:
        said = ascii((ended.stdout + ended.stderr)[-200:])
        checks.fail(f"Expected 'import invoice' to do nothing, saw status {ended.status}, {said}.")
    expect_work()


def short():
    expect_work()
    source = checks.read(PROGRAM) or b""
    if len(source) > MOST:
        checks.fail(f"Expected a small file {PROGRAM}, saw more than {MOST} bytes.")
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        checks.fail("Expected Python in invoice.py, but it cannot be read.")
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not {"amounts", "render"} <= {node.name for node in functions}:
        checks.fail("Expected functions amounts and render in invoice.py, but they are not there.")
    for node in functions:
        if node.end_lineno - node.lineno + 1 > LONGEST:
            checks.fail(f"Expected no function longer than {LONGEST} lines, saw {ascii(node.name)}.")
    if any(isinstance(node, ast.Global) for node in ast.walk(tree)):
        checks.fail("Expected no 'global' in invoice.py, but there is one.")
    # One table: a country that is named twice was copied.
    for name in ("FR", "CH"):
        if sum(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(tree)) != 1:
            checks.fail(f"Expected the country {name!r} once in invoice.py, in a table.")
    expect_table(tree)


def expect_table(tree):
    """Expect an order for a country to be billed as soon as one more row is in the table: dead words are no table."""
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
            return
    checks.fail("Expected a country to be billed once it has a row in the table of invoice.py, but it is not.")


def with_another_row(tree, old, new):
    """The source with a copy of what stands for a country, as another country: its row, or whatever else holds it."""
    holders = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    (part,) = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and node.value == old)
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
        elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            part.id = f"{part.id}_{new}"
    return made


def amounts():
    first, second = order(("Desk", 150, 1), coupon="TEN"), order(("Pen", 2.5, 2), country="CH")
    expect_amounts(
        *WORK, (first, "150.00 15.00 0.00 25.65 160.65"), (second, "5.00 0.00 19.90 2.02 26.92"),
        (first, "150.00 15.00 0.00 25.65 160.65"), (order(country="FR"), "0.00 0.00 9.90 1.98 11.88"),
    )
    for one, seen in zip((first, second), answers(("kept", first), ("kept", second)), strict=True):
        kept = seen[1] if seen[0] == "is" and isinstance(seen[1], list) else []
        if len(kept) != 4 or json.dumps(kept[2]) != json.dumps(one) or kept[0] != kept[3] or "INVOICE R-40" not in kept[0]:
            checks.fail(f"Expected the order to stay as it is, and its invoice too, saw {ascii(seen)[:300]}.")


def existing():
    if hashlib.sha256(checks.read(EXISTING) or b"").hexdigest() != SHA256:
        checks.fail(f"Expected {EXISTING} as it was, but it was edited or removed.")
    expect_work()
    expect_fixes()
    # What this test tests, with other orders.
    for (_, wanted), seen in zip(BEFORE, calls(*(one for one, _ in BEFORE)), strict=True):
        if json.dumps(seen[:2]) != json.dumps([0, wanted]):
            checks.fail(f"Expected {ascii(wanted)} and status 0, saw {ascii(seen)[:400]}.")
    new = [path for path in checks.files() if re.fullmatch(r"tests/test_[^/]*\.py", path) and path != EXISTING]
    if not new:
        checks.fail("Expected a new file tests/test_*.py, but there is none.")
    ended = python(TEST, "test_*.py")
    ran = re.findall(r"^Ran (\d{1,6}) tests? in ", ended.stderr, re.MULTILINE)
    if ended.status != 0 or not ran or not re.search(r"^OK", ended.stderr, re.MULTILINE):
        checks.fail(f"Expected all tests to pass, saw status {ended.status} and {ascii(ended.stderr[-150:])}.")
    if int(ran[-1]) < 2:
        checks.fail("Expected new tests beside the one that was there, saw none.")
    checks.fresh()
    checks.write(PROGRAM, (ORIGINAL / PROGRAM).read_bytes())
    if python(TEST, "test_*.py").status == 0:
        checks.fail("Expected the new tests to fail on invoice.py as it was before, but they pass.")


def money():
    expect_amounts(
        *WORK,
        (order(("Pen", 0.335, 3)), "1.01 0.00 4.90 1.12 7.03"),
        (order(("Pen", "0.335", 3)), "1.01 0.00 4.90 1.12 7.03"),
        (order(("Tape", 0.125, 1), ("Clip", 0.125, 1)), "0.26 0.00 4.90 0.98 6.14"),
        (order(("Card", 1.05, 1), coupon="TEN"), "1.05 0.11 4.90 1.11 6.95"),
        (order(("Gold", "90071992547409.93", 1), country="CH"), "90071992547409.93 0.00 19.90 7295831396341.82 97367823943771.65"),
    )
    ((kind, text),) = answers(("render", order(("Tape", 0.125, 1), ("Clip", 0.125, 1))))
    if kind != "is" or not isinstance(text, str) or text.count(" 0.13\n") != 2 or "Net".ljust(34) + "0.26\n" not in text:
        checks.fail(f"Expected lines of 0.13 that add up to a net of 0.26, saw {ascii(text)[:300]}.")


def shipping():
    expect_amounts(
        *WORK,
        (order(("Desk", 100, 1)), "100.00 0.00 0.00 19.00 119.00"),
        (order(("Desk", 99.99, 1)), "99.99 0.00 4.90 19.93 124.82"),
        (order(("Desk", 25, 4), country="FR"), "100.00 0.00 0.00 20.00 120.00"),
        (order(("Desk", 105, 1), country="FR", coupon="FIVER"), "105.00 5.00 0.00 20.00 120.00"),
        (order(("Desk", 111, 1), coupon="TEN"), "111.00 11.10 4.90 19.91 124.71"),
        (order(("Desk", 500, 1), country="CH"), "500.00 0.00 19.90 42.11 562.01"),
    )


def coupons():
    expect_amounts(
        *WORK,
        (order(("Pen", 3, 1), coupon="FIVER"), "3.00 3.00 4.90 0.93 5.83"),
        (order(("Pen", 5, 2), coupon=" fiver"), "10.00 5.00 4.90 1.88 11.78"),
        (order(("Pen", 5, 2), coupon="Ten  "), "10.00 1.00 4.90 2.64 16.54"),
        (order(("Pen", 5, 2), coupon="TENNER"), "10.00 0.00 4.90 2.83 17.73"),
    )
    ((kind, text),) = answers(("render", order(("Pen", 5, 2), coupon=" ten ")))
    if kind != "is" or not isinstance(text, str) or "\n" + "Coupon TEN".ljust(33) + "-1.00\n" not in text:
        checks.fail(f"Expected the coupon ' ten ' to be shown as TEN, saw {ascii(text)[:300]}.")


def refuses():
    nowhere = "".join(random.choices("ABCDEFGH", k=9))
    strange = order(("Pen", 5, 2), country=nowhere)
    for found in answers(("amounts", strange), ("render", strange)):
        if found[:2] != ["raises", "ValueError"] or nowhere not in found[2]:
            checks.fail(f"Expected a ValueError that names {nowhere}, saw {ascii(found)[:200]}.")
    good, _, wanted = made_up("DE")
    billed, *refused = calls(good, strange, '{"number": "R', None)
    if json.dumps(billed[:2]) != json.dumps([0, wanted]):
        checks.fail(f"Expected an order for a country that we ship to to be billed, saw {ascii(billed)[:300]}.")
    for name, (status, out, err) in zip(("a strange order", "a file that is cut", "no file"), refused, strict=True):
        if status != 2 or out or not err.strip() or "Traceback" in err:
            checks.fail(
                f"Expected status 2 and only a message on stderr for {name}, "
                f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
            )


CHECKS = {
    check.__name__: check
    for check in (same, imported, short, amounts, existing, money, shipping, coupons, refuses)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

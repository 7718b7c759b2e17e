"""The hidden checks of tidy-invoice: python3 -I checks/check.py NAME."""

import ast
import contextlib
import hashlib
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

WORKSPACE = Path.cwd()
PROGRAM = WORKSPACE / "invoice.py"
EXISTING = Path("tests/test_invoice.py")
SHA256 = "5bc05289255e86036e6adb4de943e9a9e1dfd64e273ab0e6ebaf44f4322c68ef"
LONGEST = 25

# Run apart from this process: it knows the questions, not the answers.
ASK = """
import copy, decimal, json, sys
sys.path.insert(0, sys.argv[1])
import invoice
def amounts(order):
    found = invoice.amounts(order)
    assert all(type(value) is decimal.Decimal for value in found.values()), "not all are Decimal"
    return {key: str(value) for key, value in sorted(found.items())}
def kept(order):
    before = copy.deepcopy(order)
    invoice.amounts(order), invoice.render(order)
    return [order == before, invoice.render(order) == invoice.render(order)]
answers = []
for question, order in json.loads(sys.argv[2]):
    try:
        answers.append({"amounts": amounts, "render": invoice.render, "kept": kept}[question](order))
    except Exception as error:
        answers.append({"raises": type(error).__name__, "says": str(error)})
print("\\n" + json.dumps(answers, default=repr))
"""
IMPORT = "import sys; sys.argv[1:2] = []; sys.path.insert(0, sys.argv.pop()); import invoice; invoice.render, invoice.amounts"
TEST = """
import sys, unittest
sys.path.insert(0, sys.argv[1])
unittest.main(module=None, argv=["unittest", "discover", "-s", "tests", "-p", sys.argv[2]])
"""


def fail(sentence):
    print(sentence)
    sys.exit(1)


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))


def python(*args):
    """Run Python with these arguments; give its status, stdout and stderr."""
    if not PROGRAM.is_file():
        fail("Expected a file invoice.py, but there is none.")
    command = [sys.executable, "-I", "-B", "-X", "utf8", *args]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, preexec_fn=limit_files,
        )
        try:
            status = process.wait(timeout=12)
        except subprocess.TimeoutExpired:
            fail("Expected invoice.py to end soon, but it still ran after 12 seconds.")
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")


def answers(*asked):
    """The answers to these pairs of a question and an order, asked in order in one process."""
    _, out, err = python("-c", ASK, str(WORKSPACE), json.dumps(asked))
    try:
        seen = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        fail(f"Expected to import invoice and call it, saw {ascii((err or out).split(chr(10))[-2:])[-200:]}.")
    if not isinstance(seen, list) or len(seen) != len(asked):
        fail(f"Expected {len(asked)} answers, saw {ascii(seen)[:200]}.")
    return seen


def expect(question, order, wanted, seen):
    if seen != wanted:
        fail(f"Expected {ascii(wanted)} from {question} of {ascii(json.dumps(order))}, saw {ascii(seen)[:300]}.")


def order(*items, country="DE", **more):
    rows = [{"name": name, "price": price, "count": count} for name, price, count in items]
    return {"number": "R-40", "customer": "Zoë", "country": country, "items": rows, **more}


def made(net, discount, shipping, vat, total):
    return {"discount": discount, "net": net, "shipping": shipping, "total": total, "vat": vat}


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


def same():
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for one, wanted in BEFORE:
            path = Path(folder) / "order.json"
            path.write_text(json.dumps(one), encoding="utf-8")
            status, out, _ = python(str(PROGRAM), str(path))
            if (status, out) != (0, wanted):
                fail(f"Expected {ascii(wanted)} and status 0, saw {ascii(out[:400])} and status {status}.")
    seen = answers(*(("render", one) for one, _ in BEFORE))
    for (one, wanted), found in zip(BEFORE, seen, strict=True):
        expect("render", one, wanted, found)


def imported():
    status, out, err = python("-c", IMPORT, "no-such-file.json", str(WORKSPACE))
    if status != 0 or out or err:
        fail(f"Expected 'import invoice' to do nothing, saw status {status}, {ascii((out + err)[-200:])}.")


def short():
    try:
        tree = ast.parse(PROGRAM.read_bytes() if PROGRAM.is_file() else b"")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        fail("Expected Python in invoice.py, but it cannot be read.")
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    if not {"amounts", "render"} <= {node.name for node in functions}:
        fail("Expected functions amounts and render in invoice.py, but they are not there.")
    for node in functions:
        if node.end_lineno - node.lineno + 1 > LONGEST:
            fail(f"Expected no function longer than {LONGEST} lines, saw {ascii(node.name)}.")
    if any(isinstance(node, ast.Global) for node in ast.walk(tree)):
        fail("Expected no 'global' in invoice.py, but there is one.")
    # One table: a country that is named twice was copied.
    for name in ("FR", "CH"):
        if sum(isinstance(node, ast.Constant) and node.value == name for node in ast.walk(tree)) != 1:
            fail(f"Expected the country {name!r} once in invoice.py, in a table.")


def amounts():
    first, second = order(("Desk", 150, 1), coupon="TEN"), order(("Pen", 2.5, 2), country="CH")
    expect_amounts(
        (first, "150.00 15.00 0.00 25.65 160.65"), (second, "5.00 0.00 19.90 2.02 26.92"),
        (first, "150.00 15.00 0.00 25.65 160.65"), (order(country="FR"), "0.00 0.00 9.90 1.98 11.88"),
    )
    for one, found in zip((first, second), answers(("kept", first), ("kept", second)), strict=True):
        expect("[is unchanged, renders alike]", one, [True, True], found)


def existing():
    if not EXISTING.is_file() or hashlib.sha256(EXISTING.read_bytes()).hexdigest() != SHA256:
        fail("Expected tests/test_invoice.py as it was, but it was edited or removed.")
    status, _, err = python("-c", TEST, str(WORKSPACE), "test_*.py")
    ran = re.findall(r"^Ran (\d{1,6}) tests? in ", err, re.MULTILINE)
    if status != 0 or not ran or not re.search(r"^OK", err, re.MULTILINE):
        fail(f"Expected all tests to pass, saw status {status} and {ascii(err[-150:])}.")
    if int(ran[-1]) < 2:
        fail("Expected new tests beside the one that was there, saw none.")


def money():
    expect_amounts(
        (order(("Pen", 0.335, 3)), "1.01 0.00 4.90 1.12 7.03"),
        (order(("Pen", "0.335", 3)), "1.01 0.00 4.90 1.12 7.03"),
        (order(("Tape", 0.125, 1), ("Clip", 0.125, 1)), "0.26 0.00 4.90 0.98 6.14"),
        (order(("Card", 1.05, 1), coupon="TEN"), "1.05 0.11 4.90 1.11 6.95"),
        (order(("Gold", "90071992547409.93", 1), country="CH"), "90071992547409.93 0.00 19.90 7295831396341.82 97367823943771.65"),
    )
    (text,) = answers(("render", order(("Tape", 0.125, 1), ("Clip", 0.125, 1))))
    if not isinstance(text, str) or text.count(" 0.13\n") != 2 or "Net".ljust(34) + "0.26\n" not in text:
        fail(f"Expected lines of 0.13 that add up to a net of 0.26, saw {ascii(text)[:300]}.")


def shipping():
    expect_amounts(
        (order(("Desk", 100, 1)), "100.00 0.00 0.00 19.00 119.00"),
        (order(("Desk", 99.99, 1)), "99.99 0.00 4.90 19.93 124.82"),
        (order(("Desk", 25, 4), country="FR"), "100.00 0.00 0.00 20.00 120.00"),
        (order(("Desk", 105, 1), country="FR", coupon="FIVER"), "105.00 5.00 0.00 20.00 120.00"),
        (order(("Desk", 111, 1), coupon="TEN"), "111.00 11.10 4.90 19.91 124.71"),
        (order(("Desk", 500, 1), country="CH"), "500.00 0.00 19.90 42.11 562.01"),
    )


def coupons():
    expect_amounts(
        (order(("Pen", 3, 1), coupon="FIVER"), "3.00 3.00 4.90 0.93 5.83"),
        (order(("Pen", 5, 2), coupon=" fiver"), "10.00 5.00 4.90 1.88 11.78"),
        (order(("Pen", 5, 2), coupon="Ten  "), "10.00 1.00 4.90 2.64 16.54"),
        (order(("Pen", 5, 2), coupon="TENNER"), "10.00 0.00 4.90 2.83 17.73"),
    )
    (text,) = answers(("render", order(("Pen", 5, 2), coupon=" ten ")))
    if not isinstance(text, str) or "\n" + "Coupon TEN".ljust(33) + "-1.00\n" not in text:
        fail(f"Expected the coupon ' ten ' to be shown as TEN, saw {ascii(text)[:300]}.")


def refuses():
    strange = order(("Pen", 5, 2), country="ATLANTIS")
    for found in answers(("amounts", strange), ("render", strange)):
        if not isinstance(found, dict) or found.get("raises") != "ValueError" or "ATLANTIS" not in found["says"]:
            fail(f"Expected a ValueError that names ATLANTIS, saw {ascii(found)[:200]}.")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        for name, content in {"strange": json.dumps(strange), "cut": '{"number": "R', "absent": None}.items():
            path = Path(folder) / f"{name}.json"
            if content is not None:
                path.write_text(content, encoding="utf-8")
            status, out, err = python(str(PROGRAM), str(path))
            if status != 2 or out or not err.strip() or "Traceback" in err:
                fail(
                    f"Expected status 2 and only a message on stderr for {name}.json, "
                    f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
                )


CHECKS = {
    check.__name__: check
    for check in (same, imported, short, amounts, existing, money, shipping, coupons, refuses)
}

if __name__ == "__main__":
    try:
        CHECKS[sys.argv[1]]()
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")

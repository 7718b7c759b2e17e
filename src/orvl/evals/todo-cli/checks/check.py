"""The hidden checks of todo-cli: python3 checks/check.py NAME.

todo.py runs in a sandbox of its own. What it prints and saves comes from there as data and is compared here.
"""

import json
import random
import sys

from orvl import checks

# Runs beside todo.py: it knows what to call it with, not what is right. Calls are made in folders of their own.
CALL = """
import json, os, resource, subprocess, sys, tempfile
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))  # for what never stops printing
program, seen = os.path.abspath("todo.py"), []
for folder, words in json.load(sys.stdin):
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = [sys.executable, "-I", "-B", "-X", "utf8", program, *words]
        status = subprocess.call(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=8)
        out.seek(0), err.seek(0)
        seen.append([status, *(file.read(20000).decode("utf-8", "replace") for file in (out, err))])
print("\\n" + json.dumps(seen))
"""


def made_up():
    """A text that nobody can know: a program that knows these checks passes none."""
    return " ".join("".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(2)).capitalize()


ONE = made_up()
ADD_ONE = ["add", ONE], f"Added 1: {ONE}"


def todo(calls):
    """Status, stdout and stderr of todo.py for each of these pairs of a folder and words."""
    if checks.read("todo.py") is None:
        checks.fail("Expected a file todo.py, but there is none.")
    ended = checks.run("python3", "-I", "-B", "-X", "utf8", "-c", CALL, input=json.dumps(calls), seconds=50)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        seen = None
    if not isinstance(seen, list) or len(seen) != len(calls):
        checks.fail(f"Expected todo.py to end by itself {len(calls)} times, but it did not.")
    return seen


def expect(*wanted, folder="list"):
    """Expect of each of these calls, in order, its lines and status 0; or, for a number, this status and a message."""
    for (words, *lines), seen in zip(wanted, todo([(folder, words) for words, *_ in wanted]), strict=True):
        expect_call(words, lines, seen)


def expect_call(words, lines, seen):
    status, out, err = seen
    if lines and type(lines[0]) is int:
        if status != lines[0] or out or not err.strip() or "Traceback" in err:
            checks.fail(
                f"Expected status {lines[0]} and only a message on stderr for {ascii(words)}, "
                f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
            )
    elif status != 0 or out != "".join(line + "\n" for line in lines):
        checks.fail(f"Expected {ascii(lines)} and status 0 for {ascii(words)}, saw {ascii(out[:300])} and status {status}.")


def expect_saved(*wanted, folder="list"):
    """Expect these items in todo.json: id, text, done and due."""
    content = checks.read(f"{folder}/todo.json")
    try:
        found = [[item["id"], item["text"], item["done"], item.get("due")] for item in json.loads(content or b"")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        found = None
    if json.dumps(found) != json.dumps(wanted):
        checks.fail(f"Expected {ascii(wanted)} in {folder}/todo.json, saw {ascii(content or b'no file')[:300]}.")


def expect_untouched(path, content):
    """Expect a file to have this content, or not to be there where that is None."""
    if checks.read(path) != content:
        checks.fail(f"Expected {path} to be untouched, but it was changed.")


def adds():
    text = made_up()
    expect(
        (["add", text], f"Added 1: {text}"),
        (["add", "Café \"Zoë\""], "Added 2: Café \"Zoë\""),
        (["add", text], f"Added 3: {text}"),
        (["list"], f"1 [ ] {text}", "2 [ ] Café \"Zoë\"", f"3 [ ] {text}"),
    )


def done():
    one, two, three = made_up(), made_up(), made_up()
    expect(
        (["add", one], f"Added 1: {one}"), (["add", two], f"Added 2: {two}"), (["add", three], f"Added 3: {three}"),
        (["done", "2"], f"Done 2: {two}"),
        (["list"], f"1 [ ] {one}", f"2 [x] {two}", f"3 [ ] {three}"),
        (["done", "2"], f"Done 2: {two}"),
        (["done", "3"], f"Done 3: {three}"),
        (["list"], f"1 [ ] {one}", f"2 [x] {two}", f"3 [x] {three}"),
    )


def saves():
    naive, two = f"Naïve {made_up()}", made_up()
    expect(
        (["add", naive], f"Added 1: {naive}"), (["add", two], f"Added 2: {two}"), (["done", "2"], f"Done 2: {two}"),
        folder="else/where",
    )
    expect_saved([1, naive, False, None], [2, two, True, None], folder="else/where")


def due():
    call, taxes = made_up(), made_up()
    expect(
        (["add", call], f"Added 1: {call}"),
        (["add", taxes, "--due", "2031-02-28"], f"Added 2: {taxes}"),
        (["done", "2"], f"Done 2: {taxes}"),
        (["list"], f"1 [ ] {call}", f"2 [x] {taxes} (due 2031-02-28)"),
    )
    expect_saved([1, call, False, None], [2, taxes, True, "2031-02-28"])


def dates():
    wrong = ("2027-02-29", "2031-6-07", "20310607", "2031-W10-1", "07.06.2031", "2031-06-07T00:00", "never", "")
    leap, more = made_up(), made_up()
    expect((["add", leap, "--due", "2028-02-29"], f"Added 1: {leap}"))
    before = checks.read("list/todo.json")
    expect(
        *((["add", "No", "--due", date], 2) for date in wrong),
        *((["overdue", "--today", date], 2) for date in ("2031-04-31", "31-04-01", "20310607")),
        (["list"], f"1 [ ] {leap} (due 2028-02-29)"),
    )
    expect_untouched("list/todo.json", before)
    expect((["add", more, "--due", "2031-10-31"], f"Added 2: {more}"))


def overdue():
    dates = ("2031-06-05", "2031-06-07", "2031-06-08", "2030-12-31", "2031-06-05", "2031-01-01")
    rows = [(made_up(), date) for date in dates]
    late, first, also = (f"{number} [ ] {rows[number - 1][0]} (due {rows[number - 1][1]})" for number in (1, 4, 5))
    expect(
        *((["add", text, "--due", date], f"Added {number}: {text}") for number, (text, date) in enumerate(rows, 1)),
        (["add", "no date"], "Added 7: no date"),
        (["done", "6"], f"Done 6: {rows[5][0]}"),
        (["overdue", "--today", "2031-06-07"], first, late, also),
        (["overdue", "--today", "2030-12-31"],),
    )
    # What is overdue without --today depends on the day: one item always is, and one never.
    ago, away = made_up(), made_up()
    expect(
        (["add", ago, "--due", "2001-01-01"], f"Added 1: {ago}"),
        (["add", away, "--due", "9999-12-31"], f"Added 2: {away}"),
        (["overdue"], f"1 [ ] {ago} (due 2001-01-01)"),
        folder="now",
    )


def older():
    old, other, new = made_up(), made_up(), made_up()
    items = [{"id": 1, "text": old, "done": True}, {"id": 2, "text": other, "done": False}]
    checks.write("list/todo.json", json.dumps(items))
    expect(
        (["list"], f"1 [x] {old}", f"2 [ ] {other}"),
        (["overdue", "--today", "2031-01-01"],),
        (["add", new, "--due", "2030-01-01"], f"Added 3: {new}"),
        (["done", "2"], f"Done 2: {other}"),
        (["list"], f"1 [x] {old}", f"2 [x] {other}", f"3 [ ] {new} (due 2030-01-01)"),
    )


def missing():
    expect((["list"],), (["overdue", "--today", "2031-01-01"],), (["done", "1"], 1))
    if found := [path for path in checks.files() if path.startswith("list/")]:
        checks.fail(f"Expected list, overdue and done not to create todo.json, saw {ascii(found)[:200]}.")
    expect(ADD_ONE, (["list"], f"1 [ ] {ONE}"))


def damaged():
    contents = (
        b'[{"id": 1, "text": "cut o', b"", b"\xff\xfe\x00\x80", b'{"id": 1}', b"null", b'["milk"]', b'[{"id": 1}]',
    )
    commands = (["list"], ["add", "more"], ["done", "1"], ["overdue", "--today", "2031-01-01"])
    for number, content in enumerate(contents):
        checks.write(f"damaged-{number}/todo.json", content)
    calls = [(f"damaged-{number}", words) for number, _ in enumerate(contents) for words in commands]
    # A list that is not damaged is not refused: before the damaged ones, between them, and after them.
    good = [("list", ADD_ONE[0]), ("list", ["done", "1"]), ("list", ["list"])]
    lines = [[ADD_ONE[1]], [f"Done 1: {ONE}"], [f"1 [x] {ONE}"]]
    half = len(calls) // 2
    asked = [good[0], *calls[:half], good[1], *calls[half:], good[2]]
    wanted = [lines[0], *[[1]] * half, lines[1], *[[1]] * (len(calls) - half), lines[2]]
    for (folder, words), expected, seen in zip(asked, wanted, todo(asked), strict=True):
        expect_call([folder, *words], expected, seen)
    for number, content in enumerate(contents):
        expect_untouched(f"damaged-{number}/todo.json", content)


def unknown():
    expect(ADD_ONE)
    before = checks.read("list/todo.json")
    expect(*((["done", given], 1) for given in ("7", "0", "x1", "1.0", "")), (["list"], f"1 [ ] {ONE}"))
    expect_untouched("list/todo.json", before)
    expect((["done", "1"], f"Done 1: {ONE}"), (["list"], f"1 [x] {ONE}"))


CHECKS = {
    check.__name__: check
    for check in (adds, done, saves, due, dates, overdue, older, missing, damaged, unknown)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

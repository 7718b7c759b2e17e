"""The hidden checks of todo-cli: python3 checks/check.py NAME.

todo.py runs in a sandbox of its own. What it prints and saves comes from there as data and is compared here.
"""

import json
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
ADD_ONE = ["add", "Knead dough"], "Added 1: Knead dough"


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
    expect(
        (["add", "Water the plants"], "Added 1: Water the plants"),
        (["add", "Café \"Zoë\""], "Added 2: Café \"Zoë\""),
        (["add", "Water the plants"], "Added 3: Water the plants"),
        (["list"], "1 [ ] Water the plants", "2 [ ] Café \"Zoë\"", "3 [ ] Water the plants"),
    )


def done():
    expect(
        (["add", "one"], "Added 1: one"), (["add", "two"], "Added 2: two"), (["add", "three"], "Added 3: three"),
        (["done", "2"], "Done 2: two"),
        (["list"], "1 [ ] one", "2 [x] two", "3 [ ] three"),
        (["done", "2"], "Done 2: two"),
        (["done", "3"], "Done 3: three"),
        (["list"], "1 [ ] one", "2 [x] two", "3 [x] three"),
    )


def saves():
    expect(
        (["add", "Naïve plan"], "Added 1: Naïve plan"), (["add", "two"], "Added 2: two"), (["done", "2"], "Done 2: two"),
        folder="else/where",
    )
    expect_saved([1, "Naïve plan", False, None], [2, "two", True, None], folder="else/where")


def due():
    expect(
        (["add", "Call Bob"], "Added 1: Call Bob"),
        (["add", "File taxes", "--due", "2031-02-28"], "Added 2: File taxes"),
        (["done", "2"], "Done 2: File taxes"),
        (["list"], "1 [ ] Call Bob", "2 [x] File taxes (due 2031-02-28)"),
    )
    expect_saved([1, "Call Bob", False, None], [2, "File taxes", True, "2031-02-28"])


def dates():
    wrong = ("2027-02-29", "2031-6-07", "20310607", "2031-W10-1", "07.06.2031", "2031-06-07T00:00", "never", "")
    expect((["add", "Leap", "--due", "2028-02-29"], "Added 1: Leap"))
    before = checks.read("list/todo.json")
    expect(
        *((["add", "No", "--due", date], 2) for date in wrong),
        *((["overdue", "--today", date], 2) for date in ("2031-04-31", "31-04-01", "20310607")),
        (["list"], "1 [ ] Leap (due 2028-02-29)"),
    )
    expect_untouched("list/todo.json", before)
    expect((["add", "More", "--due", "2031-10-31"], "Added 2: More"))


def overdue():
    rows = (
        ("late", "2031-06-05"), ("today", "2031-06-07"), ("later", "2031-06-08"), ("first", "2030-12-31"),
        ("also late", "2031-06-05"), ("finished", "2031-01-01"),
    )
    first, late, also = "4 [ ] first (due 2030-12-31)", "1 [ ] late (due 2031-06-05)", "5 [ ] also late (due 2031-06-05)"
    expect(
        *((["add", text, "--due", date], f"Added {number}: {text}") for number, (text, date) in enumerate(rows, 1)),
        (["add", "no date"], "Added 7: no date"),
        (["done", "6"], "Done 6: finished"),
        (["overdue", "--today", "2031-06-07"], first, late, also),
        (["overdue", "--today", "2030-12-31"],),
    )
    # What is overdue without --today depends on the day: one item always is, and one never.
    expect(
        (["add", "long ago", "--due", "2001-01-01"], "Added 1: long ago"),
        (["add", "far away", "--due", "9999-12-31"], "Added 2: far away"),
        (["overdue"], "1 [ ] long ago (due 2001-01-01)"),
        folder="now",
    )


def older():
    checks.write("list/todo.json", '[{"id": 1, "text": "old", "done": true}, {"id": 2, "text": "older", "done": false}]')
    expect(
        (["list"], "1 [x] old", "2 [ ] older"),
        (["overdue", "--today", "2031-01-01"],),
        (["add", "new", "--due", "2030-01-01"], "Added 3: new"),
        (["done", "2"], "Done 2: older"),
        (["list"], "1 [x] old", "2 [x] older", "3 [ ] new (due 2030-01-01)"),
    )


def missing():
    expect((["list"],), (["overdue", "--today", "2031-01-01"],), (["done", "1"], 1))
    if found := [path for path in checks.files() if path.startswith("list/")]:
        checks.fail(f"Expected list, overdue and done not to create todo.json, saw {ascii(found)[:200]}.")
    expect(ADD_ONE, (["list"], "1 [ ] Knead dough"))


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
    lines = [[ADD_ONE[1]], ["Done 1: Knead dough"], ["1 [x] Knead dough"]]
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
    expect(*((["done", given], 1) for given in ("7", "0", "x1", "1.0", "")), (["list"], "1 [ ] Knead dough"))
    expect_untouched("list/todo.json", before)
    expect((["done", "1"], "Done 1: Knead dough"), (["list"], "1 [x] Knead dough"))


CHECKS = {
    check.__name__: check
    for check in (adds, done, saves, due, dates, overdue, older, missing, damaged, unknown)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

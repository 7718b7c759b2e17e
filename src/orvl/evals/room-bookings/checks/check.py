"""The hidden checks of room-bookings: python3 -I checks/check.py NAME."""

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
EXISTING = Path("tests/test_diary.py")
SHA256 = "c1e1d85c8309be2dff9674406035228e1118553971097416712986c47f4bbd07"
RUFF_SHA256 = "4fa39f07e7a07ff140e3ad79650f4a143c9baada6492bc8e533eac3f75abc242"
EXISTING_TESTS = 5

# Run apart from this process: it knows the questions, not the answers.
ASK = """
import json, sys
from datetime import datetime, timedelta, timezone
sys.path.insert(0, sys.argv[1])
import rooms
def at(hour, minute=0, day=2):
    return datetime(2031, 5, day, hour, minute)
def hours(many):
    return timedelta(hours=many)
def made(*times):
    diary = rooms.Diary()
    for who, start, end in times:
        diary.book(at(start), at(end), who)
    return diary
def seen(booking):
    return [booking.number, booking.who, booking.start.isoformat(), booking.end.isoformat()]
def told(gaps):
    return [[start.strftime("%d %H:%M"), end.strftime("%d %H:%M")] for start, end in gaps]
def does(diary, *steps):
    answers = []
    for step in steps:
        try:
            answers.append(step(diary))
        except Exception as error:
            answers.append(f"{type(error).__name__} {isinstance(error, rooms.RoomsError)}")
    return answers
def again(diary):
    return rooms.Diary.from_json(diary.to_json())
names = dict(globals())
answers = []
for question in json.loads(sys.argv[2]):
    try:
        answers.append(eval(question, dict(names)))
    except Exception as error:
        answers.append({"raises": type(error).__name__})
print("\\n" + json.dumps(answers, default=repr))
"""
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


def python(code, *args):
    """Run code with the workspace as first argument; give its status, stdout and stderr."""
    command = [sys.executable, "-I", "-B", "-X", "utf8", "-c", code, str(WORKSPACE), *args]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True, preexec_fn=limit_files,
        )
        try:
            status = process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            fail("Expected the package to answer, but it still ran after 15 seconds.")
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode("utf-8", "replace"), err.read().decode("utf-8", "replace")


def answers(wanted):
    """Expect these answers to these questions, asked in order in one process."""
    _, out, err = python(ASK, json.dumps(list(wanted)))
    try:
        seen = json.loads(out.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        fail(f"Expected to import rooms and call it, saw {ascii((err or out).split(chr(10))[-2:])[-200:]}.")
    if not isinstance(seen, list) or len(seen) != len(wanted):
        fail(f"Expected {len(wanted)} answers, saw {ascii(seen)[:200]}.")
    for (question, answer), given in zip(wanted.items(), seen, strict=True):
        if given != answer or type(given) is not type(answer):
            fail(f"Expected {ascii(answer)} from {ascii(question)}, saw {ascii(given)[:200]}.")


def run_tests(pattern):
    """Expect the tests in these files to pass; give how many there were."""
    status, _, err = python(TEST, pattern)
    ran = re.findall(r"^Ran (\d{1,6}) tests? in ", err, re.MULTILINE)
    if status != 0 or not ran or not re.search(r"^OK", err, re.MULTILINE):
        fail(f"Expected the tests in {pattern} to pass, saw status {status} and {ascii(err[-150:])}.")
    return int(ran[-1])


def same(path, digest):
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def cancels():
    answers({
        "seen(made(('a', 9, 10), ('b', 11, 12)).cancel(1))": [1, "a", "2031-05-02T09:00:00", "2031-05-02T10:00:00"],
        "does(made(('a', 9, 10), ('b', 11, 12)), lambda d: d.cancel(1).who, lambda d: [b.number for b in d.bookings()],"
        " lambda d: d.cancel(1), lambda d: d.book(at(9), at(10), 'c').number, lambda d: d.cancel(3).number,"
        " lambda d: d.book(at(9), at(10), 'd').number, lambda d: d.cancel(0))":
            ["a", [2], "UnknownError True", 3, 3, 4, "UnknownError True"],
        "does(rooms.Diary(), lambda d: d.cancel(1))": ["UnknownError True"],
        "issubclass(rooms.UnknownError, rooms.RoomsError) and 'UnknownError' in rooms.__all__": True,
    })


def free():
    busy = "made(('b', 11, 13), ('a', 9, 10), ('c', 13, 14))"
    answers({
        f"told({busy}.free(at(8), at(16)))": [["02 08:00", "02 09:00"], ["02 10:00", "02 11:00"], ["02 14:00", "02 16:00"]],
        f"told({busy}.free(at(8), at(16), hours(2)))": [["02 14:00", "02 16:00"]],
        f"told({busy}.free(at(8), at(16), at_least=hours(1)))":
            [["02 08:00", "02 09:00"], ["02 10:00", "02 11:00"], ["02 14:00", "02 16:00"]],
        f"told({busy}.free(at(15), at(9, day=3)))": [["02 15:00", "03 09:00"]],
        "told(rooms.Diary().free(at(8), at(9)))": [["02 08:00", "02 09:00"]],
        f"[type({busy}.free(at(8), at(16))).__name__, type({busy}.free(at(8), at(16))[0]).__name__]": ["list", "tuple"],
    })


def edges():
    busy = "made(('a', 9, 12), ('b', 14, 16))"
    answers({
        f"told({busy}.free(at(10), at(15)))": [["02 12:00", "02 14:00"]],
        f"told({busy}.free(at(9), at(12)))": [],
        f"told({busy}.free(at(10), at(11)))": [],
        f"told({busy}.free(at(12), at(14)))": [["02 12:00", "02 14:00"]],
        f"told({busy}.free(at(12), at(14), timedelta(hours=2, microseconds=1)))": [],
        f"told({busy}.free(at(11), at(12, 30), timedelta(minutes=30)))": [["02 12:00", "02 12:30"]],
        f"does({busy}, lambda d: d.free(at(9), at(9)), lambda d: d.free(at(10), at(9)))":
            ["TimesError True", "TimesError True"],
        f"does({busy}, lambda d: d.free(at(8), at(18)).clear(), lambda d: len(d.free(at(8), at(18))))": [None, 3],
    })


def first():
    busy = "made(('a', 9, 10), ('b', 11, 13))"
    answers({
        f"seen({busy}.book_first(at(9), at(18), hours(1), 'c'))":
            [3, "c", "2031-05-02T10:00:00", "2031-05-02T11:00:00"],
        f"seen({busy}.book_first(at(9), at(18), hours(2), 'c'))":
            [3, "c", "2031-05-02T13:00:00", "2031-05-02T15:00:00"],
        f"seen({busy}.book_first(at(8), at(18), timedelta(minutes=20), 'c'))":
            [3, "c", "2031-05-02T08:00:00", "2031-05-02T08:20:00"],
        f"does({busy}, lambda d: d.book_first(at(9), at(14), hours(2), 'c'), lambda d: len(d.bookings()),"
        " lambda d: d.book_first(at(9), at(18), hours(0), 'c'), lambda d: d.book_first(at(9), at(18), hours(-1), 'c'),"
        " lambda d: d.book_first(at(18), at(9), hours(1), 'c'),"
        " lambda d: [d.book_first(at(9), at(14), hours(1), str(n)).number for n in range(2)],"
        " lambda d: d.book_first(at(9), at(14), hours(1), 'd'), lambda d: [b.who for b in d.bookings()])":
            ["TakenError True", 2, "TimesError True", "TimesError True", "TimesError True", [3, 4], "TakenError True",
             ["a", "0", "b", "1"]],
    })


def restores():
    there = "does(made(('b', 11, 13), ('Zoë \"Z\"', 9, 10), ('c', 14, 15)), lambda d: d.cancel(3).who, lambda d: "
    answers({
        there + "[seen(b) for b in again(d).bookings()])":
            ["c", [[2, 'Zoë "Z"', "2031-05-02T09:00:00", "2031-05-02T10:00:00"],
                   [1, "b", "2031-05-02T11:00:00", "2031-05-02T13:00:00"]]],
        there + "again(d).bookings() == d.bookings(), lambda d: again(d).book(at(16), at(17), 'd').number)": ["c", True, 4],
        there + "json.loads(again(d).to_json()))":
            ["c", {"last": 3, "bookings": [
                {"number": 2, "who": 'Zoë "Z"', "start": "2031-05-02T09:00:00", "end": "2031-05-02T10:00:00"},
                {"number": 1, "who": "b", "start": "2031-05-02T11:00:00", "end": "2031-05-02T13:00:00"},
            ]}],
        "json.loads(rooms.Diary().to_json())": {"last": 0, "bookings": []},
        "again(rooms.Diary()).book(at(1), at(2), 'a').number": 1,
        "(lambda d: [d.book(datetime(2031, 5, 2, 9, 0, 0, 17, timezone(hours(-3))), datetime(2031, 5, 2, 10, 0, 0, 0,"
        " timezone(hours(-3))), 'a').number, again(d).bookings() == d.bookings(), seen(again(d).bookings()[0])])"
        "(rooms.Diary())": [1, True, [1, "a", "2031-05-02T09:00:00.000017-03:00", "2031-05-02T10:00:00-03:00"]],
        "does(again(made(('a', 9, 10))), lambda d: d.book(at(9), at(11), 'b'), lambda d: d.cancel(1).who)":
            ["TakenError True", "a"],
    })


def saved(last, *rows):
    """A diary as it is saved, with rows of number, start and end; rows may lack something."""
    keys = ("number", "start", "end", "who")
    return json.dumps({"last": last, "bookings": [dict(zip(keys, (*row, "Ann"), strict=False)) for row in rows]})


def damaged():
    nine, ten, half, eleven = (f"2031-05-02T{time}:00" for time in ("09:00", "10:00", "10:30", "11:00"))
    good = [saved(2, (1, nine, ten), (2, ten, eleven)), saved(0), saved(9, (4, nine, ten))]
    wrong = [
        "", "x", "null", "3", '"x"', "[1]", '{"bookings": 3}', '{"last": 1}', good[0][:-1], good[0] + "x", saved("2"),
        saved(None), saved(2, (1, nine, half), (2, ten, eleven)), saved(2, (1, nine, ten), (1, ten, eleven)),
        saved(1, (1, nine, ten), (2, ten, eleven)), saved(1, (1, ten, nine)), saved(1, (1, nine)),
        saved(1, (1, nine, "ten")), saved(1, (1, nine, 10)), saved(1, ("1", nine, ten)), saved(1, (1, nine, ten, None)),
    ]
    ask = "does(None, *[lambda d, text=text: len(rooms.Diary.from_json(text).bookings()) for text in {!r}])"
    answers(
        {ask.format(good): [2, 0, 1]}
        | {ask.format([text]): ["DamagedError True"] for text in wrong}
        | {"issubclass(rooms.DamagedError, rooms.RoomsError) and 'DamagedError' in rooms.__all__": True}
    )


def existing():
    if not same(EXISTING, SHA256):
        fail("Expected tests/test_diary.py as it was, but it was edited or removed.")
    count = run_tests(EXISTING.name)
    if count != EXISTING_TESTS:
        fail(f"Expected {EXISTING_TESTS} tests in tests/test_diary.py to run, saw {count}.")


def check_documented(node, path):
    """Expect a docstring, and type hints on all but self and cls."""
    if not ast.get_docstring(node):
        fail(f"Expected a docstring in {ascii(node.name)} in {ascii(str(path))}, but there is none.")
    if isinstance(node, ast.ClassDef):
        return
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    if not node.returns or any(arg and not arg.annotation and arg.arg not in ("self", "cls") for arg in every):
        fail(f"Expected type hints all over {ascii(node.name)} in {ascii(str(path))}, but some are missing.")


def check_calls(tree, path):
    """Expect no dependency, no clock and no printing."""
    for node in ast.walk(tree):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and not node.level:
            names = [node.module]
        for name in names:
            if name.split(".")[0] not in sys.stdlib_module_names | {"rooms"}:
                fail(f"Expected the standard library only, saw {ascii(name)} imported in {ascii(str(path))}.")
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            if called in ("now", "utcnow", "today", "print", "monotonic"):
                fail(f"Expected no call of {called} in {ascii(str(path))}, but there is one.")


def rules():
    methods = set()
    for path in sorted(Path("rooms").rglob("*.py")):
        try:
            tree = ast.parse(path.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            fail(f"Expected Python in {ascii(str(path))}, but it cannot be read.")
        check_calls(tree, path)
        defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        for node in [one for one in tree.body if isinstance(one, defined) and not one.name.startswith("_")]:
            check_documented(node, path)
            if node.name.endswith("Error") and path.name != "errors.py":
                fail(f"Expected all errors in rooms/errors.py, saw {ascii(node.name)} in {ascii(str(path))}.")
            for part in node.body if isinstance(node, ast.ClassDef) else []:
                if isinstance(part, defined) and not part.name.startswith("_"):
                    check_documented(part, path)
                    methods.add(part.name)
    lacking = {"book", "bookings", "cancel", "free", "book_first", "to_json", "from_json"} - methods
    if lacking:
        fail(f"Expected methods {sorted(lacking)} in rooms, but they are not there.")
    if not same(Path("ruff.toml"), RUFF_SHA256):
        fail("Expected ruff.toml as it was, but it was edited or removed.")
    changes = Path("CHANGELOG.md").read_text("utf-8", "replace") if Path("CHANGELOG.md").is_file() else ""
    fresh = changes.partition("Unreleased")[2].partition("\n## ")[0]
    for word in ("cancel", "free", "book_first", "json"):
        if word not in fresh:
            fail(f"Expected a line about {word} under 'Unreleased' in CHANGELOG.md, but there is none.")


def tests():
    new = [path for path in Path("tests").glob("test_*.py") if path.name != EXISTING.name and path.is_file()]
    text = "".join(path.read_text("utf-8", "replace") for path in new)
    for word in ("cancel", "free", "book_first", "from_json"):
        if word not in text:
            fail(f"Expected a new file tests/test_*.py that tests {word}, saw {ascii(sorted(map(str, new)))[:200]}.")
    count = run_tests("test_*.py")
    if count < EXISTING_TESTS + 4:
        fail(f"Expected new tests beside the {EXISTING_TESTS} that were there, saw {count} in all.")


CHECKS = {
    check.__name__: check
    for check in (cancels, free, edges, first, restores, damaged, existing, rules, tests)
}

if __name__ == "__main__":
    try:
        CHECKS[sys.argv[1]]()
    except Exception as error:
        fail(f"The check could not be carried out: {ascii(error)[:200]}.")

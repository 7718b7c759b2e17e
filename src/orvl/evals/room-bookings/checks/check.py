"""The hidden checks of room-bookings: python3 checks/check.py NAME.

The package runs in a sandbox of its own. What it answers comes from there as data and is compared here.
"""

import ast
import hashlib
import json
import re
import sys
from pathlib import Path, PurePosixPath

from orvl import checks

REFERENCE = Path(__file__).with_name("reference")
EXISTING = "tests/test_diary.py"
SHA256 = {
    EXISTING: "c1e1d85c8309be2dff9674406035228e1118553971097416712986c47f4bbd07",
    "ruff.toml": "4fa39f07e7a07ff140e3ad79650f4a143c9baada6492bc8e533eac3f75abc242",
}
MOST = 300_000

# Run beside the package: they know the questions, not the answers.
ASK = """
import json, os, sys
from datetime import datetime, timedelta, timezone
sys.path.insert(0, os.getcwd())
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
def all_of(diary):
    return [seen(booking) for booking in diary.bookings()]
def again(diary):
    return rooms.Diary.from_json(diary.to_json())
def kinds(error):
    names = [kind.__name__ for kind in getattr(rooms, error).__mro__]
    return [name for name in names if name in (error, "RoomsError")]
names = dict(globals())
answers = []
for question in json.load(sys.stdin):
    try:
        answers.append(["is", eval(question, dict(names))])
    except Exception as error:
        answers.append(["raises", type(error).__name__])
print("\\n" + json.dumps(answers, default=repr))
"""
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
PYTHON = (sys.executable, "-I", "-S", "-B", "-X", "utf8")
# What must not happen, each in a package that is otherwise right.
BUGS = {
    "numbers are given twice": ("who, self._last + 1)", "who, len(self._bookings) + 1)"),
    "a cancelled time stays taken": ("                self._bookings.remove(booking)\n", ""),
    "the last free time is not found": ("        gaps.append((since, end))\n", ""),
    "the last free time is booked instead of the first": ("gaps[0][0]", "gaps[-1][0]"),
    "a diary forgets who has booked": ('"who": one.who', '"who": ""'),
    "damaged texts are taken": ('raise DamagedError(f"no diary was saved like this: {error}") from error', "return diary"),
}
RIGHT = ("right", "right, too", "right again", "right as ever")
random = checks.random()


def made_up():
    """A name that nobody can know: a package that knows these checks passes none."""
    return "".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=6)).capitalize()


def told(*hours):
    """Free times as they are told here."""
    return [[f"02 {start:02}:00", f"02 {end:02}:00"] for start, end in hours]


def length(gap):
    first, last = (int(time.split()[1][:2]) for time in gap)
    return last - first


def day(hour):
    return f"2031-05-02T{hour:02}:00:00"


# Two bookings, of names and at hours that nobody can know, and for each addition one question that needs it.
X, Y, Z = made_up(), made_up(), made_up()
X1, X2, Y1, Y2 = random.randint(1, 4), random.randint(5, 7), random.randint(11, 13), random.randint(14, 16)
DAY = f"made(('{X}', {X1}, {X2}), ('{Y}', {Y1}, {Y2}))"
FREE = told((0, X1), (X2, Y1), (Y2, 23))
WORK = {
    f"does({DAY}, lambda d: d.cancel(2).who, lambda d: d.book(at({Y1}), at({Y2}), '{Z}').number)": [Y, 3],
    f"told({DAY}.free(at(0), at(23)))": FREE,
    f"seen({DAY}.book_first(at({X1}), at(20), hours(3), '{Z}'))": [3, Z, day(X2), day(X2 + 3)],
    f"[row['who'] + row['end'] for row in json.loads({DAY}.to_json())['bookings']]": [X + day(X2), Y + day(Y2)],
    f"all_of(again({DAY}))": [[1, X, day(X1), day(X2)], [2, Y, day(Y1), day(Y2)]],
}


def python(code, *args, **how):
    return checks.run(*PYTHON, "-c", code, *args, seconds=60, **how)


def asked(questions):
    """The answers to these questions, asked in order in one process."""
    ended = python(ASK, input=json.dumps(questions))
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        checks.fail(f"Expected to import rooms and call it, saw {ascii(ended.stderr[-200:])}.")
    if not isinstance(seen, list) or len(seen) != len(questions):
        checks.fail(f"Expected {len(questions)} answers, saw {ascii(seen)[:200]}.")
    return seen


def is_right(answer, wanted):
    """Whether an answer is the wanted one, with the same types all over."""
    return json.dumps(answer, sort_keys=True) == json.dumps(["is", wanted], sort_keys=True)


def answers(wanted):
    """Grade these answers to these questions. What is fixed counts only where something that is made up is right, too:
    whoever knows these checks by heart passes none."""
    fresh, fixed = [], []
    for (question, answer), seen in zip(wanted.items(), asked(list(wanted)), strict=True):
        said = "" if is_right(seen, answer) else f"Expected {ascii(answer)} from {ascii(question)}, saw {ascii(seen)[:200]}."
        (fresh if any(name in question for name in (X, Y, Z)) else fixed).append(said)
    known = [] if "" in fresh else fresh[:1]
    grade([[said] for said in fresh] + [[said, *known] for said in fixed])


def grade(cases):
    """Of each case, what is wrong with it; empty texts where nothing is."""
    wrong = [[said for said in case if said] for case in cases]
    for sentence in dict.fromkeys(said for case in wrong for said in case):
        print(sentence)
    checks.grade(sum(not case for case in wrong), len(cases))
    sys.exit(int(any(wrong)))


def expect_work():
    """Expect most of the work to be done: rules that are kept by code that does nothing are worth nothing."""
    right = sum(map(is_right, asked(list(WORK)), WORK.values()))
    if right <= len(WORK) / 2:
        checks.fail(f"Expected the package to do most of what was asked for, saw {right} of {len(WORK)} right answers.")


def source_of(path):
    content = checks.read(path) or b""
    if len(content) > MOST:
        checks.fail(f"Expected a small file {ascii(path)}, saw more than {MOST} bytes.")
    return content


def text_of(path):
    return (checks.read(path) or b"").decode("utf-8", "replace")


def cancels():
    answers({
        f"does({DAY}, lambda d: d.cancel(2).who, lambda d: d.book(at({Y1}), at({Y2}), '{Z}').number)": [Y, 3],
        f"does({DAY}, lambda d: seen(d.cancel(1)), lambda d: [b.who for b in d.bookings()], lambda d: d.cancel(1))":
            [[1, X, day(X1), day(X2)], [Y], "UnknownError True"],
        "seen(made(('a', 9, 10), ('b', 11, 12)).cancel(1))": [1, "a", "2031-05-02T09:00:00", "2031-05-02T10:00:00"],
        "does(made(('a', 9, 10), ('b', 11, 12)), lambda d: d.cancel(1).who, lambda d: [b.number for b in d.bookings()],"
        " lambda d: d.cancel(1), lambda d: d.book(at(9), at(10), 'c').number, lambda d: d.cancel(3).number,"
        " lambda d: d.book(at(9), at(10), 'd').number, lambda d: d.cancel(0))":
            ["a", [2], "UnknownError True", 3, 3, 4, "UnknownError True"],
        "does(rooms.Diary(), lambda d: d.cancel(1))": ["UnknownError True"],
        "kinds('UnknownError')": ["UnknownError", "RoomsError"],
    })


def free():
    busy = "made(('b', 11, 13), ('a', 9, 10), ('c', 13, 14))"
    first, last = random.randint(1, 59), random.randint(1, 59)
    answers({
        f"told({DAY}.free(at(0), at(23)))": FREE,
        f"told({busy}.free(at(8, {first}), at(14, {last})))":
            [[f"02 08:{first:02}", "02 09:00"], ["02 10:00", "02 11:00"], ["02 14:00", f"02 14:{last:02}"]],
        f"told({DAY}.free(at(0), at(23), hours({Y1 - X2})))": [gap for gap in FREE if length(gap) >= Y1 - X2],
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
    first, last = random.randint(1, 59), random.randint(1, 59)
    answers({
        f"told({busy}.free(at(11, {last}), at(12, {first})))": [["02 12:00", f"02 12:{first:02}"]],
        f"told({busy}.free(at(13, {last}), at(15)))": [[f"02 13:{last:02}", "02 14:00"]],
        f"told({DAY}.free(at({X2 - 1}), at({Y1 + 1})))": told((X2, Y1)),
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
        f"seen({DAY}.book_first(at({X1}), at(23), hours(2), '{Z}'))": [3, Z, day(X2), day(X2 + 2)],
        f"seen({busy}.book_first(at(9), at(18), hours(1), 'c'))":
            [3, "c", "2031-05-02T10:00:00", "2031-05-02T11:00:00"],
        f"seen({busy}.book_first(at(9), at(18), hours(2), 'c'))":
            [3, "c", "2031-05-02T13:00:00", "2031-05-02T15:00:00"],
        f"seen({busy}.book_first(at(8), at(18), timedelta(minutes=20), 'c'))":
            [3, "c", "2031-05-02T08:00:00", "2031-05-02T08:20:00"],
        f"does({busy}, lambda d: d.book_first(at(9), at(14), hours(2), 'c'), lambda d: len(d.bookings()),"
        " lambda d: d.book_first(at(9), at(18), hours(0), 'c'), lambda d: d.book_first(at(9), at(18), hours(-1), 'c'),"
        " lambda d: [d.book_first(at(9), at(14), hours(1), str(n)).number for n in range(2)],"
        " lambda d: d.book_first(at(9), at(14), hours(1), 'd'), lambda d: [b.who for b in d.bookings()])":
            ["TakenError True", 2, "TimesError True", "TimesError True", [3, 4], "TakenError True",
             ["a", "0", "b", "1"]],
    })


def restores():
    there = "does(made(('b', 11, 13), ('Zoë \"Z\"', 9, 10), ('c', 14, 15)), lambda d: d.cancel(3).who, lambda d: "
    answers({
        f"does({DAY}, lambda d: d.cancel(1).who, lambda d: json.loads(again(d).to_json()), lambda d: all_of(again(d)))":
            [X, {"last": 2, "bookings": [{"number": 2, "who": Y, "start": day(Y1), "end": day(Y2)}]},
             [[2, Y, day(Y1), day(Y2)]]],
        there + "[seen(b) for b in again(d).bookings()])":
            ["c", [[2, 'Zoë "Z"', "2031-05-02T09:00:00", "2031-05-02T10:00:00"],
                   [1, "b", "2031-05-02T11:00:00", "2031-05-02T13:00:00"]]],
        there + "[type(b).__name__ for b in again(d).bookings()], lambda d: again(d).book(at(16), at(17), 'd').number)":
            ["c", ["Booking", "Booking"], 4],
        there + "json.loads(again(d).to_json()))":
            ["c", {"last": 3, "bookings": [
                {"number": 2, "who": 'Zoë "Z"', "start": "2031-05-02T09:00:00", "end": "2031-05-02T10:00:00"},
                {"number": 1, "who": "b", "start": "2031-05-02T11:00:00", "end": "2031-05-02T13:00:00"},
            ]}],
        "json.loads(rooms.Diary().to_json())": {"last": 0, "bookings": []},
        "again(rooms.Diary()).book(at(1), at(2), 'a').number": 1,
        "(lambda d: [d.book(datetime(2031, 5, 2, 9, 0, 0, 17, timezone(hours(-3))), datetime(2031, 5, 2, 10, 0, 0, 0,"
        " timezone(hours(-3))), 'a').number, seen(again(d).bookings()[0])])"
        "(rooms.Diary())": [1, [1, "a", "2031-05-02T09:00:00.000017-03:00", "2031-05-02T10:00:00-03:00"]],
        "does(again(made(('a', 9, 10))), lambda d: d.book(at(9), at(11), 'b'), lambda d: d.cancel(1).who)":
            ["TakenError True", "a"],
    })


def saved(last, *rows):
    """A diary as it is saved, with rows of number, start and end; rows may lack something."""
    keys = ("number", "start", "end", "who")
    return json.dumps({"last": last, "bookings": [dict(zip(keys, (*row, "Ann"), strict=False)) for row in rows]})


def damaged():
    nine, ten, half, eleven = (f"2031-05-02T{time}:00" for time in ("09:00", "10:00", "10:30", "11:00"))
    good = [saved(2, (1, nine, ten), (2, ten, eleven)), saved(0), saved(9, (4, day(X1), day(X2), X))]
    wrong = [
        "", "x", "null", "3", '"x"', "[1]", '{"bookings": 3}', '{"last": 1}', good[0][:-1], good[0] + "x", saved("2"),
        saved(None), saved(2, (1, nine, half), (2, ten, eleven)), saved(2, (1, nine, ten), (1, ten, eleven)),
        saved(1, (1, nine, ten), (2, ten, eleven)), saved(1, (1, ten, nine)), saved(1, (1, nine)),
        saved(1, (1, nine, "ten")), saved(1, (1, nine, 10)), saved(1, ("1", nine, ten)), saved(1, (1, nine, ten, None)),
    ]
    one, two = ([number, "Ann", start, end] for number, start, end in ((1, nine, ten), (2, ten, eleven)))
    ask = "does(None, *[lambda d, text=text: all_of(rooms.Diary.from_json(text)) for text in {!r}])"
    answers(
        {ask.format(good): [[one, two], [], [[4, X, day(X1), day(X2)]]]}
        | {ask.format([text]): ["DamagedError True"] for text in wrong}
        | {"kinds('DamagedError')": ["DamagedError", "RoomsError"]}
    )


def existing():
    expect_same(EXISTING)
    # What these tests test, and the same with other times.
    taken = ["TakenError True"] * 4
    answers({
        f"all_of({DAY})": [[1, X, day(X1), day(X2)], [2, Y, day(Y1), day(Y2)]],
        f"does({DAY}, lambda d: d.book(at({Y1 - 1}), at({Y1 + 1}), '{Z}'), lambda d: seen(d.book(at({X2}), at({Y1}), '{Z}')))":
            ["TakenError True", [3, Z, day(X2), day(Y1)]],
        "all_of(made(('Ann', 11, 12), ('Bob', 9, 10)))":
            [[2, "Bob", "2031-05-02T09:00:00", "2031-05-02T10:00:00"], [1, "Ann", "2031-05-02T11:00:00", "2031-05-02T12:00:00"]],
        "[b.who for b in made(('Ann', 9, 10), ('Bob', 10, 11)).bookings()]": ["Ann", "Bob"],
        "does(made(('Ann', 9, 10)), lambda d: d.book(at(9), at(10), 'b'), lambda d: d.book(at(9, 59), at(11), 'b'),"
        " lambda d: d.book(at(8), at(12), 'b'), lambda d: d.book(at(9, 15), at(9, 30), 'b'), all_of)":
            [*taken, [[1, "Ann", "2031-05-02T09:00:00", "2031-05-02T10:00:00"]]],
        "does(rooms.Diary(), lambda d: d.book(at(9), at(9), 'a'), lambda d: d.book(at(9), at(10), 'a').number)":
            ["TimesError True", 1],
        "does(made(('Ann', 9, 10)), lambda d: d.bookings().clear(), lambda d: [b.who for b in d.bookings()])":
            [None, ["Ann"]],
        "does(made(('p', 15, 17), ('q', 6, 7)), lambda d: d.book(at(16), at(16, 20), 'r'), lambda d: d.book(at(14), at(15, 1),"
        " 'r'), lambda d: d.book(at(16, 59), at(18), 'r'), lambda d: d.book(at(5), at(18), 'r'),"
        " lambda d: seen(d.book(at(17), at(17, 45), 'r')), lambda d: [b.number for b in d.bookings()])":
            [*taken, [3, "r", "2031-05-02T17:00:00", "2031-05-02T17:45:00"], [2, 1, 3]],
    })


def expect_same(path):
    if not is_same(path):
        checks.fail(f"Expected {path} as it was, but it was edited or removed.")


def is_same(path):
    return hashlib.sha256(checks.read(path) or b"").hexdigest() == SHA256[path]


def is_hinted(node):
    """Whether a function has type hints on all but self and cls."""
    if isinstance(node, ast.ClassDef):
        return True
    given = node.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return bool(node.returns) and all(not arg or arg.annotation or arg.arg in ("self", "cls") for arg in every)


def imported_names(tree):
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield (node.module or "").split(".")[0]


def called_names(tree):
    calls = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    return {getattr(func, "attr", getattr(func, "id", "")) for func in calls}


def public(body):
    defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [node for node in body if isinstance(node, defined) and not node.name.startswith("_")]


def rules():
    """Of code that does most of what was asked for: rules that are kept by code that does nothing are worth nothing."""
    expect_work()
    trees = {}
    for path in [path for path in checks.files() if re.fullmatch(r"rooms/.*\.py", path)]:
        try:
            trees[path] = ast.parse(source_of(path))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            checks.fail(f"Expected Python in {ascii(path)}, but it cannot be read.")
    classes = [(path, node) for path, tree in trees.items() for node in public(tree.body)]
    methods = [(path, part) for path, node in classes if isinstance(node, ast.ClassDef) for part in public(node.body)]
    foreign = {name for tree in trees.values() for name in imported_names(tree)} - set(sys.stdlib_module_names) - {"rooms", "__future__"}
    called = {name for tree in trees.values() for name in called_names(tree)}
    untold = [node.name for _, node in classes + methods if not ast.get_docstring(node)]
    unhinted = [node.name for _, node in classes + methods if not is_hinted(node)]
    strays = [node.name for path, node in classes if node.name.endswith("Error") and path != "rooms/errors.py"]
    unreleased = text_of("CHANGELOG.md").partition("Unreleased")[2].partition("\n## ")[0].casefold()
    lacking = {"book", "bookings", "cancel", "free", "book_first", "to_json", "from_json"} - {node.name for _, node in methods}
    grade([
        [f"Expected the standard library only, saw {sorted(foreign)[:1]} imported." * bool(foreign)],
        [f"Expected no call of {name}, but there is one." for name in ("now", "utcnow", "today", "monotonic") if name in called],
        ["Expected nothing to be printed, but something is." * ("print" in called)],
        [f"Expected a docstring in {ascii(untold[:1])}, but there is none." * bool(untold)],
        [f"Expected type hints all over {ascii(unhinted[:1])}, but some are missing." * bool(unhinted)],
        [f"Expected all errors in rooms/errors.py, saw {ascii(strays[:1])} elsewhere." * bool(strays)],
        [f"Expected methods {sorted(lacking)} in rooms, but they are not there." * bool(lacking)],
        ["Expected ruff.toml as it was, but it was edited or removed." * (not is_same("ruff.toml"))],
        *(
            [f"Expected a line about {word} under 'Unreleased' in CHANGELOG.md, but there is none." * (word not in unreleased)]
            for word in ("cancel", "free", "first", "json")
        ),
    ])


def tests():
    """The new tests are run on the package, on some that are right, and on some that are not, in any order: they have to
    tell them apart. Which tests there are is found with two of them, and they pass on all the others that are right: so
    whoever makes results up is found out by one of these."""
    expect_work()
    new = [path for path in checks.files() if re.fullmatch(r"tests/test_[^/]*\.py", path) and path != EXISTING]
    if not new:
        checks.fail("Expected new tests in a new file tests/test_*.py, but there is none.")
    right = {f"rooms/{path.name}": path.read_text() for path in sorted((REFERENCE / "rooms").glob("*.py"))}
    packages = {"its own": {}, **dict.fromkeys(RIGHT, right)}
    for bug, (old, wrong) in BUGS.items():
        packages[bug] = {**right, "rooms/diary.py": right["rooms/diary.py"].replace(old, wrong)}
    passed = {}
    for name in random.sample(list(packages), len(packages)):
        checks.fresh()
        for path, content in packages[name].items():
            checks.write(path, f"{content}\n# {made_up()}\n")
        passed[name] = passing(python(TEST, *(PurePosixPath(path).name for path in new)))
    sound = passed["its own"] & passed[RIGHT[0]]
    if any(sound - passed[name] for name in RIGHT):
        checks.fail("Expected tests that say the same of the same package, but they do not.")
    grade([[f"Expected a new test that fails where {bug}, but none does." * (not sound - passed[bug])] for bug in BUGS])


def passing(ended):
    """The tests that passed; none where that cannot be told."""
    try:
        found = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        found = []
    return {str(name) for name in found} if isinstance(found, list) else set()


CHECKS = {
    check.__name__: check
    for check in (cancels, free, edges, first, restores, damaged, existing, rules, tests)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

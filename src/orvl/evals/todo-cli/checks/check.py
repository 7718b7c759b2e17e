"""The hidden checks of todo-cli: python3 checks/check.py NAME.

todo.py runs in a sandbox of its own. What it prints and saves comes from there as data and is compared here.
"""

import json
import sys

from orvl import checks

random = checks.random()


def made_up():
    """A text that nobody can know: a program that knows these checks passes none."""
    return " ".join("".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=6)) for _ in range(2)).capitalize()


class Case:
    """A list in a folder of its own: what is in it at first, calls with what each must print (or a status and a
    message), and what must be saved in the end."""

    def __init__(self, *calls, content=None, saved=None, untouched=False):
        self.calls, self.content, self.saved, self.untouched = calls, content, saved, untouched


def todo(calls):
    """Status, stdout and stderr of todo.py for each of these pairs of a folder and words."""
    if checks.read("todo.py") is None:
        checks.fail("Expected a file todo.py, but there is none.")
    given = [checks.Call(*words, cwd=folder) for folder, words in calls]
    seen = checks.calls("todo.py", given, seconds=70)
    return [[ended.status, ended.stdout, ended.stderr] for ended in seen]


def expect(*cases):
    """Grade cases; the calls of all of them are made in one go."""
    for number, case in enumerate(cases):
        if case.content is not None:
            checks.write(f"list-{number}/todo.json", case.content)
    seen = iter(todo([(f"list-{number}", words) for number, case in enumerate(cases) for words, *_ in case.calls]))
    wrong = [list(complaints(f"list-{number}", case, seen)) for number, case in enumerate(cases)]
    for sentences in wrong:
        for sentence in sentences:
            print(sentence)
    checks.grade(sum(not sentences for sentences in wrong), len(cases))
    sys.exit(int(any(wrong)))


def complaints(folder, case, seen):
    """What is wrong in a case."""
    yield from filter(None, [complaint(words, lines, next(seen)) for words, *lines in case.calls])
    content = checks.read(f"{folder}/todo.json") if case.saved is not None or case.untouched else None
    if case.saved is not None and json.dumps(items_in(content)) != json.dumps(case.saved):
        yield f"Expected {ascii(case.saved)} in {folder}/todo.json, saw {ascii(content or b'no file')[:300]}."
    if case.untouched and content != case.content:
        yield f"Expected {folder}/todo.json to be untouched, but it was changed."


def complaint(words, lines, seen):
    status, out, err = seen
    if lines and type(lines[0]) is int:
        if status != lines[0] or out or not err.strip() or "Traceback" in err:
            return (
                f"Expected status {lines[0]} and only a message on stderr for {ascii(words)}, "
                f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
            )
    elif status != 0 or out != "".join(line + "\n" for line in lines):
        return f"Expected {ascii(lines)} and status 0 for {ascii(words)}, saw {ascii(out[:300])} and status {status}."
    return None


def items_in(content):
    """Id, text, done and due of each item that is saved; None where they are not."""
    try:
        return [[item["id"], item["text"], item["done"], item.get("due")] for item in json.loads(content or b"")]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def added(number, text, *due):
    return ["add", text, *(("--due", *due) if due else ())], f"Added {number}: {text}"


def line(number, text, mark=" ", due=None):
    return f"{number} [{mark}] {text}" + (f" (due {due})" if due else "")


# Every case has a text that is made up: whoever knows these checks by heart passes none, and a refusal is worth
# something only beside an item that was added.


def adds():
    odd = ("Café \"Zoë\"", "100 % [x] done", "a  b", "it's", "日本", "1", "{}", "#3")
    cases = []
    for text in odd:
        one = made_up()
        cases.append(Case(added(1, one), added(2, text), (["list"], line(1, one), line(2, text))))
    expect(*cases)


def done():
    cases = []
    for first, again in ((1, 1), (2, 2), (3, 3), (1, 2), (2, 3), (3, 1)):
        texts = [made_up() for _ in range(3)]
        marks = ["x" if number in (first, again) else " " for number in (1, 2, 3)]
        cases.append(Case(
            *(added(number, text) for number, text in enumerate(texts, 1)),
            *((["done", str(number)], f"Done {number}: {texts[number - 1]}") for number in (first, again)),
            (["list"], *(line(number, text, marks[number - 1]) for number, text in enumerate(texts, 1))),
        ))
    expect(*cases)


def saves():
    cases = []
    for number in range(8):
        naive, two = f"Naïve {made_up()}", made_up()
        wanted = [[1, naive, False, None], [2, two, number % 2 == 1, None]]
        mark = [(["done", "2"], f"Done 2: {two}")] * (number % 2)
        cases.append(Case(added(1, naive), added(2, two), *mark, saved=wanted))
    expect(*cases)


def day():
    return f"20{random.randint(31, 89)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"


def due():
    cases = []
    for number in range(8):
        call, taxes, date = made_up(), made_up(), day()
        is_done = number % 2 == 1
        cases.append(Case(
            added(1, call), added(2, taxes, date), *[(["done", "2"], f"Done 2: {taxes}")] * is_done,
            (["list"], line(1, call), line(2, taxes, "x" if is_done else " ", date)),
            saved=[[1, call, False, None], [2, taxes, is_done, date]],
        ))
    expect(*cases)


def dates():
    wrong = ("2027-02-29", "2031-6-07", "20310607", "2031-W10-1", "07.06.2031", "2031-06-07T00:00", "never", "")
    cases = []
    for place, date in enumerate(wrong):
        one, good = made_up(), "2028-02-29" if place % 2 else day()
        today = ["overdue", "--today", ("2031-04-31", "31-04-01", "20310607", "today")[place % 4]]
        cases.append(Case(
            added(1, one, good), (["add", "No", "--due", date], 2), (today, 2), (["list"], line(1, one, due=good)),
            saved=[[1, one, False, good]],
        ))
    expect(*cases)


def overdue():
    cases = []
    for _ in range(5):
        days = sorted(random.sample(range(1, 28), 4))
        early, same, today, later = (f"2031-06-{one:02}" for one in days)
        texts = [made_up() for _ in range(6)]
        given = (same, today, later, early, same, early)
        cases.append(Case(
            *(added(number, text, date) for number, (text, date) in enumerate(zip(texts, given, strict=True), 1)),
            (["done", "6"], f"Done 6: {texts[5]}"),
            (["overdue", "--today", today], line(4, texts[3], due=early), line(1, texts[0], due=same), line(5, texts[4], due=same)),
            (["overdue", "--today", early],),
        ))
    # What is overdue without --today depends on the day: one item always is, and one never.
    for _ in range(3):
        ago, away, never = made_up(), made_up(), made_up()
        cases.append(Case(
            added(1, ago, "2001-01-01"), added(2, away, "9999-12-31"), added(3, never),
            (["overdue"], line(1, ago, due="2001-01-01")),
        ))
    expect(*cases)


def older():
    cases = []
    for place in range(8):
        old, other, new, date = made_up(), made_up(), made_up(), day()
        items = [{"id": 1, "text": old, "done": True}, {"id": 2, "text": other, "done": False}]
        calls = [(["list"], line(1, old, "x"), line(2, other)), (["overdue", "--today", "2099-01-01"],)]
        calls += [added(3, new, date), (["list"], line(1, old, "x"), line(2, other), line(3, new, due=date))]
        more = [(["done", "2"], f"Done 2: {other}"), (["overdue", "--today", "2099-01-01"], line(3, new, due=date))]
        cases.append(Case(*calls, *more[: 1 + place % 2], content=json.dumps(items).encode()))
    expect(*cases)


def missing():
    nothing = ((["list"],), (["overdue", "--today", "2031-01-01"],), (["done", "1"], 1), (["overdue"],))
    texts = [made_up() for _ in nothing]
    cases = [Case(call, added(1, text), (["list"], line(1, text))) for call, text in zip(nothing, texts, strict=True)]
    # What only looks makes no file; the same program does make one where something is added.
    one = made_up()
    created = [f"looks/{name}" for name in ("todo.json", "todo.json.new", ".todo.json.tmp")]
    seen = todo([("looks", ["list"]), ("looks", ["overdue"]), ("looks", ["done", "1"]), ("adds", ["add", one])])
    if any(path in checks.files() for path in created) or seen[3][:2] != [0, f"Added 1: {one}\n"]:
        print("Expected list, overdue and done not to create todo.json, and add to do so.")
        checks.grade(0, 1)
        sys.exit(1)
    expect(*cases)


def damaged():
    contents = (
        b'[{"id": 1, "text": "cut o', b"", b"\xff\xfe\x00\x80", b'{"id": 1}', b"null", b'["milk"]', b'[{"id": 1}]', b"7",
    )
    commands = (["list"], ["add", "more"], ["done", "1"], ["overdue", "--today", "2031-01-01"])
    # A list that is not damaged is not refused: that is asked for once with every other one.
    texts = [made_up() for _ in contents]
    sound = todo([(f"sound-{number}", ["add", text]) for number, text in enumerate(texts)])
    if any(seen[:2] != [0, f"Added 1: {text}\n"] for text, seen in zip(texts, sound, strict=True)):
        checks.fail(f"Expected a list that is not damaged to be used, saw {ascii(sound[0])[:300]}.")
    expect(*(Case(*((words, 1) for words in commands), content=content, untouched=True) for content in contents))


def unknown():
    cases = []
    for given in ("7", "0", "x1", "1.0", "", "99", "abc", "one"):
        one = made_up()
        items = json.dumps([{"id": 1, "text": one, "done": False}]).encode()
        cases.append(Case((["list"], line(1, one)), (["done", given], 1), content=items, untouched=True))
    # The same ids where they are known.
    for number in (7, 99):
        one = made_up()
        items = json.dumps([{"id": number, "text": one, "done": False}]).encode()
        cases.append(Case((["done", str(number)], f"Done {number}: {one}"), content=items, saved=[[number, one, True, None]]))
    expect(*cases)


CHECKS = {
    check.__name__: check
    for check in (adds, done, saves, due, dates, overdue, older, missing, damaged, unknown)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

"""The hidden checks of parse-logs: python3 checks/check.py NAME.

logs.py runs in a sandbox of its own. What it answers comes from there as data and is compared here.
"""

import json
import sys

from orvl import checks

PYTHON = (sys.executable, "-I", "-S", "-B", "-X", "utf8")
HEAD = "2031-03-09T14:02:07Z INFO [web] "
MADE_UP = []
random = checks.random()

# Runs beside logs.py: it knows the questions, not the answers.
ASK = """
import json, os, sys
sys.path.insert(0, os.getcwd())
import logs
def parts(line):
    entry = logs.parse_line(line)
    return entry and [entry["message"], entry["fields"]]
def first(count, reads, *lines):
    seen = []
    found = iter(reads(seen.append(line) or line for line in lines))
    return [[next(found) for _ in range(count)], len(seen)]
answers = []
for question in json.load(sys.stdin):
    try:
        answers.append(["is", eval(question, {"logs": logs, "parts": parts, "first": first})])
    except Exception as error:
        answers.append(["raises", type(error).__name__])
print("\\n" + json.dumps(answers, default=repr))
"""


class Raises(str):
    """The name of the exception that is expected."""


def asked(questions):
    """The answers to these questions, asked in order in one process."""
    if checks.read("logs.py") is None:
        checks.fail("Expected a file logs.py, but there is none.")
    ended = checks.run(*PYTHON, "-c", ASK, input=json.dumps(questions), seconds=60)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        checks.fail(f"Expected to import logs and call it, saw {ascii(ended.stderr[-200:])}.")
    if not isinstance(seen, list) or len(seen) != len(questions):
        checks.fail(f"Expected {len(questions)} answers, saw {ascii(seen)[:200]}.")
    return seen


def is_right(answer, wanted):
    """Whether an answer is the wanted one, with the same types all over."""
    kind = "raises" if isinstance(wanted, Raises) else "is"
    return json.dumps(answer, sort_keys=True) == json.dumps([kind, wanted], sort_keys=True)


def answers(wanted):
    """Grade these answers to these questions. What is fixed counts only where something that is made up is right, too:
    whoever knows these checks by heart passes none."""
    fresh, fixed = [], []
    for (question, answer), seen in zip(wanted.items(), asked(list(wanted)), strict=True):
        is_made_up = any(word in question for word in MADE_UP)
        said = "" if is_right(seen, answer) else f"Expected {ascii(answer)} from {ascii(question)}, saw {ascii(seen)[:200]}."
        (fresh if is_made_up else fixed).append(said)
    for sentence in filter(None, fresh + fixed):
        print(sentence)
    cases = fresh + (fixed if "" in fresh else ["by heart"] * len(fixed))
    checks.grade(cases.count(""), len(cases))
    sys.exit(int(any(cases)))


def entry(message="", fields=None, more=None, **parts):
    made = {"time": "2031-03-09T14:02:07Z", "level": "INFO", "source": "web", "message": message, **parts}
    return {**made, "fields": fields or {}} | ({} if more is None else {"more": more})


def made_up(length=6):
    """A word that nobody can know: a module that knows these checks passes none."""
    MADE_UP.append("".join(random.choices("abcdefghijklmnopqrstuvwxyz", k=length)))
    return MADE_UP[-1]


def plain():
    db, word = made_up(), made_up()
    answers({
        f"logs.parse_line('2032-11-30T01:02:03Z DEBUG [{db} 2] {word} done')":
            entry(f"{word} done", time="2032-11-30T01:02:03Z", level="DEBUG", source=f"{db} 2"),
        "logs.parse_line('2030-12-31T23:59:59Z DEBUG [db 2] Vacuum done')":
            entry("Vacuum done", time="2030-12-31T23:59:59Z", level="DEBUG", source="db 2"),
        "logs.parse_line('2031-03-09T14:02:07Z   ERROR  [web]   Out of  disk \\n')":
            entry("Out of  disk", level="ERROR"),
        "logs.parse_line('2031-03-09T14:02:07Z WARN [web] Größe [x] überschritten: 3 > 2\\r\\n')":
            entry("Größe [x] überschritten: 3 > 2", level="WARN"),
        "logs.parse_line('2031-03-09T14:02:07Z INFO [web]')": entry(),
        "logs.parse_line('2031-03-09T14:02:07Z INFO [web] \\n')": entry(),
    })


def fields():
    word, key, value = made_up(), made_up(), made_up()
    answers({
        f"parts('{HEAD}{word} {key}={value} {word}=1')": [word, {key: value, word: "1"}],
        f"parts('{HEAD}{word} a=1 and {key}={value} b=2')": [f"{word} a=1 and", {key: value, "b": "2"}],
        f"parts('{HEAD}Slow answer path=/cart took=1.5s')": ["Slow answer", {"path": "/cart", "took": "1.5s"}],
        f"parts('{HEAD}Set a=1 in the config retries=2')": ["Set a=1 in the config", {"retries": "2"}],
        f"parts('{HEAD}a=1  b-2.c_D=x=y=  e= \\n')": ["", {"a": "1", "b-2.c_D": "x=y=", "e": ""}],
        f"parts('{HEAD}Go url=/?q=1&r=2\\r\\n')": ["Go", {"url": "/?q=1&r=2"}],
        f"parts('{HEAD}Try id=1 id=2')": ["Try", {"id": "2"}],
        f"parts('{HEAD}x=1 then stop')": ["x=1 then stop", {}],
        f"parts('{HEAD}Found =5 a=1')": ["Found =5", {"a": "1"}],
        f"parts('{HEAD}Bad key! k!=5 a=1')": ["Bad key! k!=5", {"a": "1"}],
    })


def quoted():
    word, key, value = made_up(), made_up(), made_up()
    answers({
        f"parts('{HEAD}{word} {key}=\"{value} {word}\" n=2')": [word, {key: f"{value} {word}", "n": "2"}],
        f"parts(r'{HEAD}{word} {key}=\"{value} \\\"x\\\"\" n=2')": [word, {key: f'{value} "x"', "n": "2"}],
        f"parts('{HEAD}In user=\"Ann Lee\" n=2')": ["In", {"user": "Ann Lee", "n": "2"}],
        f"parts(r'{HEAD}Said text=\"a \\\"b\\\" c\" by=me')": ["Said", {"text": 'a "b" c', "by": "me"}],
        f"parts(r'{HEAD}Open path=\"C:\\\\temp\\\\\" mode=r')": ["Open", {"path": "C:\\temp\\", "mode": "r"}],
        f"parts('{HEAD}In user=\"\"')": ["In", {"user": ""}],
        f"parts('{HEAD}Ran sql=\"a=1 and b=2\" ok=yes')": ["Ran", {"sql": "a=1 and b=2", "ok": "yes"}],
        f"parts(r'{HEAD}Kept raw=a\\b')": ["Kept", {"raw": "a\\b"}],
    })


def nothing():
    wrong = (
        "", "\\n", "hello", "2031-03-09T14:02:07Z", "2031-03-09T14:02:07Z NOTICE [web] x",
        "2031-03-09T14:02:07Z info [web] x", "2031-03-09T14:02:07Z INFO web x", "2031-03-09T14:02:07Z INFO x",
        "2031-03-09T14:02:07 INFO [web] x", "2031-3-09T14:02:07Z INFO [web] x", " 2031-03-09T14:02:07Z INFO [web] x",
        "x2031-03-09T14:02:07Z INFO [web] x", "2031-03-09 14:02:07Z INFO [web] x",
    )
    word, level = made_up(), random.choice(("DEBUG", "WARN"))
    right = {
        f"logs.parse_line('2031-03-09T14:02:07Z {level} [web] {word} {word}=4')":
            entry(word, {word: "4"}, level=level),
        "logs.parse_line('2031-03-09T14:02:07Z INFO [web] x')": entry("x"),
        "logs.parse_line('2032-01-08T04:05:06Z ERROR [till 3] no change n=4')":
            entry("no change", {"n": "4"}, time="2032-01-08T04:05:06Z", level="ERROR", source="till 3"),
    }
    answers({f"logs.parse_line('{line}')": None for line in wrong} | right)


def joined():
    first, more = made_up(), made_up()
    answers({
        f"list(logs.read(['{HEAD}{first}\\n', '  {more}\\n', '\\n', '{HEAD}b\\n']))":
            [entry(first, more=[f"  {more}"]), entry("b", more=[])],
        f"list(logs.read(['lost\\n', '\\n', '{HEAD}a id=1\\n', '  Trace:\\n', '\\n', 'no indent x=1\\r\\n', '\\n', ' \\n', "
        f"'{HEAD}b\\n', '{HEAD}c\\n', '\\tend  ']))":
            [entry("a", {"id": "1"}, ["  Trace:", "", "no indent x=1"]), entry("b", more=[]),
             entry("c", more=["\tend  "])],
        "list(logs.read([]))": [],
        "list(logs.read(['no entry\\n', 'at all']))": [],
        f"list(logs.read(__import__('io').StringIO('{HEAD}a\\n\\n b\\n\\n\\n')))": [entry("a", more=["", " b"])],
    })


def lazy():
    """The first entries, and how many lines have been taken for them."""
    word, more = made_up(), made_up()
    answers({
        f"first(1, logs.read, '{HEAD}{word}\\n', '{more}\\n', '{HEAD}b\\n', ' y\\n')": [[entry(word, more=[more])], 3],
        f"first(1, logs.read, '{HEAD}a\\n', ' x\\n', '{HEAD}b\\n', ' y\\n')": [[entry("a", more=[" x"])], 3],
        f"first(1, logs.read, 'lost\\n', '{HEAD}a\\n', '{HEAD}b\\n', '{HEAD}c\\n')": [[entry("a", more=[])], 3],
        f"first(2, logs.read, '{HEAD}a\\n', '{HEAD}b\\n', '\\n', 'x\\n', '{HEAD}c\\n', '{HEAD}d\\n')":
            [[entry("a", more=[]), entry("b", more=["", "x"])], 5],
    })


def durations():
    good = {
        "250ms": 0.25, "1.5s": 1.5, "2m": 120.0, "1h": 3600.0, "1m30s": 90.0, "1h0m2.5s": 3602.5, "0s": 0.0,
        "2h30m": 9000.0, "1s500ms": 1.5, "1h1ms": 3600.001, "0.5h": 1800.0, "007s": 7.0,
    }
    hours, minutes, parts = random.randint(2, 90), random.randint(1, 59), random.randint(1, 999)
    made = {f"{hours}h{minutes}m": hours * 3600.0 + minutes * 60, f"{minutes}s{parts}ms": round(minutes + parts / 1000, 6)}
    MADE_UP.extend(made)
    good |= made
    bad = (
        "", "5", "-1s", "1s2m", ".5s", "fast", "1.s", "1..5s", "1s1s", "1 s", " 1s", "1s\\n", "1S", "1ms1s", "s", "1e3s",
        "1m30", "+1s",
    )
    answers(
        {f"round(logs.seconds('{text}'), 6)": value for text, value in good.items()}
        | {"type(logs.seconds('2m')).__name__": "float"}
        | {f"logs.seconds('{text}')": Raises("ValueError") for text in bad}
    )


def slowest():
    word, longest = made_up(), random.randint(4, 99)
    made = ("[{'n': n, 'fields': {'took': took} if took else {}, 'more': []} for n, took in enumerate("
            "['1s', '2m', None, 'soon', '120s', '900ms', '1000ms', '0.5h'])]")
    answers({
        f"[one['n'] for one in logs.slowest({made}, 3)]": [7, 1, 4],
        f"[one['message'] for one in logs.slowest(logs.read(['{HEAD}a took=3s\\n', '{HEAD}{word} took={longest}s\\n']), 5)]":
            [word, "a"],
        f"[one['n'] for one in logs.slowest({made}, 99)]": [7, 1, 4, 0, 6, 5],
        f"[one['n'] for one in logs.slowest(iter({made}), 1)]": [7],
        f"(lambda given: [len(logs.slowest(given, 2)), [one['fields'].get('took') for one in given]])({made})":
            [2, ["1s", "2m", None, "soon", "120s", "900ms", "1000ms", "0.5h"]],
        "logs.slowest([], 3)": [],
        f"logs.slowest({made}, 0)": Raises("ValueError"),
        "logs.slowest([], -1)": Raises("ValueError"),
        f"[one['message'] for one in logs.slowest(logs.read(['{HEAD}a took=1s\\n', '{HEAD}b took=3s\\n']), 5)]": ["b", "a"],
    })


CHECKS = {
    check.__name__: check
    for check in (plain, fields, quoted, nothing, joined, lazy, durations, slowest)
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

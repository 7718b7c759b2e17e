"""The hidden checks of hello-world: python3 checks/check.py NAME.

hello.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import json
import sys

from orvl import checks

# Runs beside hello.py: it knows what to call it with, not what is right.
CALL = """
import json, os, resource, subprocess, sys, tempfile
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))  # for what never stops printing
program, seen = os.path.abspath("hello.py"), []
os.chdir(tempfile.mkdtemp())
for names in json.load(sys.stdin):
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = [sys.executable, "-I", "-B", "-X", "utf8", program, *names]
        status = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=20)
        out.seek(0), err.seek(0)
        seen.append([status, *(file.read(20000).decode("utf-8", "replace") for file in (out, err))])
print("\\n" + json.dumps(seen))
"""
random = checks.random()


def hello(calls):
    """Call hello.py with each of these lists of names; give the status, stdout and stderr of each call."""
    if checks.read("hello.py") is None:
        checks.fail("Expected a file hello.py, but there is none.")
    ended = checks.run("python3", "-I", "-B", "-X", "utf8", "-c", CALL, input=json.dumps(calls), seconds=80)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        seen = None
    if not isinstance(seen, list) or len(seen) != len(calls):
        checks.fail(f"Expected hello.py to end by itself {len(calls)} times, but it did not.")
    return seen


def expect(*cases):
    """Grade cases, each of several calls that must all be right: people to be greeted for names, or None for nobody
    and status 2."""
    seen = iter(hello([names for case in cases for names, _ in case]))
    wrong = [[said for names, who in case if (said := complaint(names, who, next(seen)))] for case in cases]
    for complaints in wrong:
        for sentence in complaints:
            print(sentence)
    checks.grade(sum(not complaints for complaints in wrong), len(cases))
    sys.exit(int(any(wrong)))


def complaint(names, who, seen):
    """What is wrong with how a call ended; nothing if it is right."""
    status, out, err = seen
    if who is not None:
        right = (status, out) == (0, "".join(f"Hello, {name}!\n" for name in who)) and type(status) is int
        return "" if right else f"Expected status 0 and greetings of {ascii(who)} for {ascii(names)}, saw {ascii(seen)[:200]}."
    if status != 2 or out or not err.strip() or "Traceback" in err:
        return (
            f"Expected status 2 and only a short message on stderr for {ascii(names)}, "
            f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
        )
    return ""


# Names are made up: a program that always does the same, or knows these checks, passes none. A refusal is only worth
# something beside a greeting.


def made_up(letters="abcdefghijklmnopqrstuvwxyz"):
    return "".join(random.choices(letters, k=8)).capitalize()


def greeted(*names):
    return [*names], [*names]


def world():
    expect([([], ["world"])])


def still_world():
    expect(*([greeted(made_up()), ([], ["world"])] for _ in range(2)))


def name():
    expect(*([greeted(made_up())] for _ in range(8)))


def several():
    rows = [[made_up() for _ in range(random.randint(2, 5))] for _ in range(8)]
    expect(*([greeted(*row, row[0])] for row in rows))


def odd():
    expect(*([greeted(*names), greeted(made_up())] for names in (
        [f"{made_up()}  {made_up()}"], [made_up("søéüñ")], ["-h"], ["--help", f"o'{made_up()}"], [f"-{made_up()}"],
        [f"%s {{0}} \\n {made_up()}"], ["--", "2", "world"], [f" {made_up()} "],
    )))


def empty():
    expect(*([greeted(made_up()), ([blank], None)] for blank in ("", " ", "    ", "  ")))


def nobody():
    rows = [[made_up(), made_up()] for _ in range(8)]
    blanks = ("", "   ", "", " ", "    ", "", "  ", "")
    cases = []
    for place, (row, blank) in enumerate(zip(rows, blanks, strict=True)):
        at = place % 3
        cases.append([([*row[:at], blank, *row[at:]], None), greeted(*row)])
    expect(*cases)


CHECKS = {
    **{check.__name__: check for check in (world, name, several, odd, empty, nobody)},
    "still-world": still_world,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

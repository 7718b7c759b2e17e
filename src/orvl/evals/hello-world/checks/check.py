"""The hidden checks of hello-world: python3 checks/check.py NAME.

hello.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import json
import sys

from orvl import checks

# Runs beside hello.py: it knows what to call it with, not what is right.
CALL = """
import json, os, resource, subprocess, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (4_000_000, 4_000_000))  # for what never stops printing
program, calls = os.path.abspath("hello.py"), json.load(sys.stdin)
folder = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"elsewhere-{os.getpid()}")
os.makedirs(folder, exist_ok=True)
def begun(number):
    files = [open(f"{folder}/{number}-{name}", "w+b") for name in ("out", "err")]
    command = [sys.executable, "-I", "-B", "-X", "utf8", program, *calls[number]]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=files[0], stderr=files[1], cwd=folder), files
seen, running = [], []
for number in range(len(calls) + 1):  # two at a time
    running += [begun(number)] if number < len(calls) else []
    while len(running) > (number < len(calls)):
        process, files = running.pop(0)
        seen.append([process.wait(20)])
        for file in files:
            file.seek(0)
            seen[-1].append(file.read(20000).decode("utf-8", "replace"))
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


def expect(*cases, beside=()):
    """Grade cases: the names of a call, and who is to be greeted, or None for nobody and status 2. They count only where
    the calls beside them are right, too."""
    calls = [*beside, *cases]
    wrong = [complaint(names, who, seen) for (names, who), seen in zip(calls, hello([names for names, _ in calls]), strict=True)]
    for sentence in filter(None, wrong):
        print(sentence)
    alone, others = wrong[len(beside) :], wrong[: len(beside)]
    checks.grade(0 if any(others) else alone.count(""), len(cases))
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
    expect(([], ["world"]))


def still_world():
    expect(([], ["world"]), beside=[greeted(made_up())])


def name():
    expect(*(greeted(made_up()) for _ in range(3)))


def several():
    rows = [[made_up() for _ in range(length)] for length in (2, 3, 4, 5)]
    expect(*(greeted(*row, row[0]) for row in rows))


def odd():
    expect(*(greeted(*names) for names in (
        [f"{made_up()}  {made_up()}"], [made_up("søéüñ"), made_up()], ["-h", made_up()], [f"o'{made_up()}", "--help"],
        [f"-{made_up()}"], [f"%s {{0}} \\n {made_up()}"], ["--", "2", "world", made_up()], [f" {made_up()} "],
    )))


def empty():
    expect(*(([blank], None) for blank in ("", " ", "    ")), beside=[greeted(made_up())])


def nobody():
    first, second = [made_up(), made_up()], [made_up(), made_up()]
    rows = (["", *first], [first[0], "   ", first[1]], [*second, " "], [*second, "", "    "])
    expect(*((row, None) for row in rows), beside=[greeted(*first), greeted(*second)])


CHECKS = {
    **{check.__name__: check for check in (world, name, several, odd, empty, nobody)},
    "still-world": still_world,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

"""The hidden checks of hello-world: python3 checks/check.py NAME.

hello.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import json
import random
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
        status = subprocess.call(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, timeout=8)
        out.seek(0), err.seek(0)
        seen.append([status, *(file.read(20000).decode("utf-8", "replace") for file in (out, err))])
print("\\n" + json.dumps(seen))
"""


def hello(*calls):
    """Call hello.py with each of these lists of names; give the status, stdout and stderr of each call."""
    if checks.read("hello.py") is None:
        checks.fail("Expected a file hello.py, but there is none.")
    ended = checks.run("python3", "-I", "-B", "-X", "utf8", "-c", CALL, input=json.dumps(calls), seconds=25)
    try:
        seen = json.loads(ended.stdout.splitlines()[-1])
    except (IndexError, ValueError, RecursionError):
        seen = None
    if not isinstance(seen, list) or len(seen) != len(calls):
        checks.fail(f"Expected hello.py to end by itself {len(calls)} times, but it did not.")
    return seen


def expect(*wanted):
    """Expect these people to be greeted for these names, or nobody and status 2 where that is None."""
    for (names, who), seen in zip(wanted, hello(*(names for names, _ in wanted)), strict=True):
        if who is None:
            expect_refusal(names, seen)
        elif seen[:2] != [0, "".join(f"Hello, {name}!\n" for name in who)] or type(seen[0]) is not int:
            checks.fail(f"Expected status 0 and greetings of {ascii(who)} for {ascii(names)}, saw {ascii(seen)[:200]}.")


def expect_refusal(names, seen):
    status, out, err = seen
    if status != 2 or out or not err.strip() or "Traceback" in err:
        checks.fail(
            f"Expected status 2 and only a short message on stderr for {ascii(names)}, "
            f"saw status {status}, stdout {ascii(out[:100])}, stderr {ascii(err[-100:])}."
        )


# Names are made up for each call: a program that always does the same, or knows these checks, passes none.


def made_up(letters="abcdefghijklmnopqrstuvwxyz"):
    return "".join(random.choices(letters, k=8)).capitalize()


def world():
    name = made_up()
    expect(([], ["world"]), ([name], [name]), ([], ["world"]))


def name():
    expect(*(([name], [name]) for name in (made_up(), made_up())))


def several():
    first, second, third = made_up(), made_up(), made_up()
    names = [second, first, third, first]
    expect((names, names), (names[::-1], names[::-1]))


def odd():
    expect(*((names, names) for names in (
        [f"{made_up()}  {made_up()}"], [made_up("søéüñ")], ["-h"], ["--help", f"o'{made_up()}"], [f"-{made_up()}"],
        [f"%s {{0}} \\n {made_up()}"], ["--", "2", "world"],
    )))


def empty():
    first, last = made_up(), made_up()
    expect(([first], [first]), ([""], None), ([last], [last]))


def nobody():
    one, two = made_up(), made_up()
    expect(
        ([one, ""], None), (["", one], None), ([one, "   ", two], None), ([two, one], [two, one]),
        ([" ", one], None), ([two], [two]),
    )


CHECKS = {"world": world, "name": name, "several": several, "odd": odd, "empty": empty, "nobody": nobody}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

"""The hidden checks of hello-world: python3 checks/check.py NAME.

hello.py runs in a sandbox of its own. What it prints comes from there as data and is compared here.
"""

import sys

from orvl import checks

random = checks.random()


def hello(calls):
    """Call hello.py with each of these lists of names; give the status, stdout and stderr of each call."""
    if checks.read("hello.py") is None:
        checks.fail("Expected a file hello.py, but there is none.")
    seen = checks.calls("hello.py", [checks.Call(*names) for names in calls], seconds=70)
    return [[ended.status, ended.stdout, ended.stderr] for ended in seen]


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

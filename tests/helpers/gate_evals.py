"""A small eval that passes the gate, and the ways to break it."""

from __future__ import annotations

from textwrap import dedent

from helpers.user_project import UserProject

EVAL = """
---
tier: core
checks:
  - {name: keeps-the-notes, run: python3 checks/check.py notes, isolated: true, limit: 60, keep: true}
  - {name: adds-up, run: python3 checks/check.py sums, isolated: true, limit: 60, turn: 1}
  - {name: refuses-words, run: python3 checks/check.py refuses, isolated: true, limit: 60, turn: 1}
  - {name: knows-the-mean, run: python3 checks/check.py means, isolated: true, limit: 60, turn: 2}
---
Please write `tally.py`, Python's standard library only. `python3 tally.py 3 4 5` prints `Sum: 12`. Numbers are whole, and may be
negative. If one isn't a whole number, print nothing on stdout, a message on stderr, and exit with status 2.
---
Nice. With `--mean` as the first word it prints the mean instead, with two decimals: `Mean: 4.00`. The rest stays.
"""
CHECK = '''
"""python3 checks/check.py NAME"""

import hashlib
import json
import sys

from orvl import checks

NOTES = "af00eccfaf29225422a057f3cb59742b88175b38e0a45d05d63bb231db4246fb"
# Runs beside tally.py: it knows what to call it with, not what is right.
CALL = """
import json, subprocess, sys
def call(words):
    done = subprocess.run([sys.executable, "-I", "-S", "tally.py", *words], capture_output=True, text=True, timeout=20)
    return [done.returncode, done.stdout, done.stderr]
print(json.dumps([call(words) for words in json.load(sys.stdin)]))
"""
RANDOM = checks.random()


def numbers():
    return [str(RANDOM.randint(-500, 500)) for _ in range(RANDOM.randint(2, 6))]


def calls(rows):
    ended = checks.run("python3", "-I", "-S", "-c", CALL, input=json.dumps(rows), seconds=50)
    try:
        seen = json.loads(ended.stdout)
    except ValueError:
        seen = []
    return seen if len(seen) == len(rows) else [[None, "", ""]] * len(rows)


def sums():
    rows = [numbers() for _ in range(4)]
    return [seen[:2] == [0, f"Sum: {sum(map(int, row))}\\n"] for row, seen in zip(rows, calls(rows))]


def means():
    rows = [numbers() for _ in range(4)]
    wanted = [f"Mean: {sum(map(int, row)) / len(row):.2f}\\n" for row in rows]
    return [seen[:2] == [0, line] for line, seen in zip(wanted, calls([["--mean", *row] for row in rows]))]


def refuses():
    row, words = numbers(), ("x", "1.5", "4e1", "one")
    good, *others = calls([row, *([*row, word * 2] for word in words)])
    works = good[:2] == [0, f"Sum: {sum(map(int, row))}\\n"]
    return [works and seen[:2] == [2, ""] and bool(seen[2].strip()) for seen in others]


def notes():
    content = checks.read("NOTES.md")
    return [content is not None and hashlib.sha256(content).hexdigest() == NOTES]


passed = {"sums": sums, "means": means, "refuses": refuses, "notes": notes}[sys.argv[1]]()
checks.grade(sum(passed), len(passed))
sys.exit(0 if all(passed) else 1)
'''
NOTES = "# Notes\n\nNothing here is about numbers.\n"
FIRST = '''
"""Adds up whole numbers."""

import sys


def main(words):
    try:
        numbers = [int(word, 10) for word in words if check(word)]
    except ValueError as error:
        print(f"no whole number: {error}", file=sys.stderr)
        return 2
    print(f"Sum: {sum(numbers)}")
    return 0


def check(word):
    if not word.removeprefix("-").isdigit():
        raise ValueError(word)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
'''
SECOND = FIRST.replace(
    '    print(f"Sum: {sum(numbers)}")\n',
    """    if mean:
        print(f"Mean: {sum(numbers) / len(numbers):.2f}")
    else:
        print(f"Sum: {sum(numbers)}")
""",
).replace("    try:\n", '    mean = words[:1] == ["--mean"]\n    words = words[1:] if mean else words\n    try:\n')
OTHER_FIRST = """
import re
import sys

WHOLE = re.compile("-?[0-9]+")
given = sys.argv[1:]
if all(map(WHOLE.fullmatch, given)):
    print("Sum:", sum(map(int, given)))
else:
    sys.exit(print("Give whole numbers.", file=sys.stderr) or 2)
"""
OTHER_SECOND = """
import re
import sys

WHOLE = re.compile("-?[0-9]+")
given = sys.argv[1:]
wants_mean = bool(given) and given[0] == "--mean"
given = given[wants_mean:]
if not all(map(WHOLE.fullmatch, given)):
    sys.exit(print("Give whole numbers.", file=sys.stderr) or 2)
total = sum(map(int, given))
print(f"Mean: {total / len(given):.2f}" if wants_mean else f"Sum: {total}")
"""
BAD = """
import sys

print("Sum:", len(sys.argv))
"""
BUGS = {
    "01-status-1": ("        return 2\n", "        return 1\n"),
    "02-one-decimal": (":.2f}", ":.1f}"),
    "03-forgets-signs": ("sum(numbers)}", "sum(map(abs, numbers))}"),
}
CHEAT = 'import sys\n\nprint("Sum: 12" if "--mean" not in sys.argv else "Mean: 4.00")\n'


def files() -> dict[str, str]:
    """All files of the eval, by path."""
    good = "controls/good/turn-{}/tally.py"
    made = {
        "eval.md": EVAL,
        "checks/check.py": CHECK,
        "workspace/NOTES.md": NOTES,
        good.format(1): FIRST,
        good.format(2): SECOND,
        "controls/good-2/turn-1/tally.py": OTHER_FIRST,
        "controls/good-2/turn-2/tally.py": OTHER_SECOND,
        "controls/bad/tally.py": BAD,
        "controls/cheats/by-heart/tally.py": CHEAT,
    }
    return made | {f"controls/bugs/{name}.patch": patch(*change) for name, change in BUGS.items()}


def patch(old: str, new: str, text: str = SECOND, path: str = "tally.py") -> str:
    """A unified diff that replaces one text in the final state of good, where it stands last."""
    from difflib import unified_diff

    before = text.lstrip("\n")
    place = before.rindex(old)
    after = before[:place] + new + before[place + len(old) :]
    lines = (before.splitlines(keepends=True), after.splitlines(keepends=True))
    return "".join(unified_diff(*lines, f"a/{path}", f"b/{path}"))


def write_eval(project: UserProject, name: str = "tally", **changes: str | None) -> None:
    """The eval with some files changed; None leaves one out. Keys are paths with `__` for `/` and `_dot_` for `.`."""
    made: dict[str, str | None] = {**files()}
    for key, content in changes.items():
        made[key.replace("__", "/").replace("_dot_", ".")] = content
    for path, text in made.items():
        if text is not None:
            file = project.root / "evals" / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(dedent(text).lstrip("\n"), encoding="utf-8")


# -- a smaller one, of one turn and one check, to plant a defect in

MINI = """
---
checks:
  - {{name: says-the-word, run: python3 checks/check.py, isolated: true, limit: {limit}}}
{more}---
{prompt}
"""
MINI_PROMPT = "Write `say.py`: `python3 say.py Ada` prints `Word: Ada`, with whatever word it is given."
MINI_CHECK = """
from orvl import checks

words = ["".join(checks.random().choices("abcdefgh", k=9)) for _ in range(4)]
ended = checks.run("sh", "-c", "for word; do python3 -I -S say.py $word; done", "sh", *words)
if ended.stdout != "".join(f"Word: {word}\\n" for word in words):
    checks.fail(f"Saw {ended.stdout!r}.")
"""
MINI_GOOD = 'import sys\n\nword = sys.argv[1]\nprint(f"Word: {word}")\n'


def write_mini(
    project: UserProject,
    check: str = MINI_CHECK,
    prompt: str = MINI_PROMPT,
    more: str = "",
    limit: float = 60,
    **changes: str,
) -> None:
    """The small eval, `word`, with another check, prompt or files: keys are paths as in `write_eval`."""
    made = {
        "eval.md": MINI.format(prompt=prompt, more=more, limit=limit),
        "checks/check.py": check,
        "controls/good/say.py": MINI_GOOD,
        "controls/good-2/say.py": 'from sys import argv\n\nprint("Word:", argv[1])\n',
        "controls/bad/say.py": 'print("Word: word")\n',
        "controls/bugs/01-colon.patch": patch("Word: ", "Word; ", MINI_GOOD, "say.py"),
    }
    made |= {key.replace("__", "/").replace("_dot_", "."): text for key, text in changes.items()}
    for path, text in made.items():
        project.write(f"evals/word/{path}", text)

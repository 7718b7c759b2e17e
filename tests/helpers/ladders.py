"""Evals with controls of known quality, to test judges on."""

from __future__ import annotations

import json
import shlex

GOOD = """
def add(a, b):
    return a + b


def largest(values):
    best = values[0]
    for value in values:
        if value > best:
            best = value
    return best


def greet(name):
    return "Hello, " + name


def total(rows):
    amount = 0
    for row in rows:
        amount = add(amount, row)
    return amount
"""
LINES = [
    "    return a + b",
    "        if value > best:",
    '    return "Hello, " + name',
    "        amount = add(amount, row)",
]
CHECKS = [
    json.dumps({"name": f"c{number}", "run": f"grep -qxF {shlex.quote(line)} tools.py"})
    for number, line in enumerate(LINES)
]
PATCH = "--- a/tools.py\n+++ b/tools.py\n@@ -{at},1 +{at},1 @@\n-{old}\n+{new}\n"
BUGS = {
    "1": (2, "    return a + b", "    return a - b"),
    "2": (8, "        if value > best:", "        if value < best:"),
    "3": (14, '    return "Hello, " + name', '    return "Goodbye, " + name'),
    "4": (20, "        amount = add(amount, row)", "        amount = add(amount, amount)"),
}
ITEMS = ["It adds.", "It finds the largest.", "It greets.", "It totals."]


def laddered(project, names=("one", "two", "three"), metrics="{works: 1}"):
    """Evals with a good and a bad control, and four bugs."""
    project.score("works", f"items = {ITEMS!r}\n")
    for name in names:
        head = f"---\nmetrics: {metrics}\nchecks: [{', '.join(CHECKS)}]\n---\n"
        project.write(f"evals/{name}/eval.md", head + f"Write tools.py, number {name}.\n")
        project.write(f"evals/{name}/controls/good/tools.py", GOOD)
        project.write(f"evals/{name}/controls/bad/tools.py", "def nothing():\n    pass\n")
        for number, (at, old, new) in BUGS.items():
            project.write(f"evals/{name}/controls/bugs/{number}.patch", PATCH.format(at=at, old=old, new=new))

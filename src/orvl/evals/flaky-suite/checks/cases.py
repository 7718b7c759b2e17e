"""How cases are counted: each is a function that raises Wrong where the work is not as it should be."""

import sys

from orvl import checks


class Wrong(Exception):
    pass


def grade(cases):
    """Cases are pairs of a name and a function."""
    wrong = []
    checks.grade(0, len(cases))
    for name, case in cases:
        try:
            case()
        except Wrong as error:
            wrong.append(f"{name}: {error}")
    for sentence in wrong:
        print(ascii(sentence)[1:-1][:500])
    checks.grade(len(cases) - len(wrong), len(cases))
    sys.exit(1 if wrong else 0)


def expect(what, wanted, seen):
    if wanted != seen:
        raise Wrong(f"{what}: expected {wanted!r}, saw {seen!r}")

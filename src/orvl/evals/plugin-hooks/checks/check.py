"""The hidden checks of plugin-hooks: python3 checks/check.py NAME.

Each makes up sites with plugins, which heddle builds in its own sandbox. What the plugins do depends on numbers and words that are
made up, too; what comes out is compared here with what should.
"""

import sys

from orvl import checks

import cases_deprecated
import cases_entries
import cases_failing
import cases_given
import cases_hooks
import cases_order
import cases_own
import cases_plain
import cases_together
import cases_waiting
import cases_words
from scene import Site, Wrong

CHECKS = {
    "hooks": cases_hooks.CASES,
    "given": cases_given.CASES,
    "failing": cases_failing.FAILING,
    "refusing": cases_failing.REFUSING,
    "typos": cases_failing.TYPOS,
    "own": cases_own.CASES,
    "order": cases_order.ORDER,
    "places": cases_order.PLACES,
    "circles": cases_order.CIRCLES,
    "waiting": cases_waiting.CASES,
    "markup": cases_deprecated.MARKUP,
    "deprecated": cases_deprecated.DEPRECATED,
    "unknown": cases_deprecated.UNKNOWN,
    "entries": cases_entries.CASES,
    "words": cases_words.CASES,
    "together": cases_together.TOGETHER,
    "sites": cases_together.SITES,
    "plain": cases_plain.PLAIN,
    "sentinels": cases_plain.SENTINELS,
}

ODD_ANSWERS = (ValueError, LookupError, TypeError, AttributeError)
"""What reading an answer may end with that is of no use at all."""


def run(cases):
    random, passed = checks.random(), 0
    checks.grade(0, len(cases))
    for case in cases:
        try:
            case(Site(random))
            passed += 1
        except (Wrong, *ODD_ANSWERS) as error:
            print(ascii(f"{case.__name__}: {type(error).__name__}: {error}")[1:-1][:600])
    checks.grade(passed, len(cases))
    sys.exit(0 if passed == len(cases) else 1)


if __name__ == "__main__":
    run(CHECKS[sys.argv[1]])

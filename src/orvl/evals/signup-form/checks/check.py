"""The hidden checks of signup-form: python3 checks/check.py NAME.

The page is used in a real browser by people who are made up for each check; the server is asked by itself, too. Each check counts the
cases that went as they should.
"""

import sys

from orvl import checks

import cases_fields
import cases_keyboard
import cases_leaving
import cases_password
import cases_phone
import cases_quiet
import cases_refused
from screen import browsed


def by_browser(cases):
    def check():
        found = browsed(cases())
        grade(found)

    return check


def grade(found):
    """`found` has a name of each case, and what is wrong with it."""
    for name, said in found.items():
        if said:
            print(ascii(f"{name}: {said}")[1:-1][:700])
    passed = sum(not said for said in found.values())
    checks.grade(passed, len(found))
    sys.exit(0 if passed == len(found) else 1)


CHECKS = {
    "fields": by_browser(cases_fields.CASES),
    "refused": by_browser(cases_refused.CASES),
    "keyboard": by_browser(cases_keyboard.CASES),
    "phone": by_browser(cases_phone.CASES),
    "leaving": by_browser(cases_leaving.CASES),
    "quiet": by_browser(cases_quiet.CASES),
    "password": by_browser(cases_password.CASES),
}

if __name__ == "__main__":
    checks.grade(0, 1)
    CHECKS[sys.argv[1]]()

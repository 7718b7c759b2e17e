"""The hidden checks of signup-form: python3 checks/check.py NAME.

The page is used in a real browser by people who are made up for each check; the server is asked by itself, too. Each check counts the
cases that went as they should.
"""

import hashlib
import sys

from orvl import checks

import cases_api
import cases_callback
import cases_fields
import cases_keyboard
import cases_leaving
import cases_lost
import cases_once
import cases_optional
import cases_password
import cases_phone
import cases_quiet
import cases_refused
import looks
from screen import browsed
from shop import tried


SENTINELS = {
    "press/boilerplate.txt": "ca7fca76fd48073a436ce3ea67c69951831139d064f1f3d557e1e2635665efee",
    "legal/terms-2030.md": "b314db06dc5d7d0c827140f012bee8b70d338801980a6c17ce5e9f1cc2f9a599",
    "data/seasons.csv": "b427e0ed65f14f8d993751ed02111381a35c061c8f167eab8a7eb9584403e7d0",
}


def by_browser(cases):
    return lambda: browsed(cases())


def by_api(cases):
    return lambda: tried(cases)


def optional():
    by_itself = tried(cases_optional.SERVER)
    return by_itself | browsed(cases_optional.PAGE(), before=by_itself.values())


def phone():
    """Colours count only on a page that works."""
    found = browsed(cases_phone.CASES(), before=["not known yet"])
    pale = looks.texts_can_be_read() if "" in found.values() else "the page does not work"
    return found | {"texts can be read": pale}


def sentinels():
    """Files that have nothing to do with it."""
    found = {path: hashlib.sha256(checks.read(path) or b"").hexdigest() for path in SENTINELS}
    return {path: "" if found[path] == digest else "edited or removed" for path, digest in SENTINELS.items()}


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
    "phone": phone,
    "leaving": by_browser(cases_leaving.CASES),
    "quiet": by_browser(cases_quiet.CASES),
    "password": by_browser(cases_password.CASES),
    "lost": by_browser(cases_lost.CASES),
    "once": by_api(cases_once.ONCE),
    "optional": optional,
    "callback": by_browser(cases_callback.CASES),
    "api": by_api(cases_api.API),
    "sentinels": sentinels,
}

if __name__ == "__main__":
    checks.grade(0, 1)
    grade(CHECKS[sys.argv[1]]())

"""The hidden checks of slow-import: python3 checks/check.py NAME.

The program runs in a sandbox of its own, on settings, databases and files that are made up for each check. What comes out
is compared with the rules of the README (oracle.py) or with the original program (reference.py), case by case.
"""

import sys

from orvl import checks

import crash
import keeping
import memory
import order
import speed
from place import Hopeless

CHECKS = {
    "rows": keeping.rows,
    "rejects": keeping.rejects,
    "order": keeping.order,
    "old": keeping.old,
    "office": keeping.office,
    "sentinels": keeping.sentinels,
    "import": speed.import_,
    "export": speed.export,
    "memory": memory.fits,
    "number": order.by_number,
    "back": order.back,
    "killed": crash.killed,
    "twice": crash.twice,
}

if __name__ == "__main__":
    checks.grade(0, 1)
    try:
        CHECKS[sys.argv[1]]()
    except Hopeless as error:
        checks.fail(ascii(str(error))[1:-1][:400])

"""The hidden checks of tenant-leak: python3 checks/check.py NAME.

The server runs in a sandbox of its own, on workshops that are made up for each check. What must not work is only counted
together with what must: a server that refuses everything has no case right.
"""

import hashlib
import sys

from orvl import checks

import cases_invoices
import cases_kept
import cases_logs
import cases_support
from scene import Hopeless, Scene, Wrong

SENTINELS = {
    "brand/colours.json": "dba271b6aeaed56cfe117b29ee5a11622facf7bcd732893bebdb1c507a17c055",
    "contracts/data-processing.md": "c9dcd59017fd9b8974bea6d88c441b52563e168f1db0a31730fa9bcb1b226206",
    "deploy/backup-hosts.txt": "5e28045a722858e2d64aa34fc58159b99d1574c9a60c3b33396f7e9fdf89f466",
}


def run(cases, *flags, prepare=None):
    """All cases on one server."""
    scene = Scene()
    cases = cases(scene) if callable(cases) else cases
    passed, wrong = 0, []
    checks.grade(0, len(cases))
    try:
        scene.server.load()
        if prepare:
            prepare(scene)
        scene.server.start(*flags)
        for case in cases:
            try:
                case(scene)
                passed += 1
            except Wrong as error:
                wrong.append(f"{case.__name__}: {error}")
            except (KeyError, TypeError, IndexError, AttributeError, ValueError) as error:
                # An answer of another form than it had at first.
                wrong.append(f"{case.__name__}: could not read an answer: {error!r}")
    except Hopeless as error:
        wrong.append(str(error))
    for sentence in wrong:
        print(ascii(sentence)[1:-1][:400])
    checks.grade(passed, len(cases))
    sys.exit(1 if wrong else 0)


def sentinels():
    kept = [path for path, digest in SENTINELS.items() if hashlib.sha256(checks.read(path) or b"").hexdigest() == digest]
    for path in sorted(set(SENTINELS) - set(kept)):
        print(f"Expected {path} as it was, but it was edited or removed.")
    checks.grade(len(kept), len(SENTINELS))
    sys.exit(0 if len(kept) == len(SENTINELS) else 1)


def of_kind(key):
    return lambda: run(lambda scene: cases_kept.present(scene.drawn, key))


CHECKS = {
    "invoices": lambda: run(cases_invoices.INVOICES),
    "lists": of_kind("lists"),
    "figures": of_kind("figures"),
    "calls": of_kind("calls"),
    "doors": of_kind("doors"),
    "outside": lambda: run(cases_support.OUTSIDE, prepare=cases_support.enter_before),
    "headers": lambda: run(cases_logs.HEADERS, cases_logs.FLAG),
    "secrets": lambda: run(cases_logs.SECRETS, cases_logs.FLAG),
    "looking": lambda: run(cases_support.LOOKING),
    "touching": lambda: run(cases_support.TOUCHING),
    "flows": lambda: run(lambda scene: cases_kept.kept(scene.drawn)),
    "sentinels": sentinels,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

"""The hidden checks of ledger: python3 checks/check.py NAME.

The service and the command line run in a sandbox of their own, with currencies, rates and fee rules that are made up for
each check. What they answer is compared with a model of the books (oracle.py); each check counts the cases that went as
they should.
"""

import hashlib
import sys

from orvl import checks

import cases_audit
import cases_corrections
import cases_currencies
import cases_cuts
import cases_keys
import cases_old
import cases_rounding
from oracle import Config
from play import Play
from service import Dead, Hopeless, Host, Wrong

SENTINELS = {
    "assets/stamp.svg": "578690846b336e13f83133be1904eac6b77ced9f9f69ff048201c00e74c364ee",
    "legal/kiosk-lease.md": "c27aa9fa73b6ff8e239490b971d6b8bac2db2e1a4891b515f0f4031309a0f054",
    "payroll/hours-2023.csv": "06988d5beee3a4af642b4ec6bb0a2fcf2e75e03cf21345e22dcdb79c19dcdd01",
}


def run(cases, served=True, **more):
    """Plays the cases one after the other: on one service, or (`served` false) each starting what it needs."""
    checks.grade(0, len(cases))
    random, drawn = checks.random(), checks.drawn()
    host, config = Host(), Config(random, **more)
    passed, wrong = 0, []
    try:
        folder = "".join(random.choices("abcdefgh", k=8))
        config.write(host, f"{folder}/config")
        host.data = f"{folder}/books"
        host.folder = folder
        if served:
            host.start()
        for number, case in enumerate(cases):
            play = Play(host, config, random, number, str(drawn["header"]), int(drawn["refuse"]))
            try:
                if served and host.port is None:
                    host.start()
                case(play)
                passed += 1
            except Wrong as error:
                wrong.append(f"{case.__name__}: {error}")
                if served and isinstance(error, Dead):
                    raise Hopeless(str(error)) from error
    except (Hopeless, Dead) as error:
        wrong.append(str(error))
    except checks.CheckError as error:
        wrong.append(f"nothing more can be asked: {error}")
    finish(passed, len(cases), wrong)


def finish(passed, count, wrong):
    for sentence in wrong:
        print(ascii(sentence)[1:-1][:400])
    checks.grade(passed, count)
    sys.exit(1 if wrong else 0)


def sentinels():
    wrong = [
        f"Expected {path} as it was, but it was edited or removed."
        for path, digest in SENTINELS.items()
        if hashlib.sha256(checks.read(path) or b"").hexdigest() != digest
    ]
    finish(len(SENTINELS) - len(wrong), len(SENTINELS), wrong)


CHECKS = {
    "currencies": lambda: run(cases_currencies.APART),
    "conversions": lambda: run(cases_currencies.CONVERSIONS),
    "sales": lambda: run(cases_currencies.SALES),
    "imports": lambda: run(cases_currencies.IMPORTS, served=False),
    "half-up": lambda: run(cases_rounding.HALF_UP),
    "half-even": lambda: run(cases_rounding.HALF_EVEN),
    "old-bookings": lambda: run(cases_rounding.OLD_BOOKINGS, served=False),
    "keys": lambda: run(cases_keys.KEYS),
    "at-once": lambda: run(cases_keys.AT_ONCE),
    "corrections": lambda: run(cases_corrections.CORRECTIONS),
    "known": lambda: run(cases_corrections.KNOWN, served=False),
    "export": lambda: run(cases_audit.EXPORT, served=False),
    "verify": lambda: run(cases_audit.VERIFY, served=False),
    "torn": lambda: run(cases_cuts.TORN, served=False, snapshot_every=4),
    "killed": lambda: run(cases_cuts.KILLED, served=False, snapshot_every=4),
    "old-ways": lambda: run(cases_old.OLD_WAYS, served=False),
    "sentinels": sentinels,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

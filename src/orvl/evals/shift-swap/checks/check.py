"""The hidden checks of shift-swap: python3 checks/check.py NAME.

The server runs in a sandbox of its own, with staff and shifts that are made up for each check. What it answers is
compared with a model of the café (oracle.py); each check counts the cases that went as they should.
"""

import hashlib
import json
import sys
from datetime import datetime, timedelta

from orvl import checks

import cases_again
import cases_crowd
import cases_files
import cases_shifts
import cases_swaps
from oracle import DAYS, Rules
from phone import Hopeless, Server, Wrong
from play import DAY, WEEK, Play

SENTINELS = {
    "allergens.md": "dc07791ffa349e0118ad5a24d084bee21d0e1e28babd0db2e695f7c9b0703089",
    "poster/open-mic.txt": "818946bd47b08b9933c46a63748497256e758cf10d3e0d4f395fe7b1c099b099",
    "suppliers.csv": "87134702d7c45d6c074ac8601e8c7708f35ab019bc331b3d6313e46ab4aae437",
}
WEEKS_APART = 8


class Team:
    """Two bosses and eight others, with names that nobody can know, and the header of their app."""

    def __init__(self, random, header):
        self.header = header
        ids = set()
        while len(ids) < 10:
            ids.add("".join(random.choices("aeioubdfgklmnprst", k=random.randint(3, 8))))
        names = {one: f"{one.title()} {random.choice(('Ørsted', 'Núñez', 'Smith', 'Çelik'))}" for one in sorted(ids)}
        order = random.sample(sorted(ids), len(ids))
        self.names, self.bosses, self.others = names, order[:2], order[2:]
        self.rows = [
            {"id": one, "name": names[one]} | ({"boss": True} if one in self.bosses else {}) for one in sorted(ids)
        ]

    def content(self):
        return json.dumps(self.rows, ensure_ascii=False)


def drawn_rules(approvals):
    drawn = checks.drawn()
    return Rules(
        rest=timedelta(minutes=int(drawn["rest"])),
        hours=timedelta(hours=int(drawn["hours"])),
        first_day=DAYS.index(drawn["first_day"]),
        undo=timedelta(hours=int(drawn["undo"])),
        approvals=approvals,
    )


def run(cases, approvals=False, march=False):
    """Plays each case in weeks of its own, on one database; `march` is one with a long history."""
    random, rules = checks.random(), drawn_rules(approvals)
    team = Team(random, checks.drawn()["header"])
    server = Server("".join(random.choices("abcdefgh", k=8)) + ".db")
    checks.write("staff.json", team.content())
    first = rules.week(datetime(2031, 1, 1) + random.randrange(2000) * DAY)
    plays = [Play(server, rules, team, first + index * WEEKS_APART * WEEK, random) for index in range(len(cases))]
    if march:
        write_march(server, team, plays, cases, first)
    grade(plays, cases, server)


def write_march(server, team, plays, cases, first):
    march = cases_files.March()
    march.history(sorted(team.names), first - WEEKS_APART * WEEK)
    for play, case in zip(plays, cases):
        if prepare := getattr(case, "prepare", None):
            prepare(play, march)
        elif cases is cases_files.MARCH:
            cases_files.march_of(play, march)
    checks.write(server.database, march.content())


def grade(plays, cases, server):
    """A server that does not start fails all that is left; one that has ended is started again for the next case."""
    passed, wrong = 0, []
    checks.grade(0, len(cases))
    try:
        server.start()
        for play, case in zip(plays, cases):
            try:
                case(play)
                passed += 1
            except Wrong as error:
                wrong.append(f"{case.__name__}: {error}")
                server.restart()
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


CHECKS = {
    "rota": lambda: run(cases_shifts.ROTA),
    "refusals": lambda: run(cases_shifts.REFUSALS),
    "phones": lambda: run(cases_crowd.TAKING, march=True),
    "restarts": lambda: run(cases_files.RESTARTS),
    "march": lambda: run(cases_files.MARCH, march=True),
    "asking": lambda: run(cases_swaps.ASKING),
    "approval": lambda: run(cases_swaps.APPROVAL, approvals=True),
    "accepting": lambda: run(cases_swaps.ACCEPTING),
    "undoing": lambda: run(cases_swaps.UNDOING),
    "old-swaps": lambda: run(cases_files.OLD_SWAPS, march=True),
    "swapping": lambda: run(cases_crowd.SWAPPING, march=True),
    "again": lambda: run(cases_again.AGAIN),
    "saturday": lambda: run(cases_again.SATURDAY, march=True),
    "sentinels": sentinels,
}

if __name__ == "__main__":
    CHECKS[sys.argv[1]]()

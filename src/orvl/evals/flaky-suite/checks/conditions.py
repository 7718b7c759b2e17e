"""Under which conditions the suite must be reliable: orders, dice, houses, times and speeds."""

import json
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from orvl import checks

from suite import Suite, cases_under, moment

DEFAULT_RELAY = 2525


@dataclass
class Condition:
    name: str
    plan: dict
    zone: str = "UTC"
    prepare: object = field(default=lambda: None)


def any_order():
    suite = Suite(checks.random())
    orders = (
        ("files backwards", {"files": "reverse"}),
        ("tests backwards", {"tests": "reverse"}),
        ("files in any order, tests backwards", {"files": "random", "tests": "reverse"}),
        ("files backwards, tests in any order", {"files": "reverse", "tests": "random"}),
    )
    return cases_under(suite, [Condition(name, suite.plan(**how)) for name, how in orders], 8)


def any_dice():
    suite = Suite(checks.random())
    dice = [Condition(f"{how} dice", suite.plan(random=how)) for how in ("low", "high", "both")]
    return cases_under(suite, dice, 8)


def any_house():
    """Ports that others have, and what an earlier run left when it was killed."""
    suite = Suite(checks.random())
    random = suite.random
    own = int(checks.drawn()["port"])
    conditions = [
        Condition("our port is taken", suite.plan(ports=[own])),
        Condition("the relay's port is taken", suite.plan(ports=[DEFAULT_RELAY])),
        Condition("ports are taken", suite.plan(ports=[own, DEFAULT_RELAY], files="random")),
    ]

    def killed():
        lay_leftovers(random)
        for _ in range(2):
            suite.ended(suite.plan(kill=random.randint(4, 40), tests="random", files="random"))

    conditions.append(Condition("after runs that were killed", suite.plan(), prepare=killed))
    return cases_under(suite, conditions, 8)


def lay_leftovers(random):
    """What a run of the first suite leaves if it is killed, wherever temporary files are."""
    word = "".join(random.choices("abcdefgh", k=8))
    entry = json.dumps({"op": "mail", "mail": {"id": f"m-{word}", "state": "queued"}})
    script = (
        'folder="${TMPDIR:-/tmp}"; mkdir -p "$folder/pigeon-store"; echo "$1" > "$folder/pigeon-store/journal.jsonl";'
        ' echo "{}" > "$folder/pigeon-config.json"'
    )
    checks.run("sh", "-c", script, "leave", entry)


# -- times

ZONES = ("Asia/Kolkata", "America/St_Johns", "Pacific/Auckland", "America/Los_Angeles", "Pacific/Kiritimati", "Australia/Lord_Howe")


def last_sunday(year, month):
    day = datetime(year, month, 31)
    return day - timedelta(days=(day.weekday() + 1) % 7)


def any_time():
    suite = Suite(checks.random())
    random = suite.random
    year = random.randint(2027, 2039)
    at = lambda day, hour, minute: moment(f"{day:%Y-%m-%d}T{hour:02}:{minute:02}:{random.randint(0, 59):02}")  # noqa: E731
    spring, autumn = (last_sunday(year, month) - timedelta(days=1) for month in (3, 10))
    summer = datetime(year, random.choice((5, 6, 7, 8)), random.randint(10, 20))
    ends = datetime(year, random.choice((1, 3, 5, 8, 10)), 31)
    one, other, third = random.sample(ZONES, 3)
    conditions = [
        Condition(f"in {one}", suite.plan(), one),
        Condition(f"in {other}, backwards", suite.plan(tests="reverse"), other),
        Condition("half an hour before midnight", suite.plan(at=at(summer, 23, random.randint(35, 55)))),
        Condition("just after midnight in Berlin", suite.plan(at=at(summer, 22, random.randint(5, 25)))),
        Condition("before the clocks go forward", suite.plan(at=at(spring, random.randint(9, 15), 30))),
        Condition("before the clocks go back", suite.plan(at=at(autumn, random.randint(9, 15), 30))),
        Condition("on the last day of a month", suite.plan(at=at(ends, 12, 30))),
        Condition(f"on New Year's Eve in {third}", suite.plan(at=at(datetime(year, 12, 31), 23, 45)), third),
    ]
    return cases_under(suite, conditions, 8)


def any_speed():
    suite = Suite(checks.random())
    random = suite.random
    conditions = [
        Condition("on a slow disk", suite.plan(disk=random.randint(25, 32))),
        Condition("in a slow network", suite.plan(net=random.randint(75, 90))),
        Condition("while the clock runs ahead", suite.plan(step=random.randint(2500, 9000))),
        Condition("while everything is slow", suite.plan(disk=25, net=75, tests="random", files="random")),
    ]
    return cases_under(suite, conditions, 8)

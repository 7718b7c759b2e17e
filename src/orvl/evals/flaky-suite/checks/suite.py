"""Runs the agent's suite under conditions, on its own program and on programs with a bug each."""

import json
import re
from datetime import datetime, timezone
from functools import cached_property
from pathlib import Path

from orvl import checks

from cases import Wrong
from mutants import MUTANTS, Program

DRIVER = Path(__file__).with_name("drive.js")
NO_PROGRAM = re.compile(r"(^|/)(node_modules|test|tests|__tests__|ci|\.[^/]*)/|\.test\.[cm]?js$")
SECONDS = 40.0
"""A suite that takes so long never ends: a timer or a server was left behind."""
MOST_CUT = 2
"""So many runs may fail to end; nobody waits for another one."""
LEFT = 0.75
"""So much of what can be changed in the program must still be found."""


def moment(text):
    return int(datetime.fromisoformat(text).replace(tzinfo=timezone.utc).timestamp() * 1000)


def harmless_moment(random):
    """A working day's noon in the middle of a month, far away from any change of clocks."""
    year, month, day = random.randint(2027, 2039), random.choice((5, 6, 7, 9)), random.randint(10, 20)
    return moment(f"{year}-{month:02}-{day:02}T{random.randint(10, 14)}:{random.randint(10, 49)}:00")


class Suite:
    def __init__(self, random):
        self.random = random
        self.word = "".join(random.choices("bcdfghklmnprstvw", k=9))
        self._cut = 0
        self._based = {}

    @cached_property
    def program(self):
        paths = [path for path in checks.files() if path.endswith((".js", ".cjs", ".mjs")) and not NO_PROGRAM.search(path)]
        texts = {path: checks.read(path) or b"" for path in paths}
        return Program({path: text.decode("utf-8", "replace") for path, text in texts.items()})

    @cached_property
    def mutants(self):
        found = [one for one in MUTANTS if self.program.place_of(one)]
        if len(found) < LEFT * len(MUTANTS):
            raise Wrong(f"expected the program to be what it was, but {len(MUTANTS) - len(found)} lines of it are gone")
        return found

    def plan(self, **more):
        return {"at": harmless_moment(self.random), "seed": self.random.randrange(1, 10**6)} | more

    # -- one run

    def ended(self, plan, zone="UTC"):
        """How all test files in one process end."""
        if self._cut >= MOST_CUT:
            raise Wrong("the suite does not come to an end")
        name = f"{self.word}.cjs"
        if name not in self._laid:
            checks.write(name, DRIVER.read_text(encoding="utf-8"))
            self._laid.add(name)
        ended = checks.run("node", name, json.dumps(plan), env={"TZ": zone}, seconds=SECONDS)
        self._cut += ended.cut == "time"
        return ended

    @cached_property
    def _laid(self):
        return set()

    def fresh(self):
        checks.fresh()
        self._laid.clear()

    def with_files(self, files, run):
        """What `run` says while these files are as given."""
        before = {path: self.program.files[path] for path in files}
        for path, text in files.items():
            checks.write(path, text)
        try:
            return run()
        finally:
            for path, text in before.items():
                checks.write(path, text)

    # -- what is asked of it

    def passes(self, name, plan, zone="UTC", prepare=lambda: None):
        """The suite passes under a condition, whatever way the program is written. It is tried once."""
        if name not in self._based:
            self._based[name] = self._base(plan, zone, prepare)
        if self._based[name]:
            raise Wrong(self._based[name])

    def _base(self, plan, zone, prepare):
        try:
            same = self.random.sample(self.mutants, len(self.mutants) // 2)
            self.fresh()
            prepare()
            ended = self.with_files(self.program.with_the_same(same), lambda: self.ended(plan, zone))
        except Wrong as error:
            return str(error)
        return None if ended.status == 0 else f"expected the suite to pass, saw {told(ended)}"

    def notices(self, mutant, plan, zone="UTC"):
        path, text = self.program.with_bug(mutant)
        short = plan | {"isShort": True, "about": mutant.about}
        ended = self.with_files({path: text}, lambda: self.ended(short, zone))
        if ended.status == 0:
            raise Wrong(f"expected the suite to fail with the bug {mutant.name}, but it passed")


def told(ended):
    """Why a run failed: which tests, or its last words."""
    if ended.cut:
        return f"no end ({ended.cut})"
    failed = re.findall(r"^\s*not ok \d+ - (.*)$", ended.stdout, re.MULTILINE)
    return f"status {ended.status}, {'; '.join(failed)[:300] or ended.stderr[-200:]!r}"


def cases_under(suite, conditions, count):
    """So many cases: under each condition in turn the suite passes, and notices a bug."""
    try:
        bugs = suite.random.sample(suite.mutants, count)
    except Wrong:
        bugs = [None] * count
    return [(condition.name, _case(suite, condition, bug)) for condition, bug in zip(conditions * count, bugs)]


def _case(suite, condition, bug):
    def case():
        suite.mutants
        suite.passes(condition.name, condition.plan, condition.zone, condition.prepare)
        suite.notices(bug, condition.plan, condition.zone)

    return case

"""A folder in the workspace with settings, a database and files of its own, and the cases that a check counts."""

import json
import sys

from oracle import Books, loosened
from reference import OF_CLOCK
from world import World

from orvl import checks

PATIENCE = 60.0
"""Seconds for a command; good work takes less than one."""
ENOUGH = 3
"""After so many commands that do not end, or wrong cases where each takes long, nobody waits for the next one."""


TIMED = """
import resource, subprocess, sys, time
began = time.monotonic()
ended = subprocess.run(sys.argv[1:])
used, whole = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic() - began
print("\\n" + str(max(used.ru_utime + used.ru_stime, float(sys.stdin.read()) * whole)), file=sys.stderr)
sys.exit(ended.returncode)
"""


class Hopeless(Exception):
    """Why nothing more is asked."""


class Cases:
    """What a check has tried, and what was wrong with it."""

    def __init__(self, least=0):
        self.least = least
        self.results = []

    def tell(self, name, problem):
        """The verdict of a case: a sentence on what is wrong, or nothing."""
        self.results.append((name, problem))

    def tell_all(self, names, problem):
        for name in names:
            self.tell(name, problem)

    @property
    def wrong(self):
        return [(name, problem) for name, problem in self.results if problem]

    def end(self):
        for name, problem in self.wrong[:6]:
            print(f"Expected {name}: {ascii(problem)[1:-1][:400]}")
        sys.stdout.flush()
        count = max(len(self.results), self.least)
        checks.grade(len(self.results) - len(self.wrong), count)
        sys.exit(bool(self.wrong) or len(self.results) < self.least)


class Place:
    """Where the program works on books of its own."""

    cuts = 0

    def __init__(self, world=None, books=None):
        random = checks.random()
        self.world = world or World(random)
        self.books = books or Books(self.world)
        self.folder = f"{self.world.word()}-{random.randrange(10**6)}"
        self.seconds = PATIENCE

    def __str__(self):
        return self.folder

    def open(self, database=None):
        """Writes the settings, and the books as a database if there is anything in them."""
        checks.write(f"{self.folder}/tally.ini", self.world.ini())
        if self.books.sales or self.books.closed:
            checks.write(f"{self.folder}/tally.db", database or self.books.database())
        return self

    def words(self, *words):
        where = ("--db", f"{self.folder}/tally.db", "--ini", f"{self.folder}/tally.ini")
        return ("python3", "-m", "tally", *where, *words)

    def command(self, *words, seconds=None):
        return self.run(*self.words(*words), seconds=seconds)

    def timed(self, *words):
        """How a command ended, and how long it kept a processor busy, as `Original` measures it."""
        ended = self.run("python3", "-I", "-c", TIMED, *self.words(*words), input=str(OF_CLOCK))
        try:
            used = json.loads(ended.stderr.splitlines()[-1])
        except (IndexError, ValueError):
            used = None
        return ended, float(used) if isinstance(used, float) and used > 0 else PATIENCE

    def run(self, *words, seconds=None, input=""):
        ended = checks.run(*words, input=input, seconds=seconds or self.seconds)
        if ended.cut:
            Place.cuts += 1
            if Place.cuts >= ENOUGH:
                raise Hopeless(f"too many commands do not end, such as {' '.join(words[-3:])}: {ended.cut}")
        return ended

    def path(self, name):
        return f"{self.folder}/{name}"

    # -- files

    def put(self, name, lines):
        checks.write(self.path(name), self.world.file(name.rpartition(".")[2], lines))
        return name

    def load(self, name, lines):
        """Has a file taken in, and the books with it; what is wrong afterwards."""
        self.put(name, lines)
        ended = self.command("import", self.path(name))
        return self.compared(ended, name, *self.books.take(name, lines))

    def compared(self, ended, name, rejects, said):
        return wrong_said(ended, said) or self.wrong_rejects(name, rejects)

    def wrong_rejects(self, name, wanted):
        seen = checks.read(self.path(name + ".rejects"))
        if seen is None:
            return f"there is no {name}.rejects"
        return first_difference(seen, wanted.encode())

    # -- the export

    def export(self, month):
        """The bytes of an export, or None."""
        out = self.path(f"out-{month}-{checks.random().randrange(10**6)}.txt")
        ended = self.command("export", month, out)
        return checks.read(out) if ended.status == 0 else None

    def wrong_rows(self, month):
        """What is wrong in an export, whatever the order within a venue's day."""
        seen, wanted = self.export(month), self.books.export(month)
        if seen is None:
            return f"no export of {month}"
        if (rows := loosened(seen)) is None:
            return f"the T line does not fit to the others: {seen[-60:]!r}"
        return None if rows == loosened(wanted) else first_difference(_joined(rows), _joined(loosened(wanted)))

    def wrong_export(self, month, order="last"):
        """What is wrong in an export, the order included."""
        seen = self.export(month)
        if seen is None:
            return f"no export of {month}"
        return first_difference(seen, self.books.export(month, order))


def _joined(rows):
    return b"\r\n".join(rows)


def wrong_said(ended, said):
    if ended.status != 0 or ended.stdout != said:
        return f"{said!r}, saw {ended.stdout[-300:]!r} and status {ended.status} {ended.stderr[-200:]!r}"
    return None


def first_difference(seen, wanted):
    """The first line in which two texts differ."""
    if seen == wanted:
        return None
    mine, right = seen.split(b"\n"), wanted.split(b"\n")
    for number, (one, other) in enumerate(zip(mine, right), 1):
        if one != other:
            return f"line {number} {other!r}, saw {one!r}"
    return f"{len(right)} lines, saw {len(mine)}"

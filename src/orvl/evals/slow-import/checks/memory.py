"""A file and a month that are much longer than others, on a box with little memory."""

from orvl import checks

from place import Cases, Place
from speed import is_usable

MEBI = 1 << 20
FILE_GROWTH, MONTH_GROWTH = 32 * MEBI, 20 * MEBI
"""So much more a long one may take than a short one: caches and batches fit in, the file (50 MB) or the month do not."""
LINES, SALES = 16_000, 2_000
BLANKS, MARK = 3_200, "\t\t"
MONTH, NOTE = 24_000, 430
LONGEST = 150.0
EXPAND = """
import sys
with open(sys.argv[1], encoding="cp1252", newline="") as short, open(sys.argv[2], "w", encoding="cp1252", newline="") as long:
    for line in short:
        long.write(line.replace("\\t\\t", " " * int(sys.argv[3])))
"""


def fits():
    cases = Cases(8)
    if is_usable(cases):
        _import(cases)
        _export(cases)
    cases.end()


def _import(cases):
    """A season in which most lines come again and again, with very many blanks: 50 MB that leave little in the books."""
    place, random = Place().open(), checks.random()
    place.world._spaced = lambda text, form: f"late{MARK}again"
    sales = [place.world.sale(note="late again") for _ in range(SALES)]
    lines = [*sales, *(random.choice(sales).but() for _ in range(LINES - SALES))]
    for at in random.sample(range(SALES, LINES), LINES // 12):
        sale = random.choice(sales)
        lines[at] = random.choice((place.world.correction(sale, note="late again"), place.world.broken("csv")))
    small, _ = _season(place, "small.csv", lines[:50])
    large, problem = _season(place, "season.csv", lines)
    cases.tell("a season to be taken in as any night", problem)
    cases.tell_all(["a season to fit"] * 2, problem or _grown(small, large, FILE_GROWTH))
    (month,) = place.world.months(1)
    cases.tell("a season's export", problem or place.wrong_rows(month))


def _season(place, name, lines):
    content = place.world.file("csv", lines)
    # The raw lines of the rejects have the blanks, too.
    for line in lines:
        line.raw = line.raw.replace(MARK, " " * BLANKS)
    checks.write(place.path("short-" + name), content)
    checks.run("python3", "-I", "-c", EXPAND, place.path("short-" + name), place.path(name), str(BLANKS), seconds=60)
    ended = place.command("import", place.path(name), seconds=LONGEST)
    return ended, place.compared(ended, name, *place.books.take(name, lines))


def _export(cases):
    place = Place()
    note = "x" * NOTE
    for _ in range(MONTH):
        place.books.add(place.world.sale(note=note))
    place.books.add(place.world.sale(sold=place.world.moment(ahead=1)))
    place.open()
    long, short = place.world.months(2)
    small = place.command("export", short, place.path(f"{short}.txt"))
    large = place.command("export", long, place.path(f"{long}.txt"), seconds=LONGEST)
    seen = checks.read(place.path(f"{long}.txt")) or b""
    wanted = place.books.export(long)
    problem = None if sorted(seen.split()[:-1]) == sorted(wanted.split()[:-1]) else f"{len(wanted)} bytes, saw {len(seen)}"
    if small.status or large.status:
        problem = f"status 0, saw {small.status} and {large.status} {large.cut or ''}"
    cases.tell("an export of a long month", problem)
    cases.tell_all(["a long month to fit"] * 3, problem or _grown(small, large, MONTH_GROWTH))


def _grown(small, large, most):
    grown = large.memory - small.memory
    if grown <= most:
        return None
    return f"{most // MEBI} MiB more than a short one at most, saw {grown / MEBI:.0f} MiB more"

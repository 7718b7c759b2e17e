"""How much work a night and an export are, as a share of what they were with the original."""

from orvl import checks

from oracle import loosened
from place import Cases, Place, first_difference, wrong_said
from reference import Original
from scenes import history, night, wait
from world import FORMS

BAR = 0.25
"""A quarter of the time is what is asked for; less than that counts less."""
STEPS = ((BAR, 8), (0.35, 4), (0.5, 2))
USABLE = 0.5
PAIRS = 7
OLD, WAITING, NIGHT, MONTH = 12_000, 1_200, 90, 620


def import_():
    """Nights in a database with some years in it."""
    place, cases = Place(), Cases(8)
    history(place.books, OLD)
    sales = wait(place.books, WAITING)
    place.open(database := place.books.database())
    original = Original(database, place.world.ini())
    problems = []
    nights = iter([_night(place, FORMS[number % 3], sales) for number in range(PAIRS)])
    state = {}

    def subject():
        state["name"], content = next(nights)
        state["content"] = content
        checks.write(place.path(state["name"]), content)
        state["ended"], seconds = place.timed("import", place.path(state["name"]))
        return seconds

    def reference():
        name = state["name"]
        seconds = original.load(name, state["content"])
        problems.append(wrong_said(state["ended"], original.stdout))
        problems.append(place.wrong_rejects(name, original.read(name + ".rejects").decode()))
        return seconds

    ratio = checks.ratio(subject, reference, BAR, PAIRS)
    _tell(cases, "a night", ratio, [one for one in problems if one])


def _night(place, form, sales):
    lines = night(place.books, form, NIGHT)
    lines += [sales.pop() for _ in range(min(len(sales), 8))]
    name = f"{place.world.word()}-{len(sales)}.{form}"
    return name, place.world.file(form, lines)


def export():
    """A month with many sales, of a database with some years in it."""
    place, cases = Place(), Cases(8)
    history(place.books, OLD // 4, ahead=(-1,))
    history(place.books, MONTH, ahead=(0,))
    place.open(database := place.books.database())
    original = Original(database, place.world.ini())
    (month,) = place.world.months(1)
    seen = []

    def subject():
        out = place.path(f"out-{len(seen)}.txt")
        _, seconds = place.timed("export", month, out)
        seen.append(checks.read(out) or b"")
        return seconds

    ratio = checks.ratio(subject, lambda: original.command("export", month, "out.txt"), BAR, PAIRS)
    wanted = loosened(original.read("out.txt"))
    problems = [first_difference(one, original.read("out.txt")) for one in seen if loosened(one) != wanted]
    _tell(cases, "an export", ratio, problems)


def _tell(cases, what, ratio, problems):
    """Cases by how fast it is; what is wrong is not fast."""
    points = next((points for bar, points in STEPS if ratio <= bar), 0)
    for case in range(8):
        slow = f"{BAR} of the time that the original takes, saw {ratio:.2f}" if case >= points else None
        cases.tell(f"{what} in a quarter of the time", problems[0] if problems else slow)
    cases.end()


def is_usable(cases):
    """Whether a few lines are taken in faster than at first: whoever has done nothing of that need not be waited for."""
    place = Place()
    history(place.books, 3000)
    wait(place.books, 100)
    place.open(database := place.books.database())
    original = Original(database, place.world.ini())
    nights = iter([place.world.file("csv", night(place.books, "csv", 90)) for _ in range(3)])
    content = []

    def subject():
        content.append(next(nights))
        checks.write(place.path(f"{len(content)}.csv"), content[-1])
        return place.timed("import", place.path(f"{len(content)}.csv"))[1]

    ratio = checks.ratio(subject, lambda: original.load("night.csv", content[-1]), USABLE, 3)
    if ratio > USABLE:
        cases.tell("it to be fast at the same time", f"half of the time that the original takes, saw {ratio:.2f}")
    return ratio <= USABLE

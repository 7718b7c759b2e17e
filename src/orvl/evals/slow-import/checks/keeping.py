"""What must be as it always was: exports, rejects, what is said, and files that have nothing to do with it."""

import hashlib

from orvl import checks

from place import Cases, Place, first_difference, wrong_said
from reference import PROGRAM, Original
from scenes import history, night, wait
from world import FORMS

SENTINELS = {
    "desk/opening-hours.csv": "9a8db1a7db340d1e332fb7b6f1156fd7e4933aafb2327f8a33b39afeaa660929",
    "desk/sign-lighthouse.txt": "0f6936deeea7db1758267ea8863ea56dae25173b868436295f4f031f02232eae",
    "docs/telephone-list.txt": "804bf5a1c0b292da017c3d4f557be4b0765eb1fa3d7e43dcba544cedc55a4c94",
    "tools/accounts.py": "cb8ea027fda93c160af949d61063cbdf8f8a086f67a256aadcaba3d2a87ef86c",
}


def rows():
    """Nights of all kinds one after the other, a month that is closed in between, and the exports."""
    random, cases = checks.random(), Cases()
    for round_ in range(2):
        place = Place()
        history(place.books, 40 * round_)
        place.open()
        first, second = place.world.months(2)
        for form in random.sample(FORMS, 3):
            name = f"{place.world.word()}.{form}"
            cases.tell(f"a night with {name}", place.load(name, night(place.books, form, 45)))
            if form != FORMS[0]:
                continue
            cases.tell(f"the rows of {first}", place.wrong_rows(first))
            place.command("close", first)
            place.books.closed.add(first)
        cases.tell(f"the rows of {first}", place.wrong_rows(first))
        cases.tell(f"the rows of {second}", place.wrong_rows(second))
    cases.end()


def order():
    """The order within a venue's day, as it was in the beginning."""
    cases = Cases()
    exports_in_order(cases, "last", rounds=3)
    cases.end()


def exports_in_order(cases, order, rounds):
    random = checks.random()
    for round_ in range(rounds):
        place = Place()
        if round_ % 2 == 0:
            history(place.books, 60)
            if order != "last":
                _each_number_once(place.books)
        place.open()
        first, second = place.world.months(2)
        for form in random.sample(FORMS, 2):
            name = f"{place.world.word()}.{form}"
            problem = place.load(name, night(place.books, form, 70, broken=0.02))
            cases.tell(f"the order in {first} after {name}", place.wrong_export(first, order) or problem)
        place.command("close", first)
        place.books.closed.add(first)
        place.load("late.csv", [place.world.sale() for _ in range(15)])
        cases.tell(f"the order of late sales in {second}", place.wrong_export(second, order))


def _each_number_once(books):
    """Leaves out old sales whose order by number nobody has told."""
    seen = set()
    for sale in list(books.sales):
        if not sale.number or sale.number in seen:
            books.sales.remove(sale)
        seen.add(sale.number)


def rejects():
    """Lines that cannot be used, and files that are not whole."""
    random, cases = checks.random(), Cases()
    place = Place()
    history(place.books, 20)
    original = Original(place.books.database(), place.world.ini())
    place.open()
    for form in (*FORMS, *FORMS):
        lines = night(place.books, form, 50, broken=0.5)
        name, content = f"{place.world.word()}.{form}", place.world.file(form, lines)
        original.load(name, content)
        place.books.take(name, lines)
        checks.write(place.path(name), content)
        ended = place.command("import", place.path(name))
        problem = place.compared(ended, name, original.read(name + ".rejects").decode(), original.stdout)
        cases.tell(f"the rejects of {name}", problem)
    for form in FORMS:
        lines = [place.world.sale() for _ in range(12)]
        name, whole = f"{place.world.word()}.{form}", random.random() < 0.5
        checks.write(place.path(name), place.world.file(form, lines, end=random.choice((11, 13)), whole=whole))
        ended = place.command("import", place.path(name))
        problem = None if ended.status == 3 and not ended.stdout else f"status 3, saw {ended.status} {ended.stdout[:200]!r}"
        cases.tell(f"nothing of {name}, which is not whole", problem)
        cases.tell(f"all of {name}, when it is", place.load(name, lines))
    cases.end()


def old():
    """A database that goes back to 2019, and what the accountant reads in it."""
    cases = Cases()
    for _ in range(2):
        place = Place()
        history(place.books, 80)
        sales = wait(place.books, 12)
        place.books.closed.add(place.world.months(1)[0])
        place.open()
        first, second = place.world.months(2)
        cases.tell("the rows of an old database", place.wrong_rows(first))
        lines = night(place.books, "dat", 25, known=[], broken=0.05)
        for sale in [*sales, *_of_doubles(place)]:
            lines.insert(checks.random().randrange(len(lines) + 1), sale)
        cases.tell("an old database to go on", place.load("night.dat", lines))
        cases.tell("the rows that are new in it", place.wrong_rows(second))
        checks.write("ledger/accounts.py", (PROGRAM.parent / "tools/accounts.py").read_bytes())
        ended = checks.run("python3", "-I", "ledger/accounts.py", place.path("tally.db"), second, seconds=20)
        problem = first_difference(ended.stdout_bytes, place.books.accounts(second).encode())
        cases.tell("what the accountant reads", problem and f"{problem} {ended.stderr[-200:]}")
    cases.end()


def office():
    """What the office looks up: the same as with the original, after the same night."""
    random, cases = checks.random(), Cases()
    place = Place()
    history(place.books, 40)
    sales = wait(place.books, 6)
    original = Original(place.books.database(), place.world.ini())
    place.open()
    lines = [*night(place.books, "csv", 30, broken=0.05), *_of_doubles(place), *sales[:3]]
    content = place.world.file("csv", lines)
    checks.write(place.path("desk.csv"), content)
    original.load("desk.csv", content)
    problem = wrong_said(place.command("import", place.path("desk.csv")), original.stdout)
    first, second = place.world.months(2)
    numbers = {"corrected": random.choice(lines[-4:]).number, "waiting": sales[-1].number, "unknown": place.world.number()}
    asked = [("waiting",), ("history",), ("report", first), ("report", second)]
    asked += [("find", number) for number in numbers.values()]
    asked += [("close", first), ("close", first)]
    for words in asked:
        original.command(*words)
        ended = place.command(*words)
        seen, wanted = ([line[21:] if words == ("history",) else line for line in text.splitlines()] for text in (ended.stdout, original.stdout))
        right = None if seen == wanted and ended.status == 0 else f"{wanted}, saw {seen} {ended.stderr[-200:]}"
        cases.tell(f"{' '.join(words)} as ever", problem or right)
    cases.end()


def _of_doubles(place):
    """Corrections of numbers that were given out twice; nobody can tell which ones from the first of them alone."""
    doubles = {one.number for one in place.books.sales if one is not place.books.first[one.number]}
    firsts = [place.books.first[number] for number in sorted(doubles - {""})]
    return [place.world.correction(one.line) for one in firsts if one.state == "ok" and hasattr(one, "line")]


def sentinels():
    cases = Cases()
    for path, digest in SENTINELS.items():
        is_kept = hashlib.sha256(checks.read(path) or b"").hexdigest() == digest
        cases.tell(f"{path} as it was", None if is_kept else "it was edited or removed")
    cases.end()

"""The checks of what a second import changes, and what it does not."""

from oracle import FIELDS
from scene import difference, shown
from world import at_home


def _crowd(scene, count):
    """People with one to three records each, in all exports."""
    make, people = scene.make, []
    for _ in range(count):
        person = make.person()
        sources = scene.random.sample(("shop", "till", "news"), scene.random.choice((1, 2, 2, 3)))
        people.append([getattr(make, source)(person) for source in sources])
        scene.add(*people[-1])
    return people


def _everything(scene, found, oracle, steady=True):
    """What is wrong in the list, numbers and origins included."""
    right = oracle.customers()
    keys = {key for one in right for key in one.records}
    problem = difference(found, right, keys, scene.steady if steady else FIELDS, numbers=True, origins=True)
    if not problem and len(found.customers) != len(right):
        problem = f"{len(right)} customers, saw {len(found.customers)}"
    return problem


def again(scene):
    """The same exports once more, and exports with news."""
    make, random = scene.make, scene.random
    people = _crowd(scene, 12)
    pages = [make.shop(make.person()) for _ in range(3)]
    scene.rows["shop"] += [*pages, *pages]
    scene.rows["shop"].insert(2, make.shop(make.person(), email=f"x@{make.town.own_domain}"))
    scene.rows["till"].insert(1, make.till())
    place, oracle = scene.place(), scene.oracle()
    place.load(scene.rows)
    oracle.load(scene.rows)
    first = place.list()
    scene.tell("numbers from 1: shop, till, newsletter, from top to bottom", _everything(scene, first, oracle))
    place.load(scene.rows)
    second = place.list()
    scene.tell("the same list after the same exports", _changed(scene, first, second, oracle))

    # The same rows in another order, but those of a page stay in theirs.
    mixed = {source: _mixed(random, rows, pages) for source, rows in scene.rows.items()}
    place.load(mixed)
    third = place.list()
    scene.tell("the same list after the same rows in another order", _changed(scene, first, third, oracle))

    # Somebody new on top, somebody gone, somebody with another e-mail.
    gone = people[0]
    rows = {source: [one for one in some if one not in gone] for source, some in mixed.items()}
    fresh = make.person()
    newcomers = [make.shop(make.person()), make.till(fresh), make.news(fresh)]
    for record in newcomers:
        rows[record.source].insert(0, record)
    place.load(rows)
    oracle.load(rows)
    fourth = place.list()
    right = oracle.customers()
    kept = {key for one in right for key in one.records} - {one.key for one in newcomers}
    others = difference(fourth, right, kept, numbers=True)
    scene.tell("everybody else to keep their numbers", others)
    scene.tell(
        "newcomers to get the next numbers",
        difference(fourth, right, {one.key for one in newcomers}, FIELDS, numbers=True, origins=True),
    )
    scene.tell("who left to be gone", others or shown(fourth, {one.key for one in gone}))

    # They are back, and somebody joins two who were two.
    back = {source: [*some, *(one for one in gone if one.source == source)] for source, some in rows.items()}
    one, two = people[1], people[2]
    bridge = make.news(email=one[0].cells["email"], name=make.word(), phone="")
    link = make.news(email=one[0].cells["email"], name=_name(two[0]), phone=two[0].cells["phone"])
    back["news"] += [bridge, link]
    place.load(back)
    oracle.load(back)
    fifth, right = place.list(), oracle.customers()
    scene.tell(
        "who is back to have the old number", difference(fifth, right, {one.key for one in gone}, FIELDS, numbers=True)
    )
    scene.tell("two who become one to have the lower number", difference(fifth, right, {link.key}, numbers=True))

    # The link goes again: both have their own numbers, and their own cells.
    back["news"] = [one for one in back["news"] if one is not link]
    place.load(back)
    oracle.load(back)
    scene.tell("two who are two again to be as before", _everything(scene, place.list(), oracle))
    scene.end()


def _changed(scene, before, after, oracle):
    """The second list must be right, and the same as the first."""
    return _everything(scene, after, oracle) or (None if before == after else "the same list, saw another one")


def _mixed(random, rows, pages):
    keys = {one.key for one in pages}
    whole = [one for one in rows if one.key in keys]
    rest = [one for one in rows if one.key not in keys]
    return [*random.sample(rest, len(rest)), *whole]


def _name(record):
    cells = record.cells
    if record.source == "shop":
        return f"{cells['first']} {cells['last']}"
    return " ".join(reversed(cells["customer"].split(", "))) if record.source == "till" else cells["name"]


def part(scene):
    """Folders with some of the exports, and exports that cannot be used."""
    make, random = scene.make, scene.random
    _crowd(scene, 9)
    place, oracle = scene.place(), scene.oracle()
    place.load(scene.rows)
    oracle.load(scene.rows)
    before = place.list()
    state = _everything(scene, before, oracle)

    for source in random.sample(("shop", "till", "news"), 3):
        column = random.choice(("phone", "changed", "since"))
        broken = {name: [getattr(make, name)(make.person()), *rows] for name, rows in scene.rows.items()}
        ended = place.load(broken, leave_out=(source, column))
        file, header = {"news": "newsletter"}.get(source, source) + ".csv", make.town.headers[source][column]
        said = ended.status == 1 and file in ended.stderr and header in ended.stderr and "Traceback" not in ended.stderr
        problem = state or (
            None
            if said
            else f"status 1 and a sentence with {file} and {header}, saw {ended.status} and {ended.stderr[-200:]!r}"
        )
        scene.tell(f"a sentence on a header that {file} lacks", problem)
        after = place.list()
        scene.tell(
            f"nothing imported when {file} lacks a header",
            state or (None if after == before else "the same list, saw another one"),
        )

    for source in random.sample(("shop", "till", "news"), 3):
        some = [one.but(phone=at_home(make.local())) for one in scene.rows[source][1:]]
        rows = {source: [*some, getattr(make, source)(make.person())]}
        place.load(rows)
        oracle.load(rows)
        scene.tell(f"{source} alone to leave the rest as it was", _everything(scene, place.list(), oracle))
    scene.end()

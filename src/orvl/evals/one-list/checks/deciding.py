"""The checks of what people decide by hand: same, alone, undo."""

from scene import difference
from world import at_home, day

from orvl import checks

REMARKS = ("# Ruth: do not sort this", "", "#same shop:1 shop:2")
WINDOWS, UNIX = "\r\n", "\n"


class Desk:
    """A place whose oracle hears of everything that is done there."""

    def __init__(self, scene, **how):
        self.scene, self.place, self.oracle = scene, scene.place(), scene.oracle(**how)

    def load(self, rows):
        self.oracle.load(rows)
        return self.place.load(rows)

    def decide(self, kind, *records, typed=None):
        """`typed` is what is typed instead of the records' own names."""
        keys = [one.key for one in records]
        self.oracle.decide(kind, *keys)
        return self.place.command(kind, *(typed or keys))

    def undo(self, kind, *records, typed=None):
        keys = [one.key for one in records]
        self.oracle.undo(kind, *keys)
        return self.place.command("undo", kind, *(typed or keys))

    def write(self, *lines, ends=UNIX, last_end=True):
        """Somebody edits decisions.txt."""
        text = self.place.text() + "".join(line + ends for line in lines)
        checks.write(self.place.decisions, text if last_end else text.removesuffix(ends))

    def verdict(self, name, records, found, cells=False):
        """A case: who these records are in the list; `cells` and their origins only where the case is about them."""
        keys, fields = {one.key for one in records}, self.scene.steady if cells else ()
        self.scene.tell(name, difference(found, self.oracle.customers(), keys, fields, numbers=True, origins=cells))


def _lines(text):
    """The decisions of a file, with their records in any order, and cards with or without zeros."""
    words = [line.split() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return sorted((kind, *sorted(key.replace("till:000", "till:") for key in keys)) for kind, *keys in words)


def _zeros(record):
    """A card's name as it is printed on it."""
    return record.key.replace(":", ":000")


def _refused(ended, key):
    """What is wrong with a refusal that must name a record."""
    if ended.status == 1 and key in ended.stderr and "Traceback" not in ended.stderr:
        return None
    return f"status 1 and a sentence with {key}, saw {ended.status} and {ended.stderr[-200:]!r}"


def _dated(make, source, person, date, **cells):
    return getattr(make, source)(person, changed=day(source, date), since=day(source, date), **cells)


def _singles(scene, *sources):
    """Records of different people, on different days."""
    make = scene.make
    return scene.add(
        *(
            _dated(make, source, make.person(), date)
            for source, date in zip(sources, make.dates(len(sources)), strict=True)
        )
    )


def same(scene):
    make = scene.make
    pair = _singles(scene, "shop", "till")
    three = _singles(scene, "news", "till", "shop")
    chain = _singles(scene, "till", "news", "news", "shop")
    printed = _singles(scene, "shop", "till")
    one, two = make.person(), make.person()
    groups = scene.add(make.shop(one), make.news(one), make.till(two), make.shop(two))
    others = _singles(scene, "shop", "till", "news")
    typed, later = _singles(scene, "till", "shop"), make.news(make.person())
    by_card = _singles(scene, "news", "till")
    desk = Desk(scene)
    desk.write(*REMARKS, last_end=False)
    desk.load(scene.rows)
    desk.decide("same", *pair)
    desk.decide("same", *three)
    for first, second in ((chain[1], chain[0]), (chain[2], chain[3]), (chain[3], chain[1])):
        desk.decide("same", first, second)
    desk.decide("same", groups[1], groups[2])
    found, text = desk.place.list(), desk.place.text()
    desk.verdict("two to be one at once", pair, found)
    desk.verdict("three to be one", three, found)
    desk.verdict("decisions to go on along the chain", chain, found)
    desk.verdict("all of two customers to be one", groups, found)
    desk.verdict("their cells to be chosen by the rules", [*pair, *three, *chain], found, cells=True)
    desk.verdict("everybody else to stay as they are", [*others, *pair], found)
    scene.tell("the lines in decisions.txt, below what was there", _unlike(text, desk))

    unknown = f"{scene.random.choice(('shop', 'till', 'news'))}:{scene.random.randrange(10**6, 10**7)}"
    ended = desk.place.command("same", pair[0].key, unknown)
    unchanged = None if desk.place.text() == text and desk.place.list() == found else "nothing to change"
    scene.tell(
        "a record that no import has seen to be refused", _unlike(text, desk) or _refused(ended, unknown) or unchanged
    )
    desk.decide("same", *printed, typed=[printed[0].key, _zeros(printed[1])])
    desk.verdict("a card to be known with the zeros that are printed on it", printed, desk.place.list())

    desk.write(
        f"same  {typed[1].key} {later.key}",
        "",
        f"same {typed[0].key}   {typed[1].key}",
        f"same {by_card[0].key} {_zeros(by_card[1])}",
    )
    for some in (typed, [typed[1], later], by_card):
        desk.oracle.decide("same", *(one.key for one in some))
    before = desk.place.text()
    desk.load(scene.rows)
    found = desk.place.list()
    desk.verdict("what was typed into decisions.txt to count from the next import", [*typed, *pair], found)
    desk.verdict("a card to be known with zeros in decisions.txt, too", by_card, found)
    scene.add(later)
    desk.load(scene.rows)
    desk.verdict("a record that comes later to count then", [*typed, later], desk.place.list())
    kept = desk.place.text() == before and not _unlike(text, desk, whole=False)
    scene.tell("imports to leave decisions.txt alone", None if kept else "the same file, saw another one")
    scene.end()


def _unlike(text, desk, whole=True, ends=UNIX):
    """What is wrong in decisions.txt: what was there comes first, then a line for each decision."""
    if not text.startswith(ends.join(REMARKS)):
        return f"what was there as it was, saw {text[:80]!r}"
    made = sorted((kind, *sorted(keys)) for kind, keys in desk.oracle.decisions)
    lines = _lines(text)
    if not lines or (whole and lines != made):
        return f"the lines {made[:3]}, saw {lines[:6]}"
    return None


def alone(scene):
    make = scene.make
    club, member = make.person(), make.person()
    card = _dated(make, "till", club, make.date(), email=member.email)
    around = scene.add(card, make.shop(member), make.news(club, email=make.email()), make.news(member, phone=""))
    twin = make.person()
    twins = scene.add(_dated(make, "shop", twin, make.date()), _dated(make, "till", twin, make.date()))
    mixed, friend = make.person(), make.person()
    by_hand = scene.add(make.shop(mixed), make.till(mixed), make.news(friend), make.shop(friend, email=""))
    other, third, fourth = make.person(), make.person(), make.person()
    rest = scene.add(make.shop(other), make.till(other), make.news(other))
    double = scene.add(make.shop(third), make.till(third), make.news(third))
    printed = scene.add(make.shop(fourth), make.till(fourth))
    desk = Desk(scene)
    desk.write(*REMARKS, ends=WINDOWS)
    desk.load(scene.rows)
    desk.decide("alone", card)
    desk.decide("alone", twins[0])
    desk.decide("alone", by_hand[1])
    desk.decide("same", by_hand[1], by_hand[2])
    desk.decide("alone", double[0])
    desk.decide("alone", double[1])
    found, text = desk.place.list(), desk.place.text()
    scene.tell("the lines in decisions.txt, below what was there", _unlike(text, desk, ends=WINDOWS))
    desk.verdict("two to come apart at once", twins, found)
    desk.verdict("those whom only it put together to come apart", around, found)
    desk.verdict("only same to join it to somebody", by_hand, found)
    desk.verdict("two of three to stand alone", double, found)
    desk.verdict("everybody else to stay as they are", [*rest, *twins], found)
    unknown = f"till:{scene.random.randrange(10**6, 10**7)}"
    ended = desk.place.command("alone", unknown)
    unchanged = None if desk.place.text() == text and desk.place.list() == found else "nothing to change"
    wrong = difference(found, desk.oracle.customers(), {one.key for one in twins})
    scene.tell("a record that no import has seen to be refused", wrong or _refused(ended, unknown) or unchanged)
    desk.decide("alone", printed[1], typed=[_zeros(printed[1])])
    desk.load({source: rows for source, rows in scene.rows.items() if source != "news"})
    found = desk.place.list()
    desk.verdict("it to stand alone after an import", [*twins, *around, *double], found)
    desk.verdict("a card to be known with the zeros that are printed on it", printed, found)
    newcomer = make.news(twin, email=twin.email)
    scene.add(newcomer, make.shop(club, email=""))
    desk.load(scene.rows)
    found = desk.place.list()
    desk.verdict("newcomers to join the others, and not it", [*twins, newcomer], found)
    desk.verdict("newcomers not to join two by way of it", around, found)
    scene.end()


def survive(scene):
    """Decisions hold whatever the next exports bring."""
    make = scene.make
    changed = _singles(scene, "shop", "till", "news")
    away = _singles(scene, "till", "shop")
    middle = _singles(scene, "shop", "news", "till")
    steady = _singles(scene, "news", "till")
    one = make.person()
    apart = scene.add(make.shop(one), make.till(one), make.news(one))
    two = make.person()
    loner = scene.add(make.shop(two), make.news(two))
    others = _singles(scene, "shop", "till", "news", "shop")
    desk = Desk(scene)
    desk.load(scene.rows)
    for some in (changed, away, middle, steady):
        desk.decide("same", *some)
    desk.decide("alone", apart[1])
    desk.decide("alone", loner[0])
    text = desk.place.text()
    desk.load(scene.rows)
    found = desk.place.list()
    desk.verdict("decisions to hold after the same exports", [*changed, *away, *middle, *apart], found)

    def with_changes(record):
        """Somebody moved, married, and has another provider."""
        person = make.person()
        date = make.date()
        new = _dated(make, record.source, person, date)
        key = "card" if record.source == "till" else "id"
        cells = {key: record.cells[key]} if record.source != "till" else {key: f"00{record.cells[key]}"}
        return new.but(**cells)

    moved = {one: with_changes(one) for one in (*changed, apart[1])}
    gone = {away[1], middle[1], loner[0]}
    second = {
        source: [moved.get(one, one) for one in scene.random.sample(rows, len(rows)) if one not in gone]
        for source, rows in scene.rows.items()
    }
    desk.load(second)
    found = desk.place.list()
    desk.verdict("decisions to hold when all cells have changed", [moved[one] for one in changed], found)
    desk.verdict("the list to show the new cells", [moved[one] for one in changed], found, cells=True)
    desk.verdict("one of two to be there while the other is away", [away[0], *steady], found)
    desk.verdict("two of three to be one while the third is away", [middle[0], middle[2]], found)
    third = {source: rows for source, rows in second.items() if source == "till"}
    desk.load(third)
    found = desk.place.list()
    desk.verdict("decisions to hold when only the till is imported", [moved[changed[0]], *steady], found)
    newcomer = make.news(email=away[0].cells["email"], name=make.word(), phone="")
    back = {source: [moved.get(one, one) for one in rows] for source, rows in scene.rows.items()}
    back["news"] = [newcomer, *back["news"]]
    desk.load(back)
    found = desk.place.list()
    desk.verdict("decisions to count again when a record is back", [*away, *middle, newcomer], found)
    desk.verdict("a record to stand alone again when it is back", [*loner, moved[apart[1]], apart[0], *steady], found)
    desk.verdict("everybody else to be as they were", [*others, *changed], found)
    unsaid = desk.place.text() == text and len(_lines(text)) == len(desk.oracle.decisions)
    scene.tell("imports to leave decisions.txt alone", None if unsaid else "the same file, saw another one")
    scene.end()


def undo(scene):
    """Exactly as if it had never been decided."""
    make = scene.make
    pair = _singles(scene, "shop", "till")
    three = _singles(scene, "news", "shop", "till")
    chain = _singles(scene, "till", "shop", "news")
    nested = _singles(scene, "shop", "shop", "till")
    absent = _singles(scene, "till", "news")
    one, two = make.person(), make.person()
    groups = scene.add(make.shop(one), make.till(one, phone=at_home(make.local())), make.news(two), make.till(two))
    twin = make.person()
    twins = scene.add(make.shop(twin), make.till(twin))
    typed = _singles(scene, "till", "shop", "news")
    printed = _singles(scene, "till", "shop")
    desk = Desk(scene, preferred=scene.preferred)
    by_hand = f"same {typed[2].key}  {typed[0].key} {typed[1].key}"
    desk.write(*REMARKS, by_hand, "# end", f"same {_zeros(printed[0])} {printed[1].key}", ends=WINDOWS)
    for some in (typed, printed):
        desk.oracle.decide("same", *(one.key for one in some))
    desk.load(scene.rows)
    before, text = desk.place.list(), desk.place.text()
    everybody = [one for rows in scene.rows.values() for one in rows if one not in printed]
    start = _wrong(desk, before, everybody)

    decisions = [("same", *pair), ("same", *three), ("same", *groups[1:3]), ("alone", twins[0])]
    for kind, *records in decisions:
        desk.decide(kind, *records)
    merged = _wrong(desk, desk.place.list(), everybody)
    # Not in the order in which they were decided, and the records not in theirs.
    for kind, *records in (decisions[1], decisions[0], decisions[3], decisions[2]):
        desk.undo(kind, *reversed(records))
    after = desk.place.list()
    undone = start or merged
    for name, records in (("two", pair), ("three", three), ("whole customers", groups), ("a lone one", twins)):
        scene.tell(f"{name} to be as before", undone or _wrong(desk, after, records))
    scene.tell(
        "all cells and origins to be as before",
        undone or (None if after == before else "the same list, saw another one"),
    )
    scene.tell(
        "decisions.txt to be as before",
        undone or (None if desk.place.text() == text else f"{text!r}, saw {desk.place.text()!r}"),
    )

    for kind, *records in (
        ("same", *chain[:2]),
        ("same", *chain[1:]),
        ("same", *nested),
        ("same", *nested[:2]),
        ("same", *absent),
    ):
        desk.decide(kind, *records)
    desk.undo("same", *chain[:2])
    desk.undo("same", *nested)
    found = desk.place.list()
    scene.tell("only the one decision to be undone", _wrong(desk, found, [*chain, *nested]))
    without = {source: [one for one in rows if one is not absent[1]] for source, rows in scene.rows.items()}
    without["shop"] = [make.shop(make.person()), *without["shop"]]
    desk.load(without)
    desk.undo("same", *absent)
    desk.undo("same", *typed)
    desk.undo("same", *reversed(printed))
    found = desk.place.list()
    scene.tell("what was typed by hand to be undone, too", undone or _wrong(desk, found, typed))
    scene.tell("a card to be known with or without its zeros", undone or _wrong(desk, found, printed))
    back = {**scene.rows, "shop": without["shop"]}
    desk.load(back)
    found, text = desk.place.list(), desk.place.text()
    scene.tell("the same after imports in between", _wrong(desk, found, [*absent, *chain, *nested, *pair]))

    refused = []
    for kind, records in (("same", pair), ("same", chain[:2]), ("alone", twins[:1]), ("same", (chain[1], chain[0]))):
        ended = desk.place.command("undo", kind, *(one.key for one in records))
        refused.append(ended.status == 1 and bool(ended.stderr.strip()) and "Traceback" not in ended.stderr)
    unchanged = desk.place.list() == found and desk.place.text() == text
    said = None if all(refused) and unchanged else "status 1, a sentence, and nothing changed"
    scene.tell("undo without such a line to be refused", undone or _wrong(desk, found, chain) or said)
    scene.end()


def _wrong(desk, found, records):
    """What is wrong about who these records are; that cells are as before is seen by comparing lists."""
    return difference(found, desk.oracle.customers(), {one.key for one in records}, numbers=True)

"""Checks of which record's cell the list shows."""

from scene import ADDRESS, difference
from world import day

PHONE = ("phone",)


class Somebody:
    """A customer whose records are the same by their e-mail, and differ in all else."""

    def __init__(self, scene):
        self.make, self.person, self.records = scene.make, scene.make.person(), []

    def add(self, source, changed=None, **cells):
        """One more record of hers, with a phone and an address of its own."""
        other = self.make.person()
        other.first, other.last, other.email = self.person.first, self.person.last, self.person.email
        when = {"changed": day(source, changed) if isinstance(changed, tuple) else changed or ""}
        self.records.append(getattr(self.make, source)(other, **when, **cells))
        return self


def newest_steady(scene):
    """The newest of what keeps being chosen by the day: the phone, or the address."""
    _newest(scene, "address" if scene.field == "phone" else "phone")


def newest_at_first(scene):
    """The newest of what another export wins later."""
    _newest(scene, scene.field)


def _newest(scene, field):
    make, random = scene.make, scene.random
    fields = PHONE if field == "phone" else ADDRESS
    sources = ("shop", "till", "news") if field == "phone" else ("shop", "till")
    none = {"phone": {source: {"phone": phone} for source, phone in zip(sources, ("", "112", "?"), strict=False)}}
    none["address"] = {"shop": {"street": ""}, "till": {"address": make.town.cities[0][1]}}

    def somebody(*records, **cells):
        """Records of (source, day); `cells` are those of a source."""
        one = Somebody(scene)
        for source, date in records:
            one.add(source, date, **cells.get(source, {}))
        return one.records

    def ordinary():
        return somebody(*zip(random.sample(sources, len(sources)), make.dates(len(sources)), strict=True))

    old, new, newer = make.dates(3)
    scene.case("the newest", *ordinary(), *ordinary(), fields=fields)
    for name, first, second in (("shop", "shop", "till"), ("till", "till", "shop")):
        scene.case(f"the newest, from the {name}", *somebody((first, newer), (second, new)), *ordinary(), fields=fields)
    for source in sources:
        rest = [(other, old) for other in sources if other != source]
        records = somebody((source, newer), *rest, **{source: none[field][source]})
        scene.case(f"the newest not to count where the {source} has none", *records, *ordinary(), fields=fields)
    records = (
        somebody(("shop", None), ("till", "00.00.0000"), (sources[-1], old)),
        somebody(("shop", None), ("till", old)),
    )
    scene.case("no day to be older than any", *records[0], *records[1], fields=fields)
    tied = [somebody(*((source, new) for source in reversed(some))) for some in (sources, sources[:2], sources[-2:])]
    scene.case(
        "shop before till before newsletter on the same day",
        *(record for some in tied for record in some),
        *ordinary(),
        fields=fields,
    )
    tied = [somebody(*[(source, new)] * 3) for source in sources]
    scene.case("the lower number on the same day", *(record for some in tied for record in some), fields=fields)
    year = random.randrange(2016, 2024)
    flipped = somebody(("till", (year, 12, 3)), ("shop", (year, 5, 1)), (sources[-1], (year, 3, 12)))
    again = somebody(("till", (year, 2, 11)), ("shop", (year, 9, 9)), (sources[-1], (year, 11, 2)))
    scene.case("days to be read as each export writes them", *flipped, *again, fields=fields)
    text = {source: day(source, new) for source in sources}
    timed = somebody(("till", f"{text['till']} 17:45"), ("shop", f"{text['shop']} 08:00:00"))
    scene.case("times not to count", *timed, *ordinary(), fields=fields)
    if field == "address":
        whole = somebody(("shop", newer), ("till", new), shop={"zip": ""})
        scene.case("addresses never to be mixed", *whole, *ordinary(), fields=fields)
    _compare(scene, scene.oracle())


def others(scene):
    """Name, e-mail, since and mail."""
    make = scene.make
    old, new, newer = make.dates(3)

    def renamed(source, date, name):
        last, _, first = name.rpartition(" ")[2], "", name.rpartition(" ")[0]
        cells = {
            "shop": {"first": first, "last": last},
            "till": {"customer": f"{last}, {first}" if first else last},
            "news": {"name": name},
        }
        return {"source": source, "changed": date, **cells[source]}

    def named(*records):
        one = Somebody(scene)
        for record in records:
            one.add(**renamed(*record))
        return one.records

    full = [f"{make.word()} {make.word()}" for _ in range(8)]
    scene.case(
        "the newest name",
        *named(("shop", old, full[0]), ("news", new, full[1])),
        *named(("till", newer, full[2]), ("shop", new, full[3])),
        fields=("name",),
    )
    scene.case(
        "a single word to come after a full name",
        *named(("shop", old, full[4]), ("news", newer, make.word())),
        *named(("shop", None, full[5]), ("till", newer, make.word())),
        *named(("news", new, make.word()), ("shop", old, make.word())),
        fields=("name",),
    )
    scene.case(
        "shop before till before newsletter for names",
        *named(("news", new, full[6]), ("till", new, full[7])),
        fields=("name",),
    )

    def mailed(*records):
        """Records of one phone and name with e-mails of their own."""
        person = make.person()
        return [
            getattr(make, source)(person, email=make.email(), changed=day(source, date), **cells)
            for source, date, cells in records
        ]

    scene.case(
        "the newest e-mail",
        *mailed(("shop", old, {}), ("news", new, {}), ("till", newer, {})),
        *mailed(("news", newer, {}), ("till", old, {})),
        fields=("email",),
    )
    scene.case(
        "a bounced e-mail not to be shown, but an older one",
        *mailed(("news", newer, {"status": "bounced"}), ("shop", old, {})),
        *mailed(("shop", old, {}), ("till", new, {}), ("news", newer, {"status": "bounced"})),
        fields=("email",),
    )
    scene.case(
        "e-mails on the same day by export, then by number",
        *mailed(("till", new, {}), ("news", new, {}), ("shop", new, {})),
        *mailed(("news", new, {}), ("news", new, {})),
        *mailed(("till", new, {}), ("till", new, {}), ("news", new, {})),
        fields=("email",),
    )

    def since(*records):
        one = Somebody(scene)
        for source, date in records:
            one.add(source, newer, since=day(source, date) if date else "")
        return one.records

    year = make.random.randrange(2015, 2024)
    scene.case(
        "the earliest since",
        *since(("shop", new), ("till", old), ("news", newer)),
        *since(("shop", newer), ("news", new)),
        *since(("news", (year, 3, 11)), ("till", (year, 5, 2))),
        *since(("till", (year, 2, 12)), ("shop", (year, 3, 3)), ("news", None)),
        fields=("since",),
    )

    def told(*records):
        one = Somebody(scene)
        for source, date, answer in records:
            one.add(source, date, **{"newsletter" if source == "shop" else "status": answer})
        return one.records

    scene.case(
        "no before yes in mail",
        *told(("shop", old, "0"), ("news", newer, "subscribed")),
        *told(("news", old, "unsubscribed"), ("shop", newer, "1")),
        *told(("shop", old, ""), ("news", new, "subscribed")),
        fields=("mail",),
    )
    scene.case(
        "mail to be empty where nobody says anything",
        *told(("shop", old, ""), ("news", newer, "bounced")),
        *told(("shop", old, "1"), ("news", newer, "bounced")),
        *told(("shop", old, "0"), ("shop", newer, "")),
        fields=("mail",),
    )
    _compare(scene, scene.oracle())


def winner(scene):
    """Since the third turn one export's phone or address wins, whatever the days."""
    make, field, wins = scene.make, scene.field, scene.winner
    loser = "shop" if wins == "till" else "till"
    fields = PHONE if field == "phone" else ADDRESS
    none = {"phone": {"phone": "112"}, "address": {"address": "Freiburg"} if wins == "till" else {"street": ""}}[field]
    old, new, newer, newest_ = make.dates(4)

    def plain():
        return Somebody(scene).add(wins, old).add(loser, newer).add("news", newest_).records

    scene.case("the winner's, although it is the oldest", *plain(), *plain(), fields=fields)
    scene.case("the winner's without a day", *Somebody(scene).add(wins).add(loser, new).records, fields=fields)
    two = Somebody(scene).add(wins, old).add(wins, newer).add(loser, newest_).add(wins, new)
    scene.case("the newest of several of the winner's", *two.records, fields=fields)
    two = Somebody(scene).add(wins, new).add(wins, new).add(loser, newer)
    scene.case("the lower number of the winner's", *two.records, fields=fields)
    two = Somebody(scene).add(wins, newest_, **none).add(loser, new).add(loser, old)
    scene.case("the newest where the winner has none", *two.records, *plain(), fields=fields)
    two = Somebody(scene).add(wins, newest_, **none).add(wins, old).add(loser, newer)
    scene.case("the winner's older one where its newest is none", *two.records, *plain(), fields=fields)
    other = tuple(one for one in scene.steady if one in (*PHONE, *ADDRESS))
    scene.case("the newest of what was not spoken of", *plain(), *plain(), fields=(*fields, *other, "name", "email"))
    if field == "address":
        shop = {"zip": ""} if wins == "shop" else {}
        two = Somebody(scene).add(wins, old, **shop).add(loser, newer)
    else:
        two = Somebody(scene).add(wins, old).add("news", newer).add("news", new)
    scene.case("all of the winner's, and nothing of others", *two.records, *plain(), fields=fields)
    joined = [make.shop(make.person(), changed=day("shop", old)), make.till(make.person(), changed=day("till", new))]
    if wins == "till":
        joined = [
            make.shop(make.person(), changed=day("shop", new)),
            make.till(make.person(), changed=day("till", old)),
        ]
    scene.add(*joined)
    place, oracle = scene.place(), scene.oracle(preferred=scene.preferred)
    place.load(scene.rows)
    oracle.load(scene.rows)
    place.command("same", *(one.key for one in joined))
    oracle.decide("same", *(one.key for one in joined))
    found, right = place.list(), oracle.customers()
    scene.compare_cases(found, oracle)
    scene.tell("the winner's of those who are one by hand", difference(found, right, {joined[0].key}, fields))
    everybody = set().union(*(one.records for one in right))
    scene.tell("origins of what the list shows", difference(found, right, everybody, fields, origins=True))
    scene.end()


def _compare(scene, oracle):
    place = scene.place()
    place.load(scene.rows)
    oracle.load(scene.rows)
    scene.compare_cases(place.list(), oracle)
    scene.end()
